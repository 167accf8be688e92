//! The clients for reviews.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube_controller_client::{Client, ClientOptions, Config, ConfigError};

use crate::settings::ServingSettings;

/// Rate limit of each review client, in requests per second and burst; upstream's values
/// (`DelegatingAuthenticationOptions`), so high that scrapes do not wait for each other.
const REVIEW_QPS: f32 = 200.0;
const REVIEW_BURST: u32 = 400;

/// Clients for `TokenReview` and `SubjectAccessReview` requests.
#[derive(Default)]
pub struct Reviewers {
    pub(crate) tokens: Option<Client>,
    pub(crate) access: Option<Client>,
    /// Futures that reload the configurations of the clients when their files change.
    pub(crate) following: Vec<BoxFuture<'static, Infallible>>,
}

impl Reviewers {
    /// Returns reviewers with these clients.
    ///
    /// Without a client for `tokens`, bearer tokens are ignored and requests are anonymous; without one for `access`, only
    /// always allowed paths and members of `system:masters` are authorized.
    pub fn new(tokens: Option<Client>, access: Option<Client>) -> Reviewers {
        Reviewers { tokens, access, following: Vec::new() }
    }

    /// Returns reviewers with clients of the kubeconfigs in `settings`, or of the service account of the Pod; without clients
    /// if there is neither. While the server runs, their configurations are reloaded when their files change.
    ///
    /// `client` builds a client from its configuration, options with upstream's rate limits (200 requests per second, burst
    /// 400), and its purpose, `authentication` or `authorization`, for example as a part of the user agent.
    ///
    /// # Errors
    ///
    /// An unusable kubeconfig, and those of `client`.
    pub async fn connect(
        settings: &ServingSettings,
        client: impl Fn(&Config, ClientOptions, &str) -> Result<Client, ConfigError>,
    ) -> Result<Reviewers, ConfigError> {
        let mut reviewers = Reviewers::default();
        let kubeconfig = settings.authentication.kubeconfig.as_deref();
        reviewers.tokens = reviewers.client(kubeconfig, "authentication", &client).await?;
        let kubeconfig = settings.authorization.kubeconfig.as_deref();
        reviewers.access = reviewers.client(kubeconfig, "authorization", &client).await?;
        Ok(reviewers)
    }

    /// Returns whether bearer tokens are reviewed.
    pub fn reviews_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Returns whether the access to paths is reviewed.
    pub fn reviews_access(&self) -> bool {
        self.access.is_some()
    }

    async fn client(
        &mut self,
        kubeconfig: Option<&Path>,
        purpose: &str,
        client: impl Fn(&Config, ClientOptions, &str) -> Result<Client, ConfigError>,
    ) -> Result<Option<Client>, ConfigError> {
        let config = match kubeconfig {
            Some(path) => Config::from_kubeconfig(path).await?,
            None => match Config::in_cluster() {
                Ok(config) => config,
                Err(_) => return Ok(None),
            },
        };
        self.following.push(config.follow_files().boxed());
        let options = ClientOptions { qps: REVIEW_QPS, burst: REVIEW_BURST, ..ClientOptions::default() };
        client(&config, options, purpose).map(Some)
    }
}

impl fmt::Debug for Reviewers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reviewers { tokens, access, following: _ } = self;
        f.debug_struct("Reviewers").field("tokens", tokens).field("access", access).finish_non_exhaustive()
    }
}
