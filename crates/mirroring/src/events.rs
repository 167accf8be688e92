//! Rules for which changes of Services and Endpoints queue a Service.

use kube_endpoint_model::well_known::{LEADER_ANNOTATION, SKIP_MIRROR_LABEL};
use kube_endpoint_model::{Endpoints, Service};
use kube_informer::States;

/// Returns whether an Endpoints object is mirrored if its Service has no selector (MI-1): its label
/// `endpointslice.kubernetes.io/skip-mirror` is not `true`, and it is not a lock of leader election.
pub fn should_mirror(endpoints: &Endpoints) -> bool {
    endpoints.metadata.labels.get(SKIP_MIRROR_LABEL) != Some("true")
        && !endpoints.metadata.annotations.contains_key(LEADER_ANNOTATION)
}

/// Returns whether a change of a Service queues it (MI-H1 to MI-H3): a Service without a selector is added or deleted,
/// or a Service gains or loses its selector.
pub(crate) fn service_change_queues(states: States<'_, Service>) -> bool {
    match states {
        (Some(old), Some(new)) => old.selector.is_none() != new.selector.is_none(),
        (Some(service), None) | (None, Some(service)) => service.selector.is_none(),
        (None, None) => false,
    }
}

/// Returns whether a change of an Endpoints object queues its Service (MI-H4 to MI-H6): the old or the new state is
/// mirrored.
pub(crate) fn endpoints_change_queues((old, new): States<'_, Endpoints>) -> bool {
    [old, new].into_iter().flatten().any(|endpoints| should_mirror(endpoints))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kube_endpoint_model::Labels;
    use rstest::rstest;

    fn endpoints(label: Option<&str>, leader: bool) -> Arc<Endpoints> {
        let mut endpoints = Endpoints::default();
        endpoints.metadata.labels = label.map(|value| (SKIP_MIRROR_LABEL, value)).into_iter().collect();
        endpoints.metadata.annotations = leader.then_some((LEADER_ANNOTATION, "")).into_iter().collect();
        Arc::new(endpoints)
    }

    // upstream: TestShouldMirror
    #[rstest]
    #[case::standard(endpoints(None, false), true)]
    #[case::skip(endpoints(Some("true"), false), false)]
    #[case::skip_false(endpoints(Some("false"), false), true)]
    #[case::skip_invalid(endpoints(Some("True"), false), true)]
    #[case::leader(endpoints(None, true), false)]
    fn mirrored(#[case] it: Arc<Endpoints>, #[case] expected: bool) {
        assert_eq!(should_mirror(&it), expected);
        assert_eq!(endpoints_change_queues((None, Some(&it))), expected);
        assert_eq!(endpoints_change_queues((Some(&it), None)), expected);
        assert!(endpoints_change_queues((Some(&endpoints(None, false)), Some(&it))), "the old state is mirrored");
    }

    const WITHOUT: Option<&str> = None;

    fn service(selector: Option<&str>) -> Arc<Service> {
        let selector = selector.map(|value| [("app", value)].into_iter().collect::<Labels>());
        Arc::new(Service { selector, ..Service::default() })
    }

    #[rstest]
    #[case::added_without(None, Some(service(WITHOUT)), true)]
    #[case::added_with(None, Some(service(Some("x"))), false)]
    #[case::deleted_without(Some(service(WITHOUT)), None, true)]
    #[case::deleted_with(Some(service(Some("x"))), None, false)]
    #[case::selector_gained(Some(service(WITHOUT)), Some(service(Some("x"))), true)]
    #[case::selector_lost(Some(service(Some("x"))), Some(service(WITHOUT)), true)]
    #[case::selector_changed(Some(service(Some("x"))), Some(service(Some("y"))), false)]
    fn services(#[case] old: Option<Arc<Service>>, #[case] new: Option<Arc<Service>>, #[case] expected: bool) {
        assert_eq!(service_change_queues((old.as_ref(), new.as_ref())), expected);
    }
}
