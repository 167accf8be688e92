//! Explanations of Services, as `kubectl endpoints explain` prints them.

use std::{fmt::Write as _, sync::Arc};

use jiff::Timestamp;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_explain::{PodDetails, Settings, TextStyle, World, text};

use super::expect::NAMESPACE;
use crate::{cluster::Snapshot, view::fold};

/// Returns the text of the explanations of these Services, indented by two spaces and folded. Services that do not exist are left
/// out. Times of the UTC day of `now` have no date.
pub(super) fn explanations(cluster: &Snapshot, services: &[&str], color: bool, now: Timestamp) -> String {
    let world = world(cluster, Some(now));
    let style = TextStyle { color, wide: false, now: Some(now) };
    let reports = services.iter().filter_map(|name| world.service(&ObjectKey::new(NAMESPACE, *name)));
    let mut indented = String::new();
    for report in reports {
        for line in text::service(&report, style).lines() {
            // Writing to a string cannot fail.
            let _ = writeln!(indented, "{}", fold(&format!("  {line}")));
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
    world.add_services(cluster.services.values().map(|it| Arc::new(Service::from(&**it))));
    world.add_pods(cluster.pods.values().map(|it| Arc::new(Pod::from(&**it))));
    world.add_nodes(cluster.nodes.values().map(|it| Arc::new(Node::from(&**it))));
    world.add_endpoints(cluster.endpoints.values().map(|it| Arc::new(Endpoints::from(&**it))));
    world.add_slices(cluster.slices.values().map(|it| Arc::new(EndpointSlice::from(&**it))));
    for (key, pod) in &cluster.pods {
        world.add_pod_details(key.clone(), PodDetails::from(&**pod));
    }
    world
}
