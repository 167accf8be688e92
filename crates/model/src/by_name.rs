//! Objects of one namespace, sorted by name.

use std::slice;
use std::sync::Arc;

use educe::Educe;
use kube_wire::Object;

/// Objects with distinct names, sorted by name. A single object needs no allocation.
#[derive(Debug, Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub(crate) enum ByName<T> {
    One(Arc<T>),
    #[educe(Default)]
    Many(Vec<Arc<T>>),
}

impl<T: Object> ByName<T> {
    /// Returns the objects, sorted by name.
    pub(crate) fn as_slice(&self) -> &[Arc<T>] {
        match self {
            ByName::One(object) => slice::from_ref(object),
            ByName::Many(objects) => objects,
        }
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        let objects = self.as_slice();
        // Lists are sorted by name, so most objects are appended.
        match objects.last() {
            Some(last) if last.name() < name => Err(objects.len()),
            _ => objects.binary_search_by(|it| it.name().cmp(name)),
        }
    }

    pub(crate) fn insert(&mut self, object: Arc<T>) {
        match self.find(object.name()) {
            Ok(at) => match self {
                ByName::One(one) => *one = object,
                ByName::Many(objects) => objects[at] = object,
            },
            Err(at) => {
                if let ByName::One(one) = self {
                    *self = ByName::Many(vec![Arc::clone(one)]);
                }
                if let ByName::Many(objects) = self {
                    objects.insert(at, object);
                }
            }
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let Ok(at) = self.find(name) else { return };
        match self {
            ByName::One(_) => *self = ByName::default(),
            ByName::Many(objects) => {
                objects.remove(at);
                if objects.len() < objects.capacity() / 4 {
                    objects.shrink_to(objects.len() * 2);
                }
            }
        }
    }
}

impl<T> From<Arc<T>> for ByName<T> {
    fn from(object: Arc<T>) -> Self {
        ByName::One(object)
    }
}
