//! Checks of numbers of writes and of objects, as strict as the profile requires.

use std::{collections::HashMap, ops::RangeInclusive};

use anyhow::{Result, bail, ensure};
use serde_json::Value;

use super::{
    World,
    fleet::{Key, key},
    world::{ENDPOINTS, SLICES},
};
use crate::{Kind, Output, WriteBound};

/// Factor by which the sum of writes may be higher with [`WriteBound::Bounded`].
const FACTOR: usize = 2;

/// Numbers of writes to one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) creates: usize,
    pub(super) updates: usize,
    pub(super) deletes: usize,
    /// Writes with any verb that were rejected, or that were neither answered nor executed.
    pub(super) rejected: usize,
}

impl Counts {
    pub(super) const fn of(creates: usize, updates: usize, deletes: usize) -> Self {
        Self { creates, updates, deletes, rejected: 0 }
    }

    fn total(self) -> usize {
        let Self { creates, updates, deletes, rejected } = self;
        creates + updates + deletes + rejected
    }
}

impl World {
    /// Returns the numbers of writes to a resource; `None` if the profile does not claim the resource.
    pub(super) fn counts(&self, resource: &str) -> Result<Option<Counts>> {
        let claimed = match resource {
            SLICES => self.profile.claims_slices(),
            ENDPOINTS => self.claims(Output::Endpoints),
            _ => bail!("writes to {resource} are not counted"),
        };
        if !claimed {
            return Ok(None);
        }
        let mut counts = Counts::of(0, 0, 0);
        for write in self.writes()?.iter().filter(|write| write.resource == resource) {
            match (write.applied, write.verb.as_str()) {
                (false, _) => counts.rejected += 1,
                (true, "create") => counts.creates += 1,
                (true, "update" | "patch") => counts.updates += 1,
                (true, _) => counts.deletes += 1,
            }
        }
        Ok(Some(counts))
    }

    /// Fails unless the controllers have made exactly these numbers of writes to a resource, or, if the profile bounds
    /// writes, at most twice as many in total.
    pub(super) fn expect_counts(&self, resource: &str, expect: Counts) -> Result<()> {
        let Some(found) = self.counts(resource)? else { return Ok(()) };
        match self.profile.writes {
            WriteBound::Exact if found != expect => {
                bail!("{resource}: {found:?} instead of {expect:?}\n{}", self.log()?)
            }
            WriteBound::Bounded if found.total() > FACTOR * expect.total() => {
                bail!("{resource}: {found:?}, which is more than {FACTOR} times {expect:?}\n{}", self.log()?)
            }
            _ => Ok(()),
        }
    }

    /// Fails unless a number of writes is in the range `exact`, or, if the profile bounds writes, is at most `bounded`.
    pub(super) fn expect_number(
        &self,
        what: &str,
        found: usize,
        exact: RangeInclusive<usize>,
        bounded: usize,
    ) -> Result<()> {
        let range = match self.profile.writes {
            WriteBound::Exact => exact,
            WriteBound::Bounded => 0..=bounded,
        };
        ensure!(range.contains(&found), "{what}: {found} instead of {range:?}\n{}", self.log()?);
        Ok(())
    }

    /// Fails unless there is exactly one slice. With a comparison of endpoints only, any number is correct.
    pub(super) fn expect_one_slice(&self, slices: &[Value]) -> Result<()> {
        ensure!(!self.profile.is_exact() || slices.len() == 1, "{} slices instead of one: {slices:#?}", slices.len());
        Ok(())
    }

    /// Fails if two slices of one Service have existed at the same time. With a comparison of endpoints only, any number
    /// is correct.
    pub(super) fn expect_at_most_one_slice_at_once(&self) -> Result<()> {
        if !self.profile.is_exact() || !self.profile.claims_slices() {
            return Ok(());
        }
        let mut present = HashMap::<Key, Key>::new();
        for event in self.slices.all() {
            let slice = &event["object"];
            present.remove(&key(slice));
            if let Some((service, _)) = self.served_by(Kind::EndpointSlice, slice)
                && event["type"] != "DELETED"
                && service.0 == self.namespace
            {
                ensure!(!present.values().any(|it| *it == service), "two slices of {service:?} at the same time");
                present.insert(key(slice), service);
            }
        }
        ensure!(!present.is_empty(), "no slice of a Service");
        Ok(())
    }
}
