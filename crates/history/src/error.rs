//! Errors of reading.

use std::io;
use std::path::PathBuf;

use crate::header::FORMAT;

/// Why a history cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file or folder cannot be read.
    #[error("cannot read {}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file begins with something else.
    #[error("{} is not a history file", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A newer version of this program wrote the file.
    #[error("{} has format {version}, and this program reads up to {FORMAT}: use a newer version", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its format.
        version: u64,
    },
    /// The selected objects are more than a bounded reader keeps in memory.
    #[error("more than {limit} objects are selected")]
    TooManyObjects {
        /// The limit.
        limit: usize,
    },
    /// The file contains what no recorder writes.
    #[error("{} is damaged at offset {offset}: {problem}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Offset of the frame, in bytes.
        offset: u64,
        /// What is wrong with it.
        problem: String,
    },
}

impl ReadError {
    /// Returns whether a file contains something else than is expected.
    pub(crate) fn is_of_content(&self) -> bool {
        matches!(self, ReadError::Foreign { .. } | ReadError::Damaged { .. })
    }

    /// Returns whether a file does not exist. A recorder deletes the oldest ones while they are read.
    pub(crate) fn is_of_missing_file(&self) -> bool {
        matches!(self, ReadError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
