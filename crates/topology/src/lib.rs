//! Topology hints and traffic distribution for EndpointSlices, as pure functions: no client, no clock, no runtime.
//!
//! A hint tells consumers such as kube-proxy which clients should prefer an endpoint. There are two ways to give them,
//! and a Service asks for at most one ([`HintPolicy`]):
//!
//! - **Topology** ([`add_hints`]): zones get endpoints according to their share of the cluster's CPU ([`ZoneRatios`]),
//!   so that no endpoint gets a fifth more traffic than its equals; where that cannot be done there are no hints at all,
//!   and an event says why ([`TopologyEvent`]). A [`TopologyCache`] remembers the outcome of each Service and says which
//!   ones need a sync after the Nodes changed.
//! - **Traffic distribution** ([`traffic_hints`]): each endpoint is hinted at its own zone, or Node, whatever the others
//!   do.
//!
//! Both work on a [`SliceSet`], and move a slice from the unchanged to the updates only where a hint has to change. Equal
//! input gives equal output: where upstream lets map order decide between zones, the first by name is taken.
//!
//! ```
//! use kube_endpoint_model::{AddressType, Endpoint, EndpointConditions, EndpointSlice, Node, ObjectKey, ObjectMeta};
//! use kube_topology::{SliceSet, TopologyCache, add_hints};
//!
//! // Zone `a` has twice the CPU of zone `b`.
//! let node = |zone: &str, cpu_milli| Node { zone: zone.into(), cpu_milli, ready: true, ..Node::default() };
//! let mut cache = TopologyCache::default();
//! cache.set_nodes(&[node("a", 4000), node("a", 4000), node("b", 4000)]);
//!
//! // A new slice of six endpoints, all in zone `a`.
//! let ready = EndpointConditions { ready: Some(true), ..EndpointConditions::default() };
//! let endpoint = Endpoint { zone: Some("a".into()), conditions: ready, ..Endpoint::default() };
//! let slice = EndpointSlice {
//!     metadata: ObjectMeta::default(),
//!     address_type: AddressType::IPv4,
//!     endpoints: vec![endpoint; 6],
//!     ports: Vec::new(),
//! };
//! let mut slices = SliceSet { create: vec![slice], ..SliceSet::default() };
//!
//! let service = ObjectKey::new("shop", "web");
//! let outcome = add_hints(&cache.ratios(), cache.is_enabled(&service), &AddressType::IPv4, &mut slices);
//! assert_eq!(outcome.events[0].message, "Topology Aware Hints has been enabled, addressType: IPv4");
//!
//! // Two of them now serve zone `b`.
//! let hints = slices.create[0].endpoints.iter().flat_map(|it| &it.hints).flat_map(|it| &it.for_zones);
//! assert_eq!(hints.map(|zone| &**zone).collect::<String>(), "bbaaaa");
//!
//! // When zone `b` grows, the Service needs a sync.
//! cache.record(&service, &AddressType::IPv4, outcome.allocated);
//! assert!(cache.overloaded_services().is_empty());
//! cache.set_nodes(&[node("a", 4000), node("b", 4000)]);
//! assert_eq!(cache.overloaded_services(), [service]);
//! ```
//!
//! # Where this differs from upstream
//!
//! The ids in the documentation (TP-6, EC-18 and so on) name upstream behaviour: Kubernetes 1.36. The hints that a settled
//! cluster shows are upstream's. What differs only costs there:
//!
//! - EC-14: a deleted Service leaves nothing behind ([`TopologyCache::remove_service`]).
//! - EC-18: hints are remembered per address type. Upstream forgets that a Service has hints when one of its types loses
//!   them, and announces them again at every sync.
//! - A slice is not written only to get the hints it has. Upstream does so at every sync where a zone has more than its
//!   maximum (rounding may allow that), and where an endpoint without zone stands in the way of hints.
//!
//! # Upstream's tests
//!
//! Every case of upstream's has a counterpart of the same name here, unless noted.
//!
//! | upstream | here |
//! |---|---|
//! | `topologycache`: `Test_getTotalReadyEndpoints` (5 cases) | `slice_set::tests::total_ready_endpoints` |
//! | `TestAddHints` (6) | `hints::tests::cases` |
//! | `TestSetNodes` (9) | `ratios::tests::set_nodes` |
//! | `TestTopologyCacheRace` | `cache::tests::workers_share_it_behind_a_mutex`; the lock is the caller's |
//! | `Test_redistributeHints` (3) | `hints::tests::redistribute_hints` |
//! | `Test_getGivingAndReceivingZones` (9) | `balance::tests::giving_and_receiving_zones` |
//! | `Test_getHintsByZone` (8) | `tally::tests::hints_by_zone` |
//! | `trafficdist`: `TestReconcileHints` (9) | `traffic::tests::reconcile_hints` |
//! | `TestReconcileHints_doesNotMutateUnchangedSlices` | `traffic::tests::shared_slices_are_left_alone` |
//!
//! Beyond them, `tests/laws` says by property what holds for any slices and Nodes, and holds [`add_hints`] against the
//! contract read word by word.

mod allocation;
mod balance;
mod cache;
mod event;
mod hints;
#[cfg(test)]
mod notation;
mod policy;
mod ratios;
mod slice_set;
mod tally;
pub mod traffic;

pub use cache::TopologyCache;
pub use event::{TopologyEvent, disabled_event};
pub use hints::{HintsOutcome, add_hints};
pub use policy::HintPolicy;
pub use ratios::ZoneRatios;
pub use slice_set::{SliceSet, strip_hints};
pub use traffic::{TrafficDistribution, traffic_hints};
