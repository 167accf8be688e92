//! Debug pages of Kubernetes components, such as `/flagz` and `/statusz`.

use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::negotiation::{DEPRECATED, Encoding, Form, GROUP, MEDIA_TYPES, negotiate};
use crate::response::{self, Response};

const WARNING: &str = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility \
                       guarantees and is for debugging purposes only.";

/// Contents of a debug page in the formats of Kubernetes components (`flagz` and `statusz` of k8s.io/apiserver).
#[derive(Clone, Debug)]
pub struct DebugPage<'a> {
    /// Name of the component.
    pub component: &'a str,
    /// Kind of the object, such as `Flagz`. The page is named after it, in lower case.
    pub kind: &'a str,
    /// Fields of the object besides its kind, version and metadata.
    pub fields: Map<String, Value>,
    /// The same as text.
    pub text: String,
}

impl DebugPage<'_> {
    /// Returns the page as text, or as an object of `config.k8s.io` in JSON or YAML if the `Accept` header has its group,
    /// version and kind, such as `application/json;g=config.k8s.io;v=v1beta1;as=Flagz`; 406 if no format is acceptable.
    pub fn respond(self, accept: &str) -> Response {
        let DebugPage { component, kind, fields, text } = self;
        let page = kind.to_ascii_lowercase();
        match negotiate(accept, kind) {
            None => {
                let message = format!("only the following media types are accepted: {}", MEDIA_TYPES.join(", "));
                response::status(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", &message)
            }
            Some(Form::Text) => response::text(StatusCode::OK, format!("\n{component} {page}\n{WARNING}\n\n{text}")),
            Some(Form::Structured { encoding, version }) => {
                let mut document = json!({
                    "kind": kind, "apiVersion": format!("{GROUP}/{version}"), "metadata": { "name": component },
                });
                if let Some(document) = document.as_object_mut() {
                    document.extend(fields);
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
