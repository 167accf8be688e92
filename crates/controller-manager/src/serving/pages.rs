//! The debug pages `/configz`, `/flagz` and `/statusz`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::negotiation::{DEPRECATED, Encoding, Form, GROUP, MEDIA_TYPES, negotiate};
use super::response::{self, Response};

const COMPONENT: &str = "endpoint-controller-manager";
const WARNING: &str = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility \
                       guarantees and is for debugging purposes only.";
const PATHS: [&str; 6] = ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"];

/// Contents of the pages, and the start time of the process.
pub(crate) struct Pages {
    flags: BTreeMap<String, String>,
    configuration: Value,
    started: Timestamp,
    start: Instant,
}

impl Pages {
    pub(crate) fn new(flags: BTreeMap<String, String>, configuration: Value) -> Self {
        Self { flags, configuration, started: kube_ambient::now(), start: Instant::now() }
    }

    /// Returns the configuration as JSON (CM-11).
    pub(super) fn configz(&self) -> Response {
        response::json(&self.configuration)
    }

    /// Returns the flags as text; as JSON or YAML if the media type has group, version and kind (CM-12).
    pub(super) fn flagz(&self, accept: &str) -> Response {
        Self::negotiated(accept, "Flagz", &json!({ "flags": self.flags_object() }), |text| {
            for (name, value) in &self.flags {
                let _ = writeln!(text, "{name}={value}");
            }
        })
    }

    /// Returns start time, version and paths in the same representations (CM-13).
    pub(super) fn statusz(&self, accept: &str) -> Response {
        let uptime = self.start.elapsed().as_secs();
        let version = env!("CARGO_PKG_VERSION");
        let fields = json!({
            "startTime": self.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "uptimeSeconds": uptime,
            "binaryVersion": version,
            "paths": PATHS,
        });
        Self::negotiated(accept, "Statusz", &fields, |text| {
            let (hours, minutes, seconds) = (uptime / 3_600, uptime / 60 % 60, uptime % 60);
            let _ = writeln!(text, "Started: {}", self.started.strftime("%a %b %e %H:%M:%S UTC %Y"));
            let _ = writeln!(text, "Up: {hours} hr {minutes:02} min {seconds:02} sec");
            let _ = writeln!(text, "Binary version: {version}");
            let _ = writeln!(text, "Paths: {}", PATHS.join(" "));
        })
    }

    fn flags_object(&self) -> Value {
        Value::Object(self.flags.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
    }

    fn negotiated(accept: &str, kind: &str, fields: &Value, body: impl FnOnce(&mut String)) -> Response {
        let page = kind.to_ascii_lowercase();
        match negotiate(accept, kind) {
            None => {
                let message = format!("only the following media types are accepted: {}", MEDIA_TYPES.join(", "));
                response::status(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", &message)
            }
            Some(Form::Text) => {
                let mut text = format!("\n{COMPONENT} {page}\n{WARNING}\n\n");
                body(&mut text);
                response::text(StatusCode::OK, text)
            }
            Some(Form::Structured { encoding, version }) => {
                let mut document = json!({
                    "kind": kind, "apiVersion": format!("{GROUP}/{version}"), "metadata": { "name": COMPONENT },
                });
                if let (Some(document), Some(fields)) = (document.as_object_mut(), fields.as_object()) {
                    document.extend(fields.clone());
                }
                let mut response = match encoding {
                    Encoding::Json => response::json(&document),
                    Encoding::Yaml => response::yaml(&document),
                };
                if version == DEPRECATED {
                    let warning = deprecation(&page);
                    response.headers_mut().extend(warning.map(|it| (header::WARNING, it)));
                }
                response
            }
        }
    }
}

/// Returns upstream's value of the `Warning` header for a deprecated version of a page.
fn deprecation(page: &str) -> Option<HeaderValue> {
    let text = format!(r#"299 - "This version of the {page} endpoint is deprecated. Please use a newer version.""#);
    HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests;
