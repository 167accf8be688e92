//! What a server can be told.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ipnet::{Ipv4Net, Ipv6Net};

use crate::clock::Clock;
use crate::custom_kind::CustomKind;
use crate::identity::User;

/// How a [`Server`](crate::Server) is to be. The defaults are those of a cluster made by kubeadm, on a free port.
///
/// ```
/// use kube_dev_apiserver::Config;
///
/// let config = Config { watch_history: 100, ..Config::default() };
/// assert!(config.listen.ip().is_loopback());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Where to listen. Port 0 takes a free one, see [`Server::address`](crate::Server::address).
    pub listen: SocketAddr,
    /// Plain text or TLS.
    pub transport: Transport,
    /// Whether requests are served that do not say who they are of.
    pub anonymous: Anonymous,
    /// Who may do what.
    pub authorization: Authorization,
    /// Bearer tokens and the users they stand for.
    pub tokens: Vec<Token>,
    /// The range of the IPv4 cluster IPs.
    pub service_cidr_v4: Ipv4Net,
    /// The range of the IPv6 cluster IPs.
    pub service_cidr_v6: Ipv6Net,
    /// Kinds served besides the built-in ones.
    pub kinds: Vec<CustomKind>,
    /// Whether objects go when their owners are gone, as in a cluster with a garbage collector. Off by default: owner
    /// references are stored, and a propagation policy stands in the log of requests and has no effect. When on, dependents go in
    /// the step after their owner (background), before it (foreground: it stays, marked, while dependents that block it
    /// are there) or stay without the reference (orphan). Objects whose owners never existed are left alone.
    pub garbage_collection: bool,
    /// How long a deleted namespace keeps its content, during which it refuses to take more. A real cluster takes five
    /// seconds or more; one second is the default, and [`Server::empty_namespaces`](crate::Server::empty_namespaces)
    /// cuts it short.
    pub namespace_grace: Duration,
    /// How many changes of each kind are kept. A watch that asks for an older one is told `410 Gone`, and one that is
    /// read so slowly that it falls back this far is disconnected.
    pub watch_history: usize,
    /// How often a watch that allows bookmarks gets one.
    pub bookmark_interval: Duration,
    /// How long a watch lasts that does not say `timeoutSeconds`.
    pub watch_timeout: Duration,
    /// How many requests [`Server::requests`](crate::Server::requests) remembers; 0 turns the log off.
    pub request_log: usize,
    /// Serves `/debug/faults` and what goes with it, see [the front page](crate#faults-on-demand). Off by default.
    pub debug_endpoints: bool,
    /// Makes uids, generated names, cluster IPs and what faults draw come out the same in every run. Random by default.
    pub seed: Option<u64>,
    /// Source of the times that the server stamps on objects; the clock of the system by default.
    pub clock: Clock,
}

/// How the server is spoken to. HTTP/1.1 and HTTP/2 are understood either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Plain text.
    Plain,
    /// TLS with a certificate of an authority that is made when the server starts, see
    /// [`Server::ca_certificate`](crate::Server::ca_certificate).
    Tls,
}

/// What becomes of requests without credentials. Wrong credentials are refused in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    /// They are of the user `system:anonymous`.
    Allowed,
    /// They are refused with 401.
    Refused,
}

/// Who may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    AlwaysAllow,
    /// What the Roles, `ClusterRole`s and bindings say that have been applied; the group `system:masters` may do
    /// everything. The server starts with `cluster-admin`, `system:discovery`, `system:basic-user` and
    /// `system:public-info-viewer` and their bindings.
    Rbac,
}

/// A bearer token and the user it stands for.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// What comes after `Authorization: Bearer`.
    pub token: String,
    /// Who is meant.
    pub user: User,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            transport: Transport::Plain,
            anonymous: Anonymous::Allowed,
            authorization: Authorization::AlwaysAllow,
            tokens: Vec::new(),
            service_cidr_v4: Ipv4Net::new_assert(Ipv4Addr::new(10, 96, 0, 0), 16),
            service_cidr_v6: Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0x10, 0x96, 0, 0, 0, 0, 0), 108),
            kinds: Vec::new(),
            garbage_collection: false,
            namespace_grace: Duration::from_secs(1),
            watch_history: 10_000,
            bookmark_interval: Duration::from_secs(60),
            watch_timeout: Duration::from_secs(30 * 60),
            request_log: 10_000,
            debug_endpoints: false,
            seed: None,
            clock: Clock::system(),
        }
    }
}
