//! What woke a Service, in the words its latencies are told apart by.

use std::sync::Arc;
use std::time::SystemTime;

use crate::{EndpointSlice, Endpoints, LastWrite, ObjectMeta, Pod, Service};

/// The kind of event that woke a Service. Few, and fixed: they label metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cause {
    /// A Pod became ready, or was ready when it was first seen.
    PodReady,
    /// A Pod was ready and is not.
    PodUnready,
    /// A Pod is to end: it has a deletion timestamp now.
    PodTerminating,
    /// A Pod is gone.
    PodDeleted,
    /// A Pod has other addresses.
    PodAddress,
    /// A Pod has other labels, another hostname or another subdomain.
    PodLabels,
    /// Anything else about a Pod: a new one that is not ready, say, or news of one that is to end.
    PodOther,
    /// A Service is new.
    ServiceCreated,
    /// A Service changed.
    ServiceChanged,
    /// A Service is gone.
    ServiceDeleted,
    /// Nodes changed the shares of the zones.
    Node,
    /// An Endpoints object changed that the controller reads, or one that it writes was changed by someone else.
    Endpoints,
    /// A slice that the controller writes was changed by someone else.
    EndpointSlice,
}

impl Cause {
    /// Its name as a label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::PodReady => "pod_ready",
            Cause::PodUnready => "pod_unready",
            Cause::PodTerminating => "pod_terminating",
            Cause::PodDeleted => "pod_deleted",
            Cause::PodAddress => "pod_address",
            Cause::PodLabels => "pod_labels",
            Cause::PodOther => "pod_other",
            Cause::ServiceCreated => "service_created",
            Cause::ServiceChanged => "service_changed",
            Cause::ServiceDeleted => "service_deleted",
            Cause::Node => "node",
            Cause::Endpoints => "endpoints",
            Cause::EndpointSlice => "endpoint_slice",
        }
    }
}

impl From<Cause> for &'static str {
    fn from(cause: Cause) -> Self {
        cause.as_str()
    }
}

/// A cause, and since when it has been there, as far as the object says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it was.
    pub cause: Cause,
    /// In whole seconds, cut off. When a kubelet saw the readiness of a Pod change, by its clock; for all else when the object
    /// was last written or asked to be deleted, by the clock of the API server.
    ///
    /// `None` where that is not known: no managers are told of, or the state before bore the same date already, so that
    /// this change left none. Nothing dates a removal itself. What was asked to end is taken to have gone with that or
    /// with the last write since, the earliest it can have been; for what is gone without that there is no date, for its
    /// last write may be from long before.
    pub since: Option<SystemTime>,
}

impl From<Change> for (Cause, Option<SystemTime>) {
    fn from(it: Change) -> Self {
        (it.cause, it.since)
    }
}

/// The state of an object before and after (`None`: it was or is not there).
type States<'a, T> = (Option<&'a Arc<T>>, Option<&'a Arc<T>>);

impl Change {
    /// What happened to a Pod. Of several things that happened at once the one that matters most to who sends traffic
    /// there: its end, then its readiness, its addresses, its labels.
    pub fn of_pod((old, new): States<'_, Pod>) -> Change {
        let written = |pod: &Arc<Pod>| (pod.last_write, pod.terminating);
        let since = dated(old.map(written), new.map(written));
        let Some(new) = new else { return Change { cause: Cause::PodDeleted, since } };
        let was = |is: fn(&Pod) -> bool| old.is_some_and(|old| is(old));
        let cause = if new.terminating && !was(|pod| pod.terminating) {
            Cause::PodTerminating
        } else if new.ready && !was(|pod| pod.ready) {
            Cause::PodReady
        } else if !new.ready && was(|pod| pod.ready) {
            Cause::PodUnready
        } else if old.is_some_and(|old| old.pod_ips != new.pod_ips) {
            Cause::PodAddress
        } else if old.is_some_and(|old| {
            old.labels != new.labels || old.hostname != new.hostname || old.subdomain != new.subdomain
        }) {
            Cause::PodLabels
        } else {
            Cause::PodOther
        };
        let of_readiness = new.ready_changed.filter(|_| matches!(cause, Cause::PodReady | Cause::PodUnready));
        Change { cause, since: of_readiness.map(SystemTime::from).or(since) }
    }

