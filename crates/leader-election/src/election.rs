//! The [`Election`]: runs an [`Elector`] with a client and the clock.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use kube_ambient::since_boot;
#[cfg(feature = "events")]
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::fence::{ElectionState, FenceTerm};
use crate::lease_watch::LeaseWatch;
use crate::{ElectionMetrics, Elector, End, Fence, LeaseName, Next, Now, RequestOutcome, Timing, identity, lock, spec};

/// Options of an [`Election`]: Lease, identity, timing, and receivers of events and metrics.
pub struct ElectionOptions {
    /// Lease to acquire.
    pub lease: LeaseName,
    /// Holder identity of this candidate. Must not be empty, and must be unique for each run of each process, see
    /// [`identity`](crate::identity()).
    pub identity: String,
    /// Lease duration, renew deadline and retry period; [`Timing::default`] is 15 s, 10 s and 2 s.
    pub timing: Timing,
    /// Recorder of the events "became leader" and "stopped leading" about the Lease (CM-25); `None` records none.
    #[cfg(feature = "events")]
    pub recorder: Option<EventRecorder>,
    /// Metrics of the election; `None` disables them.
    pub metrics: Option<Arc<dyn ElectionMetrics>>,
}

impl ElectionOptions {
    /// Returns the options for `lease` with a new [`identity`](crate::identity()), the default timing, and neither recorder
    /// nor metrics.
    pub fn new(lease: LeaseName) -> Self {
        ElectionOptions {
            lease,
            identity: identity(),
            timing: Timing::default(),
            #[cfg(feature = "events")]
            recorder: None,
            metrics: None,
        }
    }
}

/// Time after the expiry of the lease from which [`Fence::is_overdue`] is true (CM-10).
const OVERDUE_AFTER: Duration = Duration::from_secs(20);

/// Participation of one process in the leader election on one Lease, started by [`run`](Self::run).
#[must_use = "the election does not start until `run` is called"]
pub struct Election {
    client: Client,
    options: ElectionOptions,
    state: watch::Sender<ElectionState>,
    fence: Fence,
}

impl Election {
    /// Creates an election and the fence that publishes its state.
    ///
    /// `client` must not be [gated](Client::gated) by the fence. It should have [`Timing::timeouts`], so that a
    /// silently dropped connection does not cost the lease, and should be used for the election only, so that renewals
    /// do not wait for other requests in its rate limiter.
    pub fn new(client: Client, options: ElectionOptions) -> (Election, Fence) {
        let (state, fence) = Fence::new(options.lease.clone());
        (Election { client, options, state, fence: fence.clone() }, fence)
    }

    /// Creates an election with a client of its own, which has the time limits [`Timing::timeouts`] and the user agent
    /// `kube-lease-election/<version>`, and the fence that publishes its state.
    ///
    /// The client opens its own connections to the server of `config`, except with [`Config::from_kube_client`]: then its
    /// requests share the connections, layers and retries of that client, which must not be gated by the fence. In either
    /// case a request ends after [`Timing::request_timeout`], and at the end of the term.
    ///
    /// # Errors
    ///
    /// Those of [`Client::new`].
    pub fn from_config(config: &Config, options: ElectionOptions) -> Result<(Election, Fence), ConfigError> {
        let user_agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned();
        let client_options =
            ClientOptions { user_agent, timeouts: options.timing.timeouts(), ..ClientOptions::default() };
        Ok(Election::new(Client::new(config, client_options)?, options))
    }

    /// Acquires and renews the lease until it is lost or `stop` is cancelled. Returns the reason of the end.
    ///
    /// Cancelling `stop` closes the fence and releases the lease. Cancel it after the work that requires the lease has
    /// ended.
    pub async fn run(self, stop: CancellationToken) -> End {
        let Election { client, options, state, fence: _ } = self;
        let ElectionOptions { lease, identity, timing, metrics, .. } = options;
        if let Some(metrics) = &metrics {
            metrics.leading(&lease.name, false);
        }
        tracing::info!(%lease, identity, "Attempting to acquire leader lease...");
        let mut lease_watch = LeaseWatch::new(client.clone(), lease.clone());
        let runner = ElectionRunner {
            elector: Elector::new(lease.clone(), identity.clone(), timing, kube_ambient::random()),
            publisher: Publisher {
                lease,
                identity,
                timing,
                #[cfg(feature = "events")]
                recorder: options.recorder,
                metrics,
                state,
                is_leading: false,
                renewed: None,
                slow_path_count: 0,
            },
        };
        runner.run(&client, &mut lease_watch, stop).await
    }

