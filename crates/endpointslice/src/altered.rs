//! Writes that the API server answered with other content than was sent.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::io;
use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Labels, ObjectKey, ResourceVersion, Text, Write, well_known};
use kube_informer::WriteThrough;
use serde::Serialize;

use crate::options::{Options, Packing};
use crate::plan::Plan;

/// Responses to writes of one owner with other content than was sent, because an admission policy changed the slice or an
/// older API server dropped a field.
///
/// Such a slice never equals the desired one, and each sync would send the same content again.
/// [`suppress`](AlteredWrites::suppress) removes such writes from a plan until the slice or the desired content
/// changes. Upstream repeats the write in every sync.
#[derive(Debug, Default)]
pub(crate) struct AlteredWrites {
    /// Responses with other content, by name of the slice.
    slices: HashMap<Text, Answer>,
    /// Slices from responses with another owner or managed-by label than was sent.
    misplaced: Vec<EndpointSlice>,
}

/// Response that differs from what was sent.
#[derive(Debug)]
struct Answer {
    version: ResourceVersion,
    /// Digest of the content that was sent.
    sent: u64,
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
        if !in_same_place(options, sent, answer) {
            self.misplaced.push(answer.clone());
            return;
        }
        let known = Answer { version: metadata.resource_version.clone(), sent: digest(options, sent) };
        if self.slices.insert(metadata.name.clone(), known).is_none() {
            tracing::warn!(
                slice = %ObjectKey { namespace: metadata.namespace.clone(), name: metadata.name.clone() },
                service = %owner,
                "The API server changed an EndpointSlice as it was written, which an admission policy may cause; \
                 the same content is not written again"
            );
        }
    }

    /// Removes the updates from a plan that would send the same content again. `existing` are the slices that the plan
    /// is based on, `options` those of the plan.
    ///
    /// While `cache` contains slices whose owner or managed-by label the server has changed, creates are removed
    /// too, since they would add more of these slices. Returns the names of these slices if creates were removed.
    pub(crate) fn suppress(
        &mut self,
        options: &Options,
        existing: &[Arc<EndpointSlice>],
        cache: Option<&WriteThrough<EndpointSlice>>,
        plan: &mut Plan,
    ) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let current: HashMap<&str, &ResourceVersion> =
            existing.iter().map(|slice| (&*slice.metadata.name, &slice.metadata.resource_version)).collect();
        self.slices.retain(|name, answer| current.get(&**name).is_some_and(|version| **version == answer.version));
        self.misplaced.retain(|slice| !current.contains_key(&*slice.metadata.name) && holds(cache, slice));
        let mut refused = Vec::new();
        for plan in &mut plan.types {
            plan.writes.retain(|write| {
                let Write::Update { desired, .. } = write else { return true };
                let answer = self.slices.get(&desired.metadata.name);
                answer.is_none_or(|answer| answer.sent != digest(options, desired))
            });
            if !self.misplaced.is_empty() && plan.creates().next().is_some() {
                plan.writes.retain(|write| !matches!(write, Write::Create(_)));
                refused = self.misplaced.iter().map(|slice| slice.metadata.name.to_string()).collect();
            }
        }
        refused
    }
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
///
/// [`Packing::Incremental`] keeps the annotations of the stored slice. A policy that sets another value at each write would
/// otherwise make each content a new one.
fn digest(options: &Options, slice: &EndpointSlice) -> u64 {
    let EndpointSlice { metadata, address_type, endpoints, ports } = slice;
    let annotations: Labels = match options.packing {
        Packing::Incremental => Labels::default(),
        Packing::Single => metadata.annotations.without(|key| key == well_known::TRIGGER_TIME_ANNOTATION),
    };
    let mut state = DefaultHasher::new();
    hash_of(&(&metadata.labels, &annotations, &metadata.owner_references, ports)).hash(&mut state);
    address_type.hash(&mut state);
    endpoints.len().hash(&mut state);
    endpoints.iter().map(hash_of).fold(0, u64::wrapping_add).hash(&mut state);
    state.finish()
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
