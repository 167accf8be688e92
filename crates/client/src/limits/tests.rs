//! The async shell, in paused time.

mod goals;
mod model;

use std::sync::Mutex as StdMutex;

use http::header::RETRY_AFTER;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::RequestPriority::{Addition, Other, Removal};
use super::adaptive::{INITIAL_LIMIT, MAX_PAUSE};
use super::*;
use crate::LimitState;

/// Last state of each priority level.
#[derive(Default)]
struct States(StdMutex<std::collections::BTreeMap<String, (usize, usize, usize)>>);

impl ClientMetrics for States {
    fn limit_changed(&self, state: &LimitState<'_>) {
        let LimitState { priority_level, limit, in_flight, waiting } = *state;
        self.0.lock().unwrap().insert(priority_level.to_owned(), (limit, in_flight, waiting));
    }
}

fn limits() -> (Arc<AdaptiveLimits>, Arc<States>) {
    let states = Arc::new(States::default());
    (Arc::new(AdaptiveLimits::new(states.clone())), states)
}

fn slices() -> Call {
    Call::new("update", "endpointslices.discovery.k8s.io", "shop", "web")
}

fn response(status: StatusCode, level: &str, retry_after: Option<&str>) -> Response<()> {
    let mut response = Response::builder().status(status).header(PRIORITY_LEVEL, level);
    if let Some(seconds) = retry_after {
        response = response.header(RETRY_AFTER, seconds);
    }
    response.body(()).unwrap()
}

async fn permits<'a>(limits: &'a AdaptiveLimits, call: &Call) -> Vec<Permit<'a>> {
    let mut permits = Vec::new();
    for _ in 0..INITIAL_LIMIT {
        permits.push(limits.acquire(call, Other).await.expect("limited"));
    }
    permits
}

#[tokio::test(start_paused = true)]
async fn waiting_requests_are_sent_by_priority() {
    let (limits, states) = limits();
    let call = slices();
    let mut permits = permits(&limits, &call).await;
    let (order, mut tasks) = (Arc::new(StdMutex::new(Vec::new())), JoinSet::new());
    for priority in [Other, Addition, Removal, Removal, Addition] {
        let (limits, order) = (Arc::clone(&limits), Arc::clone(&order));
        tasks.spawn(async move {
            let permit = limits.acquire(&slices(), priority).await.expect("limited");
            order.lock().unwrap().push(priority);
            // Later than the next request can be sent.
            sleep(Duration::from_millis(1)).await;
            permit.finish::<()>(None);
        });
    }
    tokio::task::yield_now().await;
    assert_eq!(states.0.lock().unwrap()[""], (4, 4, 5));
    permits.pop();
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [Removal, Removal, Addition, Addition, Other]);
    drop(permits);
    assert_eq!(states.0.lock().unwrap()[""], (4, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn dropped_requests_free_their_place() {
    let (limits, states) = limits();
    let call = slices();
    let permits = permits(&limits, &call).await;
    let waiting = {
        let mut waiting = Box::pin(limits.acquire(&call, Other));
        assert!(futures::poll!(&mut waiting).is_pending());
        waiting
    };
    assert_eq!(states.0.lock().unwrap()[""], (4, 4, 1));
    // Admitted, but dropped before it is polled again.
    drop(permits);
    drop(waiting);
    assert_eq!(states.0.lock().unwrap()[""], (4, 0, 0));
    let mut next = Box::pin(limits.acquire(&call, Other));
    assert!(futures::poll!(&mut next).is_ready());
}

#[tokio::test(start_paused = true)]
async fn leases_do_not_wait() {
    let (limits, _) = limits();
    let call = slices();
    let permits = permits(&limits, &call).await;
    let lease = Call::new("update", "leases.coordination.k8s.io", "kube-system", "controller");
    assert!(limits.acquire(&lease, Other).await.is_none());
    drop(permits);
}

/// After a 429, other requests of the level wait for `Retry-After`, at most [`MAX_PAUSE`], and then one is sent.
/// Requests of other levels do not wait.
#[tokio::test(start_paused = true)]
async fn a_priority_level_pauses_after_429() {
    let (limits, states) = limits();
    let (call, events) = (slices(), Call::new("create", "events", "shop", "web"));
    for (call, level) in [(&call, "workload-high"), (&events, "workload-low")] {
        let permit = limits.acquire(call, Other).await.expect("limited");
        assert!(!permit.finish(Some(&response(StatusCode::OK, level, None))));
    }
    let rejected = limits.acquire(&call, Other).await.expect("limited");
    let start = Instant::now();
    let waiting = async {
        sleep(Duration::from_millis(1)).await;
        let probe = limits.acquire(&call, Other).await.expect("limited");
        assert_eq!(start.elapsed(), MAX_PAUSE, "of the requested 30 s");
        let mut second = Box::pin(limits.acquire(&call, Other));
        assert!(futures::poll!(&mut second).is_pending(), "one at a time");
        probe.finish(Some(&response(StatusCode::OK, "workload-high", None)));
        assert!(second.await.is_some());
        assert_eq!(start.elapsed(), MAX_PAUSE);
    };
    let other_level = async {
        sleep(Duration::from_millis(1)).await;
        assert!(limits.acquire(&events, Other).await.is_some());
        assert!(start.elapsed() < MAX_PAUSE / 2);
    };
    assert!(
        rejected.finish(Some(&response(StatusCode::TOO_MANY_REQUESTS, "workload-high", Some("30")))),
        "the next attempt waits here"
    );
    tokio::join!(waiting, other_level);
    assert_eq!(states.0.lock().unwrap()["workload-high"], (3, 0, 0));
}

/// The pause begins while a request waits, and nothing is in flight that could wake it.
#[tokio::test(start_paused = true)]
async fn a_request_that_waits_when_a_pause_begins_is_sent_after_it() {
    let (limits, _) = limits();
    let call = slices();
    let permits = permits(&limits, &call).await;
    let start = Instant::now();
    let reject = async {
        for permit in permits {
            permit.finish(Some(&response(StatusCode::TOO_MANY_REQUESTS, "a", Some("1"))));
        }
    };
    let (permit, ()) = tokio::join!(limits.acquire(&call, Other), reject);
    assert!(permit.is_some());
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}
