//! Requests about the Lease, sent.

use k8s_openapi::api::coordination::v1::Lease;
use kube_controller_client::{Client, Error, Written};

use crate::{Answer, LeaseName, Request};

/// Sends one request and says what came of it.
pub(crate) async fn send(client: &Client, name: &LeaseName, request: Request) -> Answer {
    let result = match request {
        Request::Get => client.get::<Lease>(&name.namespace, &name.name).await.map(Answer::Found),
        Request::Create(lease) => client.create(&lease).await.map(written),
        Request::Update(lease) => client.update(&lease).await.map(written),
    };
    result.unwrap_or_else(|error| {
        let answer = answer(&error);
        tracing::debug!(call = %error.call(), err = %error, ?answer, "leader election: request failed");
        answer
    })
}

fn written(Written { uid, resource_version, .. }: Written) -> Answer {
    Answer::Written { uid, resource_version }
}

/// A server that says "internal error" or "timeout" may have written before it said so.
fn answer(error: &Error) -> Answer {
    match error.status() {
        Some(_) if error.is_not_found() => Answer::Missing,
        Some(status) if status.code < 500 => Answer::Refused,
        _ => Answer::Unknown,
    }
}
