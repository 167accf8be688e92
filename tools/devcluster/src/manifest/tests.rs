//! Parsing of valid manifests, and errors of invalid ones.

use std::fs;

use rstest::rstest;

use super::*;

/// Formats the objects of a manifest as `document/item@line object`.
fn outline(syntax: Syntax, text: &str) -> Result<String, String> {
    let objects = objects("shop.yaml", syntax, text).map_err(|error| error.to_string())?;
    let outline = objects.iter().map(|object| {
        let Origin { document, line, item, .. } = &object.origin;
        let item = item.map_or_else(String::new, |item| format!("/{item}"));
        format!("{document}{item}@{line} {object}")
    });
    Ok(outline.collect::<Vec<_>>().join("; "))
}

#[rstest]
#[case::one("{apiVersion: v1, kind: Node, metadata: {name: a}}", "1@1 Node a")]
#[case::several(
    "# first\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n---\n---\n\nkind: Node\napiVersion: v1\nmetadata:\n  name: a\n",
    "1@2 Service shop/web; 2@8 Node a"
)]
#[case::json_in_yaml("{\"apiVersion\":\"v1\",\n\t\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}", "1@1 Node a")]
#[case::generated("{apiVersion: v1, kind: Pod, metadata: {generateName: web-}}", "1@1 Pod (generated name)")]
#[case::list(
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n",
    "1/1@1 Node a; 1/2@1 Pod b"
)]
#[case::typed_list("{apiVersion: v1, kind: NodeList, items: [{metadata: {name: a}}]}", "1/1@1 Node a")]
#[case::anchors("x: &name {name: a}\napiVersion: v1\nkind: Node\nmetadata: *name\n", "1@1 Node a")]
#[case::nothing("# only a comment\n", "")]
fn reads_yaml(#[case] text: &str, #[case] expect: &str) {
    assert_eq!(outline(Syntax::Yaml, text).as_deref(), Ok(expect));
}

#[rstest]
#[case::one("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}", "1@1 Node a")]
#[case::stream(
    "\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\n\"metadata\":{\"name\":\"b\"}}",
    "1@2 Node a; 2@4 Node b"
)]
#[case::nothing(" \n", "")]
fn json_documents_are_read(#[case] text: &str, #[case] expect: &str) {
    assert_eq!(outline(Syntax::Json, text).as_deref(), Ok(expect));
}

#[rstest]
#[case::not_yaml("apiVersion: v1\nkind: [Node\n", "shop.yaml: document 1, line ")]
#[case::second_document("a: {b\n---\n", "shop.yaml: document 1, line ")]
#[case::later_line(
    "{apiVersion: v1, kind: Node, metadata: {name: a}}\n---\n# here\nkind: Node\nmetadata:\n  name: b\n bad: 1\n",
    "shop.yaml: document 2, line 7: not YAML: "
)]
#[case::twice("{apiVersion: v1, kind: Node, kind: Pod}\n", "shop.yaml: document 1, line 1: not YAML: ")]
#[case::tab("apiVersion: v1\nkind: Node\nmetadata:\n\tname: a\n", "shop.yaml: document 1, line 4: not YAML: ")]
#[case::scalar("hello\n", "shop.yaml: document 1, line 1: not a Kubernetes object: ")]
#[case::no_version("---\n\nkind: Node\n", "shop.yaml: document 1, line 3: apiVersion is missing")]
#[case::no_kind("apiVersion: v1\n", "shop.yaml: document 1, line 1: kind is missing")]
#[case::odd_kind("apiVersion: v1\nkind: 7\n", "shop.yaml: document 1, line 1: kind must be a string")]
#[case::no_metadata("apiVersion: v1\nkind: Node\n", "shop.yaml: document 1, line 1: metadata of the Node is missing")]
#[case::no_name(
    "apiVersion: v1\nkind: Node\nmetadata: {}\n",
    "shop.yaml: document 1, line 1: metadata.name of the Node is missing"
)]
#[case::item(
    "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Node, metadata: {name: a}}, 7]\n",
    "shop.yaml: document 1, line 1, item 2: not a Kubernetes object: "
)]
fn yaml_errors_have_a_position(#[case] text: &str, #[case] expect: &str) {
    let error = outline(Syntax::Yaml, text).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[rstest]
#[case::cut("{\"a\":", "shop.yaml: document 1, line 1: not JSON: EOF while parsing a value")]
#[case::second(
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n{\n x}",
    "shop.yaml: document 2, line 3: not JSON: key must be a string"
)]
#[case::scalar("7", "shop.yaml: document 1, line 1: not a Kubernetes object: ")]
fn json_errors_have_a_position(#[case] text: &str, #[case] expect: &str) {
    let error = outline(Syntax::Json, text).unwrap_err();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn value_types_are_kept() {
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: web, labels: {on: \"1\", version: \"1.10\"}}\n\
                spec: {ports: [{port: 80, targetPort: http}], publishNotReadyAddresses: true, clusterIP: None}\n";
    let object = objects("shop.yaml", Syntax::Yaml, text).unwrap().remove(0);
    let expect = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "labels": {"on": "1", "version": "1.10"}},
        "spec": {
            "ports": [{"port": 80, "targetPort": "http"}],
            "publishNotReadyAddresses": true,
            "clusterIP": "None",
        },
    });
    assert_eq!(Value::Object(object.fields), expect);
}

#[test]
fn directories_are_read_in_order_manifests_only() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write("b.yml", "{apiVersion: v1, kind: Node, metadata: {name: b}}");
    write("a.json", "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}");
    write("notes.txt", "not a manifest");
    let names: Vec<_> = read(directory.path()).unwrap().into_iter().filter_map(|object| object.name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn empty_directory_and_missing_file_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let text = read(directory.path()).unwrap_err().to_string();
    assert!(text.ends_with("no manifests (*.yaml, *.yml or *.json) in this directory"), "{text}");
    let missing = directory.path().join("missing.yaml");
    let text = read(&missing).unwrap_err().to_string();
    assert!(text.starts_with(&missing.display().to_string()), "{text}");
}
