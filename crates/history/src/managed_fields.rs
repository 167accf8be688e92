//! Who wrote an object last, as its `managedFields` say.

use jiff::Timestamp;
use kube_endpoint_model::Text;
use serde::Deserialize;

use crate::Author;

/// An entry in JSON.
#[derive(Deserialize)]
pub(crate) struct Entry {
    manager: Option<String>,
    time: Option<String>,
}

impl Entry {
    /// Returns time and manager; `None` without one of them, or with a time that is none.
    pub(crate) fn dated(&self) -> Option<(Timestamp, Text)> {
        let manager = self.manager.as_deref().filter(|manager| !manager.is_empty())?;
        Some((self.time.as_deref()?.parse().ok()?, manager.into()))
    }
}

/// Returns the newest of the entries; of equal times, the last one.
pub(crate) fn newest(entries: impl Iterator<Item = (Timestamp, Text)>) -> Option<Author> {
    let newest = entries.max_by_key(|(time, _)| *time);
    newest.map(|(time, manager)| Author { manager, user: Text::default(), time: Some(time) })
}
