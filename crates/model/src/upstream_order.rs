//! Upstream's order of ports and subsets.
//!
//! Upstream sorts ports and subsets by `DeepHashObject`, a 128-bit FNV-1a hash of a textual dump of the value. Clients
//! see the order, and another order would cause writes, so dump and hash are reproduced here.

use std::fmt::{self, Display, Write};

use crate::ObjectReference;
use crate::endpoints::{EndpointAddress, EndpointSubset, SubsetPort};
use crate::slice::EndpointPort;

/// Sorts the ports of an Endpoints subset in upstream's order.
pub fn sort_subset_ports(ports: &mut [SubsetPort]) {
    sort(ports, "v1.EndpointPort", subset_port);
}

/// Sorts the ports of an EndpointSlice in upstream's order.
pub fn sort_slice_ports(ports: &mut [EndpointPort]) {
    sort(ports, "v1.EndpointPort", slice_port);
}

/// Sorts subsets in upstream's order; their ports and addresses must be sorted already.
pub(crate) fn sort_subsets(subsets: &mut [EndpointSubset]) {
    sort(subsets, "v1.EndpointSubset", subset);
}

fn sort<T>(items: &mut [T], kind: &str, dump: impl Fn(&mut dyn Write, &T) -> fmt::Result) {
    if items.len() > 1 {
        items.sort_by_cached_key(|item| deep_hash(kind, |out| dump(out, item)));
    }
}

/// Returns the hash of the dump of a value of type `kind`, whose fields `fields` writes.
///
/// A value is dumped as Go's `spew` does with sorted keys and without pointer addresses:
/// `(v1.EndpointPort){Name:(*string)http …}`. Scalars are `(type)value`, pointers `(*type)value` or `(*type)<nil>`, and
/// slices `([]type)[…]` with elements without their type. It is hashed as it is written: a subset may have 1,000 addresses.
fn deep_hash(kind: &str, fields: impl FnOnce(&mut dyn Write) -> fmt::Result) -> u128 {
    let mut hash = Fnv1a128(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    write!(hash, "({kind})").and_then(|()| fields(&mut hash)).expect("hashing cannot fail");
    hash.0
}

/// 128-bit FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>.
struct Fnv1a128(u128);

impl Write for Fnv1a128 {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const PRIME: u128 = (1 << 88) + 0x13b;
        self.0 = text.bytes().fold(self.0, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
        Ok(())
    }
}

struct Pointer<'a, T>(&'static str, Option<&'a T>);

impl<T: Display> Display for Pointer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(value) => write!(f, "(*{}){value}", self.0),
            None => write!(f, "(*{})<nil>", self.0),
        }
    }
}

/// Dumps a slice. An empty list of a subset is always nil upstream.
fn list<T>(
    out: &mut dyn Write,
    kind: &str,
    items: &[T],
    dump: impl Fn(&mut dyn Write, &T) -> fmt::Result,
) -> fmt::Result {
    write!(out, "([]{kind})")?;
    if items.is_empty() {
        return out.write_str("<nil>");
    }
    for (at, item) in items.iter().enumerate() {
        out.write_char(if at == 0 { '[' } else { ' ' })?;
        dump(out, item)?;
    }
    out.write_char(']')
}

fn subset_port(out: &mut dyn Write, port: &SubsetPort) -> fmt::Result {
    let SubsetPort { name, port, protocol, app_protocol } = port;
    let app_protocol = Pointer("string", app_protocol.as_ref());
    write!(
        out,
        "{{Name:(string){name} Port:(int32){port} Protocol:(v1.Protocol){protocol} AppProtocol:{app_protocol}}}"
    )
}

fn slice_port(out: &mut dyn Write, port: &EndpointPort) -> fmt::Result {
    let EndpointPort { name, protocol, port, app_protocol } = port;
    let (name, protocol) = (Pointer("string", name.as_ref()), Pointer("v1.Protocol", protocol.as_ref()));
    let (port, app_protocol) = (Pointer("int32", port.as_ref()), Pointer("string", app_protocol.as_ref()));
    write!(out, "{{Name:{name} Protocol:{protocol} Port:{port} AppProtocol:{app_protocol}}}")
}

fn address(out: &mut dyn Write, address: &EndpointAddress) -> fmt::Result {
    let EndpointAddress { hostname, ip, node_name, target_ref } = address;
    let node_name = Pointer("string", node_name.as_ref());
    write!(out, "{{IP:(string){ip} Hostname:(string){hostname} NodeName:{node_name} TargetRef:(*v1.ObjectReference)")?;
    match target_ref.as_ref().map(ObjectReference::from) {
        None => out.write_str("<nil>}"),
        Some(it) => write!(
            out,
            "{{Kind:(string){} Namespace:(string){} Name:(string){} UID:(types.UID){} APIVersion:(string){} \
             ResourceVersion:(string){} FieldPath:(string){}}}}}",
            it.kind, it.namespace, it.name, it.uid, it.api_version, it.resource_version, it.field_path
        ),
    }
}

