//! Detection of writes of slices that a process repeats although the server has executed them.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use super::object::TRIGGER_TIME;
use crate::log::{EntryKind, Log};
use crate::point::Verb;

/// Maximum number of successful updates of a slice in a row with the same content: the response to the first may be
/// lost, and that to the second may show that the server changes the content.
const UPDATES: usize = 4;

/// Writes of a process since its start, as long as no other client can have changed the slices.
#[derive(Default)]
struct Written {
    /// Content with which existing slices were created, by path.
    created: BTreeMap<String, Value>,
    /// Content of the last update and the number of updates in a row with it, by path.
    updated: BTreeMap<String, (Value, usize)>,
}

/// Returns a violation for each slice that a process created twice under different names, and for each update that it
/// repeated without effect.
///
/// Earlier writes are ignored after an event by which a slice may have been changed or deleted: a patch or delete of
/// the user, except of Pods and Nodes; a list; a deletion that the watch delivers; a disturbance; the start of a
/// process; a write of another process.
pub(super) fn repeated_writes(log: &Log) -> Vec<String> {
    let mut written: BTreeMap<&str, Written> = BTreeMap::new();
    let mut wrong = Vec::new();
    for entry in log.entries() {
        match &entry.what {
            EntryKind::Request { point, target, body, code: Some(200..300), .. }
                if target.resource == "endpointslices" && point.verb.is_write() =>
            {
                written.retain(|process, _| *process == point.process);
                let process = written.entry(&point.process).or_default();
                if let Some(text) = process.take(point.verb, &target.namespace, &target.name, body) {
                    wrong.push(format!("{point}: {text}"));
                }
            }
            // A failed sync is retried with back-off, beginning with its first write.
            EntryKind::Request { point, code: Some(400..), .. }
                if point.resource == "endpointslices" && point.verb.is_write() =>
            {
                if let Some(process) = written.get_mut(&*point.process) {
                    process.updated.clear();
                }
            }
            // The list may contain other slices, for example after deletions by the garbage collector.
            EntryKind::Request { point, code: Some(200..300), .. }
                if point.resource == "endpointslices" && matches!(point.verb, Verb::List | Verb::Watch) =>
            {
                written.remove(&*point.process);
            }
            EntryKind::Event { point, frame }
                if point.resource == "endpointslices" && memchr::memmem::find(frame, b"DELETED").is_some() =>
            {
                written.remove(&*point.process);
            }
            EntryKind::User { operation, code: 200..300 } if !is_harmless(operation) => written.clear(),
            EntryKind::Started { .. } | EntryKind::Disturbance(_) => written.clear(),
            _ => {}
        }
    }
    wrong
}

/// Returns whether the operation cannot change or delete a slice.
fn is_harmless(operation: &crate::Operation) -> bool {
    match operation {
        crate::Operation::Create { .. } => true,
        crate::Operation::Patch { path, .. } | crate::Operation::Delete { path, .. } => {
            path.contains("/pods/") || path.contains("/nodes/")
        }
    }
}

impl Written {
    /// Records a successful write. Returns a violation, if there is one.
    fn take(&mut self, verb: Verb, namespace: &str, name: &str, body: &Bytes) -> Option<String> {
        if verb == Verb::Delete {
            let path = format!("{namespace}/{name}");
            self.created.remove(&path);
            self.updated.remove(&path);
            return None;
        }
        let mut slice: Value = serde_json::from_slice(body).ok()?;
        let metadata = &mut slice["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default().to_owned();
        let path = format!("{namespace}/{name}");
        for field in ["name", "resourceVersion", "uid", "generation", "creationTimestamp", "managedFields"] {
            metadata.as_object_mut()?.remove(field);
        }
        if let Some(annotations) = metadata["annotations"].as_object_mut() {
            annotations.remove(TRIGGER_TIME);
        }
        if verb == Verb::Create {
            // The same name is no violation: the slice was deleted, and the watch has not delivered the deletion yet.
            let is_first = |(at, content): &(&String, &Value)| **at != path && **content == slice;
            let first = self.created.iter().find(is_first).map(|(path, _)| path.clone());
            self.created.insert(path.clone(), slice);
            return first.map(|first| format!("endpointslices {path}: created with the same content as {first}"));
        }
        self.created.remove(&path);
        let (content, count) = self.updated.entry(path.clone()).or_default();
        *count = if *content == slice { *count + 1 } else { 1 };
        *content = slice;
        (*count == UPDATES + 1).then(|| format!("endpointslices {path}: updated {count} times with the same content"))
    }
}
