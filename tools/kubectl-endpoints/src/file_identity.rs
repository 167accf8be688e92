//! Files that may take the place of another one.

use std::fs::Metadata;

/// What distinguishes a file from another one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] Option<std::time::SystemTime>);

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> FileIdentity {
        use std::os::unix::fs::MetadataExt as _;
        FileIdentity((metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> FileIdentity {
        FileIdentity(metadata.created().ok())
    }
}
