//! Schemas of custom resources, in upstream's words.

#![expect(clippy::needless_pass_by_value, reason = "objects are literals in the argument list")]

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

fn violations(schema: &Value, value: &Value, old: Option<&Value>) -> String {
    let (mut errors, schema) = (FieldErrors::default(), Node::new(schema));
    check(value, old, schema, "", &mut errors);
    check_embedded(value, schema, "", &mut errors);
    check_lists(value, schema, "", &mut errors);
    errors.to_string()
}

/// Validates a value of the field `a` with the given schema.
fn field(schema: Value, value: Value) -> String {
    let whole = json!({"type": "object", "properties": {"a": schema}});
    violations(&whole, &json!({"a": value}), None)
}

#[rstest]
#[case::object(json!({"type": "object"}), json!({}), "")]
#[case::no_object(json!({"type": "object"}), json!([]), r#"a: Invalid value: "array": a in body must be of type object: "array""#)]
#[case::string(json!({"type": "string"}), json!(1), r#"a: Invalid value: "integer": a in body must be of type string: "integer""#)]
#[case::integer(json!({"type": "integer"}), json!("1"), r#"a: Invalid value: "string": a in body must be of type integer: "string""#)]
#[case::whole_number(json!({"type": "integer"}), json!(1.0), "")]
#[case::fraction(json!({"type": "integer"}), json!(1.5), r#"a: Invalid value: "number": a in body must be of type integer: "number""#)]
#[case::integer_as_number(json!({"type": "number"}), json!(1), "")]
#[case::int_or_string(json!({"x-kubernetes-int-or-string": true}), json!("http"), "")]
#[case::neither(json!({"x-kubernetes-int-or-string": true}), json!(true), r#"a: Invalid value: "boolean": a in body must be of type integer,string: "boolean""#)]
#[case::null(json!({"type": "string"}), json!(null), r#"a: Invalid value: "null": a in body must be of type string: "null""#)]
#[case::nullable(json!({"type": "string", "nullable": true, "pattern": "x"}), json!(null), "")]
#[case::untyped(json!({}), json!({"b": [1]}), "")]
fn types(#[case] schema: Value, #[case] value: Value, #[case] expect: &str) {
    assert_eq!(field(schema, value), expect);
}

#[rstest]
#[case::minimum(json!({"type": "integer", "minimum": 1}), json!(0), "a: Invalid value: 0: a in body should be greater than or equal to 1")]
#[case::at_minimum(json!({"type": "integer", "minimum": 1}), json!(1), "")]
#[case::exclusive(json!({"minimum": 1, "exclusiveMinimum": true}), json!(1), "a: Invalid value: 1: a in body should be greater than 1")]
#[case::maximum(json!({"maximum": 2.5}), json!(3.5), "a: Invalid value: 3.5: a in body should be less than or equal to 2.5")]
#[case::large(json!({"maximum": 1_000_000}), json!(1_000_001.5), "a: Invalid value: 1000001.5: a in body should be less than or equal to 1e+06")]
#[case::exclusive_maximum(json!({"maximum": 9, "exclusiveMaximum": true}), json!(9), "a: Invalid value: 9: a in body should be less than 9")]
#[case::multiple(json!({"multipleOf": 5}), json!(7), "a: Invalid value: 7: a in body should be a multiple of 5")]
#[case::int32(json!({"type": "integer", "format": "int32"}), json!(2_147_483_648_u32), "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in a")]
#[case::text_too_short(json!({"minLength": 3}), json!("ab"), r#"a: Invalid value: "ab": a in body should be at least 3 chars long"#)]
#[case::text_too_long(json!({"maxLength": 2}), json!("abc"), "a: Too long: may not be more than 2 bytes")]
#[case::characters(json!({"maxLength": 2}), json!("äö"), "")]
#[case::pattern(json!({"pattern": "^[a-z]+$"}), json!("A"), r#"a: Invalid value: "A": a in body should match '^[a-z]+$'"#)]
#[case::format(json!({"type": "string", "format": "ipv4"}), json!("x"), r#"a: Invalid value: "x": a in body must be of type ipv4: "x""#)]
#[case::too_few_items(json!({"minItems": 1}), json!([]), "a: Invalid value: 0: a in body should have at least 1 items")]
#[case::too_many_items(json!({"maxItems": 1}), json!([1, 2]), "a: Too many: 2: must have at most 1 items")]
#[case::too_few_properties(json!({"minProperties": 1}), json!({}), "a: Invalid value: 0: a in body should have at least 1 properties")]
#[case::too_many_properties(json!({"maxProperties": 1}), json!({"b": 1, "c": 2}), "a: Invalid value: 2: a in body should have at most 1 properties")]
#[case::enumeration(json!({"enum": ["red", "blue"]}), json!("green"), r#"a: Unsupported value: "green": supported values: "red", "blue""#)]
#[case::numbers(json!({"enum": [1, 2]}), json!(3), r#"a: Unsupported value: 3: supported values: "1", "2""#)]
#[case::same_number(json!({"enum": [1, 2]}), json!(2.0), "")]
#[case::required(json!({"type": "object", "required": ["b"]}), json!({}), "a.b: Required value")]
#[case::item(json!({"items": {"type": "string"}}), json!(["x", 1]), r#"a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer""#)]
#[case::value_of_a_map(json!({"additionalProperties": {"minimum": 1}}), json!({"b": 0}), "a.b: Invalid value: 0: a.b in body should be greater than or equal to 1")]
fn keywords(#[case] schema: Value, #[case] value: Value, #[case] expect: &str) {
    assert_eq!(field(schema, value), expect);
}

