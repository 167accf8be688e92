//! Values of enumerated string types of Services and slices, which `k8s-openapi` does not contain. `kubectl explain` shows
//! them; the rules of each kind validate them.

use serde_json::{Map, Value, json};

use crate::kinds::{ADDRESS_TYPES, PROTOCOLS, TRAFFIC_POLICIES};

/// Schema without `io.k8s.api.`, field, and its values in upstream's order.
type Enumeration = (&'static str, &'static str, &'static [&'static str]);

const ENUMERATIONS: &[Enumeration] = &[
    ("core.v1.ServicePort", "protocol", &PROTOCOLS),
    ("core.v1.ServiceSpec", "externalTrafficPolicy", &TRAFFIC_POLICIES),
    ("core.v1.ServiceSpec", "internalTrafficPolicy", &TRAFFIC_POLICIES),
    ("discovery.v1.EndpointPort", "protocol", &PROTOCOLS),
    ("discovery.v1.EndpointSlice", "addressType", &ADDRESS_TYPES),
];

/// Adds the values to the schemas, as `enum`.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    for (name, field, values) in ENUMERATIONS {
        if let Some(schema) = super::definitions::property(schemas, &format!("io.k8s.api.{name}"), field) {
            schema.insert("enum".to_owned(), json!(values));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    /// A rule for a field that does not exist would have no effect.
    #[test]
    fn enumerations_name_existing_fields() {
        for (name, field, values) in ENUMERATIONS {
            let schema = &builtin()[&format!("io.k8s.api.{name}")]["properties"][field];
            assert_eq!((&schema["type"], &schema["enum"]), (&json!("string"), &json!(values)), "{name}.{field}");
        }
    }
}
