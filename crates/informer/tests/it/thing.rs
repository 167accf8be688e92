//! The type of the tests: metadata and data of a `ConfigMap`.

use std::collections::BTreeMap;

use kube_wire::{
    Decode, DecodeError, Object, ObjectHead, ObjectKey, Resource, ResourceVersion, Uid,
    protobuf::{Fields, MalformedProtobuf},
};
use serde::Deserialize;
use tokio::sync::watch;

thread_local! {
    static DECODED: watch::Sender<usize> = watch::Sender::new(0);
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    pub(crate) metadata: ObjectHead,
    #[serde(default)]
    pub(crate) data: BTreeMap<String, String>,
}

impl Thing {
    /// Returns a thing in namespace `shop`, with its group in `data`.
    pub(crate) fn new(name: &str, version: u64, group: &str) -> Self {
        let metadata = ObjectHead {
            name: name.into(),
            namespace: "shop".into(),
            uid: format!("uid-{name}").into(),
            resource_version: version.into(),
            terminating: false,
        };
        Self { metadata, data: BTreeMap::from([("group".to_owned(), group.to_owned())]) }
    }

    /// Returns the number of things decoded in this thread, which is that of one test.
    pub(crate) fn decoded() -> watch::Receiver<usize> {
        DECODED.with(watch::Sender::subscribe)
    }

    fn count() {
        DECODED.with(|count| count.send_modify(|count| *count += 1));
    }

    pub(crate) fn group(&self) -> Vec<String> {
        self.data.get("group").cloned().into_iter().collect()
    }

    pub(crate) fn text(&self) -> String {
        format!("{}@{}", self.metadata.name, self.metadata.resource_version)
    }
}

impl Thing {
    fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut thing = Self::default();
        for field in fields {
            let field = field?;
            match field.number {
                1 => thing.metadata = ObjectHead::from_fields(field.message()?)?,
                2 => {
                    let (key, value) = field.entry()?;
                    thing.data.insert(key.into_owned(), value.into_owned());
                }
                _ => {}
            }
        }
        Ok(thing)
    }
}

impl Object for Thing {
    fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn uid(&self) -> Uid {
        self.metadata.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata.resource_version.clone()
    }

    fn content_eq(&self, other: &Self) -> bool {
        self == other
    }

    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.metadata.namespace.clone(), self.metadata.name.clone())
    }
}

impl Decode for Thing {
    const RESOURCE: Resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    const PROTOBUF: bool = true;
    const READS_MANAGED_FIELDS: bool = false;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::count();
        kube_wire::json::from_slice(Self::RESOURCE.kind, bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::count();
        Self::from_fields(Fields::new(bytes)).map_err(|error| error.reading(Self::RESOURCE.kind))
    }
}
