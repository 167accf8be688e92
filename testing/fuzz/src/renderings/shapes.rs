//! Descriptions of Go types: names in JSON, numbers in protobuf, and the kinds of their fields.

use serde_json::Value;

/// Shape of a field or of a whole object.
#[derive(Debug)]
pub enum Shape {
    /// A string, number, boolean or time by value: absent, null and zero are equal.
    Plain(Zero),
    /// A pointer to a string, number, boolean or time: absent and null are equal, zero is different.
    Pointer,
    /// A list of strings, or of items that are copied unchanged.
    List,
    /// A map from strings to strings.
    Map,
    /// A message by value.
    Message(&'static [Field]),
    /// A pointer to a message.
    MessagePointer(&'static [Field]),
    /// A list of messages. The slice contains one shape, that of the messages.
    Messages(&'static [Shape]),
    /// A field that is copied unchanged.
    Opaque,
}

/// Zero value of a type in JSON.
#[derive(Debug)]
pub enum Zero {
    /// `""`
    Text,
    /// `0`
    Number,
    /// `false`
    False,
    /// `null`, for types with a custom decoder, such as times.
    Null,
}

/// Field: name in JSON, number in protobuf, and shape.
pub type Field = (&'static str, u32, Shape);

use Shape::{List, Map, Message, MessagePointer, Messages, Opaque, Plain, Pointer};
use Zero::{False, Null, Number, Text};

impl Shape {
    /// Returns whether this is a message or a list of messages.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Message(_) | MessagePointer(_) | Messages(_))
    }

    pub(super) fn is_struct(&self) -> bool {
        matches!(self, Message(_) | MessagePointer(_))
    }

    pub(super) fn is_repeated(&self) -> bool {
        matches!(self, List | Map | Messages(_) | Opaque)
    }

    fn fields(&self) -> &'static [Field] {
        match self {
            Message(fields) | MessagePointer(fields) => fields,
            Messages([element]) => element.fields(),
            _ => &[],
        }
    }

    /// Returns name and shape of the members of a JSON object; none for other shapes.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'static str, &'static Shape)> {
        let fields = if matches!(self, Messages(_)) { &[] } else { self.fields() };
        fields.iter().map(|(name, _, shape)| (*name, shape))
    }

    pub(super) fn member(&self, name: &str) -> Option<&'static Shape> {
        self.members().find(|(it, _)| *it == name).map(|(_, shape)| shape)
    }

    pub(super) fn element(&self) -> Option<&'static Shape> {
        match self {
            Messages([element]) => Some(element),
            _ => None,
        }
    }

    /// Returns the shape of a field of a protobuf message.
    pub(super) fn field(&self, number: u32) -> Option<&'static Shape> {
        self.fields().iter().find(|(_, it, _)| *it == number).map(|(_, _, shape)| shape)
    }

    /// Returns the JSON value that is equal to an absent member.
    pub(super) fn zero(&self) -> Value {
        match self {
            Plain(Text) => "".into(),
            Plain(Number) => 0.into(),
            Plain(False) => false.into(),
            List | Messages(_) => Value::Array(Vec::new()),
            Message(_) => Value::Object(serde_json::Map::new()),
            Plain(Null) | Pointer | Map | MessagePointer(_) | Opaque => Value::Null,
        }
    }
}

const METADATA: Shape = Message(&[
    ("name", 1, Plain(Text)),
    ("generateName", 2, Plain(Text)),
    ("namespace", 3, Plain(Text)),
    ("selfLink", 4, Plain(Text)),
    ("uid", 5, Plain(Text)),
    ("resourceVersion", 6, Plain(Text)),
    ("generation", 7, Plain(Number)),
    ("creationTimestamp", 8, Plain(Null)),
    ("deletionTimestamp", 9, Pointer),
    ("deletionGracePeriodSeconds", 10, Pointer),
    ("labels", 11, Map),
    ("annotations", 12, Map),
    (
        "ownerReferences",
        13,
        Messages(&[Message(&[
            ("kind", 1, Plain(Text)),
            ("name", 3, Plain(Text)),
            ("uid", 4, Plain(Text)),
            ("apiVersion", 5, Plain(Text)),
            ("controller", 6, Pointer),
            ("blockOwnerDeletion", 7, Pointer),
        ])]),
    ),
    ("finalizers", 14, List),
    // Malformed managed fields are skipped by the decoder, so a different order of their fields may change the result.
    ("managedFields", 17, Opaque),
]);

const REFERENCE: Shape = MessagePointer(&[
    ("kind", 1, Plain(Text)),
    ("namespace", 2, Plain(Text)),
    ("name", 3, Plain(Text)),
    ("uid", 4, Plain(Text)),
    ("apiVersion", 5, Plain(Text)),
    ("resourceVersion", 6, Plain(Text)),
    ("fieldPath", 7, Plain(Text)),
]);

