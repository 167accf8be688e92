//! Label selectors.

use std::{collections::BTreeSet, fmt};

/// Requirements on the labels of an object, all of which must hold (client-go: `labels.Selector`).
///
/// ```
/// use kube_informer::LabelSelector;
///
/// let selector = LabelSelector::everything().equal("app", "web").one_of("tier", ["a", "b"]).absent("canary");
/// let labels = [("app", "web"), ("tier", "b")];
/// assert!(selector.matches(|key| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)));
/// assert_eq!(selector.to_string(), "app=web,tier in (a,b),!canary");
/// ```
///
/// The `Display` form is the syntax of the API server and can be passed to
/// [`Builder::label_selector`](crate::Builder::label_selector). [`nothing`](Self::nothing) cannot be expressed in it,
/// nor can [`one_of`](Self::one_of) and [`none_of`](Self::none_of) without a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<(String, Requirement)>,
    nothing: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    Equal(String),
    NotEqual(String),
    OneOf(BTreeSet<String>),
    NoneOf(BTreeSet<String>),
    Present,
    Absent,
}

impl LabelSelector {
    /// Returns a selector without requirements, which matches every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Returns a selector that matches no object, whatever requirements are added.
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Requires that the label has this value.
    #[must_use]
    pub fn equal(self, label: &str, value: &str) -> Self {
        self.and(label, Requirement::Equal(value.to_owned()))
    }

    /// Requires that the label has another value or is absent.
    #[must_use]
    pub fn not_equal(self, label: &str, value: &str) -> Self {
        self.and(label, Requirement::NotEqual(value.to_owned()))
    }

    /// Requires that the label has one of these values.
    #[must_use]
    pub fn one_of<'a>(self, label: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.and(label, Requirement::OneOf(values.into_iter().map(str::to_owned).collect()))
    }

    /// Requires that the label has none of these values or is absent.
    #[must_use]
    pub fn none_of<'a>(self, label: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.and(label, Requirement::NoneOf(values.into_iter().map(str::to_owned).collect()))
    }

    /// Requires that the label is present, with any value.
    #[must_use]
    pub fn present(self, label: &str) -> Self {
        self.and(label, Requirement::Present)
    }

    /// Requires that the label is absent.
    #[must_use]
    pub fn absent(self, label: &str) -> Self {
        self.and(label, Requirement::Absent)
    }

    /// Returns whether an object matches. `label` returns the value of one of its labels.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing && self.requirements.iter().all(|(name, requirement)| requirement.holds(label(name)))
    }

    /// Whether the selector is [`nothing`](Self::nothing), so that no object needs to be tested.
    pub(crate) fn is_nothing(&self) -> bool {
        self.nothing
    }

    fn and(mut self, label: &str, requirement: Requirement) -> Self {
        self.requirements.push((label.to_owned(), requirement));
        self
    }
}

impl Requirement {
    fn holds(&self, value: Option<&str>) -> bool {
        match self {
            Self::Equal(wanted) => value == Some(wanted),
            Self::NotEqual(unwanted) => value != Some(unwanted),
            Self::OneOf(wanted) => value.is_some_and(|value| wanted.contains(value)),
            Self::NoneOf(unwanted) => value.is_none_or(|value| !unwanted.contains(value)),
            Self::Present => value.is_some(),
            Self::Absent => value.is_none(),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &BTreeSet<String>| values.iter().map(String::as_str).collect::<Vec<_>>().join(",");
        for (at, (name, requirement)) in self.requirements.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "," })?;
            match requirement {
                Requirement::Equal(value) => write!(f, "{name}={value}")?,
                Requirement::NotEqual(value) => write!(f, "{name}!={value}")?,
                Requirement::OneOf(values) => write!(f, "{name} in ({})", list(values))?,
                Requirement::NoneOf(values) => write!(f, "{name} notin ({})", list(values))?,
                Requirement::Present => f.write_str(name)?,
                Requirement::Absent => write!(f, "!{name}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(LabelSelector::everything(), "", "a b")]
    #[case(LabelSelector::nothing().present("app"), "app", "")]
    #[case(LabelSelector::everything().equal("app", "web"), "app=web", "a")]
    #[case(LabelSelector::everything().not_equal("app", "web"), "app!=web", "b")]
    #[case(LabelSelector::everything().one_of("app", ["web", "db"]), "app in (db,web)", "a")]
    #[case(LabelSelector::everything().one_of("app", []), "app in ()", "")]
    #[case(LabelSelector::everything().none_of("app", ["web", "db"]), "app notin (db,web)", "b")]
    #[case(LabelSelector::everything().present("tier"), "tier", "b")]
    #[case(LabelSelector::everything().absent("tier"), "!tier", "a")]
    #[case(LabelSelector::everything().equal("app", "web").present("tier"), "app=web,tier", "")]
    fn selector_matches_and_displays(#[case] selector: LabelSelector, #[case] text: &str, #[case] expect: &str) {
        let objects = [("a", ("app", "web")), ("b", ("tier", "front"))];
        let matching =
            objects.iter().filter(|(_, (name, value))| selector.matches(|key| (key == *name).then_some(value)));
        assert_eq!(matching.map(|(object, _)| *object).collect::<Vec<_>>().join(" "), expect);
        assert_eq!(selector.to_string(), text);
    }
}
