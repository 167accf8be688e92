//! What is served at which path.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use http::header::ACCEPT;
use http::{Method, Request, StatusCode};
use kube_controller::Health;
use prometheus::Registry;

use crate::exposition;
use crate::response::{self, Response};

/// Path of the metrics of health checks.
const SLIS: &str = "/metrics/slis";

/// What a page may depend on.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest<'a> {
    /// Value of the `Accept` header; empty without one, or if it is not ASCII.
    pub accept: &'a str,
    /// Query of the URL, without the question mark; empty without one.
    pub query: &'a str,
}

type Page = Arc<dyn Fn(PageRequest<'_>) -> Response + Send + Sync>;

/// What a server serves, by path: health checks, metrics and pages. Other paths are answered with 404, and other methods than
/// GET and HEAD with 405.
pub struct Routes {
    health: Health,
    serves_slis: bool,
    registry: Option<Registry>,
    pages: BTreeMap<&'static str, Page>,
    /// Pages that may block.
    slow_pages: BTreeMap<&'static str, Page>,
}

/// What a request is answered with.
pub(crate) enum Route<'a> {
    /// A short response, which no limit delays: that of a probe, or an error.
    Short(Response),
    /// A page that is yet to be rendered.
    Page(Box<dyn FnOnce() -> Response + Send + 'a>),
    /// A page that may block while it is rendered.
    SlowPage(Box<dyn FnOnce() -> Response + Send>),
}

impl Routes {
    /// Returns the routes of the health checks: `/healthz`, `/livez`, `/readyz`, and `/PROBE/CHECK` for each check.
    pub fn new(health: Health) -> Routes {
        Routes { health, serves_slis: false, registry: None, pages: BTreeMap::new(), slow_pages: BTreeMap::new() }
    }

    /// Adds `/metrics`: the metrics of a registry in Prometheus' text format.
    #[must_use]
    pub fn metrics(self, registry: Registry) -> Routes {
        Routes { registry: Some(registry), ..self }
    }

    /// Adds `/metrics/slis`: the [metrics of the health checks](Health::metrics). A DELETE resets them, as in Kubernetes
    /// components.
    #[must_use]
    pub fn health_metrics(self) -> Routes {
        Routes { serves_slis: true, ..self }
    }

    /// Adds a page, or replaces the one at `path`. `respond` is called for each request and must not block.
    #[must_use]
    pub fn page(
        mut self,
        path: &'static str,
        respond: impl Fn(PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Routes {
        self.pages.insert(path, Arc::new(respond));
        self
    }

    /// Adds a page whose `respond` may block, for instance to read files: it is called on a thread for blocking tasks, of which
    /// a [`ServerThread`](crate::ServerThread) has two. A panic is answered with 500.
    #[must_use]
    pub fn slow_page(
        mut self,
        path: &'static str,
        respond: impl Fn(PageRequest<'_>) -> Response + Send + Sync + 'static,
    ) -> Routes {
        self.slow_pages.insert(path, Arc::new(respond));
        self
    }

    pub(crate) fn route<'a, B>(&'a self, request: &'a Request<B>) -> Route<'a> {
        let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
        let serves_slis = self.serves_slis && path == SLIS;
        if serves_slis && request.method() == Method::DELETE {
            self.health.reset_metrics();
            return Route::Short(response::text(StatusCode::OK, "metrics reset\n"));
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Route::Short(response::method_not_allowed());
        }
        if let Some(checked) = self.health.respond(path, query) {
            let code = if checked.passed { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
            return Route::Short(response::text(code, checked.body));
        }
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match (path, &self.registry, self.pages.get(path)) {
            ("/metrics", Some(registry), _) => Route::Page(Box::new(move || exposition::respond(&registry.gather()))),
            _ if serves_slis => Route::Page(Box::new(move || self.slis())),
            (_, _, Some(page)) => Route::Page(Box::new(move || page(PageRequest { accept, query }))),
            _ => self.slow_pages.get(path).map_or_else(
                || Route::Short(response::not_found()),
                |page| {
                    let (page, accept, query) = (Arc::clone(page), accept.to_owned(), query.to_owned());
                    Route::SlowPage(Box::new(move || page(PageRequest { accept: &accept, query: &query })))
                },
            ),
        }
    }

    fn slis(&self) -> Response {
        match self.health.metrics() {
            Ok(families) => exposition::respond(&families),
            Err(error) => response::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    }
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Routes { health, serves_slis: _, registry: _, pages, slow_pages } = self;
        let pages: Vec<_> = pages.keys().chain(slow_pages.keys()).collect();
        f.debug_struct("Routes").field("health", health).field("pages", &pages).finish_non_exhaustive()
    }
}
