//! The listen address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};

/// Parses a listen address: `ADDRESS:PORT`, `HOST:PORT`, `:PORT` for all addresses of this machine as in Go, or `PORT`
/// for the loopback address.
pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Some(port) = text.strip_prefix(':') {
        let port = port.parse().map_err(|_| format!("{port:?} is not a port"))?;
        return Ok(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)));
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let found = text.to_socket_addrs().map_err(|_| "not ADDRESS:PORT, HOST:PORT, :PORT or PORT".to_owned())?;
    let all: Vec<SocketAddr> = found.collect();
    // Of `localhost`, the address that every client tries.
    all.iter().find(|it| it.is_ipv4()).or(all.first()).copied().ok_or_else(|| "the host has no address".to_owned())
}

/// Returns the warning that everybody in the network has the rights of an administrator, if other machines can connect to
/// this address of a server without authorization.
pub(crate) fn warning(address: IpAddr) -> Option<String> {
    is_public(address).then(|| {
        format!(
            "{address} serves other machines, without authorization: everybody who reaches it may change everything"
        )
    })
}

/// Returns whether other machines can connect.
fn is_public(address: IpAddr) -> bool {
    !address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1:0", Some("127.0.0.1:0"))]
    #[case("[::1]:80", Some("[::1]:80"))]
    #[case("localhost:0", Some("127.0.0.1:0"))]
    #[case(":8080", Some("0.0.0.0:8080"))]
    #[case("8080", Some("127.0.0.1:8080"))]
    #[case("localhost", None)]
    #[case(":http", None)]
    #[case("70000", None)]
    #[case("", None)]
    fn addresses(#[case] text: &str, #[case] expect: Option<&str>) {
        assert_eq!(parse(text).ok().map(|it| it.to_string()).as_deref(), expect);
    }

    #[rstest]
    #[case("127.8.0.1", false)]
    #[case("::1", false)]
    #[case("::ffff:127.0.0.1", false)]
    #[case("0.0.0.0", true)]
    #[case("::", true)]
    #[case("192.0.2.1", true)]
    fn public_addresses(#[case] text: &str, #[case] public: bool) {
        assert_eq!(is_public(text.parse().unwrap()), public);
    }
}
