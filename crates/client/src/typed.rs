//! Reads and writes of single objects, for `k8s-openapi` types and for projections that implement [`Decode`].

use http::{HeaderValue, Method};
use kube_wire::{Decode, Encode, deletion_is_pending, percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Call, Client, Error, Preconditions, outgoing::Outgoing, writes::encode};

const MERGE_PATCH: HeaderValue = HeaderValue::from_static("application/merge-patch+json");

/// Result of a successful delete request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted<T> {
    /// The object has been removed.
    Removed,
    /// The object has a deletion timestamp and waits for finalizers (including foreground deletion of dependents) or
    /// for its grace period. Contains its current state.
    Pending(T),
}

/// Typed requests. They accept every type that implements [`kube_wire::Decode`], and for writes [`kube_wire::Encode`], as
/// the types of `k8s-openapi` do.
impl Client {
    /// Reads one object from the server. `namespace` is empty for cluster-scoped types.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], for which [`Error::is_not_found`] is true if the object does not exist;
    /// [`Error::InvalidResponse`] if the body cannot be decoded; [`Error::Transport`], [`Error::Request`] or
    /// [`Error::ShuttingDown`].
    pub async fn get<T: Decode>(&self, namespace: &str, name: &str) -> Result<T, Error> {
        let call = Call::new("get", T::RESOURCE, namespace, name);
        let body = self.call(&call, &Outgoing::get(T::RESOURCE.object_path(namespace, name))).await?;
        self.decode(|| decode(call, &body))
    }

    /// Creates an object and returns it as stored by the server, including changes by defaulting and admission.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], for which [`Error::is_already_exists`] is true if an object of that name exists;
    /// [`Error::InvalidResponse`] if the response cannot be decoded or has no resource version; or any other [`Error`].
    /// After an error for which [`Error::may_have_been_applied`] is true the object may have been created.
    pub async fn create<T: Encode>(&self, object: &T) -> Result<T, Error> {
        let call = Call::new("create", T::RESOURCE, object.namespace(), object.name());
        self.write(call, Method::POST, T::RESOURCE.object_path(object.namespace(), ""), object).await
    }

    /// Creates a virtual object, such as a `TokenReview` or a `SubjectAccessReview`, and returns it with the status
    /// filled in by the server. Nothing is stored.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create); the resource version is not checked.
    pub async fn create_virtual<T: Decode + Serialize>(&self, object: &T) -> Result<T, Error> {
        let call = Call::new("create", T::RESOURCE, object.namespace(), "");
        let path = T::RESOURCE.object_path(object.namespace(), "");
        let response = self.call(&call, &Outgoing::json(Method::POST, path, encode(&call, object)?)).await?;
        self.decode(|| decode(call, &response))
    }

    /// Replaces an object and returns it as stored by the server, including changes by defaulting and admission.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], for which [`Error::is_conflict`] is true if the object has a resource version that is not the
    /// current one; [`Error::Request`] if the object has no name; or as for [`create`](Self::create).
    pub async fn update<T: Encode>(&self, object: &T) -> Result<T, Error> {
        let (namespace, name) = (object.namespace(), object.name());
        let call = Call::new("update", T::RESOURCE, namespace, name);
        if name.is_empty() {
            // Without a name the request would address the collection.
            return Err(Error::Request { call, source: "the object has no name".into() });
        }
        self.write(call, Method::PUT, T::RESOURCE.object_path(namespace, name), object).await
    }

    /// Deletes an object if the preconditions hold.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], for which [`Error::is_not_found`] is true if the object does not exist, and
    /// [`Error::is_conflict`] if a precondition does not hold; [`Error::Request`] if `name` is empty; or any other
    /// [`Error`].
    pub async fn delete<T: Decode>(
        &self,
        namespace: &str,
        name: &str,
        preconditions: Option<Preconditions>,
    ) -> Result<Deleted<T>, Error> {
        let call = Call::new("delete", T::RESOURCE, namespace, name);
        if name.is_empty() {
            // Without a name the request would delete the whole collection.
            return Err(Error::Request { call, source: "the name is empty".into() });
        }
        let mut options = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
        if let Some(Preconditions { uid, resource_version }) = preconditions {
            let uid = uid.map(|it| ("uid".to_owned(), it.to_string().into()));
            let version = resource_version.map(|it| ("resourceVersion".to_owned(), it.to_string().into()));
            options["preconditions"] = Value::Object(uid.into_iter().chain(version).collect());
        }
        let outgoing =
            Outgoing::json(Method::DELETE, T::RESOURCE.object_path(namespace, name), encode(&call, &options)?);
        let response = self.call(&call, &outgoing).await?;
        if deletion_is_pending(T::RESOURCE.kind, &response) {
            self.decode(|| decode(call, &response)).map(Deleted::Pending)
        } else {
            Ok(Deleted::Removed)
        }
    }

    /// Applies a JSON merge patch to an object or to one of its subresources. The object in the answer is not decoded.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], for which [`Error::is_not_found`] is true if the object does not exist; [`Error::Request`] if
    /// `name` is empty; or any other [`Error`].
    pub async fn merge_patch<T: Decode>(
        &self,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Value,
    ) -> Result<(), Error> {
        let call = Call::new("patch", T::RESOURCE, namespace, name);
        if name.is_empty() {
            return Err(Error::Request { call, source: "the name is empty".into() });
        }
        let mut path_and_query = T::RESOURCE.object_path(namespace, name);
        if let Some(subresource) = subresource {
            path_and_query.push('/');
            path_and_query.push_str(&percent_encode(subresource));
        }
        let mut outgoing = Outgoing::json(Method::PATCH, path_and_query, encode(&call, patch)?);
        outgoing.content_type = Some(MERGE_PATCH);
        self.call(&call, &outgoing).await.map(drop)
    }
}

fn decode<T: Decode>(call: Call, response: &[u8]) -> Result<T, Error> {
    T::from_json(response).map_err(|error| Error::InvalidResponse { call, source: error.into() })
}
