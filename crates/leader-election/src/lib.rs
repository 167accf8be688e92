//! Leader election on a `coordination.k8s.io/v1` Lease, as client-go does it, with a fence for what the leader writes.
//!
//! # In a program
//!
//! [`Election`] talks to the API server; [`Fence`] says who leads and until when a write may be started. A client that is
//! [gated](kube_controller_client::Client::gated) by the fence starts no write after that:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use kube_controller_client::Client;
//! use kube_lease_election::{Election, ElectionOptions, End, LeaseName, Timing, identity};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn control(client: Client, stop: CancellationToken) {}
//! # async fn example(elections: Client, client: Client) {
//! let (election, fence) = Election::new(
//!     elections,
//!     ElectionOptions {
//!         lease: LeaseName { namespace: "kube-system".to_owned(), name: "my-controller".to_owned() },
//!         identity: identity(),
//!         timing: Timing::default(),
//!         recorder: None,
//!         metrics: None,
//!     },
//! );
//! let stop = CancellationToken::new();
//! let mut tasks = tokio::task::JoinSet::new();
//! tasks.spawn({
//!     let (client, stop, mut fence) = (client.gated(Arc::new(fence.clone())), stop.clone(), fence.clone());
//!     async move {
//!         if fence.leading().await {
//!             control(client, stop).await;
//!         }
//!     }
//! });
//! // Cancel `stop` once the work has ended: the lease is then given back, and a successor need not wait.
//! match election.run(stop).await {
//!     End::Released | End::Stopped => println!("stopped as asked"),
//!     End::Lost => std::process::exit(1), // as upstream does: others may lead by now
//! }
//! # }
//! ```
//!
//! # The rules alone
//!
//! [`Elector`] is all of the logic, without client, clock or runtime: it is asked with the time what to do next, and told
//! what came of it.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use kube_lease_election::{Answer, Elector, LeaseName, Next, Now, Request, Timing};
//!
//! # #[expect(clippy::disallowed_methods)] fn main() {
//! let lease = LeaseName { namespace: "kube-system".to_owned(), name: "my-controller".to_owned() };
//! let mut elector = Elector::new(lease, "me".to_owned(), Timing::default(), 1);
//!
//! let start = Instant::now();
//! let at = |seconds| Now { at: start + Duration::from_secs(seconds), wall: jiff::Timestamp::UNIX_EPOCH };
//! assert!(matches!(elector.next(at(0)), Next::Send { request: Request::Get, .. }));
//! elector.answer(at(1), Answer::Missing);
//! assert!(matches!(elector.next(at(1)), Next::Send { request: Request::Create(_), .. }));
//! elector.answer(at(3), Answer::Written { uid: "u".to_owned(), resource_version: "7".to_owned() });
//! // Ten seconds from when the request was sent, not from when it was answered.
//! assert_eq!(elector.lead().map(|lead| lead.until), Some(start + Duration::from_secs(11)));
//! # }
//! ```
//!
//! # Who leads, and until when
//!
//! - A lease held by another is taken over when nothing in it has changed for its duration **by our clock, since we saw
//!   the last change**. Times in the Lease are never compared with a clock (CM-24).
//! - Every update carries the resourceVersion of the state it was decided on; a Lease that is not there is created, which
//!   the server refuses when another was faster. Nothing is ever deleted.
//! - The leader's term ends one renew deadline **after the last renewal that succeeded was sent**. Others count from when
//!   they see it, so while all clocks run equally fast within the ratio of lease duration to renew deadline (15 to 10 s: one
//!   and a half times), two terms never overlap, whatever requests are delayed, lost or applied late.
//! - What a person does to the Lease is outside this: who empties the holder of a live leader, or shortens the duration,
//!   has asked for a successor, and the old leader learns it with its next renewal. Its writes end at its fence all the same.
//!
//! # What the fence is worth
//!
//! It is asked right before each request is handed to the connection, and a request that has not been sent when the term
//! ends (it waits for a connection, say) is dropped. It compares with `CLOCK_MONOTONIC`, which runs on while a process is
//! stopped (`SIGSTOP`, a debugger, a starved CPU), and on Linux with `CLOCK_BOOTTIME` too, which also runs on while the
//! machine sleeps. A virtual machine that is paused and resumed by its host may see none of that time on any clock; then,
//! and in the instant between the check and the socket, the resourceVersion that every update of an object carries is what
//! protects it.
//!
//! # From client-go
//!
//! | client-go | here |
//! |---|---|
//! | `LeaderElectionConfig` | [`ElectionOptions`] and [`Timing`] |
//! | `NewLeaderElector`, `Run` | [`Election::new`], [`Election::run`] |
//! | `OnStartedLeading`, `IsLeader` | [`Fence::leading`], [`Fence::lead`] |
//! | `OnStoppedLeading` | [`Election::run`] returns |
//! | `OnNewLeader`, `GetLeader` | [`Fence::leader`], [`Fence::changed`] |
//! | `WatchDog`, `Check` | [`Fence::is_overdue`] |
//! | `ReleaseOnCancel` | always |
//! | `LeaseLock`, `ResourceLockConfig` | [`LeaseName`], [`ElectionOptions::identity`] |
//! | `MetricsProvider` | [`ElectionMetrics`]; `PrometheusMetrics` with the feature `prometheus` |
//!
//! Coordinated leader election (candidates, strategies, preferred holders) is not done: those two fields of the Lease are
//! left as they are found.
//!
//! # What differs on purpose
//!
//! - The term ends by the fence: upstream gives up one renew deadline after it began to try, which is later.
//! - A leader that sees another holder stops at once; upstream goes on trying until its deadline.
//! - Candidates watch the Lease beside polling it, and try at the moment it expires or is given back. Without the right
//!   to watch, polling alone is as fast as upstream.
//! - A Lease that vanished while its holder seemed alive is created again only when that holder's time is over, except by
//!   the holder itself.
//! - The lease is given back in one request where upstream reads it first, and also when an acquisition was under way.
//! - Connections of the client that renews ([`Timing::timeouts`]) are pinged every two seconds, upstream's every 30 s: one that
//!   dies without a word is replaced before it costs the lease.
//! - A fraction of a second in the lease duration is rounded up, not down.

mod election;
mod elector;
mod fence;
mod identity;
mod lock;
mod metrics;
mod name;
#[cfg(feature = "prometheus")]
mod prometheus;
mod spec;
mod timing;
mod watching;

#[cfg(feature = "prometheus")]
pub use crate::prometheus::PrometheusMetrics;
pub use crate::{
    election::{Election, ElectionOptions},
    elector::{Answer, Elector, End, Lead, Next, Now, Request},
    fence::Fence,
    identity::identity,
    metrics::{ElectionMetrics, MetricsProvider},
    name::LeaseName,
    timing::{Timing, TimingError},
};
