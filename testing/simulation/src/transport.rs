//! Connection between a process and the API server.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube_dev_apiserver::{InProcess, ResponseBody, decode_protobuf};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use tower::{Service, ServiceExt as _};

use crate::fault::Fault;
use crate::frames::Frames;
use crate::log::EntryKind;
use crate::point::{Point, Verb};
use crate::request::Target;
use crate::run_state::RunState;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Body of a response that a [`Transport`] returns.
pub type TransportBody = UnsyncBoxBody<Bytes, io::Error>;

/// Connection of one process to the API server: a tower service for any HTTP client. Clones belong to the same process.
#[derive(Clone)]
pub struct Transport {
    run_state: Arc<RunState>,
    process: Arc<str>,
    elects: bool,
    server: InProcess,
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transport").field("process", &self.process).finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for Transport
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<TransportBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response<TransportBody>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(|error| io::Error::other(error.into()))?.to_bytes();
            this.exchange(Request::from_parts(parts, body)).await
        })
    }
}

impl Transport {
    pub(crate) fn new(run_state: &Arc<RunState>, process: &Arc<str>, elects: bool, server: InProcess) -> Transport {
        Transport { run_state: Arc::clone(run_state), process: Arc::clone(process), elects, server }
    }

    async fn exchange(self, request: Request<Bytes>) -> io::Result<Response<TransportBody>> {
        let (target, sent) = (Target::of(request.method(), request.uri()), in_json(request.body()));
        let point = self.run_state.point(&self.process, target.verb, &target.resource);
        if self.elects && target.verb.is_write() && target.must_stop() {
            self.check_lease(&point);
        }
        let fault = self.run_state.decide(&point);
        self.pause(self.run_state.latency(&point, 2)).await;
        if let Some(Fault::Delay(millis)) = fault {
            self.pause(Duration::from_millis(millis.into())).await;
        }
        let may_expire = matches!(target.verb, Verb::Watch | Verb::List);
        let refused = match fault {
            Some(Fault::LoseRequest) => Some(Err(reset())),
            Some(Fault::Reject(code)) => Some(Ok(refusal(code, 1))),
            Some(Fault::Throttle(seconds)) => Some(Ok(refusal(429, seconds))),
            _ => {
                let is_expired = may_expire && self.run_state.is_expired(&self.process, &target.resource).await;
                is_expired.then(|| Ok(refusal(410, 0)))
            }
        };
        if let Some(refused) = refused {
            self.log(&point, target, sent, None, Bytes::new());
            return refused;
        }
        let answer = self.carry_out(&point, target, request, sent).await?;
        match fault {
            Some(Fault::LoseAnswer | Fault::Skip) => return Err(reset()),
            Some(Fault::Crash(millis)) => return self.die(millis, None).await,
            Some(Fault::CrashToPast(percent)) => return self.die(1_000, Some(percent)).await,
            _ => {}
        }
        self.pause(self.run_state.latency(&point, 3)).await;
        Ok(answer)
    }

    /// Sleeps for `pause`, and then until the process is not frozen.
    async fn pause(&self, pause: Duration) {
        if !pause.is_zero() {
            sleep(pause).await;
        }
        self.run_state.thawed(&self.process).await;
    }

    async fn die<T>(&self, millis: u32, past: Option<u8>) -> T {
        self.run_state.kill(&self.process, Duration::from_millis(millis.into()), past);
        std::future::pending().await
    }

    /// Reports a violation if another process holds the lease.
    fn check_lease(&self, point: &Point) {
        if let Some(holder) = self.run_state.holder()
            && *holder != *self.process
        {
            self.run_state.violated(format!("{point} is sent while {holder} holds the lease"));
        }
    }

