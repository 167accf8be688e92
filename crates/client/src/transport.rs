//! Connections: `kube`'s trust and identity under an HTTP/2 client of our own.
//!
//! `kube`'s stock stack speaks HTTP/1.1, one connection per watch and per write in flight. Here all watches share one
//! connection and all lists and writes another, so that a burst of watch events never delays a write; plain HTTP and servers
//! without HTTP/2 get HTTP/1.1 connections from the same pools.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::ConfigExt as _;
use rustls::crypto::{CryptoProvider, ring};
use tower::{
    BoxError, ServiceBuilder,
    timeout::Timeout,
    util::{BoxCloneSyncService, MapErr},
};

use crate::{Config, ConfigError, config::one_line};

pub(crate) type Service = BoxCloneSyncService<Request<Full<Bytes>>, Response<Incoming>, BoxError>;
type Https = HttpsConnector<HttpConnector>;
// Boxed, because the legacy client wants the future of its connector to be `Unpin`.
type Connector = BoxCloneSyncService<Uri, <Https as tower::Service<Uri>>::Response, BoxError>;

/// A dead server or a lost route is noticed within the sum of these two, also by watches on which nothing happens.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// For the TCP and the TLS handshake together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How far the server may run ahead on one watch or list, and on all of a connection together. The second is much larger than
/// the first, so that one stream that is not read cannot hold up the others.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 32 << 20;

/// Larger buffers, which HTTP/1.1 connections would grow to, are returned to the system each time, and clearing the pages of
/// the next one costs more than reading more often.
const READ_BUFFER: usize = 64 << 10;

/// The two ways to the server.
#[derive(Clone)]
pub(crate) struct Transport {
    /// For lists and writes.
    pub(crate) calls: Service,
    /// For watches.
    pub(crate) watches: Service,
}

impl Transport {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        let refuse = |cause: String| ConfigError::Connection { server: config.server(), cause };
        if config.inner.proxy_url.is_some() {
            return Err(refuse("proxy-url is not supported".to_owned()));
        }
        let connector = connector(config).map_err(refuse)?;
        let auth = config.inner.auth_layer().map_err(|error| refuse(one_line(&error)))?;
        let headers = config.inner.extra_headers_layer().map_err(|error| refuse(one_line(&error)))?;
        let service = || {
            let client = MapErr::new(http_client(connector.clone()), BoxError::from);
            let stack = ServiceBuilder::new().layer(config.inner.base_uri_layer()).layer(headers.clone());
            match (&config.account, &auth) {
                (Some(account), _) => account.authenticate(BoxCloneSyncService::new(stack.service(client))),
                (None, Some(auth)) => BoxCloneSyncService::new(stack.layer(auth).service(client)),
                (None, None) => BoxCloneSyncService::new(stack.service(client)),
            }
        };
        Ok(Self { calls: service(), watches: service() })
    }
}

fn connector(config: &Config) -> Result<Connector, String> {
    // `kube` builds its TLS configuration with the process-wide provider and panics when several are compiled in and none was
    // chosen. Choosing one here does nothing when the program has chosen already, and saves every small user a line.
    if CryptoProvider::get_default().is_none() {
        // An error means that another thread was faster, which is just as good.
        let _ = ring::default_provider().install_default();
    }
    let tls = config.inner.rustls_client_config().map_err(|error| one_line(&error))?;
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.inner.tls_server_name {
        let name = name.clone().try_into().map_err(|_| format!("tls-server-name {name:?} is not a name"))?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    // HTTP/1.1 has no pings; this is how a dead peer is noticed there.
    tcp.set_keepalive(Some(PING_INTERVAL));
    tcp.set_keepalive_interval(Some(PING_TIMEOUT));
    tcp.set_keepalive_retries(Some(2));
    let https = builder.enable_all_versions().wrap_connector(tcp);
    Ok(BoxCloneSyncService::new(Timeout::new(https, CONNECT_TIMEOUT)))
}

fn http_client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http1_max_buf_size(READ_BUFFER)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .build(connector)
}
