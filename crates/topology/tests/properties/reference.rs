//! A literal implementation of TP-6 to TP-11 with maps and floats, as the reference for `add_hints`. Where upstream
//! depends on map order, zones are taken in order of their names here too.

use std::collections::BTreeMap;

use kube_endpoint_model::{Endpoint, EndpointHints, EndpointSlice, Text};
use kube_topology::{SliceSet, ZoneRatios};

struct Allocation {
    minimum: i32,
    maximum: i32,
    desired: f64,
}

/// Slices to create, to update and unchanged, and the counts by zone; `None` if no hints can be given.
pub(crate) type Result = Option<(Vec<EndpointSlice>, Vec<EndpointSlice>, Vec<EndpointSlice>, BTreeMap<Text, i32>)>;

pub(crate) fn add_hints(ratios: &ZoneRatios, set: &SliceSet) -> Result {
    let ready = set.iter().flat_map(|slice| &slice.endpoints).filter(|it| it.is_ready()).count();
    let allocations = allocate(ratios, ready)?;
    let (mut create, mut update, mut unchanged) = (set.create.clone(), set.update.clone(), Vec::new());
    let mut counts: BTreeMap<Text, i32> = BTreeMap::new();

    // TP-8
    for slice in &set.unchanged {
        match hints_by_zone(slice, &counts, &allocations) {
            None => update.push(EndpointSlice::clone(slice)),
            Some(hints) => {
                unchanged.push(EndpointSlice::clone(slice));
                for (zone, count) in hints {
                    *counts.entry(zone).or_default() += count;
                }
            }
        }
    }
    // TP-9
    for endpoint in assignable(&mut create, &mut update) {
        let zone = endpoint.zone.clone().filter(|zone| !zone.is_empty())?;
        *counts.entry(zone.clone()).or_default() += 1;
        endpoint.hints = Some(EndpointHints { for_zones: vec![zone], for_nodes: Vec::new() }.into());
    }
    // TP-10
    let (mut giving, mut receiving) = quotas(&allocations, &counts);
    for endpoint in assignable(&mut create, &mut update) {
        let own = endpoint.zone.clone()?;
        if giving.get(&own).is_none_or(|left| *left == 0) {
            continue;
        }
        let Some((to, left)) = receiving.iter_mut().find(|(_, left)| **left > 0) else { break };
        *left -= 1;
        giving.entry(own.clone()).and_modify(|left| *left -= 1);
        *counts.entry(own).or_default() -= 1;
        *counts.entry(to.clone()).or_default() += 1;
        endpoint.hints = Some(EndpointHints { for_zones: vec![to.clone()], for_nodes: Vec::new() }.into());
    }
    counts.retain(|_, count| *count > 0);
    Some((create, update, unchanged, counts))
}

fn assignable<'a>(
    create: &'a mut [EndpointSlice],
    update: &'a mut [EndpointSlice],
) -> impl Iterator<Item = &'a mut Endpoint> {
    create.iter_mut().chain(update).flat_map(|slice| &mut slice.endpoints).filter(|it| it.is_ready())
}

/// TP-6, TP-7
fn allocate(ratios: &ZoneRatios, ready: usize) -> Option<BTreeMap<Text, Allocation>> {
    let shares = ratios.shares();
    if !ratios.is_known() || shares.len() < 2 || shares.len() > ready {
        return None;
    }
    let ready = i32::try_from(ready).expect("few endpoints");
    let mut allocations = BTreeMap::new();
    for (zone, share) in shares {
        let desired = share * f64::from(ready);
        #[expect(clippy::cast_possible_truncation, reason = "an integer no greater than `ready`")]
        let minimum = (desired * (1.0 / (1.0 + 0.2))).ceil() as i32;
        allocations.insert(zone.clone(), Allocation { minimum, maximum: 0, desired: desired.max(f64::from(minimum)) });
    }
    let total: i32 = allocations.values().map(|it| it.minimum).sum();
    for it in allocations.values_mut() {
        it.maximum = it.minimum + ready - total;
    }
    (total <= ready).then_some(allocations)
}

fn hints_by_zone(
    slice: &EndpointSlice,
    counts: &BTreeMap<Text, i32>,
    allocations: &BTreeMap<Text, Allocation>,
) -> Option<BTreeMap<Text, i32>> {
    let mut hints: BTreeMap<Text, i32> = BTreeMap::new();
    for endpoint in slice.endpoints.iter().filter(|it| it.is_ready()) {
        let zones = &endpoint.hints.as_ref()?.for_zones;
        if zones.is_empty() || zones.iter().any(|zone| !allocations.contains_key(zone)) {
            return None;
        }
        for zone in zones {
            *hints.entry(zone.clone()).or_default() += 1;
        }
    }
    let fits =
        |(zone, count): (&Text, &i32)| counts.get(zone).copied().unwrap_or(0) + count <= allocations[zone].maximum;
    hints.iter().all(fits).then_some(hints)
}

fn quotas(
    allocations: &BTreeMap<Text, Allocation>,
    counts: &BTreeMap<Text, i32>,
) -> (BTreeMap<Text, i32>, BTreeMap<Text, i32>) {
    let (mut surplus, mut deficit) = (BTreeMap::new(), BTreeMap::new());
    for (zone, it) in allocations {
        let count = f64::from(counts.get(zone).copied().unwrap_or(0));
        if count > it.desired {
            surplus.insert(zone.clone(), count - it.desired);
        } else if count < it.desired {
            deficit.insert(zone.clone(), it.desired - count);
        }
    }
    let (mut giving, mut receiving) = (BTreeMap::new(), BTreeMap::new());
    while let (Some((giver, more)), Some((receiver, less))) = (greatest(&surplus), greatest(&deficit)) {
        if (more < 1.0 && less < 1.0) || more < 0.5 || less < 0.5 {
            break;
        }
        surplus.insert(giver.clone(), more - 1.0);
        deficit.insert(receiver.clone(), less - 1.0);
        *giving.entry(giver).or_default() += 1;
        *receiving.entry(receiver).or_default() += 1;
    }
    (giving, receiving)
}

fn greatest(values: &BTreeMap<Text, f64>) -> Option<(Text, f64)> {
    let mut found: Option<(Text, f64)> = None;
    for (zone, value) in values {
        if *value > found.as_ref().map_or(0.0, |(_, greatest)| *greatest) {
            found = Some((zone.clone(), *value));
        }
    }
    found
}
