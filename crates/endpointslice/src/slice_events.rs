//! Owners to sync after a change of a slice, for the slice and the mirroring controller, and those of other authors.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, ObjectKey, Text};

use crate::options::Options;

/// Whether slices that are being deleted count for their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminating {
    /// They do not count, so the end of their deletion enqueues nothing (ES-5). Used by the slice controller.
    Ignored,
    /// They count until they are gone (MI-4). Used by the mirroring controller.
    Counted,
}

/// Returns the owners to sync after a slice changed from the old to the new state (ES-H3 to ES-H6): for slices of
/// Services, the Services. A state is `None` if the slice did not exist or no longer exists.
///
/// The states must come from a cache that stores own writes at once, so that every change was made by another client. A
/// slice of this controller that was created, changed or deleted enqueues its owner; so does one whose managed-by label
/// changed from or to this controller. A changed [owner label](Options::owner_label) enqueues the new and the old owner.
/// A change that leaves the generation as it is (annotations, owner references) enqueues nothing, as upstream (TR-8).
///
/// If the name of an owner is [abbreviated](Options::label_value), its key is that of the owner reference.
pub fn owners_to_sync(
    (old, new): (Option<&Arc<EndpointSlice>>, Option<&Arc<EndpointSlice>>),
    options: &Options,
    terminating: Terminating,
) -> Vec<ObjectKey> {
    let is_ours = |slice: &EndpointSlice| slice.is_managed_by(&options.controller);
    let label = |slice: &'_ EndpointSlice| slice.label(&options.owner_label).cloned();
    let woken_by = |slice, wakes: bool| owner_of(slice, options).filter(|_| wakes).into_iter().collect::<Vec<_>>();
    match (old, new) {
        (None, None) => Vec::new(),
        (None, Some(new)) => woken_by(new, is_ours(new)),
        (Some(old), None) => {
            let ignored = terminating == Terminating::Ignored && old.metadata.deletion_timestamp.is_some();
            woken_by(old, is_ours(old) && !ignored)
        }
        (Some(old), Some(new)) if label(old) != label(new) => {
            woken_by(new, true).into_iter().chain(woken_by(old, true)).collect()
        }
        (Some(old), Some(new)) => {
            let changed_hands = is_ours(old) != is_ours(new);
            woken_by(new, changed_hands || is_ours(new) && is_changed(old, new))
        }
    }
}

/// Returns whether another client wrote a slice, or deleted and created it again between two events. A lower resource
/// version means that the server was restored from a backup and has lost later writes.
fn is_changed(old: &EndpointSlice, new: &EndpointSlice) -> bool {
    let (old, new) = (&old.metadata, &new.metadata);
    old.uid != new.uid || old.generation != new.generation || new.resource_version < old.resource_version
}

