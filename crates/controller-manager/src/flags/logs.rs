//! Flags of the log.

use clap::Args;

use super::value::Bounds;
use crate::logging::{LogFormat, LoggingSettings};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logs flags")]
pub(super) struct Logs {
    /// Verbosity of the log: 0 logs errors, warnings and info, 4 adds the steps of the controllers, 6 adds each
    /// request.
    #[arg(short, long = "v", value_name = "LEVEL", default_value_t = 0)]
    v: i64,

    /// Format of the log: text or json.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    logging_format: String,
}

impl Logs {
    pub(super) fn settings(&self, errors: &mut Vec<String>) -> LoggingSettings {
        let Logs { v, logging_format } = self;
        let format = match logging_format.as_str() {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            _ => {
                errors.push(format!("format: Invalid value: {logging_format:?}: Unsupported log format"));
                LogFormat::Text
            }
        };
        let verbosity = Bounds::new("v", 0, i64::from(u32::MAX)).check(*v, errors);
        LoggingSettings { verbosity, format }
    }
}
