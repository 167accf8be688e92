//! The file with the objects that `apply` deletes.
//!
//! Each line is a JSON document: the first one names the format and the cluster, each of the others is an Endpoints object. A line
//! without its end was cut off by a crash. Nothing was deleted then, because all lines are on the disk before the first deletion.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _};

use kube_wire::{Decode as _, DecodeError, Object as _, ObjectKey};
use serde::Deserialize;
use serde_json::json;

use crate::WholeEndpoints;

const FORMAT: &str = "retire-backup/v1";
/// Maximum length of a line in bytes. The API server stores objects of at most 1.5 MiB.
const LONGEST_LINE: u64 = 16 << 20;

/// Contents of a backup file.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// UID of the namespace `kube-system` of the cluster.
    pub cluster: String,
    /// Length of the complete lines in bytes. What follows was cut off, and is to be overwritten.
    pub length: u64,
    /// Objects in the order of the file, the last one of each name.
    objects: BTreeMap<ObjectKey, WholeEndpoints>,
}

/// The first line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    api_version: String,
    #[serde(default)]
    cluster: HeaderCluster,
}

#[derive(Default, Deserialize)]
struct HeaderCluster {
    uid: String,
}

/// Error of a file that is no backup, or cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file cannot be read.
    #[error("cannot read the backup file")]
    Read(#[from] io::Error),
    /// The first line is not that of a backup.
    #[error("the file is no backup of `retire apply`: its first line does not name the format {FORMAT:?}")]
    NoBackup,
    /// A line is too long.
    #[error("line {line} of the backup file is longer than 16 MiB")]
    TooLong {
        /// Number of the line, from 1 on.
        line: usize,
    },
    /// A line is no Endpoints object.
    #[error("line {line} of the backup file is no Endpoints object")]
    NoObject {
        /// Number of the line, from 1 on.
        line: usize,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// A line is an object that `apply` never deletes, and so never writes.
    #[error(
        "line {line} of the backup file is Endpoints {key}, which `retire apply` never deletes: the file was changed"
    )]
    Foreign {
        /// Number of the line, from 1 on.
        line: usize,
        /// The object.
        key: ObjectKey,
    },
}

impl Backup {
    /// Returns a backup without objects.
    pub fn new(cluster: &str) -> Backup {
        Backup { cluster: cluster.to_owned(), length: 0, objects: BTreeMap::new() }
    }

    /// Reads a file; `None` if it has no complete line.
    ///
    /// # Errors
    ///
    /// [`BackupError`] if the file is no backup, or was changed.
    pub fn read(mut file: impl BufRead) -> Result<Option<Backup>, BackupError> {
        let mut line = Vec::new();
        if !read_line(&mut file, 1, &mut line)? {
            let start = format!(r#"{{"apiVersion":"{FORMAT}""#);
            let common = line.len().min(start.len());
            // Another file must not be taken for an empty one, and be overwritten.
            return if line[..common] == start.as_bytes()[..common] { Ok(None) } else { Err(BackupError::NoBackup) };
        }
        let header = serde_json::from_slice(&line).ok().filter(|it: &Header| it.api_version == FORMAT);
        let mut backup = Backup::new(&header.ok_or(BackupError::NoBackup)?.cluster.uid);
        backup.length = line.len() as u64;
        for number in 2.. {
            line.clear();
            if !read_line(&mut file, number, &mut line)? {
                break;
            }
            let object = WholeEndpoints::from_json(&line);
            let object = object.map_err(|source| BackupError::NoObject { line: number, source })?;
            if object.protected().is_some() {
                return Err(BackupError::Foreign { line: number, key: object.key() });
            }
            backup.length += line.len() as u64;
            backup.add(object);
        }
        Ok(Some(backup))
    }

    /// Returns the first line of the file.
    pub fn first_line(&self) -> String {
        format!("{}\n", json!({"apiVersion": FORMAT, "cluster": {"uid": self.cluster}}))
    }

    /// Adds an object, or replaces the one of its name.
    pub fn add(&mut self, object: WholeEndpoints) {
        self.objects.insert(object.key(), object);
    }

    /// Returns whether the file has this state of an object.
    pub fn contains(&self, object: &WholeEndpoints) -> bool {
        self.objects.get(&object.key()).is_some_and(|it| it.json() == object.json())
    }

    /// Returns whether the file has an object with this UID.
    pub fn has(&self, key: &ObjectKey, uid: &str) -> bool {
        self.objects.get(key).is_some_and(|it| it.uid() == *uid)
    }

    /// Returns the objects, ordered by namespace and name.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &WholeEndpoints> {
        self.objects.values()
    }
}

