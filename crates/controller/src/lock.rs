//! Locks that ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex even if it is poisoned.
///
/// Use it only for state that each critical section changes in one step, so that a panic leaves no partial change. The
/// panic itself stops the other tasks through their [`Supervisor`](crate::Supervisor).
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
