//! The life of namespaces: those at the start, what a missing or ending one refuses, and how one goes.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Cluster, Deleted, Stored, WriteOptions};
use crate::authorization::{FIRST_ROLES, GROUP};
use crate::kinds::{Kind, NAMESPACE_FINALIZER};
use crate::status::StatusError;

const FIRST: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Those that a real server does not let anybody delete.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

impl Cluster {
    pub(super) fn create_first_namespaces(&mut self, now: Timestamp) -> Result<(), StatusError> {
        let Some(kind) = self.namespaces() else { return Ok(()) };
        for name in FIRST {
            self.create(&kind, "", json!({"metadata": {"name": name}}), WriteOptions::at(now))?;
        }
        Ok(())
    }

    /// The roles of a cluster that asks for some.
    pub(crate) fn create_first_roles(&mut self, now: Timestamp) -> Result<(), StatusError> {
        for (plural, object) in FIRST_ROLES {
            let Some(kind) = self.kinds.find(GROUP, "v1", plural).cloned() else { continue };
            let object = serde_json::from_str(object).map_err(|error| StatusError::internal(error.to_string()))?;
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

    /// Refuses to create in a namespace that is not there or on its way out.
    pub(super) fn check_namespace_accepts(
        &self,
        kind: &Kind,
        namespace: &str,
        name: Option<&str>,
    ) -> Result<(), StatusError> {
        let Some(namespaces) = self.namespaces() else { return Ok(()) };
        let found = self.get(&namespaces, "", namespace)?;
        if is_terminating(&found) {
            return Err(StatusError::namespace_terminating(kind, name.unwrap_or_default(), namespace));
        }
        Ok(())
    }

    /// Marks a namespace: from now on nothing is created in it. What is in it goes with
    /// [`empty_namespace`](Self::empty_namespace).
    pub(super) fn delete_namespace(
        &mut self,
        kind: &Kind,
        stored: &Arc<Stored>,
        write: WriteOptions,
    ) -> Result<Deleted, StatusError> {
        let name = &stored.name;
        if IMMORTAL.contains(&&**name) {
            return Err(StatusError::forbidden(kind, name, "this namespace may not be deleted"));
        }
        if write.dry_run || is_terminating(stored) {
            return Ok(Deleted { object: Arc::clone(stored), gone: false });
        }
        let object = self.rewrite(kind, stored, write, |object| {
            if let Some(Value::Object(meta)) = object.get_mut("metadata") {
                meta.insert("deletionTimestamp".to_owned(), Value::String(write.now.to_string()));
            }
            if let Some(Value::Object(status)) = object.get_mut("status") {
                status.insert("phase".to_owned(), Value::String("Terminating".to_owned()));
            }
        })?;
        Ok(Deleted { object, gone: false })
    }

    /// The marked namespaces whose content has not been removed yet.
    pub(crate) fn namespaces_to_empty(&self) -> Vec<Arc<Stored>> {
        let Some(kind) = self.namespaces() else { return Vec::new() };
        let mut namespaces = self.list(&kind, None);
        namespaces.retain(|it| is_terminating(it) && !self.emptied_namespaces.contains(&it.uid));
        namespaces
    }

    /// Removes what is in a marked namespace, pods first and without grace, and then the namespace if nothing holds it
    /// back. What finalizers hold back goes with the last of them, and the namespace with the last object.
    ///
    /// A real cluster leaves this to a controller, which waits for kubelets to stop the pods; here there is neither.
    pub(crate) fn empty_namespace(&mut self, namespace: &Stored, write: WriteOptions) -> Result<(), StatusError> {
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
                self.evict(&kind, &content, write)?;
            }
        }
        self.finish_namespace(name)
    }

    /// Removes a namespace that has been emptied and is held back by no finalizer.
    pub(super) fn finish_namespace(&mut self, name: &str) -> Result<(), StatusError> {
        let Some(kind) = self.namespaces() else { return Ok(()) };
        let Some(stored) = self.find(&kind, "", name).filter(|stored| is_terminating(stored)) else { return Ok(()) };
        let empty = self.emptied_namespaces.contains(&stored.uid)
            && self.collections.iter().all(|collection| collection.is_empty(name));
        if empty && stored.lifecycle()?.finalizers.is_empty() && !has_foreign_finalizer(&stored)? {
            self.emptied_namespaces.remove(&stored.uid);
            self.remove(&kind, &stored)?;
        }
        Ok(())
    }

    /// After an update of an object without a namespace: removes it if the last finalizer has just gone.
    pub(super) fn release_if_finished(&mut self, kind: &Kind, object: &Stored) -> Result<(), StatusError> {
        if self.is_namespaces(kind) {
            return self.finish_namespace(&object.name);
        }
        let lifecycle = object.lifecycle()?;
        if lifecycle.deletion_timestamp.is_some() && lifecycle.finalizers.is_empty() {
            self.remove(kind, object)?;
        }
        Ok(())
    }
}

/// Whether `spec.finalizers` names more than `kubernetes`, which is removed once the namespace is empty. A real server removes
/// such a name through the `finalize` subresource, which this one does not have, so the namespace terminates for ever.
fn has_foreign_finalizer(namespace: &Stored) -> Result<bool, StatusError> {
    let object = namespace.value()?;
    let mut finalizers = object["spec"]["finalizers"].as_array().into_iter().flatten();
    Ok(finalizers.any(|finalizer| finalizer != NAMESPACE_FINALIZER))
}

fn is_terminating(namespace: &Stored) -> bool {
    namespace.field("status.phase") == "Terminating"
}
