//! Options of a store and of its handlers.

use std::{sync::Arc, time::Duration};

use crate::{Guard, InformerMetricsProvider};

/// Options of the store and its handlers, for any source of objects.
pub(crate) struct Options<X> {
    pub(crate) index: X,
    /// Whether the informer has selectors.
    pub(crate) is_selecting: bool,
    pub(crate) resync: Duration,
    pub(crate) guard: Option<Guard>,
    pub(crate) metrics: Option<Arc<dyn InformerMetricsProvider>>,
}

impl<X> Options<X> {
    pub(crate) fn new(index: X) -> Self {
        Self { index, is_selecting: false, resync: Duration::ZERO, guard: None, metrics: None }
    }
}

/// Options of a handler: its name, and whether it gets only the writes of other clients.
///
/// ```
/// use kube_informer::HandlerOptions;
///
/// let options = HandlerOptions::named("second-writer").foreign_writes();
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {
    pub(crate) name: Option<String>,
    pub(crate) foreign_only: bool,
}

impl HandlerOptions {
    /// Returns options with the name of the handler, which appears in metrics and in
    /// [`HandlerHandle::name`](crate::HandlerHandle::name).
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }

    /// Restricts the handler to changes that other clients made.
    ///
    /// It gets no initial contents and no unchanged objects, no event of a write through a
    /// [`WriteThrough`](crate::WriteThrough) of the informer, and none of a list at a version below that of the store,
    /// whose older states come from a backup. After an own write without a response, the next event of the object within
    /// 5 min is taken to be that of the write. Differences that a relist finds are delivered, one event per object.
    #[must_use]
    pub fn foreign_writes(mut self) -> Self {
        self.foreign_only = true;
        self
    }
}
