//! Lists, whole or in pages, of now or of a version that the history still reaches.

use std::sync::Arc;

use super::collection::Key;
use super::{Cluster, Stored};
use crate::kinds::Kind;
use crate::selector::Selector;

/// Which part of which list is wanted.
#[derive(Debug, Default)]
pub(crate) struct PageRequest {
    pub(crate) namespace: Option<String>,
    pub(crate) selector: Selector,
    /// The last object of the page before this one.
    pub(crate) after: Option<Key>,
    /// How many objects at most; all when absent.
    pub(crate) limit: Option<usize>,
    /// The version of the list; that of now when absent.
    pub(crate) revision: Option<u64>,
}

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Arc<Stored>>,
    /// The version of the whole list.
    pub(crate) revision: u64,
    /// The last object of this page, when there are more to come.
    pub(crate) last: Option<Key>,
    /// How many are to come, where that is known without selecting among them.
    pub(crate) remaining: Option<usize>,
}

/// The version asked for has left the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooOld;

impl Cluster {
    /// Selects a page. Nothing is decoded: this is a walk over references.
    pub(crate) fn page(&self, kind: &Kind, request: &PageRequest) -> Result<Page, TooOld> {
        let PageRequest { namespace, selector, after, limit, revision } = request;
        let collection = &self.collections[kind.index];
        let revision = revision.unwrap_or(self.revision);
        let after = after.as_ref().map(|(namespace, name)| (&**namespace, &**name));

        let candidates: Vec<Arc<Stored>> = if revision == self.revision {
            match (selector.fields.name(), namespace.as_deref()) {
                // One object is found without a walk.
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
            let then = changed.values().flatten().filter(|object| {
                namespace.as_deref().is_none_or(|namespace| namespace == &*object.namespace)
                    && after.is_none_or(|after| (&*object.namespace, &*object.name) > after)
            });
            let mut all: Vec<_> = unchanged.chain(then.cloned()).collect();
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
