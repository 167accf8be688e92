//! Lists: complete or in pages, at the current revision or at an earlier one within the history.

use std::sync::Arc;

use super::{Cluster, Key, Stored};
use crate::kinds::Kind;
use crate::selector::Selector;

/// Selection of one page of a list.
#[derive(Debug, Default)]
pub(crate) struct PageRequest {
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    /// Key of the last object of the previous page.
    pub(crate) after: Option<Key>,
    /// Maximum number of objects; `None` for all.
    pub(crate) limit: Option<usize>,
    /// Revision of the list; `None` for the current one.
    pub(crate) revision: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Arc<Stored>>,
    pub(crate) revision: u64,
    /// Key of the last object of this page; `None` on the last page.
    pub(crate) last: Option<Key>,
    /// Number of objects after this page; `None` on the last page and, as upstream, for lists with a selector.
    pub(crate) remaining: Option<usize>,
}

/// Error: the history does not reach back to the requested revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOld;

impl Cluster {
    /// Returns a page. Objects are neither copied nor decoded.
    pub(crate) fn page(&self, kind: &Kind, request: &PageRequest) -> Result<Page, TooOld> {
        let PageRequest { namespace, selector, after, limit, revision } = request;
        let collection = &self.collections[kind.index];
        let revision = revision.unwrap_or(self.revision);
        let after = after.as_ref().map(|(namespace, name)| (&**namespace, &**name));

        let candidates: Vec<Arc<Stored>> = if revision == self.revision {
            match (selector.fields.name(), namespace.as_deref()) {
                // A selector for one name needs no scan.
                (Some(name), Some(namespace)) => self.find(kind, namespace, name).into_iter().collect(),
                (Some(name), None) if !kind.namespaced => self.find(kind, "", name).into_iter().collect(),
                (_, namespace) => collection.iter_after(namespace, after).cloned().collect(),
            }
        } else {
            let changed = collection.state_before_changes_after(revision).map_err(|_| TooOld)?;
            let unchanged = collection
                .iter_after(namespace.as_deref(), after)
                .filter(|object| !changed.contains_key(&object.key()))
                .cloned();
            let previous = changed.values().flatten().filter(|object| {
                namespace.as_deref().is_none_or(|namespace| namespace == &*object.namespace)
                    && after.is_none_or(|after| (&*object.namespace, &*object.name) > after)
            });
            let mut all: Vec<_> = unchanged.chain(previous.cloned()).collect();
            all.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
            all
        };

        let mut selected = candidates.into_iter().filter(|object| selector.matches(object));
        let Some(limit) = *limit else {
            return Ok(Page { objects: selected.collect(), revision, last: None, remaining: None });
        };
        let objects: Vec<_> = selected.by_ref().take(limit).collect();
        let more = selected.next().is_some();
        let last = objects.last().filter(|_| more).map(|object| object.key());
        let remaining = (more && selector.is_empty()).then(|| 1 + selected.count());
        Ok(Page { objects, revision, last, remaining })
    }
}
