//! The authors of changes, between the watch that delivers an object and the handler of its event.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::DefaultHashBuilder;
use kube_endpoint_model::Text;
use kube_wire::{Encoding, ResourceVersion};

use super::author::version_and_author;
use crate::Author;

/// Maximum number of objects whose events are not handled yet. The authors of earlier ones are forgotten.
const CAPACITY: usize = 8_192;
/// Maximum number of managers whose text is shared.
const MANAGERS: usize = 64;

/// The authors of objects that watches have delivered and whose events are not handled yet, for types without
/// `metadata.managedFields`.
///
/// [`observe`](Self::observe) is an observer of informers, and the handlers [`take`](Self::take) what it has found.
#[derive(Debug, Default)]
pub struct Authors(Mutex<State>);

/// No watch has delivered the object, or its event was handled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no watch has delivered the object")]
pub struct NotDelivered;

#[derive(Debug, Default)]
struct State {
    by_version: HashMap<u64, Option<Author>, DefaultHashBuilder>,
    /// Versions in the order of their arrival, with some that are handled.
    versions: VecDeque<u64>,
    managers: Vec<Text>,
}

impl Authors {
    /// Remembers the author of an object by its version. Objects without a number as a version have no author.
    pub fn observe(&self, encoding: Encoding, object: &[u8]) {
        let (version, author) = version_and_author(encoding, object);
        let Some(version) = version.number() else { return };
        let mut state = self.state();
        let author = author.0.map(|author| Author { manager: state.shared(author.manager), ..author });
        if state.by_version.insert(version, author).is_none() {
            state.versions.push_back(version);
        }
        if state.versions.len() > CAPACITY {
            let oldest = state.versions.pop_front();
            oldest.and_then(|oldest| state.by_version.remove(&oldest));
        }
    }

    /// Returns the author of the object with a version; `None` if the object does not state it.
    ///
    /// # Errors
    ///
    /// [`NotDelivered`], for instance for the response to an own write.
    pub fn take(&self, version: &ResourceVersion) -> Result<Option<Author>, NotDelivered> {
        let number = version.number().ok_or(NotDelivered)?;
        self.state().by_version.remove(&number).ok_or(NotDelivered)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns one allocation for equal managers.
    fn shared(&mut self, manager: Text) -> Text {
        if let Some(known) = self.managers.iter().find(|known| **known == manager) {
            return known.clone();
        }
        if self.managers.len() < MANAGERS {
            self.managers.push(manager.clone());
        }
        manager
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn observe(authors: &Authors, version: &str, managed_fields: &serde_json::Value) {
        let object = json!({"metadata": {"resourceVersion": version, "managedFields": managed_fields}});
        authors.observe(Encoding::Json, object.to_string().as_bytes());
    }

    #[test]
    fn an_author_is_taken_once() {
        let authors = Authors::default();
        let entry = json!([{"manager": "kubelet", "time": "2026-11-27T14:00:00Z"}]);
        observe(&authors, "7", &entry);
        observe(&authors, "8", &json!(null));
        observe(&authors, "x", &entry);
        let manager = |author: Option<Author>| author.map(|author| author.manager.to_string());
        assert_eq!(authors.take(&"7".into()).map(manager), Ok(Some("kubelet".to_owned())));
        assert_eq!(authors.take(&"7".into()), Err(NotDelivered));
        assert_eq!(authors.take(&"8".into()), Ok(None), "delivered by a watch, and without an author");
        assert_eq!(authors.take(&"x".into()), Err(NotDelivered));
    }

    #[test]
    fn authors_of_events_without_a_handler_are_forgotten() {
        let authors = Authors::default();
        for version in 0..=CAPACITY {
            observe(&authors, &version.to_string(), &json!([]));
        }
        assert_eq!((authors.take(&"0".into()), authors.take(&"1".into())), (Err(NotDelivered), Ok(None)));
        assert!(authors.state().versions.len() <= CAPACITY);
    }
}
