//! Parser of label selectors such as `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>3`.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::LazyLock;

use regex::Regex;

use super::SelectorError;
use crate::field::FieldErrors;
use crate::names::check_qualified_name;

/// Requirements on labels; an object must satisfy all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<LabelRequirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct LabelRequirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    Exists,
    Absent,
    In(Vec<String>),
    /// Also satisfied by objects without the label.
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|LabelRequirement { key, operator }| {
            let value = labels.get(key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match operator {
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Greater(limit) => number().is_some_and(|number| number > *limit),
                Operator::Less(limit) => number().is_some_and(|number| number < *limit),
            }
        })
    }
}

/// One requirement. A word ends at white space and at a symbol; a value can be empty: `a=` selects objects with an
/// empty label value.
static REQUIREMENT: LazyLock<Regex> = LazyLock::new(|| {
    let (word, value) = (r"[^\s=!(),><]+", r"[^\s=!(),><]*");
    let one = format!(r"\s*(?<operator>==|!=|=|>|<)\s*(?<value>{value})");
    let several = format!(r"\s+(?<set>in|notin)\s*\((?<values>\s*{value}\s*(?:,\s*{value}\s*)*)\)");
    let pattern = format!(r"^\s*(?<not>!\s*)?(?<key>{word})(?:{one}|{several})?\s*$");
    Regex::new(&pattern).expect("a constant pattern")
});

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut is_inside = false;
        let requirements = text.split(|c| {
            is_inside = c == '(' || is_inside && c != ')';
            c == ',' && !is_inside
        });
        requirements.map(requirement).collect::<Result<_, _>>().map(Self)
    }
}

fn requirement(text: &str) -> Result<LabelRequirement, SelectorError> {
    let unknown = || {
        let found = text.split_whitespace().nth(1).unwrap_or_default();
        SelectorError(format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt"))
    };
    let parts = REQUIREMENT.captures(text).ok_or_else(unknown)?;
    let part = |name: &str| parts.name(name).map_or("", |part| part.as_str());
    let key = part("key").to_owned();
    let mut errors = FieldErrors::default();
    check_qualified_name("key", &key, &mut errors);
    if !errors.is_empty() {
        return Err(SelectorError(errors.to_string()));
    }
    let value = part("value");
    let number = || value.parse().map_err(|_| SelectorError(format!("'{value}' is not an integer")));
    let values = || part("values").split(',').map(|value| value.trim().to_owned()).collect();
    let operator = match (part("not"), part("operator"), part("set")) {
        ("", "", "") => Operator::Exists,
        (_, "", "") => Operator::Absent,
        ("", "=" | "==", _) => Operator::In(vec![value.to_owned()]),
        ("", "!=", _) => Operator::NotIn(vec![value.to_owned()]),
        ("", ">", _) => Operator::Greater(number()?),
        ("", "<", _) => Operator::Less(number()?),
        ("", _, "in") => Operator::In(values()),
        ("", _, "notin") => Operator::NotIn(values()),
        _ => return Err(unknown()),
    };
    Ok(LabelRequirement { key, operator })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", true)]
    #[case("app=web", true)]
    #[case("app==web,tier=front", true)]
    #[case("app = web , tier", true)]
    #[case("app!=web", false)]
    #[case("missing!=web", true)]
    #[case("app in (api,web)", true)]
    #[case("app in (api)", false)]
    #[case("app notin (api, db)", true)]
    #[case("missing notin (x)", true)]
    #[case("missing in (x)", false)]
    #[case("!missing", true)]
    #[case("!app", false)]
    #[case("empty=", true)]
    #[case("app=", false)]
    #[case("weight>3,weight<10", true)]
    #[case("weight>7", false)]
    #[case("app>3", false)]
    #[case("kubernetes.io/service-name=web", true)]
    fn label_selectors_match_labels(#[case] selector: &str, #[case] expect: bool) {
        let labels =
            [("app", "web"), ("tier", "front"), ("empty", ""), ("weight", "7"), ("kubernetes.io/service-name", "web")]
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
        assert_eq!(selector.parse::<LabelSelector>().unwrap().matches(&labels), expect);
    }

    #[rstest]
    #[case("=web")]
    #[case("app in web")]
    #[case("app in (web")]
    #[case("app web")]
    #[case("app=web,")]
    #[case("!")]
    #[case("-bad=1")]
    #[case("a>x")]
    #[case("app=!x")]
    #[case("app in (a b)")]
    #[case("appin (a)")]
    #[case("!app=web")]
    fn invalid_label_selectors_are_rejected(#[case] selector: &str) {
        selector.parse::<LabelSelector>().unwrap_err();
    }
}
