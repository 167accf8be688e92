//! The page `/shadow`.

use std::sync::{Arc, OnceLock};

use kube_controller_serving::Routes;
use kube_controller_serving::response::{self, Response};

/// Returns the page, as JSON if the argument is `true`, otherwise as text.
type Source = Box<dyn Fn(bool) -> Response + Send + Sync>;

/// The page, which exists once its source is set. Clones share the source.
#[derive(Clone, Default)]
pub(crate) struct ShadowPage(Arc<OnceLock<Source>>);

impl ShadowPage {
    /// Sets the source of the page. Later calls have no effect.
    #[cfg_attr(
        not(any(feature = "shadow", test)),
        expect(dead_code, reason = "without the comparison there is no page")
    )]
    pub(crate) fn set(&self, source: impl Fn(bool) -> Response + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(source));
    }

    pub(crate) fn add(self, routes: Routes) -> Routes {
        routes.page("/shadow", move |request| self.respond(request.accept, request.query))
    }

    /// Returns the page as JSON if the query has `output=json` or the `Accept` header prefers JSON, otherwise as text; 404
    /// if nothing is compared.
    fn respond(&self, accept: &str, query: &str) -> Response {
        let Some(source) = self.0.get() else { return response::not_found() };
        source(wants_json(accept, query))
    }
}

fn wants_json(accept: &str, query: &str) -> bool {
    let output = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "output");
    match output {
        Some((_, format)) => format == "json",
        None => accept.split(',').next().is_some_and(|first| first.trim().starts_with("application/json")),
    }
}

#[cfg(test)]
mod tests {
    use kube_controller_serving::response::StatusCode;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "", false)]
    #[case("*/*", "", false)]
    #[case("application/json", "", true)]
    #[case("application/json;q=0.9, text/plain", "", true)]
    #[case("text/plain, application/json", "", false)]
    #[case("", "output=json", true)]
    #[case("application/json", "output=text", false)]
    fn format_of_the_page(#[case] accept: &str, #[case] query: &str, #[case] json: bool) {
        assert_eq!(wants_json(accept, query), json);
    }

    #[test]
    fn page_without_a_comparison_does_not_exist() {
        let page = ShadowPage::default();
        assert_eq!(page.respond("", "").status(), StatusCode::NOT_FOUND);
        page.set(|_| response::text(StatusCode::OK, "0 mismatches\n"));
        assert_eq!(page.respond("", "").status(), StatusCode::OK);
    }
}
