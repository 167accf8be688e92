//! Exhaustive schedules of small programs with producers, workers and a shutdown.
//!
//! One lock protects the queue's state, so threads can interleave only between whole operations, such as a poll of
//! `get` (except that `get` may yield before it looks, which only loom explores). The schedules of a few tasks can
//! therefore be enumerated: the explorer runs a program once per schedule, with the real queue and its real futures. As
//! in loom and CHESS, the number of preemptions per schedule is bounded; switches where a task waits or ends are not
//! counted.
//!
//! A shutdown wakes every task and would hide a lost wake-up. Programs without a shutdown therefore run until all tasks
//! wait; then no key may be queued. Only after this check does the explorer shut the queue down. `tests/loom.rs` checks
//! the same with loom's threads and lock.
//!
//! The clock is paused. It passes all deadlines when all tasks wait, and wherever the task [`clock`] is scheduled.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use kube_workqueue::{Delayed, Queue, Timer};
use tokio::{
    runtime::{self, Runtime},
    time::sleep,
};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Waker of a task; the task can be polled when the flag is set.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u8);

impl std::borrow::Borrow<u8> for Key {
    fn borrow(&self) -> &u8 {
        &self.0
    }
}

impl From<&u8> for Key {
    fn from(key: &u8) -> Self {
        Self(*key)
    }
}

/// Pending and running keys of one run.
#[derive(Default)]
struct Log {
    /// Adds of each key since its processing last began.
    pending: BTreeMap<u8, u32>,
    processing: Vec<u8>,
    /// Number of tasks that wait until the queue is idle.
    idling: u32,
}

#[derive(Clone)]
struct World {
    queue: Queue<Key>,
    timer: Rc<Cell<Option<Timer<Key>>>>,
    log: Rc<RefCell<Log>>,
    runtime: Rc<Runtime>,
}

/// Delay of delayed adds.
const DELAY: Duration = Duration::from_millis(10);

impl World {
    fn new(runtime: &Rc<Runtime>) -> Self {
        let (queue, timer) = Queue::builder().build();
        Self { queue, timer: Rc::new(Cell::new(Some(timer))), log: Rc::default(), runtime: runtime.clone() }
    }

    /// Records an add.
    fn wanted(&self, key: u8) {
        if !self.queue.is_shutting_down() {
            *self.log.borrow_mut().pending.entry(key).or_default() += 1;
        }
    }

    fn add(&self, key: u8) {
        self.wanted(key);
        self.queue.add(Key(key));
    }

    /// Passes all deadlines.
    fn pass_time(&self) {
        self.runtime.block_on(sleep(2 * DELAY));
    }

    fn begin(&self, key: u8) {
        let mut log = self.log.borrow_mut();
        assert!(!log.processing.contains(&key), "{key} is processed twice at once");
        log.processing.push(key);
        log.pending.remove(&key);
    }

    fn end(&self, key: u8) {
        self.log.borrow_mut().processing.retain(|it| *it != key);
    }
}

/// A point at which the explorer may switch to another task.
async fn step() {
    let mut stepped = false;
    poll_fn(|cx| {
        if stepped {
            return Poll::Ready(());
        }
        stepped = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.add(*key);
            step().await;
        }
    })
}

fn worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(work(world))
}

async fn work(world: World) {
    while let Some(item) = world.queue.get().await {
        world.begin(item.0);
        step().await;
        world.end(item.0);
        item.done();
        step().await;
    }
}

/// A worker that processes one key and ends.
fn leaving_worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        if let Some(item) = world.queue.get().await {
            world.begin(item.0);
            step().await;
            world.end(item.0);
        }
    })
}

/// A worker that drops its first `get` at some time after it returned `Pending`, woken or not.
fn fickle_worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        let mut first = Box::pin(world.queue.get());
        match poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx))).await {
            Poll::Pending => step().await,
            Poll::Ready(None) => return,
            Poll::Ready(Some(item)) => {
                world.begin(item.0);
                world.end(item.0);
            }
        }
        drop(first);
    })
}

fn shut_down(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down();
    })
}

fn drain(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down_with_drain().await;
        let log = world.log.borrow();
        assert!(log.processing.is_empty() && log.pending.is_empty(), "drained too early");
    })
}

fn borrowing_producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.wanted(*key);
            world.queue.add_ref(key);
            step().await;
        }
    })
}

fn delaying_producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.wanted(*key);
            world.queue.add_after(Key(*key), DELAY);
            step().await;
        }
    })
}

