//! A folder with a file for each segment.

use std::collections::VecDeque;
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::rotation::Rotation;
use super::store::{SegmentLimits, Space, Store, WriteState};
use crate::archive::EXTENSION;

/// Name of the file of a segment, by the time at which it began: the names sort by time.
const NAME: &str = "%Y-%m-%dT%H-%M-%S%.3fZ";
/// Extension of a file whose segment has not begun.
const UNFINISHED: &str = "new";
/// Name of the file that is locked while a recorder has the folder.
const LOCK: &str = "lock";

/// A folder with a file for each segment, of which the oldest are deleted: before the files have more bytes than the limit, when the
/// disk has no space for what is written, and once everything in them is too old. The clock may be wrong: for an hour
/// after the folder was opened or the clock was set by more than a minute, at most one is too old.
///
/// Only files with names such as `2026-11-27T14-02-07.310Z.history` are counted and deleted. A folder is for one recorder,
/// which locks the file `lock`.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    rotation: Rotation,
    /// Paths of the segments of `rotation`.
    files: VecDeque<PathBuf>,
    /// The file of the last segment; `None` before the first one of this recorder.
    present: Option<File>,
    is_dirty: bool,
    _lock: Lock,
}

/// The locked file of a folder.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that is being started has a copy of the file until it runs its program, and would keep the lock.
        let _ = self.0.unlock();
    }
}

impl Folder {
    /// Opens a folder, which is created if it does not exist, for at most `limit` bytes that are at most as old as `max_age`, up
    /// to a segment.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or read, or another recorder has it: [`io::ErrorKind::WouldBlock`].
    pub fn open(path: &Path, limit: u64, max_age: SignedDuration) -> io::Result<Folder> {
        fs::create_dir_all(path)?;
        let lock = lock(path)?;
        let mut segments = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let file = entry.path();
            if let Some(started) = started(&file) {
                segments.push((started, entry.metadata()?.len(), file));
            } else if file.file_stem().is_some_and(|stem| started_of(Path::new(stem)).is_some())
                && file.extension().is_some_and(|it| it == UNFINISHED)
            {
                // Of a recorder that has crashed.
                fs::remove_file(file)?;
            }
        }
        segments.sort();
        let mut rotation = Rotation::new(limit, max_age);
        for (started, length, _) in &segments {
            rotation.push(*started, *length);
        }
        let files = segments.into_iter().map(|(_, _, file)| file).collect();
        Ok(Folder { path: path.to_owned(), rotation, files, present: None, is_dirty: false, _lock: lock })
    }

    fn remove(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            let Some(file) = self.files.front() else { break };
            if let Err(error) = fs::remove_file(file)
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
            self.files.pop_front();
            self.rotation.pop();
        }
        Ok(())
    }

    /// Appends to the last segment what `write` writes.
    pub(super) fn append_with(
        &mut self,
        length: u64,
        write: &mut dyn FnMut(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.remove(self.rotation.before_growth(length)?)?;
        loop {
            let file = self.present.as_mut().ok_or_else(|| io::Error::other("no segment has begun"))?;
            let end = file.stream_position()?;
            match write(file) {
                Ok(()) => break,
                Err(error) if is_full(&error) && self.files.len() > 1 => {
                    // A part may have been written.
                    file.set_len(end)?;
                    file.seek(SeekFrom::Start(end))?;
                    self.remove(1)?;
                }
                Err(error) => return Err(error),
            }
        }
        self.rotation.grow(length);
        self.is_dirty = true;
        Ok(())
    }
}

impl Store for Folder {
    fn begin(&mut self, started: Timestamp, bytes: u64, write: WriteState<'_>) -> io::Result<()> {
        // What a loss of power takes of it would be missing without a gap.
        if let Some(before) = self.present.take().filter(|_| std::mem::take(&mut self.is_dirty)) {
            before.sync_data()?;
        }
        self.remove(self.rotation.before_push(bytes)?)?;
        // Names have milliseconds, and must sort as the segments do even if the clock was set back.
        let last = self.files.back().and_then(|file| started_of(file));
        let later = last.map_or(started, |last| started.max(last + SignedDuration::from_millis(1)));
        let name = format!("{}.{EXTENSION}", later.strftime(NAME));
        let (file, unfinished) = (self.path.join(&name), self.path.join(format!("{name}.{UNFINISHED}")));
        // A file without a whole header would make the folder unreadable.
        let mut begin = || {
            let mut present = File::create(&unfinished)?;
            write(&mut present)?;
            present.sync_data()?;
            fs::rename(&unfinished, &file)?;
            Ok(present)
        };
        let present = loop {
            match begin() {
                Ok(present) => break present,
                // The disk may be smaller than the limit, or be filled by others.
                Err(error) if is_full(&error) && !self.files.is_empty() => self.remove(1)?,
                Err(error) => {
                    // It takes space on a full disk. If it cannot be deleted, the next `open` tries again.
                    let _ = fs::remove_file(&unfinished);
                    return Err(error);
                }
            }
        };
        self.present = Some(present);
        self.files.push_back(file);
        self.rotation.push(started, bytes);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.append_with(bytes.len() as u64, &mut |file| file.write_all(bytes))
    }

    fn sync(&mut self, now: Timestamp) -> io::Result<()> {
        if let (Some(present), Some(path)) = (&self.present, self.files.back()) {
            if std::mem::take(&mut self.is_dirty) {
                present.sync_data()?;
            }
            // Writes to a file that was deleted succeed.
            fs::symlink_metadata(path)?;
        }
        let count = self.rotation.too_old(now);
        self.remove(count)
    }

    fn space(&self) -> Space {
        self.rotation.space()
    }

    fn segment_limits(&self, state: u64) -> SegmentLimits {
        self.rotation.segment_limits(state)
    }
}

/// Locks a folder. Segments of two recorders in one folder would be read as one history.
fn lock(path: &Path) -> io::Result<Lock> {
    let file = File::options().write(true).create(true).truncate(false).open(path.join(LOCK))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let message = format!("another process records to {}", path.display());
            Err(io::Error::new(io::ErrorKind::WouldBlock, message))
        }
        // Not all file systems have locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(file)),
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns the time at which the segment of a file began; `None` for other files.
fn started(file: &Path) -> Option<Timestamp> {
    if file.extension()? == EXTENSION { started_of(file) } else { None }
}

/// Returns the time in the name of a file, whatever its extension is.
fn started_of(file: &Path) -> Option<Timestamp> {
    let stem = file.file_stem()?.to_str()?;
    let time = DateTime::strptime("%Y-%m-%dT%H-%M-%S%.fZ", stem).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp();
    (time.strftime(NAME).to_string() == stem).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_child_has_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        let copy = first.0.try_clone().unwrap();
        drop(first);
        lock(folder.path()).unwrap();
        drop(copy);
    }
}
