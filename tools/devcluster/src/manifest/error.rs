//! Errors of reading manifests. Their messages are one line with the position.

use std::{fmt, io, path::PathBuf};

/// Position of an object in a manifest file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Path of the file as given by the user.
    pub(crate) file: String,
    /// Number of the document in the file, from 1.
    pub(crate) document: usize,
    /// First line of the document, from 1; in errors of syntax, the line of the error.
    pub(crate) line: usize,
    /// Number of the item, from 1, if the document is a list.
    pub(crate) item: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, document, line, item } = self;
        write!(f, "{file}: document {document}, line {line}")?;
        item.map_or(Ok(()), |item| write!(f, ", item {item}"))
    }
}

/// Error of reading a manifest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    /// The file or directory cannot be read.
    #[error("{path}", path = path.display())]
    Read {
        /// Path of the file or directory.
        path: PathBuf,
        /// I/O error.
        source: io::Error,
    },
    /// The directory contains no manifests; probably the path is wrong.
    #[error("{path}: no manifests (*.yaml, *.yml or *.json) in this directory", path = path.display())]
    NoFiles {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The text is not valid YAML or JSON.
    #[error("{origin}: {cause}")]
    Syntax {
        /// Position of the error.
        origin: Origin,
        /// Message of the parser.
        cause: String,
    },
    /// The document is not a Kubernetes object.
    #[error("{origin}: {cause}")]
    Shape {
        /// Position of the document.
        origin: Origin,
        /// Missing or invalid field.
        cause: String,
    },
}
