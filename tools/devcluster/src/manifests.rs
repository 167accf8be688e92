//! Objects of YAML and JSON files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use serde_json::Value;

/// Extensions of the files that are read in a directory.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads files, and all manifests of directories in the order of their names. Subdirectories are ignored.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    for path in paths {
        let named = || path.display().to_string();
        for file in files(path).with_context(named)? {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            all.extend(parse(&file.display().to_string(), &text)?);
        }
    }
    Ok(all)
}

fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries: Vec<fs::DirEntry> = fs::read_dir(path)?.collect::<io::Result<_>>()?;
    let is_manifest = |path: &PathBuf| {
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        path.is_file() && EXTENSIONS.contains(&extension)
    };
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(is_manifest).collect();
    if files.is_empty() {
        bail!("no manifests (*.yaml, *.yml or *.json) in this directory");
    }
    files.sort();
    Ok(files)
}

/// Parses the documents of a YAML stream, which may be JSON. Lists are replaced by their items. Namespaces come first.
pub(crate) fn parse(file: &str, text: &str) -> anyhow::Result<Vec<Value>> {
    let options = serde_saphyr::options! { with_snippet: false };
    let documents: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options).with_context(|| file.to_owned())?;
    let mut objects = Vec::new();
    for mut document in documents {
        match document.get_mut("items").filter(|it| it.is_array()).map(Value::take) {
            Some(Value::Array(items)) => objects.extend(items),
            _ => objects.push(document),
        }
    }
    for metadata in objects.iter_mut().filter_map(|it| it.get_mut("metadata")?.as_object_mut()) {
        // Set by the server; manifests exported from a cluster contain it.
        metadata.remove("resourceVersion");
    }
    objects.sort_by_key(|it| it["kind"] != "Namespace");
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::one("{apiVersion: v1, kind: Node, metadata: {name: a}}", "Node a")]
    #[case::several(
        "# first\nkind: Pod\nmetadata: {name: a}\n---\n---\n\nkind: Node\nmetadata:\n  name: b\n",
        "Pod a, Node b"
    )]
    #[case::json("{\"kind\":\"Node\",\n\t\"metadata\":{\"name\":\"a\"}}", "Node a")]
    #[case::list(
        "{kind: List, items: [{kind: Node, metadata: {name: a}}, {kind: Pod, metadata: {name: b}}]}",
        "Node a, Pod b"
    )]
    #[case::namespace(
        "{kind: Pod, metadata: {name: a}}\n---\n{kind: Namespace, metadata: {name: b}}",
        "Namespace b, Pod a"
    )]
    #[case::nothing("# only a comment\n", "")]
    fn objects_are_read_in_order(#[case] text: &str, #[case] expect: &str) {
        let objects = parse("shop.yaml", text).unwrap();
        let names = objects.iter().map(|it| format!("{} {}", it["kind"], it["metadata"]["name"]).replace('"', ""));
        assert_eq!(names.collect::<Vec<_>>().join(", "), expect);
    }

    #[test]
    fn types_are_kept_and_the_version_is_not() {
        let text = "metadata: {labels: {on: \"1\", version: \"1.10\"}, resourceVersion: '7'}\nspec: {port: 80, clusterIP: None}\n";
        let expect =
            json!({"metadata": {"labels": {"on": "1", "version": "1.10"}}, "spec": {"port": 80, "clusterIP": "None"}});
        assert_eq!(parse("shop.yaml", text).unwrap(), [expect]);
    }

    #[test]
    fn directories_are_read_in_order_manifests_only() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        let read = || read(&[directory.path().to_owned()]);
        assert!(
            format!("{:#}", read().unwrap_err())
                .ends_with(": no manifests (*.yaml, *.yml or *.json) in this directory")
        );
        write("b.yml", "{kind: Node}");
        write("a.json", "{\"kind\": \"Pod\"}");
        write("notes.txt", "not a manifest");
        assert_eq!(read().unwrap(), [json!({"kind": "Pod"}), json!({"kind": "Node"})]);
    }
}
