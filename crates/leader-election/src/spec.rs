//! Reads and writes of the Lease: the spec in the format of client-go.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use crate::{LeaseName, Timing};

/// Lease duration of a released Lease, in seconds, as client-go writes it.
const RELEASED_SECONDS: i32 = 1;

/// Returns the holder identity; empty if the Lease has no holder.
pub(crate) fn holder(lease: &Lease) -> &str {
    lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()).unwrap_or_default()
}

/// Returns the lease duration; zero if absent or negative.
pub(crate) fn duration(lease: &Lease) -> Duration {
    let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or_default();
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

pub(crate) fn resource_version(lease: &Lease) -> &str {
    lease.metadata.resource_version.as_deref().unwrap_or_default()
}

pub(crate) fn new_lease(name: &LeaseName, identity: &str, timing: &Timing, wall: Timestamp) -> Lease {
    let LeaseName { namespace, name } = name.clone();
    let metadata = ObjectMeta { name: Some(name), namespace: Some(namespace), ..ObjectMeta::default() };
    let spec = LeaseSpec { lease_transitions: Some(0), ..LeaseSpec::default() };
    let mut lease = Lease { metadata, spec: Some(spec) };
    hold(&mut lease, identity, timing, wall);
    lease
}

/// Returns the Lease as acquired or renewed by `identity`. Other metadata and spec fields are kept.
pub(crate) fn held(lease: &Lease, identity: &str, timing: &Timing, wall: Timestamp) -> Lease {
    let mut next = lease.clone();
    let spec = next.spec.get_or_insert_default();
    if holder(lease) == identity {
        spec.renew_time = Some(micros(wall));
        spec.lease_duration_seconds = Some(timing.lease_seconds());
    } else {
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or_default().saturating_add(1));
        hold(&mut next, identity, timing, wall);
    }
    next
}

fn hold(lease: &mut Lease, identity: &str, timing: &Timing, wall: Timestamp) {
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(identity.to_owned());
    spec.lease_duration_seconds = Some(timing.lease_seconds());
    spec.acquire_time = Some(micros(wall));
    spec.renew_time = Some(micros(wall));
}

/// Returns the Lease as released: without a holder and with a duration of 1 s.
pub(crate) fn released(lease: &Lease, wall: Timestamp) -> Lease {
    let mut next = lease.clone();
    let spec = next.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(RELEASED_SECONDS);
    spec.acquire_time = Some(micros(wall));
    spec.renew_time = Some(micros(wall));
    next
}

/// Truncates to microseconds, the precision of the API, so that a Lease that is read back equals the one written.
fn micros(wall: Timestamp) -> MicroTime {
    MicroTime(Timestamp::from_microsecond(wall.as_microsecond()).unwrap_or(wall))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("parse time")
    }

    fn name() -> LeaseName {
        LeaseName { namespace: "kube-system".to_owned(), name: "it".to_owned() }
    }

    // client-go: TestLeaseSpecToLeaderElectionRecordRoundTrip
    #[test]
    fn lease_is_encoded_as_by_client_go() {
        let lease = new_lease(&name(), "me", &Timing::default(), at("2026-05-04T03:02:01.123456789Z"));
        let written = serde_json::to_value(&lease).expect("encode JSON");
        let expect = serde_json::json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": { "name": "it", "namespace": "kube-system" },
            "spec": {
                "holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0,
                "acquireTime": "2026-05-04T03:02:01.123456Z", "renewTime": "2026-05-04T03:02:01.123456Z",
            },
        });
        assert_eq!(written, expect);
        assert_eq!(serde_json::from_value::<Lease>(written).expect("decode Lease"), lease);
    }

    /// Labels, annotations and the fields of coordinated leader election are kept.
    #[test]
    fn keeps_foreign_fields() {
        let mut lease = new_lease(&name(), "they", &Timing::default(), Timestamp::UNIX_EPOCH);
        lease.metadata.labels = Some([("team".to_owned(), "a".to_owned())].into());
        lease.metadata.annotations = Some([("example.com/note".to_owned(), "b".to_owned())].into());
        let spec = lease.spec.as_mut().expect("no spec");
        spec.strategy = Some("OldestEmulationVersion".to_owned());
        spec.preferred_holder = Some("another".to_owned());
        let (now, later) = (at("2026-05-04T03:02:01Z"), at("2026-05-04T03:02:03Z"));
        let acquired = held(&lease, "me", &Timing::default(), now);
        let renewed = held(&acquired, "me", &Timing::default(), later);
        let released_lease = released(&renewed, later);
        for lease in [&acquired, &renewed, &released_lease] {
            let spec = lease.spec.as_ref().expect("no spec");
            assert_eq!(lease.metadata.labels.as_ref().map(|it| &*it["team"]), Some("a"));
            assert_eq!(lease.metadata.annotations.as_ref().map(|it| &*it["example.com/note"]), Some("b"));
            assert_eq!(spec.strategy.as_deref(), Some("OldestEmulationVersion"));
            assert_eq!(spec.preferred_holder.as_deref(), Some("another"));
            assert_eq!(spec.lease_transitions, Some(1));
        }
        let renewed = renewed.spec.expect("no spec");
        assert_eq!((renewed.acquire_time, renewed.renew_time), (Some(MicroTime(now)), Some(MicroTime(later))));
        let released_lease = released_lease.spec.expect("no spec");
        assert_eq!(
            (released_lease.holder_identity.as_deref(), released_lease.lease_duration_seconds),
            (Some(""), Some(1))
        );
    }
}
