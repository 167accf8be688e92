//! Logs: one line an event, to standard error, as text or as JSON.

mod line;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What is logged, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggingSettings {
    /// `-v`, counted as in Kubernetes: 0 is what an operator should know, 4 and more each step, 6 and more each request.
    pub verbosity: u32,
    /// `--logging-format`.
    pub format: LogFormat,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// As klog does: `I1121 11:55:54.123456       1 manager.rs:50] "Starting controllers" server="https://10.0.0.1"`.
    #[default]
    Text,
    /// An object with `ts`, in milliseconds, `caller`, `msg`, `v` and the rest by their own keys.
    Json,
}

/// The crates of this program. Of others only warnings are logged: at higher levels, some print the headers of requests,
/// and with them credentials.
const OURS: [&str; 2] = ["kube_", "controller_manager"];

fn filter(verbosity: u32) -> Targets {
    let level = match verbosity {
        0..=3 => LevelFilter::INFO,
        4..=5 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let ours = OURS.into_iter().chain(["endpoint_controller_manager"]).map(|target| (target, level));
    // `kube` itself is a stranger: `kube_` does not match its modules, but those of its parts.
    let strangers = ["kube_client", "kube_core"].map(|target| (target, LevelFilter::WARN));
    Targets::new().with_default(LevelFilter::WARN).with_targets(ours).with_targets(strangers)
}

/// Starts logging to standard error. Does nothing where the process logs already.
pub fn start_logging(settings: &LoggingSettings) {
    let LoggingSettings { verbosity, format } = *settings;
    let lines = tracing_subscriber::fmt::layer()
        .event_format(line::Lines { format, now: kube_ambient::now, pid: std::process::id() })
        .with_writer(std::io::stderr)
        .with_filter(filter(verbosity));
    // An error says that a subscriber is there already: whoever embeds this has chosen.
    let _ = tracing_subscriber::registry().with(lines).try_init();
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
    #[case(9, "hyper::proto", Level::DEBUG, false)]
    #[case(0, "hyper::proto", Level::WARN, true)]
    fn verbosity_is_of_our_crates(#[case] v: u32, #[case] target: &str, #[case] level: Level, #[case] logged: bool) {
        assert_eq!(filter(v).would_enable(target, &level), logged);
    }
}