    /// Runs the election beside the work of the process, and releases the lease when the work has ended. Returns the result
    /// of the work; `None` if the lease is lost before.
    ///
    /// `work` is polled from the start; the part that needs the lease awaits [`Fence::wait_until_leading`]. If it fails, the
    /// lease is not released, since a task may still write, and the next leader waits until the lease expires. So it does if
    /// the release takes longer than `release_timeout`.
    pub async fn run_beside<T, E>(
        self,
        work: impl Future<Output = Result<T, E>>,
        release_timeout: Duration,
    ) -> Option<Result<T, E>> {
        let release = CancellationToken::new();
        let mut election = pin!(self.run(release.clone()));
        let result = tokio::select! {
            biased;
            _ = election.as_mut() => return None,
            result = work => result,
        };
        if result.is_ok() {
            release.cancel();
            if timeout(release_timeout, election).await.is_err() {
                tracing::warn!("Unable to release the lease; the next leader waits until it expires");
            }
        }
        Some(result)
    }

    /// Waits until this process leads, then runs `work`, and releases the lease when `work` has ended. Returns the result
    /// of `work`; `None` if the lease is lost before: `work` is dropped then, and the process should exit.
    ///
    /// `work` must not return before the writes that it has started. It is not polled while the process does not lead: its
    /// handlers of signals, for example, have no effect until then. For work that starts earlier, and for a result that
    /// prevents the release, see [`run_beside`](Self::run_beside). If the release takes longer than `release_timeout`, the
    /// next leader waits until the lease expires.
    pub async fn run_while_leading<T>(self, work: impl Future<Output = T>, release_timeout: Duration) -> Option<T> {
        let mut fence = self.fence.clone();
        let work = async move {
            if !fence.wait_until_leading().await {
                // The election has ended, which ends `run_beside`.
                pending::<()>().await;
            }
            Ok::<T, Infallible>(work.await)
        };
        let Ok(result) = self.run_beside(work, release_timeout).await?;
        Some(result)
    }
}

struct ElectionRunner {
    elector: Elector,
    publisher: Publisher,
}

impl ElectionRunner {
    async fn run(mut self, client: &Client, lease_watch: &mut LeaseWatch, stop: CancellationToken) -> End {
        let mut stopping = false;
        loop {
            let sent_since_boot = since_boot();
            let next = self.elector.next(now());
            match next {
                Next::Ended(end) => {
                    if end == End::Lost {
                        self.publisher.report_loss();
                    }
                    self.publisher.publish(&self.elector, sent_since_boot, Some(end));
                    return end;
                }
                Next::Send { request, deadline } => {
                    // Closes the fence, if the term has ended or the lease is to be released, before the request is
                    // sent.
                    self.publisher.publish(&self.elector, None, None);
                    let outcome = timeout_at(deadline.into(), lock::send(client, &self.publisher.lease, request));
                    let outcome = tokio::select! {
                        biased;
                        () = stop.cancelled(), if !stopping => None,
                        outcome = outcome => Some(outcome.unwrap_or_else(|_| {
                            tracing::warn!(lease = %self.publisher.lease, "No answer about the lease in time");
                            RequestOutcome::Unknown
                        })),
                    };
                    if let Some(outcome) = outcome {
                        self.elector.record_outcome(now(), outcome);
                        self.publisher.publish(&self.elector, sent_since_boot, None);
                    }
                }
                Next::Wait(until) => {
                    match self.elector.lease() {
                        Some(lease) if self.elector.term().is_none() => lease_watch.open(spec::resource_version(lease)),
                        _ => lease_watch.close(),
                    }
                    tokio::select! {
                        biased;
                        () = stop.cancelled(), if !stopping => {}
                        () = sleep_until(until.into()) => {}
                        () = client.availability().recovery() => self.elector.retry_now(),
                        lease = lease_watch.next() => self.elector.observe(now(), lease),
                    }
                }
            }
            if !stopping && stop.is_cancelled() {
                stopping = true;
                self.elector.stop();
            }
        }
    }
}

