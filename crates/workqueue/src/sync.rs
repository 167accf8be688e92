//! The lock under the queue: the standard one, or loom's when a model checker runs the threads.

use std::sync::{PoisonError, TryLockError};
#[cfg(not(loom))]
pub(crate) use std::{
    sync::{Arc, Mutex, MutexGuard},
    thread::yield_now,
};

#[cfg(loom)]
pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};

/// Whoever yields has let the lock go, which is all that a model checker needs to let others go first, or not.
#[cfg(loom)]
pub(crate) fn yield_now() {}

/// How often a thread stands back from a taken lock before it sleeps on it.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 8 };

/// For how many of the processor's pauses it stands back each time: some 3 µs, in which the thread that has the lock
/// takes it dozens of times more.
const PAUSES: u32 = if cfg!(loom) { 0 } else { 128 };

/// Locks even if a foreign `Eq`, `Hash` or `Clone` panicked under the lock: the state is changed only after those ran.
///
/// The critical sections are far shorter than the way of the state's memory from one core to another. Two threads that
/// took turns at every operation, or slept and woke for each other, would spend five times what one of them alone
/// spends; so whoever finds the lock taken leaves it, and that memory, to the other for a while. Only a thread that is
/// unlucky many times in a row, or whose opponent was suspended with the lock in hand, sleeps.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => lock_taken(mutex),
    }
}

#[cold]
fn lock_taken<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..PATIENCE {
        for _ in 0..PAUSES {
            std::hint::spin_loop();
        }
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
