//! One pass over the changes of all Services.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use kube_endpoint_model::{ObjectKey, Pod, Text};
use kube_endpoints_explain::{ObjectRef, World};
use kube_wire::Object as _;

use super::concerned::{PodsOfNodes, service_of};
use super::list::{List, Top};
use super::service::{Finished, Followed, Lists};
use super::{Flapping, Options, Summary};
use crate::timeline::{Unknown, apply, set_unknown, unknown_of, world_of};
use crate::{Change, Kind, Recorded, Replay, What};

/// Fewest changes of readiness of a Pod that is flapping.
const FEWEST: u64 = 2;

/// The Services and what has happened to them so far.
pub(super) struct Collector {
    from: Timestamp,
    world: World,
    nodes: PodsOfNodes,
    services: BTreeMap<ObjectKey, Followed>,
    lists: Lists,
    /// Number of changes of readiness, of the Pods that exist.
    flips: HashMap<ObjectKey, u64>,
    flapping: Top<Flapping>,
    gaps: Top<Unknown>,
    top: usize,
    timelines: usize,
}

impl Collector {
    pub(super) fn new(replay: &Replay<'_>, from: Timestamp, options: &Options) -> Collector {
        let top = options.top;
        let mut collector = Collector {
            from,
            world: world_of(replay, options.settings.clone()),
            nodes: PodsOfNodes::default(),
            services: BTreeMap::new(),
            lists: Lists {
                unknown: unknown_of(replay).to_vec(),
                gap: None,
                outages: Top::new(top),
                not_yet_ready: Top::new(top),
                propagation: Top::new(top),
            },
            flips: HashMap::new(),
            flapping: Top::new(top),
            gaps: Top::new(top),
            top,
            timelines: options.timelines,
        };
        let Collector { world, nodes, services, lists, .. } = &mut collector;
        for object in replay.objects() {
            match object {
                Recorded::Pod(pod) => nodes.update(None, Some(pod)),
                Recorded::Service(service) => {
                    let key = service.key();
                    let followed = Followed::new(&key, world, from, lists);
                    services.insert(key, followed);
                }
                Recorded::Node(_) | Recorded::Endpoints(_) | Recorded::EndpointSlice(_) => {}
            }
        }
        collector
    }

    /// Sets the kinds that the recorder cannot read from now on.
    pub(super) fn set_unknown(&mut self, unknown: Vec<Kind>) {
        set_unknown(&mut self.world, &unknown);
        self.services.values_mut().for_each(|service| service.expect_anew(&self.world));
        self.lists.unknown = unknown;
    }

    pub(super) fn follow(&mut self, change: &Change) {
        self.follow_gap(change);
        let concerned = self.nodes.services(&self.world, change);
        if let What::Put { before: None, after: Recorded::Service(service) } = &change.what {
            let new = || Followed::new(&service.key(), &self.world, change.seen, &mut self.lists);
            self.services.entry(service.key()).or_insert_with(new);
        }
        apply(&mut self.world, change);
        self.count_write(change);
        self.follow_pod(change);
        for key in concerned {
            if let Some(service) = self.services.get_mut(&key) {
                service.follow(&mut self.world, change, &mut self.lists);
            }
        }
    }

    fn follow_gap(&mut self, change: &Change) {
        match &change.what {
            What::Gap(_) => self.lists.gap = Some(change.clone()),
            // Those of Nodes are heartbeats, most of the time.
            What::Unknown(write) if write.kind == Kind::Node => return,
            _ => {}
        }
        if let Some(gap) = Unknown::of(change) {
            self.gaps.add(gap.until.as_millisecond() - gap.from.as_millisecond(), || gap);
        }
    }

    fn count_write(&mut self, change: &Change) {
        let (What::Put { after: object, .. } | What::Removed(object)) = &change.what else { return };
        let service = match object {
            Recorded::EndpointSlice(slice) => service_of(slice),
            Recorded::Endpoints(endpoints) => Some(endpoints.key()),
            Recorded::Service(_) | Recorded::Pod(_) | Recorded::Node(_) => None,
        };
        if let Some(service) = service.and_then(|key| self.services.get_mut(&key)) {
            let manager = change.author.as_ref().map(|author| author.manager.clone()).filter(|it| !it.is_empty());
            service.count_write(manager, object.kind());
        }
    }

    fn follow_pod(&mut self, change: &Change) {
        match &change.what {
            What::Put { before, after: Recorded::Pod(after) } => {
                let before = before.as_ref().and_then(|before| match before {
                    Recorded::Pod(before) => Some(&**before),
                    _ => None,
                });
                self.nodes.update(before, Some(after));
                if before.is_some_and(|before| before.ready != after.ready && !after.terminating) {
                    *self.flips.entry(after.key()).or_default() += 1;
                }
            }
            What::Removed(Recorded::Pod(pod)) => {
                self.nodes.update(Some(pod), None);
                if let Some(changes) = self.flips.remove(&pod.key()) {
                    self.add_flapping(pod, changes);
                }
            }
            _ => {}
        }
    }

    fn add_flapping(&mut self, pod: &Pod, changes: u64) {
        if changes >= FEWEST {
            let world = &self.world;
            self.flapping.add(changes.cast_signed(), || Flapping {
                pod: ObjectRef::new(Kind::Pod, &pod.key()),
                services: world.services_of(pod).iter().map(|service| service.name.to_string()).collect(),
                changes,
            });
        }
    }

    pub(super) fn finish(mut self, namespace: Option<Text>, until: Timestamp) -> Summary {
        let mut flips: Vec<(ObjectKey, u64)> = std::mem::take(&mut self.flips).into_iter().collect();
        flips.sort();
        for (key, changes) in flips {
            if let Some(pod) = self.world.find_pod(&key).cloned() {
                self.add_flapping(&pod, changes);
            }
        }
        let (mut writes, mut timelines) = (Top::new(self.top), Vec::new());
        for service in self.services.into_values() {
            let Finished { writes: of_service, timeline } = service.finish(until, &mut self.lists);
            let count = of_service.slices + of_service.endpoints;
            if count > 0 {
                writes.add(count.cast_signed(), || of_service);
            }
            timelines.push(timeline);
        }
        let (services, changes) = (timelines.len(), timelines.iter().map(|it| it.changes).sum());
        timelines.sort_by_key(|it| std::cmp::Reverse((it.down, it.outages, it.changes)));
        timelines.truncate(self.timelines);
        Summary {
            namespace,
            from: self.from,
            until,
            services,
            changes,
            gaps: self.gaps.finish(),
            outages: self.lists.outages.finish(),
            not_yet_ready: self.lists.not_yet_ready.finish(),
            propagation: self.lists.propagation.finish(),
            writes: writes.finish(),
            flapping: self.flapping.finish(),
            timelines: List { items: timelines, total: services },
        }
    }
}
