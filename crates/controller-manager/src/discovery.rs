//! Whether the API server has EndpointSlices at all.

use std::time::Duration;

use kube_controller_client::{Client, Error};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The group and version the slice controllers write.
const PATH: &str = "/apis/discovery.k8s.io/v1";
/// The pause after an API server that does not answer, and the longest it grows to.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(2));

/// Asks until the API server answers. None when it is time to stop.
pub(crate) async fn serves_endpoint_slices(client: &Client, stop: &CancellationToken) -> Option<bool> {
    let (mut pause, longest) = PAUSE;
    loop {
        let answer = stop.run_until_cancelled(client.get_json(PATH)).await?;
        if let Some(served) = served(&answer) {
            return Some(served);
        }
        if let Err(err) = answer {
            tracing::warn!(%err, "API server cannot be asked what it serves, waiting");
        }
        stop.run_until_cancelled(tokio::time::sleep(pause)).await?;
        pause = (pause * 2).min(longest);
    }
}

/// What an answer says; none when it says nothing.
fn served(answer: &Result<Value, Error>) -> Option<bool> {
    match answer {
        Ok(list) => {
            let mut resources = list["resources"].as_array()?.iter();
            Some(resources.any(|it| it["name"] == "endpointslices"))
        }
        Err(error) if error.is_not_found() => Some(false),
        // Who may not ask may still be allowed to list and to write; if not, that will be said.
        Err(error) if error.is_forbidden() => Some(true),
        Err(_) => None,
    }
}
