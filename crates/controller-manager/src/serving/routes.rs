//! Routes requests: authenticates and authorizes them, then answers by path.

use http::header::ACCEPT;
use http::{Method, Request, StatusCode};
use prometheus::Registry;

use super::authentication::Authentication;
use super::authorization::Authorization;
use super::exposition;
use super::health::{Health, Probe};
use super::pages::Pages;
use super::response::{self, Response};
use super::shadow_page::ShadowPage;
use super::user::User;

/// Path of the metrics of health checks.
const SLIS: &str = "/metrics/slis";

/// Everything needed to answer a request.
pub(super) struct Routes {
    pub(super) authentication: Authentication,
    pub(super) authorization: Authorization,
    pub(super) health: Health,
    pub(super) registry: Registry,
    pub(super) pages: Pages,
    pub(super) shadow: ShadowPage,
}

impl Routes {
    /// Answers a request. `certificate` is the user of the connection's verified client certificate; without one, the
    /// headers decide. Request bodies are not read.
    pub(super) async fn handle<B>(&self, certificate: Option<&User>, request: &Request<B>) -> Response {
        let path = request.uri().path();
        let Some(user) = self.authentication.user(certificate, request.headers()).await else {
            return response::status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized");
        };
        let verb = request.method().as_str().to_ascii_lowercase();
        match self.authorization.allows(&user, &verb, path).await {
            Ok(true) => {}
            Ok(false) => {
                let message = format!("forbidden: User {:?} cannot {verb} path {path:?}", user.name);
                return response::status(StatusCode::FORBIDDEN, "Forbidden", &message);
            }
            Err(reason) => {
                tracing::warn!(user = user.name, path, err = reason, "Unable to authorize the request");
                let message = format!("Internal Server Error: {path:?}: {reason}");
                return response::status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &message);
            }
        }
        if path == SLIS && request.method() == Method::DELETE {
            self.health.outcomes().reset();
            return response::text(StatusCode::OK, "metrics reset\n");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return response::method_not_allowed();
        }
        self.page(path, request)
    }

    fn page<B>(&self, path: &str, request: &Request<B>) -> Response {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match path {
            "/metrics" => return exposition::respond(&self.registry.gather(), accept),
            SLIS => {
                return match self.health.outcomes().families() {
                    Ok(families) => exposition::respond(&families, accept),
                    Err(error) => response::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
                };
            }
            "/configz" => return self.pages.configz(),
            "/flagz" => return self.pages.flagz(accept),
            "/shadow" => return self.shadow.respond(accept, request.uri().query().unwrap_or_default()),
            "/statusz" => return self.pages.statusz(accept),
            _ => {}
        }
        for probe in [Probe::Healthz, Probe::Livez, Probe::Readyz] {
            let Some(rest) = path.strip_prefix('/').and_then(|path| path.strip_prefix(probe.name())) else { continue };
            if rest.is_empty() {
                let (verbose, excluded) = parameters(request.uri().query().unwrap_or_default());
                let (code, text) = self.health.all(probe, verbose, excluded);
                return response::text(code, text);
            }
            if let Some((code, text)) = rest.strip_prefix('/').and_then(|name| self.health.one(probe, name)) {
                return response::text(code, text);
            }
        }
        response::not_found()
    }
}

/// Parses the query of a probe: whether `verbose` is set, and the names of `exclude`.
fn parameters(query: &str) -> (bool, Vec<String>) {
    let (mut verbose, mut excluded) = (false, Vec::new());
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "verbose" => verbose = true,
            "exclude" => excluded.extend(value.split(',').filter(|it| !it.is_empty()).map(str::to_owned)),
            _ => {}
        }
    }
    (verbose, excluded)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", false, &[])]
    #[case("verbose", true, &[])]
    #[case("verbose=&exclude=a&exclude=b%2Cc", true, &["a", "b", "c"])]
    fn probe_query_parameters_are_parsed(#[case] query: &str, #[case] verbose: bool, #[case] excluded: &[&str]) {
        assert_eq!(parameters(query), (verbose, excluded.iter().map(|name| (*name).to_owned()).collect()));
    }
}
