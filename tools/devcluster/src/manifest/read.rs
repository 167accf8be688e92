//! Reading of manifests from files and directories.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{ManifestError, Object, Syntax, objects};

/// Reads a file, or all manifests of a directory in the order of their names. Subdirectories are ignored.
pub(crate) fn read(path: &Path) -> Result<Vec<Object>, ManifestError> {
    if !path.is_dir() {
        return read_file(path);
    }
    let mut all = Vec::new();
    for file in files_in(path)? {
        all.append(&mut read_file(&file)?);
    }
    Ok(all)
}

fn read_file(path: &Path) -> Result<Vec<Object>, ManifestError> {
    let text = fs::read_to_string(path).map_err(|source| ManifestError::Read { path: path.to_owned(), source })?;
    let syntax = if has_extension(path, &["json"]) { Syntax::Json } else { Syntax::Yaml };
    objects(&path.display().to_string(), syntax, &text)
}

fn files_in(directory: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    let read_error = |source| ManifestError::Read { path: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(read_error)? {
        let path = entry.map_err(read_error)?.path();
        if path.is_file() && has_extension(&path, &["yaml", "yml", "json"]) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ManifestError::NoFiles { path: directory.to_owned() });
    }
    files.sort();
    Ok(files)
}

fn has_extension(path: &Path, any_of: &[&str]) -> bool {
    path.extension().is_some_and(|extension| any_of.iter().any(|accepted| extension.eq_ignore_ascii_case(accepted)))
}
