//! Request processing common to all endpoints: authentication, authorization, faults and the request log.

use std::pin::pin;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use jiff::Timestamp;

use super::body::{self, RequestBody};
use super::outgoing::{self, Outgoing};
use super::path::{self, Route};
use super::reply::{self, LoggedError, Reply};
use super::request::LoggedWrite;
use super::request_info::{self, RequestInfo};
use super::reviews::VirtualResource;
use super::socket::Kill;
use super::{accept, debug, impersonation, request, unserved, watch};
use crate::attributes::Attributes;
use crate::authorization;
use crate::faults::{Effect, Omission};
use crate::identity::User;
use crate::kinds::Kind;
use crate::protobuf;
use crate::requests::LoggedRequest;
use crate::shared::Shared;
use crate::status::StatusError;

/// Handles one request, applying the faults that match it.
pub(super) async fn handle(
    shared: Arc<Shared>,
    kill: Kill,
    certificate: Option<Arc<User>>,
    request: Request<RequestBody>,
) -> Response<Outgoing> {
    let started = shared.now();
    let (parts, body) = request.into_parts();
    let route = path::parse(parts.uri.path());
    let RequestInfo { attributes, resource_version, dry_run } = request_info::parse(&parts.method, &parts.uri, &route);
    let identity = authenticate(&shared, certificate.as_deref(), &parts.headers, started)
        .and_then(|user| impersonation::effective_user(&shared, user, &parts.headers));
    if shared.config.debug_endpoints && attributes.path.starts_with(debug::PREFIX) {
        // Debug endpoints are neither logged nor subject to faults, since they inspect both.
        let reply = match identity.and_then(|user| authorization::check(&shared, &user, &attributes)) {
            Ok(()) => debug::handle(&shared, &parts, body).await,
            Err(error) => reply::json_error(&error),
        };
        return reply.map(outgoing::unmodified);
    }
    let headers = &parts.headers;
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut logged = LoggedRequest {
        started,
        verb: attributes.verb.clone(),
        group: attributes.group.clone(),
        resource: attributes.resource.clone(),
        subresource: attributes.subresource.clone(),
        namespace: attributes.namespace.clone(),
        name: attributes.name.clone(),
        object_name: String::new(),
        path: parts.uri.to_string(),
        user: identity.as_ref().map_or_else(|_| String::new(), |user| user.name.clone()),
        user_agent: header(USER_AGENT).to_owned(),
        status: None,
        message: String::new(),
        denied: false,
        applied: false,
        resource_version,
        dry_run,
    };
    let decision = shared.faults.table().decide(&logged);
    let mut log = |answer: Option<&Reply>, executed: Option<&Reply>| {
        let succeeded = executed.is_some_and(|reply| reply.status().is_success());
        let extensions = executed.map(Reply::extensions);
        let written = extensions.and_then(|it| it.get::<LoggedWrite>());
        let error = answer.and_then(|reply| reply.extensions().get::<LoggedError>());
        logged.object_name = written.map(|it| it.object_name.to_string()).unwrap_or_default();
        logged.dry_run |= written.is_some_and(|it| it.dry_run);
        logged.status = answer.map(|reply| reply.status().as_u16());
        logged.message = error.map(|it| it.message.clone()).unwrap_or_default();
        logged.denied = error.is_some_and(|it| it.denied);
        logged.applied = succeeded && !logged.dry_run && Kind::WRITES.contains(&attributes.verb.as_str());
        shared.requests.record(&logged);
        shared.activity.notify();
    };
    if !decision.delay.is_zero() {
        // The hit of the fault is visible now; the request is logged later.
        shared.activity.notify();
        tokio::time::sleep(decision.delay).await;
    }
    // Pinned here: awaiting the future by value in several arms would add its size to this future once per arm.
    let omission = decision.omission.as_ref();
    let execute = pin!(async {
        let result = execute(&shared, &route, &attributes, &identity, &parts, body, omission).await;
        result.unwrap_or_else(|error| {
            let error = if error.is_plain_text() { unserved::error(&shared, parts.uri.path()) } else { error };
            reply::error_for(&error, headers)
        })
    });
    let mut executed = None;
    let mut reply = match decision.answer {
        Some(Effect::Reject { code, retry_after_seconds }) => {
            fault_reply(attributes.verb == "watch", code, retry_after_seconds, headers)
        }
        Some(Effect::ApplyThenTimeout) => {
            executed = Some(execute.await);
            reply::error_for(&StatusError::timed_out(), headers)
        }
        Some(Effect::ApplyThenReset) => {
            let lost = execute.await;
            log(None, Some(&lost));
            drop(lost);
            return kill.reset_and_never_answer().await;
        }
        Some(Effect::Reset) => {
            log(None, None);
            return kill.reset_and_never_answer().await;
        }
        _ => execute.await,
    };
    let status = reply.status();
    tracing::debug!(method = %parts.method, uri = %parts.uri, status = status.as_u16(), "request");
    log(Some(&reply), executed.as_ref().or(Some(&reply)));
    reply.extensions_mut().remove::<LoggedWrite>();
    let watch = (attributes.verb == "watch" && status.is_success()).then(|| shared.faults.open_watch(logged));
    let in_protobuf = reply.headers().get(CONTENT_TYPE).is_some_and(|it| it == protobuf::STREAM_TYPE);
    reply.map(|body| match (decision.stream, watch) {
        (None, None) => outgoing::unmodified(body),
        (stream, watch) => outgoing::with_faults(body, stream, watch, kill, in_protobuf),
    })
}

/// Authenticates a request by client certificate or bearer token.
fn authenticate(
    shared: &Shared,
    certificate: Option<&User>,
    headers: &HeaderMap,
    now: Timestamp,
) -> Result<User, StatusError> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let bearer = header.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let bearer = bearer.map(|(_, token)| token.trim());
    shared.identities.authenticate(certificate, bearer, now, |namespace, name| shared.uid_of(namespace, name))
}

/// Processes a request if the user is authenticated and authorized.
async fn execute(
    shared: &Arc<Shared>,
    route: &Route,
    attributes: &Attributes,
    identity: &Result<User, StatusError>,
    parts: &Parts,
    body: RequestBody,
    omission: Option<&Omission>,
) -> Result<Reply, StatusError> {
    let user = identity.as_ref().map_err(Clone::clone)?;
    authorization::check(shared, user, attributes)?;
    if let Route::Resource(path) = route
        && let Some(virtual_resource) = VirtualResource::of(path)
    {
        let bytes = body::collect(body).await?;
        return virtual_resource.evaluate(shared, path, user, parts, &bytes);
    }
    let refused_create = authorization::refused_create(shared, user, attributes);
    request::answer(shared, route, parts, body, omission, refused_create).await
}

fn fault_reply(is_watch: bool, code: u16, retry_after: Option<u32>, headers: &HeaderMap) -> Reply {
    let error = StatusError::by_fault(code, retry_after);
    if is_watch && code == 410 {
        let in_protobuf = accept::prefers_protobuf(headers);
        let reply = reply::json(http::StatusCode::OK, watch::error_event(&error, in_protobuf));
        return if in_protobuf { reply::in_protobuf(reply, true) } else { reply };
    }
    let mut reply = reply::error_for(&error, headers);
    if let Some(seconds) = retry_after {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    reply
}
