//! Own writes: what a request changes, and what its response says.

use http::{Method, StatusCode, Uri};
use kube::{
    ResourceExt as _,
    core::{Selector, SelectorExt as _},
};
use kube_wire::{Decode as _, Object as _, Resource, deletion_is_pending};
use serde::Deserialize;

use super::{CachedResource, cached::Cached};
use crate::WriteThrough;

/// Objects that a write changes: one, or one that it creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) namespace: String,
    /// Empty for a create.
    pub(super) name: String,
    pub(super) deletes: bool,
}

impl Target {
    /// Returns what a request changes of a resource; `None` if it changes no single object of it for sure: another resource, a
    /// read, a dry run, the deletion of a collection, a subresource that is created (an eviction, a token).
    pub(super) fn of(resource: &Resource, method: &Method, uri: &Uri) -> Option<Self> {
        let is_dry_run = uri.query().is_some_and(|query| query.split('&').any(|it| it.starts_with("dryRun=")));
        if is_dry_run {
            return None;
        }
        let collection = resource.path(None);
        let (namespace, rest) = if resource.namespaced {
            let root = collection.strip_suffix(resource.plural)?;
            let (namespace, rest) = uri.path().strip_prefix(root)?.strip_prefix("namespaces/")?.split_once('/')?;
            (namespace, rest.strip_prefix(resource.plural)?)
        } else {
            ("", uri.path().strip_prefix(&*collection)?)
        };
        let mut segments = rest.split('/');
        let segments = (segments.next()?, segments.next(), segments.next());
        let (name, deletes) = match (method.as_str(), segments) {
            ("POST", ("", None, _)) => ("", false),
            ("PUT" | "PATCH", ("", Some(name), _)) => (name, false),
            ("DELETE", ("", Some(name), None)) => (name, true),
            _ => return None,
        };
        Some(Self { namespace: namespace.to_owned(), name: name.to_owned(), deletes })
    }
}

/// A cache as seen by the client whose writes enter it.
pub(super) trait Writable: Send + Sync {
    /// Returns the object of the cache that a request changes; `None` if it changes none.
    fn target(&self, method: &Method, uri: &Uri) -> Option<Target>;

    /// Takes the response to such a request.
    fn answered(&self, target: &Target, code: StatusCode, body: &[u8]);
}

/// The own writes of one cache.
pub(super) struct OwnWrites<K> {
    pub(super) resource: Resource,
    pub(super) namespace: Option<String>,
    pub(super) selector: Selector,
    pub(super) writes: WriteThrough<Cached<K>>,
}

/// What is read of every response.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Head {
    api_version: String,
    kind: String,
    /// Of a `Status`.
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    uid: String,
}

impl<K: CachedResource> OwnWrites<K> {
    fn removed(&self, target: &Target, uid: &str) {
        let Some(stored) = self.writes.get(&target.namespace, &target.name) else { return };
        // Another object of this name may be stored by now.
        if uid.is_empty() || stored.uid() == uid {
            self.writes.begin(&target.namespace, &target.name).deleted(&stored);
        }
    }

    fn written(&self, object: Cached<K>) {
        // What a write moves out of the selection stays until the watch shows it.
        if object.read(|it| self.selector.matches(it.labels())) == Some(true) {
            self.writes.begin(object.namespace(), object.name()).written(object);
        }
    }
}

impl<K: CachedResource> Writable for OwnWrites<K> {
    fn target(&self, method: &Method, uri: &Uri) -> Option<Target> {
        let target = Target::of(&self.resource, method, uri)?;
        self.namespace.as_ref().is_none_or(|it| *it == target.namespace).then_some(target)
    }

    fn answered(&self, target: &Target, code: StatusCode, body: &[u8]) {
        if code == StatusCode::CONFLICT && !target.name.is_empty() {
            if let Some(stored) = self.writes.get(&target.namespace, &target.name) {
                self.writes.begin(&target.namespace, &target.name).conflict(&stored);
            }
            return;
        }
        let Some(head) = serde_json::from_slice::<Head>(body).ok().filter(|_| code.is_success()) else { return };
        if head.kind == "Status" && target.deletes {
            self.removed(target, &head.details.uid);
        } else if head.kind == self.resource.kind && head.api_version == K::api_version(&()) {
            // What cannot be decoded, the watch reports.
            let Ok(object) = Cached::<K>::from_json(body) else { return };
            if target.deletes && !deletion_is_pending(self.resource.kind, body) {
                self.removed(target, &object.uid().to_string());
            } else {
                self.written(object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");
    const WIDGETS: Resource = Resource::namespaced("example.com", "v1", "widgets", "Widget");
    const NAMESPACES: Resource = Resource::cluster("", "v1", "namespaces", "Namespace");

    #[rstest]
    #[case::create(PODS, "POST", "/api/v1/namespaces/shop/pods?fieldManager=x", Some(("shop", "", false)))]
    #[case::replace(PODS, "PUT", "/api/v1/namespaces/shop/pods/web", Some(("shop", "web", false)))]
    #[case::status(WIDGETS, "PATCH", "/apis/example.com/v1/namespaces/a/widgets/w/status", Some(("a", "w", false)))]
    #[case::delete(PODS, "DELETE", "/api/v1/namespaces/shop/pods/web", Some(("shop", "web", true)))]
    #[case::cluster_scope(NAMESPACES, "DELETE", "/api/v1/namespaces/shop", Some(("", "shop", true)))]
    #[case::finalize(NAMESPACES, "PUT", "/api/v1/namespaces/shop/finalize", Some(("", "shop", false)))]
    #[case::object_in_a_namespace(NAMESPACES, "POST", "/api/v1/namespaces/shop/pods", None)]
    #[case::eviction(PODS, "POST", "/api/v1/namespaces/shop/pods/web/eviction", None)]
    #[case::collection(PODS, "DELETE", "/api/v1/namespaces/shop/pods", None)]
    #[case::dry_run(PODS, "POST", "/api/v1/namespaces/shop/pods?x=y&dryRun=All", None)]
    #[case::read(PODS, "GET", "/api/v1/namespaces/shop/pods/web", None)]
    #[case::other_version(WIDGETS, "PUT", "/apis/example.com/v2/namespaces/a/widgets/w", None)]
    #[case::longer_plural(PODS, "POST", "/api/v1/namespaces/shop/podsets", None)]
    #[case::shorter(PODS, "POST", "/api/v1/namespaces/shop", None)]
    fn the_target_of_a_request(
        #[case] resource: Resource,
        #[case] method: &str,
        #[case] uri: &str,
        #[case] expected: Option<(&str, &str, bool)>,
    ) {
        let target = Target::of(&resource, &method.parse().unwrap(), &uri.parse().unwrap());
        let found = target.as_ref().map(|it| (&*it.namespace, &*it.name, it.deletes));
        assert_eq!(found, expected);
    }
}
