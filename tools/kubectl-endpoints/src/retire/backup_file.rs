//! The backup file on the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use kube_endpoints_retire::Backup;
use kube_endpoints_retire::apply::Target;

/// Reads the file; `None` if there is none, or none with a complete line.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<Backup>> {
    match File::open(path) {
        Ok(file) => Backup::read(BufReader::new(file)).with_context(|| path.display().to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Writes the objects that the file lacks, and syncs it. `backup` is what was [read] of it. The lock of the returned file keeps other
/// runs from writing it.
pub(super) fn write(path: &Path, cluster: &str, backup: Option<Backup>, targets: &[Target]) -> anyhow::Result<File> {
    let cannot = || format!("cannot write {}", path.display());
    let mut file = open(path, backup.is_none()).with_context(cannot)?;
    if file.try_lock().is_err() || Backup::read(BufReader::new(&file)).with_context(cannot)? != backup {
        bail!("{}: another run is writing the file", path.display());
    }
    let mut lines = String::new();
    let backup = backup.unwrap_or_else(|| {
        let backup = Backup::new(cluster);
        lines.push_str(&backup.first_line());
        backup
    });
    for target in targets.iter().filter(|target| !backup.contains(&target.object)) {
        lines.push_str(target.object.json());
        lines.push('\n');
    }
    let mut append = || {
        // Behind the last complete line: a crash may have cut off one.
        file.set_len(backup.length)?;
        file.seek(SeekFrom::Start(backup.length))?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()?;
        sync_folder(path)
    };
    append().with_context(cannot)?;
    Ok(file)
}

/// Opens the file. One without a complete line may exist, if it was not read.
fn open(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.clone().create_new(is_new).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        opened => opened,
    }
}

/// Makes sure that the name of a new file is on the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
