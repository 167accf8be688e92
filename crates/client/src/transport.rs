//! Connection pools: TLS and authentication layers of `kube` around an HTTP/2 client of hyper-util.
//!
//! The default client of `kube` uses HTTP/1.1 with one connection per watch and per request in flight. Here all watches
//! share one HTTP/2 connection and all other requests another, so that a burst of watch events does not delay writes.
//! Plain HTTP, servers without HTTP/2 and builds without the feature `http2` use HTTP/1.1 connections from the same pools.

use std::{
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use futures::FutureExt as _;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use tokio::sync::watch;
use tower::{
    BoxError, ServiceBuilder, ServiceExt as _,
    util::{BoxCloneSyncService, MapErr},
};

use crate::{
    Config, ConfigError, Timeouts,
    body::Replaced,
    config::Loaded,
    connector::{Connector, connector},
    credential_plugin,
    prepared::{Identity, Prepared},
    service::Service,
};

/// HTTP/2 flow-control windows of a stream and of a connection, in bytes. The connection window is 32 times larger,
/// so that streams that are not read do not block the others.
#[cfg(feature = "http2")]
const STREAM_WINDOW: u32 = 1 << 20;
#[cfg(feature = "http2")]
const CONNECTION_WINDOW: u32 = 32 << 20;

/// Maximum size of the read buffer of an HTTP/1.1 connection, in bytes. The allocator returns larger buffers to the
/// system after each use, and the page faults of the next one cost more than additional reads.
const READ_BUFFER: usize = 64 << 10;

/// Connection pools of one client, replaced when its configuration changes.
pub(crate) struct Transport {
    pub(crate) config: Config,
    timeouts: Timeouts,
    pools: Mutex<Pools>,
}

/// Connection pools for one state of the configuration.
struct Pools {
    /// Pool for all requests except watches.
    calls: Service,
    watches: Service,
    /// Notifies of a changed configuration.
    configuration: watch::Receiver<Arc<Loaded>>,
}

impl Transport {
    pub(crate) fn new(config: &Config, timeouts: &Timeouts) -> Result<Self, ConfigError> {
        let pools = Mutex::new(Pools::new(config, timeouts)?);
        Ok(Self { config: config.clone(), timeouts: *timeouts, pools })
    }

    pub(crate) fn calls(&self) -> Service {
        self.pools().calls.clone()
    }

    /// Returns the pool for watches, and a future that resolves when it is replaced.
    pub(crate) fn watches(&self) -> (Service, Replaced) {
        let pools = self.pools();
        let mut configuration = pools.configuration.clone();
        let replaced = async move {
            if configuration.changed().await.is_err() {
                // The configuration has been dropped and can no longer change.
                pending::<()>().await;
            }
        };
        (pools.watches.clone(), replaced.boxed())
    }

    fn pools(&self) -> MutexGuard<'_, Pools> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if pools.configuration.has_changed().unwrap_or(false)
            // `Live::reload` publishes only configurations that can be used; on an error here the old pools stay.
            && let Ok(new) = Pools::new(&self.config, &self.timeouts)
        {
            *pools = new;
        }
        pools
    }
}

impl Pools {
    fn new(config: &Config, timeouts: &Timeouts) -> Result<Self, ConfigError> {
        let mut configuration = config.live.subscribe();
        let loaded = Arc::clone(&configuration.borrow_and_update());
        let (calls, watches) = if let Some(service) = &config.service {
            (service.clone(), service.clone())
        } else {
            let prepared = loaded.prepared(config.account.is_none())?;
            let connector = connector(prepared, timeouts);
            (network(prepared, connector.clone(), timeouts), network(prepared, connector, timeouts))
        };
        let [calls, watches] = [calls, watches].map(|service| match &config.account {
            Some(account) => account.authenticate(service),
            None => service,
        });
        Ok(Self { calls, watches, configuration })
    }
}

/// Returns a service with its own connections, which authenticates as the user of the configuration.
fn network(prepared: &Prepared, connector: Connector, timeouts: &Timeouts) -> Service {
    let client = MapErr::new(http_client(connector, timeouts), BoxError::from);
    let client = client.map_response(|response: Response<Incoming>| {
        response.map(|body| BodyExt::boxed_unsync(body.map_err(BoxError::from)))
    });
    let stack = ServiceBuilder::new().layer(prepared.base.clone()).layer(prepared.headers.clone());
    match &prepared.identity {
        Identity::TokenFile(file) => file.authenticate(BoxCloneSyncService::new(stack.service(client))),
        Identity::Header(auth, plugin) => {
            let plugin = plugin.clone();
            let describe = move |error| credential_plugin::describe_in_request(error, plugin.as_ref());
            BoxCloneSyncService::new(MapErr::new(stack.layer(auth).service(client), describe))
        }
        Identity::Connection => BoxCloneSyncService::new(stack.service(client)),
    }
}

#[cfg_attr(not(feature = "http2"), expect(unused_variables, reason = "pings are of HTTP/2"))]
fn http_client(connector: Connector, timeouts: &Timeouts) -> Client<Connector, Full<Bytes>> {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new()).http1_max_buf_size(READ_BUFFER);
    #[cfg(feature = "http2")]
    builder
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(timeouts.ping_interval)
        .http2_keep_alive_timeout(timeouts.ping_timeout)
        .http2_keep_alive_while_idle(true);
    builder.build(connector)
}
