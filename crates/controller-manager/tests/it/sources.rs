//! The Rust files of the repository, for rules about all of them.

use std::path::{Path, PathBuf};

/// Adds the Rust files of a folder and its subfolders to `found`, except those of builds.
pub(crate) fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            if !path.ends_with("target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}
