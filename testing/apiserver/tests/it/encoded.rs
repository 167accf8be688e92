//! Protobuf messages encoded by hand, independent of the server's encoder.

/// Encodes length-delimited fields, given as number and content.
pub(crate) fn fields(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, bytes) in fields {
        out.push(number << 3 | 2);
        assert!(bytes.len() < 128, "lengths are encoded in one byte");
        out.push(u8::try_from(bytes.len()).unwrap());
        out.extend_from_slice(bytes);
    }
    out
}

/// Encodes a varint field with a value below 128.
pub(crate) fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// Encodes a document as client-go does.
pub(crate) fn document(api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let what = fields(&[(1, api_version.as_bytes()), (2, kind.as_bytes())]);
    [b"k8s\0".to_vec(), fields(&[(1, &what), (2, object), (3, b""), (4, b"")])].concat()
}

/// Encodes an `ObjectMeta` with a name.
pub(crate) fn named(name: &str) -> Vec<u8> {
    fields(&[(1, name.as_bytes())])
}

/// Encodes a Service as `kubectl create service clusterip` does: name, port and selector.
pub(crate) fn service(name: &str, port: u8) -> Vec<u8> {
    let target = [number(1, 0), number(2, port), fields(&[(3, b"")])].concat();
    let port = [fields(&[(1, b"http"), (2, b"TCP")]), number(3, port), fields(&[(4, &target)])].concat();
    let selector = fields(&[(1, b"app"), (2, name.as_bytes())]);
    let spec = fields(&[(1, &port), (2, &selector), (4, b"ClusterIP")]);
    document("v1", "Service", &fields(&[(1, &named(name)), (2, &spec), (3, &fields(&[(1, b"")]))]))
}

/// Encodes a `SelfSubjectAccessReview` for a verb and a resource.
pub(crate) fn self_access_review(verb: &str, resource: &str) -> Vec<u8> {
    let attributes = fields(&[(1, b"default"), (2, verb.as_bytes()), (5, resource.as_bytes())]);
    let object = fields(&[(1, b""), (2, &fields(&[(1, &attributes)]))]);
    document("authorization.k8s.io/v1", "SelfSubjectAccessReview", &object)
}
