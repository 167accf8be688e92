//! Writes that the API server answered with other content than was sent.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube_endpoint_model::{EndpointSlice, Labels, ObjectKey, ResourceVersion, Text, Uid, Write, well_known};
use kube_informer::WriteThrough;
use serde::Serialize;
use tokio::time::Instant;

use crate::options::{Options, Packing};
use crate::plan::{Plan, TypePlan};

/// Delay of the first retry of writes that the server changes. It doubles with each retry, up to [`LONGEST_RETRY`].
const FIRST_RETRY: Duration = Duration::from_secs(60);
const LONGEST_RETRY: Duration = Duration::from_secs(3_600);

/// Responses to writes of one owner with other content than was sent, because an admission policy changed the slice or an
/// older API server dropped a field.
///
/// Such a slice never equals the desired one, and each sync would send the same content again, in this slice or in new
/// ones. [`suppress`](AlteredWrites::suppress) removes such writes from a plan until the slices or the desired content
/// change, or a retry is due: the policy may have been corrected. Upstream repeats the writes in every sync.
#[derive(Debug, Default)]
pub(crate) struct AlteredWrites {
    /// Responses with other content, by name of the slice.
    slices: HashMap<Text, Answer>,
    /// Slices from responses with another owner or managed-by label than was sent.
    misplaced: Vec<EndpointSlice>,
    /// State after the last sync with writes, if the server changed one of them.
    left: Option<Left>,
    /// Digest of the plan that is being sent, before writes were removed from it.
    planned: Option<u64>,
    /// Whether the server changed a write of this sync.
    is_fresh: bool,
    retry: Option<Retry>,
}

/// What a plan is based on.
#[derive(Clone, Copy)]
pub(crate) struct Basis<'a> {
    pub(crate) options: &'a Options,
    /// UID of the owner.
    pub(crate) owner: &'a Uid,
    pub(crate) existing: &'a [Arc<EndpointSlice>],
}

/// Response that differs from what was sent.
#[derive(Debug)]
struct Answer {
    version: ResourceVersion,
    /// Digest of the content that was sent.
    sent: u64,
}

/// State after a sync.
#[derive(Debug)]
struct Left {
    /// Digest of what the slices should contain.
    planned: u64,
    slices: HashMap<Text, ResourceVersion>,
}

#[derive(Clone, Copy, Debug)]
struct Retry {
    at: Instant,
    /// Delay before this retry.
    delay: Duration,
}

impl AlteredWrites {
    pub(crate) fn is_empty(&self) -> bool {
        self.slices.is_empty() && self.misplaced.is_empty()
    }

    /// Records that the response to a write of this slice had the content that was sent.
    pub(crate) fn unaltered(&mut self, slice: &EndpointSlice) {
        self.slices.remove(&slice.metadata.name);
    }

    /// Records the response to a create or update with other content than was sent. `owner` is the key of the owner, for the
    /// log.
    pub(crate) fn altered(
        &mut self,
        owner: &ObjectKey,
        options: &Options,
        sent: &EndpointSlice,
        answer: &EndpointSlice,
    ) {
        let metadata = &answer.metadata;
        self.is_fresh = true;
        if !in_same_place(options, sent, answer) {
            self.misplaced.push(answer.clone());
            return;
        }
        let known = Answer { version: metadata.resource_version.clone(), sent: digest(options, sent) };
        if self.slices.insert(metadata.name.clone(), known).is_none() && self.retry.is_none() {
            tracing::warn!(
                slice = %ObjectKey { namespace: metadata.namespace.clone(), name: metadata.name.clone() },
                service = %owner,
                "The API server changed an EndpointSlice as it was written, which an admission policy may cause; \
                 the same content is written again ever more rarely"
            );
        }
    }

