//! An elector with its clock, and the responses that it gets.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_lease_election::{Elector, LeaseName, Next, Now, Request, RequestOutcome, Timing};

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// One elector and its clock.
pub(super) struct Harness {
    pub(super) elector: Elector,
    pub(super) now: Now,
    pub(super) start: Instant,
}

impl Harness {
    pub(super) fn new() -> Self {
        let elector = Elector::new(LeaseName::new("foo", "bar"), "baz".to_owned(), Timing::default(), 7);
        let now = Now { at: tokio::time::Instant::now().into_std(), wall: Timestamp::UNIX_EPOCH };
        Self { elector, now, start: now.at }
    }

    /// Returns a harness whose elector has led since second 0, with the Lease at resource version 1.
    pub(super) fn leading() -> Self {
        let mut harness = Self::new();
        harness.exchange("get", RequestOutcome::NotFound);
        harness.exchange("create", written(1));
        assert!(harness.is_leading());
        harness
    }

    pub(super) fn advance(&mut self, time: Duration) {
        self.now.at += time;
        self.now.wall += time;
    }

    pub(super) fn next(&mut self) -> Next {
        self.elector.next(self.now)
    }

    /// Advances the clock to the next request, which must have this verb, and returns its Lease.
    #[track_caller]
    pub(super) fn expect_request(&mut self, verb: &str) -> Option<Lease> {
        for _ in 0..3 {
            match self.next() {
                Next::Wait(until) => {
                    let wait = until - self.now.at;
                    self.advance(wait);
                }
                Next::Send { request, .. } => {
                    let (actual, lease) = match request {
                        Request::Get => ("get", None),
                        Request::Create(lease) => ("create", Some(lease)),
                        Request::Update(lease) => ("update", Some(lease)),
                    };
                    assert_eq!(actual, verb);
                    if actual == "update" {
                        let version = lease.as_ref().and_then(|lease| lease.metadata.resource_version.as_deref());
                        assert_ne!(version.unwrap_or_default(), "", "update without a resource version");
                    }
                    return lease;
                }
                Next::Ended(end) => panic!("{end:?} instead of {verb}"),
            }
        }
        panic!("waits forever instead of {verb}");
    }

    #[track_caller]
    pub(super) fn exchange(&mut self, verb: &str, outcome: RequestOutcome) -> Option<Lease> {
        let lease = self.expect_request(verb);
        self.elector.record_outcome(self.now, outcome);
        lease
    }

    /// Returns the time until the next action; zero if a request is due.
    pub(super) fn time_to_next_action(&mut self) -> Duration {
        match self.next() {
            Next::Wait(until) => until - self.now.at,
            _ => Duration::ZERO,
        }
    }

    pub(super) fn is_leading(&self) -> bool {
        self.elector.term().is_some()
    }

    pub(super) fn term_end_seconds(&self) -> Option<f64> {
        self.elector.term().map(|term| (term.until - self.start).as_secs_f64())
    }
}

pub(super) fn written(version: u32) -> RequestOutcome {
    RequestOutcome::Written { uid: "uid".to_owned(), resource_version: version.to_string() }
}

/// Returns a Lease at resource version 5.
pub(super) fn lease(holder: &str, seconds: i32) -> Lease {
    Lease {
        metadata: ObjectMeta {
            namespace: Some("foo".to_owned()),
            name: Some("bar".to_owned()),
            resource_version: Some("5".to_owned()),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(seconds),
            lease_transitions: Some(0),
            ..LeaseSpec::default()
        }),
    }
}

pub(super) fn found(holder: &str, seconds: i32) -> RequestOutcome {
    RequestOutcome::Found(lease(holder, seconds))
}

pub(super) fn renewed_by(holder: &str, second: i64) -> Lease {
    let mut lease = lease(holder, 15);
    let time = Timestamp::from_second(second).expect("valid time");
    lease.spec.as_mut().expect("no spec").renew_time = Some(time.into());
    lease
}

#[track_caller]
pub(super) fn transitions(lease: Option<Lease>) -> Option<i32> {
    lease.expect("no Lease").spec.expect("no spec").lease_transitions
}
