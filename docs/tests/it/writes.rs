//! The table of writes in the book: those of kube-controller-manager by a model, and those of `Controller` with its default
//! pace, without a batch period. `UPDATE_DOCS=1` writes it.

mod upstream;

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{Action, Controller, Metrics, Urgency};
use kube_endpoints_testing::book::assert_table;
use kube_workqueue::Queue;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use self::upstream::{Slice, delayed, upstream};

/// Time from the deletion of a Pod to its removal.
const GRACE: Duration = Duration::from_secs(1);
/// Time of a sync of ours with its writes.
const SYNC: Duration = Duration::from_millis(2);

/// State of a Pod for its Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    NotReady,
    Terminating,
    Gone,
}

/// New state of a Pod.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Duration,
    pod: usize,
    state: State,
}

/// Changes of the Pods of one Service.
struct Work {
    title: &'static str,
    /// Number of ready Pods before the first change.
    pods: usize,
    /// In order of time.
    changes: Vec<Change>,
}

/// A controller for one Service, reduced to what it writes.
trait Writer: Send + 'static {
    /// Writes what follows from the Pods. Returns the number of writes, and how long such a sync takes upstream.
    fn sync(&mut self, pods: &Slice) -> (usize, Duration);
}

impl Work {
    /// Makes `count` groups of changes, `rate` of them a second. The times of `changes` count from that of their group.
    fn new(
        title: &'static str,
        pods: usize,
        count: usize,
        rate: usize,
        changes: impl Fn(usize) -> Vec<(Duration, usize, State)>,
    ) -> Self {
        let start = |group: usize| Duration::from_micros((group * 1_000_000 / rate) as u64);
        let group = |group| {
            changes(group).into_iter().map(move |(after, pod, state)| Change { at: start(group) + after, pod, state })
        };
        let mut changes: Vec<Change> = (0..count).flat_map(group).collect();
        changes.sort_by_key(|change| change.at);
        Self { title, pods, changes }
    }

    /// Pods become not ready in turn, and ready again in the next round.
    fn flips(title: &'static str, pods: usize, flips: usize, rate: usize) -> Self {
        let state = move |flip: usize| if flip / pods % 2 == 1 { State::Ready } else { State::NotReady };
        Self::new(title, pods, flips, rate, |flip| vec![(Duration::ZERO, flip % pods, state(flip))])
    }

    /// Every Pod gets a ready successor, and is deleted at the same time.
    fn rolling_update(title: &'static str, pods: usize, rate: usize) -> Self {
        Self::new(title, pods, pods, rate, |pod| {
            vec![
                (Duration::ZERO, pods + pod, State::Ready),
                (Duration::ZERO, pod, State::Terminating),
                (GRACE, pod, State::Gone),
            ]
        })
    }

    /// Every Pod is deleted. Its successor appears when it is gone, and is ready after the same time.
    fn recreation(title: &'static str, pods: usize, rate: usize) -> Self {
        Self::new(title, pods, pods, rate, |pod| {
            vec![
                (Duration::ZERO, pod, State::Terminating),
                (GRACE, pod, State::Gone),
                (GRACE, pods + pod, State::NotReady),
                (2 * GRACE, pods + pod, State::Ready),
            ]
        })
    }

    fn ready(&self) -> Slice {
        (0..self.pods).map(|pod| (pod, State::Ready)).collect()
    }
}

fn apply(pods: &mut Slice, change: Change) {
    match change.state {
        State::Gone => pods.remove(&change.pod),
        state => pods.insert(change.pod, state),
    };
}

/// Returns the number of writes of a [`Controller`] that syncs at its default pace.
fn ours(work: &Work, writer: impl Writer) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let (pods, writes) = (Arc::new(Mutex::new(work.ready())), Arc::new(Mutex::new(0)));
        let controller = Controller::builder("example", Queue::builder().name("example"), Metrics::default());
        let keys = controller.enqueuer(Some("changes"));
        let (writer, now, count, pace) = (Arc::new(Mutex::new(writer)), pods.clone(), writes.clone(), keys.clone());
        let controller = controller.build(move |key: String| {
            let (written, interval) = writer.lock().expect("no panic").sync(&now.lock().expect("no panic"));
            *count.lock().expect("no panic") += written;
            let pace = pace.clone();
            async move {
                sleep(SYNC).await;
                pace.set_interval(&key, interval);
                Ok::<_, Infallible>(Action::await_change())
            }
        });
        let stop = CancellationToken::new();
        let change = async {
            let start = Instant::now();
            for change in delayed(&work.changes, &mut StdRng::seed_from_u64(1)) {
                sleep_until(start + change.at).await;
                apply(&mut pods.lock().expect("no panic"), change);
                let urgency = if change.state == State::Ready { Urgency::Normal } else { Urgency::High };
                keys.add_change("web".to_owned(), urgency);
            }
            sleep(Duration::from_secs(5)).await;
            stop.cancel();
        };
        tokio::join!(controller.run(stop.clone()), change).0.expect("there is no cache");
        *writes.lock().expect("no panic")
    })
}

fn works() -> [Work; 7] {
    [
        Work::flips("1,000 changes of readiness of 60 Pods, 100 a second", 60, 1_000, 100),
        Work::rolling_update("rolling update of 60 Pods, 100 a second", 60, 100),
        Work::rolling_update("rolling update of 5,000 Pods, 100 a second", 5_000, 100),
        Work::recreation("recreation of 600 Pods, 20 a second", 600, 20),
        Work::recreation("the same, 60 a second", 600, 60),
        Work::flips("2,000 Pods become not ready within 2 s", 2_000, 2_000, 1_000),
        Work::flips("the same within 0.1 s", 2_000, 2_000, 20_000),
    ]
}

#[test]
fn there_are_at_most_a_tenth_more_writes_than_upstream_sends() {
    let mut table =
        "| Changes of the Pods of one Service | Go, model | ours | ours / Go |\n|---|---:|---:|---:|\n".to_owned();
    for work in works() {
        let go = [upstream(&work, work.slices()), upstream(&work, work.endpoints())];
        let ours = [ours(&work, work.slices()), ours(&work, work.endpoints())];
        let (all, of) = (ours.iter().sum::<usize>(), go.iter().sum::<usize>());
        assert!(all * 10 <= of * 11, "{}: {ours:?} instead of {go:?}", work.title);
        let percent = (all * 100).div_ceil(of);
        let ([slices, endpoints], [our_slices, our_endpoints], title) = (go, ours, work.title);
        let ratio = format!("{}.{:02}", percent / 100, percent % 100);
        writeln!(table, "| {title} | {slices} + {endpoints} | {our_slices} + {our_endpoints} | {ratio} |")
            .expect("a String");
    }
    assert_table("scale", "writes", &table);
}
