//! What a recorder records.

use std::sync::Arc;

use jiff::Timestamp;
use kube_informer::Event;

use crate::{Author, Gap, Recorded};

/// A change of an object, or a time of which nothing is known.
#[derive(Clone, Debug)]
pub enum Message {
    /// An object exists, or has changed.
    Put {
        /// Time at which the change was seen.
        seen: Timestamp,
        /// Who wrote the object, if that is known.
        author: Option<Author>,
        /// State after the change.
        object: Recorded,
        /// Whether the object was not known before.
        is_new: bool,
        /// Whether a list showed the change, not a watch.
        is_listed: bool,
    },
    /// An object was deleted.
    Removed {
        /// Time at which the deletion was seen.
        seen: Timestamp,
        /// Last known state.
        object: Recorded,
        /// Whether a list showed the deletion, not a watch.
        is_listed: bool,
    },
    /// Changes may have been missed.
    Gap {
        /// Time at which the gap ended.
        seen: Timestamp,
        /// The gap.
        gap: Gap,
    },
}

impl Message {
    /// Returns what an event of an informer changes, with the object that `recorded` makes of its own and the author of the
    /// change; `None` for an unchanged object.
    pub fn of<T>(
        event: &Event<T>,
        seen: Timestamp,
        recorded: impl FnOnce(&Arc<T>) -> (Recorded, Option<Author>),
    ) -> Option<Message> {
        let is_listed = event.is_from_list();
        match event {
            Event::Deleted { object, .. } => Some(Message::Removed { seen, object: recorded(object).0, is_listed }),
            Event::Updated { .. } if !event.is_change() => None,
            Event::Added { object, .. } | Event::Updated { new: object, .. } => {
                let (object, author) = recorded(object);
                let is_new = matches!(event, Event::Added { .. });
                Some(Message::Put { seen, author, object, is_new, is_listed })
            }
        }
    }
}
