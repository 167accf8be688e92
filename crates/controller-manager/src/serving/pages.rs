//! `/configz`, `/flagz` and `/statusz`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::answer::{self, Answer};

const COMPONENT: &str = "endpoint-controller-manager";
const WARNING: &str = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility \
                       guarantees and is for debugging purposes only.";
const PATHS: [&str; 6] = ["/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"];

/// What is known of the process since it started.
pub(crate) struct Pages {
    flags: BTreeMap<String, String>,
    configuration: Value,
    started: Timestamp,
    start: Instant,
}

impl Pages {
    #[expect(clippy::disallowed_methods, reason = "people are told when the process started")]
    pub(crate) fn new(flags: BTreeMap<String, String>, configuration: Value) -> Self {
        Self { flags, configuration, started: Timestamp::now(), start: Instant::now() }
    }

    /// What the process was told, in the form of a configuration (CM-11).
    pub(super) fn configz(&self) -> Answer {
        answer::json(&self.configuration)
    }

    /// The flags, as text or, where it is asked for in full, JSON (CM-12).
    pub(super) fn flagz(&self, accept: &str) -> Answer {
        Self::negotiated(accept, "Flagz", &json!({ "flags": self.flags_object() }), |text| {
            for (name, value) in &self.flags {
                let _ = writeln!(text, "{name}={value}");
            }
        })
    }

    /// Since when it runs, and what it is (CM-13).
    pub(super) fn statusz(&self, accept: &str) -> Answer {
        let up = self.start.elapsed().as_secs();
        let version = env!("CARGO_PKG_VERSION");
        let fields = json!({
            "startTime": self.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "uptimeSeconds": up,
            "binaryVersion": version,
            "paths": PATHS,
        });
        Self::negotiated(accept, "Statusz", &fields, |text| {
            let (hours, minutes, seconds) = (up / 3_600, up / 60 % 60, up % 60);
            let _ = writeln!(text, "Started: {}", self.started.strftime("%a %b %e %H:%M:%S UTC %Y"));
            let _ = writeln!(text, "Up: {hours} hr {minutes:02} min {seconds:02} sec");
            let _ = writeln!(text, "Binary version: {version}");
            let _ = writeln!(text, "Paths: {}", PATHS.join(" "));
        })
    }

    fn flags_object(&self) -> Value {
        Value::Object(self.flags.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
    }

    fn negotiated(accept: &str, kind: &str, fields: &Value, body: impl FnOnce(&mut String)) -> Answer {
        match wanted(accept, kind) {
            None => answer::status(
                StatusCode::NOT_ACCEPTABLE,
                "NotAcceptable",
                "only the following media types are accepted: text/plain, application/json with g, v and as",
            ),
            Some(Form::Text) => {
                let mut text = format!("\n{COMPONENT} {}\n{WARNING}\n\n", kind.to_ascii_lowercase());
                body(&mut text);
                answer::text(StatusCode::OK, text)
            }
            Some(Form::Json(version)) => {
                let mut document = json!({
                    "kind": kind, "apiVersion": format!("config.k8s.io/{version}"), "metadata": { "name": COMPONENT },
                });
                if let (Some(document), Some(fields)) = (document.as_object_mut(), fields.as_object()) {
                    document.extend(fields.clone());
                }
                answer::json(&document)
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json(&'static str),
}

/// The first form that a client takes and that there is (CM-14).
fn wanted(accept: &str, kind: &str) -> Option<Form> {
    if accept.trim().is_empty() {
        return Some(Form::Text);
    }
    accept.split(',').find_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        match parts.next()? {
            "*/*" | "text/*" | "text/plain" => Some(Form::Text),
            "application/json" => {
                let parameters: Vec<&str> = parts.collect();
                let has =
                    |name: &str, value: &str| parameters.iter().any(|it| it.split_once('=') == Some((name, value)));
                if !has("g", "config.k8s.io") || !has("as", kind) {
                    return None;
                }
                ["v1beta1", "v1alpha1"].into_iter().find(|version| has("v", version)).map(Form::Json)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none("", Some(Form::Text))]
    #[case::wildcard("*/*", Some(Form::Text))]
    #[case::text("text/plain", Some(Form::Text))]
    #[case::json("application/json;g=config.k8s.io;v=v1beta1;as=Flagz", Some(Form::Json("v1beta1")))]
    #[case::older("application/json;as=Flagz;v=v1alpha1;g=config.k8s.io", Some(Form::Json("v1alpha1")))]
    #[case::without_parameters("application/json", None)]
    #[case::without_as("application/json;g=config.k8s.io;v=v1beta1", None)]
    #[case::of_another("application/json;g=config.k8s.io;v=v1beta1;as=Statusz", None)]
    #[case::falls_back("application/json, */*", Some(Form::Text))]
    #[case::unknown("image/png", None)]
    fn accept(#[case] header: &str, #[case] expect: Option<Form>) {
        assert_eq!(wanted(header, "Flagz"), expect);
    }
}
