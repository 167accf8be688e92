//! Readers that an audit log shows during a run.

use kube_endpoints_history::audit::reads::Reads;
use kube_wire::Object as _;

use super::Stop;
use crate::sightings::Sightings;
use crate::{ReaderRequest, WholeEndpoints};

/// Returns why requests of an audit log stop a run that deletes objects: the first request that concerns one of them and does not come
/// from a controller, the API server or this program. `None` if there is none.
pub fn first_reader<'a>(reads: &Reads, objects: impl IntoIterator<Item = &'a WholeEndpoints>) -> Option<Stop> {
    let sightings = Sightings::new(Some(reads));
    let concerned = objects.into_iter().flat_map(|object| {
        let concerning = sightings.concerning(object.namespace(), object.name(), object.labels());
        concerning.map(move |sighting| (sighting, object))
    });
    let (sighting, object) = concerned.min_by_key(|(sighting, _)| sighting.seen.first)?;
    let agent = sighting.request.agent.split(' ').next().unwrap_or_default();
    let what = format!("{} ({agent})", ReaderRequest::new(sighting.request, sighting.seen).what());
    Some(Stop::Read { key: object.key(), by: sighting.who.clone(), what })
}
