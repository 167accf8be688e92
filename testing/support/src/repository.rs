//! Files of the repository, for tests of rules about all of them.

use std::fs;
use std::path::Path;

/// Returns the root directory of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder of the workspace")
}

/// Returns the text of a file, whose path may be relative to the root of the repository.
#[track_caller]
pub fn text_of(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the files of these folders and their subfolders that have one of these extensions, except those of builds. The paths
/// are relative to the root of the repository, and sorted.
pub fn files(folders: &[&str], extensions: &[&str]) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), folders.iter().map(|folder| root().join(folder)).collect::<Vec<_>>());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension)) {
                found.push(path.strip_prefix(root()).expect("a file of the repository").display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// Returns the Rust files of the crates in these folders, without those of their tests, benches and examples.
pub fn sources(folders: &[&str]) -> Vec<String> {
    let mut files = files(folders, &["rs"]);
    files.retain(|file| file.split('/').nth(2) == Some("src"));
    files
}
