//! Configuration of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::clock::Clock;
use crate::custom_kind::CustomKind;
use crate::fields::FieldTracking;

/// Configuration of a [`Server`](crate::Server): address, access, kinds, watch history, seed and clock.
///
/// Not to be confused with `Config` of `kube-controller-client` or `kube`, the configuration of a client: code that needs
/// both writes `kube_dev_apiserver::Config`, or `use kube_dev_apiserver::Config as ServerConfig`.
///
/// By default it serves plain HTTP on a free port of the loopback interface, without authentication, and allows every
/// request.
///
/// ```
/// use kube_dev_apiserver::Config;
///
/// let config = Config { watch_history: 100, ..Config::default() };
/// assert!(config.listen.ip().is_loopback());
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// Address to listen on; `127.0.0.1:0` by default. Port 0 takes a free port, see
    /// [`Server::address`](crate::Server::address).
    pub listen: SocketAddr,
    /// Plain HTTP, the default, or TLS.
    pub transport: Transport,
    /// Handling of requests without credentials; served by default.
    pub anonymous: Anonymous,
    /// Authorization mode; by default every request is allowed.
    pub authorization: Authorization,
    /// Custom kinds to serve besides the built-in ones.
    pub kinds: Vec<CustomKind>,
    /// Whether objects none of whose owners exists are deleted, as by the garbage collector of a real cluster. Off by
    /// default: owner references are stored, and the propagation policy of a delete has no effect.
    ///
    /// Owners are looked up by kind, name and uid, those of namespaced kinds in the namespace of the dependent. A
    /// cluster-scoped object with a namespaced owner, or one of a kind that is not served, is kept. `Foreground` deletes an
    /// owner after its dependents; `Orphan` is treated as `Background`.
    pub garbage_collection: bool,
    /// Time between the delete of a namespace and that of its content, during which creates in it are rejected; 1 s by
    /// default. A real cluster takes 5 s or more. [`Server::empty_namespaces`](crate::Server::empty_namespaces) does
    /// not wait for it.
    pub namespace_grace: Duration,
    /// Number of changes kept per kind; 10,000 by default. A watch from an older version gets `410 Gone`, and an open
    /// watch that falls behind by more is disconnected.
    pub watch_history: usize,
    /// Interval of the bookmarks in a watch that allows them; 60 s by default. The last one is sent 2 s before the
    /// timeout.
    pub bookmark_interval: Duration,
    /// Maximum number of requests in the log, see [`Server::requests`](crate::Server::requests); 10,000 by default, 0
    /// turns the log off.
    pub request_log: usize,
    /// Whether to serve `/debug/faults` and the other [debug endpoints](crate#fault-injection). Off by default.
    pub debug_endpoints: bool,
    /// Seed of uids, generated names, cluster IPs, node ports, tokens and the random decisions of faults; keys of
    /// certificates are always random. By default they differ in every run.
    pub seed: Option<u64>,
    /// Objects whose `metadata.managedFields` are tracked.
    pub field_tracking: FieldTracking,
    /// Whether clients can ask for objects without `metadata.managedFields`, as with the feature gate `ManagedFieldsOptOut`
    /// of later versions of Kubernetes (`drop=metadata.managedFields` in the `Accept` header). Off by default.
    pub managed_fields_opt_out: bool,
    /// Wall clock, source of the times in objects; the system clock by default.
    pub clock: Clock,
}

/// Transport of a server: plain or TLS, with HTTP/1.1 and HTTP/2 over either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Plain HTTP.
    Plain,
    /// TLS with a certificate of an authority that is generated when the server starts, see
    /// [`Server::ca_certificate`](crate::Server::ca_certificate).
    Tls,
}

/// Handling of requests without credentials. Invalid credentials are always rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    /// The request is made by the user `system:anonymous`.
    Allowed,
    /// The request is rejected with 401.
    Rejected,
}

/// Authorization mode of a server: allow every request, or RBAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// Every request is allowed.
    AlwaysAllow,
    /// RBAC with the stored Roles, `ClusterRole`s and bindings. Members of the group `system:masters` may do
    /// everything. The server starts with the cluster roles `cluster-admin`, `system:discovery`, `system:basic-user`
    /// and `system:public-info-viewer`, and their bindings.
    Rbac,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            transport: Transport::Plain,
            anonymous: Anonymous::Allowed,
            authorization: Authorization::AlwaysAllow,
            kinds: Vec::new(),
            garbage_collection: false,
            namespace_grace: Duration::from_secs(1),
            watch_history: 10_000,
            bookmark_interval: Duration::from_secs(60),
            request_log: 10_000,
            debug_endpoints: false,
            seed: None,
            field_tracking: FieldTracking::default(),
            managed_fields_opt_out: false,
            clock: Clock::default(),
        }
    }
}
