//! The client: requests by resource and path.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt as _, Full};
use kube_wire::{Decode, Encoding, Resource};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::{
    Body, Call, ClientMetrics, ClientOptions, Config, ConfigError, Credentials, Error, ListParams, MetricsProvider,
    TransportKind, WatchParams,
    body::encoding_of,
    error::status_of,
    failure::lost,
    gate::{Gate, WriteGate},
    response_body::ResponseBody,
    retry::{self, Outcome},
    throttle::Throttle,
    transport::{Replaced, Service, Transport},
    warnings::Warnings,
};

const JSON: HeaderValue = HeaderValue::from_static(Encoding::Json.media_type());
/// As client-go asks for protobuf: a server without it for a type answers in JSON.
const PROTOBUF_OR_JSON: HeaderValue = HeaderValue::from_static("application/vnd.kubernetes.protobuf,application/json");

/// A client for one API server. Clones share connections and limits.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    gate: Gate,
    /// From when on nothing is sent any more.
    last_call: Option<CancellationToken>,
}

struct Shared {
    server: String,
    user_agent: HeaderValue,
    content_type: Encoding,
    /// Time for an answer, and for its body.
    request_timeout: Duration,
    throttle: Throttle,
    transport: Transport,
    credentials: Credentials,
    metrics: Arc<dyn ClientMetrics>,
    warnings: Warnings,
}

/// One request, ready to be sent more than once.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) path_and_query: String,
    pub(crate) accept: Encoding,
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) body: Bytes,
}

impl Outgoing {
    pub(crate) fn json(method: Method, path_and_query: String, body: Vec<u8>) -> Self {
        Self { method, path_and_query, accept: Encoding::Json, content_type: Some(JSON), body: body.into() }
    }

    pub(crate) fn get(path_and_query: String) -> Self {
        let (method, accept) = (Method::GET, Encoding::Json);
        Self { method, path_and_query, accept, content_type: None, body: Bytes::new() }
    }
}

impl Client {
    /// Sets up connections lazily: nothing is sent before the first request.
    pub fn new(config: &Config, options: ClientOptions) -> Result<Self, ConfigError> {
        Client::telling(config, options, Arc::new(()))
    }

    /// The same, telling `metrics` of its requests.
    pub fn with_metrics(
        config: &Config,
        options: ClientOptions,
        metrics: &dyn MetricsProvider,
    ) -> Result<Self, ConfigError> {
        Client::telling(config, options, metrics.client(&config.host()))
    }

    fn telling(config: &Config, options: ClientOptions, metrics: Arc<dyn ClientMetrics>) -> Result<Self, ConfigError> {
        let ClientOptions { user_agent, qps, burst, content_type, timeouts } = options;
        let server = config.server();
        let user_agent = HeaderValue::from_str(&user_agent).map_err(|_| ConfigError::Connection {
            server: server.clone(),
            cause: format!("user agent {user_agent:?} cannot be sent as a header"),
        })?;
        let transport = Transport::new(config, &timeouts)?;
        let credentials = config.credentials.clone();
        let throttle = Throttle::new(qps, burst);
        let warnings = Warnings::default();
        let shared = Shared {
            server,
            user_agent,
            content_type,
            request_timeout: timeouts.request,
            throttle,
            transport,
            credentials,
            metrics,
            warnings,
        };
        Ok(Self { shared: Arc::new(shared), gate: Gate::default(), last_call: None })
    }

    /// The same client, sharing connections and limits, that sends a write only while `gate` is open, and otherwise fails
    /// with [`Error::Gated`]. Lists, watches and other reads pass always.
    ///
    /// The gate is asked right before each attempt. A write that is under way when the gate closes is dropped, so that one
    /// that waits for a connection is not sent later; the server may have carried it out.
    #[must_use]
    pub fn gated(&self, gate: Arc<dyn WriteGate>) -> Self {
        Self { gate: Gate(Some(gate)), ..self.clone() }
    }

    /// The same client, sharing connections and limits, that sends nothing more once `last_call` is cancelled: what waits
    /// then for the limit on requests, or to be sent again, fails with [`Error::Ended`]. What is under way is finished.
    ///
    /// So a process that is about to end does not wait for what nobody has begun.
    #[must_use]
    pub fn until(&self, last_call: CancellationToken) -> Self {
        Self { last_call: Some(last_call), ..self.clone() }
    }

    /// The encoding to read `T` in: protobuf if the type has it and [`ClientOptions::content_type`] says so.
    pub fn encoding_for<T: Decode>(&self) -> Encoding {
        if T::PROTOBUF { self.shared.content_type } else { Encoding::Json }
    }

