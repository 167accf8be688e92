//! The state machine, compared with a reference implementation of plain lists with linear search.
#![expect(clippy::disallowed_methods, reason = "needs a start time")]

use std::time::{Duration, Instant};

use proptest::{collection::vec, prelude::*};

use super::{Added, Core, Fired, Taken};

type Key = u8;

/// Returns one of two hashes, so that keys collide.
fn hash(key: Key) -> u32 {
    u32::from(key % 2) * 0x9e37_79b9
}

#[derive(Debug, Clone)]
enum Op {
    Add(Key),
    AddAfter(Key, u64),
    Pass(u64),
    Get,
    /// Ends the processing of one of the keys in process, by index.
    Done(prop::sample::Index),
    ShutDown,
}

fn op() -> impl Strategy<Value = Op> {
    let key = 0..5_u8;
    prop_oneof![
        8 => key.clone().prop_map(Op::Add),
        5 => (key, 1..20_u64).prop_map(|(key, delay)| Op::AddAfter(key, delay)),
        4 => (0..15_u64).prop_map(Op::Pass),
        8 => Just(Op::Get),
        6 => any::<prop::sample::Index>().prop_map(Op::Done),
        1 => Just(Op::ShutDown),
    ]
}

#[derive(Debug)]
struct Delayed {
    key: Key,
    due: u64,
    /// Position among the calls, which orders equal deadlines.
    sequence: usize,
}

/// Reference implementation of the documented behaviour.
#[derive(Debug, Default)]
struct Reference {
    queued: Vec<Key>,
    processing: Vec<Key>,
    /// Keys that were added while in process.
    dirty: Vec<Key>,
    delayed: Vec<Delayed>,
    sequence: usize,
    now: u64,
    shutting_down: bool,
}

impl Reference {
    /// Returns whether the key was queued or marked dirty by this add.
    fn add(&mut self, key: Key) -> bool {
        if self.shutting_down || self.queued.contains(&key) || self.dirty.contains(&key) {
            return false;
        }
        let list = if self.processing.contains(&key) { &mut self.dirty } else { &mut self.queued };
        list.push(key);
        true
    }

    fn add_after(&mut self, key: Key, delay: u64) {
        if self.shutting_down {
            return;
        }
        let (due, sequence) = (self.now + delay, self.sequence);
        self.sequence += 1;
        let Some(old) = self.delayed.iter_mut().find(|it| it.key == key) else {
            self.delayed.push(Delayed { key, due, sequence });
            return;
        };
        if due < old.due {
            (old.due, old.sequence) = (due, sequence);
        }
    }

    /// Returns the earliest deadline; the end of time if there is none.
    fn first(&self) -> u64 {
        self.delayed.iter().map(|it| it.due).min().unwrap_or(u64::MAX)
    }

    fn shut_down(&mut self) {
        self.delayed.clear();
        self.shutting_down = true;
    }

    fn pass(&mut self, time: u64) {
        self.now += time;
        self.delayed.sort_by_key(|it| (it.due, it.sequence));
        while self.delayed.first().is_some_and(|it| it.due <= self.now) {
            let key = self.delayed.remove(0).key;
            self.add(key);
        }
    }

    fn get(&mut self) -> Option<Key> {
        let key = (!self.queued.is_empty()).then(|| self.queued.remove(0))?;
        self.processing.push(key);
        Some(key)
    }

    fn done(&mut self, key: Key) {
        self.processing.retain(|it| *it != key);
        if let Some(at) = self.dirty.iter().position(|it| *it == key) {
            self.queued.push(self.dirty.remove(at));
        }
    }
}

/// Runs a history on both implementations and compares the observable state after every step.
fn compare(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut core = Core::new();
    let mut reference = Reference::default();
    let mut taken: Vec<Taken<Key>> = vec![];
    for op in ops {
        match op {
            Op::Add(key) => {
                let accepted = matches!(core.add(hash(key), key), Added::Queued(_) | Added::Dirty(..));
                prop_assert_eq!(accepted, reference.add(key));
            }
            Op::AddAfter(key, delay) => {
                let before = reference.first();
                let is_earlier = core.schedule(hash(key), key, at(reference.now + delay)).is_earlier;
                reference.add_after(key, delay);
                prop_assert_eq!(is_earlier, reference.first() < before);
            }
            Op::Pass(time) => {
                reference.pass(time);
                let next = loop {
                    match core.fire(at(reference.now)) {
                        Fired::Added(_) | Fired::Duplicate => {}
                        Fired::NotBefore(due) => break Some(due),
                        Fired::Idle => break None,
                    }
                };
                prop_assert_eq!(next, reference.delayed.iter().map(|it| at(it.due)).min());
            }
            Op::Get => {
                let next = core.get();
                prop_assert_eq!(next.as_ref().map(|it| it.key), reference.get());
                taken.extend(next);
            }
            Op::Done(which) => {
                if !taken.is_empty() {
                    let one = taken.swap_remove(which.index(taken.len()));
                    core.done(one.index);
                    reference.done(one.key);
                }
            }
            Op::ShutDown => {
                core.shut_down();
                reference.shut_down();
            }
        }
        prop_assert_eq!(core.len(), reference.queued.len());
        prop_assert_eq!(core.delayed(), reference.delayed.len());
        let processing: Vec<_> = core.processing().filter_map(|it| core.entries[it].key).collect();
        prop_assert_eq!(&processing, &reference.processing, "oldest first");
        let known = core.entries.iter().count();
        prop_assert_eq!(core.pending(), known, "one bucket per entry");
        let delayed_only = reference
            .delayed
            .iter()
            .filter(|it| !reference.processing.contains(&it.key) && !reference.queued.contains(&it.key));
        prop_assert_eq!(
            known,
            reference.queued.len() + reference.processing.len() + delayed_only.count(),
            "no entry too many"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn behaves_like_the_reference(ops in vec(op(), 0..40)) {
        compare(ops)?;
    }
}
