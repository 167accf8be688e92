//! Request processing common to all endpoints: authentication, authorization, faults and the request log.

use std::pin::pin;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use jiff::Timestamp;

use super::asked::{self, Asked};
use super::body::{self, RequestBody};
use super::outgoing::{self, Outgoing};
use super::path::{self, Route};
use super::reply::{self, Reply};
use super::request::WrittenName;
use super::reviews::Question;
use super::socket::Kill;
use super::{accept, debug, request, watch};
use crate::attributes::Attributes;
use crate::cluster::Propagation;
use crate::faults::{Answer, Caller};
use crate::identity::User;
use crate::protobuf;
use crate::requests::LoggedRequest;
use crate::shared::Shared;
use crate::status::StatusError;

/// Verbs that modify objects.
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

/// Handles one request, applying the faults that match it.
pub(super) async fn answer(
    shared: Arc<Shared>,
    kill: Kill,
    certificate: Option<Arc<User>>,
    request: Request<RequestBody>,
) -> Response<Outgoing> {
    let started = shared.now();
    let (parts, body) = request.into_parts();
    let route = path::parse(parts.uri.path());
    let Asked { attributes, resource_version, dry_run } = asked::read(&parts.method, &parts.uri, &route);
    let identity = identify(&shared, certificate.as_deref(), &parts.headers, started);
    if shared.config.debug_endpoints && attributes.path.starts_with(debug::PREFIX) {
        // Debug endpoints are neither logged nor subject to faults, since they inspect both.
        let reply = match identity.and_then(|user| shared.rulebook.check(&shared, &user, &attributes)) {
            Ok(()) => debug::answer(&shared, &parts, body).await,
            Err(error) => reply::refusal(&error),
        };
        return reply.map(outgoing::untouched);
    }
    let user = identity.as_ref().map_or_else(|_| String::new(), |user| user.name.clone());
    let headers = &parts.headers;
    let user_agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let content_length: u64 = length.unwrap_or_default();
    let log = |status: Option<u16>, carried_out: Option<&Reply>| {
        let succeeded = carried_out.is_some_and(|reply| reply.status().is_success());
        let extensions = carried_out.map(Reply::extensions);
        let propagation = extensions.and_then(|it| it.get::<Propagation>().copied());
        let written = extensions.and_then(|it| it.get::<WrittenName>());
        shared.requests.record(|| LoggedRequest {
            started,
            verb: attributes.verb.clone(),
            group: attributes.group.clone(),
            resource: attributes.resource.clone(),
            subresource: attributes.subresource.clone(),
            namespace: attributes.namespace.clone(),
            name: attributes.name.clone(),
            object_name: written.map(|it| it.0.to_string()).unwrap_or_default(),
            path: parts.uri.to_string(),
            user: user.clone(),
            user_agent: user_agent.to_owned(),
            content_length,
            status,
            applied: succeeded && !dry_run && WRITES.contains(&attributes.verb.as_str()),
            resource_version,
            dry_run,
            propagation_policy: propagation.map(Propagation::as_str).unwrap_or_default().to_owned(),
        });
    };
    let caller = Caller {
        verb: &attributes.verb,
        resource: &attributes.resource,
        subresource: &attributes.subresource,
        namespace: &attributes.namespace,
        name: &attributes.name,
        user: &user,
        user_agent,
    };

    let decision = shared.faults.decide(&caller);
    if !decision.delay.is_zero() {
        tokio::time::sleep(decision.delay).await;
    }
    // Pinned here: awaiting the future by value in several arms would add its size to this future once per arm.
    let carry_out = pin!(carry_out(&shared, &route, &attributes, &identity, &parts, body));
    let mut carried_out = None;
    let reply = match decision.answer {
        Answer::Honest => carry_out.await,
        Answer::Refuse { code, retry_after } => refuse(attributes.verb == "watch", code, retry_after, headers),
        Answer::ApplyThenTimeout => {
            carried_out = Some(carry_out.await);
            reply::refusal_for(&StatusError::timed_out(), headers)
        }
        Answer::ApplyThenReset => {
            log(None, Some(&carry_out.await));
            return kill.reset_and_never_answer().await;
        }
        Answer::Reset => {
            log(None, None);
            return kill.reset_and_never_answer().await;
        }
    };
    let status = reply.status();
    log(Some(status.as_u16()), carried_out.as_ref().or(Some(&reply)));
    let watch = (attributes.verb == "watch" && status.is_success()).then(|| shared.faults.open_watch(&caller));
    let in_protobuf = reply.headers().get(CONTENT_TYPE).is_some_and(|it| it == protobuf::STREAM_TYPE);
    reply.map(|body| match (decision.stream, watch) {
        (None, None) => outgoing::untouched(body),
        (stream, watch) => outgoing::shaped(body, stream, watch, kill, in_protobuf),
    })
}

/// Authenticates a request by client certificate or bearer token.
fn identify(
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
async fn carry_out(
    shared: &Arc<Shared>,
    route: &Route,
    attributes: &Attributes,
    identity: &Result<User, StatusError>,
    parts: &Parts,
    body: RequestBody,
) -> Reply {
    let reply = match identity {
        Ok(user) => carry_out_for(shared, route, attributes, user, parts, body).await,
        Err(error) => return reply::refusal_for(error, &parts.headers),
    };
    reply.unwrap_or_else(|error| reply::refusal_for(&error, &parts.headers))
}

async fn carry_out_for(
    shared: &Arc<Shared>,
    route: &Route,
    attributes: &Attributes,
    user: &User,
    parts: &Parts,
    body: RequestBody,
) -> Result<Reply, StatusError> {
    shared.rulebook.check(shared, user, attributes)?;
    if let Route::Resource(path) = route
        && let Some(question) = Question::of(path)
    {
        let bytes = body::collect(body).await?;
        return question.answer(shared, path, user, (&parts.method, &parts.headers, &bytes));
    }
    Ok(request::respond(shared, route, parts, body).await)
}

fn refuse(is_watch: bool, code: u16, retry_after: Option<u32>, headers: &HeaderMap) -> Reply {
    let error = StatusError::by_fault(code, retry_after);
    if is_watch && code == 410 {
        let in_protobuf = accept::prefers_protobuf(headers);
        let reply = reply::json(http::StatusCode::OK, watch::error_event(&error, in_protobuf));
        return if in_protobuf { reply::in_protobuf(reply, true) } else { reply };
    }
    let mut reply = reply::refusal_for(&error, headers);
    if let Some(seconds) = retry_after {
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    reply
}
