//! Logging to standard error: one line per event, as text or as JSON.

mod line;

pub use line::LogFormat;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Verbosity and format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggingSettings {
    /// `-v`, on klog's scale: 0 to 3 log errors, warnings and info; 4 and 5 also debug events (steps of the
    /// controllers); 6 and more also trace events (each request). Other crates log warnings and errors only, at any
    /// verbosity.
    pub verbosity: u32,
    /// `--logging-format`: format of a log line; text by default.
    pub format: LogFormat,
}

/// Target prefixes of the workspace's crates. Other crates log warnings and errors only: at lower levels, some print
/// request headers, which contain credentials.
const OWN_TARGETS: [&str; 2] = ["kube_", "controller_manager"];

fn filter(verbosity: u32) -> Targets {
    let level = match verbosity {
        0..=3 => LevelFilter::INFO,
        4..=5 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let own = OWN_TARGETS.into_iter().chain(["endpoint_controller_manager"]).map(|target| (target, level));
    // `kube_` also matches crates of kube-rs, which are not part of this workspace.
    let kube_rs = ["kube_client", "kube_core"].map(|target| (target, LevelFilter::WARN));
    // It warns about each connection without verification of the server; `main` does so once.
    let connections = ("kube_client::client::tls", LevelFilter::ERROR);
    let others = kube_rs.into_iter().chain([connections]);
    Targets::new().with_default(LevelFilter::WARN).with_targets(own).with_targets(others)
}

/// Installs the global `tracing` subscriber, which logs to standard error. Does nothing if one is installed already.
pub fn start_logging(settings: &LoggingSettings) {
    let LoggingSettings { verbosity, format } = *settings;
    let layer = tracing_subscriber::fmt::layer()
        .event_format(line::LineFormatter { format, now: kube_ambient::now, pid: std::process::id() })
        .with_writer(std::io::stderr)
        .with_filter(filter(verbosity));
    // The only error is that a subscriber is installed already, by the program that embeds this crate.
    let _ = tracing_subscriber::registry().with(layer).try_init();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use tracing::Level;

    #[rstest]
    #[case(0, "kube_endpoint::controller", Level::INFO, true)]
    #[case(3, "kube_endpoint::controller", Level::DEBUG, false)]
    #[case(4, "kube_endpoint::controller", Level::DEBUG, true)]
    #[case(4, "endpoint_controller_manager::manager", Level::DEBUG, true)]
    #[case(4, "controller_manager", Level::DEBUG, true)]
    #[case(5, "kube_endpoint::controller", Level::TRACE, false)]
    #[case(6, "kube_controller_client::client", Level::TRACE, true)]
    #[case(9, "kube_client::client", Level::INFO, false)]
    #[case(9, "kube_client::client", Level::WARN, true)]
    #[case(0, "kube_client::client::tls", Level::WARN, false)]
    #[case(9, "hyper::proto", Level::DEBUG, false)]
    #[case(0, "hyper::proto", Level::WARN, true)]
    fn verbosity_applies_to_own_crates_only(
        #[case] v: u32,
        #[case] target: &str,
        #[case] level: Level,
        #[case] logged: bool,
    ) {
        assert_eq!(filter(v).would_enable(target, &level), logged);
    }
}
