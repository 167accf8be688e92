//! Authentication as a service account, with tokens from the `TokenRequest` API.

mod token;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, Request, StatusCode};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount as Account};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tower::{BoxError, ServiceExt as _, service_fn, util::BoxCloneSyncService};

use crate::{Call, Client, Error, outgoing::Outgoing, service::Service, token_file::bearer};
use kube_wire::Decode as _;
use token::{TokenAction, TokenState};

/// Requested lifetime of a token, in seconds; the server may shorten it.
const LIFETIME_SECONDS: u64 = 3_600;

/// Maximum time of a token request while the token before it may still be valid. Other requests wait for it, and would
/// time out as late as it does.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);

/// A service account whose tokens authenticate requests. Clones share one token.
#[derive(Clone)]
pub(crate) struct ServiceAccount {
    shared: Arc<TokenSource>,
}

struct TokenSource {
    namespace: String,
    name: String,
    /// Client that requests the tokens and creates the account.
    token_client: Client,
    token: Mutex<TokenState>,
}

/// Error of a request that was not sent because there is no token for the account.
#[derive(Debug, thiserror::Error)]
#[error("no token for service account {account}: {cause}")]
struct NoToken {
    account: String,
    cause: String,
}

impl ServiceAccount {
    pub(crate) fn new(token_client: Client, namespace: &str, name: &str) -> ServiceAccount {
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        ServiceAccount { shared: Arc::new(TokenSource { namespace, name, token_client, token: Mutex::default() }) }
    }

    /// Wraps a service so that every request carries a token of the account.
    pub(crate) fn authenticate(&self, inner: Service) -> Service {
        let account = self.clone();
        BoxCloneSyncService::new(service_fn(move |mut request: Request<_>| {
            let (account, inner) = (account.clone(), inner.clone());
            async move {
                let token = account.token().await?;
                request.headers_mut().insert(AUTHORIZATION, token.clone());
                let response = inner.oneshot(request).await?;
                if response.status() == StatusCode::UNAUTHORIZED {
                    // The caller sees the 401 and decides whether to retry; the next request uses a new token.
                    account.shared.token.lock().await.reject(&token);
                }
                Ok(response)
            }
        }))
    }

    /// Returns the header with a current token. One request renews it; concurrent requests wait for that.
    async fn token(&self) -> Result<HeaderValue, NoToken> {
        let mut token = self.shared.token.lock().await;
        match token.next_action(Instant::now()) {
            TokenAction::Use(header) => return Ok(header),
            TokenAction::Fail(cause) => return Err(self.shared.no_token(cause)),
            TokenAction::Request => {}
        }
        let limit = if token.is_renewed() { RENEWAL_TIMEOUT } else { Duration::MAX };
        let result = match timeout(limit, self.shared.request_token()).await {
            Ok(result) => result.map_err(|error| format!("{}: {}", error.call(), error.display_full())),
            Err(_) => Err(format!("no token within {} s", limit.as_secs())),
        };
        match result {
            Ok((header, seconds)) => {
                token.store(header.clone(), seconds, Instant::now());
                Ok(header)
            }
            Err(cause) => {
                tracing::warn!(account = %self.shared, err = %cause, "No token for service account");
                let previous = token.record_failure(cause.clone(), Instant::now());
                previous.ok_or_else(|| self.shared.no_token(cause))
            }
        }
    }
}

impl TokenSource {
    /// Requests a token; returns header and lifetime in seconds. Creates the account if need be (CM-28).
    async fn request_token(&self) -> Result<(HeaderValue, u64), Error> {
        // The types of k8s-openapi differ between the versions of Kubernetes.
        #[derive(Deserialize)]
        struct TokenRequest {
            spec: TokenRequestSpec,
            status: TokenRequestStatus,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct TokenRequestSpec {
            expiration_seconds: u64,
        }
        #[derive(Deserialize)]
        struct TokenRequestStatus {
            token: String,
        }

        self.ensure_exists().await?;
        let TokenSource { namespace, name, token_client, token: _ } = self;
        let call = Call::new("create", "serviceaccounts/token", namespace, name);
        let request = json!({
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "spec": { "audiences": [], "expirationSeconds": LIFETIME_SECONDS },
        });
        let path = Account::RESOURCE.object_path(namespace, name) + "/token";
        let body =
            token_client.call(&call, &Outgoing::json(Method::POST, path, request.to_string().into_bytes())).await?;
        let invalid_response = |source: BoxError| Error::InvalidResponse { call: call.clone(), source };
        let TokenRequest { spec, status } =
            serde_json::from_slice(&body).map_err(|error| invalid_response(error.into()))?;
        let header = bearer(&status.token).map_err(|error| invalid_response(error.into()))?;
        Ok((header, spec.expiration_seconds))
    }

    async fn ensure_exists(&self) -> Result<(), Error> {
        let TokenSource { namespace, name, token_client, token: _ } = self;
        match token_client.get::<Account>(namespace, name).await {
            Err(error) if error.is_not_found() => {}
            result => return result.map(drop),
        }
        if token_client.get::<Namespace>("", namespace).await.is_err_and(|error| error.is_not_found()) {
            let metadata = ObjectMeta { name: Some(namespace.clone()), ..ObjectMeta::default() };
            // Not fatal: the identity may lack the right, or the namespace was created concurrently.
            if let Err(error) = token_client.create(&Namespace { metadata, ..Namespace::default() }).await {
                tracing::warn!(
                    namespace, err = %error.display_full(),
                    "Cannot create namespace of service account, continuing"
                );
            }
        }
        let (namespace, name) = (Some(namespace.clone()), Some(name.clone()));
        let metadata = ObjectMeta { namespace, name, ..ObjectMeta::default() };
        match token_client.create(&Account { metadata, ..Account::default() }).await {
            Err(error) if !error.is_already_exists() => Err(error),
            _ => Ok(()),
        }
    }

    fn no_token(&self, cause: String) -> NoToken {
        NoToken { account: self.to_string(), cause }
    }
}

impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