    /// Removes the writes from a plan that would send the same content again. `basis` is that of the plan.
    ///
    /// While `cache` contains slices whose owner or managed-by label the server has changed, creates are removed
    /// too, since they would add more of these slices. Returns the names of these slices if creates were removed. A retry
    /// sends updates alone where there are any, and turns creates into updates of these slices.
    pub(crate) fn suppress(
        &mut self,
        now: Instant,
        basis: Basis<'_>,
        cache: Option<&WriteThrough<EndpointSlice>>,
        plan: &mut Plan,
    ) -> Vec<String> {
        self.is_fresh = false;
        let current = versions(basis.existing);
        self.slices.retain(|name, answer| current.get(name) == Some(&answer.version));
        self.misplaced.retain(|slice| !current.contains_key(&slice.metadata.name) && holds(cache, slice));
        let is_due = self.retry.is_some_and(|retry| retry.at <= now);
        if is_due {
            self.slices.clear();
        }
        let updates = plan.types.iter().flat_map(TypePlan::updates);
        let is_repeated = |update: &&EndpointSlice| {
            let answer = self.slices.get(&update.metadata.name);
            answer.is_some_and(|answer| answer.sent == digest(basis.options, update))
        };
        let repeated: HashSet<Text> = updates.filter(is_repeated).map(|update| update.metadata.name.clone()).collect();
        let is_partly_new = plan.len() > repeated.len() && !(repeated.is_empty() && self.left.is_none());
        self.planned = is_partly_new.then(|| planned(basis, plan));
        let as_left = |left: &Left| self.planned == Some(left.planned) && left.slices == current;
        if self.left.as_ref().is_some_and(as_left) {
            if !is_due {
                let refused = self.refuse_creates(plan);
                plan.types.iter_mut().for_each(|plan| plan.writes.clear());
                plan.unsupported.clear();
                return refused;
            }
            // If the server removes endpoints again, new slices would add to those that lack them.
            plan.types.iter_mut().filter(|plan| plan.updates().next().is_some()).for_each(drop_creates);
        }
        if is_due {
            self.take_back(cache, plan);
        }
        for plan in &mut plan.types {
            plan.writes.retain(|write| {
                let Write::Update { desired, .. } = write else { return true };
                !repeated.contains(&desired.metadata.name)
            });
        }
        self.refuse_creates(plan)
    }

    /// Removes creates while there are misplaced slices, and returns the names of these if there were creates.
    fn refuse_creates(&self, plan: &mut Plan) -> Vec<String> {
        if self.misplaced.is_empty() || plan.types.iter().all(|plan| plan.creates().next().is_none()) {
            return Vec::new();
        }
        plan.types.iter_mut().for_each(drop_creates);
        self.misplaced.iter().map(|slice| slice.metadata.name.to_string()).collect()
    }

    /// Turns creates into updates of misplaced slices that no other client has written since, and deletes the rest of
    /// these, which the plan does not need.
    fn take_back(&mut self, cache: Option<&WriteThrough<EndpointSlice>>, plan: &mut Plan) {
        let unchanged = self.misplaced.extract_if(.., |slice| {
            let stored = cache.and_then(|cache| cache.get(&slice.metadata.namespace, &slice.metadata.name));
            stored.is_none_or(|stored| stored.metadata.resource_version == slice.metadata.resource_version)
        });
        for stored in unchanged.map(Arc::new).collect::<Vec<_>>() {
            let mut plans = plan.types.iter_mut().filter(|plan| plan.address_type == stored.address_type);
            let create = plans.find_map(|plan| plan.writes.iter_mut().find(|write| matches!(write, Write::Create(_))));
            let Some(write) = create else {
                plan.unsupported.push(Write::Delete(stored));
                continue;
            };
            if let Write::Create(desired) = write {
                let mut desired = std::mem::take(desired);
                desired.metadata.name = stored.metadata.name.clone();
                desired.metadata.resource_version = stored.metadata.resource_version.clone();
                *write = Write::Update { stored, desired };
            }
        }
    }

    /// Records that the writes of a plan were accepted. `answers` are the slices that were written, without misplaced ones.
    ///
    /// Returns the time until a retry of the writes that the server changed.
    pub(crate) fn sent(
        &mut self,
        now: Instant,
        basis: Basis<'_>,
        plan: &Plan,
        answers: Vec<(Text, ResourceVersion)>,
    ) -> Option<Duration> {
        let planned = self.planned.take();
        let is_altered = std::mem::take(&mut self.is_fresh);
        if is_altered {
            let mut slices = versions(basis.existing);
            for slice in plan.writes().filter_map(Write::before) {
                slices.remove(&slice.metadata.name);
            }
            slices.extend(answers);
            let planned = planned.unwrap_or_else(|| self::planned(basis, plan));
            self.left = Some(Left { planned, slices });
        } else if !plan.is_empty() {
            self.left = None;
        }
        if self.is_empty() {
            self.retry = None;
        } else {
            let due = self.retry.filter(|retry| retry.at <= now);
            if self.retry.is_none() || due.is_some() {
                let delay = due.map_or(FIRST_RETRY, |retry| LONGEST_RETRY.min(retry.delay * 2));
                self.retry = Some(Retry { at: now + delay, delay });
            }
        }
        self.retry.map(|retry| retry.at - now)
    }
}

