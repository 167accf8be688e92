//! Locking what workers share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks state that is only ever changed in single steps, so that a panic elsewhere leaves nothing half done: a poisoned
/// lock is taken all the same. The panic itself ends the process through its [`Supervisor`](crate::Supervisor).
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
