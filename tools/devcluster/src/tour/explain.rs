//! Explanations of Services, as `kubectl endpoints explain` prints them.

use std::{fmt::Write as _, sync::Arc};

use jiff::Timestamp;
use kube_endpoint_model::{Node, ObjectKey, Pod, Service, With, project};
use kube_endpoints_explain::{PodDetails, Settings, TextStyle, World, text};
use kube_wire::{Decode, Dynamic};

use super::expect::NAMESPACE;
use crate::cluster::Snapshot;

/// Returns the text of the explanations of these Services, indented by two spaces. Services that do not exist are left out. Times of the UTC day of `now` have no date.
pub(super) fn explanations(cluster: &Snapshot, services: &[&str], color: bool, now: Timestamp) -> String {
    let world = world(cluster, Some(now));
    let style = TextStyle { color, wide: false, now: Some(now) };
    let reports = services.iter().filter_map(|name| world.service(&ObjectKey::new(NAMESPACE, *name)));
    let mut indented = String::new();
    for report in reports {
        for line in text::service(&report, style).lines() {
            // Writing to a string cannot fail.
            let _ = writeln!(indented, "  {line}");
        }
    }
    indented
}

/// Returns the objects of a cluster for explanations. The settings are those of the controllers of the tour: the
/// defaults.
pub(super) fn world(cluster: &Snapshot, now: Option<Timestamp>) -> World {
    let mut settings = Settings::default();
    settings.now = now;
    let mut world = World::new(settings);
    world.add_services(cluster.services.values().map(|service| Arc::new(projection::<Service>(service))));
    world.add_nodes(cluster.nodes.values().map(|node| Arc::new(projection::<Node>(node))));
    world.add_endpoints(cluster.endpoints.values().cloned());
    world.add_slices(cluster.slices.values().cloned());
    for (key, pod) in &cluster.pods {
        let With { object, part } = projection::<With<Pod, PodDetails>>(pod);
        world.add_pods([Arc::new(object)]);
        world.add_pod_details(key.clone(), part);
    }
    world
}

/// Returns the projection of an object, which the API server has accepted.
fn projection<T: Decode>(object: &Dynamic) -> T {
    project(&object.value).expect("an object of the API")
}
