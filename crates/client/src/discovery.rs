//! Discovery of resources that are known only at run time.

use kube_wire::Resource;
use serde::Deserialize;

use crate::{Client, Error, call::Call};

/// The fields of a `metav1.APIResourceList` that are read.
#[derive(Deserialize)]
struct ResourceList {
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
struct ListedResource {
    name: String,
    kind: String,
    namespaced: bool,
}

impl Client {
    /// Reads the resource of a kind from the discovery documents of the server, such as `example.com/v1` and `Widget`;
    /// `None` if the server does not serve it.
    ///
    /// For resources that a flag or another object names. A type with the fields in use, or
    /// [`Dynamic`](kube_wire::Dynamic), then reads them with `Builder::resource` of `kube-informer`.
    ///
    /// # Errors
    ///
    /// Those of [`get_json`](Self::get_json), without 404.
    pub async fn discover(&self, api_version: &str, kind: &str) -> Result<Option<Resource>, Error> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let document = match self.get_json(&path).await {
            Ok(document) => document,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let list: ResourceList = serde_json::from_value(document)
            .map_err(|error| Error::InvalidResponse { call: Call::new("get", path, "", ""), source: error.into() })?;
        let is_of_kind = |it: &&ListedResource| it.kind == kind && !it.name.contains('/');
        let found = list.resources.iter().find(is_of_kind);
        Ok(found.map(|it| Resource::discovered(group, version, &it.name, kind, it.namespaced)))
    }
}
