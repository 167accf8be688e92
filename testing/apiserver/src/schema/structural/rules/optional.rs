//! Rules with `optionalOldSelf`, whose `oldSelf` is an optional: without a value if there is no old object.
//!
//! `kube-cel` passes null or the old value itself instead. Other than in rules without the option, strings with a format
//! are strings here.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::objects::{Key, Map, OptionalValue};
use kube_cel::cel::{Context, Value as Cel};
use kube_cel::{CompilationResult, KubeCelExt as _};
use serde_json::Value;

/// Result of a rule that is not satisfied.
pub(super) enum Unsatisfied {
    /// The rule is false, with its message.
    Violated(String),
    /// The rule cannot be evaluated, with the reason.
    Failed(String),
}

/// Evaluates a rule on a value and the value at the same place of the old object.
pub(super) fn evaluate(rule: &CompilationResult, value: &Value, old: Option<&Value>) -> Result<(), Unsatisfied> {
    let mut context = Context::default().with_all();
    let old = old.map_or_else(OptionalValue::none, |old| OptionalValue::of(converted(old)));
    context.add_variable_from_value("self", converted(value));
    context.add_variable_from_value("oldSelf", Cel::Opaque(Arc::new(old)));
    match rule.program.execute(&context) {
        Ok(Cel::Bool(true)) => Ok(()),
        Ok(Cel::Bool(false)) => {
            let computed = rule.message_program.as_ref().and_then(|program| program.execute(&context).ok());
            Err(Unsatisfied::Violated(match (computed, &rule.rule.message) {
                (Some(Cel::String(message)), _) => message.trim().to_owned(),
                (_, Some(message)) => message.trim().to_owned(),
                (_, None) => format!("failed rule: {}", rule.rule.rule.trim()),
            }))
        }
        Ok(_) => Err(Unsatisfied::Failed("the result is not a boolean".to_owned())),
        Err(error) => Err(Unsatisfied::Failed(error.to_string())),
    }
}

fn converted(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Cel::Int(integer),
            None => Cel::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(converted).collect())),
        Value::Object(fields) => {
            let key = |name: &String| Key::String(Arc::new(name.clone()));
            let map: HashMap<Key, Cel> = fields.iter().map(|(name, value)| (key(name), converted(value))).collect();
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}
