//! Writes of slices that a process sends again although the server has carried them out.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::Value;

use super::object::TRIGGER_TIME;
use crate::log::{Happening, Log};
use crate::point::Verb;

/// Updates of a slice to one content, in a row, that a process may have carried out: the answer to the first may be lost, and
/// that to the second may show that the server changes the content.
const UPDATES: usize = 4;

/// What a process wrote since its start, as long as no other writer may have changed it.
#[derive(Default)]
struct Written {
    /// Slices that exist, by path and content of the create.
    created: BTreeMap<String, Value>,
    /// The last content of an update and how often it was carried out in a row, by path.
    updated: BTreeMap<String, (Value, usize)>,
}

/// Returns the slices that a process created twice under two names, and the updates that it repeats without effect.
///
/// Whenever something else may have changed or deleted a slice, what was written before it no longer counts: requests of the
/// user but for creates and for those of Pods and Nodes, lists, deletions that the watch delivers, disturbances, starts of
/// processes, and writes of other processes.
pub(super) fn repeated_writes(log: &Log) -> Vec<String> {
    let mut written: BTreeMap<&str, Written> = BTreeMap::new();
    let mut wrong = Vec::new();
    for entry in log.entries() {
        match &entry.what {
            Happening::Request { point, target, body, code: Some(200..300), .. }
                if target.resource == "endpointslices" && point.verb.is_write() =>
            {
                written.retain(|process, _| *process == point.process);
                let process = written.entry(&point.process).or_default();
                if let Some(text) = process.take(point.verb, &target.namespace, &target.name, body) {
                    wrong.push(format!("{point}: {text}"));
                }
            }
            // The sync fails and is retried with back-off, from its first write.
            Happening::Request { point, code: Some(400..), .. }
                if point.resource == "endpointslices" && point.verb.is_write() =>
            {
                if let Some(process) = written.get_mut(&*point.process) {
                    process.updated.clear();
                }
            }
            // The slices that the process knows of are others now, as after a deletion by the garbage collector.
            Happening::Request { point, code: Some(200..300), .. }
                if point.resource == "endpointslices" && matches!(point.verb, Verb::List | Verb::Watch) =>
            {
                written.remove(&*point.process);
            }
            Happening::Event { point, frame }
                if point.resource == "endpointslices" && memchr::memmem::find(frame, b"DELETED").is_some() =>
            {
                written.remove(&*point.process);
            }
            Happening::User { operation, code: 200..300 } if !is_harmless(operation) => written.clear(),
            Happening::Started { .. } | Happening::Disturbance(_) => written.clear(),
            _ => {}
        }
    }
    wrong
}

/// Whether no slice can have been changed or deleted by it.
fn is_harmless(operation: &crate::Operation) -> bool {
    match operation {
        crate::Operation::Create { .. } => true,
        crate::Operation::Patch { path, .. } | crate::Operation::Delete { path, .. } => {
            path.contains("/pods/") || path.contains("/nodes/")
        }
    }
}

impl Written {
    /// Takes in a write that was carried out. Returns what is wrong with it.
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
            // The same name again is a new slice in place of one whose deletion the watch has not delivered yet.
            let is_first = |(at, content): &(&String, &Value)| **at != path && **content == slice;
            let first = self.created.iter().find(is_first).map(|(path, _)| path.clone());
            self.created.insert(path.clone(), slice);
            return first.map(|first| format!("endpointslices {path} is created with the content of {first}"));
        }
        self.created.remove(&path);
        let (content, count) = self.updated.entry(path.clone()).or_default();
        *count = if *content == slice { *count + 1 } else { 1 };
        *content = slice;
        (*count == UPDATES + 1).then(|| format!("endpointslices {path} is written {count} times with one content"))
    }
}
