//! What a recorder records.

use std::sync::Arc;

use jiff::Timestamp;
use kube_informer::Event;

use crate::{Author, Change, Recorded, What};

/// A change, and where it comes from.
#[derive(Clone, Debug)]
pub struct Message {
    /// The change. The state before it is the recorded one, also if it has none.
    pub change: Change,
    /// Whether a list has shown it, not a watch.
    pub is_listed: bool,
}

impl Message {
    /// Returns the message about an object that exists, or has changed.
    pub fn put(seen: Timestamp, author: Option<Author>, object: Recorded, is_listed: bool) -> Message {
        Message { change: Change { seen, author, what: What::Put { before: None, after: object } }, is_listed }
    }

    /// Returns what an event of an informer changes, with the object that `recorded` makes of its own and the author of the
    /// change; `None` for an unchanged object.
    pub fn of<T>(
        event: &Event<T>,
        seen: Timestamp,
        recorded: impl FnOnce(&Arc<T>) -> (Recorded, Option<Author>),
    ) -> Option<Message> {
        let is_listed = event.is_from_list();
        match event {
            Event::Deleted { object, .. } => {
                let what = What::Removed(recorded(object).0);
                Some(Message { change: Change { seen, author: None, what }, is_listed })
            }
            Event::Updated { .. } if !event.is_change() => None,
            Event::Added { object, .. } | Event::Updated { new: object, .. } => {
                let (object, author) = recorded(object);
                Some(Message::put(seen, author, object, is_listed))
            }
        }
    }
}