/// Publishes the state of the election to fence, log, metrics and events.
struct Publisher {
    lease: LeaseName,
    identity: String,
    timing: Timing,
    #[cfg(feature = "events")]
    recorder: Option<EventRecorder>,
    metrics: Option<Arc<dyn ElectionMetrics>>,
    state: watch::Sender<ElectionState>,
    is_leading: bool,
    /// Last successful renewal.
    renewed: Option<Instant>,
    slow_path_count: u64,
}

impl Publisher {
    /// Publishes the state of the elector. `sent_since_boot` is the time on the clock that counts suspend at which the
    /// last request was sent; it is used if that request started or extended the term.
    fn publish(&mut self, elector: &Elector, sent_since_boot: Option<Duration>, end: Option<End>) {
        let term = elector.term().filter(|_| end.is_none());
        let (timing, mut new_leader) = (self.timing, false);
        self.state.send_if_modified(|state| {
            let fence_term = term.map(|term| {
                let renewed = Instant::from_std(term.renewed);
                match state.term {
                    Some(current) if current.renewed == renewed => current,
                    _ => FenceTerm {
                        renewed,
                        until: term.until.into(),
                        until_since_boot: sent_since_boot.map(|sent| sent + timing.renew_deadline()),
                        overdue_at: renewed + timing.lease_duration() + OVERDUE_AFTER,
                    },
                }
            });
            new_leader = state.leader != elector.leader();
            let (leader, metadata) = (elector.leader().to_owned(), elector.lease().map(|lease| &lease.metadata));
            let uid = metadata.and_then(|it| it.uid.as_deref()).unwrap_or_default().into();
            let next = ElectionState { leader, term: fence_term, uid, ended: end.is_some() };
            let changed = *state != next;
            *state = next;
            changed
        });
        self.renewed = term.map_or(self.renewed, |term| Some(Instant::from_std(term.renewed)));
        if new_leader && !elector.leader().is_empty() {
            tracing::info!(lease = %self.lease, leader = elector.leader(), "Leader seen");
        }
        if self.is_leading != term.is_some() {
            self.is_leading = term.is_some();
            self.leadership_changed();
            #[cfg(feature = "events")]
            self.record_change(elector);
        }
        if let Some(metrics) = &self.metrics
            && self.slow_path_count != elector.slow_path_count()
        {
            metrics.add_slow_paths(&self.lease.name, elector.slow_path_count() - self.slow_path_count);
            self.slow_path_count = elector.slow_path_count();
        }
    }

    /// Logs how long ago the lease was renewed: much longer than the deadline if the process did not run meanwhile.
    fn report_loss(&self) {
        let since_renewal_s = self.renewed.map(|it| it.elapsed()).unwrap_or_default().as_secs();
        let renew_deadline_s = self.timing.renew_deadline().as_secs();
        tracing::warn!(lease = %self.lease, since_renewal_s, renew_deadline_s, "The lease was not renewed in time");
    }

    fn leadership_changed(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.leading(&self.lease.name, self.is_leading);
        }
        let (lease, identity) = (&self.lease, &self.identity);
        if self.is_leading {
            tracing::info!(%lease, identity, "Successfully acquired lease");
        } else {
            tracing::info!(%lease, identity, "Stopped leading");
        }
    }

    #[cfg(feature = "events")]
    fn record_change(&self, elector: &Elector) {
        if let (Some(recorder), Some(lease)) = (&self.recorder, elector.lease()) {
            let change = if self.is_leading { "became leader" } else { "stopped leading" };
            let message = format!("{} {change}", self.identity);
            recorder.event(&ObjectReference::to(lease), EventType::Normal, "LeaderElection", message);
        }
    }
}

fn now() -> Now {
    Now { at: Instant::now().into_std(), wall: kube_ambient::now() }
}
