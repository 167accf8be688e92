//! Connections: `kube`'s trust and identity under an HTTP/2 client of our own.
//!
//! `kube`'s stock stack speaks HTTP/1.1, one connection per watch and per write in flight. Here all watches share one
//! connection and all lists and writes another, so that a burst of watch events never delays a write; plain HTTP and servers
//! without HTTP/2 get HTTP/1.1 connections from the same pools.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use kube::client::ConfigExt as _;
use tower::{
    BoxError, ServiceBuilder,
    util::{BoxCloneSyncService, MapErr},
};

use crate::{
    Config, ConfigError, Timeouts,
    config::one_line,
    connector::{Connector, connector},
};

pub(crate) type Service = BoxCloneSyncService<Request<Full<Bytes>>, Response<Incoming>, BoxError>;
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
    pub(crate) fn new(config: &Config, timeouts: &Timeouts) -> Result<Self, ConfigError> {
        let refuse = |cause: String| ConfigError::Connection { server: config.server(), cause };
        if config.inner.proxy_url.is_some() {
            return Err(refuse("proxy-url is not supported".to_owned()));
        }
        let connector = connector(config, timeouts).map_err(refuse)?;
        let auth = config.inner.auth_layer().map_err(|error| refuse(one_line(&error)))?;
        let headers = config.inner.extra_headers_layer().map_err(|error| refuse(one_line(&error)))?;
        let service = || {
            let client = MapErr::new(http_client(connector.clone(), timeouts), BoxError::from);
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

fn http_client(connector: Connector, timeouts: &Timeouts) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http1_max_buf_size(READ_BUFFER)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(timeouts.ping_interval)
        .http2_keep_alive_timeout(timeouts.ping_timeout)
        .http2_keep_alive_while_idle(true)
        .build(connector)
}
