//! Which changes of a Pod require a sync, and of which Services (PP-1, PP-2, PP-4, PP-5, PP-7 to PP-9).
//!
//! The rules apply to any projection of a Pod, and to any object that selects Pods as a Service does.

use std::sync::Arc;

use crate::{ObjectKey, PodFields, Selecting, SelectorIndex, membership};

/// A Service, or another object that selects Pods, to sync after a Pod changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceToSync {
    /// Key of the object.
    pub key: ObjectKey,
    /// Whether it loses a ready endpoint, to which clients still connect: the Pod was one and is removed, not
    /// ready, terminating, finished, no longer selected, or has other addresses.
    pub loses_ready_endpoint: bool,
}

/// States of a Pod before and after a change; `None` if it did not exist or was removed.
type States<'a, P> = (Option<&'a Arc<P>>, Option<&'a Arc<P>>);

/// Returns the Services to sync after a Pod changed, sorted by name; a state is `None` if the Pod did not exist or was
/// removed. `services` may be the index of other objects that select Pods.
///
/// - Pod added or removed: all Services that select it.
/// - Update with the same resource version: none.
/// - Labels, hostname or subdomain changed: the Services that the Pod left or joined.
/// - Readiness, addresses, uid or termination changed (PP-5): all Services that select it.
///
/// As upstream, a Pod that fails without one of these changes causes no sync (EC-2), and every update of a terminating
/// Pod causes one (EC-1).
pub fn services_to_sync<P: PodFields, S: Selecting>(
    states @ (old, new): States<'_, P>,
    services: &SelectorIndex<S>,
) -> Vec<ServiceToSync> {
    let found = match states {
        (None, None) => return Vec::new(),
        (Some(pod), None) | (None, Some(pod)) => services.selecting(pod.namespace(), pod.labels()),
        (Some(old), Some(new)) => services_to_sync_on_update(&**old, &**new, services),
    };
    let to_sync = |service: &Arc<S>| ServiceToSync {
        key: service.key(),
        loses_ready_endpoint: old.is_some_and(|old| {
            is_ready_endpoint(&**old, &**service) && new.is_none_or(|new| is_lost(&**old, &**new, &**service))
        }),
    };
    found.into_iter().map(to_sync).collect()
}

fn services_to_sync_on_update<'a, P: PodFields, S: Selecting>(
    old: &P,
    new: &P,
    services: &'a SelectorIndex<S>,
) -> Vec<&'a Arc<S>> {
    if old.resource_version() == new.resource_version() {
        return Vec::new();
    }
    let changed = endpoint_changed(old, new);
    let (before, after) = (old.view(), new.view());
    let relabelled =
        old.labels() != new.labels() || (before.hostname, before.subdomain) != (after.hostname, after.subdomain);
    if !relabelled {
        return if changed { services.selecting(new.namespace(), new.labels()) } else { Vec::new() };
    }
    let joined = services.selecting(new.namespace(), new.labels());
    if old.labels().is_empty() {
        return joined; // EC-48: as upstream, a Pod without labels is not looked up.
    }
    let left = services.selecting(old.namespace(), old.labels());
    let is_in = |list: &[&Arc<S>], service: &Arc<S>| list.binary_search_by(|it| it.name().cmp(service.name())).is_ok();
    // Services that the Pod stays in need a sync only if the Pod itself changed.
    let joined_or_changed = joined.iter().filter(|service| changed || !is_in(&left, service));
    let mut found: Vec<_> = joined_or_changed.chain(left.iter().filter(|it| !is_in(&joined, it))).copied().collect();
    found.sort_unstable_by(|a, b| a.name().cmp(b.name()));
    found
}

/// Returns whether a Pod is a ready endpoint of a Service, whatever its ports.
fn is_ready_endpoint(pod: &impl PodFields, service: &impl Selecting) -> bool {
    let publish = service.publishes_not_ready();
    service.selects(pod.labels())
        && membership::exclusion(pod, publish).is_none()
        && membership::unready(pod, publish).is_none()
}

/// Returns whether an update removes the endpoint that the old state of the Pod was.
fn is_lost<P: PodFields>(old: &P, new: &P, service: &impl Selecting) -> bool {
    old.uid() != new.uid() || old.view().pod_ips != new.view().pod_ips || !is_ready_endpoint(new, service)
}

