//! Model of the writes of the upstream EndpointSlice reconciler during a rolling update.
//!
//! The model favours upstream: its cache is never stale, a sync takes no time, and no write fails. It includes the
//! rules that determine the number of writes: a sync starts one batch period after the first change since the previous
//! sync, without a batch period at each change; it writes each slice that lost, gained or changed an endpoint, once (RC-15 to RC-21); new endpoints fill the
//! slices that are written anyway, fullest first, then one other slice with space for all remaining ones, then new
//! slices. New endpoints are assigned in random order, like the iteration order of Go's maps.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
    time::Duration,
};

use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use serde::Serialize;

/// Maximum number of endpoints per slice (Go: the default of `--max-endpoints-per-slice`).
const MAX_ENDPOINTS_PER_SLICE: usize = 100;

/// Parameters of a rolling update, in which every Pod of a Service is replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rollout {
    pub(crate) pods: usize,
    /// Replaced Pods per second.
    pub(crate) rate: NonZeroU32,
    /// Time from the deletion of a Pod to its removal.
    pub(crate) grace: Duration,
    pub(crate) batch_period: Duration,
    pub(crate) seed: u64,
}

/// Modelled syncs and writes of upstream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Upstream {
    pub(crate) syncs: u64,
    /// Creates, updates and deletes of slices.
    pub(crate) writes: u64,
    /// Total number of endpoints in the written slices.
    pub(crate) endpoints: u64,
    /// Estimated total size of the written slices in bytes.
    pub(crate) bytes: u64,
}

/// State of a Pod in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndpointState {
    Ready,
    Terminating,
}

type Slice = BTreeMap<usize, EndpointState>;

/// Simulates the update. `length` is the average encoded size of an endpoint in bytes.
pub(crate) fn upstream(rollout: &Rollout, length: u64) -> Upstream {
    let mut rng = StdRng::seed_from_u64(rollout.seed);
    let mut pods: Slice = (0..rollout.pods).map(|pod| (pod, EndpointState::Ready)).collect();
    let mut slices = Vec::new();
    sync(&mut slices, &pods, &mut rng);
    let events = events(rollout);
    let mut total = Upstream::default();
    let mut next = 0;
    while let Some((first, _, _)) = events.get(next) {
        let at = *first + rollout.batch_period;
        let batch = events[next..].iter().take_while(|(time, _, _)| *time <= at).count();
        let batch = if rollout.batch_period.is_zero() { 1 } else { batch };
        for (_, pod, state) in &events[next..next + batch] {
            match state {
                Some(state) => drop(pods.insert(*pod, *state)),
                None => drop(pods.remove(pod)),
            }
        }
        next += batch;
        let (writes, endpoints) = sync(&mut slices, &pods, &mut rng);
        total.syncs += 1;
        total.writes += writes;
        total.endpoints += endpoints;
    }
    Upstream { bytes: total.endpoints * length, ..total }
}

/// Returns time, Pod and new state of each event, in order of time: each Pod gets a ready successor and is deleted at
/// the same time, and is removed (`None`) after the grace period.
fn events(rollout: &Rollout) -> Vec<(Duration, usize, Option<EndpointState>)> {
    let mut events = Vec::with_capacity(rollout.pods * 3);
    for pod in 0..rollout.pods {
        let at = Duration::from_secs(1).saturating_mul(u32::try_from(pod).unwrap_or(u32::MAX)) / rollout.rate.get();
        events.push((at, rollout.pods + pod, Some(EndpointState::Ready)));
        events.push((at, pod, Some(EndpointState::Terminating)));
        events.push((at + rollout.grace, pod, None));
    }
    events.sort_by_key(|(at, _, _)| *at);
    events
}

