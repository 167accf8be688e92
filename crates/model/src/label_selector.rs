//! Label selectors.

use crate::Labels;

/// A label selector in the form of `kubectl` and of requests. Without requirements, it selects everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

/// Text that is no requirement of a label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a requirement of a label selector")]
pub struct LabelSelectorError(String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    /// Labels without the key pass, too.
    NotIn(Vec<String>),
}

impl LabelSelector {
    /// Parses requirements that are separated by commas: `key`, `!key`, `key=value`, `key==value`, `key!=value`,
    /// `key in (a,b)` and `key notin (a,b)`.
    ///
    /// # Errors
    ///
    /// If a part is none of these.
    pub fn parse(text: &str) -> Result<LabelSelector, LabelSelectorError> {
        if text.trim().is_empty() {
            return Ok(LabelSelector(Vec::new()));
        }
        let mut depth = 0_usize;
        let parts = text.split(|character| {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            character == ',' && depth == 0
        });
        let parse = |part: &str| Requirement::parse(part.trim()).ok_or_else(|| LabelSelectorError(part.to_owned()));
        parts.map(parse).collect::<Result<_, _>>().map(LabelSelector)
    }

    /// Returns whether the selector selects an object with these labels.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|Requirement { key, test }| {
            let value = labels.get(key);
            let is_any_of = |values: &[String]| value.is_some_and(|value| values.iter().any(|it| it == value));
            match test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => is_any_of(values),
                Test::NotIn(values) => !is_any_of(values),
            }
        })
    }
}

impl Requirement {
    fn parse(text: &str) -> Option<Requirement> {
        let single = |value: &str| vec![value.trim().trim_start_matches('=').trim_start().to_owned()];
        let (key, test) = if let Some((key, value)) = text.split_once("!=") {
            (key, Test::NotIn(single(value)))
        } else if let Some((key, value)) = text.split_once('=') {
            (key, Test::In(single(value)))
        } else if let Some(key) = text.strip_prefix('!') {
            (key, Test::Absent)
        } else if let Some(start) = text.strip_suffix(')') {
            let (start, values) = start.split_once('(')?;
            let values = values.split(',').map(|value| value.trim().to_owned()).collect();
            match start.trim_end().rsplit_once(char::is_whitespace)? {
                (key, "in") => (key, Test::In(values)),
                (key, "notin") => (key, Test::NotIn(values)),
                _ => return None,
            }
        } else {
            (text, Test::Exists)
        };
        let of_label = |it: char| it.is_ascii_alphanumeric() || "-_./".contains(it);
        let values = match &test {
            Test::In(values) | Test::NotIn(values) => values.as_slice(),
            Test::Exists | Test::Absent => &[],
        };
        let key = key.trim();
        let is_valid =
            !key.is_empty() && values.iter().map(String::as_str).chain([key]).all(|it| it.chars().all(of_label));
        is_valid.then(|| Requirement { key: key.to_owned(), test })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing("", true)]
    #[case::equal("app=web", true)]
    #[case::double_equal("app==web", true)]
    #[case::spaces(" app = web , tier ", true)]
    #[case::another_value("app=api", false)]
    #[case::absent_value("zone=a", false)]
    #[case::unequal("app!=api", true)]
    #[case::unequal_absent("zone!=a", true)]
    #[case::unequal_same("app!=web", false)]
    #[case::exists("tier", true)]
    #[case::exists_not("zone", false)]
    #[case::absent("!zone", true)]
    #[case::absent_not("!tier", false)]
    #[case::one_of("app in (api, web)", true)]
    #[case::none_of("app in (api)", false)]
    #[case::not_in("app notin (api)", true)]
    #[case::not_in_same("app notin (api,web)", false)]
    #[case::not_in_absent("zone notin (a)", true)]
    #[case::prefix("example.com/team=a-1", true)]
    #[case::all("app in (api,web),tier=front", true)]
    #[case::all_but_one("app=web,tier=back", false)]
    #[case::empty_value("note=", true)]
    fn labels_match(#[case] selector: &str, #[case] expect: bool) {
        let labels: Labels =
            [("app", "web"), ("tier", "front"), ("example.com/team", "a-1"), ("note", "")].into_iter().collect();
        assert_eq!(LabelSelector::parse(selector).unwrap().matches(&labels), expect);
    }

    #[rstest]
    #[case::no_key("=web")]
    #[case::two_values("app=web=api")]
    #[case::unknown_operator("app of (web)")]
    #[case::open("app in (web")]
    #[case::empty_requirement("app=web,")]
    #[case::words("app web")]
    fn others_are_rejected(#[case] selector: &str) {
        assert!(LabelSelector::parse(selector).unwrap_err().to_string().contains("is not a requirement"));
    }
}
