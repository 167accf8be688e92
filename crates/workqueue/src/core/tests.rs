//! The state machine, compared with a reference implementation of plain lists with linear search.
#![expect(clippy::disallowed_methods, reason = "needs a start time")]

use std::{
    num::{NonZeroU8, NonZeroU32},
    time::{Duration, Instant},
};

use proptest::{collection::vec, prelude::*};

use super::{Added, Core, Finished, Fired, Lease};
use crate::Lanes;

type Key = u8;

/// Returns one of two hashes, so that keys collide.
fn hash(key: Key) -> u32 {
    u32::from(key % 2) * 0x9e37_79b9
}

#[derive(Debug, Clone)]
enum Op {
    Add(Key, u8),
    AddAfter(Key, u64, u8),
    Pass(u64),
    Get,
    /// Ends the processing of one of the keys in process, by index and ticket.
    Done(prop::sample::Index),
    /// Ends the processing of a key by its name, in process or not.
    DoneKey(Key),
    ShutDown,
}

fn op(lanes: u8) -> impl Strategy<Value = Op> {
    let key = 0..5_u8;
    prop_oneof![
        8 => (key.clone(), 0..lanes).prop_map(|(key, lane)| Op::Add(key, lane)),
        5 => (key.clone(), 1..20_u64, 0..lanes).prop_map(|(key, delay, lane)| Op::AddAfter(key, delay, lane)),
        4 => (0..15_u64).prop_map(Op::Pass),
        8 => Just(Op::Get),
        6 => any::<prop::sample::Index>().prop_map(Op::Done),
        1 => key.prop_map(Op::DoneKey),
        1 => Just(Op::ShutDown),
    ]
}

#[derive(Debug)]
struct Delayed {
    key: Key,
    due: u64,
    asked: usize,
    lane: u8,
}

/// Reference implementation of the documented behaviour.
#[derive(Debug)]
struct Reference {
    patience: u32,
    /// Per lane: its queued keys, and how often it was passed over.
    lanes: Vec<(Vec<Key>, u32)>,
    processing: Vec<Key>,
    /// Keys that were added while in process, and the lane to join.
    dirty: Vec<(Key, u8)>,
    delayed: Vec<Delayed>,
    asked: usize,
    now: u64,
    shutting_down: bool,
}

impl Reference {
    fn new(lanes: u8, patience: u32) -> Self {
        let lanes = vec![(vec![], 0); usize::from(lanes)];
        let (processing, dirty, delayed) = (vec![], vec![], vec![]);
        Self { patience, lanes, processing, dirty, delayed, asked: 0, now: 0, shutting_down: false }
    }

    fn queued(&self) -> usize {
        self.lanes.iter().map(|(keys, _)| keys.len()).sum()
    }

    /// Returns whether the key was queued or marked dirty by this add.
    fn add(&mut self, key: Key, lane: u8) -> bool {
        if self.shutting_down {
            return false;
        }
        let to = usize::from(lane);
        if let Some(from) = self.lanes.iter().position(|(keys, _)| keys.contains(&key)) {
            if to < from {
                self.lanes[from].0.retain(|it| *it != key);
                self.lanes[to].0.push(key);
            }
        } else if let Some((_, pending)) = self.dirty.iter_mut().find(|(it, _)| *it == key) {
            *pending = lane.min(*pending);
        } else if self.processing.contains(&key) {
            self.dirty.push((key, lane));
            return true;
        } else {
            self.lanes[to].0.push(key);
            return true;
        }
        self.forget_empty_lanes();
        false
    }

    fn add_after(&mut self, key: Key, delay: u64, lane: u8) {
        if self.shutting_down {
            return;
        }
        let (due, asked) = (self.now + delay, self.asked);
        self.asked += 1;
        let Some(old) = self.delayed.iter_mut().find(|it| it.key == key) else {
            self.delayed.push(Delayed { key, due, asked, lane });
            return;
        };
        old.lane = old.lane.min(lane);
        if due < old.due {
            old.due = due;
            old.asked = asked;
        }
    }

    fn pass(&mut self, time: u64) {
        self.now += time;
        self.delayed.sort_by_key(|it| (it.due, it.asked));
        while self.delayed.first().is_some_and(|it| it.due <= self.now) {
            let Delayed { key, lane, .. } = self.delayed.remove(0);
            self.add(key, lane);
        }
    }

    fn get(&mut self) -> Option<(Key, u8)> {
        let ready = || self.lanes.iter().enumerate().filter(|(_, (keys, _))| !keys.is_empty());
        let most = ready().map(|(_, (_, passed))| *passed).max().filter(|most| *most >= self.patience);
        let (served, _) = ready().find(|(_, (_, passed))| most.is_none_or(|most| *passed == most))?;
        let key = self.lanes[served].0.remove(0);
        for (lane, (keys, passed)) in self.lanes.iter_mut().enumerate() {
            *passed = if lane == served || keys.is_empty() { 0 } else { *passed + 1 };
        }
        self.processing.push(key);
        Some((key, u8::try_from(served).unwrap()))
    }

