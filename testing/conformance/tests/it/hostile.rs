//! Scenarios on hostile clusters, with the final objects and the numbers of writes that any implementation must
//! satisfy. See the README of this crate.

use kube_endpoints_conformance::{Hostile, Verdict};

use crate::ours;

fn play(name: &str) {
    let scenario = Hostile::all().into_iter().find(|it| it.name() == name);
    let scenario = scenario.unwrap_or_else(|| panic!("there is no scenario {name}"));
    let kit = ours::kit();
    if let Some(reason) = scenario.skips(&kit.profile, &kit.target, &*kit.subject) {
        eprintln!("SKIPPED {name}: {reason}");
        return;
    }
    // Boxed: the future has many kilobytes.
    let entry = ours::block_on(Box::pin(kit.play_hostile(None, &scenario)));
    for note in &entry.notes {
        eprintln!("SKIPPED {name}: {note}");
    }
    if let Verdict::Failed(failure) = entry.verdict {
        panic!("{name}{failure}");
    }
}

/// Declares a test for each scenario: `group::case` in Rust is `group/case` with dashes for underscores.
macro_rules! scenarios {
    ($($group:ident: $($case:ident)*;)*) => {
        $(mod $group {
            $(#[test]
            fn $case() {
                super::play(&super::name(stringify!($group), stringify!($case)));
            })*
        })*

        #[test]
        fn every_scenario_has_a_test() {
            let tested = [$($(name(stringify!($group), stringify!($case)),)*)*];
            let mut all: Vec<_> = Hostile::all().iter().map(|it| it.name().to_owned()).collect();
            for name in &tested {
                all.retain(|it| it != name);
            }
            assert!(all.is_empty(), "not tested: {all:?}");
        }
    };
}

fn name(group: &str, case: &str) -> String {
    format!("{}/{}", group.replace('_', "-"), case.replace('_', "-"))
}

scenarios! {
    changed:
        label stamp serving_dropped endpoints_reordered endpoints_truncated label_on_endpoints no_labels_on_endpoints;
    cleanups: skip_label skip_label_late selector selector_late;
    first_lists: pods services nodes slices endpoints truncated namespace reads_too;
    later_lists: pods services nodes slices endpoints truncated namespace reads_too;
    deletions:
        slice_finalizer slice_foreground mirrored_slice_finalizer mirrored_slice_foreground endpoints_finalizer
        endpoints_foreground;
    edits: resync relist;
    hints: reported_once;
    mirrored: name_kept;
    namespaces: terminating;
    refused: managed_by_dropped service_name_changed updates one_address_family;
    responses:
        reset reset_late timeout timeout_late mirrored_reset mirrored_reset_late mirrored_timeout mirrored_timeout_late;
    restarts:
        pods_replaced pods_deleted slices_deleted half_of_slices_deleted slices_edited nodes_deleted nodes_replaced
        namespace_deleted restored fresh_but_one;
    restores: reused_versions many_changes;
    standby: behind;
    times: last first last_before_the_start first_before_the_start;
}
