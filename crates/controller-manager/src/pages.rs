//! The pages `/flagz` and `/statusz`, and those of the history and of shadow mode.

mod history;
mod shadow;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use kube_controller_serving::response::Response;
use kube_controller_serving::{DebugPage, Routes};
use serde_json::{Map, json};
use tokio::time::Instant;

pub(crate) use self::history::HistoryPage;
pub(crate) use self::shadow::ShadowPage;

const COMPONENT: &str = "endpoint-controller-manager";
const PATHS: [&str; 6] = ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"];

/// Contents of the pages, and the start time of the process.
pub(crate) struct Pages {
    flags: BTreeMap<String, String>,
    started: Timestamp,
    start: Instant,
}

impl Pages {
    pub(crate) fn new(flags: BTreeMap<String, String>) -> Self {
        Self { flags, started: kube_ambient::now(), start: Instant::now() }
    }

    pub(crate) fn add(self, routes: Routes) -> Routes {
        let pages = Arc::new(self);
        let flagz = Arc::clone(&pages);
        let routes = routes.page("/flagz", move |request| flagz.flagz(request.accept));
        routes.page("/statusz", move |request| pages.statusz(request.accept))
    }

    /// Returns the flags as text; as JSON or YAML if the media type has group, version and kind (CM-12).
    fn flagz(&self, accept: &str) -> Response {
        let flags: Map<_, _> = self.flags.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let mut text = String::new();
        for (name, value) in &self.flags {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name}={value}");
        }
        let fields = Map::from_iter([("flags".to_owned(), flags.into())]);
        DebugPage { component: COMPONENT, kind: "Flagz", fields, text }.respond(accept)
    }

    /// Returns start time, version and paths in the same representations (CM-13).
    fn statusz(&self, accept: &str) -> Response {
        let uptime = self.start.elapsed().as_secs();
        let version = env!("CARGO_PKG_VERSION");
        let fields = [
            ("startTime", json!(self.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())),
            ("uptimeSeconds", json!(uptime)),
            ("binaryVersion", json!(version)),
            ("paths", json!(PATHS)),
        ];
        let (hours, minutes, seconds) = (uptime / 3_600, uptime / 60 % 60, uptime % 60);
        let mut text = format!("Started: {}\n", self.started.strftime("%a %b %e %H:%M:%S UTC %Y"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "Up: {hours} hr {minutes:02} min {seconds:02} sec");
        let _ = writeln!(text, "Binary version: {version}");
        let _ = writeln!(text, "Paths: {}", PATHS.join(" "));
        let fields = fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        DebugPage { component: COMPONENT, kind: "Statusz", fields, text }.respond(accept)
    }
}

#[cfg(test)]
mod tests;
