//! The shell: an [`Elector`], a client, and a clock.

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

/// What an election needs to know.
pub struct ElectionOptions {
    /// The Lease to hold.
    pub lease: LeaseName,
    /// Who we are: must be another for each process and run, see [`identity`](crate::identity()). Not empty.
    pub identity: String,
    /// For how long the lease is held, and how often renewed.
    pub timing: Timing,
    /// Where "became leader" and "stopped leading" are noted, as events about the Lease (CM-25).
    pub recorder: Option<EventRecorder>,
    /// Where the state is counted.
    pub metrics: Option<Arc<dyn ElectionMetrics>>,
}

/// How much longer than the lease duration a leader may go unrenewed before it counts as stuck (CM-10).
const TOLERATED: Duration = Duration::from_secs(20);

/// An election that is ready to run.
#[must_use = "nobody is elected unless it runs"]
pub struct Election {
    client: Client,
    options: ElectionOptions,
    standing: watch::Sender<Standing>,
}

impl Election {
    /// Prepares an election. The client must not be [gated](Client::gated) by the fence. It needs
    /// [`Timing::timeouts`], or a connection that dies without a word costs the lease, and is best used for nothing else, so
    /// that no other request makes renewals wait.
    pub fn new(client: Client, options: ElectionOptions) -> (Election, Fence) {
        let (standing, fence) = Fence::new();
        (Election { client, options, standing }, fence)
    }

    /// Seeks the lease, and keeps it, until it is lost or `stop` is cancelled.
    ///
    /// Cancel `stop` once all that is done in the lease's name has ended: the fence closes and the lease is given back.
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
                    // A term that has ended, or is about to be given back, ends before anything is sent.
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

/// Tells the rest of the world what changed.
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
    /// `sent_since_boot` is the time on the clock that counts sleep when the last request was sent, if it was a renewal
    /// that began or prolonged the term.
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
