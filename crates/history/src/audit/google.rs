//! Audit events in Google Cloud Logging: a `LogEntry` with a `google.cloud.audit.AuditLog`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{Event, Level, Stage, Target, manager_of, short};

#[derive(Deserialize)]
struct Entry {
    timestamp: Timestamp,
    #[serde(default)]
    labels: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    operation: Operation,
}

/// A request that takes long has an entry when it begins, and one when it ends.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Operation {
    first: bool,
    last: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    method_name: String,
    #[serde(default)]
    resource_name: String,
    #[serde(default)]
    authentication_info: Authentication,
    #[serde(default)]
    request_metadata: RequestMetadata,
    #[serde(default)]
    status: Status,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Authentication {
    principal_email: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestMetadata {
    caller_supplied_user_agent: String,
}

/// A status of gRPC, whose code is 0 for success.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    code: i64,
}

/// Name of the label of dry runs. Entries have no URI.
const DRY_RUN: &str = "command.gke.io/dryRun";

/// Parses an entry and its payload; `None` for an entry of another service.
pub(super) fn parse<'a>(value: &[u8], payload: &'a RawValue) -> Option<Event<'a>> {
    let Entry { timestamp: time, labels, operation } = serde_json::from_slice(value).ok()?;
    let payload: Payload<'a> = serde_json::from_str(payload.get()).ok()?;
    let (resource, verb) = payload.method_name.strip_prefix("io.k8s.")?.rsplit_once('.')?;
    let target = target(&payload.resource_name, resource)?;
    let is_complete = operation.last || !operation.first;
    Some(Event {
        id: Cow::Borrowed(""),
        level: match (payload.request, payload.response) {
            (_, Some(_)) => Level::RequestResponse,
            (Some(_), None) => Level::Request,
            (None, None) => Level::Metadata,
        },
        time,
        stage: if is_complete { Stage::Complete } else { Stage::Started },
        // PERMISSION_DENIED and UNAUTHENTICATED.
        is_denied: matches!(payload.status.code, 7 | 16),
        is_of_all_servers: true,
        is_applied: is_complete && payload.status.code == 0 && !labels.contains_key(DRY_RUN),
        is_selective: true,
        labels: None,
        selected_name: None,
        deleted: None,
        verb: verb.to_owned(),
        user: short(payload.authentication_info.principal_email),
        manager: manager_of(&payload.request_metadata.caller_supplied_user_agent),
        agent: short(payload.request_metadata.caller_supplied_user_agent),
        target,
        request: payload.request,
        response: payload.response,
    })
}

/// Parses a name such as `core/v1/namespaces/shop/pods/web-0/status`. `resource` is that of the method, such as
/// `core.v1.pods.status`, and tells a namespace from its contents.
fn target(name: &str, resource: &str) -> Option<Target> {
    let words: Vec<&str> = name.split('/').collect();
    let [group, _version, rest @ ..] = words.as_slice() else { return None };
    let is_namespace = resource.split('.').any(|word| word == "namespaces");
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !is_namespace => (*namespace, rest),
        _ => ("", rest),
    };
    let word = |at: usize| rest.get(at).copied().unwrap_or_default().to_owned();
    let group = if *group == "core" { "" } else { group };
    Some(Target {
        group: group.to_owned(),
        resource: word(0),
        subresource: word(2),
        namespace: namespace.to_owned(),
        name: word(1),
        ..Target::default()
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::core("core/v1/namespaces/shop/pods/web-0", "core.v1.pods", " pods shop web-0 ")]
    #[case::subresource("core/v1/namespaces/shop/pods/web-0/status", "core.v1.pods.status", " pods shop web-0 status")]
    #[case::group(
        "discovery.k8s.io/v1/namespaces/shop/endpointslices/web-x",
        "discovery.v1.endpointslices",
        "discovery.k8s.io endpointslices shop web-x "
    )]
    #[case::cluster("core/v1/nodes/n1/status", "core.v1.nodes.status", " nodes  n1 status")]
    #[case::namespace("core/v1/namespaces/shop", "core.v1.namespaces", " namespaces  shop ")]
    #[case::collection("core/v1/namespaces/shop/pods", "core.v1.pods", " pods shop  ")]
    fn names_are_parsed(#[case] name: &str, #[case] resource: &str, #[case] expected: &str) {
        let Target { group, resource, subresource, namespace, name, .. } = target(name, resource).unwrap();
        assert_eq!(format!("{group} {resource} {namespace} {name} {subresource}"), expected);
    }
}
