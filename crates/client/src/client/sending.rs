//! How a request is sent: gate, rate limit, timeout, retries, metrics and the availability of the server.

use std::time::Duration;

use bytes::Bytes;
use display_full_error::DisplayFullErrorExt as _;
use http::{
    Method, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, USER_AGENT},
};
use http_body_util::{BodyExt as _, Full};
use kube_wire::Encoding;
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt as _;

use super::Client;
use crate::{
    Call, Error, TransportKind,
    availability::{Attempt, Change},
    body::{encoding_of, unexpected_content_type},
    error::status_of,
    failure::transport_error,
    limits::Permit,
    outgoing::Outgoing,
    retry::{self, Outcome},
    service::{ResponseBody, Service},
};

impl Client {
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
        let call = &mut call.clone();
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

    /// Sends a request with retries and reports its duration. `call` records a repeated write.
    pub(super) async fn send(
        &self,
        service: &Service,
        call: &mut Call,
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
        call: &mut Call,
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
            call.is_repeated |= outgoing.method != Method::GET && code.is_some_and(|code| code.is_server_error());
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
        match self.availability().record(attempt, Instant::now()) {
            Some(Change::Lost) => {
                let err = match (status, result) {
                    (Some(status), _) => format!("the server answered {status}"),
                    (None, Err(error)) => error.to_string_full(),
                    (None, Ok(_)) => String::new(),
                };
                let server = self.server();
                tracing::warn!(server, %call, err, "API server does not answer, retrying once a second until it does");
            }
            Some(Change::Recovered(after)) => {
                tracing::info!(server = self.server(), outage_s = after.as_secs(), "API server answers again");
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

pub(super) async fn read_body(call: &Call, body: ResponseBody, limit: Duration) -> Result<Bytes, Error> {
    match timeout(limit, body.collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(transport_error(call, error)),
        Err(_) => Err(timeout_error(call, limit)),
    }
}

pub(super) async fn api_error(call: &Call, response: Response<ResponseBody>, limit: Duration) -> Error {
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
