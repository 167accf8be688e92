//! Label and field selectors of queries.

mod fields;
mod labels;
mod meta;

pub(crate) use fields::FieldSelector;
pub(crate) use labels::LabelSelector;
pub(crate) use meta::format as format_meta;

use crate::cluster::Stored;

/// Error of the parsers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse requirement: {0}")]
pub(crate) struct SelectorError(String);

/// Label and field selector of a list or watch; an object must satisfy both.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selector {
    /// Returns `true` if every object is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.labels.is_empty()
    }

    pub(crate) fn matches(&self, object: &Stored) -> bool {
        self.fields.matches(object) && self.labels.matches(&object.labels)
    }
}
