//! Names of objects and kinds, as kubectl prints them.

use kube_endpoints_explain::{Kind, ObjectRef};

/// Returns the object as `-o name` prints it, such as `endpointslice.discovery.k8s.io/web-x7k2p`.
pub(crate) fn qualified(object: &ObjectRef) -> String {
    let kind = match object.kind {
        Kind::Service => "service",
        Kind::Pod => "pod",
        Kind::Node => "node",
        Kind::Endpoints => "endpoints",
        Kind::EndpointSlice => "endpointslice.discovery.k8s.io",
    };
    format!("{kind}/{}", object.name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Kind::Service, "service/web")]
    #[case(Kind::EndpointSlice, "endpointslice.discovery.k8s.io/web")]
    fn names_are_those_of_kubectl(#[case] kind: Kind, #[case] expect: &str) {
        let object = ObjectRef { kind, namespace: "shop".to_owned(), name: "web".to_owned() };
        assert_eq!(qualified(&object), expect);
    }
}