    /// What happened to a Service.
    pub fn of_service((old, new): States<'_, Service>) -> Change {
        let written = |service: &Arc<Service>| (service.last_write, service.terminating);
        let since = dated(old.map(written), new.map(written));
        match (old, new) {
            (None, Some(new)) => Change { cause: Cause::ServiceCreated, since: new.created.map(SystemTime::from) },
            (Some(_), Some(_)) => Change { cause: Cause::ServiceChanged, since },
            (_, None) => Change { cause: Cause::ServiceDeleted, since },
        }
    }

    /// What happened to an Endpoints object.
    pub fn of_endpoints((old, new): States<'_, Endpoints>) -> Change {
        let written = |endpoints: &Arc<Endpoints>| of_metadata(&endpoints.metadata);
        Change { cause: Cause::Endpoints, since: dated(old.map(written), new.map(written)) }
    }

    /// What happened to a slice.
    pub fn of_slice((old, new): States<'_, EndpointSlice>) -> Change {
        let written = |slice: &Arc<EndpointSlice>| of_metadata(&slice.metadata);
        Change { cause: Cause::EndpointSlice, since: dated(old.map(written), new.map(written)) }
    }
}

/// When an object was last written or asked to end, and whether it was asked to.
type Written = (LastWrite, bool);

fn of_metadata(it: &ObjectMeta) -> Written {
    let last = it.last_write.or_deletion(it.deletion_timestamp, it.deletion_grace_period_seconds);
    (last, it.deletion_timestamp.is_some())
}

