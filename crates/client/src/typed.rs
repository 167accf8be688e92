//! Reads and writes of `k8s-openapi` types.

use http::{HeaderValue, Method};
use k8s_openapi::{Metadata, Resource, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{Call, Client, Error, Preconditions, client::Outgoing, query::encoded};

const MERGE_PATCH: HeaderValue = HeaderValue::from_static("application/merge-patch+json");

/// What the server made of a write. Only this much of its answer is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Written {
    /// Name, also where the server generated it.
    pub name: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Identity.
    pub uid: String,
    /// Version of the state written.
    pub resource_version: String,
    /// Counts changes of the specification; 0 for types that have none.
    pub generation: i64,
}

impl Client {
    /// Reads one object, fresh from the server. The namespace is empty for cluster-scoped types.
    pub async fn get<K>(&self, namespace: &str, name: &str) -> Result<K, Error>
    where
        K: Resource + DeserializeOwned,
    {
        let call = call::<K>("get", namespace, name);
        let body = self.call(&call, &Outgoing::get(path::<K>(namespace, name))).await?;
        serde_json::from_slice(&body).map_err(|error| Error::Answer { call, cause: error.to_string() })
    }

    /// Creates an object in the namespace of its metadata.
    pub async fn create<K>(&self, object: &K) -> Result<Written, Error>
    where
        K: Resource + Metadata<Ty = ObjectMeta> + Serialize,
    {
        let (namespace, name) = names(object);
        // A generated name is not known yet; its beginning says more than nothing.
        let shown = if name.is_empty() { object.metadata().generate_name.as_deref().unwrap_or_default() } else { name };
        let call = call::<K>("create", namespace, shown);
        let outgoing = Outgoing::json(Method::POST, path::<K>(namespace, ""), body(&call, object)?);
        self.write(call, &outgoing).await
    }

    /// Asks a question that is put by creating an object, such as a `TokenReview`; nothing is stored, and the object comes
    /// back with the answer.
    pub async fn ask<K>(&self, question: &K) -> Result<K, Error>
    where
        K: Resource + Metadata<Ty = ObjectMeta> + Serialize + DeserializeOwned,
    {
        let (namespace, _) = names(question);
        let call = call::<K>("create", namespace, "");
        let outgoing = Outgoing::json(Method::POST, path::<K>(namespace, ""), body(&call, question)?);
        let answer = self.call(&call, &outgoing).await?;
        serde_json::from_slice(&answer).map_err(|error| Error::Answer { call, cause: error.to_string() })
    }

    /// Replaces an object; a resourceVersion in its metadata makes the server refuse if somebody else wrote since.
    pub async fn update<K>(&self, object: &K) -> Result<Written, Error>
    where
        K: Resource + Metadata<Ty = ObjectMeta> + Serialize,
    {
        let (namespace, name) = names(object);
        let call = call::<K>("update", namespace, name);
        if name.is_empty() {
            // Without a name the path would be that of the collection.
            return Err(Error::Request { call, cause: "the object has no name".to_owned() });
        }
        let outgoing = Outgoing::json(Method::PUT, path::<K>(namespace, name), body(&call, object)?);
        self.write(call, &outgoing).await
    }

    /// Deletes an object, if the preconditions hold.
    pub async fn delete<K: Resource>(
        &self,
        namespace: &str,
        name: &str,
        preconditions: Option<Preconditions>,
    ) -> Result<(), Error> {
        let call = call::<K>("delete", namespace, name);
        if name.is_empty() {
            // Without a name this would delete the whole collection.
            return Err(Error::Request { call, cause: "no name given".to_owned() });
        }
        let mut options = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
        if let Some(Preconditions { uid, resource_version }) = preconditions {
            let given = [("uid", uid), ("resourceVersion", resource_version)];
            let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
            options["preconditions"] = Value::Object(given.collect());
        }
        let outgoing = Outgoing::json(Method::DELETE, path::<K>(namespace, name), body(&call, &options)?);
        self.call(&call, &outgoing).await.map(drop)
    }

    /// Applies a JSON merge patch to an object or to one of its subresources.
    pub async fn merge_patch<K: Resource>(
        &self,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Value,
    ) -> Result<Written, Error> {
        let call = call::<K>("patch", namespace, name);
        if name.is_empty() {
            return Err(Error::Request { call, cause: "no name given".to_owned() });
        }
        let mut path_and_query = path::<K>(namespace, name);
        if let Some(subresource) = subresource {
            path_and_query.push('/');
            path_and_query.push_str(&encoded(subresource));
        }
        let mut outgoing = Outgoing::json(Method::PATCH, path_and_query, body(&call, patch)?);
        outgoing.content_type = Some(MERGE_PATCH);
        self.write(call, &outgoing).await
    }

    async fn write(&self, call: Call, outgoing: &Outgoing) -> Result<Written, Error> {
        #[derive(Deserialize)]
        struct Answer {
            metadata: Written,
        }
        let body = self.call(&call, outgoing).await?;
        let answer = serde_json::from_slice::<Answer>(&body);
        answer.map(|answer| answer.metadata).map_err(|error| Error::Answer { call, cause: error.to_string() })
    }
}

fn names<K: Metadata<Ty = ObjectMeta>>(object: &K) -> (&str, &str) {
    let metadata = object.metadata();
    (metadata.namespace.as_deref().unwrap_or_default(), metadata.name.as_deref().unwrap_or_default())
}

fn call<K: Resource>(verb: &'static str, namespace: &str, name: &str) -> Call {
    let dot = if K::GROUP.is_empty() { "" } else { "." };
    Call::new(verb, format_args!("{}{dot}{}", K::URL_PATH_SEGMENT, K::GROUP), namespace, name)
}

/// The path of an object, or of its collection when `name` is empty.
pub(crate) fn path<K: Resource>(namespace: &str, name: &str) -> String {
    let mut path = if K::GROUP.is_empty() { "/api/".to_owned() } else { "/apis/".to_owned() };
    path.push_str(K::API_VERSION);
    if !namespace.is_empty() {
        path.push_str("/namespaces/");
        path.push_str(&encoded(namespace));
    }
    path.push('/');
    path.push_str(K::URL_PATH_SEGMENT);
    if !name.is_empty() {
        path.push('/');
        path.push_str(&encoded(name));
    }
    path
}

fn body(call: &Call, object: &impl Serialize) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(object).map_err(|error| Error::Request { call: call.clone(), cause: error.to_string() })
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{core::v1::Node, core::v1::Pod, discovery::v1::EndpointSlice};

    use super::*;

    #[test]
    fn paths() {
        assert_eq!(path::<Pod>("shop", ""), "/api/v1/namespaces/shop/pods");
        assert_eq!(path::<Node>("", "node-1"), "/api/v1/nodes/node-1");
        assert_eq!(
            path::<EndpointSlice>("shop", "web-1"),
            "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-1"
        );
    }

    #[test]
    fn calls() {
        assert_eq!(call::<Pod>("get", "shop", "a").to_string(), "get pods shop/a");
        assert_eq!(
            call::<EndpointSlice>("create", "shop", "web-").to_string(),
            "create endpointslices.discovery.k8s.io shop/web-"
        );
    }
}
