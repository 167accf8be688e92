//! Settings of the recorded history.

use std::path::PathBuf;
use std::time::Duration;

/// What is kept of the recorded history of Services, Pods, Nodes and endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistorySettings {
    /// `--history-dir`: folder with the files, which is created if it does not exist. `None`, the default: in memory.
    pub dir: Option<PathBuf>,
    /// `--history-max-size`: maximum size in bytes; 512 MiB by default, and at most 16 MiB in memory.
    pub max_size: u64,
    /// `--history-max-age`: time after which records are deleted, up to a twenty-fourth later; 24 h by default.
    pub max_age: Duration,
}

impl Default for HistorySettings {
    fn default() -> Self {
        HistorySettings { dir: None, max_size: 512 << 20, max_age: Duration::from_secs(24 * 60 * 60) }
    }
}
