//! The explorer: runs a program once per schedule.

use std::{
    collections::BTreeMap,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Wake, Waker},
};

use tokio::runtime;

use super::{tasks::Task, world::World};

/// Waker of a task; the task can be polled when the flag is set.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
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
        if choices.is_empty() && world.queue.delayed() > 0 {
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
pub(super) fn check(program: fn(&World) -> Vec<Task>, least: usize) {
    let schedules = explore(program);
    assert!(schedules >= least, "only {schedules} schedules: the program does not interleave as intended");
}
