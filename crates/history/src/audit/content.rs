//! Objects in requests and answers.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Endpoints, ManagedFieldsEntry, Node, ObjectKey, Pod, Service, Uid};
use kube_wire::Object as _;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::write::Incarnation;
use crate::Author;
use crate::object::{Kind, Recorded, each};

/// Longest object that is read, in bytes. etcd stores at most 1.5 MiB.
const LONGEST: usize = 4 << 20;
/// Grace period of a Pod that states none, in seconds.
const DEFAULT_GRACE: i64 = 30;

/// An object as a request or an answer has it.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) object: Recorded,
    pub(super) traits: Traits,
    /// Manager and time of the newest entry of `managedFields`.
    pub(super) author: Option<Author>,
    deletion: Deletion,
}

/// What the outcome of later requests depends on, besides the recorded fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) restart: RestartPolicy,
    /// Grace period of a Pod, in seconds.
    pub(super) grace: i64,
    pub(super) has_finalizers: bool,
}

/// `spec.restartPolicy` of a Pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum RestartPolicy {
    OnFailure,
    Never,
    #[default]
    #[serde(other)]
    Always,
}

/// How far the deletion of an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletion {
    None,
    /// It waits for its grace period.
    Graceful,
    /// It waits for finalizers only.
    Due,
}

/// The fields that are not recorded.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    kind: Option<String>,
    metadata: Metadata,
    spec: Option<Spec>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    deletion_timestamp: Option<IgnoredAny>,
    deletion_grace_period_seconds: Option<i64>,
    finalizers: Option<Vec<IgnoredAny>>,
    managed_fields: Option<Vec<ManagedFieldsEntry>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    restart_policy: Option<RestartPolicy>,
    termination_grace_period_seconds: Option<i64>,
}

/// Returns the recorded kind of a resource. Google Cloud calls the core group `core`.
pub(super) fn kind_of_resource(group: &str, resource: &str) -> Option<Kind> {
    let group = if group == "core" { "" } else { group };
    Kind::ALL.into_iter().find(|kind| (kind.resource().group, kind.resource().plural) == (group, resource))
}

/// Returns the recorded kind of an object, of any version of its group.
pub(super) fn kind_of_object(api_version: &str, kind: &str) -> Option<Kind> {
    let group = if api_version == "v1" { "" } else { api_version.split_once('/')?.0 };
    Kind::ALL.into_iter().find(|it| (it.resource().group, it.resource().kind) == (group, kind))
}

impl Content {
    /// Parses an object; `None` for one of another kind, such as a Status or a Table.
    pub(super) fn parse(kind: Kind, json: &str) -> Option<Content> {
        fn decode<T: DeserializeOwned>(json: &str) -> Option<Arc<T>> {
            serde_json::from_str(json).ok().map(Arc::new)
        }
        if json.len() > LONGEST {
            return None;
        }
        let document: Document = serde_json::from_str(json).unwrap_or_default();
        if document.kind.is_some_and(|it| it != kind.resource().kind) {
            return None;
        }
        let object: Recorded = match kind {
            Kind::Service => decode::<Service>(json)?.into(),
            Kind::Pod => decode::<Pod>(json)?.into(),
            Kind::Node => decode::<Node>(json)?.into(),
            Kind::Endpoints => decode::<Endpoints>(json)?.into(),
            Kind::EndpointSlice => decode::<EndpointSlice>(json)?.into(),
        };
        let (metadata, spec) = (document.metadata, document.spec.unwrap_or_default());
        let traits = Traits {
            restart: spec.restart_policy.unwrap_or_default(),
            grace: spec.termination_grace_period_seconds.unwrap_or(DEFAULT_GRACE),
            has_finalizers: metadata.finalizers.is_some_and(|finalizers| !finalizers.is_empty()),
        };
        let deletion = match (metadata.deletion_timestamp, metadata.deletion_grace_period_seconds) {
            (None, _) => Deletion::None,
            (Some(_), Some(1..)) => Deletion::Graceful,
            (Some(_), _) => Deletion::Due,
        };
        let author = Author::of_last_write(metadata.managed_fields.unwrap_or_default());
        Some(Content { object, traits, author, deletion })
    }

    pub(super) fn incarnation(&self) -> Incarnation {
        Incarnation { uid: self.object.uid(), version: self.object.version() }
    }

    /// Returns whether the object no longer existed after the request in whose answer it is.
    ///
    /// The answer to a deletion is the object as it was, or as it waits for its deletion. A change that removes the last finalizer
    /// of an object also deletes it.
    pub(super) fn is_gone(&self, after_deletion: bool) -> bool {
        match self.deletion {
            _ if self.traits.has_finalizers => false,
            Deletion::None => after_deletion,
            Deletion::Graceful => false,
            Deletion::Due => true,
        }
    }
}

impl Recorded {
    /// Returns the UID; empty if it is unknown.
    pub(super) fn uid(&self) -> Uid {
        each!(self, object => object.uid())
    }

    /// Sets namespace and name.
    pub(super) fn set_key(&mut self, key: ObjectKey) {
        let ObjectKey { namespace, name } = key;
        let own = match self {
            Recorded::Service(service) => {
                let service = Arc::make_mut(service);
                (&mut service.namespace, &mut service.name)
            }
            Recorded::Pod(pod) => {
                let pod = Arc::make_mut(pod);
                (&mut pod.namespace, &mut pod.name)
            }
            Recorded::Node(node) => return Arc::make_mut(node).name = name,
            Recorded::Endpoints(endpoints) => {
                let metadata = &mut Arc::make_mut(endpoints).metadata;
                (&mut metadata.namespace, &mut metadata.name)
            }
            Recorded::EndpointSlice(slice) => {
                let metadata = &mut Arc::make_mut(slice).metadata;
                (&mut metadata.namespace, &mut metadata.name)
            }
        };
        (*own.0, *own.1) = (namespace, name);
    }
}