fn subset(out: &mut dyn Write, subset: &EndpointSubset) -> fmt::Result {
    let EndpointSubset { addresses, not_ready_addresses, ports } = subset;
    out.write_str("{Addresses:")?;
    list(out, "v1.EndpointAddress", addresses, address)?;
    out.write_str(" NotReadyAddresses:")?;
    list(out, "v1.EndpointAddress", not_ready_addresses, address)?;
    out.write_str(" Ports:")?;
    list(out, "v1.EndpointPort", ports, subset_port)?;
    out.write_char('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, TargetRef, Text};
    use rstest::rstest;

    fn app(protocol: &str) -> Option<Text> {
        (!protocol.is_empty()).then(|| Text::from(protocol))
    }

    // GV: hashes computed by upstream's code.
    #[rstest]
    #[case("", 80, "TCP", "", 0x19cb_ad18_34a7_8aba_d87a_0935_8085_8485, 0x73b5_2e07_5e78_e707_87d5_e6ff_d221_2eef)]
    #[case("http", 80, "TCP", "", 0x754b_003f_50f1_33a5_39c6_0d18_cfb3_0a55, 0xb6c4_d325_122a_5ba6_f795_b0bb_ffce_bb6f)]
    #[case(
        "https",
        443,
        "TCP",
        "",
        0xa1d3_cd18_4f85_5891_7902_5a83_60ef_cc75,
        0x5085_2f61_0b5f_bbf5_1290_25d3_5e50_2185
    )]
    #[case("dns", 53, "UDP", "", 0xcf68_4d8c_2a0d_ef1b_a31f_6460_0b90_51ae, 0x1caf_2163_65b5_7b5d_2659_d4ba_9f66_2580)]
    #[case(
        "dns-tcp",
        53,
        "TCP",
        "",
        0xbb9c_c7b3_d27a_e737_aec8_326a_cc3a_f680,
        0x8fa5_f9e2_63f7_f661_12d3_1fc2_ebea_1e2a
    )]
    #[case(
        "metrics",
        9153,
        "TCP",
        "",
        0xbb22_4be3_c4f3_95f9_85c5_884d_94d6_3c5e,
        0xf17b_f63b_dbb0_03d0_f2f8_e0b7_3efa_3324
    )]
    #[case(
        "http",
        8080,
        "TCP",
        "kubernetes.io/h2c",
        0x854e_8432_f9da_6eec_a8ba_fdf6_0825_59ce,
        0x25d7_0d42_d7b2_3d03_d0e8_1542_7c32_beb8
    )]
    #[case(
        "sctp",
        132,
        "SCTP",
        "",
        0x3a37_975d_5149_fb55_7649_0b13_51dc_cb38,
        0x50af_12c2_8f34_9957_f6a6_f34e_9f05_c6b2
    )]
    fn port_hashes_equal_upstream(
        #[case] name: &str,
        #[case] port: i32,
        #[case] protocol: &str,
        #[case] app_protocol: &str,
        #[case] core: u128,
        #[case] discovery: u128,
    ) {
        let subset_port =
            SubsetPort { name: name.into(), port, protocol: protocol.into(), app_protocol: app(app_protocol) };
        let mut dump = String::new();
        super::subset_port(&mut dump, &subset_port).unwrap();
        assert_eq!(deep_hash("v1.EndpointPort", |out| out.write_str(&dump)), core, "{dump}");
        let slice_port = EndpointPort {
            name: Some(name.into()),
            protocol: Some(protocol.into()),
            port: Some(port),
            app_protocol: app(app_protocol),
        };
        let mut dump = String::new();
        super::slice_port(&mut dump, &slice_port).unwrap();
        assert_eq!(deep_hash("v1.EndpointPort", |out| out.write_str(&dump)), discovery, "{dump}");
    }

    fn address(ip: &str, node: &str, pod: &str, uid: &str) -> EndpointAddress {
        EndpointAddress {
            hostname: Text::default(),
            ip: Address::new(ip),
            node_name: Some(node.into()),
            target_ref: Some(TargetRef::pod("ns".into(), pod.into(), uid.into())),
        }
    }

    // Hashes computed by upstream's `hash.DeepHashObject`.
    #[rstest]
    #[case(true, &[("http", 80)], 0x26f4_f78b_8a00_6cee_3622_2e68_2aed_c50d)]
    #[case(false, &[("https", 443)], 0x2f18_eeb5_58a2_46fd_a8bc_8478_4c3a_b471)]
    #[case(false, &[], 0xc150_8d01_ea87_4bae_21d7_1b05_63b6_be7c)]
    fn subset_hashes_equal_upstream(#[case] with_p2: bool, #[case] ports: &[(&str, i32)], #[case] expected: u128) {
        let mut addresses = vec![address("10.0.0.1", "n1", "p1", "u1")];
        if with_p2 {
            addresses.push(address("10.0.0.10", "n1", "p2", "u2"));
        }
        let subset = EndpointSubset {
            addresses,
            not_ready_addresses: vec![address("10.0.0.9", "n2", "p3", "u3")],
            ports: ports
                .iter()
                .map(|(name, port)| SubsetPort {
                    name: (*name).into(),
                    port: *port,
                    protocol: "TCP".into(),
                    app_protocol: None,
                })
                .collect(),
        };
        let mut dump = String::new();
        super::subset(&mut dump, &subset).unwrap();
        assert_eq!(deep_hash("v1.EndpointSubset", |out| out.write_str(&dump)), expected, "{dump}");
    }

    // Orders observed in slices written by upstream.
    #[rstest]
    #[case(&[("http", 80, "TCP"), ("https", 443, "TCP")], &["https", "http"])]
    #[case(&[("metrics", 9153, "TCP"), ("dns-tcp", 53, "TCP"), ("dns", 53, "UDP")], &["dns", "dns-tcp", "metrics"])]
    fn slice_ports_are_sorted_like_upstream(#[case] ports: &[(&str, i32, &str)], #[case] expected: &[&str]) {
        let mut ports: Vec<EndpointPort> = ports
            .iter()
            .map(|(name, port, protocol)| EndpointPort {
                name: Some((*name).into()),
                protocol: Some((*protocol).into()),
                port: Some(*port),
                app_protocol: None,
            })
            .collect();
        sort_slice_ports(&mut ports);
        assert_eq!(ports.iter().filter_map(|it| it.name.as_deref()).collect::<Vec<_>>(), expected);
    }
}
