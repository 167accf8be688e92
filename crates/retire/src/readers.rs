//! Who reads Endpoints, is known to, or could.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube_endpoints_history::audit::reads::{Reads, Request, Seen};
use serde::{Deserialize, Serialize};

use crate::accounts::{Accounts, RunningProgram};
use crate::known::Reading;
use crate::rbac::{Right, Rights, Who};

/// Number of requests of one reader that a plan lists.
const REQUESTS: usize = 20;
/// Controllers of kube-controller-manager that read Endpoints by their nature: those of endpoints, and those that read all kinds.
const CONTROLLERS: [&str; 6] = [
    "endpoint-controller",
    "endpointslice-controller",
    "endpointslicemirroring-controller",
    "generic-garbage-collector",
    "namespace-controller",
    "resourcequota-controller",
];

/// Who reads Endpoints, is known to, or could.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reader {
    /// Who it is.
    pub who: Who,
    /// How sure it is that it reads Endpoints.
    pub confidence: Confidence,
    /// Why its requests do not count; `None` if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Requests in the audit log, the last first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ReaderRequest>,
    /// Number of further kinds of requests that are not listed.
    #[serde(default)]
    pub more_requests: usize,
    /// Known programs that its Pods run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<RunningProgram>,
    /// Rights to read Endpoints, of service accounts with Pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rights: Vec<Right>,
    /// Number of its Pods.
    #[serde(default)]
    pub pods: u64,
    /// One of its Pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
}

/// How sure it is that somebody reads Endpoints.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Confidence {
    /// The audit log has its requests.
    Seen,
    /// Its Pods run a program that is known to read Endpoints.
    Known,
    /// It has the right to, and running Pods.
    Could,
}

/// Requests of a reader in the audit log.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReaderRequest {
    /// `get`, `list` or `watch`.
    pub verb: String,
    /// Namespace; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name of the object; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Label selector; `None` for all, and if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// User agent.
    pub agent: String,
    /// Number of requests.
    pub count: u64,
    /// Time of the first one.
    pub first: Timestamp,
    /// Time of the last one.
    pub last: Timestamp,
}

impl ReaderRequest {
    pub(crate) fn new(request: &Request, seen: Seen) -> ReaderRequest {
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        ReaderRequest {
            verb: request.verb.to_owned(),
            namespace: given(&request.namespace),
            name: given(&request.name),
            labels: request.labels.clone(),
            agent: request.agent.clone(),
            count: seen.count,
            first: seen.first,
            last: seen.last,
        }
    }

    /// Returns what the requests read, such as `watch in all namespaces`.
    pub fn what(&self) -> String {
        let ReaderRequest { verb, namespace, name, labels, .. } = self;
        let of = match (namespace, name) {
            (Some(namespace), Some(name)) => format!("of {namespace}/{name}"),
            (None, Some(name)) => format!("of {name} in all namespaces"),
            (Some(namespace), None) => format!("in namespace {namespace}"),
            (None, None) => "in all namespaces".to_owned(),
        };
        let labels = labels.as_ref().map(|labels| format!(" with labels {labels}")).unwrap_or_default();
        format!("{verb} {of}{labels}")
    }
}

/// Returns why a request is no sign of a program that needs Endpoints; `None` if it is one.
pub(crate) fn expected(request: &Request) -> Option<&'static str> {
    if request.agent.starts_with("kubectl-endpoints/") {
        return Some("this program");
    }
    if request.agent.starts_with("controller-manager/") && request.agent.contains(" kube-endpoints/") {
        return Some("controllers of Endpoints");
    }
    match Who::of_user(&request.user) {
        Who::User { name } if name == "system:apiserver" => Some("the API server"),
        Who::User { name } if name == "system:kube-controller-manager" => {
            Some("controllers of kube-controller-manager")
        }
        Who::ServiceAccount { namespace, name }
            if namespace == "kube-system" && CONTROLLERS.contains(&name.as_str()) =>
        {
            Some("controllers of kube-controller-manager")
        }
        _ => None,
    }
}

/// Returns all readers, the surest first. `rights` is `None` if they are unknown.
pub(crate) fn readers(reads: Option<&Reads>, accounts: &Accounts, rights: Option<&Rights>) -> Vec<Reader> {
    let mut readers: BTreeMap<Who, Reader> = BTreeMap::new();
    for (request, seen) in reads.into_iter().flat_map(Reads::requests) {
        let who = Who::of_user(&request.user);
        let reader = readers.entry(who.clone()).or_insert_with(|| Reader {
            expected: expected(request).map(str::to_owned),
            ..Reader::new(who, Confidence::Seen)
        });
        if expected(request).is_none() {
            reader.expected = None;
        }
        reader.requests.push(ReaderRequest::new(request, seen));
    }
    for ((namespace, name), account) in &accounts.0 {
        let who = Who::account(namespace, name);
        let rights = rights.map(|rights| rights.of_account(namespace, name));
        let may = rights.as_ref().is_none_or(|rights| !rights.is_empty());
        let programs = account.programs();
        let reads = programs.iter().any(|it| it.reading != Reading::Own);
        let confidence = match () {
            () if may && reads => Confidence::Known,
            () if rights.as_ref().is_some_and(|rights| !rights.is_empty()) => Confidence::Could,
            () if readers.contains_key(&who) => Confidence::Seen,
            () => continue,
        };
        let reader = readers.entry(who.clone()).or_insert_with(|| Reader::new(who, confidence));
        reader.programs = programs;
        reader.rights = rights.into_iter().flatten().cloned().collect();
        reader.pods = account.pods;
        reader.pod = Some(account.example.clone());
    }
    let mut readers: Vec<Reader> = readers.into_values().collect();
    for reader in &mut readers {
        reader.requests.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.what().cmp(&other.what())));
        reader.more_requests = reader.requests.len().saturating_sub(REQUESTS);
        reader.requests.truncate(REQUESTS);
    }
    readers.sort_by(|one, other| (one.confidence, &one.who).cmp(&(other.confidence, &other.who)));
    readers
}

impl Reader {
    fn new(who: Who, confidence: Confidence) -> Reader {
        let (requests, programs, rights) = (Vec::new(), Vec::new(), Vec::new());
        Reader { who, confidence, expected: None, requests, more_requests: 0, programs, rights, pods: 0, pod: None }
    }
}
