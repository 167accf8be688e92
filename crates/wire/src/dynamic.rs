//! Objects of resources that are known only at run time.

use serde::Deserialize;
use serde_json::Value;

use crate::{Decode, DecodeError, Object, ObjectHead, Resource, ResourceVersion, Uid, json};

/// Object of a resource that is known only at run time, as JSON.
///
/// It has no resource of its own: readers, clients and informers get one from [`Resource::discovered`], as
/// `Informer::builder(client).resource(resource)` does. Keeping complete objects takes memory; a type of the author's
/// with the fields in use takes less, also without a fixed resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamic {
    /// Key, UID and resource version.
    pub metadata: ObjectHead,
    /// The complete object. Items of lists have neither `kind` nor `apiVersion`.
    pub value: Value,
}

impl Object for Dynamic {
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
        self.value == other.value
    }
}

impl Decode for Dynamic {
    /// No resource of an API server.
    const RESOURCE: Resource = Resource::namespaced("", "", "", "Object");

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Head {
            metadata: ObjectHead,
        }
        let kind = Self::RESOURCE.kind;
        let Head { metadata } = json::from_slice(kind, bytes)?;
        Ok(Self { metadata, value: json::from_slice(kind, bytes)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, ListReader};

    #[test]
    fn lists_are_those_of_the_discovered_resource() {
        let widgets = Resource::discovered("example.com", "v1", "widgets", "Widget", true);
        let list = br#"{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"3"},
            "items":[{"metadata":{"name":"w","namespace":"shop","resourceVersion":"2"},"spec":{"size":3}}]}"#;
        let mut reader = ListReader::<Dynamic>::of(&widgets, Encoding::Json);
        reader.push(list);
        let object = reader.next_item().unwrap().unwrap().unwrap();
        assert_eq!((object.key().to_string().as_str(), &object.value["spec"]["size"]), ("shop/w", &Value::from(3)));
        assert!(reader.next_item().unwrap().is_none());

        let mut other = ListReader::<Dynamic>::of(&Resource { kind: "Gadget", ..widgets }, Encoding::Json);
        other.push(list);
        other.next_item().unwrap_err();
    }
}