    async fn carry_out(
        &self,
        point: &Point,
        target: Target,
        request: Request<Bytes>,
        sent: Bytes,
    ) -> io::Result<Response<TransportBody>> {
        let wrong = target.verb.is_write().then(|| self.run_state.check(point, &target, &sent)).flatten();
        let answer = self.server.clone().oneshot(request.map(Full::new)).await?;
        let code = answer.status();
        let is_stream = target.verb == Verb::Watch && code.is_success();
        let (head, answer_body) = answer.into_parts();
        if is_stream {
            self.log(point, target, sent, Some(code), Bytes::new());
            let in_protobuf = head.headers.get(CONTENT_TYPE).is_some_and(|it| it.as_bytes().ends_with(b"stream=watch"));
            let events = Events {
                transport: self.clone(),
                resource: point.resource.clone(),
                body: answer_body,
                frames: Frames::new(in_protobuf),
                not_before: Instant::now(),
                over: false,
            };
            return Ok(Response::from_parts(head, events.into_body()));
        }
        let bytes = answer_body.collect().await?.to_bytes();
        if target.verb.is_write() && code.is_success() {
            self.run_state.written(Some(&self.process), &target, &sent);
            if let Some(wrong) = wrong {
                self.run_state.violated(wrong);
            }
        }
        self.log(point, target, sent, Some(code), bytes.clone());
        Ok(Response::from_parts(head, whole(bytes)))
    }

    fn log(&self, point: &Point, target: Target, body: Bytes, code: Option<StatusCode>, answer: Bytes) {
        let code = code.map(|code| code.as_u16());
        self.run_state.note(EntryKind::Request { point: point.clone(), target, body, code, answer });
    }
}

/// Returns an object in protobuf as JSON, for the rules, and other bodies as they are.
fn in_json(body: &Bytes) -> Bytes {
    decode_protobuf(body).map_or_else(|| body.clone(), |object| object.to_string().into())
}

/// Event stream of one watch, with latencies and faults.
struct Events {
    transport: Transport,
    resource: String,
    body: ResponseBody,
    frames: Frames,
    /// Earliest arrival of the next event.
    not_before: Instant,
    over: bool,
}

impl Events {
    fn into_body(self) -> TransportBody {
        let frames = stream::unfold(self, |mut events| async move {
            let frame = events.next().await?;
            events.over = frame.is_err();
            Some((frame.map(Frame::data), events))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.over {
            return None;
        }
        let frame = loop {
            if let Some(frame) = self.frames.next() {
                break frame;
            }
            match self.body.frame().await? {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        self.frames.push(&data);
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        };
        let (run_state, process) = (Arc::clone(&self.transport.run_state), Arc::clone(&self.transport.process));
        let point = run_state.point(&process, Verb::Event, &self.resource);
        let fault = run_state.decide(&point);
        let mut arrival = Instant::now() + run_state.latency(&point, 2);
        match fault {
            Some(Fault::Delay(millis)) => arrival += Duration::from_millis(millis.into()),
            Some(Fault::LoseRequest | Fault::LoseAnswer | Fault::Throttle(_)) => return Some(Err(reset())),
            Some(Fault::Reject(_)) => {
                run_state.expire(&process, &self.resource, false);
                return Some(Err(reset()));
            }
            Some(Fault::Skip) => {
                run_state.expire(&process, &self.resource, true);
                return Some(Err(reset()));
            }
            Some(Fault::Crash(_) | Fault::CrashToPast(_)) | None => {}
        }
        // A delayed event delays all later ones: a watch preserves their order.
        self.not_before = self.not_before.max(arrival);
        if self.not_before > Instant::now() {
            sleep_until(self.not_before).await;
        }
        run_state.thawed(&process).await;
        run_state.note(EntryKind::Event { point, frame: frame.clone() });
        match fault {
            Some(Fault::Crash(millis)) => return self.transport.die(millis, None).await,
            Some(Fault::CrashToPast(percent)) => return self.transport.die(1_000, Some(percent)).await,
            _ => {}
        }
        Some(Ok(frame))
    }
}

fn whole(bytes: Bytes) -> TransportBody {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by a fault")
}

/// Returns a failure response with a `Status`. Those with 429 and 503 have a `Retry-After` of `retry_after` seconds.
fn refusal(code: u16, retry_after: u32) -> Response<TransportBody> {
    let reason = match code {
        409 => "Conflict",
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        _ => "InternalError",
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "refused by a fault", "reason": reason, "code": code,
    });
    let mut response = Response::new(whole(status.to_string().into()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if matches!(code, 429 | 503) {
        response.headers_mut().insert(RETRY_AFTER, retry_after.into());
    }
    response
}
