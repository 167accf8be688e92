//! Endpoints that others than the endpoints controller write.

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL};
use kube_endpoint_model::{Endpoints, Service, not_mirrored};
use serde::{Deserialize, Serialize};

use crate::facts::FoundEndpoints;

/// Field managers of the endpoints controllers: of kube-controller-manager, alone and as a part of k3s and MicroK8s, and of this project.
const CONTROLLERS: [&str; 4] = ["kube-controller-manager", "k3s", "kubelite", "controller-manager"];
/// Values of the label `application` of Patroni's objects.
const PATRONI: [&str; 2] = ["patroni", "spilo"];

/// Endpoints that others than the endpoints controller write.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Writer {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// What the object is.
    pub kind: WriterKind,
    /// Field managers that have written it.
    pub managers: Vec<String>,
    /// What happens to it, and what to do.
    pub advice: String,
}

/// What Endpoints are that others than the endpoints controller write.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WriterKind {
    /// `default/kubernetes`, which the API server writes.
    ApiServer,
    /// A lock of an old leader election client.
    Lock,
    /// The state of a Patroni cluster.
    Patroni,
    /// Endpoints of a Service without a selector, which are mirrored.
    Mirrored,
    /// Endpoints of a Service without a selector, which are not mirrored.
    SkipsMirror,
    /// Endpoints without a Service.
    NoService,
    /// Endpoints of a Service with a selector, without the label of the endpoints controller.
    Unlabelled,
    /// Endpoints of the endpoints controller that another field manager has written, too.
    Edited,
}

impl WriterKind {
    fn advice(self) -> &'static str {
        match self {
            WriterKind::ApiServer => "stays: the API server writes it, and an EndpointSlice of its own",
            WriterKind::Lock => "stays: a lock for leader election; clients can use a Lease",
            WriterKind::Patroni => "stays, and is mirrored as before: Patroni needs it, unless it uses ConfigMaps",
            WriterKind::Mirrored => {
                "stays, and is mirrored as long as the mirroring controller runs; its writer can write EndpointSlices"
            }
            WriterKind::SkipsMirror => {
                "stays: it is not mirrored, so that its writer writes EndpointSlices, or its readers read Endpoints"
            }
            WriterKind::NoService => {
                "stays: no Service has its name, so that it is not mirrored, and who needs it reads it"
            }
            WriterKind::Unlabelled => {
                "stays: the label endpoints.kubernetes.io/managed-by is missing, which new versions of the endpoints controller set"
            }
            WriterKind::Edited => "stays: its writer has to write EndpointSlices, or nothing",
        }
    }
}

/// Returns whether an object has the label of the endpoints controller.
pub(crate) fn is_managed(endpoints: &Endpoints) -> bool {
    endpoints.metadata.labels.get(ENDPOINTS_MANAGED_BY_LABEL) == Some(ENDPOINTS_CONTROLLER)
}

pub(crate) fn is_of_api_server(endpoints: &Endpoints) -> bool {
    (&*endpoints.metadata.namespace, &*endpoints.metadata.name) == ("default", "kubernetes")
}

/// Returns the field managers other than the controllers that have written an object in the time before now.
pub(crate) fn recent_strangers(found: &FoundEndpoints, time: SignedDuration, now: Timestamp) -> Vec<String> {
    let is_recent = |written: Option<Timestamp>| written.is_none_or(|written| now.duration_since(written) <= time);
    let managers = found.written.managers.iter();
    let strangers = managers.filter(|it| is_recent(it.time) && !CONTROLLERS.contains(&&*it.manager));
    let mut names: Vec<String> = strangers.map(|it| it.manager.to_string()).filter(|name| !name.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns what an object is for others than the endpoints controller; `None` if only the controller writes it. `service` is the
/// Service of its name, and `Err` if Services are unknown.
pub(crate) fn writer(
    found: &FoundEndpoints,
    service: Result<Option<&Service>, ()>,
    time: SignedDuration,
    now: Timestamp,
) -> Option<Writer> {
    let endpoints = &*found.endpoints;
    let metadata = &endpoints.metadata;
    let kind = if is_of_api_server(endpoints) {
        WriterKind::ApiServer
    } else if endpoints.is_leader_lock() {
        WriterKind::Lock
    } else if is_managed(endpoints) {
        if recent_strangers(found, time, now).is_empty() {
            return None;
        }
        WriterKind::Edited
    } else if is_of_patroni(endpoints) {
        WriterKind::Patroni
    } else {
        match service {
            Ok(None) => WriterKind::NoService,
            Ok(Some(service)) if service.selector.is_some() => WriterKind::Unlabelled,
            Ok(Some(service)) if not_mirrored(endpoints, Some(service)).is_some() => WriterKind::SkipsMirror,
            Ok(Some(_)) | Err(()) => WriterKind::Mirrored,
        }
    };
    let mut managers: Vec<String> = found.written.managers.iter().map(|it| it.manager.to_string()).collect();
    managers.sort();
    managers.dedup();
    let (namespace, name) = (metadata.namespace.to_string(), metadata.name.to_string());
    Some(Writer { namespace, name, kind, managers, advice: kind.advice().to_owned() })
}

/// Returns whether an object has the labels or annotations of Patroni, which keeps its leader and its configuration in Endpoints.
fn is_of_patroni(endpoints: &Endpoints) -> bool {
    let metadata = &endpoints.metadata;
    let has = |key: &str| metadata.annotations.contains_key(key);
    metadata.labels.get("application").is_some_and(|it| PATRONI.contains(&it))
        || (has("leader") && has("renewTime"))
        || (has("initialize") && metadata.name.ends_with("-config"))
}
