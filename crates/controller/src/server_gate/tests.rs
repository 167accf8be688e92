//! Controllers at a gate, in paused time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use kube_informer::NeverSynced;
use kube_workqueue::{Queue, endpoint_slice_limiter};
use rstest::rstest;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::enqueuer::Enqueuer;
use crate::{Controller, Metrics, Outcome, Urgency};

/// Why the server fails a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no")]
struct No(FailureCause);

fn cause(error: &(dyn std::error::Error + 'static)) -> FailureCause {
    error.downcast_ref().map_or(FailureCause::Key, |No(cause)| *cause)
}

type Fails = dyn Fn(&str, Duration) -> Option<FailureCause> + Send + Sync;

/// A server whose writes of a key fail with the cause that the function returns; each takes 5 ms, or 30 s in the
/// namespace `slow`. Keys of the namespace `unchanged` have nothing to write.
struct Server {
    fails: Box<Fails>,
    start: Instant,
    attempts: Mutex<Vec<(Duration, String, bool)>>,
}

#[derive(Default)]
struct Exhausted(AtomicBool);

impl ControllerMetrics for Exhausted {
    fn retries_exhausted(&self) {
        self.0.store(true, Relaxed);
    }
}

/// Two controllers with five workers each and a shared gate.
struct Rig {
    server: Arc<Server>,
    keys: [Enqueuer<String>; 2],
    gate: ServerGate,
    exhausted: Arc<Exhausted>,
    _tasks: JoinSet<Result<(), NeverSynced>>,
}

impl Rig {
    fn new(fails: impl Fn(&str, Duration) -> Option<FailureCause> + Send + Sync + 'static) -> Rig {
        let server = Arc::new(Server { fails: Box::new(fails), start: Instant::now(), attempts: Mutex::default() });
        let (gate, exhausted, mut tasks) = (ServerGate::default(), Arc::new(Exhausted::default()), JoinSet::new());
        let keys = ["endpoints", "slices"].map(|name| {
            let metrics = Metrics { queue: None, controller: Some(exhausted.clone()) };
            let builder = Controller::builder(name, Queue::builder().limiter(endpoint_slice_limiter()), metrics);
            let builder = builder.concurrency(5).failure_cause(cause);
            let keys = builder.enqueuer(Some("pods"));
            let server = Arc::clone(&server);
            let sync = move |key: String| {
                let server = Arc::clone(&server);
                async move {
                    let is_slow = key.starts_with("slow");
                    sleep(if is_slow { seconds(30) } else { Duration::from_millis(5) }).await;
                    let at = server.start.elapsed();
                    let failed = (server.fails)(&key, at);
                    locked(&server.attempts).push((at, key.clone(), failed.is_none()));
                    let done = if key.starts_with("unchanged") { Outcome::Unchanged } else { Outcome::Written };
                    failed.map_or(Ok(done), |cause| Err(No(cause)))
                }
            };
            tasks.spawn(builder.build(sync).server_gate(gate.clone()).run(CancellationToken::new()));
            keys
        });
        Rig { server, keys, gate, exhausted, _tasks: tasks }
    }

    fn attempts(&self) -> Vec<(Duration, String, bool)> {
        locked(&self.server.attempts).clone()
    }

    /// Checks that 60 removals were written before 600 other keys.
    fn assert_removals_first(&self) {
        let attempts = self.attempts();
        let written: Vec<&str> =
            attempts.iter().filter(|(_, _, written)| *written).map(|(_, key, _)| key.as_str()).collect();
        assert_eq!(written.len(), 660);
        // The probe, and the keys that failed before the gate closed, are any keys.
        let late = written.iter().position(|key| key.contains("web")).expect("an addition");
        let removals = written[..60 + 10].iter().filter(|key| key.contains("removal")).count();
        assert!(removals == 60, "{removals} removals first, an addition at {late}");
    }

    async fn until(&self, at: Duration) {
        sleep_until(self.server.start + at).await;
    }
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// 600 Services change at the start of an outage of 1 s to 2 h.
#[rstest::rstest]
#[tokio::test(start_paused = true)]
async fn keys_are_synced_within_seconds_after_an_outage(
    #[values(FailureCause::Server, FailureCause::Unreachable)] cause: FailureCause,
    #[values(1, 30, 7_200)] outage: u64,
) {
    let rig = Rig::new(move |_, at| (at < seconds(outage)).then_some(cause));
    for key in 0..600 {
        rig.keys.iter().for_each(|keys| keys.add(format!("default/web-{key}")));
    }
    rig.until(seconds(outage)).await;
    let failed = rig.attempts().len() as u64;
    assert!(failed <= 20 + 2 * outage, "{failed} attempts in {outage} s");
    assert!(rig.gate.is_closed());
    // At most 5 s until a probe, then ten workers with 5 ms for each of 1,200 keys.
    rig.until(seconds(outage + 7)).await;
    let written = rig.attempts().iter().filter(|(_, _, written)| *written).count();
    assert_eq!(written, 1_200);
    assert!(!rig.exhausted.0.load(Relaxed) && !rig.gate.is_closed());
}

#[tokio::test(start_paused = true)]
async fn removals_are_written_first_after_an_outage() {
    let rig = Rig::new(|_, at| (at < seconds(30)).then_some(FailureCause::Server));
    for key in 0..600 {
        rig.keys[0].add_change(format!("default/web-{key}"), Urgency::Normal);
        if key % 10 == 0 {
            rig.keys[0].add_change(format!("default/removal-{key}"), Urgency::High);
        }
    }
    rig.until(seconds(40)).await;
    rig.assert_removals_first();
}

/// The retry of a conflict is due during the outage.
#[tokio::test(start_paused = true)]
async fn removals_that_failed_by_themselves_before_an_outage_are_written_first_after_it() {
    let begin = Duration::from_millis(500);
    let rig = Rig::new(move |_, at| match at {
        _ if at < begin => Some(FailureCause::Key),
        _ if at < seconds(30) => Some(FailureCause::Server),
        _ => None,
    });
    for key in 0..60 {
        rig.keys[0].add_change(format!("default/removal-{key}"), Urgency::High);
    }
    rig.until(begin).await;
    for key in 0..600 {
        rig.keys[0].add_change(format!("default/web-{key}"), Urgency::Normal);
    }
    rig.until(seconds(40)).await;
    rig.assert_removals_first();
}

/// Keys of one namespace fail, as behind a webhook that is down. Other keys are written, one every 100 ms.
#[tokio::test(start_paused = true)]
async fn a_namespace_that_fails_does_not_hold_up_the_others() {
    let rig = Rig::new(|key, _| key.starts_with("bad").then_some(FailureCause::Server));
    for key in 0..300 {
        rig.keys[0].add(format!("bad/web-{key}"));
    }
    let mut added = BTreeMap::new();
    for number in 0..600 {
        rig.until(Duration::from_millis(number * 100)).await;
        let key = format!("good/web-{number}");
        rig.keys[1].add(key.clone());
        added.insert(key, rig.server.start.elapsed());
    }
    rig.until(seconds(70)).await;
    let attempts = rig.attempts();
    let latencies: Vec<Duration> = attempts
        .iter()
        .filter(|it| it.1.starts_with("good"))
        .map(|(at, key, _)| at.saturating_sub(added[key]))
        .collect();
    assert_eq!(latencies.len(), 600, "each is written by its first sync");
    let slow = latencies.iter().filter(|latency| **latency > Duration::from_millis(10)).count();
    // Those of 0.6 s each time that the gate closed, after 3, 3, 6, 12, 24, 48 … failing keys.
    assert!(slow <= 60, "{slow} waited");
    // A probe of the other namespace after 0.1 s, one of this key 0.5 s and its turn of 20 ms later, and three syncs.
    assert!(latencies.iter().max() <= Some(&Duration::from_millis(640)), "{:?}", latencies.iter().max());
    let bad = attempts.len() - latencies.len();
    // Each in its own back-off: 0, 1, 3, 7, 15, 31, 63 s, and once or twice more when the gate opened.
    assert!(bad <= 300 * 9, "{bad} attempts");
    assert!(!rig.exhausted.0.load(Relaxed));
}

/// A webhook of one namespace does not answer, and its writes fail after 30 s.
#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_does_not_hold_up_the_others() {
    let rig = Rig::new(|key, _| key.starts_with("slow").then_some(FailureCause::Server));
    for key in 0..100 {
        rig.keys[0].add(format!("slow/web-{key}"));
    }
    rig.until(seconds(45)).await;
    assert!(rig.gate.is_closed());
    rig.keys[1].add("good/web".to_owned());
    rig.until(seconds(48)).await;
    assert!(rig.attempts().iter().any(|(_, key, written)| key == "good/web" && *written));
}

#[tokio::test(start_paused = true)]
async fn a_lone_key_that_the_server_fails_closes_nothing_and_is_retried_without_end() {
    let rig = Rig::new(|key, _| (key == "default/broken").then_some(FailureCause::Server));
    rig.keys[0].add("default/broken".to_owned());
    rig.until(seconds(3_600)).await;
    assert!(!rig.gate.is_closed() && !rig.exhausted.0.load(Relaxed));
    let attempts = rig.attempts().len();
    assert!((60..=70).contains(&attempts), "every minute: {attempts}");
    rig.keys[1].add("default/web".to_owned());
    sleep(Duration::from_millis(10)).await;
    assert_eq!(rig.attempts().last().map(|it| it.2), Some(true));
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_another_request_ends_the_wait() {
    let rig = Rig::new(|_, at| (at < seconds(60)).then_some(FailureCause::Unreachable));
    rig.keys[0].add("default/web".to_owned());
    rig.until(seconds(60) + Duration::from_millis(50)).await;
    rig.gate.server_answered();
    sleep(Duration::from_millis(50)).await;
    assert!(!rig.gate.is_closed());
}

/// A quota refuses the keys while the gate is closed: the next ones are tried at once.
#[tokio::test(start_paused = true)]
async fn refusals_do_not_keep_the_gate_closed() {
    let rig = Rig::new(|key, at| {
        let refused = key.starts_with("full").then_some(FailureCause::Key);
        if at < seconds(30) { Some(FailureCause::Server) } else { refused }
    });
    for key in 0..100 {
        rig.keys[0].add(format!("full/web-{key}"));
    }
    rig.keys[1].add("default/web".to_owned());
    rig.until(seconds(37)).await;
    assert!(!rig.gate.is_closed());
    assert!(rig.attempts().iter().any(|(_, key, written)| key == "default/web" && *written));
}

/// Keys of one controller wait, and the only key of the other one has nothing to write.
#[tokio::test(start_paused = true)]
async fn a_key_without_a_write_does_not_open_the_gate_for_the_keys_of_another_controller() {
    let rig = Rig::new(|key, at| (key.starts_with("default") && at < seconds(60)).then_some(FailureCause::Server));
    for key in 0..3 {
        rig.keys[0].add(format!("default/web-{key}"));
    }
    rig.until(Duration::from_millis(50)).await;
    assert!(rig.gate.is_closed());
    rig.keys[1].add("unchanged/web".to_owned());
    rig.until(Duration::from_millis(500)).await;
    let attempts: Vec<String> = rig.attempts().into_iter().skip(3).map(|(_, key, _)| key).collect();
    assert_eq!(attempts.len(), 2, "the key, and at once one that failed: {attempts:?}");
    assert_eq!(attempts[0], "unchanged/web");
    rig.until(seconds(59)).await;
    assert!(rig.gate.is_closed());
    rig.until(seconds(66)).await;
    assert!(!rig.gate.is_closed());
    assert_eq!(rig.attempts().iter().filter(|(_, key, written)| key.starts_with("default") && *written).count(), 3);
}

/// Keys that have nothing to write change faster than they are probed one at a time.
#[tokio::test(start_paused = true)]
async fn keys_without_a_write_do_not_keep_the_gate_closed() {
    let rig = Rig::new(|key, at| (key.starts_with("default") && at < seconds(30)).then_some(FailureCause::Server));
    for key in 0..3 {
        rig.keys[0].add(format!("default/web-{key}"));
    }
    for change in 0..15_000_u64 {
        rig.until(Duration::from_millis(50 + 4 * change)).await;
        rig.keys[1].add(format!("unchanged/web-{change}"));
    }
    assert!(!rig.gate.is_closed());
    assert_eq!(rig.attempts().iter().filter(|(_, key, written)| key.starts_with("default") && *written).count(), 3);
}

/// A controller whose key another thread releases before it becomes the probe.
#[derive(Default)]
struct Released {
    parked: Mutex<Parked<&'static str>>,
    probes: AtomicUsize,
}

impl Waiting for Released {
    fn is_fresh(&self) -> Option<bool> {
        locked(&self.parked).is_fresh()
    }

    fn rank(&self, again: bool) -> Option<Rank> {
        locked(&self.parked).rank(again)
    }

    fn probe(&self, _: bool) -> bool {
        self.probes.fetch_add(1, Relaxed);
        false
    }

    fn release(&self) {}
}

fn close(gate: &ServerGate) {
    assert!(locked(&gate.0.state).failed(0, FailureCause::Unreachable, false, Instant::now()));
}

#[test]
fn a_probe_whose_key_was_released_is_followed_by_another() {
    let (gate, released) = (ServerGate::default(), Arc::new(Released::default()));
    locked(&released.parked).add("web", false, false);
    let member: Arc<dyn Waiting> = released.clone();
    locked(&gate.0.members).push(Arc::downgrade(&member));
    close(&gate);
    let due = Instant::now() + seconds(1);
    let next = [gate.probe(due), gate.probe(due)];
    assert_eq!(released.probes.load(Relaxed), 2);
    assert_eq!(next, [Some(due); 2]);
}

fn member(gate: &ServerGate, metrics: Option<Arc<dyn ControllerMetrics>>) -> Arc<Member<&'static str>> {
    let (queue, _) = Queue::builder().build();
    Member::new(gate.clone(), queue, Removals::default(), metrics)
}

#[tokio::test(start_paused = true)]
async fn the_probe_of_a_controller_that_ends_is_followed_by_one_of_another_controller() {
    let gate = ServerGate::default();
    let (stopped, other) = (member(&gate, None), member(&gate, None));
    close(&gate);
    assert_eq!(stopped.admit(&"removal", true), Admission::Waits);
    assert_eq!(other.admit(&"web", false), Admission::Waits);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { gate.run().await });
    sleep(seconds(1)).await;
    assert_eq!((stopped.queue.len(), other.queue.len()), (1, 0));
    drop(stopped);
    sleep(seconds(60)).await;
    assert_eq!(other.queue.len(), 1);
}

