//! The locks of the queue: those of the standard library, or loom's when a model checker runs the threads.

use std::sync::PoisonError;
#[cfg(not(loom))]
pub(crate) use std::sync::{Arc, Mutex, MutexGuard};

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};

/// Locks a mutex, also after a panic of a caller's `Eq`, `Hash` or `Clone` under the lock: state changes only after those ran.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
