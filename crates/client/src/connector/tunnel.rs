//! Connections through a proxy.

use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::{
    HttpConnector,
    proxy::{SocksV5, Tunnel},
};
use tower::{BoxError, ServiceExt as _};

use super::Dialer;
use crate::{prepared::Prepared, proxy::Proxy};

#[derive(Debug, thiserror::Error)]
#[error("proxy {proxy}")]
struct ProxyError {
    proxy: Proxy,
    #[source]
    cause: BoxError,
}

/// Returns a connector through a proxy: SOCKS 5, or `CONNECT` of HTTP.
pub(super) fn tunnel(proxy: &Proxy, tcp: HttpConnector, prepared: &Prepared) -> Dialer {
    // As in Go, the certificate of an https proxy is verified with the certificate authorities of the cluster.
    let builder = HttpsConnectorBuilder::new().with_tls_config(prepared.tls.clone()).https_or_http();
    let to_proxy = builder.enable_http1().wrap_connector(tcp);
    let failed = {
        let proxy = proxy.clone();
        move |cause: BoxError| BoxError::from(ProxyError { proxy: proxy.clone(), cause })
    };
    if proxy.is_socks() {
        let mut socks = SocksV5::new(proxy.address.clone(), to_proxy);
        if let Some((user, password)) = proxy.login().raw_auth() {
            socks = socks.with_auth(user.to_owned(), password.to_owned());
        }
        return Dialer::new(socks.map_err(move |error| failed(error.into())));
    }
    let mut tunnel = Tunnel::new(proxy.address.clone(), to_proxy);
    if let Some(header) = proxy.login().basic_auth() {
        tunnel = tunnel.with_auth(header.clone());
    }
    Dialer::new(tunnel.map_err(move |error| failed(error.into())))
}