fn drop_creates(plan: &mut TypePlan) {
    plan.writes.retain(|write| !matches!(write, Write::Create(_)));
}

/// Returns the resource versions of slices by name.
fn versions(slices: &[Arc<EndpointSlice>]) -> HashMap<Text, ResourceVersion> {
    let version = |slice: &Arc<EndpointSlice>| (slice.metadata.name.clone(), slice.metadata.resource_version.clone());
    slices.iter().map(version).collect()
}

/// Returns a digest of what the slices of an owner contain after a plan, however their endpoints are distributed.
fn planned(basis: Basis<'_>, plan: &Plan) -> u64 {
    let Basis { options, owner, existing } = basis;
    let replaced: HashSet<&Text> = plan.writes().filter_map(Write::before).map(|it| &it.metadata.name).collect();
    let kept = existing.iter().map(|slice| &**slice).filter(|slice| !replaced.contains(&slice.metadata.name));
    let mut endpoints = 0_u64;
    for slice in kept.chain(plan.writes().filter_map(Write::after)) {
        let ports = sum_of_hashes(&slice.ports);
        for endpoint in &slice.endpoints {
            endpoints = endpoints.wrapping_add(hash_of(&(slice.address_type.as_str(), ports, endpoint)));
        }
    }
    // The same for all slices of a plan.
    let metadata = |slice: &EndpointSlice| (slice.metadata.labels.clone(), annotations(options, slice));
    hash_of(&(owner, endpoints, plan.writes().find_map(Write::after).map(metadata)))
}

/// Returns the name of the owner label in messages.
pub(crate) fn label_name(options: &Options) -> &str {
    if options.owner_label == well_known::SERVICE_NAME_LABEL { "service-name" } else { &options.owner_label }
}

/// Returns whether two states of a slice have the same owner and managed-by labels.
pub(crate) fn in_same_place(options: &Options, one: &EndpointSlice, other: &EndpointSlice) -> bool {
    let (one, other) = (&one.metadata.labels, &other.metadata.labels);
    let labels = [&*options.owner_label, well_known::SLICE_MANAGED_BY_LABEL];
    labels.iter().all(|label| one.get(label) == other.get(label))
}

/// Returns whether the cache contains a slice with this name and UID, in any state. Without a cache, it may.
fn holds(cache: Option<&WriteThrough<EndpointSlice>>, slice: &EndpointSlice) -> bool {
    cache.is_none_or(|cache| {
        let stored = cache.get(&slice.metadata.namespace, &slice.metadata.name);
        stored.is_some_and(|stored| stored.metadata.uid == slice.metadata.uid)
    })
}

/// Returns whether a response has the content that was sent.
pub(crate) fn has_content(sent: &EndpointSlice, answer: &EndpointSlice) -> bool {
    sent.metadata.labels == answer.metadata.labels
        && sent.metadata.annotations == answer.metadata.annotations
        && sent.metadata.owner_references == answer.metadata.owner_references
        && sent.address_type == answer.address_type
        && sent.ports == answer.ports
        && sent.endpoints == answer.endpoints
}

/// Returns a digest of the content of a slice that the controller determines. The order of endpoints does not count,
/// nor does the trigger time: a new one alone is no reason to send the same content again.
fn digest(options: &Options, slice: &EndpointSlice) -> u64 {
    let EndpointSlice { metadata, address_type, endpoints, ports } = slice;
    let metadata = (&metadata.labels, &annotations(options, slice), &metadata.owner_references);
    hash_of(&(metadata, address_type.as_str(), ports, endpoints.len(), sum_of_hashes(endpoints)))
}

/// Returns the annotations that the controller determines.
///
/// [`Packing::Incremental`] keeps the annotations of the stored slice. A policy that sets another value at each write would
/// otherwise make each content a new one.
fn annotations(options: &Options, slice: &EndpointSlice) -> Labels {
    match options.packing {
        Packing::Incremental => Labels::default(),
        Packing::Single => slice.metadata.annotations.without(|key| key == well_known::TRIGGER_TIME_ANNOTATION),
    }
}

fn sum_of_hashes(values: &[impl Serialize]) -> u64 {
    values.iter().map(hash_of).fold(0, u64::wrapping_add)
}

/// Returns a hash of the JSON of a value.
fn hash_of(value: &impl Serialize) -> u64 {
    struct Sink(DefaultHasher);
    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = Sink(DefaultHasher::new());
    // Writing into a hasher does not fail, and the keys of all maps are strings.
    let _ = serde_json::to_writer(&mut sink, value);
    sink.0.finish()
}
