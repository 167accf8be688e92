//! Sends the requests of an election.

use display_full_error::DisplayFullErrorExt as _;
use k8s_openapi::{api::coordination::v1::Lease, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, Error};

use crate::{LeaseName, Request, RequestOutcome};

/// Sends one request and returns its result. Failures are logged with the messages of client-go.
pub(crate) async fn send(client: &Client, name: &LeaseName, request: Request) -> RequestOutcome {
    let failure_message = match &request {
        Request::Get => "Error retrieving lease lock",
        Request::Create(_) => "Error initially creating lease lock",
        Request::Update(_) => "Failed to update lease",
    };
    let result = match request {
        Request::Get => client.get::<Lease>(&name.namespace, &name.name).await.map(RequestOutcome::Found),
        Request::Create(lease) => client.create(&lease).await.map(written_outcome),
        Request::Update(lease) => client.update(&lease).await.map(written_outcome),
    };
    result.unwrap_or_else(|error| {
        if is_routine(&error) {
            tracing::debug!(lease = %name, err = %error.display_full(), "{failure_message}");
        } else {
            tracing::warn!(lease = %name, err = %error.display_full(), "{failure_message}");
        }
        classify(&error)
    })
}

fn written_outcome(lease: Lease) -> RequestOutcome {
    let ObjectMeta { uid, resource_version, .. } = lease.metadata;
    RequestOutcome::Written { uid: uid.unwrap_or_default(), resource_version: resource_version.unwrap_or_default() }
}

/// Whether an error is part of normal operation: no Lease yet, or a lost race with another candidate.
fn is_routine(error: &Error) -> bool {
    error.is_not_found() || error.is_already_exists() || error.is_conflict()
}

/// Classifies an error. A write that failed with a 5xx (internal error, timeout) may have been applied.
fn classify(error: &Error) -> RequestOutcome {
    match error.status() {
        Some(_) if error.is_not_found() => RequestOutcome::NotFound,
        Some(status) if status.code < 500 => RequestOutcome::Rejected,
        _ => RequestOutcome::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{ClientOptions, Config};
    use kube_dev_apiserver::{Fault, Server};

    use super::*;

    /// Sends a request that fails. Returns whether the error is routine.
    async fn failure_is_routine(client: &Client, request: impl AsyncFn(&Client) -> Result<(), Error>) -> bool {
        is_routine(&request(client).await.unwrap_err())
    }

    #[tokio::test]
    async fn not_found_already_exists_and_conflict_are_routine() {
        let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
        let config = Config::from_url(&format!("http://{}", server.address())).unwrap();
        let client = Client::new(&config, ClientOptions::default()).unwrap();
        let get = async |client: &Client| client.get::<Lease>("default", "manager").await.map(drop);
        let mut lease = Lease::default();
        lease.metadata.namespace = Some("default".into());
        lease.metadata.name = Some("manager".into());

        assert!(failure_is_routine(&client, get).await, "NotFound");
        client.create(&lease).await.unwrap();
        assert!(
            failure_is_routine(&client, async |client| client.create(&lease).await.map(drop)).await,
            "AlreadyExists"
        );
        let mut late = lease.clone();
        late.metadata.resource_version = Some("1".into());
        assert!(failure_is_routine(&client, async |client| client.update(&late).await.map(drop)).await, "Conflict");
        for code in [401, 403, 500] {
            server.faults().inject(Fault::reject(code).times(1));
            assert!(!failure_is_routine(&client, get).await, "{code}");
        }
        server.shutdown().await;
    }
}
