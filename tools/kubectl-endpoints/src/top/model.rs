//! State of the view: the objects, and the changes of the slices of each Service.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{
    EndpointSlice, Index as _, ObjectKey, Pod, PodIndex, ResourceVersion, Service, ServiceIndex, Text, pod_change,
};
use kube_informer::Event;
use kube_wire::Object as _;

use super::activity::{Activity, Latency, Operation, SliceChange};
use super::counts::Counts;
use super::pod_endpoints::PodEndpoints;

/// Time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Time since the start of the program, from a monotonic clock.
    pub(crate) elapsed: Duration,
    /// Wall-clock time.
    pub(crate) utc: Timestamp,
}

/// Values of one Service in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The Service.
    pub(crate) service: ObjectKey,
    /// Number of slice changes since the start.
    pub(crate) changes: u64,
    /// Number of slice changes in the last minute.
    pub(crate) per_minute: usize,
    /// Endpoints in all slices.
    pub(crate) endpoints: Counts,
    /// Times from a change to its slice; `None` without a sample.
    pub(crate) latency: Option<Latency>,
}

/// Objects and activity of one Service.
#[derive(Debug)]
pub(crate) struct Detail<'a> {
    /// The Service.
    pub(crate) service: &'a Arc<Service>,
    /// All slices with its label, by name.
    pub(crate) slices: Vec<&'a Arc<EndpointSlice>>,
    /// Pods that it selects, by name.
    pub(crate) pods: Vec<Arc<Pod>>,
    /// Changes of its slices.
    pub(crate) activity: &'a Activity,
}

/// State of the view. Events that are no changes, such as initial lists, only update the objects.
#[derive(Debug, Default)]
pub(crate) struct Model {
    services: BTreeMap<ObjectKey, Watched>,
    /// Slices by Service and name, including those of Services that are not shown.
    slices: HashMap<ObjectKey, BTreeMap<Text, Arc<EndpointSlice>>>,
    selectors: ServiceIndex,
    pods: PodIndex,
}

#[derive(Debug)]
struct Watched {
    service: Arc<Service>,
    activity: Activity,
}

impl Model {
    /// Applies an event of a Service.
    pub(crate) fn service(&mut self, event: &Event<Service>, at: Moment) {
        let (old, new) = event.states();
        self.selectors.update(old, new);
        let Some(new) = new else {
            self.services.remove(&event.object().key());
            return;
        };
        // A Service that replaces another one of the same name starts without changes.
        let old = old.filter(|old| old.uid == new.uid);
        if old.is_none() {
            self.services.remove(&new.key());
        }
        let watched = self.services.entry(new.key());
        let watched = watched.or_insert_with(|| Watched { service: Arc::clone(new), activity: Activity::default() });
        watched.service = Arc::clone(new);
        let observed = event.is_change() && !event.is_from_list();
        let selects = new.selector.is_some() && !new.external_name;
        if observed && selects && old.is_none_or(|old| !equal_beyond_version(old, new)) {
            watched.activity.service_changed(at.elapsed);
        }
    }

    /// Applies an event of a Pod.
    pub(crate) fn pod(&mut self, event: &Event<Pod>, at: Moment) {
        let states @ (old, new) = event.states();
        self.pods.update(old, new);
        if !event.is_change() {
            return;
        }
        let name = &event.object().name;
        for pod_change::ServiceToSync { key, .. } in pod_change::services_to_sync(states, &self.selectors) {
            let Some(Watched { service, activity }) = self.services.get_mut(&key) else { continue };
            let selected = |pod: &&Arc<Pod>| service.selector.as_ref().is_some_and(|it| pod.labels.contains_all(it));
            let pod = new.filter(selected);
            let endpoints = PodEndpoints::collect(slices_of(&self.slices, &key), |pod| pod == name.as_str());
            // A list does not show when the Pod changed, and an event may change nothing in the slices, or arrive after
            // that of the slice.
            if event.is_from_list() || endpoints.show(name, pod.map(|pod| &**pod), service) {
                activity.forget_pod(name);
            } else {
                activity.pod_changed(name.clone(), pod.cloned(), at.elapsed);
            }
        }
    }

