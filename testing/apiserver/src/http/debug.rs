//! HTTP endpoints under `/debug/` by which other processes control faults, the request log, open watches and restarts.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::body::{self, RequestBody};
use super::reply::{self, Reply};
use crate::faults::{Fault, On};
use crate::shared::{History, Shared};
use crate::status::StatusError;

pub(super) const PREFIX: &str = "/debug/";

/// Handles a request whose path starts with [`PREFIX`].
pub(super) async fn handle(shared: &Arc<Shared>, parts: &Parts, body: RequestBody) -> Reply {
    route(shared, parts, body).await.unwrap_or_else(|error| reply::json_error(&error))
}

async fn route(shared: &Arc<Shared>, parts: &Parts, body: RequestBody) -> Result<Reply, StatusError> {
    let parameters: Vec<(String, String)> =
        form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let document = match (parts.uri.path(), &parts.method) {
        ("/debug/faults", &Method::GET) => json!(shared.faults.table().states()),
        ("/debug/faults", &Method::POST) => {
            let bytes = body::collect(body).await?;
            let fault: Fault = serde_json::from_slice(&bytes)
                .map_err(|error| StatusError::bad_request(format!("the fault cannot be decoded: {error}")))?;
            check_served(shared, &fault.on)?;
            json!({"id": shared.faults.table().inject(fault)})
        }
        ("/debug/faults", &Method::DELETE) => match parameters.iter().find(|(name, _)| name == "id") {
            None => {
                shared.faults.table().clear();
                json!({})
            }
            Some((_, id)) => {
                let removed = id.parse().ok().and_then(|id| shared.faults.table().remove(id));
                json!(removed.ok_or_else(|| StatusError::bad_request(format!("there is no fault {id:?}")))?)
            }
        },
        ("/debug/requests", &Method::GET) => {
            let on = filter(&parameters)?;
            let requests = shared.requests.matching(&on);
            if requests.is_empty() {
                check_served(shared, &on)?;
            }
            json!(requests)
        }
        ("/debug/requests", &Method::DELETE) => {
            shared.requests.take();
            json!({})
        }
        ("/debug/watches", &Method::DELETE) => {
            let on = filter(&parameters)?;
            let cut = shared.faults.cut_watches(&on);
            if cut == 0 {
                check_served(shared, &on)?;
            }
            json!({"cut": cut})
        }
        ("/debug/restart", &Method::POST) => {
            let history = match parameters.as_slice() {
                [] => History::Kept,
                [(name, value)] if name == "history" && value == "kept" => History::Kept,
                [(name, value)] if name == "history" && value == "lost" => History::Lost,
                _ => return Err(StatusError::bad_request("a restart takes history=kept or history=lost")),
            };
            shared.restart(history);
            json!({})
        }
        ("/debug/faults" | "/debug/requests" | "/debug/watches" | "/debug/restart", _) => {
            return Err(StatusError::method_not_allowed());
        }
        _ => return Err(StatusError::no_such_path()),
    };
    Ok(reply::json(StatusCode::OK, document.to_string()))
}

/// Returns 400 if `on` selects a group or resource that the server does not serve.
fn check_served(shared: &Shared, on: &On) -> Result<(), StatusError> {
    shared.check_served(on).map_err(|error| StatusError::bad_request(error.to_string()))
}

/// Returns the selector with these conditions, named as in its JSON but for `verb`.
fn filter(parameters: &[(String, String)]) -> Result<On, StatusError> {
    let (verbs, others): (Vec<_>, Vec<_>) = parameters.iter().partition(|(name, _)| name == "verb");
    let mut on: Map<String, Value> = others.into_iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    on.insert("verbs".to_owned(), verbs.into_iter().map(|(_, verb)| json!(verb)).collect());
    serde_json::from_value(Value::Object(on))
        .map_err(|error| StatusError::bad_request(format!("requests cannot be filtered: {error}")))
}
