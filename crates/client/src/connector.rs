//! The connector: TCP, an optional proxy, then TLS.

mod server_certificate;
mod transport_stream;
#[cfg(feature = "proxy")]
mod tunnel;

use std::time::Duration;

use http::Uri;
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::{
    client::legacy::connect::{HttpConnector, dns::GaiResolver},
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tower::{BoxError, ServiceExt as _, timeout::Timeout, util::BoxCloneSyncService};

use self::transport_stream::TransportStream;
use crate::{Timeouts, prepared::Prepared};

/// Boxed, because hyper-util's legacy client requires the connector's future to be `Unpin`.
pub(crate) type Connector = BoxCloneSyncService<Uri, MaybeHttpsStream<TransportStream>, BoxError>;
type Tcp = TokioIo<TcpStream>;
type Dialer = BoxCloneSyncService<Uri, MaybeHttpsStream<Tcp>, BoxError>;

/// Minimum TCP keep-alive time and interval: the kernel takes whole seconds.
const MIN_KEEPALIVE: Duration = Duration::from_secs(1);

pub(crate) fn connector(prepared: &Prepared, timeouts: &Timeouts) -> Connector {
    let dialer = dialer(prepared, tcp(GaiResolver::new(), timeouts)).map_response(TransportStream::new);
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(prepared.tls.clone()).https_or_http();
    if let Some(name) = &prepared.tls_server_name {
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone()));
    }
    #[cfg(feature = "http2")]
    let builder = builder.enable_all_versions();
    #[cfg(not(feature = "http2"))]
    let builder = builder.enable_http1();
    let https = builder.wrap_connector(dialer).map_err(server_certificate::explain);
    BoxCloneSyncService::new(Timeout::new(https, timeouts.connect))
}

/// Returns what opens the connection under TLS: directly, or through the proxy.
fn dialer(prepared: &Prepared, tcp: HttpConnector) -> Dialer {
    #[cfg(feature = "proxy")]
    if let Some(proxy) = &prepared.proxy {
        return tunnel::tunnel(proxy, tcp, prepared);
    }
    #[cfg(not(feature = "proxy"))]
    let _ = prepared;
    Dialer::new(tcp.map_response(MaybeHttpsStream::Http).map_err(BoxError::from))
}

fn tcp<R>(resolver: R, timeouts: &Timeouts) -> HttpConnector<R> {
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    // hyper-util divides this by the addresses of a family, and tries the other family after 300 ms.
    tcp.set_connect_timeout(Some(timeouts.connect / 2));
    // HTTP/1.1 has no pings: TCP keep-alives detect a dead peer there, and the user timeout one that does not acknowledge
    // a request.
    tcp.set_keepalive(Some(timeouts.ping_interval.max(MIN_KEEPALIVE)));
    tcp.set_keepalive_interval(Some(timeouts.ping_timeout.max(MIN_KEEPALIVE)));
    tcp.set_keepalive_retries(Some(2));
    #[cfg(target_os = "linux")]
    tcp.set_tcp_user_timeout(Some(timeouts.ping_interval + timeouts.ping_timeout));
    tcp
}

#[cfg(test)]
mod tests {
    use std::{array, convert::Infallible, net::SocketAddr};

    use tokio::net::{TcpListener, TcpSocket};
    use tower::service_fn;

    use super::*;

    /// A listener with a full accept queue: the kernel drops further SYN packets, as a firewall would.
    async fn unreachable() -> (TcpListener, Vec<TcpStream>) {
        let socket = TcpSocket::new_v4().expect("create socket");
        socket.bind("127.0.0.1:0".parse().expect("parse address")).expect("bind");
        let listener = socket.listen(0).expect("listen");
        let address = listener.local_addr().expect("local address");
        let mut queued = vec![TcpStream::connect(address).await.expect("connect")];
        while let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await {
            queued.push(stream);
        }
        (listener, queued)
    }

    #[tokio::test]
    async fn unreachable_first_address_leaves_time_for_the_second() {
        let (dead, _queued) = unreachable().await;
        let alive = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let addresses = [&dead, &alive].map(|listener| listener.local_addr().expect("local address"));
        let resolver =
            service_fn(
                move |_name| async move { Ok::<array::IntoIter<SocketAddr, 2>, Infallible>(addresses.into_iter()) },
            );
        // In real time, 1 s for each address: without a limit for the first, both fail after 4 s.
        let timeouts = Timeouts { connect: Duration::from_secs(4), ..Timeouts::default() };
        let connecting = Timeout::new(tcp(resolver, &timeouts), timeouts.connect);
        let stream = connecting.oneshot(Uri::from_static("http://api.test")).await.expect("connect");
        assert_eq!(stream.inner().peer_addr().expect("peer address"), addresses[1]);
    }
}
