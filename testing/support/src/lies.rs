//! Lists that are wrong although their status is 200.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use http::{Request, Uri};
use tower::Service;

/// What is wrong with the lists of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lie {
    /// The list has only the objects with these labels, such as `visible=true`.
    Only(&'static str),
    /// The list has the state at this resource version. Streaming lists are rejected.
    At(String),
}

/// A list that has no object with the label `nothing` is empty.
pub const EMPTY: Lie = Lie::Only("nothing");

/// The current lies, by plural name of the resource. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Lies(Arc<Mutex<BTreeMap<&'static str, Lie>>>);

impl Lies {
    /// Makes the lists of a resource wrong, from the next request on.
    pub fn begin(&self, plural: &'static str, lie: Lie) {
        self.0.lock().expect("not poisoned").insert(plural, lie);
    }

    /// Makes all lists right again.
    pub fn end(&self) {
        self.0.lock().expect("not poisoned").clear();
    }

    /// Returns a service that passes requests to `service`, an API server, and makes its lists and streaming lists
    /// wrong.
    pub fn service<S>(&self, service: S) -> Lying<S> {
        Lying { service, lies: self.clone() }
    }

    /// Returns the URI whose answer is the wrong list; `None` for a request that is not changed: one for an object, a
    /// watch without initial events, or a list of one object.
    fn changed(&self, uri: &Uri) -> Option<Uri> {
        let (path, query) = (uri.path(), uri.query()?);
        let lies = self.0.lock().expect("not poisoned");
        let lie = lies.get(path.rsplit('/').next()?)?;
        let is_stream = query.contains("sendInitialEvents=true");
        let is_of_one = |pair: &str| pair == "limit=1" || pair.starts_with("fieldSelector=metadata.name");
        if query.split('&').any(is_of_one) || (query.contains("watch=true") && !is_stream) {
            return None;
        }
        let without = |names: &[&str]| {
            let is_kept = |pair: &&str| !names.iter().any(|name| pair.split('=').next() == Some(name));
            query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
        };
        let query = match lie {
            Lie::Only(labels) => format!("{query}&labelSelector={}", labels.replace('=', "%3D")),
            // Servers reject a streaming list without a match.
            Lie::At(_) if is_stream => without(&["resourceVersionMatch"]),
            Lie::At(version) => {
                let rest = without(&["resourceVersion", "resourceVersionMatch", "limit"]);
                format!("{rest}&resourceVersion={version}&resourceVersionMatch=Exact")
            }
        };
        Some(format!("{}?{query}", uri.to_string().split('?').next()?).parse().expect("a valid URI"))
    }
}

/// Service of [`Lies::service`].
#[derive(Debug, Clone)]
pub struct Lying<S> {
    service: S,
    lies: Lies,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for Lying<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        if let Some(uri) = self.lies.changed(request.uri()) {
            *request.uri_mut() = uri;
        }
        self.service.call(request)
    }
}
