//! Where the history is: in a folder or in memory.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::SignedDuration;
use kube_endpoints_history::recorder::{Folder, Gaps, Recorder, Ring};
use kube_endpoints_history::{Archive, Encoder, Kind, ReadError};

use crate::settings::HistorySettings;

/// Maximum size of a history in memory, in bytes.
const MAX_IN_MEMORY: u64 = 16 << 20;
/// Name of the recorder in the header of segments.
const PROGRAM: &str = concat!("controller-manager/", env!("CARGO_PKG_VERSION"));

/// Where the history is. Clones are the same place.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Folder { path: Arc<PathBuf>, limit: u64, max_age: SignedDuration },
    Memory(Ring),
}

impl Place {
    pub(super) fn new(settings: &HistorySettings) -> Place {
        let HistorySettings { dir, max_size, max_age } = settings;
        let max_age = SignedDuration::try_from(*max_age).unwrap_or(SignedDuration::MAX);
        match dir {
            Some(path) => Place::Folder { path: Arc::new(path.clone()), limit: *max_size, max_age },
            None => Place::Memory(Ring::new((*max_size).min(MAX_IN_MEMORY), max_age)),
        }
    }

    /// Returns a recorder to the place, which does not know the kinds `unknown`, of informers with these gaps.
    pub(super) fn recorder(&self, unknown: &[Kind], gaps: Gaps) -> io::Result<Recorder> {
        let encoder = Encoder::new(PROGRAM, unknown.iter().copied())?;
        let recorder = match self {
            Place::Folder { path, limit, max_age } => Recorder::new(encoder, Folder::open(path, *limit, *max_age)?),
            Place::Memory(ring) => Recorder::new(encoder, ring.clone()),
        };
        Ok(recorder.with_watches(gaps))
    }

    /// Opens what is recorded.
    pub(crate) fn archive(&self) -> Result<Archive, ReadError> {
        match self {
            Place::Folder { path, .. } => Archive::open(path),
            Place::Memory(ring) => ring.archive(),
        }
    }
}
