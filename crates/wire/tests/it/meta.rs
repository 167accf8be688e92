//! A type with the metadata of any kind, decoded from both encodings.

use std::{borrow::Cow, collections::BTreeMap, fmt::Debug, marker::PhantomData};

use jiff::Timestamp;
use kube_wire::{
    Decode, DecodeError, Object, ObjectHead, Resource, ResourceVersion, Uid, json,
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
    Endpoints "endpoints" Resource::namespaced("", "v1", "endpoints", "Endpoints"),
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
    common: ObjectHead,
    #[serde(flatten)]
    extra: ExtraMetadata,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExtraMetadata {
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
        &self.metadata.common.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.common.name
    }

    fn uid(&self) -> Uid {
        self.metadata.common.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata.common.resource_version.clone()
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
                    metadata.common = ObjectHead::from_fields(field.message()?)?;
                    metadata.extra = ExtraMetadata::from_fields(field.message()?)?;
                }
            }
            Ok(Self { metadata, kind: PhantomData })
        };
        read().map_err(|error: MalformedProtobuf| error.reading(K::RESOURCE.kind))
    }
}

impl ExtraMetadata {
    fn from_fields(fields: Fields<'_>) -> Result<Self, MalformedProtobuf> {
        let mut extra = Self::default();
        let owned = |(key, value): (Cow<'_, str>, Cow<'_, str>)| (key.into_owned(), value.into_owned());
        for field in fields {
            let field = field?;
            match field.number {
                7 => extra.generation = field.as_i64()?,
                8 => {
                    let time = field.time()?;
                    // Corrupted seconds can be out of range.
                    extra.creation_timestamp = time.and_then(|time| Timestamp::from_second(time.seconds).ok());
                }
                11 => extra.labels.extend([owned(field.entry()?)]),
                12 => extra.annotations.extend([owned(field.entry()?)]),
                _ => {}
            }
        }
        Ok(extra)
    }
}
