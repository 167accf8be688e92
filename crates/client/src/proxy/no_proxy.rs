//! Parser and matcher of `NO_PROXY`.

use std::net::IpAddr;

use ipnet::IpNet;

/// The entries of `NO_PROXY`.
#[derive(Debug, Default)]
pub(super) struct NoProxy {
    all: bool,
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Network(IpNet),
    Address(IpAddr, Option<u16>),
    /// Domain suffix such as `.example.com`, in lower case; `include_apex` if `example.com` matches too.
    Domain {
        suffix: String,
        include_apex: bool,
        port: Option<u16>,
    },
}

impl NoProxy {
    /// Parses a comma-separated list of `*`, networks, addresses and domains; addresses and domains may have a port.
    /// Invalid entries are ignored, as in Go.
    pub(super) fn parse(text: &str) -> NoProxy {
        let entries = text.split(',').map(|entry| entry.trim().to_lowercase());
        let entries: Vec<String> = entries.filter(|entry| !entry.is_empty()).collect();
        let all = entries.iter().any(|entry| entry == "*");
        NoProxy { all, entries: entries.iter().filter_map(|entry| Entry::parse(entry)).collect() }
    }

    /// Whether a server is reached without a proxy: it matches an entry, is `localhost`, or has a loopback address.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let host = unbracketed(host.trim()).to_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        host == "localhost"
            || address.is_some_and(|address| address.is_loopback())
            || self.all
            || self.entries.iter().any(|entry| entry.matches(&host, address, port))
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Entry> {
        if let Ok(network) = text.parse() {
            return Some(Entry::Network(network));
        }
        if let Ok(address) = unbracketed(text).parse::<IpAddr>() {
            return Some(Entry::Address(address.to_canonical(), None));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (unbracketed(host), Some(port.parse().ok()?)),
            None => (text, None),
        };
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Entry::Address(address.to_canonical(), port));
        }
        let domain = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        match domain {
            "" => None,
            _ if domain.starts_with('.') => {
                Some(Entry::Domain { suffix: domain.to_owned(), include_apex: false, port })
            }
            _ => Some(Entry::Domain { suffix: format!(".{domain}"), include_apex: true, port }),
        }
    }

    fn matches(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        match self {
            Entry::Network(network) => address.is_some_and(|address| network.contains(&address)),
            Entry::Address(entry, entry_port) => {
                address == Some(*entry) && entry_port.is_none_or(|entry_port| entry_port == port)
            }
            Entry::Domain { suffix, include_apex, port: entry_port } => {
                (host.ends_with(suffix) || (*include_apex && *host == suffix[1..]))
                    && entry_port.is_none_or(|entry_port| entry_port == port)
            }
        }
    }
}

fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    // golang.org/x/net/http/httpproxy: UseProxyTests
    #[rstest]
    #[case("", "api.test", false)]
    #[case("", "localhost", true)]
    #[case("", "LOCALHOST", true)]
    #[case("", "127.9.9.9", true)]
    #[case("", "[::1]", true)]
    #[case("", "127.example.com", false)]
    #[case("*", "api.test", true)]
    #[case("x, *", "10.1.2.3", true)]
    #[case("10.0.0.0/8", "10.1.2.3", true)]
    #[case("10.0.0.0/8", "11.1.2.3", false)]
    #[case("2001:db8::/32", "[2001:db8::7]", true)]
    #[case("10.1.2.3", "10.1.2.3", true)]
    #[case("10.1.2.3:6443", "10.1.2.3", true)]
    #[case("10.1.2.3:443", "10.1.2.3", false)]
    #[case("[2001:db8::7]:6443", "[2001:db8::7]", true)]
    #[case("2001:db8::7", "[2001:db8::7]", true)]
    #[case("::ffff:10.1.2.3", "10.1.2.3", true)]
    #[case("example.com", "example.com", true)]
    #[case("example.com", "API.Example.com", true)]
    #[case("example.com", "notexample.com", false)]
    #[case(".example.com", "example.com", false)]
    #[case(".example.com", "api.example.com", true)]
    #[case("*.example.com", "api.example.com", true)]
    #[case("*.example.com", "example.com", false)]
    #[case(" example.com:6443 ,other", "api.example.com", true)]
    #[case("example.com:443", "api.example.com", false)]
    #[case("example.com:x,,:,*.", "api.example.com", false)]
    fn no_proxy_entries_match_as_in_go(#[case] no_proxy: &str, #[case] host: &str, #[case] expect: bool) {
        assert_eq!(NoProxy::parse(no_proxy).matches(host, 6443), expect);
    }

    proptest! {
        #[test]
        fn parser_and_matcher_never_panic(no_proxy: String, host: String, port: u16) {
            NoProxy::parse(&no_proxy).matches(&host, port);
        }
    }
}
