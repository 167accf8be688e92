//! What the answer to a write says about the object that it changed.

use http::StatusCode;
use kube_wire::{Decode, Resource, ResourceVersion, Uid, deletion_is_pending};
use serde::Deserialize;

use super::target::Target;

/// What follows from the answer to a write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Consequence<T> {
    /// The cache need not know.
    Nothing,
    /// The object has this state.
    Written(T),
    /// The object of this UID was deleted. The UID is empty if the answer has none.
    Removed(Uid),
    /// The write was based on this version, and another state was found.
    Conflict(ResourceVersion),
    /// The object of this name was changed, but the answer does not show its state.
    Unknown(String),
}

/// What is read of every answer.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Head {
    kind: String,
    api_version: String,
    metadata: Metadata,
    /// Of a `Status`.
    details: Details,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    uid: String,
}

/// What is read of the options of a deletion.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Deletion {
    dry_run: Vec<String>,
}

/// What is read of every request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    metadata: Version,
    preconditions: Version,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Version {
    resource_version: String,
}

/// Returns the version that a request is based on, as a precondition of the server; `None` if there is none, or for a JSON patch.
pub(super) fn based_on(request: &[u8]) -> Option<ResourceVersion> {
    let Written { metadata, preconditions } = serde_json::from_slice(request).ok()?;
    let mut versions = [metadata.resource_version, preconditions.resource_version].into_iter();
    versions.find(|it| !it.is_empty()).map(ResourceVersion::from)
}

/// Returns whether these options of a deletion ask for a dry run. Those of other writes do in the query.
pub(super) fn is_dry_run(options: &[u8]) -> bool {
    serde_json::from_slice(options).is_ok_and(|Deletion { dry_run }| !dry_run.is_empty())
}

/// Returns what follows from the answer to a write of an object of `resource`.
pub(super) fn consequence<T: Decode>(
    resource: &Resource,
    target: &Target,
    based_on: Option<ResourceVersion>,
    (code, body): (StatusCode, &[u8]),
) -> Consequence<T> {
    if code == StatusCode::CONFLICT {
        return based_on.map_or(Consequence::Nothing, Consequence::Conflict);
    }
    if !code.is_success() {
        return Consequence::Nothing;
    }
    let Head { kind, api_version, metadata, details } = serde_json::from_slice(body).unwrap_or_default();
    let name = if target.name.is_empty() { metadata.name } else { target.name.clone() };
    if kind == "Status" {
        return if target.deletes { Consequence::Removed(details.uid.into()) } else { Consequence::Unknown(name) };
    }
    // Another kind is a part of the object, as `PartialObjectMetadata` and `Scale` are.
    if kind != resource.kind || api_version != resource.api_version() {
        return Consequence::Unknown(name);
    }
    // A write that removes the last finalizer removes the object.
    let is_deleted = target.deletes || metadata.deletion_timestamp.is_some();
    match T::from_json(body) {
        Ok(object) if is_deleted && !deletion_is_pending(resource.kind, body) => Consequence::Removed(object.uid()),
        Ok(object) => Consequence::Written(object),
        // The watch reports it.
        Err(_) => Consequence::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::{Object as _, ObjectHead};
    use rstest::rstest;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Pod {
        metadata: ObjectHead,
    }

    kube_wire::object!(Pod, Resource::namespaced("", "v1", "pods", "Pod"));

    const POD: &str = r#""kind":"Pod","apiVersion":"v1""#;

    #[rstest]
    #[case::written("PUT", 200, r#"{POD,"metadata":{"name":"a","resourceVersion":"7"}}"#, "written a@7")]
    #[case::created("POST", 201, r#"{POD,"metadata":{"name":"b","resourceVersion":"8"}}"#, "written b@8")]
    #[case::refused("PUT", 422, r#"{"kind":"Status","code":422}"#, "nothing")]
    #[case::conflict("PUT", 409, r#"{"kind":"Status","code":409}"#, "conflict with 5")]
    #[case::removed("DELETE", 200, r#"{"kind":"Status","details":{"uid":"u"}}"#, "removed u")]
    #[case::last_state("DELETE", 200, r#"{POD,"metadata":{"name":"a","uid":"u"}}"#, "removed u")]
    #[case::waits_for_finalizers(
        "DELETE",
        200,
        r#"{POD,"metadata":{"name":"a","resourceVersion":"9","deletionTimestamp":"2026-02-03T04:05:06Z","finalizers":["x"]}}"#,
        "written a@9"
    )]
    #[case::last_finalizer(
        "PATCH",
        200,
        r#"{POD,"metadata":{"name":"a","uid":"u","deletionTimestamp":"2026-02-03T04:05:06Z"}}"#,
        "removed u"
    )]
    #[case::metadata_only("PATCH", 200, r#"{"kind":"PartialObjectMetadata","metadata":{"name":"a"}}"#, "unknown a")]
    #[case::created_metadata("POST", 201, r#"{"kind":"PartialObjectMetadata","metadata":{"name":"b"}}"#, "unknown b")]
    #[case::scale("PUT", 200, r#"{"kind":"Scale","apiVersion":"autoscaling/v1"}"#, "unknown a")]
    #[case::not_json("PUT", 200, "ok", "unknown a")]
    #[case::undecodable("PUT", 200, r#"{POD,"metadata":{"name":{}}}"#, "unknown a")]
    fn consequences(#[case] method: &str, #[case] code: u16, #[case] body: &str, #[case] expected: &str) {
        let name = if method == "POST" { "" } else { "a" }.to_owned();
        let target = Target { namespace: "shop".to_owned(), name, deletes: method == "DELETE" };
        let body = body.replace("POD", POD);
        let request = br#"{"metadata":{"resourceVersion":"5"}}"#;
        let answer = (StatusCode::from_u16(code).unwrap(), body.as_bytes());
        let found = match consequence::<Pod>(&Pod::RESOURCE, &target, based_on(request), answer) {
            Consequence::Nothing => "nothing".to_owned(),
            Consequence::Written(pod) => format!("written {}@{}", pod.name(), pod.resource_version()),
            Consequence::Removed(uid) => format!("removed {uid}"),
            Consequence::Conflict(version) => format!("conflict with {version}"),
            Consequence::Unknown(name) => format!("unknown {name}"),
        };
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::update(r#"{"metadata":{"resourceVersion":"5"}}"#, Some("5"))]
    #[case::delete(r#"{"preconditions":{"resourceVersion":"6","uid":"u"}}"#, Some("6"))]
    #[case::apply(r#"{"metadata":{"name":"a"}}"#, None)]
    #[case::json_patch(r#"[{"op":"test","path":"/metadata/resourceVersion","value":"5"}]"#, None)]
    #[case::nothing("", None)]
    fn requests_are_based_on_versions(#[case] body: &str, #[case] expected: Option<&str>) {
        assert_eq!(based_on(body.as_bytes()), expected.map(ResourceVersion::from));
    }
    #[rstest]
    #[case::dry_run(r#"{"kind":"DeleteOptions","dryRun":["All"]}"#, true)]
    #[case::no_stage(r#"{"dryRun":[]}"#, false)]
    #[case::options(r#"{"propagationPolicy":"Foreground"}"#, false)]
    #[case::nothing("", false)]
    fn options_ask_for_dry_runs(#[case] options: &str, #[case] expected: bool) {
        assert_eq!(is_dry_run(options.as_bytes()), expected);
    }
}
