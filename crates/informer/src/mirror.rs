//! A second store that follows the store of an informer.

use crate::Event;

/// Follows the changes of a store at once, in their order and before any handler gets the event.
pub(crate) trait Mirror<T>: Send {
    /// Applies a change.
    fn apply(&mut self, event: &Event<T>);

    /// Completes the first list, whose objects have been applied.
    fn listed(&mut self);
}
