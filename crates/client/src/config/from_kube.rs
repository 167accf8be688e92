//! Configurations from those of `kube`, and from its client.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};

use super::{Config, ConfigError, source::Origin};

/// Uses the server, TLS settings and credentials of a configuration of `kube`.
///
/// The client of this crate opens its own connections, with its own timeouts and retries: those of the configuration are not
/// used. See [`Config::from_kube_client`] to share the connections of a client.
impl TryFrom<kube::Config> for Config {
    type Error = ConfigError;

    fn try_from(config: kube::Config) -> Result<Self, ConfigError> {
        Self::load(Origin::Kube(Arc::new(config)))
    }
}

impl Config {
    /// Returns a configuration that sends all requests through a client of `kube`, with its connections, credentials,
    /// layers and timeouts. With it, a program that has a `kube::Client` uses informers, stores and queues of these
    /// crates beside `kube::Api`.
    ///
    /// As for [`from_service`](Self::from_service), [`Config::server`] is not the address of the server,
    /// and there are no files to follow.
    ///
    /// `kube` sends no pings, and sets no read timeout by default. One of 90 s detects a dead connection; one below the interval of
    /// bookmarks, about 1 min, ends quiet watches.
    pub fn from_kube_client(client: kube::Client) -> Self {
        let namespace = client.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Full<Bytes>>| {
            let client = client.clone();
            async move {
                let (parts, body) = request.into_parts();
                // A `Full` has all bytes and cannot fail.
                let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                client.send(Request::from_parts(parts, body.into())).await
            }
        });
        Self { live: Arc::new(Self::without_server(&namespace)), ..Self::from_service(service) }
    }
}
