//! Property tests: objects survive encoding and decoding, and invalid bytes yield errors, not panics.

use jiff::Timestamp;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::super::schema::{Field, Instead, Shape, Type, fields, message_of};
use super::*;

/// Maximum nesting depth of generated messages.
const DEPTH: u32 = 5;

/// Generates random objects as Go encodes them: empty values only in pointer fields.
struct ObjectGenerator(StdRng);

impl ObjectGenerator {
    fn object(&mut self, message: &str, depth: u32) -> Map<String, Value> {
        let mut object = Map::new();
        for field in fields(message) {
            // Fewer fields at greater depth, to bound the size.
            if !self.0.random_ratio(9, 10 * depth) {
                continue;
            }
            if let (Shape::Inline, Type::Message(inner)) = (field.shape, field.of) {
                object.extend(self.object(inner, depth));
                continue;
            }
            let mut value = || self.value(field, depth + 1);
            let value = match field.shape {
                Shape::Repeated => Value::Array(vec![value(), value()]),
                Shape::Map => json!({"": value(), "a/b": value()}),
                Shape::Value | Shape::Pointer | Shape::Inline => value(),
            };
            let empty = [json!(""), json!(0), json!(false), json!({}), Value::Null];
            let zero = empty.contains(&value) || field.of == Type::Quantity && value == "0";
            if field.shape != Shape::Value || !zero {
                object.insert(field.name.to_owned(), value);
            }
        }
        object
    }

    fn value(&mut self, field: &Field, depth: u32) -> Value {
        match field.of {
            Type::IntOrString if self.0.random() => self.0.random_range(i32::MIN..i32::MAX).into(),
            Type::Text | Type::IntOrString => self.text().into(),
            Type::Integer => self.integer().into(),
            Type::Double if self.0.random() => self.integer().rem_euclid(1 << 50).into(),
            Type::Double => (self.0.random_range(-1e6..1e6_f64) + 0.123).into(),
            Type::Bytes => ["", "AA==", "aGk="][self.0.random_range(0..3)].into(),
            Type::Time => format!("{:.0}", self.time()).into(),
            Type::MicroTime => format!("{:.6}", self.time()).into(),
            Type::Quantity => ["0", "100m", "1Gi"][self.0.random_range(0..3)].into(),
            Type::Fields => json!({"f:metadata": {"f:labels": {".": {}}}}),
            Type::Json => {
                [json!({"a": [1, null]}), json!(1), json!("x"), json!(false)][self.0.random_range(0..4)].clone()
            }
            Type::Texts => json!([self.text(), self.text()]),
            Type::SchemaOr(_) if depth < DEPTH && self.0.random() => self.object("JSONSchemaProps", depth).into(),
            Type::Boolean | Type::SchemaOr(Instead::Boolean) => self.0.random::<bool>().into(),
            Type::SchemaOr(Instead::Texts) => json!([self.text()]),
            Type::SchemaOr(Instead::Schemas) => json!([self.object("JSONSchemaProps", depth)]),
            Type::Message(_) if depth > DEPTH => json!({}),
            Type::Message(inner) => self.object(inner, depth).into(),
        }
    }

    fn text(&mut self) -> &'static str {
        ["", "a", "kubernetes.io/x", "\u{1f980} ü\u{0}\n"][self.0.random_range(0..4)]
    }

    fn integer(&mut self) -> i64 {
        [0, 1, -1, 80, 300, i64::MAX, i64::MIN][self.0.random_range(0..7)]
    }

    fn time(&mut self) -> Timestamp {
        let micros = self.0.random_range(0..Timestamp::MAX.as_microsecond());
        Timestamp::from_microsecond(micros).unwrap()
    }
}

fn generated(api_version: &str, kind: &str, seed: u64) -> Map<String, Value> {
    let mut object = ObjectGenerator(StdRng::seed_from_u64(seed)).object(message_of(api_version, kind).unwrap(), 1);
    object.insert("kind".to_owned(), json!(kind));
    object.insert("apiVersion".to_owned(), json!(api_version));
    object
}