/// Returns whether a Pod changed in a way that its endpoint shows (PP-5).
///
/// Unlike upstream, the uid is compared too: if a list replaces a Pod by another one of the same name, upstream keeps
/// an endpoint that refers to the old Pod.
fn endpoint_changed<P: PodFields>(old: &P, new: &P) -> bool {
    let (before, after) = (old.view(), new.view());
    old.uid() != new.uid()
        || before.terminating
        || after.terminating
        || before.ready != after.ready
        || before.pod_ips != after.pod_ips
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Index as _, Labels, Pod, Service, ServiceIndex};
    use rstest::rstest;

    fn labels(text: &str) -> Labels {
        text.split(',').filter(|it| !it.is_empty()).filter_map(|pair| pair.split_once('=')).collect()
    }

    fn services() -> ServiceIndex {
        let mut index = ServiceIndex::default();
        for (name, selector) in
            [("a", "app=a"), ("b", "app=b"), ("front", "tier=front"), ("a-front", "app=a,tier=front")]
        {
            let service = Service {
                namespace: "ns".into(),
                name: name.into(),
                selector: Some(labels(selector)),
                ..Service::default()
            };
            index.update(None, Some(&Arc::new(service)));
        }
        index.update(
            None,
            Some(&Arc::new(Service { namespace: "ns".into(), name: "none".into(), ..Service::default() })),
        );
        index
    }

    fn pod(version: &str, pod_labels: &str) -> Pod {
        Pod {
            namespace: "ns".into(),
            name: "p".into(),
            resource_version: version.into(),
            labels: labels(pod_labels),
            pod_ips: ["10.0.0.1"].into(),
            ..Pod::default()
        }
    }

    #[track_caller]
    fn check(old: Option<Pod>, new: Option<Pod>, expected: &[&str]) {
        let (old, new) = (old.map(Arc::new), new.map(Arc::new));
        let keys = services_to_sync((old.as_ref(), new.as_ref()), &services());
        assert_eq!(keys.iter().map(|it| &*it.key.name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn added_and_deleted_pods_sync_all_services_that_select_them() {
        check(None, None, &[]);
        let it = pod("1", "app=a,tier=front,x=y");
        check(None, Some(it.clone()), &["a", "a-front", "front"]);
        check(Some(it), None, &["a", "a-front", "front"]);
        check(None, Some(pod("1", "")), &[]);
    }

    // EC-48
    #[test]
    fn a_pod_with_its_first_labels_enqueues_all_services_that_match() {
        let mut index = services();
        let selector = Some(Labels::default());
        let all = Service { namespace: "ns".into(), name: "all".into(), selector, ..Service::default() };
        index.update(None, Some(&Arc::new(all)));
        let enqueued = |old: &str, new: &str| -> Vec<String> {
            let (old, new) = (Arc::new(pod("1", old)), Arc::new(pod("2", new)));
            services_to_sync((Some(&old), Some(&new)), &index).iter().map(|it| it.key.name.to_string()).collect()
        };
        assert_eq!(enqueued("", "app=a"), ["a", "all"]);
        assert_eq!(enqueued("x=y", "app=a"), ["a"], "a Service that the Pod stays in is not enqueued");
    }

    // upstream: Test_podChanged, TestDetermineNeededServiceUpdates
    #[rstest]
    #[case::same_version(pod("1", "app=a"), Pod { ready: true, ..pod("1", "app=a") }, &[])]
    #[case::irrelevant_fields(pod("1", "app=a"), Pod { node_name: "n".into(), finished: true, ..pod("2", "app=a") }, &[])]
    #[case::ready(pod("1", "app=a"), Pod { ready: true, ..pod("2", "app=a") }, &["a"])]
    #[case::address(pod("1", "app=a"), Pod { pod_ips: ["10.0.0.2"].into(), ..pod("2", "app=a") }, &["a"])]
    #[case::replaced_by_a_pod_of_the_same_name(pod("1", "app=a"), Pod { uid: "2".into(), ..pod("2", "app=a") }, &["a"])]
    #[case::first_address(Pod { pod_ips: [""; 0].into(), ..pod("1", "app=a") }, pod("2", "app=a"), &["a"])]
    #[case::ipv6_address(
        Pod { pod_ips: ["fd00::1"].into(), ..pod("1", "app=a") }, Pod { pod_ips: ["fd00::2"].into(), ..pod("2", "app=a") },
        &["a"])]
    #[case::second_address(
        pod("1", "app=a"), Pod { pod_ips: ["10.0.0.1", "fd00::1"].into(), ..pod("2", "app=a") }, &["a"])]
    #[case::other_second_address(
        Pod { pod_ips: ["10.0.0.1", "fd00::1"].into(), ..pod("1", "app=a") },
        Pod { pod_ips: ["10.0.0.1", "fd00::2"].into(), ..pod("2", "app=a") }, &["a"])]
    #[case::no_second_address(
        Pod { pod_ips: ["10.0.0.1", "fd00::1"].into(), ..pod("1", "app=a") }, pod("2", "app=a"), &["a"])]
    #[case::terminating(pod("1", "app=a"), Pod { terminating: true, ..pod("2", "app=a") }, &["a"])]
    #[case::still_terminating(
        Pod { terminating: true, ..pod("1", "app=a") }, Pod { terminating: true, ..pod("2", "app=a") }, &["a"])]
    #[case::moved(pod("1", "app=a"), pod("2", "app=b"), &["a", "b"])]
    #[case::joined_another(pod("1", "app=a"), pod("2", "app=a,tier=front"), &["a-front", "front"])]
    #[case::joined_another_and_changed(
        pod("1", "app=a"), Pod { ready: true, ..pod("2", "app=a,tier=front") }, &["a", "a-front", "front"])]
    #[case::left_joined_and_stayed(pod("1", "app=a,tier=front"), pod("2", "app=b,tier=front"), &["a", "a-front", "b"])]
    #[case::left_joined_stayed_and_changed(
        pod("1", "app=a,tier=front"), Pod { ready: true, ..pod("2", "app=b,tier=front") },
        &["a", "a-front", "b", "front"])]
    #[case::left_all(pod("1", "app=a"), pod("2", ""), &["a"])]
    #[case::first_labels(pod("1", ""), pod("2", "app=a"), &["a"])]
    #[case::unselected_label(pod("1", "app=a"), pod("2", "app=a,new=label"), &[])]
    #[case::unselected_label_and_changed(
        pod("1", "app=a,x=1"), Pod { ready: true, ..pod("2", "app=a,x=2") }, &["a"])]
    #[case::hostname_alone(pod("1", "app=a"), Pod { hostname: "h".into(), ..pod("2", "app=a") }, &[])]
    fn updates(#[case] old: Pod, #[case] new: Pod, #[case] expected: &[&str]) {
        check(Some(old), Some(new), expected);
    }

    fn ready(pod: Pod) -> Pod {
        Pod { ready: true, ..pod }
    }

    /// Services that lose a ready endpoint. `published` has the selector `app=published` and publishes Pods that are
    /// not ready.
    #[rstest]
    #[case::added(None, Some(ready(pod("1", "app=a"))), &[])]
    #[case::removed(Some(ready(pod("1", "app=a"))), None, &["a"])]
    #[case::removed_while_not_ready(Some(pod("1", "app=a")), None, &[])]
    #[case::not_ready(Some(ready(pod("1", "app=a"))), Some(pod("2", "app=a")), &["a"])]
    #[case::ready(Some(pod("1", "app=a")), Some(ready(pod("2", "app=a"))), &[])]
    #[case::terminating(
        Some(ready(pod("1", "app=a"))), Some(Pod { terminating: true, ..ready(pod("2", "app=a")) }), &["a"])]
    #[case::still_terminating(
        Some(Pod { terminating: true, ..ready(pod("1", "app=a")) }), Some(Pod { terminating: true, ..pod("2", "app=a") }),
        &[])]
    #[case::removed_while_terminating(Some(Pod { terminating: true, ..ready(pod("1", "app=a")) }), None, &[])]
    #[case::finished_and_not_ready(
        Some(ready(pod("1", "app=a"))), Some(Pod { finished: true, ..pod("2", "app=a") }), &["a"])]
    #[case::other_address(
        Some(ready(pod("1", "app=a"))), Some(Pod { pod_ips: ["10.0.0.2"].into(), ..ready(pod("2", "app=a")) }), &["a"])]
    #[case::first_address(
        Some(Pod { pod_ips: [""; 0].into(), pod_ip_family: None, ..ready(pod("1", "app=a")) }),
        Some(ready(pod("2", "app=a"))), &[])]
    #[case::replaced(
        Some(ready(pod("1", "app=a"))), Some(Pod { uid: "2".into(), ..ready(pod("2", "app=a")) }), &["a"])]
    #[case::moved(Some(ready(pod("1", "app=a"))), Some(ready(pod("2", "app=b"))), &["a"])]
    #[case::joined_another(Some(ready(pod("1", "app=a"))), Some(ready(pod("2", "app=a,tier=front"))), &[])]
    #[case::left_one_of_two(
        Some(ready(pod("1", "app=a,tier=front"))), Some(ready(pod("2", "tier=front"))), &["a", "a-front"])]
    #[case::published_and_removed(Some(pod("1", "app=published")), None, &["published"])]
    #[case::published_and_not_ready(Some(ready(pod("1", "app=published"))), Some(pod("2", "app=published")), &[])]
    #[case::published_and_terminating(
        Some(pod("1", "app=published")), Some(Pod { terminating: true, ..pod("2", "app=published") }), &[])]
    fn ready_endpoints_are_lost(#[case] old: Option<Pod>, #[case] new: Option<Pod>, #[case] expected: &[&str]) {
        let mut index = services();
        let published = Service {
            namespace: "ns".into(),
            name: "published".into(),
            selector: Some(labels("app=published")),
            publish_not_ready_addresses: true,
            ..Service::default()
        };
        index.update(None, Some(&Arc::new(published)));
        let (old, new) = (old.map(Arc::new), new.map(Arc::new));
        let found = services_to_sync((old.as_ref(), new.as_ref()), &index);
        let losing: Vec<&str> = found.iter().filter(|it| it.loses_ready_endpoint).map(|it| &*it.key.name).collect();
        assert_eq!(losing, expected);
    }
}
