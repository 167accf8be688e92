//! Parser of field selectors such as `metadata.name=a,spec.nodeName!=b`. `\` escapes commas, equals signs and itself.

use std::str::FromStr;

use super::SelectorError;
use crate::cluster::Stored;
use crate::kinds::Kind;
use crate::status::StatusError;

/// Requirements on selectable fields; an object must satisfy all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(Vec<FieldRequirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldRequirement {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Stored) -> bool {
        self.0.iter().all(|FieldRequirement { field, value, equal }| (object.field(field) == value) == *equal)
    }

    /// Returns the name that the selector requires, if any.
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.iter().find(|it| it.equal && it.field == "metadata.name").map(|it| it.value.as_str())
    }

    /// Rejects fields that the kind cannot be selected by. Fails with 400 with upstream's message, to which kubectl
    /// adds resource and selectors.
    pub(crate) fn check(&self, kind: &Kind) -> Result<(), StatusError> {
        match self.0.iter().find(|it| !kind.is_selectable(&it.field)) {
            None => Ok(()),
            Some(FieldRequirement { field, .. }) if kind.selects_only_names() => Err(StatusError::bad_request(
                format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""),
            )),
            Some(FieldRequirement { field, .. }) => {
                Err(StatusError::bad_request(format!("field label not supported: {field}")))
            }
        }
    }
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut requirements = Vec::new();
        for part in split_unescaped(text, ',').filter(|part| !part.is_empty()) {
            let at = part
                .find('=')
                .ok_or_else(|| SelectorError(format!("invalid selector: '{text}'; can't understand '{part}'")))?;
            let (field, value) = (&part[..at], &part[at + 1..]);
            let (field, equal) = match field.strip_suffix('!') {
                Some(field) => (field, false),
                None => (field, true),
            };
            let value = unescape(value.strip_prefix('=').unwrap_or(value))?;
            requirements.push(FieldRequirement { field: field.to_owned(), value, equal });
        }
        Ok(Self(requirements))
    }
}

fn split_unescaped(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let splits = c == separator && !escaped;
        escaped = c == '\\' && !escaped;
        splits
    })
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => text.push(c),
                _ => return Err(SelectorError(format!("invalid escape sequence in {value:?}"))),
            },
            '=' => return Err(SelectorError(format!("unescaped '=' in {value:?}"))),
            c => text.push(c),
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", &[])]
    #[case("metadata.name=web", &[("metadata.name", "web", true)])]
    #[case("metadata.name==web,status.phase!=Failed", &[("metadata.name", "web", true), ("status.phase", "Failed", false)])]
    #[case(r"reason=a\,b\=c\\", &[("reason", r"a,b=c\", true)])]
    #[case("spec.nodeName=", &[("spec.nodeName", "", true)])]
    fn field_selectors_parse(#[case] text: &str, #[case] expect: &[(&str, &str, bool)]) {
        let FieldSelector(found) = text.parse().unwrap();
        assert_eq!(found.iter().map(|it| (&*it.field, &*it.value, it.equal)).collect::<Vec<_>>(), expect);
    }

    #[rstest]
    #[case("metadata.name")]
    #[case(r"reason=a\b")]
    #[case("a=b=c")]
    fn invalid_field_selectors_are_rejected(#[case] text: &str) {
        text.parse::<FieldSelector>().unwrap_err();
    }
}
