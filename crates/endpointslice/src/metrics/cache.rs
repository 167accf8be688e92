//! Number of endpoints and slices over all Services.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;

use kube_endpoint_model::ObjectKey;
use kube_topology::TrafficDistribution;

use crate::plan::{GroupCount, Plan};

/// Number of endpoints and slices, of one Service or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of desired endpoints.
    pub endpoints: usize,
    /// Number of slices.
    pub slices: usize,
    /// Minimum number of slices for the desired endpoints.
    pub desired_slices: usize,
}

impl Totals {
    fn plus(self, other: Totals) -> Totals {
        Totals {
            endpoints: self.endpoints + other.endpoints,
            slices: self.slices + other.slices,
            desired_slices: self.desired_slices + other.desired_slices,
        }
    }

    fn minus(self, other: Totals) -> Totals {
        Totals {
            endpoints: self.endpoints - other.endpoints,
            slices: self.slices - other.slices,
            desired_slices: self.desired_slices - other.desired_slices,
        }
    }
}

// The cache has an entry for each Service.
const _: () = assert!(size_of::<(ObjectKey, Totals)>() == 40);

/// Endpoints, slices and traffic distribution of each Service, with their totals (MT-4 to MT-7).
///
/// Unlike upstream, both families of a dual-stack Service count (EC-32).
#[derive(Clone, Debug, Default)]
pub struct MetricsCache {
    /// Totals of each Service over its address types. A map by address type would take ten times the memory.
    services: HashMap<ObjectKey, Totals>,
    totals: Totals,
    traffic: BTreeMap<TrafficDistribution, HashSet<ObjectKey>>,
}

impl MetricsCache {
    /// Replaces the numbers of a Service by those of a plan, and returns the totals over all Services. `max` is the
    /// maximum number of endpoints per slice; `placeholder` is whether a Service without endpoints should have a slice,
    /// which mirrored ones should not (MT-8).
    pub fn update(&mut self, service: &ObjectKey, plan: &Plan, max: NonZeroUsize, placeholder: bool) -> Totals {
        let types = plan.types.iter().map(|plan| of_groups(&plan.groups, max, placeholder));
        let added = types.fold(Totals::default(), Totals::plus);
        let before = self.services.insert(service.clone(), added).unwrap_or_default();
        self.totals = self.totals.plus(added).minus(before);
        self.totals
    }

    /// Removes a Service, and returns the totals over all others; `None` if it was not stored.
    pub fn remove(&mut self, service: &ObjectKey) -> Option<Totals> {
        let before = self.services.remove(service)?;
        self.totals = self.totals.minus(before);
        self.set_traffic_distribution(service, None);
        Some(self.totals)
    }

    /// Sets the traffic distribution that a Service uses, and returns whether it changed.
    pub fn set_traffic_distribution(&mut self, service: &ObjectKey, used: Option<TrafficDistribution>) -> bool {
        let mut news = false;
        for (distribution, services) in &mut self.traffic {
            if used != Some(*distribution) {
                news |= services.remove(service);
            }
        }
        match used {
            Some(used) => news | self.traffic.entry(used).or_default().insert(service.clone()),
            None => news,
        }
    }

    /// Returns the number of Services by traffic distribution, for each one that was ever used.
    pub fn traffic_distributions(&self) -> BTreeMap<TrafficDistribution, usize> {
        self.traffic.iter().map(|(distribution, services)| (*distribution, services.len())).collect()
    }
}

