//! Logs: one line an event, to standard error.

use std::io::IsTerminal;

use tracing::level_filters::LevelFilter;

/// Starts logging to standard error, with colour only on a terminal. `verbosity` counts as in Kubernetes: 0 is what an
/// operator should know, 4 and more each step, 6 and more each request.
///
/// Does nothing where the process logs already.
pub fn start_logging(verbosity: u8) {
    let level = match verbosity {
        0..=3 => LevelFilter::INFO,
        4..=5 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let ansi = std::io::stderr().is_terminal();
    // An error says that a subscriber is there already: whoever embeds this has chosen.
    let _ = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(ansi).try_init();
}