fn dated(old: Option<Written>, new: Option<Written>) -> Option<SystemTime> {
    match (old, new) {
        (old, Some((new, _))) => new.time().filter(|_| old.is_none_or(|(old, _)| old < new)),
        (Some((last, true)), None) => last.time(),
        (_, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LastWrite;
    use jiff::Timestamp;
    use rstest::rstest;
    use std::time::Duration;

    const READY: i64 = 10;
    const CREATED: i64 = 15;
    const BEFORE: i64 = 5;
    const WRITTEN: i64 = 20;
    const ASKED_TO_END: i64 = 30;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn time(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    fn pod() -> Pod {
        Pod {
            labels: [("app", "web")].into_iter().collect(),
            pod_ips: ["10.0.0.1"].into(),
            ready_changed: Some(at(READY)),
            last_write: LastWrite::from_second(WRITTEN),
            ..Pod::default()
        }
    }

    fn ready() -> Pod {
        Pod { ready: true, ..pod() }
    }

    fn terminating() -> Pod {
        Pod { terminating: true, ..pod() }
    }

    /// A Pod of which nothing is known but that it is ready.
    fn undated() -> Pod {
        Pod { ready_changed: None, last_write: LastWrite::UNKNOWN, ..ready() }
    }

    #[rstest]
    #[case::starts(None, Some(pod()), Cause::PodOther, Some(20))]
    #[case::seen_first_when_ready(None, Some(ready()), Cause::PodReady, Some(10))]
    #[case::ready(Some(pod()), Some(ready()), Cause::PodReady, Some(10))]
    #[case::ready_without_a_time(
        Some(pod()), Some(Pod { ready_changed: None, ..ready() }), Cause::PodReady, Some(20))]
    #[case::ready_without_any_time(Some(pod()), Some(undated()), Cause::PodReady, None)]
    #[case::unready(Some(ready()), Some(pod()), Cause::PodUnready, Some(10))]
    #[case::is_to_end(Some(ready()), Some(Pod { ready: true, ..terminating() }), Cause::PodTerminating, Some(20))]
    #[case::is_to_end_and_unready_at_once(Some(ready()), Some(terminating()), Cause::PodTerminating, Some(20))]
    #[case::unready_on_its_way_out(
        Some(Pod { ready: true, ..terminating() }), Some(terminating()), Cause::PodUnready, Some(10))]
    #[case::still_on_its_way_out(Some(terminating()), Some(terminating()), Cause::PodOther, Some(20))]
    #[case::gone_as_it_was_to_be(Some(terminating()), None, Cause::PodDeleted, Some(20))]
    #[case::gone_without_notice(Some(ready()), None, Cause::PodDeleted, None)]
    #[case::address(
        Some(pod()), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..pod() }), Cause::PodAddress, Some(20))]
    #[case::address_and_ready(
        Some(pod()), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..ready() }), Cause::PodReady, Some(10))]
    #[case::labels(
        Some(pod()), Some(Pod { labels: [("app", "api")].into_iter().collect(), ..pod() }), Cause::PodLabels, Some(20))]
    #[case::address_without_any_time(
        Some(ready()), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..undated() }), Cause::PodAddress, None)]
    #[case::hostname(Some(pod()), Some(Pod { hostname: "h".into(), ..pod() }), Cause::PodLabels, Some(20))]
    fn pods(#[case] old: Option<Pod>, #[case] new: Option<Pod>, #[case] cause: Cause, #[case] since: Option<u64>) {
        let earlier = |pod| Pod { last_write: LastWrite::from_second(BEFORE), ..pod };
        let (old, new) = if new.is_some() { (old.map(earlier), new) } else { (old, new) };
        let (old, new) = (old.map(Arc::new), new.map(Arc::new));
        assert_eq!(Change::of_pod((old.as_ref(), new.as_ref())), Change { cause, since: since.map(time) });
    }

    #[rstest]
    #[case::created(false, Some(false), Cause::ServiceCreated, Some(15))]
    #[case::changed(true, Some(false), Cause::ServiceChanged, Some(20))]
    #[case::gone_without_notice(true, None, Cause::ServiceDeleted, None)]
    #[case::gone_as_it_was_to_be(true, Some(true), Cause::ServiceChanged, Some(20))]
    fn services(#[case] before: bool, #[case] after: Option<bool>, #[case] cause: Cause, #[case] since: Option<u64>) {
        let service = |terminating, written| {
            let (created, last_write) = (Some(at(CREATED)), LastWrite::from_second(written));
            Arc::new(Service { created, last_write, terminating, ..Service::default() })
        };
        let (old, new) = (before.then(|| service(false, BEFORE)), after.map(|going| service(going, WRITTEN)));
        let since = since.map(time);
        assert_eq!(Change::of_service((old.as_ref(), new.as_ref())), Change { cause, since });
        if let Some(going) = new.filter(|it| it.terminating) {
            assert_eq!(Change::of_service((Some(&going), None)), Change { cause: Cause::ServiceDeleted, since });
        }
    }

    #[rstest]
    #[case::changed(true, false, Some(20))]
    #[case::is_to_end(true, true, Some(30))]
    #[case::gone_without_notice(false, false, None)]
    #[case::gone_as_it_was_to_be(false, true, Some(30))]
    fn objects_of_others(#[case] there: bool, #[case] going: bool, #[case] since: Option<u64>) {
        let before = ObjectMeta { last_write: LastWrite::from_second(BEFORE), ..ObjectMeta::default() };
        let after = ObjectMeta {
            last_write: LastWrite::from_second(WRITTEN),
            deletion_timestamp: going.then(|| at(ASKED_TO_END + 5)),
            deletion_grace_period_seconds: Some(5),
            ..ObjectMeta::default()
        };
        let (old, new) = if there { (before, Some(after)) } else { (after, None) };
        let since = since.map(time);
        let endpoints = |metadata| Arc::new(Endpoints { metadata, ..Endpoints::default() });
        let change = Change::of_endpoints((Some(&endpoints(old.clone())), new.clone().map(endpoints).as_ref()));
        assert_eq!(change, Change { cause: Cause::Endpoints, since });
        let slice = |metadata| Arc::new(EndpointSlice { metadata, ..EndpointSlice::default() });
        let change = Change::of_slice((Some(&slice(old)), new.map(slice).as_ref()));
        assert_eq!(change, Change { cause: Cause::EndpointSlice, since });
    }

    #[test]
    fn a_date_that_was_there_before_is_not_that_of_a_change() {
        let (before, after) = (Arc::new(pod()), Arc::new(Pod { pod_ips: ["10.0.0.2"].into(), ..pod() }));
        let change = Change::of_pod((Some(&before), Some(&after)));
        assert_eq!(change, Change { cause: Cause::PodAddress, since: None });
    }
}
