//! What woke a Service, in the words its latencies are told apart by.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{Pod, Service};

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
    /// In whole seconds, cut off, by the clock of whoever wrote it: when a kubelet saw the readiness of a Pod change, or the
    /// API server created a Service. `None` for all else: no object says when it was relabelled or removed.
    pub since: Option<Timestamp>,
}

impl From<Cause> for Change {
    /// Without a time.
    fn from(cause: Cause) -> Self {
        Change { cause, since: None }
    }
}

impl Change {
    /// What happened to a Pod (`None`: it was or is not there). Of several things that happened at once the one that
    /// matters most to who sends traffic there: its end, then its readiness, its addresses, its labels.
    pub fn of_pod(states: (Option<&Arc<Pod>>, Option<&Arc<Pod>>)) -> Change {
        let (old, Some(new)) = states else { return Cause::PodDeleted.into() };
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
        let since = new.ready_changed.filter(|_| matches!(cause, Cause::PodReady | Cause::PodUnready));
        Change { cause, since }
    }

    /// What happened to a Service (`None`: it was or is not there).
    pub fn of_service(states: (Option<&Arc<Service>>, Option<&Arc<Service>>)) -> Change {
        match states {
            (None, Some(new)) => Change { cause: Cause::ServiceCreated, since: new.created },
            (Some(_), Some(_)) => Cause::ServiceChanged.into(),
            (_, None) => Cause::ServiceDeleted.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn pod() -> Pod {
        Pod {
            labels: [("app", "web")].into_iter().collect(),
            pod_ips: ["10.0.0.1"].into(),
            ready_changed: Some(AT),
            ..Pod::default()
        }
    }

    fn ready() -> Pod {
        Pod { ready: true, ..pod() }
    }

    #[rstest]
    #[case::starts(None, Some(pod()), Cause::PodOther, false)]
    #[case::seen_first_when_ready(None, Some(ready()), Cause::PodReady, true)]
    #[case::ready(Some(pod()), Some(ready()), Cause::PodReady, true)]
    #[case::ready_without_a_time(
        Some(pod()), Some(Pod { ready_changed: None, ..ready() }), Cause::PodReady, false)]
    #[case::unready(Some(ready()), Some(pod()), Cause::PodUnready, true)]
    #[case::is_to_end(Some(ready()), Some(Pod { terminating: true, ..ready() }), Cause::PodTerminating, false)]
    #[case::is_to_end_and_unready_at_once(
        Some(ready()), Some(Pod { terminating: true, ..pod() }), Cause::PodTerminating, false)]
    #[case::unready_on_its_way_out(
        Some(Pod { terminating: true, ..ready() }), Some(Pod { terminating: true, ..pod() }), Cause::PodUnready, true)]
    #[case::still_on_its_way_out(
        Some(Pod { terminating: true, ..pod() }), Some(Pod { terminating: true, ..pod() }), Cause::PodOther, false)]
    #[case::gone(Some(ready()), None, Cause::PodDeleted, false)]
    #[case::address(Some(pod()), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..pod() }), Cause::PodAddress, false)]
    #[case::address_and_ready(Some(pod()), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..ready() }), Cause::PodReady, true)]
    #[case::labels(Some(pod()), Some(Pod { labels: [("app", "api")].into_iter().collect(), ..pod() }), Cause::PodLabels, false)]
    #[case::hostname(Some(pod()), Some(Pod { hostname: "h".into(), ..pod() }), Cause::PodLabels, false)]
    fn pods(#[case] old: Option<Pod>, #[case] new: Option<Pod>, #[case] cause: Cause, #[case] dated: bool) {
        let (old, new) = (old.map(Arc::new), new.map(Arc::new));
        let since = dated.then_some(AT);
        assert_eq!(Change::of_pod((old.as_ref(), new.as_ref())), Change { cause, since });
    }

    #[rstest]
    #[case::created(false, true, Change { cause: Cause::ServiceCreated, since: Some(AT) })]
    #[case::changed(true, true, Cause::ServiceChanged.into())]
    #[case::deleted(true, false, Cause::ServiceDeleted.into())]
    fn services(#[case] before: bool, #[case] after: bool, #[case] expected: Change) {
        let service = Arc::new(Service { created: Some(AT), ..Service::default() });
        let states = (before.then_some(&service), after.then_some(&service));
        assert_eq!(Change::of_service(states), expected);
    }
}