#[rstest]
fn objects_round_trip(
    #[values(
        "v1/ConfigMap",
        "v1/DeleteOptions",
        "v1/Endpoints",
        "v1/Event",
        "v1/Namespace",
        "v1/Node",
        "v1/Pod",
        "v1/Secret",
        "v1/Service",
        "v1/ServiceAccount",
        "v1/Status",
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        "apps/v1/Deployment",
        "apps/v1/ReplicaSet",
        "authentication.k8s.io/v1/SelfSubjectReview",
        "authentication.k8s.io/v1/TokenRequest",
        "authentication.k8s.io/v1/TokenReview",
        "authorization.k8s.io/v1/LocalSubjectAccessReview",
        "authorization.k8s.io/v1/SelfSubjectAccessReview",
        "authorization.k8s.io/v1/SelfSubjectRulesReview",
        "authorization.k8s.io/v1/SubjectAccessReview",
        "autoscaling/v1/Scale",
        "batch/v1/Job",
        "coordination.k8s.io/v1/Lease",
        "discovery.k8s.io/v1/EndpointSlice",
        "events.k8s.io/v1/Event",
        "rbac.authorization.k8s.io/v1/ClusterRole",
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        "rbac.authorization.k8s.io/v1/Role",
        "rbac.authorization.k8s.io/v1/RoleBinding"
    )]
    of: &str,
) {
    let (api_version, kind) = of.rsplit_once('/').unwrap();
    proptest!(ProptestConfig::with_cases(64), |(seed in any::<u64>())| {
        let object = generated(api_version, kind, seed);
        let bytes = envelope(api_version, kind, &object);
        let document = Envelope::open(&bytes).unwrap();
        prop_assert_eq!((document.api_version, document.kind), (api_version, kind));
        prop_assert_eq!(document.read(api_version, kind).unwrap(), object);
    });
}

proptest! {
    #[test]
    fn truncated_or_corrupted_messages_never_panic(
        seed in any::<u64>(),
        cut in any::<prop::sample::Index>(),
        broken in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let object = generated("v1", "Service", seed);
        let mut bytes = envelope("v1", "Service", &object);
        let whole = bytes.len();
        let end = cut.index(whole);
        // The envelope ends with two empty strings of two bytes each, which may be missing.
        if let Ok(document) = Envelope::open(&bytes[..end]) {
            let read = document.read("v1", "Service").unwrap();
            prop_assert!(end >= whole - 4 || read.len() == 2, "{end} of {whole}: {read:?}");
        }
        bytes[broken.index(whole)] = byte;
        if let Ok(document) = Envelope::open(&bytes) {
            let _ = document.read("v1", "Service");
        }
    }

    #[test]
    fn random_bytes_never_panic(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = b"k8s\0".to_vec();
        bytes.extend(&noise);
        let _ = Envelope::open(&bytes);
        for (version, kind) in [("v1", "Pod"), ("v1", "Event"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")] {
            let mut enveloped = b"k8s\0".to_vec();
            super::super::encode::bytes(2, &noise, &mut enveloped);
            let _ = Envelope::open(&enveloped).unwrap().read(version, kind);
        }
    }
}

#[test]
fn too_deeply_nested_schemas_are_rejected() {
    let mut schema = json!({"type": "object"});
    for _ in 0..200 {
        schema = json!({"not": schema});
    }
    let of = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    let object = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": schema}}]}});
    let bytes = envelope(of.0, of.1, object.as_object().unwrap());
    assert_eq!(Envelope::open(&bytes).unwrap().read(of.0, of.1), Err(Malformed::TooDeep));
}

#[test]
fn packed_numbers_are_decoded() {
    // PodSpec (2), PodSecurityContext (14), supplementalGroups (4): 1 and 300, packed.
    let mut bytes = b"k8s\0".to_vec();
    super::super::encode::bytes(2, &[0x12, 7, 0x72, 5, 0x22, 3, 0x01, 0xac, 0x02], &mut bytes);
    let pod = Envelope::open(&bytes).unwrap().read("v1", "Pod").unwrap();
    assert_eq!(pod["spec"]["securityContext"]["supplementalGroups"], json!([1, 300]));
}

#[rstest]
#[case::not_a_document(b"{}", Malformed::NoPrefix)]
#[case::empty(b"", Malformed::NoPrefix)]
#[case::half(b"k8s\0\x0a\x10v1", Malformed::Truncated)]
fn malformed_envelopes_are_rejected(#[case] bytes: &[u8], #[case] expect: Malformed) {
    assert_eq!(Envelope::open(bytes), Err(expect));
}

#[test]
fn missing_quantity_is_encoded_as_zero() {
    let object = json!({"spec": {"containers": [{"env": [{"valueFrom": {"resourceFieldRef": {"resource": "x"}}}]}]}});
    let bytes = envelope("v1", "Pod", object.as_object().unwrap());
    // resourceFieldRef (2): containerName (1, empty), resource (2), divisor (3).
    let expect = [0x0a, 0, 0x12, 1, b'x', 0x1a, 3, 0x0a, 1, b'0'];
    assert!(bytes.windows(expect.len()).any(|it| it == expect), "{bytes:?}");
}
