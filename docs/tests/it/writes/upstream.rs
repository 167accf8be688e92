//! Model of the writes of kube-controller-manager for one Service.
//!
//! It favours upstream: its cache is never stale, and no write fails. A sync starts at a change, but not before the previous
//! one has ended. It writes each slice that lost, gained or changed an endpoint, once (RC-15 to RC-21); new endpoints
//! fill the slices that are written anyway, fullest first, then one other slice with space for all of them, then new slices.
//! They are assigned in random order, like the iteration order of Go's maps. A sync of Endpoints writes one object.
//!
//! The durations of syncs are fitted to kube-controller-manager 1.36.2 on a cluster with hollow kubelets: 619 writes of slices
//! and 552 of Endpoints in a readiness storm over 60 Pods, in which a program that writes each change sent 847 and 701, and
//! 1,948 and 1,516 beside 3,318 and 2,725 when 600 Pods of a Service were recreated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::{Change, State, Work, Writer, apply};

const MAX_ENDPOINTS_PER_SLICE: usize = 100;
const MAX_ADDRESSES: usize = 1_000;
/// Time by which a change reaches the controllers late, at most.
const JITTER: Duration = Duration::from_millis(20);

pub(super) type Slice = BTreeMap<usize, State>;

/// The slices of a Service.
pub(super) struct Slices {
    slices: Vec<Slice>,
    rng: StdRng,
}

/// The Endpoints object of a Service.
pub(super) struct Endpoints {
    addresses: Slice,
}

impl Work {
    /// Returns the slices before the first change.
    pub(super) fn slices(&self) -> Slices {
        let (mut slices, mut rng) = (Vec::new(), StdRng::seed_from_u64(1));
        sync(&mut slices, &self.ready(), &mut rng);
        Slices { slices, rng }
    }

    /// Returns the Endpoints object before the first change.
    pub(super) fn endpoints(&self) -> Endpoints {
        Endpoints { addresses: self.ready() }
    }
}

impl Writer for Slices {
    fn sync(&mut self, pods: &Slice) -> (usize, Duration) {
        let writes = sync(&mut self.slices, pods, &mut self.rng);
        (writes, Duration::from_micros((9_000 + 45 * pods.len() + 2_500 * writes) as u64))
    }
}

impl Writer for Endpoints {
    fn sync(&mut self, pods: &Slice) -> (usize, Duration) {
        // Terminating Pods are in no Endpoints object.
        let mut now = pods.clone();
        now.retain(|_, state| *state != State::Terminating);
        let writes = usize::from(now != self.addresses);
        self.addresses = now;
        (writes, Duration::from_micros((10_000 + 30 * pods.len().min(MAX_ADDRESSES)) as u64))
    }
}

/// Returns the number of writes of the modelled controller.
pub(super) fn upstream(work: &Work, mut writer: impl Writer) -> usize {
    let changes = delayed(&work.changes, &mut StdRng::seed_from_u64(1));
    let (mut pods, mut changes) = (work.ready(), changes.into_iter().peekable());
    let (mut writes, mut free) = (0, Duration::ZERO);
    while let Some(first) = changes.peek() {
        let at = first.at.max(free);
        while let Some(change) = changes.next_if(|change| change.at <= at) {
            apply(&mut pods, change);
        }
        let (written, duration) = writer.sync(&pods);
        writes += written;
        free = at + duration;
    }
    writes
}

/// Delays each change by a random time. Those of one Pod keep their order.
pub(super) fn delayed(changes: &[Change], rng: &mut StdRng) -> Vec<Change> {
    let mut last: BTreeMap<usize, Duration> = BTreeMap::new();
    let mut changes = changes.to_vec();
    for change in &mut changes {
        let late = change.at + JITTER.mul_f64(rng.random::<f64>());
        change.at = last.get(&change.pod).map_or(late, |last| late.max(*last));
        last.insert(change.pod, change.at);
    }
    changes.sort_by_key(|change| change.at);
    changes
}

/// Simulates one sync of slices, and returns the number of written ones.
fn sync(slices: &mut Vec<Slice>, pods: &Slice, rng: &mut StdRng) -> usize {
    let mut existing = BTreeSet::new();
    let mut written: Vec<bool> = Vec::with_capacity(slices.len());
    for slice in slices.iter_mut() {
        let before = slice.clone();
        slice.retain(|pod, state| {
            existing.insert(*pod);
            pods.get(pod).map(|now| *state = *now).is_some()
        });
        written.push(*slice != before);
    }
    let mut new: Vec<(usize, State)> =
        pods.iter().filter(|(pod, _)| !existing.contains(pod)).map(|(pod, state)| (*pod, *state)).collect();
    new.shuffle(rng);

    let mut touched: Vec<usize> = (0..slices.len()).filter(|at| written[*at] && !slices[*at].is_empty()).collect();
    touched.sort_by_key(|at| Reverse(slices[*at].len()));
    for at in touched {
        let space = MAX_ENDPOINTS_PER_SLICE - slices[at].len();
        slices[at].extend(new.drain(..space.min(new.len())));
    }
    while !new.is_empty() {
        let left = new.len();
        let fits = |at: &usize| !written[*at] && slices[*at].len() + left <= MAX_ENDPOINTS_PER_SLICE;
        let other = (0..slices.len()).filter(fits).max_by_key(|at| slices[*at].len());
        // Upstream reuses a slice that has become empty, instead of deleting it and creating another one.
        let at = other.or_else(|| slices.iter().position(BTreeMap::is_empty)).unwrap_or_else(|| {
            slices.push(Slice::new());
            written.push(true);
            slices.len() - 1
        });
        let space = MAX_ENDPOINTS_PER_SLICE - slices[at].len();
        slices[at].extend(new.drain(..left.min(space)));
        written[at] = true;
    }
    slices.retain(|slice| !slice.is_empty());
    written.into_iter().filter(|it| *it).count()
}

#[test]
fn lone_changes_are_written_one_by_one() {
    let work = Work::flips("", 300, 100, 10);
    assert_eq!((upstream(&work, work.slices()), upstream(&work, work.endpoints())), (100, 100));
}

/// Measured: 0.73 and 0.79 of the writes of a program that writes each change, in the storm; 0.59 and 0.56 in the recreation.
#[test]
fn as_many_changes_are_combined_as_measured() {
    let (storm, recreation) = (Work::flips("", 60, 1_000, 100), Work::recreation("", 600, 20));
    for (work, measured) in [(storm, [0.73, 0.79]), (recreation, [0.59, 0.56])] {
        let in_endpoints = work.changes.iter().filter(|change| change.state != State::Gone).count();
        let share = |writes: usize, changes: usize| {
            f64::from(u32::try_from(writes).expect("few")) / f64::from(u32::try_from(changes).expect("few"))
        };
        let slices = share(upstream(&work, work.slices()), work.changes.len());
        let endpoints = share(upstream(&work, work.endpoints()), in_endpoints);
        let is_close =
            [slices, endpoints].iter().zip(measured).all(|(share, measured)| (share - measured).abs() < 0.12);
        assert!(is_close, "{slices} and {endpoints} instead of {measured:?}");
    }
}
