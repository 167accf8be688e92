//! Explanations of Services, as `kubectl endpoints explain` prints them.

use std::{fmt::Write as _, sync::Arc};

use jiff::Timestamp;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service, project};
use kube_endpoints_explain::{PodDetails, Settings, TextStyle, World, text};
use kube_wire::Decode;
use serde::Serialize;

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
    world.add_services(projections::<_, Service>(cluster.services.values()));
    world.add_pods(projections::<_, Pod>(cluster.pods.values()));
    world.add_nodes(projections::<_, Node>(cluster.nodes.values()));
    world.add_endpoints(projections::<_, Endpoints>(cluster.endpoints.values()));
    world.add_slices(projections::<_, EndpointSlice>(cluster.slices.values()));
    for (key, pod) in &cluster.pods {
        world.add_pod_details(key.clone(), PodDetails::from(&**pod));
    }
    world
}

/// Returns the projections of objects, which the API server has accepted.
fn projections<'a, F: Serialize + 'a, T: Decode>(
    full: impl Iterator<Item = &'a Arc<F>>,
) -> impl Iterator<Item = Arc<T>> {
    full.map(|object| Arc::new(project(&**object).expect("an object of the API")))
}