fn owner_of(slice: &EndpointSlice, options: &Options) -> Option<ObjectKey> {
    let value = slice.label(&options.owner_label)?;
    let is_abbreviated = |name: &&Text| **name != *value && *options.label_value(name) == **value;
    let mut references = slice.metadata.owner_references.iter().map(|it| &it.name);
    let name = if options.are_for_services() { None } else { references.find(is_abbreviated) }.unwrap_or(value);
    Some(ObjectKey { namespace: slice.metadata.namespace.clone(), name: name.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
    use kube_endpoint_model::{Labels, OwnerReference};
    use rstest::rstest;

    const OURS: &str = "ours";

    fn slice(service: &str, manager: &str, generation: i64) -> EndpointSlice {
        let mut slice = EndpointSlice::default();
        slice.metadata.namespace = "ns".into();
        slice.metadata.uid = "u".into();
        slice.metadata.generation = generation;
        let labels = [(SERVICE_NAME_LABEL, service), (SLICE_MANAGED_BY_LABEL, manager)];
        slice.metadata.labels = labels.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Labels>();
        slice
    }

    fn with(mut slice: EndpointSlice, change: impl FnOnce(&mut EndpointSlice)) -> EndpointSlice {
        change(&mut slice);
        slice
    }

    fn terminating(slice: EndpointSlice) -> EndpointSlice {
        with(slice, |it| it.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH))
    }

    // upstream: TestOnEndpointSliceUpdate
    #[rstest]
    #[case::created_by_someone(None, Some(slice("web", OURS, 1)), &["ns/web"])]
    #[case::without_a_service(None, Some(slice("", OURS, 1)), &[])]
    #[case::changed(Some(slice("web", OURS, 1)), Some(slice("web", OURS, 2)), &["ns/web"])]
    #[case::changed_beside_its_generation(Some(slice("web", OURS, 2)), Some(slice("web", OURS, 2)), &[])]
    #[case::generation_went_back(Some(slice("web", OURS, 3)), Some(slice("web", OURS, 2)), &["ns/web"])]
    #[case::deleted(Some(slice("web", OURS, 1)), None, &["ns/web"])]
    #[case::moved(Some(slice("a", OURS, 1)), Some(slice("b", OURS, 2)), &["ns/b", "ns/a"])]
    #[case::lost_its_service(Some(slice("b", OURS, 2)), Some(slice("", OURS, 3)), &["ns/b"])]
    #[case::handed_over(Some(slice("web", OURS, 1)), Some(slice("web", "theirs", 2)), &["ns/web"])]
    #[case::taken_over(Some(slice("web", "theirs", 2)), Some(slice("web", OURS, 3)), &["ns/web"])]
    #[case::theirs_created(None, Some(slice("web", "theirs", 1)), &[])]
    #[case::theirs_changed(Some(slice("web", "theirs", 1)), Some(slice("web", "theirs", 2)), &[])]
    #[case::theirs_deleted(Some(slice("web", "theirs", 1)), None, &[])]
    #[case::deletion_begun(Some(slice("web", OURS, 1)), Some(terminating(slice("web", OURS, 2))), &["ns/web"])]
    #[case::created_again(Some(slice("web", OURS, 1)), Some(with(slice("web", OURS, 1), |it| it.metadata.uid = "v".into())), &["ns/web"])]
    #[case::restored(
        Some(with(slice("web", OURS, 1), |it| it.metadata.resource_version = 9.into())),
        Some(with(slice("web", OURS, 1), |it| it.metadata.resource_version = 7.into())),
        &["ns/web"])]
    fn wakes(#[case] old: Option<EndpointSlice>, #[case] new: Option<EndpointSlice>, #[case] expected: &[&str]) {
        let (old, new) = (old.map(Arc::new), new.map(Arc::new));
        let options = Options::for_services(OURS);
        let woken = owners_to_sync((old.as_ref(), new.as_ref()), &options, Terminating::Ignored);
        assert_eq!(woken.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case::slice_controller(Terminating::Ignored, 0)]
    #[case::mirroring(Terminating::Counted, 1)]
    fn the_end_of_a_deletion_wakes_who_counts_terminating_slices(#[case] rule: Terminating, #[case] expected: usize) {
        let going = Arc::new(terminating(slice("web", OURS, 2)));
        assert_eq!(owners_to_sync((Some(&going), None), &Options::for_services(OURS), rule).len(), expected);
    }

    const LONG: &str = "a-name-that-is-too-long-for-the-value-of-a-label-since-it-has-more-than-63-characters";

    fn abbreviated() -> String {
        Options::new(OURS).label_value(LONG).into_owned()
    }

    /// Slices of owners that are no Services, which have the label `ours/owner`.
    #[rstest]
    #[case::by_its_label("edge", &[], Some("ns/edge"))]
    #[case::other_references_do_not_count("edge", &["web"], Some("ns/edge"))]
    #[case::of_a_service_only("", &["web"], None)]
    #[case::abbreviated(&abbreviated(), &["web", LONG], Some(&*format!("ns/{LONG}")))]
    fn other_owners(#[case] label: &str, #[case] references: &[&str], #[case] expected: Option<&str>) {
        let mut slice = slice("web", OURS, 1);
        if !label.is_empty() {
            slice.metadata.labels = slice.metadata.labels.with([("ours/owner", label)]);
        }
        let reference = |name: &&str| OwnerReference { name: (*name).into(), ..OwnerReference::default() };
        slice.metadata.owner_references = references.iter().map(reference).collect();
        let woken = owners_to_sync((None, Some(&Arc::new(slice))), &Options::new(OURS), Terminating::Ignored);
        assert_eq!(woken.first().map(ToString::to_string).as_deref(), expected);
    }
}