    /// Lists a resource, in one namespace or (`None`) everywhere; the answer, always JSON, is for `kube_wire::decode_list`.
    ///
    /// It holds the whole body: for lists that may be long there is [`list_chunks`](Self::list_chunks).
    pub async fn list(&self, of: &Resource, namespace: Option<&str>, params: &ListParams) -> Result<Bytes, Error> {
        let call = Call::new("list", of, namespace.unwrap_or_default(), "");
        self.call(&call, &Outgoing::get(of.path(namespace) + &params.query())).await
    }

    /// Lists a resource like [`list`](Self::list), and returns its body as it arrives, for `kube_wire::ListReader`.
    pub async fn list_chunks(
        &self,
        of: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Body, Error> {
        let call = Call::new("list", of, namespace.unwrap_or_default(), "");
        let outgoing = Outgoing { accept: params.accept, ..Outgoing::get(of.path(namespace) + &params.query()) };
        self.open(&self.shared.transport.calls(), call, &outgoing, None).await
    }

    /// Watches a resource, in one namespace or (`None`) everywhere. The body is for `kube_wire::WatchReader`.
    ///
    /// Not counted by the limit on requests, as in client-go; dropping the body ends the watch.
    pub async fn watch(&self, of: &Resource, namespace: Option<&str>, params: &WatchParams) -> Result<Body, Error> {
        let call = Call::new("watch", of, namespace.unwrap_or_default(), "");
        let outgoing = Outgoing { accept: params.accept, ..Outgoing::get(of.path(namespace) + &params.query()) };
        let (service, replaced) = self.shared.transport.watches();
        self.open(&service, call, &outgoing, Some(replaced)).await
    }

    /// Gets any JSON document: discovery, `/version`.
    pub async fn get_json(&self, path: &str) -> Result<serde_json::Value, Error> {
        let call = Call::new("get", path, "", "");
        let body = self.call(&call, &Outgoing::get(path.to_owned())).await?;
        serde_json::from_slice(&body).map_err(|error| Error::Answer { call, cause: error.to_string() })
    }

    /// Sends anything and returns whatever is answered; an error status is a value here and nothing is retried.
    ///
    /// For development tools. Counted by the limit on requests.
    pub async fn raw(
        &self,
        method: Method,
        path_and_query: &str,
        content_type: Option<&str>,
        body: Vec<u8>,
    ) -> Result<(StatusCode, Bytes), Error> {
        let call = Call::new(verb(&method), path_and_query, "", "");
        let refuse = |cause: &str| Error::Request { call: call.clone(), cause: cause.to_owned() };
        let content_type = content_type.map(HeaderValue::from_str).transpose();
        let content_type = content_type.map_err(|_| refuse("the content type cannot be sent as a header"))?;
        let path_and_query = path_and_query.to_owned();
        let request = Outgoing { method, path_and_query, accept: Encoding::Json, content_type, body: body.into() };
        let request = self.request(&call, &request)?;
        let method = request.method().clone();
        self.before_last_call(&call, self.admit(&method)).await?;
        let limit = self.shared.request_timeout;
        let exchange = async {
            let answer = self.shared.transport.calls().oneshot(request).await;
            let answer = answer.map_err(|error| lost(&call, &*error))?;
            self.shared.credentials.answered(answer.status(), Instant::now());
            Ok::<_, Error>((answer.status(), whole_body(&call, answer.into_body(), limit).await?))
        };
        self.pass(&method, &call, timeout(limit, exchange)).await?.map_err(|_| no_answer(&call, limit))?
    }

    /// Runs an exchange; one that may change something, only while the gate is open.
    async fn pass<T>(&self, method: &Method, call: &Call, exchange: impl Future<Output = T>) -> Result<T, Error> {
        if *method == Method::GET {
            return Ok(exchange.await);
        }
        self.gate.pass(exchange).await.ok_or_else(|| Error::Gated { call: call.clone() })
    }

    /// Sends a request within the limits and returns the body of a successful answer.
    pub(crate) async fn call(&self, call: &Call, outgoing: &Outgoing) -> Result<Bytes, Error> {
        let answer = self.send(&self.shared.transport.calls(), call, outgoing, true).await?;
        let limit = self.shared.request_timeout;
        if answer.status().is_success() {
            let body = whole_body(call, answer.into_body(), limit).await?;
            self.shared.metrics.received(&outgoing.method, body.len());
            return Ok(body);
        }
        Err(refusal(call, answer, limit).await)
    }

    /// Sends a request and returns the body of a successful answer as it arrives. Watches, which have an end of their own in
    /// `replaced`, are not throttled.
    async fn open(
        &self,
        service: &Service,
        call: Call,
        outgoing: &Outgoing,
        replaced: Option<Replaced>,
    ) -> Result<Body, Error> {
        let answer = self.send(service, &call, outgoing, replaced.is_none()).await?;
        if !answer.status().is_success() {
            return Err(refusal(&call, answer, self.shared.request_timeout).await);
        }
        let (head, body) = answer.into_parts();
        Body::new(call, &head.headers, body, replaced)
    }

    /// Waits for what comes before a request, unless it is too late to send one.
    async fn before_last_call(&self, call: &Call, waiting: impl Future<Output = ()>) -> Result<(), Error> {
        let Some(last_call) = &self.last_call else {
            waiting.await;
            return Ok(());
        };
        last_call.run_until_cancelled(waiting).await.ok_or_else(|| Error::Ended { call: call.clone() })
    }

    /// Waits for the client's own limit on requests.
    async fn admit(&self, method: &Method) {
        let asked = Instant::now();
        self.shared.throttle.admit().await;
        self.shared.metrics.admitted(method, asked.elapsed());
    }

    /// Sends a request, and again where that is right.
    async fn send(
        &self,
        service: &Service,
        call: &Call,
        outgoing: &Outgoing,
        throttled: bool,
    ) -> Result<Response<ResponseBody>, Error> {
        let begun = Instant::now();
        let result = self.attempts(service, call, outgoing, throttled).await;
        // Watches are those that are not throttled.
        if throttled {
            self.shared.metrics.finished(&outgoing.method, begun.elapsed());
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
        let limit = self.shared.request_timeout;
        let mut retries = 0;
        loop {
            let admitted = async {
                if throttled || retries > 0 {
                    self.admit(&outgoing.method).await;
                }
            };
            self.before_last_call(call, admitted).await?;
            let request = self.request(call, outgoing)?;
            let exchange = timeout(limit, service.clone().oneshot(request));
            let result = match self.pass(&outgoing.method, call, exchange).await? {
                Ok(result) => result.map_err(|error| lost(call, &*error)),
                Err(_) => Err(no_answer(call, limit)),
            };
            let code = result.as_ref().ok().map(Response::status);
            tracing::trace!(%call, code = code.map(|code| code.as_u16()), "Request");
            if let Ok(answer) = &result {
                self.shared.credentials.answered(answer.status(), Instant::now());
                for warning in self.shared.warnings.news(answer.headers()) {
                    tracing::warn!(warning, %call, "The API server warns");
                }
            }
            self.shared.metrics.answered(&outgoing.method, code, outgoing.body.len());
            let outcome = match &result {
                Ok(answer) => {
                    Outcome::Answered { code: answer.status(), retry_after: retry::retry_after(answer.headers()) }
                }
                Err(Error::Transport { kind: TransportKind::Reset, .. }) => Outcome::Reset,
                Err(_) => Outcome::Failed,
            };
            let Some(wait) = retry::wait_before_retry(&outgoing.method, retries, outcome) else { return result };
            tracing::debug!(%call, ?outcome, ?wait, "sending again");
            self.shared.metrics.retried(&outgoing.method, code);
            // Only a body that was read to its end gives its connection back.
            if let Ok(answer) = result {
                let _ = timeout(Duration::from_secs(1), answer.into_body().collect()).await;
            }
            self.before_last_call(call, sleep(wait)).await?;
            retries += 1;
        }
    }

    fn request(&self, call: &Call, outgoing: &Outgoing) -> Result<Request<Full<Bytes>>, Error> {
        let Outgoing { method, path_and_query, accept, content_type, body } = outgoing;
        let accept = match accept {
            Encoding::Json => JSON,
            Encoding::Protobuf => PROTOBUF_OR_JSON,
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path_and_query)
            .header(ACCEPT, accept)
            .header(USER_AGENT, &self.shared.user_agent);
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(Full::new(body.clone()));
        request.map_err(|error| Error::Request { call: call.clone(), cause: error.to_string() })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

async fn whole_body(call: &Call, body: ResponseBody, limit: Duration) -> Result<Bytes, Error> {
    match timeout(limit, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(lost(call, &*error)),
        Err(_) => Err(no_answer(call, limit)),
    }
}

async fn refusal(call: &Call, answer: Response<ResponseBody>, limit: Duration) -> Error {
    let (code, retry_after) = (answer.status(), retry::retry_after(answer.headers()));
    let encoding = encoding_of(answer.headers()).unwrap_or_default();
    // A refusal whose explanation is lost is still a refusal.
    let body = whole_body(call, answer.into_body(), limit).await.unwrap_or_default();
    Error::Api { call: call.clone(), status: Box::new(status_of(code, retry_after, encoding, &body)) }
}

fn no_answer(call: &Call, limit: Duration) -> Error {
    let cause = format!("no answer within {} s", limit.as_secs_f32());
    Error::Transport { call: call.clone(), kind: TransportKind::Timeout, cause }
}

fn verb(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "call",
    }
}