    fn done(&mut self, key: Key) {
        if !self.processing.contains(&key) {
            return;
        }
        self.processing.retain(|it| *it != key);
        if let Some(at) = self.dirty.iter().position(|(it, _)| *it == key) {
            let (key, lane) = self.dirty.remove(at);
            self.lanes[usize::from(lane)].0.push(key);
        }
    }

    fn forget_empty_lanes(&mut self) {
        for (keys, passed) in &mut self.lanes {
            if keys.is_empty() {
                *passed = 0;
            }
        }
    }
}

/// Runs a history on both implementations and compares the observable state after every step.
fn compare(ops: Vec<Op>, lanes: u8, patience: u32) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let config = Lanes::new(NonZeroU8::new(lanes).unwrap()).patience(NonZeroU32::new(patience).unwrap());
    let mut core = Core::new(config);
    let mut reference = Reference::new(lanes, patience);
    let mut leases: Vec<Lease<Key>> = vec![];
    for op in ops {
        match op {
            Op::Add(key, lane) => {
                let accepted = matches!(core.add(hash(key), key, lane), Added::Queued(_) | Added::Dirty(..));
                prop_assert_eq!(accepted, reference.add(key, lane));
            }
            Op::AddAfter(key, delay, lane) => {
                let first = reference.delayed.iter().map(|it| it.due).min();
                let changed = core.schedule(hash(key), key, at(reference.now + delay), lane).first_changed;
                reference.add_after(key, delay, lane);
                prop_assert_eq!(changed, first != reference.delayed.iter().map(|it| it.due).min());
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
                let lease = core.get();
                prop_assert_eq!(lease.as_ref().map(|it| (it.key, it.lane)), reference.get());
                leases.extend(lease);
            }
            Op::Done(which) => {
                if !leases.is_empty() {
                    let lease = leases.swap_remove(which.index(leases.len()));
                    prop_assert!(core.done(lease.index, lease.ticket) != Finished::Stale);
                    prop_assert!(core.done(lease.index, lease.ticket) == Finished::Stale, "only once");
                    reference.done(lease.key);
                }
            }
            Op::DoneKey(key) => {
                let stale = core.done_key(hash(key), &key) == Finished::Stale;
                prop_assert_eq!(stale, !reference.processing.contains(&key));
                reference.done(key);
                leases.retain(|it| it.key != key);
            }
            Op::ShutDown => {
                core.shut_down();
                reference.delayed.clear();
                reference.shutting_down = true;
            }
        }
        prop_assert_eq!(core.len(), reference.queued());
        prop_assert_eq!(core.waiting(), reference.delayed.len());
        prop_assert_eq!(core.is_drained(), reference.queued() + reference.processing.len() == 0);
        let processing: Vec<_> = core.processing().filter_map(|it| core.entries[it].key).collect();
        prop_assert_eq!(&processing, &reference.processing, "oldest first");
        let known = core.entries.iter().count();
        prop_assert_eq!(core.table.len(), known, "one bucket per entry");
        let delayed_only = reference.delayed.iter().filter(|it| {
            !reference.processing.contains(&it.key) && !reference.lanes.iter().any(|(keys, _)| keys.contains(&it.key))
        });
        prop_assert_eq!(
            known,
            reference.queued() + reference.processing.len() + delayed_only.count(),
            "no entry too many"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_the_reference_does(ops in vec(op(1), 0..40)) {
        compare(ops, 1, 10)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_lanes_as_the_reference_does(lanes in 2..=4_u8, patience in 1..4_u32, ops in vec(op(4), 0..40)) {
        let clamp = |op| match op {
            Op::Add(key, lane) => Op::Add(key, lane.min(lanes - 1)),
            Op::AddAfter(key, delay, lane) => Op::AddAfter(key, delay, lane.min(lanes - 1)),
            op => op,
        };
        compare(ops.into_iter().map(clamp).collect(), lanes, patience)?;
    }

    /// A key at the head of its lane is handed out within the bound, whatever is added to the other lanes.
    #[test]
    fn no_lane_starves(lanes in 2..=5_u8, lane in 0..5_u8, patience in 1..20_u32, others in vec(0..5_u8, 60)) {
        let lane = lane.min(lanes - 1);
        let config =
            Lanes::new(NonZeroU8::new(lanes).unwrap()).patience(NonZeroU32::new(patience).unwrap());
        let mut core = Core::new(config);
        let mut next = 0_u32;
        let mut add = |core: &mut Core<u32>, lane| {
            next += 1;
            core.add(next, next, lane);
        };
        // The other lanes are filled first and never run empty; later keys of this lane queue behind the first.
        for other in (0..lanes).filter(|it| *it != lane) {
            add(&mut core, other);
        }
        core.add(0, 0, lane);
        let mut waited = 0;
        for other in others {
            let lease = core.get().expect("there are keys");
            if lease.key == 0 {
                break;
            }
            waited += 1;
            core.done(lease.index, lease.ticket);
            add(&mut core, lease.lane);
            add(&mut core, other.min(lanes - 1));
        }
        prop_assert!(waited < patience + u32::from(lanes), "{waited} other keys were handed out first");
    }
}
