//! Number of endpoints and slices over all Services.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

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

/// What one Service adds to the metrics (MT-4 to MT-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Totals over its address types. Unlike upstream, both families of a dual-stack Service count (EC-32).
    totals: Totals,
    /// Traffic distribution that it uses.
    traffic: Option<TrafficDistribution>,
}

// There is one for each Service.
const _: () = assert!(size_of::<Option<Counted>>() == 32);

impl Counted {
    /// Counts a plan. `max` is the maximum number of endpoints per slice; `placeholder` is whether a Service without
    /// endpoints should have a slice, which mirrored ones should not (MT-8).
    pub(crate) fn of(plan: &Plan, max: NonZeroUsize, placeholder: bool, traffic: Option<TrafficDistribution>) -> Self {
        let types = plan.types.iter().map(|plan| of_groups(&plan.groups, max, placeholder));
        Counted { totals: types.fold(Totals::default(), Totals::plus), traffic }
    }
}

/// Sums over all Services.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    totals: Totals,
    /// Number of Services by traffic distribution, for each one that was ever used (MT-6).
    traffic: BTreeMap<TrafficDistribution, usize>,
}

impl Sums {
    /// Replaces what a Service has added by what it adds now, and returns the totals.
    pub(crate) fn replace(&mut self, before: Counted, now: Counted) -> Totals {
        self.totals = self.totals.plus(now.totals).minus(before.totals);
        if before.traffic != now.traffic {
            if let Some(count) = before.traffic.and_then(|used| self.traffic.get_mut(&used)) {
                *count -= 1;
            }
            if let Some(used) = now.traffic {
                *self.traffic.entry(used).or_default() += 1;
            }
        }
        self.totals
    }

    /// Returns the number of Services by traffic distribution if this change of a Service affects it.
    pub(crate) fn changed_traffic(
        &self,
        before: Counted,
        now: Counted,
    ) -> Option<&BTreeMap<TrafficDistribution, usize>> {
        (before.traffic != now.traffic).then_some(&self.traffic)
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

    fn counted(types: &[(AddressType, &[(usize, usize)])], placeholder: bool) -> Counted {
        let group = |(endpoints, slices): &(usize, usize)| GroupCount { endpoints: *endpoints, slices: *slices };
        let types = types.iter().map(|(address_type, groups)| TypePlan {
            groups: groups.iter().map(group).collect(),
            ..TypePlan::empty(address_type.clone())
        });
        Counted::of(&Plan { types: types.collect(), unsupported: Vec::new() }, MAX, placeholder, None)
    }

    fn figures(totals: Totals) -> (usize, usize, usize) {
        (totals.endpoints, totals.slices, totals.desired_slices)
    }

    // upstream: TestNumEndpointsAndSlices
    #[test]
    fn endpoints_and_slices_are_summed_over_services_and_ports() {
        let (mut sums, none) = (Sums::default(), Counted::default());
        let v4 = AddressType::IPv4;
        let one = counted(&[(v4.clone(), &[(45, 1), (32, 1)])], true);
        assert_eq!(figures(sums.replace(none, one)), (77, 2, 2));
        let two = counted(&[(v4.clone(), &[(175, 3), (2, 2), (0, 0)])], true);
        assert_eq!(figures(sums.replace(none, two)), (254, 7, 5));
        let changed = counted(&[(v4, &[(50, 1)])], true);
        assert_eq!(figures(sums.replace(one, changed)), (227, 6, 4));
        assert_eq!(figures(sums.replace(two, none)), (50, 1, 1), "MT-7");
        assert_eq!(figures(sums.replace(changed, none)), (0, 0, 0));
    }

    // upstream: TestPlaceHolderSlice
    #[test]
    fn a_placeholder_is_a_desired_slice_where_there_are_placeholders() {
        assert_eq!(figures(counted(&[(AddressType::IPv4, &[(0, 1)])], true).totals), (0, 1, 1));
        assert_eq!(figures(counted(&[(AddressType::IPv4, &[])], false).totals), (0, 0, 0), "MT-8");
    }

    #[test]
    fn ec_32_both_families_count() {
        let both = counted(&[(AddressType::IPv4, &[(150, 2)]), (AddressType::IPv6, &[(10, 1)])], true);
        assert_eq!(figures(both.totals), (160, 3, 3));
    }

    // upstream: TestCache_ServicesByTrafficDistribution
    #[test]
    fn a_service_uses_one_traffic_distribution_at_most() {
        use TrafficDistribution::{PreferClose, PreferSameNode};
        let mut sums = Sums::default();
        let using = |traffic| Counted { traffic, ..Counted::default() };
        let [none, close, node] = [None, Some(PreferClose), Some(PreferSameNode)].map(using);
        for _ in 0..3 {
            sums.replace(none, close);
            assert!(sums.changed_traffic(none, close).is_some());
        }
        assert_eq!(sums.changed_traffic(close, close), None);
        sums.replace(close, node);
        assert_eq!(sums.changed_traffic(close, node), Some(&[(PreferClose, 2), (PreferSameNode, 1)].into()));
        sums.replace(node, none);
        let left = [(PreferClose, 2), (PreferSameNode, 0)].into();
        assert_eq!(sums.changed_traffic(node, none), Some(&left), "MT-6");
    }
}
