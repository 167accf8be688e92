//! Computes the endpoints of the slices of an Endpoints object. No I/O.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;

use kube_endpoint_model::subsets::{repack, repack_like_upstream};
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSubset, Endpoints,
    SubsetPort,
};
use kube_endpointslice::{DesiredGroup, MAX_PORTS};

/// Endpoints of the slices of an Endpoints object, and the number of addresses that are left out.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Mirrored {
    /// Endpoints by address type and ports: one group per subset and family, which may be empty.
    pub groups: Vec<DesiredGroup>,
    /// Number of addresses that are not mirrored: invalid ones, and those beyond the limit.
    pub skipped: usize,
    /// Number of invalid addresses. Addresses beyond the limit are not parsed (MI-11).
    pub invalid: usize,
    /// Number of ports that are not mirrored, since too many of a subset have the same name (EC-52).
    pub skipped_ports: usize,
}

/// Maximum number of port lists that a subset is divided into, because its ports have equal names (EC-52). Each list has
/// slices with all addresses of the subset.
pub(crate) const MAX_PORT_LISTS: usize = 16;

/// Returns the endpoints of the slices of an Endpoints object (MI-6 to MI-11), with at most `max` addresses of each
/// subset.
///
/// Subsets are brought into canonical form first. The limit counts the valid addresses of both families, ready ones
/// first. It applies to the subsets as upstream forms them, which never merges ports with an application protocol
/// (EC-7); equal ports merge afterwards. Different ports do not, even if the limit leaves them the same addresses.
pub fn desired(endpoints: &Endpoints, max: NonZeroUsize) -> Mirrored {
    let mut mirrored = Mirrored::default();
    let limited: Vec<EndpointSubset> = repack_like_upstream(&endpoints.subsets)
        .into_iter()
        .map(|subset| limit(subset, max.get(), &mut mirrored))
        .collect();

    let mut ports = HashSet::new();
    let are_different = limited.iter().flat_map(|subset| &subset.ports).all(|port| ports.insert(port));
    let subsets = if are_different { limited } else { repack(&limited) };
    for subset in subsets {
        let mut endpoints = [AddressType::IPv4, AddressType::IPv6].map(|address_type| (address_type, Vec::new()));
        let ready = subset.addresses.iter().map(|address| (address, true));
        let not_ready = subset.not_ready_addresses.iter().map(|address| (address, false));
        for (address, ready) in ready.chain(not_ready) {
            let Ok(canonical) = address.ip.usable() else { continue };
            let address_type = canonical.family().map(AddressType::from);
            if let Some((_, endpoints)) = endpoints.iter_mut().find(|(of, _)| Some(of) == address_type.as_ref()) {
                endpoints.push(endpoint(address, canonical, ready));
            }
        }
        for ports in slice_ports(&subset.ports, &mut mirrored.skipped_ports) {
            mirrored.groups.extend(endpoints.iter().map(|(address_type, endpoints)| DesiredGroup {
                address_type: address_type.clone(),
                ports: ports.clone(),
                endpoints: endpoints.clone(),
            }));
        }
    }
    mirrored
}

/// Removes the addresses of a subset that are not mirrored (MI-8), and counts them in `mirrored`.
fn limit(mut subset: EndpointSubset, max: usize, mirrored: &mut Mirrored) -> EndpointSubset {
    let total = subset.addresses.len() + subset.not_ready_addresses.len();
    let mut added = 0;
    for addresses in [&mut subset.addresses, &mut subset.not_ready_addresses] {
        addresses.retain(|address| {
            if added >= max {
                return false;
            }
            let valid = address.ip.usable().is_ok();
            if valid {
                added += 1;
            } else {
                mirrored.invalid += 1;
            }
            valid
        });
    }
    mirrored.skipped += total - added;
    subset
}

/// Returns the endpoint of an address (MI-9).
fn endpoint(address: &EndpointAddress, canonical: Address, ready: bool) -> Endpoint {
    Endpoint {
        addresses: canonical.into(),
        conditions: EndpointConditions { ready: Some(ready), ..EndpointConditions::default() },
        hostname: Some(address.hostname.clone()).filter(|name| !name.is_empty()),
        node_name: address.node_name.clone(),
        target_ref: address.target_ref.clone(),
        ..Endpoint::default()
    }
}

