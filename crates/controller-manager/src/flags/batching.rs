//! The flag for how changes are combined into writes.

use clap::Args;
use kube_controller::Batching;

use crate::settings::Settings;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Batching flags")]
pub(super) struct BatchingFlags {
    /// How the changes of a Service are combined into writes. The first change of a quiet Service is written after the
    /// batch period of its controller. While changes keep coming, the writes of that Service are as far apart with none as
    /// those of kube-controller-manager: 20ms, and up to 500ms for thousands of Pods. With adaptive the interval grows to
    /// 1s, and to 200ms for the removal of a ready endpoint. Each is up to a tenth longer, so that timers coincide. Not a
    /// flag of kube-controller-manager.
    #[arg(long, value_name = "adaptive|none", default_value_t = Batching::default())]
    updates_batching: Batching,
}

impl BatchingFlags {
    pub(super) fn apply(&self, settings: &mut Settings) {
        for syncs in settings.syncs.all_mut() {
            syncs.batching = self.updates_batching;
        }
    }
}
