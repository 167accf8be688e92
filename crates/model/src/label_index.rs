//! Index of objects by their labels.

mod label_sets;

use std::fmt;
use std::sync::Arc;

use educe::Educe;
use hashbrown::HashMap;
use kube_wire::{Index, Object};

use self::label_sets::LabelSets;
use crate::{Labels, Pod, Text};

/// Object with labels, which a [`LabelIndex`] finds by a selector.
pub trait Labelled: Object {
    /// Returns `metadata.labels`.
    fn labels(&self) -> &Labels;
}

/// Index of objects by namespace and labels. A query starts from the rarest key-value pair of the selector, so its cost
/// grows with the number of matches, not with the number of objects in the namespace.
///
/// Objects with the same labels, such as the Pods of a `ReplicaSet`, form one entry: the index maps pairs to sets of
/// labels, not to objects.
///
/// ```
/// use std::sync::Arc;
/// use kube_endpoint_model::{Index as _, LabelIndex, Labelled, Labels, ObjectMeta};
///
/// #[derive(serde::Deserialize)]
/// struct Gateway {
///     metadata: ObjectMeta,
/// }
///
/// kube_wire::object!(Gateway, kube_wire::Resource::namespaced("example.com", "v1", "gateways", "Gateway"));
///
/// impl Labelled for Gateway {
///     fn labels(&self) -> &Labels {
///         &self.metadata.labels
///     }
/// }
///
/// let gateway: Gateway = serde_json::from_str(
///     r#"{"metadata": {"namespace": "shop", "name": "edge", "labels": {"tier": "front", "team": "a"}}}"#,
/// )?;
/// let mut index = LabelIndex::default();
/// index.update(None, Some(&Arc::new(gateway)));
/// let selector: Labels = [("tier", "front")].into_iter().collect();
/// assert_eq!(index.select("shop", &selector).len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub struct LabelIndex<T> {
    namespaces: HashMap<Text, LabelSets<T>>,
}

/// Index of Pods by namespace and labels.
pub type PodIndex = LabelIndex<Pod>;

impl<T: Labelled> Index<T> for LabelIndex<T> {
    /// Replaces `old` by `new`, in place if the labels did not change.
    fn update(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        if let Some(old) = old {
            let stays = new.is_some_and(|new| {
                old.labels() == new.labels() && same(old.namespace(), new.namespace()) && same(old.name(), new.name())
            });
            if !stays {
                self.remove(old);
            }
        }
        if let Some(new) = new {
            match self.namespaces.get_mut(new.namespace()) {
                Some(sets) => sets.insert(new),
                None => self.namespaces.entry(new.key().namespace).or_default().insert(new),
            }
        }
    }
}

/// Returns whether two texts are equal. Those of two states of an object mostly share their memory.
fn same(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl<T: Labelled> LabelIndex<T> {
    fn remove(&mut self, object: &T) {
        let Some(sets) = self.namespaces.get_mut(object.namespace()) else { return };
        sets.remove(object);
        if sets.is_empty() {
            self.namespaces.remove(object.namespace());
        }
    }

    /// Returns the objects of a namespace whose labels contain every pair of the selector, sorted by name; all objects
    /// for an empty selector. The namespace of cluster-scoped objects is empty.
    pub fn select(&self, namespace: &str, selector: &Labels) -> Vec<Arc<T>> {
        self.namespaces.get(namespace).map(|sets| sets.select(selector)).unwrap_or_default()
    }
}

impl<T> fmt::Debug for LabelIndex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelIndex").field("namespaces", &self.namespaces.keys()).finish_non_exhaustive()
    }
}
