//! Gate of the writes of a controller.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube_controller_client::WriteGate;
use kube_lease_election::Fence;
use tokio::sync::watch;
use tokio::time::Instant;

/// Time for which the gate of a controller without leader election is open: longer than any process runs.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Gate that is open while this process leads, and always without leader election. Returned by
/// [`Controller::gate`](crate::Controller::gate); clones share the state.
///
/// The [client of the controller](crate::Controller::client) passes it already. Other writes pass it by these calls:
///
/// - a [`Client`](kube_controller_client::Client) of another cluster: `client.gated(Arc::new(gate))`;
/// - writes to anything else, such as a load balancer: start them only if [`open_until`](WriteGate::open_until) is
///   `Some`, with that time as the deadline of the request.
///
/// Without the deadline, a slow write could arrive after another instance has taken the Lease: see
/// [Guarantees of the fence](kube_lease_election#guarantees-of-the-fence). The gate follows calls of
/// [`with_leader_election`](crate::Controller::with_leader_election) after it was taken.
#[derive(Clone)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Debug)]
enum State {
    /// Without leader election.
    Open,
    /// With leader election, before it runs.
    Closed,
    Elected(Fence),
}

impl Gate {
    pub(crate) fn new() -> Self {
        Gate(Arc::new(watch::Sender::new(State::Open)))
    }

    /// Closes the gate until [`lead`](Self::lead).
    pub(crate) fn close(&self) {
        self.0.send_replace(State::Closed);
    }

    pub(crate) fn lead(&self, fence: Fence) {
        self.0.send_replace(State::Elected(fence));
    }

    /// Waits until the gate is open: until this process leads, or not at all without leader election. Returns `false` if
    /// the election has ended. The counterpart of `Manager.Elected` of controller-runtime.
    ///
    /// The election of a standby ends after its tasks, so a [task](crate::Controller::task) waits with
    /// `stop.run_until_cancelled(gate.wait_until_open())`.
    pub async fn wait_until_open(&self) -> bool {
        let mut state = self.0.subscribe();
        let fence = match state.wait_for(|state| !matches!(state, State::Closed)).await.as_deref() {
            Ok(State::Elected(fence)) => Some(fence.clone()),
            Ok(State::Open | State::Closed) => None,
            Err(_) => return false,
        };
        match fence {
            Some(mut fence) => fence.wait_until_leading().await,
            None => true,
        }
    }
}

impl WriteGate for Gate {
    fn open_until(&self) -> Option<Instant> {
        match &*self.0.borrow() {
            State::Open => Some(Instant::now() + FOREVER),
            State::Closed => None,
            State::Elected(fence) => fence.open_until(),
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&*self.0.borrow()).finish()
    }
}
