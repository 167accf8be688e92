//! Past versions of objects.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use serde_json::Value;

/// All versions so far of the objects of one resource.
#[derive(Clone, Debug, Default)]
pub struct Versions {
    seen: HashSet<Bytes>,
    objects: BTreeMap<(String, String), Vec<Value>>,
}

impl Versions {
    /// Returns the versions of an object, oldest first; empty for an object that never existed.
    pub fn of(&self, namespace: &str, name: &str) -> &[Value] {
        self.objects.get(&(namespace.to_owned(), name.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }

    /// Adds objects in JSON. Versions that are recorded already are skipped.
    pub(crate) fn extend(&mut self, objects: Vec<Bytes>) {
        for json in objects {
            if self.seen.contains(&json) {
                continue;
            }
            // Cannot fail: the server stores valid JSON.
            let object: Value = serde_json::from_slice(&json).unwrap_or_default();
            let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default().to_owned();
            self.objects.entry((text("namespace"), text("name"))).or_default().push(object);
            self.seen.insert(json);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(namespace: &str, name: &str, version: u8) -> Bytes {
        let metadata = json!({ "namespace": namespace, "name": name, "resourceVersion": version.to_string() });
        json!({ "metadata": metadata }).to_string().into()
    }

    #[test]
    fn each_version_of_an_object_is_there_once() {
        let mut versions = Versions::default();
        versions.extend(vec![service("shop", "web", 1), service("shop", "db", 2)]);
        versions.extend(vec![service("shop", "web", 3), service("shop", "db", 2)]);
        let found = |name| -> Vec<_> {
            versions.of("shop", name).iter().map(|it| it["metadata"]["resourceVersion"].clone()).collect()
        };
        assert_eq!(
            (found("web"), found("db"), found("none")),
            (vec!["1".into(), "3".into()], vec!["2".into()], vec![])
        );
    }
}
