//! Namespace lifecycle: the initial namespaces, checks on create, and deletion.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::target::metadata_text;
use super::{Cluster, Deleted, Stored, WriteOptions};
use crate::authorization::{DEFAULT_ROLES, GROUP};
use crate::kinds::{Kind, NAMESPACE_FINALIZER};
use crate::status::StatusError;

const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Namespaces that cannot be deleted, as in upstream's admission plugin `NamespaceLifecycle`.
const UNDELETABLE: [&str; 3] = ["default", "kube-public", "kube-system"];

impl Cluster {
    pub(super) fn create_initial_namespaces(&mut self, now: Timestamp) -> Result<(), StatusError> {
        let Some(kind) = self.namespaces() else { return Ok(()) };
        for name in INITIAL {
            self.create(&kind, "", json!({"metadata": {"name": name}}), WriteOptions::at(now))?;
        }
        Ok(())
    }

    pub(super) fn create_default_roles(&mut self, now: Timestamp) -> Result<(), StatusError> {
        for (plural, object) in DEFAULT_ROLES {
            let Some(kind) = self.kinds.find(GROUP, "v1", plural).cloned() else { continue };
            let object: Value =
                serde_json::from_str(object).map_err(|error| StatusError::internal(error.to_string()))?;
            self.create(&kind, "", object, WriteOptions::at(now))?;
        }
        Ok(())
    }

    fn namespaces(&self) -> Option<Arc<Kind>> {
        self.kinds.find("", "v1", "namespaces").cloned()
    }

    pub(super) fn is_namespaces(&self, kind: &Kind) -> bool {
        self.namespaces().is_some_and(|it| it.index == kind.index)
    }

    /// Fails with 404 if the namespace of a new object does not exist, 403 if it is terminating.
    pub(super) fn check_namespace_accepts(
        &self,
        kind: &Kind,
        namespace: &str,
        body: &Value,
    ) -> Result<(), StatusError> {
        let Some(namespaces) = self.namespaces().filter(|_| kind.namespaced) else { return Ok(()) };
        let found = self.get(&namespaces, "", namespace)?;
        if is_terminating(&found) {
            return Err(StatusError::namespace_terminating(kind, metadata_text(body, "name"), namespace));
        }
        Ok(())
    }

    /// Marks a namespace as `Terminating`, so that creates in it are rejected. Its content is deleted by
    /// [`empty_namespace`](Self::empty_namespace).
    pub(super) fn delete_namespace(
        &mut self,
        kind: &Kind,
        stored: &Arc<Stored>,
        write: WriteOptions<'_>,
    ) -> Result<Deleted, StatusError> {
        let name = &stored.name;
        if UNDELETABLE.contains(&&**name) {
            return Err(StatusError::forbidden(kind, name, "this namespace may not be deleted"));
        }
        if is_terminating(stored) {
            return Ok(Deleted { object: Arc::clone(stored), removed: false });
        }
        let object = self.rewrite(kind, stored, write, |object| {
            object["metadata"]["deletionTimestamp"] = write.now.to_string().into();
            object["status"]["phase"] = "Terminating".into();
        })?;
        Ok(Deleted { object, removed: false })
    }

    /// Returns the terminating namespaces whose content has not been deleted yet.
    pub(crate) fn namespaces_to_empty(&self) -> Vec<Arc<Stored>> {
        let Some(kind) = self.namespaces() else { return Vec::new() };
        let mut namespaces = self.list(&kind, None);
        namespaces.retain(|it| is_terminating(it) && !self.emptied_namespaces.contains(&it.uid));
        namespaces
    }

    /// Deletes the content of a terminating namespace, pods first and without a grace period, and then the namespace.
    /// Objects with finalizers stay until the last finalizer is removed, and the namespace stays as long as they do.
    ///
    /// In a real cluster the namespace controller does this, and waits for the kubelets to stop the pods.
    pub(crate) fn empty_namespace(&mut self, namespace: &Stored, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let name = &namespace.name;
        let Some(namespaces) = self.namespaces() else { return Ok(()) };
        let found = self.find(&namespaces, "", name);
        if !found.is_some_and(|found| found.uid == namespace.uid && is_terminating(&found)) {
            return Ok(());
        }
        self.emptied_namespaces.insert(namespace.uid.clone());
        let mut kinds = self.kinds.all().to_vec();
        kinds.retain(|kind| kind.namespaced);
        kinds.sort_by_key(|kind| kind.name != "Pod");
        for kind in kinds {
            for content in self.list(&kind, Some(name)) {
                self.delete_without_grace(&kind, &content, write)?;
            }
        }
        self.finish_namespace(name);
        Ok(())
    }

    /// Removes a terminating namespace if its content has been deleted and it has neither objects nor finalizers.
    pub(super) fn finish_namespace(&mut self, name: &str) {
        let Some(kind) = self.namespaces() else { return };
        let Some(stored) = self.find(&kind, "", name).filter(|stored| is_terminating(stored)) else { return };
        let empty = self.emptied_namespaces.contains(&stored.uid)
            && self.collections.iter().all(|collection| collection.is_empty(name));
        if empty && stored.lifecycle.finalizers.is_empty() && !has_foreign_finalizer(&stored) {
            self.emptied_namespaces.remove(&stored.uid);
            self.remove(&kind, &stored);
        }
    }

    /// Removes a cluster-scoped object that is being deleted if an update removed its last finalizer.
    pub(super) fn remove_if_finished(&mut self, kind: &Kind, object: &Stored) {
        if self.is_namespaces(kind) {
            self.finish_namespace(&object.name);
        } else if object.lifecycle.deletion_timestamp.is_some() && object.lifecycle.finalizers.is_empty() {
            self.remove(kind, object);
        }
    }
}

/// Returns whether `spec.finalizers` has an entry besides `kubernetes`. Clients of a real server remove such an entry
/// through the subresource `finalize`, which this server does not have: the namespace stays `Terminating` forever.
fn has_foreign_finalizer(namespace: &Stored) -> bool {
    let object = namespace.value();
    let mut finalizers = object["spec"]["finalizers"].as_array().into_iter().flatten();
    finalizers.any(|finalizer| finalizer != NAMESPACE_FINALIZER)
}

fn is_terminating(namespace: &Stored) -> bool {
    namespace.field("status.phase") == "Terminating"
}