#[rstest]
#[case::any(json!({"anyOf": [{"minimum": 5}, {"maximum": 1}]}), json!(7), "")]
#[case::none_of_any(json!({"anyOf": [{"type": "string", "pattern": "x"}, {"type": "integer", "minimum": 5}]}), json!(3),
    r#"[<nil>: Invalid value: "": "a" must validate at least one schema (anyOf), a: Invalid value: 3: a in body should be greater than or equal to 5]"#)]
#[case::one(json!({"oneOf": [{"required": ["b"]}, {"required": ["c"]}]}), json!({"b": 1}), "")]
#[case::two(json!({"oneOf": [{"required": ["b"]}, {"required": ["c"]}]}), json!({"b": 1, "c": 1}),
    r#"<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives"#)]
#[case::none(json!({"oneOf": [{"required": ["b"]}]}), json!({}),
    r#"[<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid, a.b: Required value]"#)]
#[case::all(json!({"allOf": [{"minimum": 1}, {"maximum": 5}]}), json!(7),
    r#"[a: Invalid value: 7: a in body should be less than or equal to 5, <nil>: Invalid value: "": "a" must validate all the schemas (allOf)]"#)]
#[case::not(json!({"not": {"required": ["b"]}}), json!({"b": 1}),
    r#"<nil>: Invalid value: "": "a" must not validate the schema (not)"#)]
fn composites(#[case] schema: Value, #[case] value: Value, #[case] expect: &str) {
    assert_eq!(field(schema, value), expect);
}

#[rstest]
#[case::set(json!({"x-kubernetes-list-type": "set", "items": {}}), json!(["x", "y", "x"]), r#"a[2]: Duplicate value: "x""#)]
#[case::map(
    json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "kind"],
        "items": {"properties": {"kind": {"default": "k"}}}}),
    json!([{"name": "x"}, {"name": "x", "kind": "k", "b": 1}]),
    r#"a[1]: Duplicate value: {"kind":"k","name":"x"}"#
)]
#[case::atomic(json!({"items": {}}), json!(["x", "x"]), "")]
#[case::embedded(json!({"x-kubernetes-embedded-resource": true}), json!({"kind": "Pod"}), "a.apiVersion: Required value: must not be empty")]
fn lists_and_embedded_objects(#[case] schema: Value, #[case] value: Value, #[case] expect: &str) {
    assert_eq!(field(schema, value), expect);
}

#[test]
fn unchanged_values_are_not_checked() {
    let schema = json!({"type": "object", "properties": {
        "a": {"minimum": 5},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"b": {"minimum": 5}}}},
        "atomic": {"type": "array", "items": {"minimum": 5}}
    }});
    let old = json!({"a": 1, "list": [{"name": "x", "b": 1}], "atomic": [1]});
    let mut new = old.clone();
    assert_eq!(violations(&schema, &new, Some(&old)), "");
    new["list"] = json!([{"name": "y", "b": 2}, {"name": "x", "b": 1}]);
    new["atomic"] = json!([1, 6]);
    let expect = "[atomic[0]: Invalid value: 1: atomic[0] in body should be greater than or equal to 5, \
                  list[0].b: Invalid value: 2: list[0].b in body should be greater than or equal to 5]";
    assert_eq!(violations(&schema, &new, Some(&old)), expect, "items of an atomic list are not compared");
}

#[rstest]
#[case::unknown(json!({"size": 1, "other": 2, "any": {"x": 1}}), json!({"size": 1, "mode": "safe", "any": {"x": 1}}))]
#[case::null_with_a_default(json!({"mode": null}), json!({"mode": "safe"}))]
#[case::null_without(json!({"size": null, "some": null}), json!({"mode": "safe", "some": null}))]
#[case::object_without_properties(json!({"empty": {"x": 1}}), json!({"empty": {}, "mode": "safe"}))]
#[case::embedded(
    json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "x": 1}}),
    json!({"mode": "safe", "template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}})
)]
fn pruning_and_defaults(#[case] value: Value, #[case] expect: Value) {
    let schema = json!({"type": "object", "properties": {
        "size": {"type": "integer"},
        "mode": {"type": "string", "default": "safe"},
        "some": {"type": "string", "nullable": true},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "empty": {"type": "object"},
        "template": {"type": "object", "x-kubernetes-embedded-resource": true}
    }});
    let mut value = value;
    prune(&mut value, Node::new(&schema));
    assert_eq!(value, expect);
}

