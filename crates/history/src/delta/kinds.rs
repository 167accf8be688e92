//! Differences of objects and their parts: which fields differ, and each of these.

use kube_endpoint_model::{
    AddressType, Endpoint, EndpointAddress, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice,
    EndpointSubset, Endpoints, IpFamily, NamedPort, Node, ObjectMeta, ObjectReference, OwnerReference, Pod, Service,
    ServicePort, SubsetPort, TargetPort, TargetRef,
};

use super::{Delta, list};
use crate::codec::{Input, Malformed, Output};

/// Implements [`Delta`] for types by their fields. The order is part of the format: new fields come last.
macro_rules! fields {
    ($($type:ident { $($field:ident)* })*) => {
        $(impl Delta for $type {
            fn write(&self, before: &Self, out: &mut Output) {
                const FIELDS: usize = [$(stringify!($field)),*].len();
                let mask = |differs: [bool; FIELDS]| {
                    differs.iter().rev().fold(0, |mask, differs| mask << 1 | u64::from(*differs))
                };
                let $type { $($field),* } = self;
                if FIELDS <= 7 {
                    // One byte of the mask is written last, so that long lists are compared once.
                    let at = out.len();
                    out.byte(0);
                    let differs = [$($field.write_if_different(&before.$field, out)),*];
                    out.replace(at, mask(differs).to_le_bytes()[0]);
                    return;
                }
                let differs = [$(*$field != before.$field),*];
                out.number(mask(differs));
                let mut differs = differs.into_iter();
                $(if differs.next() == Some(true) {
                    $field.write(&before.$field, out);
                })*
            }

            fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
                let mut mask = input.number()?;
                $(let $field = if mask & 1 == 1 {
                    Delta::read(&before.$field, input)?
                } else {
                    before.$field.clone()
                };
                mask >>= 1;)*
                if mask != 0 {
                    return Err(Malformed(concat!("unknown field of ", stringify!($type))));
                }
                Ok($type { $($field),* })
            }
        })*
    };
}

fields! {
    Service {
        namespace name uid resource_version labels topology_annotation tolerate_unready_annotation created terminating
        external_name cluster_ip selector ports ip_families publish_not_ready_addresses traffic_distribution
    }
    ServicePort { name protocol target app_protocol }
    Pod {
        namespace name uid resource_version labels hostname subdomain node_name pod_ips pod_ip_family named_ports
        ready_changed ready terminating finished excluded_by_restart_policy
    }
    NamedPort { name protocol port }
    Node { name uid resource_version zone control_plane ready cpu_milli }
    ObjectMeta {
        annotations creation_timestamp deletion_grace_period_seconds deletion_timestamp finalizers generate_name generation
        labels name namespace owner_references resource_version self_link uid
    }
    OwnerReference { api_version block_owner_deletion controller kind name uid }
    Endpoints { metadata subsets }
    EndpointAddress { hostname ip node_name target_ref }
    SubsetPort { name port protocol app_protocol }
    ObjectReference { api_version field_path kind name namespace resource_version uid }
    EndpointSlice { metadata address_type endpoints ports }
    Endpoint { addresses conditions deprecated_topology hints hostname node_name target_ref zone }
    EndpointConditions { ready serving terminating }
    EndpointHints { for_nodes for_zones }
    EndpointPort { name protocol port app_protocol }
}

/// Difference of a Node of which only the version has changed: it has the third field, which is the version of the record.
pub(crate) const HEARTBEAT: &[u8] = &[1 << 2, 2];

/// An address that becomes ready, or ceases to be, moves from one list to the other.
impl Delta for EndpointSubset {
    fn write(&self, before: &Self, out: &mut Output) {
        list::write(&self.addresses, &before.addresses, &before.not_ready_addresses, out);
        list::write(&self.not_ready_addresses, &before.not_ready_addresses, &before.addresses, out);
        self.ports.write(&before.ports, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(EndpointSubset {
            addresses: list::read(&before.addresses, &before.not_ready_addresses, input)?,
            not_ready_addresses: list::read(&before.not_ready_addresses, &before.addresses, input)?,
            ports: Vec::read(&before.ports, input)?,
        })
    }
}

impl Delta for TargetRef {
    fn write(&self, before: &Self, out: &mut Output) {
        ObjectReference::from(self).write(&before.into(), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        ObjectReference::read(&before.into(), input).map(TargetRef::from)
    }
}

impl Delta for TargetPort {
    fn write(&self, _: &Self, out: &mut Output) {
        match self {
            TargetPort::Number(number) => {
                out.byte(0);
                number.write(&0, out);
            }
            TargetPort::Name(name) => {
                out.byte(1);
                out.bytes(name.as_bytes());
            }
        }
    }

    fn read(_: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => i32::read(&0, input).map(TargetPort::Number),
            1 => input.text().map(TargetPort::Name),
            _ => Err(Malformed("a target port is neither a number nor a name")),
        }
    }
}

impl Delta for AddressType {
    fn write(&self, _: &Self, out: &mut Output) {
        out.bytes(self.as_str().as_bytes());
    }

    fn read(_: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        input.text().map(|text| AddressType::from(text.as_str()))
    }
}

impl Delta for IpFamily {
    fn write(&self, _: &Self, out: &mut Output) {
        out.byte(match self {
            IpFamily::V4 => 4,
            IpFamily::V6 => 6,
        });
    }

    fn read(_: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            4 => Ok(IpFamily::V4),
            6 => Ok(IpFamily::V6),
            _ => Err(Malformed("an address family is neither 4 nor 6")),
        }
    }
}
