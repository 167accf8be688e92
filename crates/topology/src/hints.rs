//! Topology hints: zones get endpoints according to their share of the cluster's CPU.

use std::collections::BTreeMap;
use std::mem;

use kube_endpoint_model::{AddressType, Endpoint, EndpointHints, EndpointSlice, Text};

use crate::allocation::Allocations;
use crate::balance::Quotas;
use crate::event::Obstacle;
use crate::tally::Tally;
use crate::{SliceSet, TopologyEvent, ZoneRatios, strip_hints};

/// What became of the hints of one Service and address type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintsOutcome {
    /// How many endpoints are hinted at each zone; `None` if there are no topology hints. Either way to be handed to
    /// [`TopologyCache::record`](crate::TopologyCache::record).
    pub allocated: Option<BTreeMap<Text, usize>>,
    /// What to tell the Service's owner.
    pub events: Vec<TopologyEvent>,
}

/// Hints every ready endpoint at one zone, so that each zone's endpoints match its share of the CPU; where that cannot
/// be done, strips all hints (TP-5 to TP-12).
///
/// An unchanged slice is left alone as long as its hints fit, even if others would be closer to the ideal. Endpoints
/// that are not ready keep the hints they have unless all are stripped (EC-17). `was_enabled` says whether any address
/// type of the Service has hints already; if not, success comes with an event. Failure comes with one every time.
///
/// Unlike upstream, a slice that ends up with the very hints it came with stays unchanged: writing it would change
/// nothing.
pub fn add_hints(
    ratios: &ZoneRatios,
    was_enabled: bool,
    address_type: &AddressType,
    slices: &mut SliceSet,
) -> HintsOutcome {
    match assign(ratios, slices) {
        Ok(counts) => HintsOutcome {
            allocated: Some(counts),
            events: if was_enabled { Vec::new() } else { vec![TopologyEvent::enabled(address_type)] },
        },
        Err(obstacle) => {
            strip_hints(slices);
            HintsOutcome { allocated: None, events: vec![TopologyEvent::disabled(obstacle, address_type)] }
        }
    }
}

/// Does the work of [`add_hints`]. On failure nothing has been touched.
///
/// Success means at least one hint: there are as many ready endpoints as zones, and each has or gets one. Upstream's
/// event for "no hints allocated" (TP-11) can thus never be seen, and is not here.
fn assign(ratios: &ZoneRatios, slices: &mut SliceSet) -> Result<BTreeMap<Text, usize>, Obstacle> {
    let allocations = Allocations::new(ratios, slices.ready_endpoints())?;
    let mut tally = Tally::new(&allocations);
    let mut copies: Vec<Option<EndpointSlice>> =
        slices.unchanged.iter().map(|slice| (!tally.keep(slice)).then(|| EndpointSlice::clone(slice))).collect();

    let mut assignable: Vec<&mut Endpoint> = (slices.create.iter_mut())
        .chain(&mut slices.update)
        .chain(copies.iter_mut().flatten())
        .flat_map(|slice| &mut slice.endpoints)
        .filter(|endpoint| endpoint.is_ready())
        .collect();
    if assignable.iter().any(|endpoint| zone(endpoint).is_none()) {
        return Err(Obstacle::NoZoneSpecified);
    }
    hint_own_zones(&mut assignable, &mut tally);
    redistribute(&mut assignable, &allocations, &mut tally);

    for (slice, copy) in mem::take(&mut slices.unchanged).into_iter().zip(copies) {
        match copy {
            Some(copy) if copy != *slice => slices.update.push(copy),
            _ => slices.unchanged.push(slice),
        }
    }
    Ok(tally.into_counts())
}

/// Starts from every endpoint in its own zone (TP-9).
fn hint_own_zones(assignable: &mut [&mut Endpoint], tally: &mut Tally<'_>) {
    for endpoint in assignable {
        if let Some(own) = zone(endpoint).cloned() {
            tally.add(&own);
            set_hint(endpoint, own);
        }
    }
}

/// Moves hints from zones with too many to zones with too few, the first endpoints first (TP-10).
fn redistribute(assignable: &mut [&mut Endpoint], allocations: &Allocations, tally: &mut Tally<'_>) {
    let mut quotas = Quotas::new(allocations, tally.due());
    for endpoint in assignable {
        if quotas.is_done() {
            break;
        }
        let Some(giver) = zone(endpoint).and_then(|own| allocations.position(own)) else { continue };
        if let Some(receiver) = quotas.take(giver) {
            set_hint(endpoint, allocations.as_slice()[receiver].zone.clone());
            tally.shift(giver, receiver);
        }
    }
}

/// The zone an endpoint runs in; the empty name is none.
fn zone(endpoint: &Endpoint) -> Option<&Text> {
    endpoint.zone.as_ref().filter(|zone| !zone.is_empty())
}

/// Makes `zone` the only hint; hints for Nodes go as well.
fn set_hint(endpoint: &mut Endpoint, zone: Text) {
    endpoint.hints = Some(EndpointHints { for_nodes: Vec::new(), for_zones: vec![zone] });
}
