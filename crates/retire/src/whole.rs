//! Endpoints objects with all fields that the API server has sent.

use std::borrow::Cow;

use kube_endpoint_model::{Endpoints, Labels, ObjectMeta, Service, not_mirrored};
use kube_wire::{Decode, DecodeError, Encode, Object, ObjectKey, Resource, ResourceVersion, Uid, json};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::apply::Kept;
use crate::writers::{is_managed, is_of_api_server};

/// Fields of `metadata` that the API server sets. A create that has some of them is rejected.
const SERVER_FIELDS: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
];

/// Endpoints object with all fields that the API server has sent, known to this program or not.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeEndpoints {
    /// The object as the rules of this crate read it, without its subsets.
    endpoints: Endpoints,
    /// JSON in one line, with `kind` and `apiVersion`.
    json: Box<str>,
}

/// The fields that decisions need. List items have neither `kind` nor `apiVersion`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    kind: Option<String>,
    api_version: Option<String>,
    metadata: ObjectMeta,
}

impl WholeEndpoints {
    /// Returns why the object is never deleted, whatever a plan says; `None` if it may be.
    pub fn protected(&self) -> Option<Kept> {
        let metadata = &self.endpoints.metadata;
        let reasons = [
            (is_of_api_server(&self.endpoints), Kept::OfApiServer),
            (!self.is_managed(), Kept::NotManaged),
            (self.endpoints.is_leader_lock(), Kept::LeaderLock),
            (!metadata.finalizers.is_empty(), Kept::Finalizers),
            (metadata.deletion_timestamp.is_some(), Kept::Terminating),
            // Without them, a delete would have no preconditions.
            (metadata.uid.is_empty() || metadata.resource_version.is_empty(), Kept::Changed),
        ];
        reasons.into_iter().find_map(|(is, reason)| is.then_some(reason))
    }

    /// Returns whether the object has the label `endpoints.kubernetes.io/managed-by: endpoint-controller`.
    pub fn is_managed(&self) -> bool {
        is_managed(&self.endpoints)
    }

    /// Returns whether the mirroring controller mirrors the object (MI-1, MI-2), whose Service is `service`.
    pub fn is_mirrored(&self, service: &Service) -> bool {
        not_mirrored(&self.endpoints, Some(service)).is_none()
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.endpoints.metadata.labels
    }

    /// Returns the object as JSON in one line, with `kind` and `apiVersion`; everything else is as the API server has sent it.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Returns the object without the fields that the API server sets, to create it again.
    ///
    /// # Errors
    ///
    /// None for an object that was [decoded](Decode::from_json).
    pub fn without_server_fields(&self) -> Result<WholeEndpoints, DecodeError> {
        let kind = Self::RESOURCE.kind;
        let mut object: Value = json::from_slice(kind, self.json.as_bytes())?;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|field, _| !SERVER_FIELDS.contains(&field.as_str()));
        }
        Self::from_json(object.to_string().as_bytes())
    }
}

impl Object for WholeEndpoints {
    fn namespace(&self) -> &str {
        self.endpoints.namespace()
    }

    fn name(&self) -> &str {
        self.endpoints.name()
    }

    fn uid(&self) -> Uid {
        self.endpoints.uid()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.endpoints.resource_version()
    }

    fn content_eq(&self, other: &Self) -> bool {
        self.json == other.json
    }

    fn key(&self) -> ObjectKey {
        self.endpoints.key()
    }
}

impl Decode for WholeEndpoints {
    const RESOURCE: Resource = Endpoints::RESOURCE;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        let name = Self::RESOURCE.kind;
        let Document { kind, api_version, metadata } = json::from_slice(name, bytes)?;
        let text = match str::from_utf8(bytes).map(str::trim) {
            Ok(text) if !text.contains(['\n', '\r']) => Cow::Borrowed(text),
            _ => Cow::Owned(json::from_slice::<Value>(name, bytes)?.to_string()),
        };
        let json = match (kind, api_version) {
            (Some(_), Some(_)) => text.into_owned(),
            // The text is an object, and not empty: it has `metadata`.
            _ => format!(r#"{{"kind":"Endpoints","apiVersion":"v1",{}"#, text.trim_start_matches('{')),
        };
        let endpoints = Endpoints { metadata, ..Endpoints::default() };
        Ok(WholeEndpoints { endpoints, json: json.into() })
    }
}