/// Returns the ports of a subset in upstream's order, divided into those of several slices if necessary: the API server
/// rejects a slice in which two ports have the same name (EC-52), and accepts Endpoints with such ports. Adds the number
/// of ports that are in none to `skipped`.
fn slice_ports(ports: &[SubsetPort], skipped: &mut usize) -> Vec<Vec<EndpointPort>> {
    let mut divided: Vec<Vec<EndpointPort>> = vec![Vec::new()];
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for port in ports {
        let earlier = seen.entry(&port.name).or_default();
        if *earlier == MAX_PORT_LISTS {
            *skipped += 1;
            continue;
        }
        if *earlier == divided.len() {
            divided.push(Vec::new());
        }
        divided[*earlier].push(slice_port(port));
        *earlier += 1;
    }
    for ports in &mut divided {
        kube_endpoint_model::sort_slice_ports(ports);
        ports.truncate(MAX_PORTS);
    }
    divided
}

fn slice_port(port: &SubsetPort) -> EndpointPort {
    EndpointPort {
        name: Some(port.name.clone()),
        protocol: Some(port.protocol.clone()),
        port: Some(port.port),
        app_protocol: port.app_protocol.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn subset(ready: &[&str], not_ready: &[&str], port: i32) -> EndpointSubset {
        let addresses = |list: &[&str]| {
            list.iter()
                .map(|ip| EndpointAddress {
                    hostname: "".into(),
                    ip: Address::new(ip),
                    node_name: None,
                    target_ref: None,
                })
                .collect()
        };
        EndpointSubset {
            addresses: addresses(ready),
            not_ready_addresses: addresses(not_ready),
            ports: vec![SubsetPort { name: format!("p{port}").into(), port, ..SubsetPort::default() }],
        }
    }

    /// Several ports of one name are in slices of their own, each with all addresses.
    #[rstest]
    #[case::distinct(&[("a", 80), ("b", 81)], &["a=80 b=81"])]
    #[case::unnamed(&[("", 80), ("", 81)], &["=80", "=81"])]
    #[case::several(&[("a", 80), ("a", 81), ("b", 82), ("a", 83)], &["a=80 b=82", "a=81", "a=83"])]
    #[case::no_ports(&[], &[""])]
    fn ports_of_one_name_are_in_different_slices(#[case] ports: &[(&str, i32)], #[case] expected: &[&str]) {
        let ports =
            ports.iter().map(|(name, port)| SubsetPort { name: (*name).into(), port: *port, ..SubsetPort::default() });
        let ports: Vec<SubsetPort> = ports.collect();
        let shown = |ports: Vec<EndpointPort>| {
            let mut ports: Vec<String> = ports
                .iter()
                .map(|it| format!("{}={}", it.name.as_deref().unwrap_or_default(), it.port.unwrap_or_default()))
                .collect();
            ports.sort();
            ports.join(" ")
        };
        assert_eq!(slice_ports(&ports, &mut 0).into_iter().map(shown).collect::<Vec<_>>(), expected);
        let endpoints = EndpointSubset { ports, ..subset(&["10.0.0.1", "fd00::1"], &["10.0.0.2"], 0) };
        let mirrored =
            desired(&Endpoints { subsets: vec![endpoints], ..Endpoints::default() }, NonZeroUsize::new(9).unwrap());
        let sizes: Vec<usize> = mirrored.groups.iter().map(|group| group.endpoints.len()).collect();
        assert_eq!(sizes, [2, 1].repeat(expected.len()));
    }

    /// Each list of ports costs slices with all addresses.
    #[test]
    fn a_subset_with_many_ports_of_one_name_is_in_a_limited_number_of_slices() {
        let ports = (1..=200).map(|port| SubsetPort { port, ..SubsetPort::default() }).collect();
        let endpoints = EndpointSubset { ports, ..subset(&["10.0.0.1"], &[], 0) };
        let mirrored =
            desired(&Endpoints { subsets: vec![endpoints], ..Endpoints::default() }, NonZeroUsize::new(9).unwrap());
        assert_eq!(shown(&mirrored).len(), MAX_PORT_LISTS);
        assert_eq!(mirrored.skipped_ports, 200 - MAX_PORT_LISTS);
    }

    /// Formats the groups that are not empty as `type:port=address[!]...`; `!` marks endpoints that are not ready.
    fn shown(mirrored: &Mirrored) -> Vec<String> {
        let mut shown: Vec<String> = mirrored
            .groups
            .iter()
            .filter(|group| !group.endpoints.is_empty())
            .map(|group| {
                let endpoints: Vec<String> = group
                    .endpoints
                    .iter()
                    .map(|it| format!("{}{}", it.addresses[0], if it.is_ready() { "" } else { "!" }))
                    .collect();
                let port = group.ports[0].port.unwrap_or_default();
                format!("{}:{port}={}", group.address_type.as_str(), endpoints.join(" "))
            })
            .collect();
        shown.sort();
        shown
    }

    // upstream: TestReconcile (mirroring), the cases about which addresses are mirrored
    #[rstest]
    #[case::no_subsets(vec![], 10, &[], 0, 0)]
    #[case::no_addresses(vec![subset(&[], &[], 80)], 10, &[], 0, 0)]
    #[case::ready_and_not(vec![subset(&["10.0.0.1"], &["10.0.0.2"], 80)], 10, &["IPv4:80=10.0.0.1 10.0.0.2!"], 0, 0)]
    #[case::two_families(
        vec![subset(&["10.0.0.1", "2001:db8::1"], &[], 80)], 10, &["IPv4:80=10.0.0.1", "IPv6:80=2001:db8::1"], 0, 0)]
    #[case::same_ports_merge(
        vec![subset(&["10.0.0.1"], &[], 80), subset(&["10.0.0.2"], &[], 80)], 10, &["IPv4:80=10.0.0.1 10.0.0.2"], 0, 0)]
    #[case::invalid_addresses(vec![subset(&["bad", "10.0.0.1"], &["worse"], 80)], 10, &["IPv4:80=10.0.0.1"], 2, 2)]
    #[case::only_invalid(vec![subset(&["bad"], &[], 80)], 10, &[], 1, 1)]
    #[case::limit_cuts_not_ready_first(
        vec![subset(&["10.0.0.1", "10.0.0.2"], &["10.0.0.3"], 80)], 2, &["IPv4:80=10.0.0.1 10.0.0.2"], 1, 0)]
    #[case::limit_counts_both_families(
        vec![subset(&["10.0.0.1", "2001:db8::1"], &[], 80)], 1, &["IPv4:80=10.0.0.1"], 1, 0)]
    #[case::beyond_the_limit_nothing_is_examined(vec![subset(&["10.0.0.1", "bad"], &[], 80)], 1, &["IPv4:80=10.0.0.1"], 1, 0)]
    #[case::addresses_that_the_server_rejects(
        vec![subset(&["127.0.0.1", "10.0.0.1", "fe80::1"], &["224.0.0.1"], 80)], 10, &["IPv4:80=10.0.0.1"], 3, 3)]
    #[case::limit_leaves_different_ports_the_same_addresses(
        vec![subset(&["10.0.0.1", "10.0.0.2"], &[], 80), subset(&["10.0.0.1", "10.0.0.3"], &[], 81)],
        1, &["IPv4:80=10.0.0.1", "IPv4:81=10.0.0.1"], 2, 0)]
    #[case::mapped_is_ipv4(vec![subset(&["::ffff:10.0.0.1"], &[], 80)], 1, &["IPv4:80=10.0.0.1"], 0, 0)]
    fn mirrors(
        #[case] subsets: Vec<EndpointSubset>,
        #[case] max: usize,
        #[case] expected: &[&str],
        #[case] skipped: usize,
        #[case] invalid: usize,
    ) {
        let endpoints = Endpoints { subsets, ..Endpoints::default() };
        let mirrored = desired(&endpoints, NonZeroUsize::new(max).unwrap());
        assert_eq!(shown(&mirrored), expected);
        assert_eq!((mirrored.skipped, mirrored.invalid), (skipped, invalid));
    }
}
