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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

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

    /// One address type of a sync, as a controller does it; returns how often the enabled event came.
    fn sync(cache: &mut TopologyCache, address_type: &AddressType, slices: &mut SliceSet) -> usize {
        let key = service("web");
        let outcome = add_hints(&cache.ratios(), cache.is_enabled(&key), address_type, slices);
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
    fn overloaded_services_come_once_and_sorted() {
        let mut cache = TopologyCache::default();
        for (name, address_type) in [("b", V6), ("c", V4), ("a", V6), ("b", V4)] {
            cache.record(&service(name), &address_type, Some(counts(&[("x", 1)])));
        }
        assert_eq!(cache.overloaded_services(), ["a", "b", "c"].map(service));
    }

    #[test]
    fn nodes_change_what_is_overloaded() {
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
    fn ec_14_a_deleted_service_leaves_nothing() {
        let mut cache = TopologyCache::default();
        cache.record(&service("web"), &V4, Some(counts(&[("a", 1)])));
        cache.record(&service("web"), &V6, Some(counts(&[("a", 1)])));
        assert!(cache.remove_service(&service("web")));
        assert_eq!(cache.overloaded_services(), []);
        assert!(!cache.is_enabled(&service("web")));
        assert_eq!(cache.enabled_types(&service("web")), []);
        assert!(!cache.remove_service(&service("web")), "the event of RC-33 comes once");
    }

    // Upstream: every failure of the one type makes the other repeat the event, at every sync.
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
        assert_eq!(cache.counts(&service("web"), &V4), Some(&counts(&[("a", 1), ("b", 1)])));
        assert_eq!(cache.counts(&service("web"), &V6), None);

        // Gone altogether and back: the event comes again.
        assert_eq!(sync(&mut cache, &V4, &mut set("a")), 0);
        assert!(!cache.is_enabled(&service("web")));
        assert_eq!(sync(&mut cache, &V4, &mut set("a b")), 1);
        assert_eq!(sync(&mut cache, &V6, &mut set("a b")), 0);
    }

    // upstream: TestTopologyCacheRace. There is no lock inside to get wrong; what is left is that one outside is enough.
    #[test]
    fn workers_share_it_behind_a_mutex() {
        let node = |zone: &str, cpu_milli| Node { zone: zone.into(), cpu_milli, ready: true, ..Node::default() };
        let nodes = [node("a", 5000), node("b", 4500), node("c", 500)];
        let cache = Arc::new(Mutex::new(TopologyCache::default()));
        thread::scope(|scope| {
            scope.spawn(|| cache.lock().unwrap().set_nodes(&nodes));
            scope.spawn(|| sync(&mut cache.lock().unwrap(), &V4, &mut set("a b")));
        });
        assert!(cache.lock().unwrap().ratios().is_known());
        assert!(!cache.lock().unwrap().is_enabled(&service("web")), "too few zones before the Nodes, too many after");
    }
}