const CONTAINERS: Shape = Messages(&[Message(&[
    ("name", 1, Plain(Text)),
    (
        "ports",
        6,
        Messages(&[Message(&[
            ("name", 1, Plain(Text)),
            ("hostPort", 2, Plain(Number)),
            ("containerPort", 3, Plain(Number)),
            ("protocol", 4, Plain(Text)),
            ("hostIP", 5, Plain(Text)),
        ])]),
    ),
    ("restartPolicy", 24, Pointer),
])]);

const NAMED: Shape = Messages(&[Message(&[("name", 1, Plain(Text))])]);

/// `v1` Pod: the fields that are decoded.
pub const POD: Shape = Message(&[
    ("metadata", 1, METADATA),
    (
        "spec",
        2,
        Message(&[
            ("containers", 2, CONTAINERS),
            ("restartPolicy", 3, Plain(Text)),
            ("nodeName", 10, Plain(Text)),
            ("hostname", 16, Plain(Text)),
            ("subdomain", 17, Plain(Text)),
            ("initContainers", 20, CONTAINERS),
        ]),
    ),
    (
        "status",
        3,
        Message(&[
            ("phase", 1, Plain(Text)),
            (
                "conditions",
                2,
                Messages(&[Message(&[
                    ("type", 1, Plain(Text)),
                    ("status", 2, Plain(Text)),
                    ("lastProbeTime", 3, Plain(Null)),
                    ("lastTransitionTime", 4, Plain(Null)),
                ])]),
            ),
            ("hostIP", 5, Plain(Text)),
            ("podIP", 6, Plain(Text)),
            ("podIPs", 12, Messages(&[Message(&[("ip", 1, Plain(Text))])])),
        ]),
    ),
]);

/// `v1` Service: the fields that are decoded.
pub const SERVICE: Shape = Message(&[
    ("metadata", 1, METADATA),
    (
        "spec",
        2,
        Message(&[
            (
                "ports",
                1,
                Messages(&[Message(&[
                    ("name", 1, Plain(Text)),
                    ("protocol", 2, Plain(Text)),
                    ("port", 3, Plain(Number)),
                    ("targetPort", 4, Opaque),
                    ("appProtocol", 6, Pointer),
                ])]),
            ),
            ("selector", 2, Map),
            ("clusterIP", 3, Plain(Text)),
            ("type", 4, Plain(Text)),
            ("publishNotReadyAddresses", 13, Plain(False)),
            ("ipFamilies", 19, List),
            ("trafficDistribution", 23, Pointer),
        ]),
    ),
]);

/// `v1` Node: the fields that are decoded.
pub const NODE: Shape = Message(&[
    ("metadata", 1, METADATA),
    (
        "status",
        3,
        Message(&[
            ("allocatable", 2, Opaque),
            ("conditions", 4, Messages(&[Message(&[("type", 1, Plain(Text)), ("status", 2, Plain(Text))])])),
        ]),
    ),
]);

const ADDRESSES: Shape = Messages(&[Message(&[
    ("ip", 1, Plain(Text)),
    ("targetRef", 2, REFERENCE),
    ("hostname", 3, Plain(Text)),
    ("nodeName", 4, Pointer),
])]);

/// `v1` Endpoints.
pub const ENDPOINTS: Shape = Message(&[
    ("metadata", 1, METADATA),
    (
        "subsets",
        2,
        Messages(&[Message(&[
            ("addresses", 1, ADDRESSES),
            ("notReadyAddresses", 2, ADDRESSES),
            (
                "ports",
                3,
                Messages(&[Message(&[
                    ("name", 1, Plain(Text)),
                    ("port", 2, Plain(Number)),
                    ("protocol", 3, Plain(Text)),
                    ("appProtocol", 4, Pointer),
                ])]),
            ),
        ])]),
    ),
]);

/// `discovery.k8s.io/v1` EndpointSlice.
pub const ENDPOINT_SLICE: Shape = Message(&[
    ("metadata", 1, METADATA),
    (
        "endpoints",
        2,
        Messages(&[Message(&[
            ("addresses", 1, List),
            ("conditions", 2, Message(&[("ready", 1, Pointer), ("serving", 2, Pointer), ("terminating", 3, Pointer)])),
            ("hostname", 3, Pointer),
            ("targetRef", 4, REFERENCE),
            ("deprecatedTopology", 5, Map),
            ("nodeName", 6, Pointer),
            ("zone", 7, Pointer),
            ("hints", 8, MessagePointer(&[("forZones", 1, NAMED), ("forNodes", 2, NAMED)])),
        ])]),
    ),
    (
        "ports",
        3,
        Messages(&[Message(&[
            ("name", 1, Pointer),
            ("protocol", 2, Pointer),
            ("port", 3, Pointer),
            ("appProtocol", 4, Pointer),
        ])]),
    ),
    ("addressType", 4, Plain(Text)),
]);
