//! The async shell, in paused time.

use std::sync::Mutex as StdMutex;

use http::header::RETRY_AFTER;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::RequestPriority::{Addition, Other, Removal};
use super::adaptive::INITIAL_LIMIT;
use super::*;
use crate::LimitState;

#[derive(Default)]
struct LastState(StdMutex<(usize, usize, usize)>);

impl LastState {
    fn get(&self) -> (usize, usize, usize) {
        *self.0.lock().unwrap()
    }
}

impl ClientMetrics for LastState {
    fn limit_changed(&self, LimitState { limit, in_flight, waiting }: LimitState) {
        *self.0.lock().unwrap() = (limit, in_flight, waiting);
    }
}

fn limits() -> (Arc<AdaptiveLimits>, Arc<LastState>) {
    let state = Arc::new(LastState::default());
    (Arc::new(AdaptiveLimits::new(state.clone())), state)
}

fn slices() -> Call {
    Call::new("update", "endpointslices.discovery.k8s.io", "shop", "web")
}

fn rejection(retry_after: &str) -> Response<()> {
    let response = Response::builder().status(StatusCode::TOO_MANY_REQUESTS).header(RETRY_AFTER, retry_after);
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
    let (limits, state) = limits();
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
    assert_eq!(state.get(), (4, 4, 5));
    permits.pop();
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [Removal, Removal, Addition, Addition, Other]);
    drop(permits);
    assert_eq!(state.get(), (4, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn dropped_requests_free_their_place() {
    let (limits, state) = limits();
    let call = slices();
    let permits = permits(&limits, &call).await;
    let waiting = {
        let mut waiting = Box::pin(limits.acquire(&call, Other));
        assert!(futures::poll!(&mut waiting).is_pending());
        waiting
    };
    assert_eq!(state.get(), (4, 4, 1));
    // Admitted, but dropped before it is polled again.
    drop(permits);
    drop(waiting);
    assert_eq!(state.get(), (4, 0, 0));
    let mut next = Box::pin(limits.acquire(&call, Other));
    assert!(futures::poll!(&mut next).is_ready());
}

#[tokio::test(start_paused = true)]
async fn leases_and_events_do_not_wait() {
    let (limits, _) = limits();
    let permits = permits(&limits, &slices()).await;
    for (verb, resource) in [("update", "leases.coordination.k8s.io"), ("create", "events")] {
        assert!(limits.acquire(&Call::new(verb, resource, "shop", "web"), Other).await.is_none());
    }
    drop(permits);
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
            permit.finish(Some(&rejection("1")));
        }
    };
    let (permit, ()) = tokio::join!(limits.acquire(&call, Other), reject);
    assert!(permit.is_some());
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}

/// Of four requests, one is rejected, a probe is sent, another one is rejected, the probe is served, and two hang.
#[tokio::test(start_paused = true)]
async fn requests_that_hang_do_not_prevent_the_probe_after_a_second_429() {
    let (limits, state) = limits();
    let call = slices();
    let mut permits = permits(&limits, &call).await;
    let second = Duration::from_secs(1);
    sleep(second).await;
    permits.pop().expect("a request").finish(Some(&rejection("0")));
    let probe = limits.acquire(&call, Other).await.expect("limited");
    sleep(second).await;
    permits.pop().expect("a request").finish(Some(&rejection("0")));
    probe.finish(Some(&Response::new(())));
    assert_eq!(state.get(), (3, 2, 0));
    let next = tokio::time::timeout(second, limits.acquire(&call, Other)).await;
    assert!(next.is_ok(), "two requests hang, the limit is three");
}

/// The first probe waits for a webhook; the second fails because of one.
#[tokio::test(start_paused = true)]
async fn a_probe_that_hangs_does_not_hold_up_others() {
    let (limits, state) = limits();
    let call = slices();
    limits.acquire(&call, Other).await.expect("limited").finish(Some(&rejection("0")));
    let start = Instant::now();
    let _hangs = limits.acquire(&call, Other).await.expect("limited");
    let (mut second, mut third) = (pin!(limits.acquire(&call, Other)), pin!(limits.acquire(&call, Other)));
    assert!(futures::poll!(&mut second).is_pending() && futures::poll!(&mut third).is_pending());
    let minute = Duration::from_secs(60);
    let failed = tokio::time::timeout(minute, &mut second).await.expect("admitted").expect("limited");
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert!(futures::poll!(&mut third).is_pending(), "one at a time");
    let error = Response::builder().status(StatusCode::INTERNAL_SERVER_ERROR).body(()).unwrap();
    failed.finish(Some(&error));
    let _third = tokio::time::timeout(minute, third).await.expect("admitted");
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert_eq!(state.get(), (2, 2, 0));
}
