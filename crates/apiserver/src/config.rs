//! What a server can be told.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use ipnet::{Ipv4Net, Ipv6Net};

use crate::custom_kind::CustomKind;

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
    /// The range of the IPv4 cluster IPs.
    pub service_cidr_v4: Ipv4Net,
    /// The range of the IPv6 cluster IPs.
    pub service_cidr_v6: Ipv6Net,
    /// Kinds served besides the built-in ones.
    pub kinds: Vec<CustomKind>,
    /// How many changes of each kind are kept. A watch that asks for an older one is told `410 Gone`, and one that is
    /// read so slowly that it falls back this far is disconnected.
    pub watch_history: usize,
    /// How often a watch that allows bookmarks gets one.
    pub bookmark_interval: Duration,
    /// How long a watch lasts that does not say `timeoutSeconds`.
    pub watch_timeout: Duration,
    /// How many requests [`Server::requests`](crate::Server::requests) remembers; 0 turns the log off.
    pub request_log: usize,
    /// Serves `/debug/faults` and `/debug/requests`, see [the front page](crate#faults-on-demand). Off by default.
    pub debug_endpoints: bool,
    /// Makes uids, generated names, cluster IPs and what faults draw come out the same in every run. Random by default.
    pub seed: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            service_cidr_v4: Ipv4Net::new_assert(Ipv4Addr::new(10, 96, 0, 0), 16),
            service_cidr_v6: Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0x10, 0x96, 0, 0, 0, 0, 0), 108),
            kinds: Vec::new(),
            watch_history: 10_000,
            bookmark_interval: Duration::from_secs(60),
            watch_timeout: Duration::from_secs(30 * 60),
            request_log: 10_000,
            debug_endpoints: false,
            seed: None,
        }
    }
}
