//! Leader election on a `coordination.k8s.io/v1` Lease, compatible with client-go, with a fence that gates the leader's
//! writes.
//!
//! The fence is a gate in the API client that lets writes pass only while the process leads. Candidates of this crate
//! and of Go programs can share a Lease: its fields are written as the client-go of Kubernetes 1.36 writes them. What
//! it is for:
//!
//! - **One active instance**: [`Election::run`] acquires and renews the Lease, and returns when it is lost or released.
//!   [`Election::run_beside`] does so while the work of the process runs, and releases the Lease after it.
//! - **Gated writes**: [`Fence`] is a [`WriteGate`](kube_controller_client::WriteGate). A
//!   [gated](kube_controller_client::Client::gated) client starts no write after the end of the term, which is one
//!   renew deadline (10 s by default) after the last successful renewal was sent, even if the process was stopped
//!   (`SIGSTOP`) in between.
//! - **Fast failover**: candidates watch the Lease, and acquire it as soon as it is released or expires.
//! - **Testing**: [`Elector`] is the whole state machine without I/O; time is an argument.
//! - **Operation**: the events and metrics of client-go, and [`Fence::is_overdue`] for a liveness check.
//!
//! ```text
//! Elector (state machine) <--next, record_outcome, observe-- Election::run --get, create, update--> API server
//!                                                             |        ^                               |
//!                                                leader, term |        +------- watch of the Lease ----+
//!                                                             v
//! controllers --writes--> gated Client --checks-----------> Fence (clones)
//! ```
//!
//! # When not to use it
//!
//! - Mutual exclusion without conflict detection: a fence cannot stop a write that has already been sent. Updates must
//!   carry a resource version.
//! - Coordinated leader election (`LeaseCandidate`): not supported.
//! - Sharding: one Lease has one holder. Use one election per shard.
//!
//! # Requirements and cost
//!
//! - A tokio runtime, and one feature of `k8s-openapi` in the program, such as `v1_36`: the crates select none, and
//!   `k8s-openapi` does not compile without one.
//! - RBAC permission to `get` and `update` the Lease, and to `create` Leases unless the Lease exists already. `watch`
//!   is optional and makes the takeover faster. With a recorder, `create` and `patch` on Events.
//! - A client of its own for the election, with [`Timing::timeouts`].
//! - The leader sends one update per retry period (2 s by default). Each candidate has one watch of the Lease open and
//!   reads the Lease after a random 1 to 2.2 retry periods (2 s to 4.4 s by default).
//! - A leader repeats a failed renewal after one retry period. If none succeeds until the end of the term, or if the
//!   Lease has another holder, [`Election::run`] returns [`End::Lost`], and the program should exit. Candidates try
//!   without limit.
//!
//! # Example
//!
//! `elections` is the client of the election, with [`Timing::timeouts`]; `client` is that of the controllers, which get
//! a gated clone of it.
//!
//! ```no_run
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use kube_controller_client::Client;
//! use kube_lease_election::{Election, ElectionOptions, LeaseName, Timing, identity};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn control(client: Client, stop: CancellationToken) -> std::io::Result<()> { Ok(()) }
//! # async fn example(elections: Client, client: Client, stop: CancellationToken) -> std::io::Result<()> {
//! let (election, mut fence) = Election::new(
//!     elections,
//!     ElectionOptions {
//!         lease: LeaseName { namespace: "kube-system".to_owned(), name: "my-controller".to_owned() },
//!         identity: identity(),
//!         timing: Timing::default(),
//!         recorder: None,
//!         metrics: None,
//!     },
//! );
//! let client = client.gated(Arc::new(fence.clone()));
//! let work = async move {
//!     match stop.run_until_cancelled(fence.wait_until_leading()).await {
//!         Some(true) => control(client, stop).await,
//!         _ => Ok(()),
//!     }
//! };
//! match election.run_beside(work, Duration::from_secs(1)).await {
//!     Some(done) => done,
//!     None => std::process::exit(1), // as upstream does: another process may lead
//! }
//! # }
//! ```
//!
//! The state machine alone, without client, clock or runtime: [`Elector::next`] returns the next action for the current
//! time, [`Elector::record_outcome`] takes its result.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use kube_lease_election::{Elector, LeaseName, Next, Now, Request, RequestOutcome, Timing};
//!
//! # #[expect(clippy::disallowed_methods)] fn main() {
//! let lease = LeaseName { namespace: "kube-system".to_owned(), name: "my-controller".to_owned() };
//! let mut elector = Elector::new(lease, "me".to_owned(), Timing::default(), 1);
//!
//! let start = Instant::now();
//! let at = |seconds| Now { at: start + Duration::from_secs(seconds), wall: jiff::Timestamp::UNIX_EPOCH };
//! assert!(matches!(elector.next(at(0)), Next::Send { request: Request::Get, .. }));
//! elector.record_outcome(at(1), RequestOutcome::NotFound);
//! assert!(matches!(elector.next(at(1)), Next::Send { request: Request::Create(_), .. }));
//! elector.record_outcome(at(3), RequestOutcome::Written { uid: "u".to_owned(), resource_version: "7".to_owned() });
//! // 10 s from the time at which the request was sent, not from that of the response.
//! assert_eq!(elector.term().map(|term| term.until), Some(start + Duration::from_secs(11)));
//! # }
//! ```
//!
//! # Rules of the election
//!
//! - A candidate takes over the lease of another holder if the spec of the Lease has not changed for its lease
//!   duration, **measured on the local clock from the last observed change**. The times in the Lease are never compared
//!   with a clock (CM-24).
//! - Every update carries the resource version of the state it is based on. A missing Lease is created, which fails
//!   with `AlreadyExists` if another candidate was faster. The Lease is never deleted.
//! - The term of the leader ends one renew deadline **after the last successful renewal was sent**. Candidates measure
//!   from their observation of that renewal, which is later. So two terms never overlap, however long requests are
//!   delayed and even if they are lost or applied late, as long as the speeds of the clocks differ by less than the
//!   ratio of lease duration to renew deadline (15 s to 10 s: 1.5).
//! - Manual edits are not covered: if the holder of a running leader is cleared or its lease duration shortened, a
//!   candidate takes over at once, and the old leader detects it with its next renewal, or stops at the end of its
//!   term.
//!
//! # Guarantees of the fence
//!
//! The fence is checked before a request is passed to the connection, and a request that has not been sent at the end
//! of the term, for example because it waits for a connection, is dropped. The check uses `CLOCK_MONOTONIC`, which
//! continues while a process is stopped (`SIGSTOP`, a debugger, CPU starvation), and on Linux also `CLOCK_BOOTTIME`,
//! which continues while the machine is suspended.
//!
//! Not covered are a virtual machine that is paused by its host and does not see that time on any clock, and the
//! instant between the check and the write to the socket. There the resource version in every update protects the
//! objects.
//!
//! # Names in client-go
//!
//! | client-go | this crate |
//! |---|---|
//! | `LeaderElectionConfig` | [`ElectionOptions`] and [`Timing`] |
//! | `NewLeaderElector`, `Run` | [`Election::new`], [`Election::run`] |
//! | `OnStartedLeading`, `IsLeader` | [`Fence::wait_until_leading`], [`Fence::term_end`] |
//! | `OnStoppedLeading` | [`Election::run`] returns |
//! | `OnNewLeader`, `GetLeader` | [`Fence::leader`], [`Fence::changed`] |
//! | `WatchDog`, `Check` | [`Fence::is_overdue`] |
//! | `ReleaseOnCancel` | always on |
//! | `LeaseLock`, `ResourceLockConfig` | [`LeaseName`], [`ElectionOptions::identity`] |
//! | `MetricsProvider` | [`ElectionMetrics`]; `PrometheusMetrics` with the feature `prometheus` |
//!
//! Coordinated leader election is not supported; the fields `strategy` and `preferredHolder` of the Lease are kept.
//!
//! # Differences from client-go
//!
//! - The term ends one renew deadline after the last successful renewal was sent. In client-go it ends one renew
//!   deadline after the first failed attempt started, which is later.
//! - A leader that reads another holder stops at once. client-go retries until the deadline.
//! - Candidates watch the Lease in addition to polling, and try when it is released and exactly when it expires.
//!   Without permission to watch, polling alone is at least as fast as client-go.
//! - If the Lease is deleted, other candidates create it only after the lease of the last holder would have expired.
//! - The lease is released with one request; client-go reads it first. It is also released if an acquisition was in
//!   flight.
//! - With [`Timing::timeouts`] and the default timing, HTTP/2 pings are sent every 2 s; client-go uses 30 s. A silently
//!   dropped connection is replaced before the lease is lost.
//! - A fraction of a second in the lease duration is rounded up, not down.
//!
//! Ids such as `CM-24` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).

mod election;
mod elector;
mod fence;
mod identity;
mod lease_handle;
mod lease_watch;
mod lock;
mod metrics;
mod name;
#[cfg(feature = "prometheus")]
mod prometheus;
mod spec;
mod timing;

#[cfg(feature = "prometheus")]
pub use crate::prometheus::PrometheusMetrics;
pub use crate::{
    election::{Election, ElectionOptions},
    elector::{Elector, End, Next, Now, Request, RequestOutcome, Term},
    fence::Fence,
    identity::identity,
    lease_handle::LeaseHandle,
    metrics::{ElectionMetrics, ElectionMetricsProvider},
    name::LeaseName,
    timing::{Timing, TimingError},
};