fn of_groups(groups: &[GroupCount], max: NonZeroUsize, placeholder: bool) -> Totals {
    let desired: usize = groups.iter().map(|group| group.endpoints.div_ceil(max.get())).sum();
    Totals {
        endpoints: groups.iter().map(|group| group.endpoints).sum(),
        slices: groups.iter().map(|group| group.slices).sum(),
        desired_slices: desired.max(usize::from(placeholder)),
    }
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::AddressType;

    use super::*;
    use crate::plan::TypePlan;

    const MAX: NonZeroUsize = NonZeroUsize::new(100).expect("not zero");

    fn plan_of(types: &[(AddressType, &[(usize, usize)])]) -> Plan {
        let group = |(endpoints, slices): &(usize, usize)| GroupCount { endpoints: *endpoints, slices: *slices };
        let types = types.iter().map(|(address_type, groups)| TypePlan {
            groups: groups.iter().map(group).collect(),
            ..TypePlan::empty(address_type.clone())
        });
        Plan { types: types.collect(), unsupported: Vec::new() }
    }

    fn figures(totals: Totals) -> (usize, usize, usize) {
        (totals.endpoints, totals.slices, totals.desired_slices)
    }

    // upstream: TestNumEndpointsAndSlices
    #[test]
    fn endpoints_and_slices_are_summed_over_services_and_ports() {
        let mut cache = MetricsCache::default();
        let (one, two) = (ObjectKey::new("ns", "one"), ObjectKey::new("ns", "two"));
        let v4 = AddressType::IPv4;
        let totals = cache.update(&one, &plan_of(&[(v4.clone(), &[(45, 1), (32, 1)])]), MAX, true);
        assert_eq!(figures(totals), (77, 2, 2));
        let totals = cache.update(&two, &plan_of(&[(v4.clone(), &[(175, 3), (2, 2), (0, 0)])]), MAX, true);
        assert_eq!(figures(totals), (254, 7, 5));
        let totals = cache.update(&one, &plan_of(&[(v4, &[(50, 1)])]), MAX, true);
        assert_eq!(figures(totals), (227, 6, 4));
        assert_eq!(cache.remove(&two).map(figures), Some((50, 1, 1)));
        assert_eq!(cache.remove(&two), None, "MT-7");
        assert_eq!(cache.remove(&one).map(figures), Some((0, 0, 0)));
    }

    // upstream: TestPlaceHolderSlice
    #[test]
    fn a_placeholder_is_a_desired_slice_where_there_are_placeholders() {
        let mut cache = MetricsCache::default();
        let service = ObjectKey::new("ns", "one");
        let plan = plan_of(&[(AddressType::IPv4, &[(0, 1)])]);
        assert_eq!(figures(cache.update(&service, &plan, MAX, true)), (0, 1, 1));
        let none = plan_of(&[(AddressType::IPv4, &[])]);
        assert_eq!(figures(cache.update(&service, &none, MAX, false)), (0, 0, 0), "MT-8");
    }

    #[test]
    fn ec_32_both_families_count() {
        let mut cache = MetricsCache::default();
        let plan = plan_of(&[(AddressType::IPv4, &[(150, 2)]), (AddressType::IPv6, &[(10, 1)])]);
        assert_eq!(figures(cache.update(&ObjectKey::new("ns", "one"), &plan, MAX, true)), (160, 3, 3));
    }

    // upstream: TestCache_ServicesByTrafficDistribution
    #[test]
    fn a_service_uses_one_traffic_distribution_at_most() {
        use TrafficDistribution::{PreferClose, PreferSameNode};
        let mut cache = MetricsCache::default();
        let services = ["one", "two", "three"].map(|name| ObjectKey::new("ns", name));
        assert!(cache.traffic_distributions().is_empty());
        assert!(services.iter().all(|service| cache.set_traffic_distribution(service, Some(PreferClose))));
        assert!(!cache.set_traffic_distribution(&services[0], Some(PreferClose)), "not changed");
        assert!(cache.set_traffic_distribution(&services[0], Some(PreferSameNode)));
        assert_eq!(cache.traffic_distributions(), [(PreferClose, 2), (PreferSameNode, 1)].into());
        assert!(cache.set_traffic_distribution(&services[0], None));
        assert!(!cache.set_traffic_distribution(&services[0], None));
        assert_eq!(cache.traffic_distributions(), [(PreferClose, 2), (PreferSameNode, 0)].into(), "MT-6");
    }
}
