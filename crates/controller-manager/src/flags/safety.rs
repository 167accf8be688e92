//! Flags that limit what a wrong state or a second controller can do.

use clap::Args;

use crate::settings::{OnSecondWriter, SecondWriterSettings};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Safety flags")]
pub(super) struct Safety {
    /// Reaction to another controller that writes the same Endpoints and EndpointSlices: warn, or yield, which also
    /// withholds all writes until the other has written nothing for 5 minutes; each further time within an hour doubles
    /// that, up to 1 hour. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "warn|yield", default_value = "warn")]
    on_second_writer: String,
}

impl Safety {
    pub(super) fn second_writer(&self, errors: &mut Vec<String>) -> SecondWriterSettings {
        let Safety { on_second_writer } = self;
        let reaction = match on_second_writer.as_str() {
            "warn" => OnSecondWriter::Warn,
            "yield" => OnSecondWriter::Yield,
            _ => {
                errors.push(format!("on-second-writer must be warn or yield, but got {on_second_writer:?}"));
                OnSecondWriter::default()
            }
        };
        SecondWriterSettings { reaction, ..SecondWriterSettings::default() }
    }
}
