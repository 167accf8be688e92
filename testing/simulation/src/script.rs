//! Script of the user: requests to the API server, and the time between them.

use std::fmt;
use std::time::Duration;

use http::Method;
use serde_json::Value;

use crate::request::Target;

/// One request of the scripted user, and the time before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Time since the previous step.
    pub after: Duration,
    /// The request.
    pub operation: Operation,
}

/// Removes the steps for which `keep` returns false. The others keep their absolute times.
pub(crate) fn retain(steps: Vec<Step>, mut keep: impl FnMut(usize, &Operation) -> bool) -> Vec<Step> {
    let mut skipped = Duration::ZERO;
    let mut kept = Vec::with_capacity(steps.len());
    for (index, mut step) in steps.into_iter().enumerate() {
        step.after += std::mem::take(&mut skipped);
        if keep(index, &step.operation) {
            kept.push(step);
        } else {
            skipped = step.after;
        }
    }
    kept
}

/// A write that the scripted user sends: a create, merge patch or delete.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// POST of an object to its collection path.
    Create {
        /// Path of the collection.
        path: String,
        /// The object.
        object: Value,
    },
    /// JSON merge patch of the object (or its `/status`) at the path.
    Patch {
        /// Path of the object.
        path: String,
        /// The patch.
        patch: Value,
    },
    /// DELETE of the object at the path.
    Delete {
        /// Path of the object.
        path: String,
        /// The `DeleteOptions`, sent as the body; null sends no body.
        options: Value,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, object } => {
                let name = ["name", "generateName"].iter().find_map(|key| object["metadata"][key].as_str());
                write!(f, "create {}: {object}", target(path, name))
            }
            Self::Patch { path, patch } => write!(f, "patch {}: {patch}", target(path, None)),
            Self::Delete { path, options } => match options.as_object() {
                Some(fields) if !fields.is_empty() => write!(f, "delete {}: {options}", target(path, None)),
                _ => write!(f, "delete {}", target(path, None)),
            },
        }
    }
}

/// Formats the object of a request as `pods/web-1/status in shop`. `new` is the name of a new object, which is not part
/// of the path.
fn target(path: &str, new: Option<&str>) -> String {
    let Target { resource, namespace, name, subresource, .. } = Target::parse(&Method::GET, path, "");
    let parts = [&*resource, &*name, &*subresource].into_iter().filter(|part| !part.is_empty()).chain(new);
    let object = parts.collect::<Vec<_>>().join("/");
    if namespace.is_empty() { object } else { format!("{object} in {namespace}") }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_that_are_kept_stay_at_their_times() {
        let delete = |path: &str| Operation::Delete { path: path.to_owned(), options: Value::Null };
        let step = |after, path| Step { after: Duration::from_secs(after), operation: delete(path) };
        let steps = vec![step(1, "a"), step(2, "b"), step(4, "a"), step(8, "b"), step(16, "a")];
        assert_eq!(retain(steps, |_, operation| *operation == delete("b")), [step(3, "b"), step(12, "b")]);
    }

    #[rstest]
    #[case::create(
        Operation::Create {
            path: "/api/v1/namespaces/shop/pods".into(),
            object: json!({ "metadata": { "name": "web-1" } }),
        },
        r#"create pods/web-1 in shop: {"metadata":{"name":"web-1"}}"#
    )]
    #[case::patch(
        Operation::Patch {
            path: "/api/v1/namespaces/shop/pods/web-1/status".into(),
            patch: json!({ "status": {} }),
        },
        r#"patch pods/web-1/status in shop: {"status":{}}"#
    )]
    #[case::slice(
        Operation::Delete {
            path: "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-x".into(),
            options: json!({}),
        },
        "delete endpointslices/web-x in shop"
    )]
    #[case::grace(
        Operation::Delete {
            path: "/api/v1/namespaces/shop/pods/web-1".into(),
            options: json!({ "gracePeriodSeconds": 0 }),
        },
        r#"delete pods/web-1 in shop: {"gracePeriodSeconds":0}"#
    )]
    #[case::node(
        Operation::Patch { path: "/api/v1/nodes/n-1".into(), patch: json!({}) },
        "patch nodes/n-1: {}"
    )]
    #[case::namespace(
        Operation::Create { path: "/api/v1/namespaces".into(), object: json!({ "metadata": { "name": "shop" } }) },
        r#"create namespaces/shop: {"metadata":{"name":"shop"}}"#
    )]
    fn reads_as(#[case] operation: Operation, #[case] expected: &str) {
        assert_eq!(operation.to_string(), expected);
    }
}
