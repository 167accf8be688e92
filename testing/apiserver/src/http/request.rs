//! Dispatches resource requests to the cluster.

use std::sync::Arc;

use http::header::USER_AGENT;
use http::request::Parts;
use http::{Method, StatusCode};

use super::body::RequestBody;
use super::form::ResponseForm;
use super::lag::Lag;
use super::path::{ResourcePath, Route};
use super::payload::{Expected, Payload};
use super::query::Query;
use super::reply::{self, Reply};
use super::{body, containers, discovery, list, watch};
use crate::cluster::{Deleted, Stored, WriteTarget};
use crate::faults::Omission;
use crate::kinds::{Kind, Part};
use crate::requests::Unlogged;
use crate::shared::Shared;
use crate::status::{self, StatusError};

/// Answers a request. `refused_create` is the error of an update or an apply that would create the object.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    route: &Route,
    parts: &Parts,
    body: RequestBody,
    omission: Option<&Omission>,
    refused_create: Option<StatusError>,
) -> Result<Reply, StatusError> {
    let resource = match route {
        Route::Resource(resource) => resource,
        Route::Other(segments) => return discovery::handle(shared, segments, parts),
    };
    let mut query = Query::parse(parts.uri.query())?;
    query.set_agent(parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default());
    query.refused_create = refused_create;
    // The kind is cloned, so that the lock is not held while the body is received.
    let target = match Target::find(shared, resource)? {
        Found::Target(target) => target,
        Found::Containers(kind, subresource) => return containers::answer(shared, &kind, resource, &subresource),
    };
    let deprecation: &[String] = match target.kind.warning {
        "" => &[],
        warning => &[warning.to_owned()],
    };
    let form = ResponseForm::new(&parts.headers, target.kind.of_part(target.part), query.include_object, shared);
    let reply = if parts.method == Method::GET {
        target.read(shared, &query, form, parts.extensions.get(), omission)
    } else {
        let bytes = body::collect(body).await?;
        target.write(shared, &parts.method, Payload::new(&parts.headers, &bytes), &query, form)
    };
    let reply = reply::with_warnings(reply.map_err(|error| error.warned(deprecation))?, deprecation);
    let is_watch = parts.method == Method::GET && query.watch && target.name.is_none();
    Ok(if form.is_protobuf() { reply::in_protobuf(reply, is_watch) } else { reply })
}

/// Kind, object and subresource addressed by a request.
struct Target {
    kind: Arc<Kind>,
    /// `None` for cluster-scoped kinds and for requests across all namespaces.
    namespace: Option<String>,
    name: Option<String>,
    part: Part,
}

/// What a path addresses.
enum Found {
    Target(Target),
    /// A subresource that needs a kubelet.
    Containers(Arc<Kind>, String),
}

impl Target {
    fn find(shared: &Shared, path: &ResourcePath) -> Result<Found, StatusError> {
        let ResourcePath { group, version, namespace, plural, name, subresource } = path;
        let kind = shared
            .read(|cluster| cluster.kinds().find(group, version, plural).cloned())
            .ok_or_else(StatusError::no_such_path)?;
        let part = match subresource.as_deref() {
            None => Part::Main,
            Some("status") if kind.has_status => Part::Status,
            Some("scale") if kind.has_scale => Part::Scale,
            Some(subresource) if kind.needs_containers(subresource) => {
                return Ok(Found::Containers(kind, subresource.to_owned()));
            }
            // As upstream's `crdHandler`.
            Some(_) if kind.is_custom() => {
                return Err(StatusError::not_found(&kind, name.as_deref().unwrap_or_default()));
            }
            Some(_) => return Err(StatusError::no_such_path()),
        };
        // A named object of a namespaced kind requires a namespace; cluster-scoped kinds must not have one.
        if kind.namespaced && namespace.is_none() && name.is_some() || !kind.namespaced && namespace.is_some() {
            return Err(StatusError::no_such_path());
        }
        Ok(Found::Target(Self { kind, namespace: namespace.clone(), name: name.clone(), part }))
    }

    fn read(
        &self,
        shared: &Arc<Shared>,
        query: &Query,
        form: ResponseForm,
        lag: Option<&Lag>,
        omission: Option<&Omission>,
    ) -> Result<Reply, StatusError> {
        let kind = &self.kind;
        if let Some(name) = &self.name {
            let namespace = self.namespace.as_deref().unwrap_or_default();
            let object = shared.read(|cluster| cluster.get(kind, namespace, name))?;
            return Ok(self.object_reply(StatusCode::OK, &object, form));
        }
        let scope = self.scope(query)?;
        if query.watch {
            watch::open(shared, scope, query, form, lag, omission)
        } else {
            list::handle(shared, &scope, query, form, lag, omission)
        }
    }

    /// Returns the objects that a request without a name selects. Fails with 400 if a field is not selectable.
    fn scope(&self, query: &Query) -> Result<list::Scope, StatusError> {
        let selector = query.selector.clone();
        selector.fields.check(&self.kind)?;
        Ok(list::Scope { kind: Arc::clone(&self.kind), namespace: self.namespace.clone(), selector })
    }

