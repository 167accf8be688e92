//! The keywords `allOf`, `anyOf`, `oneOf` and `not`.

use serde_json::Value;

use super::check as check_schema;
use crate::field::FieldErrors;
use crate::schema::Node;

/// Violations of one of several schemas.
struct Outcome {
    errors: FieldErrors,
    /// Number of checks: the violations of the schema with the most are reported.
    checks: usize,
}

/// Reports violations, and returns the number of checks.
pub(super) fn check(
    value: &Value,
    old: Option<&Value>,
    schema: Node<'_>,
    path: &str,
    errors: &mut FieldErrors,
) -> usize {
    let outcomes = |keyword: &str| -> Vec<Outcome> {
        let schemas = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        schemas.map(|schema| outcome(value, old, schema, path)).collect()
    };
    let mut checks = 0;

    let any = outcomes("anyOf");
    if !any.is_empty() {
        if let Some(valid) = any.iter().find(|it| it.errors.is_empty()) {
            checks += valid.checks;
        } else {
            errors.invalid_whole(format_args!("\"{path}\" must validate at least one schema (anyOf)"));
            checks += report_best(any, errors);
        }
    }

    let one = outcomes("oneOf");
    if !one.is_empty() {
        let valid: Vec<usize> = one.iter().filter(|it| it.errors.is_empty()).map(|it| it.checks).collect();
        match valid.as_slice() {
            [valid] => checks += valid,
            several => {
                let found = match several.len() {
                    0 => "Found none valid".to_owned(),
                    count => format!("Found {count} valid alternatives"),
                };
                errors.invalid_whole(format_args!("\"{path}\" must validate one and only one schema (oneOf). {found}"));
                if several.is_empty() {
                    checks += report_best(one, errors);
                }
            }
        }
    }

    let all = outcomes("allOf");
    let (valid, count) = (all.iter().filter(|it| it.errors.is_empty()).count(), all.len());
    for outcome in all {
        checks += outcome.checks;
        errors.append(outcome.errors);
    }
    if valid != count {
        let none = if valid == 0 { ". None validated" } else { "" };
        errors.invalid_whole(format_args!("\"{path}\" must validate all the schemas (allOf){none}"));
    }

    if let Some(forbidden) = schema.get("not")
        && outcome(value, old, forbidden, path).errors.is_empty()
    {
        errors.invalid_whole(format_args!("\"{path}\" must not validate the schema (not)"));
    }
    checks
}

fn outcome(value: &Value, old: Option<&Value>, schema: &Value, path: &str) -> Outcome {
    let mut errors = FieldErrors::default();
    let checks = check_schema(value, old, Node::new(schema), path, &mut errors);
    Outcome { errors, checks }
}

/// Reports the violations of the first schema with the most checks.
fn report_best(outcomes: Vec<Outcome>, errors: &mut FieldErrors) -> usize {
    let best = outcomes.into_iter().reduce(|best, it| if it.checks > best.checks { it } else { best });
    best.map_or(0, |best| {
        errors.append(best.errors);
        best.checks
    })
}
