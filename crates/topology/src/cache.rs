//! Allocations of Services between syncs.

use std::collections::BTreeMap;

use kube_endpoint_model::{AddressType, Node, ObjectKey, Text};

use crate::ZoneRatios;
use crate::allocation::{count_as_float, minimum};

/// The CPU ratios of the zones, and the allocation of each Service to zones.
///
/// Not synchronized. A controller with several workers wraps it in a mutex, locked to read before a sync and to write
/// after it.
#[derive(Clone, Debug, Default)]
pub struct TopologyCache {
    ratios: ZoneRatios,
    /// Allocation by Service, address type and zone; only Services with topology hints have an entry.
    services: BTreeMap<ObjectKey, BTreeMap<AddressType, BTreeMap<Text, usize>>>,
}

impl TopologyCache {
    /// Recomputes the zone ratios from all Nodes of the cluster. Call it after a Node changed, then sync the
    /// [`overloaded_services`](TopologyCache::overloaded_services).
    pub fn set_nodes<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) {
        self.ratios = ZoneRatios::from_nodes(nodes);
    }

    /// Returns the CPU ratios of the zones, for [`add_hints`](crate::add_hints).
    pub fn ratios(&self) -> ZoneRatios {
        self.ratios.clone()
    }

    /// Returns the address types of the Service that have topology hints, sorted.
    ///
    /// A caller that computes several address types before it records any of them must update its copy of this list in
    /// between: the Service counts as enabled while the list is not empty.
    pub fn enabled_types(&self, service: &ObjectKey) -> Vec<AddressType> {
        self.services.get(service).into_iter().flat_map(BTreeMap::keys).cloned().collect()
    }

    /// Stores [`HintsOutcome::allocated`](crate::HintsOutcome::allocated) of one address type; `None` removes its
    /// entry.
    ///
    /// Other address types of the Service are not affected: it stays enabled until the last one is removed. Upstream
    /// marks it as disabled at the first one, and repeats the enabled event (EC-18).
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

    /// Removes a Service that was deleted (ES-1) or no longer uses topology hints (RC-33).
    pub fn remove_service(&mut self, service: &ObjectKey) {
        self.services.remove(service);
    }

    /// Returns the Services with too few endpoints allocated to some zone, sorted; they need a sync (TP-15).
    pub fn overloaded_services(&self) -> Vec<ObjectKey> {
        let overloaded = |counts: &BTreeMap<Text, usize>| is_overloaded(&self.ratios, counts);
        (self.services.iter())
            .filter(|(_, types)| types.values().any(overloaded))
            .map(|(service, _)| service.clone())
            .collect()
    }
}

