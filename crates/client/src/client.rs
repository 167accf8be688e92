//! The [`Client`]: requests by resource or path, with rate limit, gate, timeouts and retries.

mod lists;
mod raw;
mod sending;

use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use http::HeaderValue;
use kube_wire::{DecodeContext, Encoding};
use tokio_util::sync::CancellationToken;

use crate::{
    Availability, Call, ClientMetrics, ClientMetricsProvider, ClientOptions, Config, ConfigError, Credentials, Error,
    RequestPriority, Timeouts,
    gate::{Gate, WriteGate},
    limiter::Limiter,
    outgoing::Outgoing,
    transport::Transport,
    warnings::Warnings,
};

/// A client for one API server. Clones share connections, the rate limiter and the remembered warnings.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    gate: Gate,
    /// No request is sent after this is cancelled.
    shutdown: Option<CancellationToken>,
    decode_context: Option<Arc<dyn DecodeContext>>,
    priority: RequestPriority,
    /// Whether the retry rules apply; otherwise each request is sent once.
    retries: bool,
}

struct Shared {
    user_agent: HeaderValue,
    options: ClientOptions,
    limiter: Limiter,
    transport: Transport,
    credentials: Credentials,
    availability: Availability,
    metrics: Arc<dyn ClientMetrics>,
    warnings: Warnings,
    json_writes: AtomicBool,
}

impl Client {
    /// Creates a client. Connections are opened by the first request.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Connection`] if the user agent is not a valid header value, or if the certificates, keys, token
    /// file, credential plugin or proxy of `config` cannot be used.
    pub fn new(config: &Config, options: ClientOptions) -> Result<Self, ConfigError> {
        Client::with_client_metrics(config, options, Arc::new(()))
    }

