//! The [`Election`]: runs an [`Elector`] with a client and the clock.

use std::sync::Arc;
use std::time::Duration;

use kube_ambient::since_boot;
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::fence::{Standing, Term};
use crate::watching::Watching;
use crate::{Answer, ElectionMetrics, Elector, End, Fence, LeaseName, Next, Now, Timing, lock, spec};

/// Options of an [`Election`].
pub struct ElectionOptions {
    /// Lease to acquire.
    pub lease: LeaseName,
    /// Holder identity of this candidate. Must not be empty, and must be unique for each run of each process, see
    /// [`identity`](crate::identity()).
    pub identity: String,
    /// Lease duration, renew deadline and retry period.
    pub timing: Timing,
    /// Recorder of the events "became leader" and "stopped leading" about the Lease (CM-25); `None` records none.
    pub recorder: Option<EventRecorder>,
    /// Metrics of the election; `None` disables them.
    pub metrics: Option<Arc<dyn ElectionMetrics>>,
}

/// Time after the expiry of the lease from which [`Fence::is_overdue`] is true (CM-10).
const TOLERATED: Duration = Duration::from_secs(20);

/// An election, started by [`run`](Self::run).
#[must_use = "the election does not start until `run` is called"]
pub struct Election {
    client: Client,
    options: ElectionOptions,
    standing: watch::Sender<Standing>,
}

impl Election {
    /// Creates an election and the fence that publishes its state.
    ///
    /// `client` must not be [gated](Client::gated) by the fence. It should have [`Timing::timeouts`], so that a
    /// silently dropped connection does not cost the lease, and should be used for the election only, so that renewals
    /// do not wait for other requests in its rate limiter.
    pub fn new(client: Client, options: ElectionOptions) -> (Election, Fence) {
        let (standing, fence) = Fence::new();
        (Election { client, options, standing }, fence)
    }

    /// Acquires and renews the lease until it is lost or `stop` is cancelled.
    ///
    /// Cancelling `stop` closes the fence and releases the lease. Cancel it after the work that requires the lease has
    /// ended.
    pub async fn run(self, stop: CancellationToken) -> End {
        let Election { client, options, standing } = self;
        let ElectionOptions { lease, identity, timing, recorder, metrics } = options;
        if let Some(metrics) = &metrics {
            metrics.leading(false);
        }
        tracing::info!(%lease, identity, "Attempting to acquire leader lease...");
        let mut watching = Watching::new(client.clone(), lease.clone());
        let shell = Shell {
            elector: Elector::new(lease.clone(), identity.clone(), timing, kube_ambient::random()),
            report: Report { lease, identity, timing, recorder, metrics, standing, leads: false, slow_paths: 0 },
        };
        shell.run(&client, &mut watching, stop).await
    }
}

struct Shell {
    elector: Elector,
    report: Report,
}

impl Shell {
    async fn run(mut self, client: &Client, watching: &mut Watching, stop: CancellationToken) -> End {
        let mut stopping = false;
        loop {
            let sent_since_boot = since_boot();
            let next = self.elector.next(now());
            match next {
                Next::Ended(end) => {
                    self.report.publish(&self.elector, sent_since_boot, Some(end));
                    return end;
                }
                Next::Send { request, give_up } => {
                    // Closes the fence, if the term has ended or the lease is to be released, before the request is
                    // sent.
                    self.report.publish(&self.elector, None, None);
                    let answer = timeout_at(give_up.into(), lock::send(client, &self.report.lease, request));
                    let answer = tokio::select! {
                        biased;
                        () = stop.cancelled(), if !stopping => None,
                        answer = answer => Some(answer.unwrap_or_else(|_| {
                            tracing::warn!(lease = %self.report.lease, "No answer about the lease in time");
                            Answer::Unknown
                        })),
                    };
                    if let Some(answer) = answer {
                        self.elector.answer(now(), answer);
                        self.report.publish(&self.elector, sent_since_boot, None);
                    }
                }
                Next::Wait(until) => {
                    match self.elector.lease() {
                        Some(lease) if self.elector.lead().is_none() => watching.open(spec::resource_version(lease)),
                        _ => watching.close(),
                    }
                    tokio::select! {
                        biased;
                        () = stop.cancelled(), if !stopping => {}
                        () = sleep_until(until.into()) => {}
                        lease = watching.next() => self.elector.observe(now(), lease),
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
struct Report {
    lease: LeaseName,
    identity: String,
    timing: Timing,
    recorder: Option<EventRecorder>,
    metrics: Option<Arc<dyn ElectionMetrics>>,
    standing: watch::Sender<Standing>,
    leads: bool,
    slow_paths: u64,
}

impl Report {
    /// Publishes the state of the elector. `sent_since_boot` is the time on the clock that counts suspend at which the
    /// last request was sent; it is used if that request started or extended the term.
    fn publish(&mut self, elector: &Elector, sent_since_boot: Option<Duration>, end: Option<End>) {
        let lead = elector.lead().filter(|_| end.is_none());
        let (timing, mut new_leader) = (self.timing, false);
        self.standing.send_if_modified(|standing| {
            let term = lead.map(|lead| {
                let renewed = Instant::from_std(lead.renewed);
                match standing.term {
                    Some(term) if term.renewed == renewed => term,
                    _ => Term {
                        renewed,
                        until: lead.until.into(),
                        until_since_boot: sent_since_boot.map(|sent| sent + timing.renew_deadline()),
                        overdue: renewed + timing.lease_duration() + TOLERATED,
                    },
                }
            });
            new_leader = standing.leader != elector.leader();
            let next = Standing { leader: elector.leader().to_owned(), term, ended: end.is_some() };
            let changed = *standing != next;
            *standing = next;
            changed
        });
        if new_leader {
            tracing::info!(lease = %self.lease, leader = elector.leader(), "Leader seen");
        }
        if self.leads != lead.is_some() {
            self.leads = lead.is_some();
            self.leadership_changed(elector);
        }
        if let Some(metrics) = &self.metrics
            && self.slow_paths != elector.slow_paths()
        {
            metrics.slow_paths(elector.slow_paths() - self.slow_paths);
            self.slow_paths = elector.slow_paths();
        }
    }

    fn leadership_changed(&self, elector: &Elector) {
        if let Some(metrics) = &self.metrics {
            metrics.leading(self.leads);
        }
        let (lease, identity) = (&self.lease, &self.identity);
        let what = if self.leads {
            tracing::info!(%lease, identity, "Successfully acquired lease");
            "became leader"
        } else {
            tracing::info!(%lease, identity, "Stopped leading");
            "stopped leading"
        };
        if let (Some(recorder), Some(lease)) = (&self.recorder, elector.lease()) {
            let message = format!("{identity} {what}");
            recorder.event(&ObjectReference::to(lease), EventType::Normal, "LeaderElection", message);
        }
    }
}

fn now() -> Now {
    Now { at: Instant::now().into_std(), wall: kube_ambient::now() }
}
