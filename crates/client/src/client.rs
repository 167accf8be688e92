//! The [`Client`]: requests by resource or path, with rate limit, gate, timeouts and retries.

mod lists;
mod raw;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bytes::Bytes;
use display_full_error::DisplayFullErrorExt as _;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt as _, Full};
use kube_wire::{DecodeContext, Encoding};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{
    Availability, Call, ClientMetrics, ClientMetricsProvider, ClientOptions, Config, ConfigError, Credentials, Error,
    RequestPriority, Timeouts, TransportKind,
    availability::{Attempt, Change},
    body::{encoding_of, unexpected_content_type},
    error::status_of,
    failure::transport_error,
    gate::{Gate, WriteGate},
    limiter::Limiter,
    limits::Permit,
    outgoing::Outgoing,
    retry::{self, Outcome},
    service::{ResponseBody, Service},
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
    server: String,
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
        let server = config.server();
        let user_agent = HeaderValue::from_str(&options.user_agent).map_err(|_| ConfigError::Connection {
            server: server.clone(),
            source: format!("user agent {:?} is not a valid header value", options.user_agent).into(),
        })?;
        let shared = Shared {
            server,
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
        let ClientOptions { qps, burst, adaptive, .. } = ClientOptions::default();
        let options = ClientOptions { qps, burst, adaptive, timeouts, ..self.shared.options.clone() };
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

    /// Runs one exchange, behind the gate unless the method is GET.
    async fn run_gated<T>(&self, method: &Method, call: &Call, exchange: impl Future<Output = T>) -> Result<T, Error> {
        if *method == Method::GET {
            return Ok(exchange.await);
        }
        self.gate.run_while_open(exchange).await.ok_or_else(|| Error::Gated { call: call.clone() })
    }

    /// Sends a request through the rate limiter and returns the body of a successful response.
    pub(crate) async fn call(&self, call: &Call, outgoing: &Outgoing) -> Result<Bytes, Error> {
        self.exchange(call, outgoing).await.map(|(_, body)| body)
    }

    /// As [`call`](Self::call); also returns the encoding of the body.
    pub(crate) async fn call_encoded(&self, call: &Call, outgoing: &Outgoing) -> Result<(Encoding, Bytes), Error> {
        let (encoding, body) = self.exchange(call, outgoing).await?;
        let encoding = encoding.map_err(|found| unexpected_content_type(call.clone(), &found))?;
        Ok((encoding, body))
    }

    async fn exchange(&self, call: &Call, outgoing: &Outgoing) -> Result<(Result<Encoding, String>, Bytes), Error> {
        let response = self.send(&self.shared.transport.calls(), call, outgoing, true).await?;
        let limit = self.shared.options.timeouts.request;
        if response.status().is_success() {
            let encoding = encoding_of(response.headers());
            let body = read_body(call, response.into_body(), limit).await?;
            self.shared.metrics.body_read(&outgoing.method, body.len());
            return Ok((encoding, body));
        }
        Err(api_error(call, response, limit).await)
    }

    /// Whether the server has rejected a write in protobuf, so that writes are sent in JSON.
    pub(crate) fn json_writes(&self) -> &AtomicBool {
        &self.shared.json_writes
    }

    /// Awaits `future`; fails with [`Error::ShuttingDown`] if `shutdown` is cancelled first.
    async fn unless_shutdown<T>(&self, call: &Call, future: impl Future<Output = T>) -> Result<T, Error> {
        let Some(shutdown) = &self.shutdown else { return Ok(future.await) };
        shutdown.run_until_cancelled(future).await.ok_or_else(|| Error::ShuttingDown { call: call.clone() })
    }

    async fn wait_for_limiter(&self, method: &Method, call: &Call) -> Option<Permit<'_>> {
        let start = Instant::now();
        let permit = self.shared.limiter.wait(call, self.priority).await;
        self.shared.metrics.rate_limited(method, start.elapsed());
        permit
    }

    /// Sends a request with retries and reports its duration.
    async fn send(
        &self,
        service: &Service,
        call: &Call,
        outgoing: &Outgoing,
        throttled: bool,
    ) -> Result<Response<ResponseBody>, Error> {
        let start = Instant::now();
        let result = self.attempts(service, call, outgoing, throttled).await;
        // Only watches are not throttled, and upstream does not count their duration.
        if throttled {
            self.shared.metrics.completed(&outgoing.method, start.elapsed());
        }
        result
    }

    async fn attempts(
        &self,
        service: &Service,
        call: &Call,
        outgoing: &Outgoing,
        throttled: bool,
    ) -> Result<Response<ResponseBody>, Error> {
        if self.shared.options.read_only && outgoing.method != Method::GET {
            return Err(Error::ReadOnly { call: call.clone() });
        }
        let limit = self.shared.options.timeouts.request;
        let mut retries = 0;
        loop {
            let permit = async {
                if throttled || retries > 0 { self.wait_for_limiter(&outgoing.method, call).await } else { None }
            };
            let permit = self.unless_shutdown(call, permit).await?;
            let request = self.request(call, outgoing)?;
            let exchange = timeout(limit, service.clone().oneshot(request));
            let result = match self.run_gated(&outgoing.method, call, exchange).await? {
                Ok(result) => result.map_err(|error| transport_error(call, error)),
                Err(_) => Err(timeout_error(call, limit)),
            };
            let pauses = permit.is_some_and(|permit| permit.finish(result.as_ref().ok()));
            let code = result.as_ref().ok().map(Response::status);
            tracing::trace!(%call, code = code.map(|code| code.as_u16()), "Request");
            self.record_attempt(call, &result);
            if let Ok(response) = &result {
                self.shared.credentials.record_response(response.status(), Instant::now());
                for warning in self.shared.warnings.new_warnings(response.headers()) {
                    tracing::warn!(warning, %call, "API server returned a warning");
                }
            }
            self.shared.metrics.responded(&outgoing.method, code, outgoing.body.len());
            let outcome = match &result {
                Ok(response) => {
                    Outcome::Answered { code: response.status(), retry_after: retry::retry_after(response.headers()) }
                }
                Err(Error::Transport { kind: TransportKind::Reset, .. }) => Outcome::Reset,
                Err(_) => Outcome::Failed,
            };
            let wait = retry::wait_before_retry(&outgoing.method, retries, outcome).filter(|_| self.retries);
            let Some(wait) = wait else { return result };
            let recovery = self.availability().recovery();
            tracing::debug!(%call, ?outcome, ?wait, "Retrying request");
            self.shared.metrics.retried(&outgoing.method, code);
            // An HTTP/1.1 connection returns to the pool only after its body has been read to the end.
            if let Ok(response) = result {
                let _ = timeout(Duration::from_secs(1), response.into_body().collect()).await;
            }
            if !pauses {
                let is_busy = code == Some(StatusCode::TOO_MANY_REQUESTS);
                let wait = async {
                    tokio::select! {
                        biased;
                        () = recovery, if !is_busy => {}
                        () = sleep(wait) => {}
                    }
                };
                self.unless_shutdown(call, wait).await?;
            }
            retries += 1;
        }
    }

    /// Updates the availability of the server by the result of an attempt, and logs the start and the end of an outage.
    fn record_attempt<B>(&self, call: &Call, result: &Result<Response<B>, Error>) {
        let (attempt, status) = match result {
            Ok(response) if response.status().is_server_error() => (Attempt::Failed, Some(response.status())),
            Ok(_) => (Attempt::Answered, None),
            // The request may not have been sent, for example without a token.
            Err(Error::Transport { kind: TransportKind::Other, .. }) => return,
            Err(_) => (Attempt::Failed, None),
        };
        let server = &self.shared.server;
        match self.availability().record(attempt, Instant::now()) {
            Some(Change::Lost) => {
                let err = match (status, result) {
                    (Some(status), _) => format!("the server answered {status}"),
                    (None, Err(error)) => error.to_string_full(),
                    (None, Ok(_)) => String::new(),
                };
                tracing::warn!(server, %call, err, "API server does not answer, retrying once a second until it does");
            }
            Some(Change::Recovered(after)) => {
                tracing::info!(server, outage_s = after.as_secs(), "API server answers again");
            }
            None => {}
        }
    }

    fn request(&self, call: &Call, outgoing: &Outgoing) -> Result<Request<Full<Bytes>>, Error> {
        let Outgoing { method, path_and_query, accept, content_type, body } = outgoing;
        let mut request = Request::builder()
            .method(method)
            .uri(path_and_query)
            .header(ACCEPT, accept.header())
            .header(USER_AGENT, &self.shared.user_agent);
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(Full::new(body.clone()));
        request.map_err(|error| Error::Request { call: call.clone(), source: error.into() })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

async fn read_body(call: &Call, body: ResponseBody, limit: Duration) -> Result<Bytes, Error> {
    match timeout(limit, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(transport_error(call, error)),
        Err(_) => Err(timeout_error(call, limit)),
    }
}

async fn api_error(call: &Call, response: Response<ResponseBody>, limit: Duration) -> Error {
    let (code, retry_after) = (response.status(), retry::retry_after(response.headers()));
    let encoding = encoding_of(response.headers()).unwrap_or_default();
    // If the body cannot be read, the status code alone makes the error.
    let body = read_body(call, response.into_body(), limit).await.unwrap_or_default();
    Error::Api { call: call.clone(), status: Box::new(status_of(code, retry_after, encoding, &body)) }
}

fn timeout_error(call: &Call, limit: Duration) -> Error {
    let source = format!("no response within {} s", limit.as_secs_f32()).into();
    Error::Transport { call: call.clone(), kind: TransportKind::Timeout, source }
}
