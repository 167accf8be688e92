//! What a controller remembers between syncs.

use std::collections::BTreeMap;

use kube_endpoint_model::{AddressType, Node, ObjectKey, Text};

use crate::ZoneRatios;
use crate::allocation::{count_as_float, minimum};

/// The zones of the cluster, and how the hints of each Service are spread over them.
///
/// Not locked; a controller with several workers wraps it in a mutex and holds that only to read before a sync and to
/// write after it.
#[derive(Clone, Debug, Default)]
pub struct TopologyCache {
    ratios: ZoneRatios,
    /// Services without any hints are not in here.
    services: BTreeMap<ObjectKey, BTreeMap<AddressType, BTreeMap<Text, usize>>>,
}

impl TopologyCache {
    /// Takes in the Nodes of the cluster, all of them, after any of them changed.
    /// [`overloaded_services`](TopologyCache::overloaded_services) then says whom that concerns.
    pub fn set_nodes<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) {
        self.ratios = ZoneRatios::from_nodes(nodes);
    }

    /// The shares of the zones, for [`add_hints`](crate::add_hints).
    pub fn ratios(&self) -> ZoneRatios {
        self.ratios.clone()
    }

    /// Whether any address type of the Service has topology hints.
    pub fn is_enabled(&self, service: &ObjectKey) -> bool {
        self.services.contains_key(service)
    }

    /// The address types of the Service that have topology hints.
    ///
    /// Whoever works out several address types before recording any of them keeps such a list up to date meanwhile:
    /// the Service is enabled as long as it is not empty.
    pub fn enabled_types(&self, service: &ObjectKey) -> Vec<AddressType> {
        self.services.get(service).into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    /// How many endpoints of one address type are hinted at each zone.
    pub fn counts(&self, service: &ObjectKey, address_type: &AddressType) -> Option<&BTreeMap<Text, usize>> {
        self.services.get(service)?.get(address_type)
    }

    /// Remembers the outcome of [`add_hints`](crate::add_hints); `None` forgets the address type.
    ///
    /// The other address type of a dual-stack Service is not touched: a Service stays enabled until the last of them
    /// is gone (EC-18; upstream starts over with every failure of either, and repeats the event).
    pub fn record(
        &mut self,
        service: &ObjectKey,
        address_type: &AddressType,
        allocated: Option<BTreeMap<Text, usize>>,
    ) {
        if let Some(counts) = allocated {
            self.services.entry(service.clone()).or_default().insert(address_type.clone(), counts);
        } else if let Some(types) = self.services.get_mut(service) {
            types.remove(address_type);
            if types.is_empty() {
                self.services.remove(service);
            }
        }
    }

    /// Forgets a Service that is deleted (EC-14) or no longer asks for topology hints (RC-33), and says whether it had
    /// any. In the latter case that calls for a [`disabled_event`](crate::disabled_event); asked again for the next
    /// address type the answer is no, so that there is one event.
    pub fn remove_service(&mut self, service: &ObjectKey) -> bool {
        self.services.remove(service).is_some()
    }

    /// The Services with too few endpoints hinted at some zone, which need a sync; sorted (TP-15).
    pub fn overloaded_services(&self) -> Vec<ObjectKey> {
        let overloaded = |counts: &BTreeMap<Text, usize>| is_overloaded(&self.ratios, counts);
        (self.services.iter())
            .filter(|(_, types)| types.values().any(overloaded))
            .map(|(service, _)| service.clone())
            .collect()
    }
}

/// Whether a zone gets more traffic for its endpoints than the threshold allows. Without shares nothing can be said
/// for the hints there are, and they have to go.
fn is_overloaded(ratios: &ZoneRatios, counts: &BTreeMap<Text, usize>) -> bool {
    if counts.is_empty() {
        return false;
    }
    let total = count_as_float(counts.values().sum());
    let short = |(zone, share): &(Text, f64)| match counts.get(zone) {
        Some(count) => i64::try_from(*count).is_ok_and(|count| count < minimum(total * share)),
        None => true,
    };
    !ratios.is_known() || ratios.shares().iter().any(short)
}
