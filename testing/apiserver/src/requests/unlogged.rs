//! Writes between their effect and their entry in the request log.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The writes that clients can see and that are not in the log yet.
#[derive(Debug, Default)]
pub(super) struct UnloggedWrites {
    numbers: Mutex<Numbers>,
    logged: Condvar,
}

#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    unlogged: BTreeSet<u64>,
}

/// A write that is not in the log yet, until the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Unlogged {
    _write: Arc<Write>,
}

#[derive(Debug)]
struct Write {
    number: u64,
    writes: Arc<UnloggedWrites>,
}

impl UnloggedWrites {
    pub(super) fn begin(self: &Arc<Self>) -> Unlogged {
        let mut numbers = self.lock();
        let number = numbers.next;
        numbers.next += 1;
        numbers.unlogged.insert(number);
        Unlogged { _write: Arc::new(Write { number, writes: Arc::clone(self) }) }
    }

    /// Blocks until the writes that have begun before are logged.
    pub(super) fn wait(&self) {
        let numbers = self.lock();
        let begun = numbers.next;
        let is_open = |it: &mut Numbers| it.unlogged.first().is_some_and(|&number| number < begun);
        drop(self.logged.wait_while(numbers, is_open));
    }

    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        self.writes.lock().unlogged.remove(&self.number);
        self.writes.logged.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn readers_wait_for_the_writes_before_them() {
        let writes = Arc::new(UnloggedWrites::default());
        writes.wait();
        let (first, second) = (writes.begin(), writes.begin());
        let clone = first.clone();
        drop(first);
        let reader = thread::spawn({
            let writes = Arc::clone(&writes);
            move || writes.wait()
        });
        drop(second);
        assert!(!reader.is_finished());
        let later = writes.begin();
        drop(clone);
        // The reader may have begun after the last write, whose end it then needs.
        drop(later);
        reader.join().unwrap();
    }
}