    fn write(
        &self,
        shared: &Shared,
        method: &Method,
        payload: Payload<'_>,
        query: &Query,
        form: ResponseForm,
    ) -> Result<Reply, StatusError> {
        let Self { kind, namespace, name, part } = self;
        // `find` requires a namespace only for named objects.
        let namespace = match namespace.as_deref() {
            None if kind.namespaced => return Err(StatusError::method_not_allowed()),
            namespace => namespace.unwrap_or_default(),
        };
        let target = |name| WriteTarget { kind, namespace, name, part: *part };
        let body_kind = kind.of_part(*part);
        let expected = Expected { api_version: &body_kind.api_version(), kind: &body_kind.name };
        let (written, unlogged) = match (method, name) {
            (&Method::POST, None) => {
                let object = payload.object(expected)?;
                shared.write_unlogged(query.dry_run, |cluster, options| {
                    cluster.create(kind, namespace, object, query.options(options))
                })?
            }
            (&Method::PUT, Some(name)) => {
                let object = payload.object(expected)?;
                shared.write_unlogged(query.dry_run, |cluster, options| {
                    cluster.update(target(name), object, query.options(options))
                })?
            }
            (&Method::PATCH, Some(name)) if payload.is_configuration() => {
                let configuration = payload.configuration()?;
                let applier = query.applier()?;
                shared.write_unlogged(query.dry_run, |cluster, options| {
                    cluster.apply(target(name), configuration, applier, query.options(options))
                })?
            }
            (&Method::PATCH, Some(name)) => {
                let patch = payload.patch(body_kind)?;
                shared.write_unlogged(query.dry_run, |cluster, options| {
                    cluster.patch(target(name), &patch, query.options(options))
                })?
            }
            (&Method::DELETE, _) if *part == Part::Main => return self.delete(shared, namespace, payload, query, form),
            _ => return Err(StatusError::method_not_allowed()),
        };
        let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
        let reply = reply::with_warnings(self.object_reply(status, &written.object, form), &written.warnings);
        Ok(LoggedWrite::new(&written.object.name, query.dry_run, unlogged).of(reply))
    }

    /// Deletes the object, or all selected objects if the request names none.
    fn delete(
        &self,
        shared: &Shared,
        namespace: &str,
        payload: Payload<'_>,
        query: &Query,
        form: ResponseForm,
    ) -> Result<Reply, StatusError> {
        let kind = &self.kind;
        let (options, dry_run) = payload.delete_options(query)?;
        if let Some(name) = &self.name {
            let (Deleted { object, removed }, unlogged) = shared.write_unlogged(dry_run, |cluster, write| {
                cluster.delete(kind, namespace, name, &options, query.options(write))
            })?;
            let reply = if removed && !kind.returns_deleted {
                reply::json(StatusCode::OK, form.status(status::deleted(kind, name, &object.uid)))
            } else {
                self.object_reply(StatusCode::OK, &object, form)
            };
            return Ok(LoggedWrite::new(&object.name, dry_run, unlogged).of(reply));
        }
        let scope = self.scope(query)?;
        let ((deleted, revision), unlogged) = shared.write_unlogged(dry_run, |cluster, write| {
            let mut deleted = Vec::new();
            let write = query.options(write);
            for object in scope.select_at(cluster, cluster.revision())? {
                deleted.push(cluster.delete(kind, &object.namespace, &object.name, &options, write)?.object);
            }
            Ok((deleted, cluster.revision()))
        })?;
        let meta = list::ListMeta { revision, ..list::ListMeta::default() };
        Ok(LoggedWrite::new("", dry_run, unlogged).of(list::of_objects(kind, deleted, &meta, form)))
    }

    fn object_reply(&self, status: StatusCode, object: &Stored, form: ResponseForm) -> Reply {
        let Self { kind, part, .. } = self;
        let json = match part {
            Part::Scale => kind.scale_of(&object.value()).to_string().into(),
            Part::Main | Part::Status => object.json.clone(),
        };
        reply::json(status, form.object(kind.of_part(*part), &json, true))
    }
}

/// What the request log records of a write that the server accepted. Readers of the log wait until it is dropped.
#[derive(Debug, Clone)]
pub(super) struct LoggedWrite {
    /// Name of the object, which the path of a create does not contain; empty for several objects.
    pub(super) object_name: Box<str>,
    /// Whether the query or the body asks for a dry run.
    pub(super) dry_run: bool,
    _unlogged: Unlogged,
}

impl LoggedWrite {
    pub(super) fn new(object_name: &str, dry_run: bool, unlogged: Unlogged) -> Self {
        Self { object_name: object_name.into(), dry_run, _unlogged: unlogged }
    }

    /// Returns the response to the write, with this as an extension.
    pub(super) fn of(self, mut reply: Reply) -> Reply {
        reply.extensions_mut().insert(self);
        reply
    }
}
