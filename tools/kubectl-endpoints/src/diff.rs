//! `diff`: shows the writes that the endpoint controllers would send now.

use std::{fmt::Write as _, process::ExitCode};

use kube_endpoints_explain::{Change, DifferenceClass, Kind, ObjectRef, Reason, TextStyle, text};
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use crate::{
    args::GlobalArgs,
    cluster::{Cluster, not_compared},
    output::{self, Items, Output},
};

/// Exit status after an error, as that of `kubectl diff`: 1 means a difference.
pub(crate) const ERROR_STATUS: u8 = 2;

/// A change in JSON and YAML output.
#[derive(Serialize)]
struct ChangeDocument<'a> {
    object: &'a ObjectRef,
    class: DifferenceClass,
    reasons: &'a [Reason],
    /// The object as it is; null if it would be created.
    before: &'a Option<Value>,
    /// The object as it would be; null if it would be deleted.
    after: &'a Option<Value>,
}

/// Prints the differences. The status is 1 if there are any, and 2 if objects could not be compared.
pub(crate) async fn run(args: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let output = Output::new(args);
    let Cluster { objects, world, selection, scope, .. } = Cluster::read(args).await?;
    let mut changes: Vec<Change> = world.changes();
    if let Some(selection) = &selection {
        changes.retain(|change| selection.has_change(change));
    }
    for change in &mut changes {
        [&mut change.before, &mut change.after].into_iter().flatten().for_each(remove_managed_fields);
    }
    let documents: Vec<_> = changes
        .iter()
        .map(|change| ChangeDocument {
            object: &change.object,
            class: change.class(),
            reasons: &change.reasons,
            before: &change.before,
            after: &change.after,
        })
        .collect();
    let names: Vec<_> = changes.iter().map(|change| &change.object).collect();
    let diffs: Vec<String> = changes.iter().map(|change| unified(change, output.style)).collect::<Result<_, _>>()?;
    output::print(&output.render(&Items { items: &documents }, &names, |_| diffs.concat())?)?;
    if let Some(status) = not_compared(&objects) {
        return Ok(status);
    }
    if changes.is_empty() && objects.unknown.contains(&Kind::Node) {
        let reason = text::may_not_read(&[Kind::Node]);
        output::message(
            "",
            format_args!("No differences in {scope}, but zones and topology hints were not compared: {reason}."),
        );
    }
    Ok(if changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Returns class and reasons as comments, and a unified diff of the object as YAML.
fn unified(change: &Change, style: TextStyle) -> anyhow::Result<String> {
    let Change { object, before, after, classes: _, reasons } = change;
    let class = change.class();
    let mut text = String::new();
    for Reason { code, message } in reasons {
        writeln!(text, "# {class} {code} {message}")?;
    }
    let yaml = |value: &Option<Value>| value.as_ref().map_or_else(|| Ok(String::new()), serde_saphyr::to_string);
    let (old, new) = (yaml(before)?, yaml(after)?);
    // diff and patch use this name for a file that does not exist.
    let name = |value: &Option<Value>| match value {
        Some(_) => object.to_string(),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(&old, &new);
    write!(text, "{}", diff.unified_diff().context_radius(3).header(&name(before), &name(after)))?;
    Ok(if style.color { colored(&text) } else { text })
}

/// Colors removed lines red, added lines green, and the rest of the diff's own lines as git does.
fn colored(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len() * 2);
    for line in diff.lines() {
        let color = match line.as_bytes() {
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => "1",
            [b'#', ..] => "2",
            [b'@', ..] => "36",
            [b'-', ..] => "31",
            [b'+', ..] => "32",
            _ => "",
        };
        if color.is_empty() {
            text.push_str(line);
        } else {
            text.extend(["\x1b[", color, "m", line, "\x1b[0m"]);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::Code;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn change(before: Option<Value>, after: Option<Value>) -> Change {
        let object = ObjectRef { kind: Kind::Endpoints, namespace: "shop".to_owned(), name: "web".to_owned() };
        let reason = Reason { code: Code::EndpointsDiffer, message: "1 address is missing".to_owned() };
        Change { object, before, after, classes: [DifferenceClass::Content].into(), reasons: vec![reason] }
    }

    #[rstest]
    #[case::update(
        Some(json!({"a": 1, "b": "x"})), Some(json!({"a": 2, "b": "x"})),
        "# content EP502 1 address is missing\n--- Endpoints shop/web\n+++ Endpoints shop/web\n@@ -1,2 +1,2 @@\n-a: 1\n+a: 2\n b: x\n"
    )]
    #[case::create(
        None, Some(json!({"a": 1})),
        "# content EP502 1 address is missing\n--- /dev/null\n+++ Endpoints shop/web\n@@ -0,0 +1 @@\n+a: 1\n"
    )]
    #[case::delete(
        Some(json!({"a": 1})), None,
        "# content EP502 1 address is missing\n--- Endpoints shop/web\n+++ /dev/null\n@@ -1 +0,0 @@\n-a: 1\n"
    )]
    fn diffs_are_unified(#[case] before: Option<Value>, #[case] after: Option<Value>, #[case] expect: &str) {
        assert_eq!(unified(&change(before, after), TextStyle::default()).unwrap(), expect);
    }

    #[test]
    fn colors_are_those_of_git() {
        let style = TextStyle { color: true, ..TextStyle::default() };
        let text = unified(&change(Some(json!({"a": 1})), None), style).unwrap();
        let expect = ["\x1b[2m# content EP502 ", "\x1b[1m--- Endpoints", "\x1b[36m@@ ", "\x1b[31m-a: 1\x1b[0m\n"];
        for part in expect {
            assert!(text.contains(part), "{text:?} lacks {part:?}");
        }
    }

    #[test]
    fn managed_fields_are_left_out() {
        let mut object = json!({"metadata": {"name": "web", "managedFields": [{}]}});
        remove_managed_fields(&mut object);
        assert_eq!(object, json!({"metadata": {"name": "web"}}));
    }
}
