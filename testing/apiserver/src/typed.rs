//! Typed access to the objects of a server, without a connection.

mod error;
mod part;

use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cluster::{Cluster, DeleteOptions, FieldValidation, Patch, Stored, WriteOptions, WriteTarget, Written};
use crate::kinds::{Kind, Part};
use crate::server::Server;
use crate::status::StatusError;

pub use error::ObjectError;

const FIELD_MANAGER: &str = "test";

/// A field that the server would drop is a mistake in a test.
const VALIDATION: FieldValidation = FieldValidation::Strict;

/// Synchronous, typed access to the objects of one kind, without a connection; from [`Server::typed`].
///
/// Writes are those of a client that may do everything: they are validated, are subject to
/// [admission rules](crate::Admission), own the fields that they set under the manager `test` (see
/// [`FieldTracking`](crate::FieldTracking)), and reach watches. But faults do not affect them, and the request log does not contain them. Validation is strict: unknown
/// fields are errors (`fieldValidation=Strict`).
///
/// For a kind with the subresource `status`, only [`patch_status`](Self::patch_status) writes the status: as on a real
/// server, [`replace`](Self::replace) keeps the stored one, and [`create`](Self::create) drops that of most kinds. Patches
/// of the wrong part are errors.
///
/// Objects of a namespaced kind are those of one namespace, `default` unless [`namespace`](Self::namespace) is called.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube_dev_apiserver::{Config, Server};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::in_process(Config::default())?;
/// let config_maps = server.typed::<ConfigMap>();
/// let mut object = ConfigMap::default();
/// object.metadata.name = Some("web".to_owned());
/// config_maps.create(&object)?;
/// let patched = config_maps.patch("web", &json!({"data": {"colour": "blue"}}))?;
/// assert_eq!(patched.data.unwrap_or_default()["colour"], "blue");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Objects<'a, K> {
    server: &'a Server,
    group: String,
    plural: String,
    namespace: String,
    of: PhantomData<fn() -> K>,
}

impl Server {
    /// Returns typed access to the objects of a kind of `k8s-openapi`.
    pub fn typed<K: k8s_openapi::Resource>(&self) -> Objects<'_, K> {
        self.typed_as(K::GROUP, K::URL_PATH_SEGMENT)
    }

    /// Returns typed access to the objects of any kind, such as a custom resource, in any type that has its fields.
    /// `group` is empty for core, `plural` is the resource name in paths.
    pub fn typed_as<K>(&self, group: &str, plural: &str) -> Objects<'_, K> {
        let (group, plural) = (group.to_owned(), plural.to_owned());
        Objects { server: self, group, plural, namespace: "default".to_owned(), of: PhantomData }
    }
}

impl<K> Objects<'_, K> {
    /// Selects another namespace than `default`.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// Deletes an object. With a finalizer or a grace period, it may still exist afterwards.
    ///
    /// # Errors
    /// [`ObjectError`], such as 404.
    pub fn delete(&self, name: &str) -> Result<(), ObjectError> {
        self.write(|cluster, kind, namespace, options| {
            cluster.delete(kind, namespace, name, &DeleteOptions::default(), options).map(drop)
        })
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&mut Cluster, &Kind, &str, WriteOptions<'_>) -> Result<T, StatusError>,
    ) -> Result<T, ObjectError> {
        let (kind, namespace) = self.kind()?;
        Ok(self.server.shared().write(false, |cluster, options| {
            write(cluster, &kind, namespace, options.of_client(FIELD_MANAGER, VALIDATION))
        })?)
    }

    /// Returns the kind, and the namespace, which is empty for a cluster-scoped kind.
    fn kind(&self) -> Result<(Arc<Kind>, &str), ObjectError> {
        let kind = self
            .server
            .kind(&self.group, &self.plural)
            .ok_or_else(|| ObjectError::UnknownKind { group: self.group.clone(), plural: self.plural.clone() })?;
        let namespace = if kind.namespaced { self.namespace.as_str() } else { "" };
        Ok((kind, namespace))
    }
}

impl<K: DeserializeOwned> Objects<'_, K> {
    /// Returns an object.
    ///
    /// # Errors
    /// [`ObjectError`], such as 404.
    pub fn get(&self, name: &str) -> Result<K, ObjectError> {
        let (kind, namespace) = self.kind()?;
        let stored = self.server.shared().read(|cluster| cluster.get(&kind, namespace, name))?;
        decode(&stored)
    }

    /// Returns all objects of the namespace, or of the cluster for a cluster-scoped kind, ordered by name.
    ///
    /// # Errors
    /// [`ObjectError`] if the kind is unknown or an object does not have the type.
    pub fn list(&self) -> Result<Vec<K>, ObjectError> {
        let (kind, namespace) = self.kind()?;
        let scope = kind.namespaced.then_some(namespace);
        let stored = self.server.shared().read(|cluster| cluster.list(&kind, scope));
        stored.iter().map(|object| decode(object)).collect()
    }

    /// Changes an object by a JSON merge patch, and returns it.
    ///
    /// # Errors
    /// [`ObjectError`], such as 404, or [`WrongMethod`](ObjectError::WrongMethod) for a patch of the status if the kind
    /// has the subresource `status`.
    pub fn patch(&self, name: &str, patch: &Value) -> Result<K, ObjectError> {
        self.patch_part(name, patch, Part::Main)
    }

    /// Changes the status of an object by a JSON merge patch of the object, `{"status": ...}`, and returns the object.
    ///
    /// # Errors
    /// [`ObjectError`], such as 404, or [`WrongMethod`](ObjectError::WrongMethod) for a patch without a status or with
    /// fields that a write of the status ignores, and for a kind without the subresource `status`.
    pub fn patch_status(&self, name: &str, patch: &Value) -> Result<K, ObjectError> {
        self.patch_part(name, patch, Part::Status)
    }

    fn patch_part(&self, name: &str, patch: &Value, part: Part) -> Result<K, ObjectError> {
        part::check_patch(&self.kind()?.0, part, patch)?;
        let patch = Patch::Merge(patch.clone());
        self.written(|cluster, kind, namespace, options| {
            cluster.patch(WriteTarget { kind, namespace, name, part }, &patch, options)
        })
    }

    fn written(
        &self,
        write: impl FnOnce(&mut Cluster, &Kind, &str, WriteOptions<'_>) -> Result<Written, StatusError>,
    ) -> Result<K, ObjectError> {
        decode(&self.write(write)?.object)
    }
}

impl<K: Serialize + DeserializeOwned> Objects<'_, K> {
    /// Creates an object, and returns it as the server stored it.
    ///
    /// # Errors
    /// [`ObjectError`], such as 409 if the name is taken.
    pub fn create(&self, object: &K) -> Result<K, ObjectError> {
        let document = encode(object)?;
        self.written(|cluster, kind, namespace, options| cluster.create(kind, namespace, document, options))
    }

    /// Replaces an object by one of the same name, and returns it as the server stored it.
    ///
    /// # Errors
    /// [`ObjectError`], such as 409 if the object has another resource version.
    pub fn replace(&self, object: &K) -> Result<K, ObjectError> {
        let document = encode(object)?;
        let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.written(|cluster, kind, namespace, options| {
            cluster.update(WriteTarget { kind, namespace, name: &name, part: Part::Main }, document, options)
        })
    }
}

fn encode<K: Serialize>(object: &K) -> Result<Value, ObjectError> {
    Ok(serde_json::to_value(object)?)
}

fn decode<K: DeserializeOwned>(stored: &Stored) -> Result<K, ObjectError> {
    Ok(serde_json::from_slice(&stored.json)?)
}
