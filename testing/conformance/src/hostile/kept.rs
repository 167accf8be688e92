//! Check that no right endpoint is removed at any moment, by watches.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::{
    World,
    fleet::{Addresses, Key, in_slice, key, ready},
};
use crate::{Kind, watch::History};

/// Maximum number of removals in an error.
const SHOWN: usize = 10;

/// Record of the slices and Endpoints from a moment on, from which Services, Pods, Nodes and custom Endpoints do not change.
///
/// The record consists of watch events, so that it does not depend on the speed of the machine.
pub(super) struct Kept {
    slices: Recorded,
    endpoints: Recorded,
}

/// Objects of one kind at the start of the record, and their events since.
struct Recorded {
    kind: Kind,
    /// Endpoints that must not be removed.
    right: Addresses,
    initial: Objects,
    /// Resource version of the start: earlier events are ignored.
    since: u64,
    events: History,
}

/// Service and ready addresses of each object, by namespace and name.
type Objects = BTreeMap<Key, (Key, BTreeSet<String>)>;

impl World {
    /// Starts to record slices and Endpoints. Nothing may be written meanwhile.
    pub(super) async fn record(&self) -> Result<Kept> {
        let right = self.demanded()?;
        Ok(Kept {
            slices: self.record_kind(Kind::EndpointSlice, right.slices).await?,
            endpoints: self.record_kind(Kind::Endpoints, right.endpoints).await?,
        })
    }

    async fn record_kind(&self, kind: Kind, right: Addresses) -> Result<Recorded> {
        let events = History::open(self.api(), kind).await?;
        let since = self.server()?.revision();
        Ok(Recorded { kind, right, initial: self.objects(kind).await?, since, events })
    }

    async fn objects(&self, kind: Kind) -> Result<Objects> {
        let listed = self.list_all(kind).await?;
        Ok(listed.iter().filter_map(|object| Some((key(object), served(kind, object)?))).collect())
    }

    /// Returns the Service and the ready addresses of an object of a watch, with the labels of the profile.
    pub(super) fn served_by(&self, kind: Kind, object: &Value) -> Option<(Key, BTreeSet<String>)> {
        let mut object = object.clone();
        if kind == Kind::EndpointSlice {
            if self.profile.is_foreign(&object) {
                return None;
            }
            self.profile.to_upstream(&mut object);
        }
        served(kind, &object)
    }

    /// Fails if an endpoint that is right was removed since the start of the record.
    pub(super) async fn expect_kept(&self, kept: &Kept) -> Result<()> {
        let mut removed = Vec::new();
        for recorded in [&kept.slices, &kept.endpoints] {
            removed.extend(self.removed(recorded).await?);
        }
        let count = removed.len();
        removed.truncate(SHOWN);
        ensure!(
            count == 0,
            "{count} endpoints of existing Pods were removed:\n  {}\n{}",
            removed.join("\n  "),
            self.log()?
        );
        Ok(())
    }

    /// Returns a line for each removed endpoint, once the watch has delivered all events.
    async fn removed(&self, recorded: &Recorded) -> Result<Vec<String>> {
        let mut wait = self.wait(self.limits.state);
        loop {
            let listed = self.objects(recorded.kind).await?;
            let (state, removed) = self.replay(recorded);
            if state == listed {
                return Ok(removed);
            }
            wait.again(|| format!("all events in the watch of {:?}", recorded.kind)).await?;
        }
    }

    /// Returns the state after all events, and a line for each removed endpoint.
    fn replay(&self, recorded: &Recorded) -> (Objects, Vec<String>) {
        let Recorded { kind, right, initial, since, events } = recorded;
        let (mut state, mut removed) = (initial.clone(), Vec::new());
        for event in events.all() {
            let object = &event["object"];
            let version = object["metadata"]["resourceVersion"].as_str().and_then(|it| it.parse::<u64>().ok());
            if version.is_none_or(|version| version <= *since) {
                continue;
            }
            let name = key(object);
            let before = state.remove(&name);
            let served = Some(object).filter(|_| event["type"] != "DELETED");
            if let Some(served) = served.and_then(|object| self.served_by(*kind, object)) {
                state.insert(name.clone(), served);
            }
            let Some((service, addresses)) = before else { continue };
            let Some(right) = right.get(&service) else { continue };
            for address in addresses.iter().filter(|address| right.contains(address)) {
                let served =
                    |(other, addresses): &(Key, BTreeSet<String>)| *other == service && addresses.contains(address);
                if !state.values().any(served) {
                    let (namespace, service) = &service;
                    let what = event["type"].as_str().unwrap_or_default();
                    removed.push(format!("{address} of {namespace}/{service}: {what} {kind:?} {}", name.1));
                }
            }
        }
        (state, removed)
    }
}

/// Returns the Service and the ready addresses of an object with the labels of Kubernetes; `None` for a slice of no Service.
fn served(kind: Kind, object: &Value) -> Option<(Key, BTreeSet<String>)> {
    let (service, addresses) =
        if kind == Kind::EndpointSlice { in_slice(object)? } else { (key(object), ready(object)) };
    Some((service, addresses.into_iter().collect()))
}