/// Returns whether some zone has fewer endpoints than its minimum. Without ratios every allocation counts as
/// overloaded, since its hints must be removed.
fn is_overloaded(ratios: &ZoneRatios, counts: &BTreeMap<Text, usize>) -> bool {
    if counts.is_empty() {
        return false;
    }
    let total = count_as_float(counts.values().sum());
    let below_minimum = |(zone, share): &(Text, f64)| match counts.get(zone) {
        Some(count) => i64::try_from(*count).is_ok_and(|count| count < minimum(total * share)),
        None => true,
    };
    !ratios.is_known() || ratios.shares().iter().any(below_minimum)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notation::set;
    use crate::{SliceSet, add_hints};

    const V4: AddressType = AddressType::IPv4;
    const V6: AddressType = AddressType::IPv6;

    fn service(name: &str) -> ObjectKey {
        ObjectKey::new("ns", name)
    }

    fn counts(pairs: &[(&str, usize)]) -> BTreeMap<Text, usize> {
        pairs.iter().map(|(zone, count)| (Text::from(*zone), *count)).collect()
    }

    fn cache(shares: &[(&str, f64)]) -> TopologyCache {
        let ratios = if shares.is_empty() { ZoneRatios::from_nodes([]) } else { ZoneRatios::of(shares) };
        TopologyCache { ratios, ..TopologyCache::default() }
    }

    /// Runs one sync of one address type as a controller does; returns the number of enabled events.
    fn sync(cache: &mut TopologyCache, address_type: &AddressType, slices: &mut SliceSet) -> usize {
        let key = service("web");
        let outcome = add_hints(&cache.ratios(), !cache.enabled_types(&key).is_empty(), address_type, slices);
        cache.record(&key, address_type, outcome.allocated);
        outcome.events.iter().filter(|event| event.normal).count()
    }

    // TP-15
    #[rstest]
    #[case::balanced(&[("a", 0.5), ("b", 0.5)], &[("a", 5), ("b", 5)], false)]
    #[case::within_the_threshold(&[("a", 0.5), ("b", 0.5)], &[("a", 7), ("b", 5)], false)]
    #[case::beyond_the_threshold(&[("a", 0.5), ("b", 0.5)], &[("a", 8), ("b", 5)], true)]
    #[case::zone_missing(&[("a", 0.5), ("b", 0.5)], &[("a", 5)], true)]
    #[case::shares_missing(&[], &[("a", 5), ("b", 5)], true)]
    #[case::zone_without_share(&[("a", 0.5), ("b", 0.5)], &[("a", 5), ("b", 5), ("c", 1)], false)]
    #[case::zone_without_share_counts_for_the_total(&[("a", 0.5), ("b", 0.5)], &[("a", 5), ("b", 5), ("c", 3)], true)]
    #[case::nothing_hinted(&[("a", 0.5), ("b", 0.5)], &[], false)]
    fn overload(#[case] shares: &[(&str, f64)], #[case] hinted: &[(&str, usize)], #[case] expected: bool) {
        let mut cache = cache(shares);
        cache.record(&service("web"), &V4, Some(counts(hinted)));
        assert_eq!(cache.overloaded_services(), if expected { vec![service("web")] } else { vec![] });
    }

    #[test]
    fn overloaded_services_are_distinct_and_sorted() {
        let mut cache = TopologyCache::default();
        for (name, address_type) in [("b", V6), ("c", V4), ("a", V6), ("b", V4)] {
            cache.record(&service(name), &address_type, Some(counts(&[("x", 1)])));
        }
        assert_eq!(cache.overloaded_services(), ["a", "b", "c"].map(service));
    }

    #[test]
    fn overloaded_services_depend_on_nodes() {
        let node = |zone: &str, cpu_milli| Node { zone: zone.into(), cpu_milli, ready: true, ..Node::default() };
        let mut cache = TopologyCache::default();
        cache.set_nodes(&[node("a", 1000), node("b", 1000)]);
        cache.record(&service("web"), &V4, Some(counts(&[("a", 2), ("b", 2)])));
        assert_eq!(cache.overloaded_services(), []);
        cache.set_nodes(&[node("a", 1000), node("b", 4000)]);
        assert_eq!(cache.overloaded_services(), [service("web")]);
        cache.set_nodes(&[]);
        assert!(cache.ratios().is_insufficient());
        assert_eq!(cache.overloaded_services(), [service("web")]);
    }

    #[test]
    fn a_deleted_service_is_removed() {
        let mut cache = TopologyCache::default();
        cache.record(&service("web"), &V4, Some(counts(&[("a", 1)])));
        cache.record(&service("web"), &V6, Some(counts(&[("a", 1)])));
        cache.remove_service(&service("web"));
        assert_eq!(cache.overloaded_services(), []);
        assert!(cache.enabled_types(&service("web")).is_empty());
    }

    // Upstream repeats the enabled event at every sync in which the other address type fails.
    #[test]
    fn ec_18_one_type_without_hints_does_not_disable_the_other() {
        let mut cache = cache(&[("a", 0.5), ("b", 0.5)]);
        let mut enabled = 0;
        for _ in 0..3 {
            enabled += sync(&mut cache, &V4, &mut set("a b"));
            enabled += sync(&mut cache, &V6, &mut set("a"));
        }
        assert_eq!(enabled, 1);
        assert_eq!(cache.enabled_types(&service("web")), [V4]);

        // After the last address type is removed, the enabled event is emitted again.
        assert_eq!(sync(&mut cache, &V4, &mut set("a")), 0);
        assert!(cache.enabled_types(&service("web")).is_empty());
        assert_eq!(sync(&mut cache, &V4, &mut set("a b")), 1);
        assert_eq!(sync(&mut cache, &V6, &mut set("a b")), 0);
    }
}
