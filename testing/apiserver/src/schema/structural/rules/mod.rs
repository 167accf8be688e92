//! Validation rules in CEL: `x-kubernetes-validations`.
//!
//! The expressions are evaluated by `kube-cel`. Which value of the old object `oldSelf` is, and which violations of an
//! unchanged value are ignored, follows upstream's `schema/cel/validation.go`. Costs are not limited, and types are not
//! checked before a rule is evaluated.

mod optional;

use std::collections::BTreeMap;

use kube_cel::{CompilationResult, CompiledSchema, ErrorKind, ValidationError, compile_schema, validate_compiled};
use serde_json::Value;

use self::optional::Unsatisfied;
use super::old_item;
use crate::field::FieldErrors;
use crate::schema::Node;

const KEYWORD: &str = "x-kubernetes-validations";

/// The rules of a schema and of the schemas inside of it.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Rules of the schema itself.
    here: Option<CompiledSchema>,
    properties: BTreeMap<String, Rules>,
    items: Option<Box<Rules>>,
    /// Rules of the values of a map.
    values: Option<Box<Rules>>,
}

impl Rules {
    /// Returns the compiled rules of a schema; `None` if there are none.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let has_rules = schema.get(KEYWORD).and_then(Value::as_array).is_some_and(|rules| !rules.is_empty());
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let inside = |keyword: &str| schema.get(keyword).filter(|it| it.is_object()).and_then(Rules::of).map(Box::new);
        let rules = Self {
            here: has_rules.then(|| compile_schema(&with_own_rules(schema))),
            properties: properties.filter_map(|(name, it)| Some((name.clone(), Rules::of(it)?))).collect(),
            items: inside("items"),
            values: inside("additionalProperties"),
        };
        let is_empty =
            rules.here.is_none() && rules.properties.is_empty() && rules.items.is_none() && rules.values.is_none();
        (!is_empty).then_some(rules)
    }

    /// Returns the rules that cannot be compiled: their path in the schema, and why.
    pub(crate) fn errors(&self, path: &str) -> Vec<(String, String)> {
        let own = self.here.iter().flat_map(|here| here.validations.iter().enumerate());
        let own =
            own.filter_map(|(i, rule)| Some((format!("{path}.{KEYWORD}[{i}].rule"), rule.as_ref().err()?.to_string())));
        let properties = self.properties.iter().flat_map(|(name, it)| it.errors(&format!("{path}.properties[{name}]")));
        let items = self.items.iter().flat_map(|it| it.errors(&format!("{path}.items")));
        let values = self.values.iter().flat_map(|it| it.errors(&format!("{path}.additionalProperties")));
        own.chain(properties).chain(items).chain(values).collect()
    }

    /// Reports violations by a value. `old` is the value at the same place of the object that is updated.
    pub(crate) fn check(
        &self,
        value: &Value,
        old: Option<&Value>,
        schema: Node<'_>,
        path: &str,
        errors: &mut FieldErrors,
    ) {
        // As upstream, rules of a nullable value are not evaluated for null.
        if value.is_null() {
            return;
        }
        if let Some(here) = &self.here {
            check_here(here, value, old, path, errors);
        }
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let (rules, path) = match (self.properties.get(name), &self.values) {
                        (Some(rules), _) => (rules, super::join(path, name)),
                        (None, Some(rules)) if !is_property(schema, name) => (&**rules, format!("{path}[{name}]")),
                        _ => continue,
                    };
                    let Some(field) = schema.field(name) else { continue };
                    // The fields of an atomic object are not compared one by one.
                    let old = old.filter(|_| !schema.is_atomic_map()).and_then(|old| old.get(name));
                    rules.check(value, old, field, &path, errors);
                }
            }
            Value::Array(items) => {
                let (Some(rules), Some(item_schema)) = (&self.items, schema.items()) else { return };
                for (i, item) in items.iter().enumerate() {
                    rules.check(item, old_item(item, old, schema), item_schema, &format!("{path}[{i}]"), errors);
                }
            }
            _ => {}
        }
    }
}

