//! Conversion of recorded operations to requests.

use anyhow::Result;
use serde_json::{Value, json};

use crate::{Api, Kind, MANAGED_BY_LABEL, Manifest, Operation, Profile, Request, Subresource};

/// Returns the requests that create an object: the second one, if there is one, sets its status.
pub(crate) fn create(manifest: &Manifest, namespace: &str) -> Vec<Request> {
    let Manifest { kind, name, body, status } = manifest;
    let mut requests = vec![Request::create(kind.collection(namespace), body.clone())];
    if let Some(status) = status {
        let path = kind.object(namespace, name) + "/status";
        requests.push(Request::merge(path, json!({ "status": status })));
    }
    requests
}

/// Performs a recorded operation, with the labels and patches of a profile.
pub(crate) async fn perform(api: &Api, profile: &Profile, namespace: &str, recorded: &Operation) -> Result<()> {
    for request in requests(api, profile, namespace, &profile.operation(recorded)).await? {
        api.ok(request).await?;
    }
    Ok(())
}

/// Returns the requests of an operation. Names of slices are generated, so operations on slices first list them.
async fn requests(api: &Api, profile: &Profile, namespace: &str, operation: &Operation) -> Result<Vec<Request>> {
    let requests = match operation {
        Operation::Create { obj } => create(obj, namespace),
        Operation::Merge { kind, name, patch, sub } => {
            let part = match sub {
                None => "",
                Some(Subresource::Status) => "/status",
            };
            vec![Request::merge(kind.object(namespace, name) + part, patch.clone())]
        }
        Operation::Delete { kind, name, grace } => {
            let options = grace
                .map(|seconds| json!({ "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": seconds }));
            vec![Request::delete(kind.object(namespace, name), options)]
        }
        Operation::MergeSlice { service, managed_by, address_type, patch } => {
            let slice = find_slice(api, profile, namespace, service, managed_by, address_type).await?;
            slice.map(|path| Request::merge(path, patch.clone())).into_iter().collect()
        }
        Operation::DeleteSlice { service, managed_by, address_type } => {
            let slice = find_slice(api, profile, namespace, service, managed_by, address_type).await?;
            slice.map(|path| Request::delete(path, None)).into_iter().collect()
        }
    };
    Ok(requests)
}

/// Returns the path of the slice that an operation refers to. `None` if there is no such slice, as for the IPv4 slice
/// of an IPv6 Service in some random walks: the operation did nothing in the recorded cluster either.
async fn find_slice(
    api: &Api,
    profile: &Profile,
    namespace: &str,
    service: &str,
    managed_by: &str,
    address_type: &str,
) -> Result<Option<String>> {
    let key = profile.service_label_for(managed_by);
    let query = format!("?labelSelector={key}%3D{service},{MANAGED_BY_LABEL}%3D{managed_by}");
    let slices = api.list(Kind::EndpointSlice, namespace, &query).await?;
    Ok(biggest(&slices.items, address_type).map(|name| Kind::EndpointSlice.object(namespace, name)))
}

/// Returns the name of the slice with the most endpoints; of several, the first.
fn biggest<'a>(slices: &'a [Value], address_type: &str) -> Option<&'a str> {
    let size = |slice: &Value| slice["endpoints"].as_array().map_or(0, Vec::len);
    let candidates = slices.iter().filter(|slice| slice["addressType"] == address_type);
    // `max_by_key` returns the last maximum.
    candidates.rev().max_by_key(|slice| size(slice))?["metadata"]["name"].as_str()
}

#[cfg(test)]
mod tests {
    use kube_controller_client::Config;
    use rstest::rstest;

    use super::*;

    fn slice(name: &str, address_type: &str, endpoints: usize) -> Value {
        let endpoints: Vec<_> = (0..endpoints).map(|n| json!({ "addresses": [format!("10.0.0.{n}")] })).collect();
        json!({ "metadata": { "name": name }, "addressType": address_type, "endpoints": endpoints })
    }