    /// Applies an event of a slice.
    pub(crate) fn slice(&mut self, event: &Event<EndpointSlice>, at: Moment) {
        let (old, new) = event.states();
        let (old_owner, new_owner) = (old.and_then(|it| owner(it)), new.and_then(|it| owner(it)));
        if let (Some(old), Some(owner)) = (old, &old_owner) {
            self.remove_slice(owner, &old.metadata.name);
        }
        if let (Some(new), Some(owner)) = (new, &new_owner) {
            self.slices.entry(owner.clone()).or_default().insert(new.metadata.name.clone(), Arc::clone(new));
        }
        if !event.is_change() {
            return;
        }
        let observed = !event.is_from_list();
        if old_owner == new_owner {
            self.slice_changed(new_owner, (old, new), observed, at);
        } else {
            self.slice_changed(old_owner, (old, None), observed, at);
            self.slice_changed(new_owner, (None, new), observed, at);
        }
    }

    fn remove_slice(&mut self, owner: &ObjectKey, name: &str) {
        if let Some(slices) = self.slices.get_mut(owner) {
            slices.remove(name);
            if slices.is_empty() {
                self.slices.remove(owner);
            }
        }
    }

    /// Records a change in the slices of a Service. Without `observed`, the time of the change is unknown, and there is
    /// no sample.
    fn slice_changed(
        &mut self,
        owner: Option<ObjectKey>,
        (old, new): (Option<&Arc<EndpointSlice>>, Option<&Arc<EndpointSlice>>),
        observed: bool,
        at: Moment,
    ) {
        let Some(owner) = owner else { return };
        let Some(Watched { service, activity }) = self.services.get_mut(&owner) else { return };
        let operation = match (old, new) {
            (None, _) => Operation::Created,
            (Some(_), Some(_)) => Operation::Updated,
            (Some(_), None) => Operation::Deleted,
        };
        let Some(slice) = new.or(old) else { return };
        let mut since = None;
        if slice.is_managed_by(SLICE_CONTROLLER) {
            let slices = slices_of(&self.slices, &owner);
            let endpoints = PodEndpoints::collect(slices.filter(|_| activity.waits_for_pods()), |_| true);
            since = activity.settle(at.elapsed, |name, pod| endpoints.show(name, pod, service));
        }
        let counts = |slice: Option<&Arc<EndpointSlice>>| Counts::of(slice.map(|slice| &**slice));
        let change = SliceChange {
            time: at.utc,
            operation,
            slice: slice.metadata.name.clone(),
            before: counts(old),
            after: counts(new),
            latency: since.filter(|_| observed).map(|since| at.elapsed.saturating_sub(since)),
        };
        activity.record(change, at.elapsed);
    }

    /// Returns the number of Services.
    pub(crate) fn services(&self) -> usize {
        self.services.len()
    }

    /// Returns the rows of all Services, by namespace and name.
    pub(crate) fn rows(&self, now: Duration) -> Vec<Row> {
        let row = |(key, Watched { activity, .. }): (&ObjectKey, &Watched)| Row {
            service: key.clone(),
            changes: activity.changes(),
            per_minute: activity.per_minute(now),
            endpoints: Counts::of(slices_of(&self.slices, key)),
            latency: activity.latency(),
        };
        self.services.iter().map(row).collect()
    }

    /// Returns the objects and activity of a Service; `None` if it does not exist.
    pub(crate) fn detail(&self, key: &ObjectKey) -> Option<Detail<'_>> {
        let Watched { service, activity } = self.services.get(key)?;
        let selector = service.selector.as_ref();
        let mut pods = selector.map_or_else(Vec::new, |selector| self.pods.select(&key.namespace, selector));
        pods.sort_by(|a, b| a.name.cmp(&b.name));
        let slices = self.slices.get(key).into_iter().flat_map(BTreeMap::values).collect();
        Some(Detail { service, slices, pods, activity })
    }
}

fn slices_of<'a>(
    slices: &'a HashMap<ObjectKey, BTreeMap<Text, Arc<EndpointSlice>>>,
    service: &ObjectKey,
) -> impl Iterator<Item = &'a EndpointSlice> {
    slices.get(service).into_iter().flat_map(BTreeMap::values).map(|slice| &**slice)
}

/// Returns the Service of a slice; `None` without its label.
fn owner(slice: &EndpointSlice) -> Option<ObjectKey> {
    slice.service_name().map(|name| ObjectKey::new(slice.metadata.namespace.clone(), name))
}

/// Returns whether two states of a Service differ at most in their resource version.
fn equal_beyond_version(a: &Service, b: &Service) -> bool {
    let comparable = |it: &Service| Service { resource_version: ResourceVersion::default(), ..it.clone() };
    comparable(a) == comparable(b)
}

#[cfg(test)]
mod tests;