/// Reads a line with its end; returns `false` if there is no further complete one.
fn read_line(file: &mut impl BufRead, number: usize, line: &mut Vec<u8>) -> Result<bool, BackupError> {
    file.take(LONGEST_LINE + 1).read_until(b'\n', line)?;
    if line.len() as u64 > LONGEST_LINE {
        return Err(BackupError::TooLong { line: number });
    }
    Ok(line.ends_with(b"\n"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::read;

    fn file(objects: &[WholeEndpoints]) -> String {
        let lines = objects.iter().map(|object| object.json().to_owned() + "\n");
        Backup::new("cluster").first_line() + &lines.collect::<String>()
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let objects = [read("shop", "api"), read("shop", "web")];
        let text = file(&objects);
        let backup = Backup::read(text.as_bytes()).unwrap().expect("a header");
        assert_eq!((backup.cluster.as_str(), backup.length), ("cluster", text.len() as u64));
        assert!(backup.objects().eq(&objects));
        assert!(backup.contains(&objects[0]) && !backup.contains(&read("shop", "db")));
        assert!(backup.has(&objects[0].key(), "uid-shop-api") && !backup.has(&objects[0].key(), "other"));
    }

    #[test]
    fn lines_that_a_crash_has_cut_off_are_left_out() {
        let text = file(&[read("shop", "api"), read("shop", "web")]);
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for end in 0..=text.len() {
            let backup = Backup::read(&text.as_bytes()[..end]).unwrap();
            let complete = ends.iter().filter(|it| **it <= end).count();
            assert_eq!(backup.as_ref().map(|it| it.objects().len() + 1).unwrap_or_default(), complete, "{end}");
            assert_eq!(
                backup.map(|it| it.length).unwrap_or_default(),
                ends[..complete].last().copied().unwrap_or(0) as u64
            );
        }
    }

    #[test]
    fn the_last_state_of_an_object_counts() {
        let old =
            WholeEndpoints::from_json(read("shop", "web").json().replace("uid-shop-web", "old").as_bytes()).unwrap();
        let backup = Backup::read(file(&[old, read("shop", "web")]).as_bytes()).unwrap().expect("a header");
        assert!(backup.objects().eq(&[read("shop", "web")]));
    }

    #[rstest]
    #[case::another_file(
        "kind: List\n",
        "the file is no backup of `retire apply`: its first line does not name the format \"retire-backup/v1\""
    )]
    #[case::without_end(
        "note",
        "the file is no backup of `retire apply`: its first line does not name the format \"retire-backup/v1\""
    )]
    #[case::newer(
        "{\"apiVersion\":\"retire-backup/v2\"}\n",
        "the file is no backup of `retire apply`: its first line does not name the format \"retire-backup/v1\""
    )]
    #[case::no_object(
        "{\"apiVersion\":\"retire-backup/v1\"}\n{}\n",
        "line 2 of the backup file is no Endpoints object"
    )]
    fn other_files_are_errors(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(Backup::read(text.as_bytes()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn objects_that_are_never_deleted_are_errors() {
        let text = file(&[read("shop", "web"), read("default", "kubernetes")]);
        let expected = "line 3 of the backup file is Endpoints default/kubernetes, which `retire apply` never deletes: the file was changed";
        assert_eq!(Backup::read(text.as_bytes()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let endless = io::BufReader::new(io::repeat(b'x'));
        assert!(matches!(Backup::read(endless), Err(BackupError::TooLong { line: 1 })));
    }
}