    #[rstest]
    #[case::none(&[], None)]
    #[case::other_family(&[("a", "IPv6", 3)], None)]
    #[case::biggest(&[("a", "IPv4", 1), ("b", "IPv4", 3), ("c", "IPv6", 9), ("d", "IPv4", 2)], Some("b"))]
    #[case::first_of_equals(&[("a", "IPv4", 1), ("b", "IPv4", 2), ("c", "IPv4", 2)], Some("b"))]
    fn picks(#[case] slices: &[(&str, &str, usize)], #[case] expect: Option<&str>) {
        let slices: Vec<_> = slices.iter().map(|(name, family, size)| slice(name, family, *size)).collect();
        assert_eq!(biggest(&slices, "IPv4"), expect);
    }

    #[test]
    fn an_empty_slice_of_a_real_server_has_null_endpoints() {
        let slices = [json!({ "metadata": { "name": "a" }, "addressType": "IPv4", "endpoints": null })];
        assert_eq!(biggest(&slices, "IPv4"), Some("a"));
    }

    #[rstest]
    #[case::service(
        json!({ "op": "create", "obj": { "kind": "Service", "metadata": { "name": "web" }, "status": { "x": 1 } } }),
        &[r#"POST /api/v1/namespaces/ns/services application/json {"kind":"Service","metadata":{"name":"web"},"status":{"x":1}}"#]
    )]
    #[case::pod(
        json!({ "op": "create", "obj": { "kind": "Pod", "metadata": { "name": "p" }, "status": { "phase": "Failed" } } }),
        &[
            r#"POST /api/v1/namespaces/ns/pods application/json {"kind":"Pod","metadata":{"name":"p"}}"#,
            r#"PATCH /api/v1/namespaces/ns/pods/p/status application/merge-patch+json {"status":{"phase":"Failed"}}"#,
        ]
    )]
    #[case::node(
        json!({ "op": "create", "obj": { "kind": "Node", "metadata": { "name": "n" } } }),
        &[r#"POST /api/v1/nodes application/json {"kind":"Node","metadata":{"name":"n"}}"#]
    )]
    #[case::merge(
        json!({ "op": "merge", "kind": "EndpointSlice", "name": "web-1", "patch": { "ports": [] } }),
        &[r#"PATCH /apis/discovery.k8s.io/v1/namespaces/ns/endpointslices/web-1 application/merge-patch+json {"ports":[]}"#]
    )]
    #[case::merge_status(
        json!({ "op": "merge", "kind": "Pod", "name": "p", "patch": {}, "sub": "status" }),
        &["PATCH /api/v1/namespaces/ns/pods/p/status application/merge-patch+json {}"]
    )]
    #[case::delete(json!({ "op": "delete", "kind": "Endpoints", "name": "web" }), &["DELETE /api/v1/namespaces/ns/endpoints/web"])]
    #[case::kill(
        json!({ "op": "delete", "kind": "Pod", "name": "p", "grace": 0 }),
        &[r#"DELETE /api/v1/namespaces/ns/pods/p application/json {"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions"}"#]
    )]
    #[tokio::test]
    async fn becomes(#[case] operation: Value, #[case] expect: &[&str]) {
        let operation: Operation = serde_json::from_value(operation).unwrap();
        // Nothing is sent: only operations on slices send a request.
        let api = Api::new(&Config::from_url("http://127.0.0.1:1").unwrap()).unwrap();
        let requests = requests(&api, &Profile::controller_manager(), "ns", &operation).await.unwrap();
        let requests: Vec<_> = requests
            .iter()
            .map(|Request { method, path, body }| match body {
                Some((content_type, body)) => {
                    format!("{method} {path} {content_type} {}", crate::canonical::text(body))
                }
                None => format!("{method} {path}"),
            })
            .collect();
        assert_eq!(requests, expect);
    }
}
