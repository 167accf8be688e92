//! A type with the metadata of any kind, decoded from both encodings.

use std::{borrow::Cow, collections::BTreeMap, fmt::Debug, marker::PhantomData};

use jiff::Timestamp;
use kube_wire::{
    Decode, DecodeError, Object, ObjectMeta, Resource, ResourceVersion, Uid, json,
    protobuf::{Fields, MalformedProtobuf},
};
use serde::Deserialize;

/// Marker type of a kind.
pub(crate) trait Kind: Debug + Send + Sync + 'static {
    const RESOURCE: Resource;
    /// First part of the names of its fixture files.
    const FILE: &'static str;
}

macro_rules! kinds {
    ($($name:ident $file:literal $resource:expr,)*) => {
        $(#[derive(Debug)]
        pub(crate) enum $name {}

        impl Kind for $name {
            const RESOURCE: Resource = $resource;
            const FILE: &'static str = $file;
        })*
    };
}

kinds! {
    Pods "pod" Resource::namespaced("", "v1", "pods", "Pod"),
    Services "service" Resource::namespaced("", "v1", "services", "Service"),
    Nodes "node" Resource::cluster("", "v1", "nodes", "Node"),
    Slices "endpointslice" Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
    EndpointsOf "endpoints" Resource::namespaced("", "v1", "endpoints", "Endpoints"),
}

/// Object of kind `K`, of which only the metadata is decoded.
#[derive(Debug, Deserialize)]
pub(crate) struct Meta<K> {
    metadata: Metadata,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Metadata {
    #[serde(flatten)]
    kept: ObjectMeta,
    #[serde(flatten)]
    more: More,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct More {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    creation_timestamp: Option<Timestamp>,
    generation: i64,
}

impl<K> PartialEq for Meta<K> {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata
    }
}

impl<K: Kind> Object for Meta<K> {
    fn namespace(&self) -> &str {
        &self.metadata.kept.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.kept.name
    }

    fn uid(&self) -> Uid {
        self.metadata.kept.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata.kept.resource_version.clone()
    }
}

impl<K: Kind> Decode for Meta<K> {
    const RESOURCE: Resource = K::RESOURCE;
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        json::from_slice(K::RESOURCE.kind, bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        let read = || {
            let mut metadata = Metadata::default();
            for field in Fields::new(bytes) {
                let field = field?;
                if field.number == 1 {
                    metadata.kept = ObjectMeta::from_fields(field.message()?)?;
                    metadata.more = More::from_fields(field.message()?)?;
                }
            }
            Ok(Self { metadata, kind: PhantomData })
        };
        read().map_err(|error: MalformedProtobuf| error.reading(K::RESOURCE.kind))
    }
}

impl More {
    fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut more = Self::default();
        let owned = |(key, value): (Cow<'_, str>, Cow<'_, str>)| (key.into_owned(), value.into_owned());
        for field in fields {
            let field = field?;
            match field.number {
                7 => more.generation = field.as_i64()?,
                8 => {
                    let time = field.time()?;
                    // Corrupted seconds can be out of range.
                    more.creation_timestamp = time.and_then(|time| Timestamp::from_second(time.seconds).ok());
                }
                11 => more.labels.extend([owned(field.entry()?)]),
                12 => more.annotations.extend([owned(field.entry()?)]),
                _ => {}
            }
        }
        Ok(more)
    }
}