impl Serialize for WholeEndpoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.json).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl Encode for WholeEndpoints {}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::well_known::{ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, LEADER_ANNOTATION};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn object(change: impl FnOnce(&mut Value)) -> WholeEndpoints {
        let mut object = json!({
            "metadata": {
                "namespace": "shop", "name": "web", "uid": "u", "resourceVersion": "7",
                "labels": {ENDPOINTS_MANAGED_BY_LABEL: ENDPOINTS_CONTROLLER},
            },
            "subsets": [{"addresses": [{"ip": "10.0.0.1"}]}],
        });
        change(&mut object["metadata"]);
        WholeEndpoints::from_json(object.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::managed(json!({}), None)]
    #[case::of_the_api_server(json!({"namespace": "default", "name": "kubernetes"}), Some(Kept::OfApiServer))]
    #[case::another_kubernetes(json!({"name": "kubernetes"}), None)]
    #[case::without_label(json!({"labels": {}}), Some(Kept::NotManaged))]
    #[case::null_labels(json!({"labels": null}), Some(Kept::NotManaged))]
    #[case::of_another(json!({"labels": {ENDPOINTS_MANAGED_BY_LABEL: "mesh"}}), Some(Kept::NotManaged))]
    #[case::lock(json!({"annotations": {LEADER_ANNOTATION: "{}"}}), Some(Kept::LeaderLock))]
    #[case::finalizers(json!({"finalizers": ["example.com/x"]}), Some(Kept::Finalizers))]
    #[case::no_finalizers(json!({"finalizers": []}), None)]
    #[case::terminating(json!({"deletionTimestamp": "2026-11-27T14:00:00Z"}), Some(Kept::Terminating))]
    #[case::without_uid(json!({"uid": ""}), Some(Kept::Changed))]
    #[case::without_version(json!({"resourceVersion": ""}), Some(Kept::Changed))]
    fn objects_that_are_never_deleted(#[case] fields: Value, #[case] expected: Option<Kept>) {
        let object = object(|metadata| {
            let metadata = metadata.as_object_mut().unwrap();
            metadata.extend(fields.as_object().unwrap().clone());
        });
        assert_eq!(object.protected(), expected);
    }

    #[rstest]
    #[case::list_item(
        r#"{"metadata":{"name":"a"},"later":1.50}"#,
        r#"{"kind":"Endpoints","apiVersion":"v1","metadata":{"name":"a"},"later":1.50}"#
    )]
    #[case::complete(
        r#"{"kind":"Endpoints","apiVersion":"v1","metadata":{}}"#,
        r#"{"kind":"Endpoints","apiVersion":"v1","metadata":{}}"#
    )]
    #[case::several_lines("{\n\"metadata\": {}}\n", r#"{"kind":"Endpoints","apiVersion":"v1","metadata":{}}"#)]
    fn objects_are_kept_as_they_were_sent(#[case] sent: &str, #[case] expected: &str) {
        let object = WholeEndpoints::from_json(sent.as_bytes()).unwrap();
        assert_eq!(object.json(), expected);
        assert_eq!(serde_json::to_string(&object).unwrap(), expected);
    }

    #[test]
    fn a_restored_object_has_no_server_fields() {
        let object = object(|metadata| {
            metadata["generation"] = json!(3);
            metadata["managedFields"] = json!([{"manager": "x"}]);
            metadata["creationTimestamp"] = json!("2026-11-27T14:00:00Z");
            metadata["annotations"] = json!({"a": "b"});
        });
        let restored: Value = serde_json::from_str(object.without_server_fields().unwrap().json()).unwrap();
        let expected = json!({
            "kind": "Endpoints", "apiVersion": "v1",
            "metadata": {
                "namespace": "shop", "name": "web", "annotations": {"a": "b"},
                "labels": {ENDPOINTS_MANAGED_BY_LABEL: ENDPOINTS_CONTROLLER},
            },
            "subsets": [{"addresses": [{"ip": "10.0.0.1"}]}],
        });
        assert_eq!(restored, expected);
    }

    #[rstest]
    #[case::no_object("[]")]
    #[case::no_metadata("{}")]
    #[case::not_json("{")]
    #[case::not_text("{\"metadata\":{\"name\":\"\u{0}\"}}")]
    fn other_documents_are_errors(#[case] text: &str) {
        WholeEndpoints::from_json(text.as_bytes()).unwrap_err();
    }
}