/// Cancels the delay of a key that is never added without one.
fn canceller(world: &World, key: u8) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        if world.queue.cancel_delay(&key) {
            world.log.borrow_mut().pending.remove(&key);
        }
    })
}

fn timer(world: &World) -> Task {
    let timer = world.timer.take().expect("one timer");
    Box::pin(timer.run())
}

/// A timer that is dropped after its first poll, at some time.
fn aborted_timer(world: &World) -> Task {
    let timer = world.timer.take().expect("one timer");
    Box::pin(async move {
        let mut running = Box::pin(timer.run());
        poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx).is_ready())).await;
        step().await;
        drop(running);
    })
}

fn clock(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.pass_time();
    })
}

fn idler(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.log.borrow_mut().idling += 1;
        world.queue.idle().await;
        let mut log = world.log.borrow_mut();
        assert!(log.processing.is_empty() && world.queue.is_empty(), "idle too early");
        log.idling -= 1;
    })
}

fn drain_with_delayed(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.drain(Delayed::Queue).await;
        let log = world.log.borrow();
        assert!(log.processing.is_empty() && log.pending.is_empty(), "drained too early");
    })
}

/// Maximum number of preemptions per schedule.
const INTERRUPTIONS: usize = 3;

/// One point at which a schedule had a choice.
#[derive(Debug)]
struct Decision {
    taken: usize,
    of: usize,
}

/// Runs the program under every schedule and returns the number of schedules.
fn explore(program: fn(&World) -> Vec<Task>) -> usize {
    let mut decisions: Vec<Decision> = vec![];
    let runtime = runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let runtime = Rc::new(runtime);
    let _entered = runtime.enter();
    for schedules in 1.. {
        let world = World::new(&runtime);
        run(&world, program(&world), &mut decisions);
        let log = world.log.borrow();
        assert_eq!(log.processing, [], "left in process by {decisions:?}");
        assert_eq!(log.pending, BTreeMap::new(), "lost by {decisions:?}");
        // The next schedule: advance the last decision that has another choice.
        while decisions.pop_if(|it| it.taken + 1 == it.of).is_some() {}
        let Some(last) = decisions.last_mut() else { return schedules };
        last.taken += 1;
    }
    unreachable!("the range has no end")
}

/// Runs the tasks by the given decisions; after them, takes the first choice and records it.
fn run(world: &World, tasks: Vec<Task>, decisions: &mut Vec<Decision>) {
    let new = |task| Some((task, Arc::new(Flag(AtomicBool::new(true)))));
    let mut tasks: Vec<Option<(Task, Arc<Flag>)>> = tasks.into_iter().map(new).collect();
    let is_awake = |task: &Option<(Task, Arc<Flag>)>| task.as_ref().is_some_and(|(_, flag)| flag.0.load(SeqCst));
    let mut current = 0;
    let mut interruptions = 0;
    for at in 0.. {
        let awake = |tasks: &[_]| (0..tasks.len()).filter(|it| is_awake(&tasks[*it])).collect::<Vec<usize>>();
        let mut choices = awake(&tasks);
        if choices.is_empty() && world.queue.waiting() > 0 {
            world.pass_time();
            choices = awake(&tasks);
            assert_ne!(choices, [], "no task queues the delayed keys under {decisions:?}");
        }
        if choices.is_empty() {
            let asleep = tasks.iter().flatten().count();
            if asleep == 0 {
                return;
            }
            assert!(!world.queue.is_shutting_down(), "{asleep} tasks wait forever under {decisions:?}");
            assert_eq!(world.queue.len(), 0, "keys are queued while {asleep} tasks wait under {decisions:?}");
            assert_eq!(world.log.borrow().idling, 0, "the queue is idle and a task is not told under {decisions:?}");
            world.queue.shut_down();
            choices = awake(&tasks);
            assert_ne!(choices, [], "the shutdown wakes no task under {decisions:?}");
        }
        // The first choice is to continue the current task.
        choices.sort_by_key(|it| *it != current);
        let can_go_on = choices[0] == current;
        if can_go_on && interruptions == INTERRUPTIONS {
            choices.truncate(1);
        }
        if at == decisions.len() {
            decisions.push(Decision { taken: 0, of: choices.len() });
        }
        let chosen = choices[decisions[at].taken];
        interruptions += usize::from(can_go_on && chosen != current);
        current = chosen;
        if let Some((task, flag)) = &mut tasks[chosen] {
            flag.0.store(false, SeqCst);
            let waker = Waker::from(flag.clone());
            if task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                tasks[chosen] = None;
            }
        }
    }
}