/// A gauge in place of which the gate opens, as another thread might open it, unless the parked keys are locked.
#[derive(Default)]
struct Racing {
    member: Mutex<Weak<Member<&'static str>>>,
    waiting: AtomicUsize,
    /// Keys in the queue at the last change of the gauge.
    queued: AtomicUsize,
}

impl ControllerMetrics for Racing {
    fn waiting_for_server(&self, keys: usize) {
        let member = locked(&self.member).upgrade();
        self.queued.store(member.as_ref().map_or(0, |it| it.queue.len()), Relaxed);
        if let Some(member) = member.filter(|it| keys > 0 && it.parked.try_lock().is_ok()) {
            member.release();
        }
        self.waiting.store(keys, Relaxed);
    }
}

#[test]
fn the_gauge_of_waiting_keys_is_not_older_than_the_keys() {
    let (gate, racing) = (ServerGate::default(), Arc::new(Racing::default()));
    let member = member(&gate, Some(racing.clone()));
    *locked(&racing.member) = Arc::downgrade(&member);
    close(&gate);
    assert_eq!(member.admit(&"web", false), Admission::Waits);
    let waiting = || locked(&member.parked).len();
    assert_eq!(racing.waiting.load(Relaxed), waiting());
    member.release();
    assert_eq!((racing.waiting.load(Relaxed), waiting()), (0, 0));
}

#[rstest]
#[case::all_keys(|member: &dyn Waiting| member.release())]
#[case::the_probe(|member: &dyn Waiting| assert!(member.probe(false)))]
fn a_key_that_no_longer_waits_is_queued(#[case] end: fn(&dyn Waiting)) {
    let (gate, racing) = (ServerGate::default(), Arc::new(Racing::default()));
    let member = member(&gate, Some(racing.clone()));
    close(&gate);
    assert_eq!(member.admit(&"web", false), Admission::Waits);
    *locked(&racing.member) = Arc::downgrade(&member);
    end(&*member);
    assert_eq!((racing.waiting.load(Relaxed), racing.queued.load(Relaxed)), (0, 1));
}
