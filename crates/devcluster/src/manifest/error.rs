//! What can be wrong with a manifest, in one line that says where.

use std::{fmt, io, path::PathBuf};

/// Where in which file an object stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file, as the user named it.
    pub(crate) file: String,
    /// Which document of the file, counted from 1.
    pub(crate) document: usize,
    /// The line of the file that the document begins in.
    pub(crate) line: usize,
    /// Which item of the document, counted from 1, where the document is a list.
    pub(crate) item: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, document, line, item } = self;
        write!(f, "{file}: document {document}, line {line}")?;
        item.map_or(Ok(()), |item| write!(f, ", item {item}"))
    }
}

/// A manifest that cannot be read as objects.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    /// The file or directory cannot be read.
    #[error("{path}: {cause}", path = path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// There is nothing to apply, which is hardly what was meant.
    #[error("{path}: no manifests here (*.yaml, *.yml or *.json)", path = path.display())]
    NoFiles {
        /// The directory.
        path: PathBuf,
    },
    /// The text is not YAML or not JSON. The line of the origin is that of the mistake.
    #[error("{origin}: {cause}")]
    Syntax {
        /// Where the mistake is.
        origin: Origin,
        /// What the parser says.
        cause: String,
    },
    /// The document is not a Kubernetes object.
    #[error("{origin}: {cause}")]
    Shape {
        /// The document.
        origin: Origin,
        /// What is missing or wrong.
        cause: String,
    },
}
