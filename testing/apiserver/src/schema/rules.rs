//! Validation rules in CEL: `x-kubernetes-validations`, evaluated by `kube-cel` on every write. Costs are not limited, and types
//! are not checked before a rule is evaluated.

use kube_cel::{CompiledSchema, ErrorKind, compile_schema, validate_compiled};
use serde_json::Value;

use crate::field::FieldErrors;

const KEYWORD: &str = "x-kubernetes-validations";

/// The compiled rules of a schema and of the schemas inside of it.
#[derive(Debug)]
pub(crate) struct ValidationRules(CompiledSchema);

impl ValidationRules {
    /// Returns the rules of a schema; `None` if there are none.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        has_rules(schema).then(|| Self(compile_schema(schema)))
    }

    /// Reports violations by an object. `old` is the object that is updated.
    pub(crate) fn check(&self, object: &Value, old: Option<&Value>, errors: &mut FieldErrors) {
        let (object, old) = (visible(object), old.map(visible));
        let violations = validate_compiled(&self.0, &object, old.as_ref()).err();
        for violation in violations.into_iter().flatten() {
            let field = match violation.field_path.trim_start_matches('.') {
                // As upstream shows the root of an object.
                "" => "<nil>",
                path => path,
            };
            let message = violation.message.trim();
            if violation.kind == ErrorKind::ValidationFailure {
                errors.invalid_without_value(field, message);
            } else {
                errors
                    .invalid_without_value(field, format_args!("{message} evaluating rule: {}", violation.rule.trim()));
            }
        }
    }
}

fn has_rules(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.contains_key(KEYWORD) || map.values().any(has_rules),
        Value::Array(items) => items.iter().any(has_rules),
        _ => false,
    }
}

/// Returns what rules see of an object: of the metadata, only the name and its base.
fn visible(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.retain(|field, _| matches!(field.as_str(), "name" | "generateName"));
    }
    object
}