/// Simulates one sync. Returns the number of written slices and the number of endpoints in them.
fn sync(slices: &mut Vec<Slice>, pods: &Slice, rng: &mut StdRng) -> (u64, u64) {
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
    let mut new: Vec<(usize, EndpointState)> =
        pods.iter().filter(|(pod, _)| !existing.contains(pod)).map(|(pod, state)| (*pod, *state)).collect();
    new.shuffle(rng);

    let mut touched: Vec<usize> = (0..slices.len()).filter(|at| written[*at] && !slices[*at].is_empty()).collect();
    touched.sort_by_key(|at| std::cmp::Reverse(slices[*at].len()));
    for at in touched {
        let space = MAX_ENDPOINTS_PER_SLICE - slices[at].len();
        slices[at].extend(new.drain(..space.min(new.len())));
    }
    while !new.is_empty() {
        let left = new.len();
        let fits = |at: &usize| !written[*at] && slices[*at].len() + left <= MAX_ENDPOINTS_PER_SLICE;
        let other = (0..slices.len())
            .filter(|_| left < MAX_ENDPOINTS_PER_SLICE)
            .filter(fits)
            .max_by_key(|at| slices[*at].len());
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
    let count = written.iter().filter(|it| **it).count() as u64;
    let endpoints = slices.iter().zip(&written).filter(|(_, it)| **it).map(|(slice, _)| slice.len() as u64).sum();
    slices.retain(|slice| !slice.is_empty());
    (count, endpoints)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn ready(pods: impl IntoIterator<Item = usize>) -> Slice {
        pods.into_iter().map(|pod| (pod, EndpointState::Ready)).collect()
    }

    #[rstest]
    #[case::nothing_new(vec![100, 50], 0..150, (0, 0))]
    #[case::one_goes(vec![100, 50], 1..150, (1, 99))]
    #[case::one_comes(vec![100, 50], 0..151, (1, 51))]
    #[case::more_than_fit(vec![100, 50], 0..220, (1, 70))]
    #[case::one_goes_and_one_comes(vec![100, 50], 1..151, (1, 100))]
    #[case::a_slice_goes(vec![100, 50], 100..150, (1, 0))]
    #[case::a_slice_goes_and_another_is_filled(vec![100, 50], 100..200, (2, 100))]
    #[case::a_slice_is_used_again(vec![100, 50], 100..230, (1, 80))]
    fn sync_writes_changed_slices(
        #[case] full: Vec<usize>,
        #[case] pods: std::ops::Range<usize>,
        #[case] expect: (u64, u64),
    ) {
        let mut at = 0;
        let mut slices: Vec<Slice> = Vec::new();
        for length in full {
            slices.push(ready(at..at + length));
            at += length;
        }
        let pods = ready(pods);
        assert_eq!(sync(&mut slices, &pods, &mut StdRng::seed_from_u64(1)), expect);
        let all: Slice = slices.iter().flatten().map(|(pod, state)| (*pod, *state)).collect();
        assert_eq!(all, pods);
        assert!(slices.iter().all(|slice| (1..=MAX_ENDPOINTS_PER_SLICE).contains(&slice.len())));
    }

    #[rstest]
    #[case::one_slice(60)]
    #[case::several_slices(300)]
    fn each_change_is_written_without_a_batch_period(#[case] pods: usize) {
        let rollout = Rollout {
            pods,
            rate: NonZeroU32::new(100).unwrap(),
            grace: Duration::from_secs(1),
            batch_period: Duration::ZERO,
            seed: 1,
        };
        let modelled = upstream(&rollout, 10);
        assert_eq!((modelled.syncs, modelled.writes), (pods as u64 * 3, pods as u64 * 3));
    }

    /// The bound of adaptive batching in a large Service, whose removals are written five times per second: 100 replaced
    /// Pods per second then change more than half of its slices each time.
    #[test]
    fn five_syncs_per_second_save_half_of_the_writes_of_5000_pods() {
        let rollout = Rollout {
            pods: 5_000,
            rate: NonZeroU32::new(100).unwrap(),
            grace: Duration::from_secs(1),
            batch_period: Duration::from_millis(200),
            seed: 1,
        };
        let modelled = upstream(&rollout, 10);
        assert!((6_000..7_500).contains(&modelled.writes), "of 15,000 changes: {modelled:?}");
    }

    #[test]
    fn rolling_update_is_modelled_completely() {
        let rollout = Rollout {
            pods: 300,
            rate: NonZeroU32::new(100).unwrap(),
            grace: Duration::from_secs(1),
            batch_period: Duration::from_millis(500),
            seed: 1,
        };
        let modelled = upstream(&rollout, 10);
        // Changes occur from 0 s to 3.99 s; each sync starts 0.5 s after the first change since the previous one.
        assert!((7..=8).contains(&modelled.syncs), "{modelled:?}");
        assert!(modelled.writes >= modelled.syncs && modelled.endpoints <= modelled.writes * 100, "{modelled:?}");
        assert_eq!(modelled.bytes, modelled.endpoints * 10);
        assert_eq!(modelled, upstream(&rollout, 10));
    }
}
