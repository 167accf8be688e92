//! Which endpoints of the stored slices receive the traffic of a Service, by the rules of kube-proxy and the cluster DNS.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use kube_endpoint_model::{AddressType, Code, Endpoint, EndpointPort, EndpointSlice, Service, ServicePort};

use crate::counts::first_named;
use crate::report::Reason;

/// Number of ports of slices that a reason names.
const NAMED_PORTS: usize = 4;

/// The endpoints that receive the traffic of a Service.
///
/// kube-proxy uses the slices whose address type is a family of the Service, and of these the ports with the name and
/// the protocol of a Service port and a number. It sends the traffic of a port to the ready endpoints that have it and, if
/// none is ready, to those that are terminating and still serve (`CategorizeEndpoints`). For a headless Service, the cluster
/// DNS returns the ready endpoints of all slices, and no others.
pub(crate) struct Traffic<'a> {
    service: &'a Service,
    /// Slices that are used.
    slices: Vec<&'a EndpointSlice>,
    /// Address types of the slices that are not used.
    ignored: BTreeSet<&'a AddressType>,
}

impl<'a> Traffic<'a> {
    /// `slices` are all slices of the Service, whoever manages them.
    pub(crate) fn new(service: &'a Service, slices: impl Iterator<Item = &'a Arc<EndpointSlice>>) -> Self {
        let types = service.address_types();
        let is_used = |slice: &EndpointSlice| match slice.address_type {
            AddressType::IPv4 | AddressType::IPv6 => service.is_headless() || types.contains(&slice.address_type),
            AddressType::Fqdn | AddressType::Other(_) => false,
        };
        let (slices, ignored): (Vec<_>, Vec<_>) = slices.map(|slice| &**slice).partition(|slice| is_used(slice));
        Traffic { service, slices, ignored: ignored.into_iter().map(|slice| &slice.address_type).collect() }
    }

    /// Returns the endpoints that receive traffic of slices with certain ports, with these ports.
    fn receiving(&self, serves: impl Fn(&[EndpointPort]) -> bool) -> Vec<(&'a [EndpointPort], &'a Endpoint)> {
        let endpoints = |accept: fn(&Endpoint) -> bool| -> Vec<_> {
            let slices = self.slices.iter().filter(|slice| serves(&slice.ports));
            let endpoints = slices.flat_map(|slice| slice.endpoints.iter().map(|it| (&*slice.ports, it)));
            endpoints.filter(|(_, it)| !it.addresses.is_empty() && accept(it)).collect()
        };
        let ready = endpoints(|endpoint| endpoint.conditions.counts_as_ready());
        if !ready.is_empty() || self.service.is_headless() {
            return ready;
        }
        endpoints(|endpoint| endpoint.conditions.counts_as_serving() && endpoint.conditions.counts_as_terminating())
    }

    /// Returns the names of the Pods that receive traffic on at least one port.
    pub(crate) fn pods(&self) -> HashSet<&'a str> {
        let receiving = if self.service.needs_endpoint_ports() {
            self.ports().flat_map(|port| self.receiving(|ports| has(ports, port))).collect()
        } else {
            self.receiving(|_| true)
        };
        let targets = receiving.into_iter().filter_map(|(_, endpoint)| endpoint.target_ref.as_ref());
        targets.filter(|target| target.is_of_pod()).map(|target| target.name().as_str()).collect()
    }

    fn ports(&self) -> impl Iterator<Item = &'a ServicePort> {
        self.service.ports.iter()
    }

    /// Returns the ports of the Service that no endpoint serves although endpoints receive traffic, with the ports that
    /// these have; one reason each.
    pub(crate) fn unserved_ports(&self) -> Vec<Reason> {
        let receiving = self.receiving(|_| true);
        if receiving.is_empty() {
            return Vec::new();
        }
        let unserved = self.ports().filter(|port| self.receiving(|ports| has(ports, port)).is_empty());
        unserved.map(|port| self.unserved(port, &receiving)).collect()
    }

    fn unserved(&self, port: &ServicePort, receiving: &[(&[EndpointPort], &Endpoint)]) -> Reason {
        let (wanted, offered) = (service_port(port), offered(receiving));
        if self.service.is_headless() {
            let message = format!("{wanted} has no SRV record: the endpoints have {offered}");
            return Reason { code: Code::PortWithoutRecord, message };
        }
        Reason {
            code: Code::PortUnserved,
            message: format!("no endpoint serves {wanted}: the endpoints have {offered}"),
        }
    }

    /// Returns why nothing receives the traffic of a Service whose slices do not come from Pods; `None` if something
    /// does, or if [`unserved_ports`](Self::unserved_ports) says why not.
    pub(crate) fn nothing_receives(&self) -> Option<Reason> {
        if !self.receiving(|_| true).is_empty() {
            return None;
        }
        let considered: usize = self.slices.iter().map(|slice| slice.endpoints.len()).sum();
        let ignored: Vec<&str> = self.ignored.iter().map(|it| it.as_str()).collect();
        let message = match (considered, &ignored[..]) {
            (0, []) => "no slice has an endpoint".to_owned(),
            (0, types) => {
                let families: Vec<_> = self.service.address_types().iter().map(|it| it.as_str().to_owned()).collect();
                let (types, families) = (types.join(" and "), families.join(" and "));
                format!("its slices are of type {types}, and only those of type {families} are used")
            }
            (number, _) => format!("no endpoint in its slices is ready, of {number}"),
        };
        Some(Reason { code: Code::NoUsableEndpoint, message })
    }
}

/// Names the ports of endpoints, for instance `port "http" (8080/TCP)`.
fn offered(receiving: &[(&[EndpointPort], &Endpoint)]) -> String {
    let mut offered = BTreeSet::new();
    let mut last: Option<&[EndpointPort]> = None;
    for (ports, _) in receiving {
        // The endpoints of a slice follow each other.
        if last.is_none_or(|last| !std::ptr::eq(last, *ports)) {
            offered.extend(ports.iter().map(slice_port));
            last = Some(ports);
        }
    }
    let offered: Vec<&str> = offered.iter().map(String::as_str).collect();
    if offered.is_empty() { "no ports".to_owned() } else { first_named(&offered, NAMED_PORTS) }
}

/// Returns whether a slice with these ports serves a port of a Service. kube-proxy ignores ports without a name or number.
fn has(ports: &[EndpointPort], wanted: &ServicePort) -> bool {
    ports.iter().any(|port| {
        port.name.as_ref() == Some(&wanted.name)
            && port.protocol.as_deref().unwrap_or("TCP") == &*wanted.protocol
            && port.port.is_some_and(|number| number != 0)
    })
}

fn service_port(port: &ServicePort) -> String {
    let ServicePort { name, protocol, .. } = port;
    if name.is_empty() { format!("the {protocol} port without a name") } else { format!("port {name:?} ({protocol})") }
}

fn slice_port(port: &EndpointPort) -> String {
    let protocol = port.protocol.as_deref().unwrap_or("TCP");
    let number = match port.port {
        Some(0) | None => format!("{protocol}, no number"),
        Some(number) => format!("{number}/{protocol}"),
    };
    match port.name.as_deref() {
        None | Some("") => format!("a port without a name ({number})"),
        Some(name) => format!("port {name:?} ({number})"),
    }
}
