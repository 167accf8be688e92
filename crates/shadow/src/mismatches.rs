//! The last mismatches in detail.

use std::collections::{BTreeSet, VecDeque};

use kube_endpoint_model::{Code, ObjectKey};
use kube_endpoints_explain::{DifferenceClass, ObjectRef};
use tokio::time::Instant;

/// Maximum number of mismatches with details.
const MAX_MISMATCHES: usize = 100;

/// Difference of one object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObjectMismatch {
    pub(crate) object: ObjectRef,
    pub(crate) class: DifferenceClass,
    /// Reasons for the write.
    pub(crate) codes: Vec<Code>,
    /// The object that the controller would write, as bounded JSON; `None` if it would delete it.
    pub(crate) expected: Option<Box<str>>,
    /// The stored object, as bounded JSON; `None` if the controller would create it.
    pub(crate) actual: Option<Box<str>>,
    /// Number of endpoints or subsets that `expected` and `actual` leave out, since they are equal or too many.
    pub(crate) omitted: usize,
}

/// Difference that has lasted for the required period.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mismatch {
    pub(crate) controller: &'static str,
    pub(crate) key: ObjectKey,
    /// Classes of all writes.
    pub(crate) classes: BTreeSet<DifferenceClass>,
    /// The first objects that differ.
    pub(crate) objects: Vec<ObjectMismatch>,
    pub(crate) first_seen: Instant,
    /// Time at which the plan became empty, or the Service was deleted.
    pub(crate) resolved: Option<Instant>,
}

/// At most 100 mismatches in the order in which they were found. A new one replaces the oldest that is resolved; while all
/// are open, a new one has no details.
#[derive(Debug, Default)]
pub(crate) struct Mismatches(VecDeque<Mismatch>);

impl Mismatches {
    /// Adds a mismatch, or replaces the differences of the open one of the same Service and controller.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        controller: &'static str,
        key: &ObjectKey,
        classes: BTreeSet<DifferenceClass>,
        objects: Vec<ObjectMismatch>,
    ) {
        if let Some(open) = self.open(controller, key) {
            open.classes = classes;
            open.objects = objects;
            return;
        }
        if self.0.len() >= MAX_MISMATCHES {
            let Some(oldest) = self.0.iter().position(|mismatch| mismatch.resolved.is_some()) else { return };
            self.0.remove(oldest);
        }
        let key = key.clone();
        self.0.push_back(Mismatch { controller, key, classes, objects, first_seen: now, resolved: None });
    }

    pub(crate) fn resolve(&mut self, now: Instant, controller: &'static str, key: &ObjectKey) {
        if let Some(open) = self.open(controller, key) {
            open.resolved = Some(now);
        }
    }

    fn open(&mut self, controller: &'static str, key: &ObjectKey) -> Option<&mut Mismatch> {
        let mut open = self.0.iter_mut().filter(|mismatch| mismatch.resolved.is_none());
        open.find(|mismatch| mismatch.controller == controller && mismatch.key == *key)
    }

    /// Returns the open mismatches, then the resolved ones, the newest first in each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mismatch> {
        let open = self.0.iter().rev().filter(|mismatch| mismatch.resolved.is_none());
        open.chain(self.0.iter().rev().filter(|mismatch| mismatch.resolved.is_some()))
    }
}
