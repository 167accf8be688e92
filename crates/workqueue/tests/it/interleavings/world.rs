//! The queue under test, and what its tasks have recorded.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use kube_workqueue::{Queue, Timer};
use tokio::{runtime::Runtime, time::sleep};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key(pub(super) u8);

/// Pending and running keys of one run.
#[derive(Default)]
pub(super) struct Log {
    /// Adds of each key since its processing last began.
    pub(super) pending: BTreeMap<u8, u32>,
    pub(super) processing: Vec<u8>,
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) queue: Queue<Key>,
    pub(super) timer: Rc<Cell<Option<Timer<Key>>>>,
    pub(super) log: Rc<RefCell<Log>>,
    runtime: Rc<Runtime>,
}

/// Delay of delayed adds.
pub(super) const DELAY: Duration = Duration::from_millis(10);

impl World {
    pub(super) fn new(runtime: &Rc<Runtime>) -> Self {
        let (queue, timer) = Queue::builder().build();
        Self { queue, timer: Rc::new(Cell::new(Some(timer))), log: Rc::default(), runtime: runtime.clone() }
    }

    pub(super) fn wanted(&self, key: u8) {
        if !self.queue.is_shutting_down() {
            *self.log.borrow_mut().pending.entry(key).or_default() += 1;
        }
    }

    pub(super) fn add(&self, key: u8) {
        self.wanted(key);
        self.queue.add(Key(key));
    }

    pub(super) fn pass_time(&self) {
        self.runtime.block_on(sleep(2 * DELAY));
    }

    pub(super) fn begin(&self, key: u8) {
        let mut log = self.log.borrow_mut();
        assert!(!log.processing.contains(&key), "{key} is processed twice at once");
        log.processing.push(key);
        log.pending.remove(&key);
    }

    pub(super) fn end(&self, key: u8) {
        self.log.borrow_mut().processing.retain(|it| *it != key);
    }
}