#[track_caller]
fn check(program: fn(&World) -> Vec<Task>, least: usize) {
    let schedules = explore(program);
    assert!(schedules >= least, "only {schedules} schedules: the program does not interleave as intended");
}

#[test]
fn two_workers_two_keys_and_a_drain() {
    check(|world| vec![producer(world, &[1, 2, 1]), worker(world), worker(world), drain(world)], 1_000);
}

#[test]
fn two_workers_two_keys_and_a_shutdown() {
    check(|world| vec![producer(world, &[1, 2, 1]), worker(world), worker(world), shut_down(world)], 1_000);
}

#[test]
fn two_producers_one_worker() {
    check(|world| vec![producer(world, &[1, 2]), producer(world, &[2, 1]), worker(world), drain(world)], 1_000);
}

#[test]
fn every_key_wakes_a_worker() {
    check(|world| vec![producer(world, &[1, 2, 1]), worker(world), worker(world)], 1_000);
    check(|world| vec![producer(world, &[1, 2]), producer(world, &[2, 1]), worker(world), worker(world)], 1_000);
}

#[test]
fn a_key_added_while_processing_wakes_a_worker() {
    check(|world| vec![producer(world, &[1, 1]), leaving_worker(world), worker(world)], 100);
}

#[test]
fn a_worker_that_gives_up_takes_no_wake_up_with_it() {
    // The other worker must be woken for the key that this worker did not take.
    check(|world| vec![producer(world, &[1, 2]), fickle_worker(world), worker(world)], 100);
    check(|world| vec![producer(world, &[1, 2]), fickle_worker(world), fickle_worker(world), worker(world)], 1_000);
}

#[test]
fn a_drain_that_is_released() {
    check(|world| vec![producer(world, &[1, 1]), worker(world), drain_or_release(world), shut_down(world)], 100);
}

/// A drain that a later `shut_down` may end early.
fn drain_or_release(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down_with_drain().await;
    })
}

#[test]
fn borrowed_and_owned_adds_of_one_key() {
    check(
        |world| vec![borrowing_producer(world, &[1, 1]), producer(world, &[1, 2]), worker(world), drain(world)],
        1_000,
    );
    check(|world| vec![borrowing_producer(world, &[1, 2]), borrowing_producer(world, &[1]), worker(world)], 100);
}

#[test]
fn idle_ends_once_no_key_is_queued_or_in_process() {
    check(|world| vec![producer(world, &[1, 2]), idler(world), worker(world), worker(world)], 1_000);
    check(|world| vec![producer(world, &[1, 1]), idler(world), idler(world), worker(world)], 1_000);
    check(|world| vec![producer(world, &[1]), idler(world), worker(world), shut_down(world)], 1_000);
}

#[test]
fn a_timer_queues_delayed_keys() {
    check(|world| vec![delaying_producer(world, &[1, 2]), timer(world), worker(world), clock(world)], 1_000);
    check(|world| vec![delaying_producer(world, &[1, 1]), timer(world), producer(world, &[1]), worker(world)], 1_000);
}

#[test]
fn workers_queue_delayed_keys_without_a_timer() {
    check(|world| vec![delaying_producer(world, &[1, 2]), worker(world), worker(world), clock(world)], 1_000);
    check(|world| vec![delaying_producer(world, &[1, 2]), fickle_worker(world), worker(world), clock(world)], 1_000);
}

#[test]
fn a_dropped_timer_leaves_its_keys_to_the_workers() {
    check(|world| vec![delaying_producer(world, &[1, 2]), aborted_timer(world), worker(world)], 100);
    check(|world| vec![delaying_producer(world, &[1]), aborted_timer(world), worker(world), clock(world)], 1_000);
}

#[test]
fn a_cancelled_delay_is_not_processed() {
    check(|world| vec![delaying_producer(world, &[1, 2]), canceller(world, 1), timer(world), worker(world)], 1_000);
    check(|world| vec![delaying_producer(world, &[1, 2]), canceller(world, 1), worker(world), clock(world)], 1_000);
}

#[test]
fn a_drain_of_delayed_keys() {
    check(
        |world| vec![delaying_producer(world, &[1, 2, 1]), timer(world), worker(world), drain_with_delayed(world)],
        1_000,
    );
    check(
        |world| {
            vec![delaying_producer(world, &[1, 2]), producer(world, &[1]), worker(world), drain_with_delayed(world)]
        },
        1_000,
    );
}
