//! The files or buffers of an archive.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::ReadError;
use crate::frame::Source;

/// Files or buffers, of which one file at a time is open: a folder can have more than a process may open.
pub(super) struct Files {
    files: Vec<HistoryFile>,
    open: Option<(usize, File)>,
}

/// A file, or a buffer.
pub(super) struct HistoryFile {
    pub(super) name: PathBuf,
    /// `None` for a file.
    pub(super) buffer: Option<Box<dyn Source>>,
}

impl Files {
    pub(super) fn new(files: Vec<HistoryFile>) -> Files {
        Files { files, open: None }
    }

    pub(super) fn name(&self, file: usize) -> &Path {
        &self.files[file].name
    }

    /// Reads a file, which is opened unless it was read last.
    pub(super) fn read<T>(
        &mut self,
        file: usize,
        read: impl FnOnce(&mut dyn Source) -> io::Result<T>,
    ) -> Result<T, ReadError> {
        let HistoryFile { name, buffer } = &mut self.files[file];
        let result = if let Some(buffer) = buffer {
            read(&mut **buffer)
        } else {
            let open = self.open.take().filter(|(open, _)| *open == file);
            let opened = open.map_or_else(|| File::open(&*name), |(_, opened)| Ok(opened));
            opened.and_then(|opened| read(&mut self.open.insert((file, opened)).1))
        };
        result.map_err(|source| ReadError::Io { file: name.clone(), source })
    }
}
