//! Conversion of recorded operations to requests.

use anyhow::Result;
use serde_json::{Value, json};

use crate::{Api, Kind, MANAGED_BY_LABEL, Manifest, Operation, Profile, Request, Subresource};

impl Manifest {
    /// Returns the requests that create the object: the second one, if there is one, sets its status.
    pub fn requests(&self, namespace: &str) -> Vec<Request> {
        let Self { kind, name, body, status } = self;
        let mut requests = vec![Request::create(kind.collection(namespace), body.clone())];
        if let Some(status) = status {
            let path = kind.object(namespace, name) + "/status";
            requests.push(Request::merge(path, json!({ "status": status })));
        }
        requests
    }
}

impl Operation {
    /// Returns the requests of the operation. `slice` returns the path of the slice of a Service, manager and address
    /// type; `None` if there is no such slice, and the operation does nothing.
    pub fn requests(&self, namespace: &str, slice: impl Fn(&str, &str, &str) -> Option<String>) -> Vec<Request> {
        match self {
            Operation::Create { obj } => obj.requests(namespace),
            Operation::Merge { kind, name, patch, sub } => {
                let part = match sub {
                    None => "",
                    Some(Subresource::Status) => "/status",
                };
                vec![Request::merge(kind.object(namespace, name) + part, patch.clone())]
            }
            Operation::Delete { kind, name, grace } => {
                let options = grace.map(
                    |seconds| json!({ "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": seconds }),
                );
                vec![Request::delete(kind.object(namespace, name), options)]
            }
            Operation::MergeSlice { service, managed_by, address_type, patch } => {
                let path = slice(service, managed_by, address_type);
                path.map(|path| Request::merge(path, patch.clone())).into_iter().collect()
            }
            Operation::DeleteSlice { service, managed_by, address_type } => {
                let path = slice(service, managed_by, address_type);
                path.map(|path| Request::delete(path, None)).into_iter().collect()
            }
        }
    }
}

pub(crate) async fn perform(api: &Api, profile: &Profile, namespace: &str, recorded: &Operation) -> Result<()> {
    let operation = profile.operation(recorded);
    // Names of slices are generated, so operations on slices first list them.
    let slices = match &operation {
        Operation::MergeSlice { service, managed_by, .. } | Operation::DeleteSlice { service, managed_by, .. } => {
            let key = profile.service_label_for(managed_by);
            let query = format!("?labelSelector={key}%3D{service},{MANAGED_BY_LABEL}%3D{managed_by}");
            api.list(Kind::EndpointSlice, namespace, &query).await?
        }
        _ => Vec::new(),
    };
    // There is no IPv4 slice of an IPv6 Service in some random walks: the operation did nothing in the recorded cluster
    // either.
    let slice = |_: &str, _: &str, address_type: &str| {
        biggest(&slices, address_type).map(|name| Kind::EndpointSlice.object(namespace, name))
    };
    for request in operation.requests(namespace, slice) {
        api.ok(request).await?;
    }
    Ok(())
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
    fn becomes(#[case] operation: Value, #[case] expect: &[&str]) {
        let operation: Operation = serde_json::from_value(operation).unwrap();
        let requests: Vec<_> = operation
            .requests("ns", |_, _, _| None)
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
