//! The lock under the queue: the standard one, or loom's when a model checker runs the threads.

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

/// Locks even if a foreign `Eq`, `Hash` or `Clone` panicked under the lock: the state is changed only after those ran.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
