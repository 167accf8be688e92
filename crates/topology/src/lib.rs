//! Topology hints and traffic distribution for EndpointSlices, as pure functions without client, clock or runtime.
//!
//! It is the counterpart of `k8s.io/endpointslice/topologycache` and `k8s.io/endpointslice/trafficdist` of Kubernetes
//! 1.36. A hint of an endpoint names the zones or Nodes whose clients should prefer it; kube-proxy and other consumers
//! of slices read it. What the crate is for:
//!
//! - [`add_hints`]: topology aware hints (`service.kubernetes.io/topology-mode: Auto`). Endpoints are allocated to
//!   zones in proportion to the CPU of each zone's Nodes ([`ZoneRatios`]), such that no endpoint is expected to get
//!   more than 20% above the average traffic. Otherwise all hints are removed, and an event gives the reason
//!   ([`TopologyEvent`]): a Node or an endpoint without a zone, a Node without CPU, fewer than two zones, fewer
//!   endpoints than zones, or too few endpoints for the 20%.
//! - [`traffic_hints`]: `spec.trafficDistribution`. Each endpoint gets a hint for its own zone, with `PreferSameNode`
//!   also for its own Node, independently of other endpoints.
//! - [`strip_hints`]: removes all hints, for a Service with neither the annotation nor the field.
//! - [`HintPolicy`]: selects one of these three for a Service, and applies it.
//! - [`TopologyCache`]: keeps the number of endpoints of each Service that are allocated to each zone, and lists
//!   which Services need a sync after Nodes changed. Unlike Go's, it has no lock: wrap it in a mutex.
//!
//! ```text
//! Nodes ----> TopologyCache --ZoneRatios--+
//!                                         v
//! Service --> HintPolicy ------> add_hints, traffic_hints or strip_hints --> SliceSet with new hints
//!                                         |
//!                                         +--> HintsOutcome: events, and the allocation for TopologyCache::record
//! ```
//!
//! The functions edit a [`SliceSet`], and move an unchanged slice to the updates only if one of its hints changes.
//! Equal input gives equal output: where upstream depends on map order, zones are taken in order of their names. None
//! of them returns an error.
//!
//! # When not to use it
//!
//! - To decide which endpoints go into which slice: that is `kube-endpointslice`, which calls this crate.
//! - To route traffic by hints: this crate only writes them.
//! - For topology keys other than zone and Node: the API has hints for these two only.
//!
//! # Example
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
//! # Deliberate differences from upstream
//!
//! Ids such as `RC-14` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md). Once a
//! cluster has settled, its hints equal upstream's. The differences avoid events, writes and memory:
//!
//! - A deleted Service is removed from the cache ([`TopologyCache::remove_service`], EC-14).
//! - Allocations are cached per address type. Upstream marks the whole Service as disabled when one of its address
//!   types loses its hints, and repeats the enabled event at every sync (EC-18).
//! - A slice is not written if its hints stay the same. Upstream writes it at every sync if a zone exceeds its maximum
//!   (possible by rounding), or if an endpoint without a zone makes the allocation fail.
//!
//! # Counterparts of upstream's tests
//!
//! Every case of an upstream test has a counterpart of the same name, unless noted.
//!
//! | upstream | here |
//! |---|---|
//! | `topologycache`: `Test_getTotalReadyEndpoints` (5 cases) | `slice_set::tests::total_ready_endpoints` |
//! | `TestAddHints` (6) | `hints::tests::cases` |
//! | `TestSetNodes` (9) | `ratios::tests::set_nodes` |
//! | `TestTopologyCacheRace` | `cache::tests::cache_can_be_shared_behind_a_mutex`; the lock is the caller's |
//! | `Test_redistributeHints` (3) | `hints::tests::redistribute_hints` |
//! | `Test_getGivingAndReceivingZones` (9) | `balance::tests::giving_and_receiving_zones` |
//! | `Test_getHintsByZone` (8) | `tally::tests::hints_by_zone` |
//! | `trafficdist`: `TestReconcileHints` (9) | `traffic::tests::reconcile_hints` |
//! | `TestReconcileHints_doesNotMutateUnchangedSlices` | `traffic::tests::shared_slices_are_not_modified` |
//!
//! `tests/properties` adds properties of arbitrary slices and Nodes, and compares [`add_hints`] with a literal
//! implementation of the rules.

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
pub use event::{DisabledReason, TopologyEvent, disabled_event};
pub use hints::{HintsOutcome, add_hints};
pub use policy::HintPolicy;
pub use ratios::ZoneRatios;
pub use slice_set::{SliceSet, strip_hints};
pub use traffic::{TrafficDistribution, traffic_hints};