    /// Creates a client that reports its requests to `metrics`.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_metrics(
        config: &Config,
        options: ClientOptions,
        metrics: &dyn ClientMetricsProvider,
    ) -> Result<Self, ConfigError> {
        Client::with_client_metrics(config, options, metrics.client(&config.host()))
    }

    fn with_client_metrics(
        config: &Config,
        options: ClientOptions,
        metrics: Arc<dyn ClientMetrics>,
    ) -> Result<Self, ConfigError> {
        let user_agent = HeaderValue::from_str(&options.user_agent).map_err(|_| ConfigError::Connection {
            server: config.server(),
            source: format!("user agent {:?} is not a valid header value", options.user_agent).into(),
        })?;
        let shared = Shared {
            user_agent,
            limiter: Limiter::new(&options, Arc::clone(&metrics)),
            transport: Transport::new(config, &options.timeouts)?,
            credentials: config.credentials.clone(),
            availability: config.availability.clone(),
            metrics,
            warnings: Warnings::new(options.log_warnings),
            json_writes: AtomicBool::new(false),
            options,
        };
        Ok(Self {
            shared: Arc::new(shared),
            gate: Gate::default(),
            shutdown: None,
            decode_context: None,
            priority: RequestPriority::default(),
            retries: true,
        })
    }

    /// Returns a clone whose writes fail with [`Error::Gated`] while `gate` is closed. Requests with the method GET
    /// (reads, lists, watches) are not gated.
    ///
    /// The gate is checked each time an attempt is polled. An attempt in flight when the gate closes is dropped, so
    /// that a write that waits for a connection is not sent later; a write already sent may have been applied by the
    /// server.
    #[must_use]
    pub fn gated(&self, gate: Arc<dyn WriteGate>) -> Self {
        Self { gate: Gate(Some(gate)), ..self.clone() }
    }

    /// Returns whether the client has a [gate](Self::gated).
    pub fn is_gated(&self) -> bool {
        self.gate.0.is_some()
    }

    /// Returns a client of the same server and user with connections, a rate limiter and `timeouts` of its own, so that
    /// its requests do not wait for those of this client: for example the renewals of a lease.
    ///
    /// It has the default rate limit, and neither gate nor shutdown.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn separate(&self, timeouts: Timeouts) -> Result<Self, ConfigError> {
        let ClientOptions { user_agent, content_type, read_only, log_warnings, .. } = self.shared.options.clone();
        let defaults = ClientOptions::default();
        let options = ClientOptions { user_agent, content_type, timeouts, read_only, log_warnings, ..defaults };
        let metrics = Arc::clone(&self.shared.metrics);
        let Self { shared, .. } = Self::with_client_metrics(&self.shared.transport.config, options, metrics)?;
        Ok(Self { shared, gate: Gate::default(), shutdown: None, ..self.clone() })
    }

    /// Returns a clone that sends no request after `shutdown` is cancelled.
    ///
    /// Requests that wait for the rate limiter or for a retry then fail with [`Error::ShuttingDown`], so that they do
    /// not delay shutdown. Requests in flight are completed.
    #[must_use]
    pub fn with_shutdown(&self, shutdown: CancellationToken) -> Self {
        Self { shutdown: Some(shutdown), ..self.clone() }
    }

    /// Returns a clone that sends each request once, for callers that repeat failed requests themselves.
    #[must_use]
    pub fn without_retries(&self) -> Self {
        Self { retries: false, ..self.clone() }
    }

    /// Reloads the configuration of the client when its files change, see [`Config::follow_files`].
    pub fn follow_files(&self) -> impl Future<Output = Infallible> + Send + use<> {
        self.shared.transport.config.follow_files()
    }

    /// Returns whether the server answers, as updated by the attempts of all clients of the configuration.
    pub fn availability(&self) -> &Availability {
        &self.shared.availability
    }

    /// Returns a clone whose requests wait with `priority` if the client has an [adaptive limit](ClientOptions::adaptive).
    /// Otherwise requests are sent in the order of their arrival, and `priority` is not called.
    #[must_use]
    pub fn with_priority(&self, priority: impl FnOnce() -> RequestPriority) -> Self {
        let priority = if self.shared.limiter.is_adaptive() { priority() } else { self.priority };
        Self { priority, ..self.clone() }
    }

    /// Returns a clone that decodes objects in `context`. Informers built with it do so, too.
    #[must_use]
    pub fn decoding_in(&self, context: impl DecodeContext + 'static) -> Self {
        Self { decode_context: Some(Arc::new(context)), ..self.clone() }
    }

    /// Calls `decode` in the context of [`decoding_in`](Self::decoding_in), if there is one.
    pub fn decode<R>(&self, decode: impl FnOnce() -> R) -> R {
        match &self.decode_context {
            Some(context) => context.run(decode),
            None => decode(),
        }
    }

    /// Returns the context of [`decoding_in`](Self::decoding_in), if there is one.
    pub fn decode_context(&self) -> Option<Arc<dyn DecodeContext>> {
        self.decode_context.clone()
    }

    /// Returns [`ClientOptions::content_type`].
    pub fn content_type(&self) -> Encoding {
        self.shared.options.content_type
    }

    /// Reads a JSON document by path, such as discovery or `/version`.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list), and [`Error::InvalidResponse`] if the body is not JSON.
    pub async fn get_json(&self, path: &str) -> Result<serde_json::Value, Error> {
        let call = Call::new("get", path, "", "");
        let body = self.call(&call, &Outgoing::get(path.to_owned())).await?;
        serde_json::from_slice(&body).map_err(|error| Error::InvalidResponse { call, source: error.into() })
    }

    /// Returns the URL of the server, which changes with the kubeconfig.
    fn server(&self) -> String {
        self.shared.transport.config.server()
    }

    /// Whether the server has rejected a write in protobuf, so that writes are sent in JSON.
    pub(crate) fn json_writes(&self) -> &AtomicBool {
        &self.shared.json_writes
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.server()).finish_non_exhaustive()
    }
}