/// Reports violations of the rules of one schema.
fn check_here(here: &CompiledSchema, value: &Value, old: Option<&Value>, path: &str, errors: &mut FieldErrors) {
    let rules = || here.validations.iter().flatten();
    // As upstream, an unchanged value may violate rules that were added since, unless they compare it with the old one.
    let is_ignored =
        |rule: &str| old == Some(value) && !rules().any(|it| it.rule.rule == rule && it.is_transition_rule);
    let is_optional = |rule: &CompilationResult| rule.rule.optional_old_self == Some(true);
    if let Err(violations) = validate_compiled(here, value, old) {
        for violation in violations {
            let is_optional = rules().any(|it| it.rule.rule == violation.rule && is_optional(it));
            if !is_optional && !is_ignored(&violation.rule) {
                report(&violation, value, path, errors);
            }
        }
    }
    for rule in rules().filter(|rule| is_optional(rule)) {
        let field = inside(path, rule.rule.field_path.as_deref().unwrap_or_default());
        match optional::evaluate(rule, value, old) {
            Ok(()) => {}
            Err(_) if is_ignored(&rule.rule.rule) => {}
            Err(Unsatisfied::Violated(message)) => {
                report_as(rule.rule.reason.as_deref(), field, value, &message, errors);
            }
            Err(Unsatisfied::Failed(cause)) => {
                errors.invalid_without_value(field, format_args!("{cause} evaluating rule: {}", rule.rule.rule.trim()));
            }
        }
    }
}

/// Returns a path inside of `path`; upstream shows the root of an object as `<nil>`.
fn inside(path: &str, relative: &str) -> String {
    match (path, relative.trim_start_matches('.')) {
        ("", "") => "<nil>".to_owned(),
        (path, "") => path.to_owned(),
        (path, relative) => super::join(path, relative),
    }
}

fn is_property(schema: Node<'_>, name: &str) -> bool {
    schema.properties().is_some_and(|properties| properties.contains_key(name))
}

/// Returns a schema without the rules inside of it, which are evaluated on their own.
fn with_own_rules(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(schema) = &mut schema {
        schema.iter_mut().filter(|(keyword, _)| *keyword != KEYWORD).for_each(|(_, inside)| remove_rules(inside));
    }
    schema
}

fn remove_rules(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove(KEYWORD);
            map.values_mut().for_each(remove_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_rules),
        _ => {}
    }
}

fn report(violation: &ValidationError, value: &Value, path: &str, errors: &mut FieldErrors) {
    let field = inside(path, &violation.field_path);
    let message = match violation.message.strip_prefix("failed rule: ") {
        Some(rule) => format!("failed rule: {}", rule.trim()),
        None => violation.message.trim().to_owned(),
    };
    if violation.kind == ErrorKind::ValidationFailure {
        return report_as(violation.reason.as_deref(), field, value, &message, errors);
    }
    let cause = std::error::Error::source(violation).map_or(message, ToString::to_string);
    errors.invalid_without_value(field, format_args!("{cause} evaluating rule: {}", violation.rule.trim()));
}

/// Adds the error that the `reason` of a rule asks for.
fn report_as(reason: Option<&str>, field: String, value: &Value, message: &str, errors: &mut FieldErrors) {
    match reason {
        Some("FieldValueForbidden") => errors.forbidden(field, message),
        Some("FieldValueRequired") => errors.required(field, message),
        Some("FieldValueDuplicate") => errors.duplicate(field, value),
        _ => errors.invalid_without_value(field, message),
    }
}

/// Returns the object that the rules at the root of a schema see: of the metadata, only the name and its base.
pub(crate) fn root(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.retain(|field, _| matches!(field.as_str(), "name" | "generateName"));
    }
    object
}
