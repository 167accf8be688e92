//! The file with the kubeconfig, for kubectl and other clients.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::ensure;
use tempfile::{NamedTempFile, TempPath};

/// First line of each file that this program may replace.
const MARKER: &str = "# Written by devcluster, which replaces this file.\n";

/// Writes the kubeconfig to a new file, or replaces one that this program has written. Returns its absolute path.
///
/// The file is replaced as a whole, so that readers never see a part of it.
pub(crate) fn write(path: &Path, kubeconfig: &str) -> anyhow::Result<PathBuf> {
    let replaces = may_replace(path)?;
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(MARKER.as_bytes())?;
    file.write_all(kubeconfig.as_bytes())?;
    if replaces {
        file.persist(path).map_err(|it| it.error)?;
    } else {
        // Fails if somebody has created the file meanwhile.
        file.persist_noclobber(path).map_err(|it| it.error)?;
    }
    Ok(fs::canonicalize(path)?)
}

/// Returns whether a file at `path` is to be replaced; `false` if there is none.
fn may_replace(path: &Path) -> anyhow::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    // Not a symbolic link, a directory, a device or the like.
    ensure!(metadata.is_file(), "it is not a regular file");
    let mut start = Vec::new();
    File::open(path)?.take(MARKER.len() as u64).read_to_end(&mut start)?;
    ensure!(
        start == MARKER.as_bytes(),
        "it exists, and devcluster has not written it: choose another file, and combine both with KUBECONFIG={}:OTHER",
        path.display()
    );
    Ok(true)
}

/// Writes the kubeconfig to a temporary file, which is removed when the returned path is dropped.
pub(crate) fn write_temporary(kubeconfig: &str) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("devcluster-").suffix(".kubeconfig").tempfile()?;
    file.write_all(kubeconfig.as_bytes())?;
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_written_and_later_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        for text in ["one", "two"] {
            assert_eq!(write(&path, text).unwrap(), fs::canonicalize(&path).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{MARKER}{text}"));
        }
    }

    #[test]
    fn a_foreign_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        for text in ["", "apiVersion: v1\n"] {
            fs::write(&path, text).unwrap();
            let error = write(&path, "mine").unwrap_err().to_string();
            assert!(error.starts_with("it exists, and devcluster has not written it"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_a_regular_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for path in [&link, folder.path(), Path::new("/dev/null")] {
            assert_eq!(write(path, "other").unwrap_err().to_string(), "it is not a regular file");
        }
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), format!("{MARKER}mine"));
    }
}
