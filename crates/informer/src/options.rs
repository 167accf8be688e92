//! Options of a store and of its handlers.

use std::{sync::Arc, time::Duration};

use kube_wire::Object;

use crate::{Guard, Index, InformerMetricsProvider};

/// Changes an object before it is stored.
pub(crate) type Transform<T> = Box<dyn Fn(&mut T) + Send + Sync>;

/// Options of the store and its handlers, for any source of objects.
pub(crate) struct Options<T, X> {
    pub(crate) index: X,
    pub(crate) transform: Option<Transform<T>>,
    pub(crate) resync: Duration,
    pub(crate) guard: Option<Guard>,
    pub(crate) metrics: Option<Arc<dyn InformerMetricsProvider>>,
}

impl<T: Object, X: Index<T>> Options<T, X> {
    pub(crate) fn new(index: X) -> Self {
        Self { index, transform: None, resync: Duration::ZERO, guard: None, metrics: None }
    }
}

/// Options of a handler: its name, its resync period, and whether it gets only the writes of other clients.
///
/// ```
/// use kube_informer::HandlerOptions;
/// use std::time::Duration;
///
/// let options = HandlerOptions::named("endpointslice-controller").resync(Duration::from_secs(3600));
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default)]
pub struct HandlerOptions {
    pub(crate) name: Option<String>,
    pub(crate) resync: Option<Duration>,
    pub(crate) foreign_only: bool,
}

impl HandlerOptions {
    /// Returns options with the name of the handler, which appears in metrics and in
    /// [`HandlerHandle::name`](crate::HandlerHandle::name).
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }

    /// Sets the resync period: once per period, the handler gets an update from each stored object to itself. Zero
    /// disables resyncs. Default: the period of the informer.
    ///
    /// Periods below 1 s are raised to 1 s. The informer checks at the shortest period of the handlers that are added
    /// before it is started, and of its own; a handler added later cannot resync more often than that (IN-44). If the
    /// informer's own period is zero, no handler resyncs.
    #[must_use]
    pub fn resync(mut self, every: Duration) -> Self {
        self.resync = Some(every);
        self
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
