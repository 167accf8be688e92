//! Law of the stores while a process runs: they are never older than an acknowledged write, so that no write conflicts with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::client::Body;
use kube::runtime::reflector::ObjectRef;
use kube::{Client, ResourceExt as _};
use kube_informer::CacheState;
use kube_informer::runtime::{Cache, CachedResource};
use serde_json::Value;
use tokio::time::Instant;
use tower::service_fn;

/// Acknowledged writes of one process, and the stores that must show them.
pub(super) struct Acknowledged {
    sites: Cache<ConfigMap>,
    maps: Cache<ConfigMap>,
    pages: Cache<Secret>,
    themes: Cache<ServiceAccount>,
    /// By plural and name of the object.
    writes: Mutex<BTreeMap<(String, String), Written>>,
}

/// The last acknowledged write of an object.
#[derive(Clone, Debug, Default)]
struct Written {
    uid: String,
    version: u64,
    is_deleted: bool,
    /// Whether the object has the label of sites.
    is_site: bool,
    /// Whether the process has sent a deletion of the object: its response may be lost.
    may_be_deleted: bool,
}

/// Returns a client that records the responses to the writes of `client`, and checks the stores after each.
pub(super) fn checked(client: Client, acknowledged: Arc<Acknowledged>) -> Client {
    let service = service_fn(move |request| send(client.clone(), acknowledged.clone(), request));
    Client::new(service, "default")
}

async fn send(
    client: Client,
    acknowledged: Arc<Acknowledged>,
    request: Request<Body>,
) -> Result<Response<Body>, kube::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let (method, path) = (parts.method.clone(), parts.uri.path().to_owned());
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    if method == Method::DELETE {
        acknowledged.deleting(&path);
    }
    let response = client.send(Request::from_parts(parts, body.into())).await?;
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if parts.status == StatusCode::CONFLICT && method == Method::PUT {
        acknowledged.conflict(&path, &sent);
    } else if parts.status.is_success() {
        acknowledged.record(&path, &answer);
    }
    acknowledged.check();
    Ok(Response::from_parts(parts, body.into()))
}

/// Returns the plural and the name in the path of an object; the name is empty for a collection.
fn target(path: &str) -> (String, String) {
    let mut parts = path.trim_start_matches("/api/v1/namespaces/default/").split('/').map(str::to_owned);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

impl Acknowledged {
    pub(super) fn new(
        sites: &Cache<ConfigMap>,
        maps: &Cache<ConfigMap>,
        pages: &Cache<Secret>,
        themes: &Cache<ServiceAccount>,
    ) -> Self {
        let (sites, maps, pages, themes) = (sites.clone(), maps.clone(), pages.clone(), themes.clone());
        Self { sites, maps, pages, themes, writes: Mutex::default() }
    }

    fn deleting(&self, path: &str) {
        let mut writes = self.writes.lock().expect("no panic");
        writes.entry(target(path)).and_modify(|written| written.may_be_deleted = true);
    }

    fn record(&self, path: &str, answer: &Value) {
        let (plural, mut name) = target(path);
        let metadata = &answer["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let written = if answer["kind"] == "Status" {
            Written { uid: text(&answer["details"]["uid"]), is_deleted: true, ..Written::default() }
        } else {
            name = text(&metadata["name"]);
            Written {
                uid: text(&metadata["uid"]),
                version: text(&metadata["resourceVersion"]).parse().expect("a version"),
                is_deleted: !metadata["deletionTimestamp"].is_null() && metadata["finalizers"].is_null(),
                is_site: metadata["labels"]["role"] == "site",
                may_be_deleted: false,
            }
        };
        assert!(!written.uid.is_empty(), "no uid in the response to a write of {path}");
        self.writes.lock().expect("no panic").insert((plural, name), written);
    }

    /// Checks that a conflict is not one with an own write: that the version which was sent is not older.
    fn conflict(&self, path: &str, sent: &Value) {
        let writes = self.writes.lock().expect("no panic");
        let Some(written) = writes.get(&target(path)) else { return };
        let version = sent["metadata"]["resourceVersion"].as_str().and_then(|it| it.parse::<u64>().ok());
        let is_older = sent["metadata"]["uid"] == *written.uid && version < Some(written.version);
        assert!(!is_older, "a write of {path} at {version:?} conflicts with the own write {written:?}");
    }

    /// Checks that no store is older than an acknowledged write.
    pub(super) fn check(&self) {
        let writes = self.writes.lock().expect("no panic").clone();
        for ((plural, name), written) in &writes {
            match plural.as_str() {
                "configmaps" => {
                    check(&self.maps, name, written, true);
                    if written.is_site || written.is_deleted {
                        check(&self.sites, name, written, true);
                    }
                }
                // The user deletes the first page of a site, and no other.
                "secrets" => check(&self.pages, name, written, name.ends_with("-0") || written.may_be_deleted),
                "serviceaccounts" => check(&self.themes, name, written, true),
                other => panic!("a write of {other}"),
            }
        }
    }
}

/// Returns whether the first list is stored.
///
/// `Store::wait_until_ready` wakes one of the tasks that wait, so that another waiter would disturb a Controller.
pub(super) fn is_synced<K: CachedResource>(cache: &Cache<K>) -> bool {
    matches!(cache.progress().at(Instant::now()), CacheState::Synced { .. })
}

fn check<K: CachedResource>(cache: &Cache<K>, name: &str, written: &Written, may_be_deleted: bool) {
    if !is_synced(cache) {
        return;
    }
    let kind = K::kind(&());
    let Some(stored) = cache.store().get(&ObjectRef::new(name).within("default")) else {
        assert!(written.is_deleted || may_be_deleted, "{kind} {name} is not stored after {written:?}");
        return;
    };
    let version: u64 = stored.resource_version().and_then(|it| it.parse().ok()).expect("a version");
    let is_same = stored.uid().is_some_and(|uid| uid == written.uid);
    assert!(!(is_same && written.is_deleted), "{kind} {name} at {version} is stored after {written:?}");
    assert!(version >= written.version, "{kind} {name} is stored at {version} after {written:?}");
}