/// Evaluates one rule on the field `a`.
fn rule(rule: Value, value: Value, old: Option<Value>) -> String {
    let schema = json!({"type": "object", "properties": {"a": {
        "type": "object",
        "x-kubernetes-validations": [rule],
        "properties": {
            "size": {"type": "integer"}, "name": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}}
        }
    }}});
    let mut errors = FieldErrors::default();
    let old = old.map(|old| json!({"a": old}));
    let rules = Rules::of(&schema).unwrap();
    rules.check(&json!({"a": value}), old.as_ref(), Node::new(&schema), "", &mut errors);
    errors.to_string()
}

#[rstest]
#[case::satisfied(json!({"rule": "self.size > 1"}), json!({"size": 2}), None, "")]
#[case::default_message(json!({"rule": " self.size > 1 "}), json!({"size": 1}), None, "a: Invalid value: failed rule: self.size > 1")]
#[case::message(json!({"rule": "self.size > 1", "message": "too small"}), json!({"size": 1}), None, "a: Invalid value: too small")]
#[case::expression(
    json!({"rule": "self.size > 1", "messageExpression": "'is ' + string(self.size)"}), json!({"size": 1}), None,
    "a: Invalid value: is 1"
)]
#[case::path(json!({"rule": "self.size > 1", "message": "m", "fieldPath": ".size"}), json!({"size": 1}), None, "a.size: Invalid value: m")]
#[case::forbidden(json!({"rule": "false", "message": "m", "reason": "FieldValueForbidden"}), json!({}), None, "a: Forbidden: m")]
#[case::required(json!({"rule": "has(self.name)", "message": "m", "reason": "FieldValueRequired"}), json!({}), None, "a: Required value: m")]
#[case::no_transition_on_create(json!({"rule": "self.size >= oldSelf.size"}), json!({"size": 1}), None, "")]
#[case::transition(json!({"rule": "self.size >= oldSelf.size", "message": "shrinks"}), json!({"size": 1}), Some(json!({"size": 2})), "a: Invalid value: shrinks")]
#[case::immutable(json!({"rule": "self == oldSelf", "message": "immutable"}), json!({"size": 1}), Some(json!({"size": 1})), "")]
#[case::unchanged(json!({"rule": "self.size > 1"}), json!({"size": 1}), Some(json!({"size": 1})), "")]
#[case::map_keys(json!({"rule": "self.labels.all(key, key.startsWith('app'))", "message": "m"}), json!({"labels": {"x": "1"}}), None, "a: Invalid value: m")]
#[case::functions(json!({"rule": "self.name.matches('^[a-z]+$') && self.name.lowerAscii() == self.name"}), json!({"name": "abc"}), None, "")]
#[case::null(json!({"rule": "false"}), json!(null), None, "")]
#[case::optional_on_create(
    json!({"rule": "oldSelf.hasValue() || self.size == 1", "optionalOldSelf": true, "message": "starts at 1"}),
    json!({"size": 2}), None, "a: Invalid value: starts at 1"
)]
#[case::optional_with_a_value(
    json!({"rule": "!oldSelf.hasValue() || self.size >= oldSelf.value().size", "optionalOldSelf": true,
        "messageExpression": "'below ' + string(oldSelf.value().size)"}),
    json!({"size": 1}), Some(json!({"size": 2})), "a: Invalid value: below 2"
)]
#[case::optional_satisfied(
    json!({"rule": "self.size > oldSelf.value().size", "optionalOldSelf": true}), json!({"size": 3}),
    Some(json!({"size": 2})), ""
)]
fn rules(#[case] given: Value, #[case] value: Value, #[case] old: Option<Value>, #[case] expect: &str) {
    assert_eq!(rule(given, value, old), expect);
}

#[test]
fn rule_that_cannot_be_evaluated_is_violated() {
    let found = rule(json!({"rule": "self.size / 0 == 1"}), json!({"size": 1}), None);
    assert!(
        found.starts_with("a: Invalid value: ") && found.ends_with(" evaluating rule: self.size / 0 == 1"),
        "{found}"
    );
}

#[test]
fn rules_of_items_compare_the_item_with_the_same_keys() {
    let schema = json!({"type": "object", "properties": {"list": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
            "x-kubernetes-validations": [{"rule": "self.size == oldSelf.size", "message": "immutable"}]}
    }}});
    let (old, new) = (
        json!({"list": [{"name": "a", "size": 1}, {"name": "b", "size": 2}]}),
        json!({"list": [{"name": "b", "size": 2}, {"name": "a", "size": 3}, {"name": "c", "size": 4}]}),
    );
    let mut errors = FieldErrors::default();
    Rules::of(&schema).unwrap().check(&new, Some(&old), Node::new(&schema), "", &mut errors);
    assert_eq!(errors.to_string(), "list[1]: Invalid value: immutable");
}

#[test]
fn rules_that_do_not_compile_are_found() {
    let schema =
        json!({"properties": {"spec": {"x-kubernetes-validations": [{"rule": "true"}, {"rule": "self.size <"}]}}});
    let errors = Rules::of(&schema).unwrap().errors("schema");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].0, "schema.properties[spec].x-kubernetes-validations[1].rule");
    assert!(Rules::of(&json!({"properties": {"spec": {"type": "object"}}})).is_none());
}
