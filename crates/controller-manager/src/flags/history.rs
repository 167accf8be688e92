//! Flags of the recorded history.

use clap::Args;
use kube_endpoints_history::recorder::parse_size;

use super::value::path;
use crate::go_duration::{self, GoDuration};
use crate::settings::{HistorySettings, Settings};

/// Minimum of `--history-max-size`, except 0. Less has no place for the state of a small cluster.
const MIN_SIZE: u64 = 1 << 20;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "History flags")]
#[expect(clippy::struct_field_names, reason = "the fields are named as the flags")]
pub(super) struct HistoryFlags {
    /// Folder in which the changes of Services, Pods, Nodes, Endpoints and EndpointSlices are recorded, for kubectl endpoints
    /// history. It is created if it does not exist, and is for one process. Without it, they are recorded in memory, and lost
    /// at the end of the process. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "FOLDER", default_value = "", hide_default_value = true)]
    history_dir: String,

    /// Size at which the oldest records are deleted, in bytes or with the suffix Ki, Mi or Gi, at least 1Mi. In memory, at most
    /// 16Mi apply. 0 records nothing. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "SIZE", default_value = "512Mi", value_parser = parse_size)]
    history_max_size: u64,

    /// Time after which records are deleted, up to a twenty-fourth later. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(HistorySettings::default().max_age), value_parser = go_duration::value)]
    history_max_age: GoDuration,
}

impl HistoryFlags {
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let HistoryFlags { history_dir, history_max_size, history_max_age } = self;
        let (dir, max_size, max_age) = (path(history_dir), *history_max_size, history_max_age.0);
        if (1..MIN_SIZE).contains(&max_size) {
            errors.push(format!("history-max-size must be 0 or at least {MIN_SIZE}, but got {max_size}"));
        }
        if max_age.is_zero() {
            errors.push("history-max-age must be greater than zero".to_owned());
        }
        settings.history = (max_size > 0).then_some(HistorySettings { dir, max_size, max_age });
    }
}
