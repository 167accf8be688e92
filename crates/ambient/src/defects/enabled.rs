//! The enabled defect of a thread.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

use super::Defect;

thread_local! {
    static ENABLED: Cell<Option<Defect>> = const { Cell::new(None) };
}

/// Enables a defect on this thread until the returned guard is dropped. At most one defect is enabled per thread; the
/// previous one is disabled meanwhile.
#[must_use = "the defect is disabled when the guard is dropped"]
pub fn enable(defect: Defect) -> Enabled {
    Enabled { previous: ENABLED.replace(Some(defect)), on_this_thread: PhantomData }
}

/// Returns whether a defect is enabled on this thread; always `false` without the feature `defects`.
pub fn is_enabled(defect: Defect) -> bool {
    // Destructors of other thread-local values may run after this one was destroyed.
    ENABLED.try_with(|enabled| enabled.get() == Some(defect)).unwrap_or_default()
}

/// Guard of [`enable`]: restores the previously enabled defect, if any, when dropped.
#[derive(Debug)]
pub struct Enabled {
    previous: Option<Defect>,
    on_this_thread: PhantomData<Rc<()>>,
}

impl Drop for Enabled {
    fn drop(&mut self) {
        // Fails only after the thread-local value was destroyed, at the end of the thread.
        let _ = ENABLED.try_with(|enabled| enabled.set(self.previous));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defect_is_enabled_until_its_guard_is_dropped() {
        assert!(!is_enabled(Defect::GhostSlice));
        let outer = enable(Defect::GhostSlice);
        {
            let _inner = enable(Defect::LongRetryAfter);
            assert!(is_enabled(Defect::LongRetryAfter) && !is_enabled(Defect::GhostSlice));
        }
        assert!(is_enabled(Defect::GhostSlice) && !is_enabled(Defect::LongRetryAfter));
        std::thread::spawn(|| assert!(!is_enabled(Defect::GhostSlice))).join().unwrap();
        drop(outer);
        assert!(!is_enabled(Defect::GhostSlice));
    }
}
