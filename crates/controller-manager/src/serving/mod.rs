//! What is served over HTTPS: health, metrics, and what is to be known of the running process.
//!
//! Who asks is found out and checked as in upstream's delegated authentication and authorisation: client certificates,
//! `TokenReview`, `SubjectAccessReview`. Only the health paths are open to all.

mod answer;
mod authentication;
mod authorities;
mod authorization;
mod certificate;
mod exposition;
mod health;
mod listener;
mod negotiation;
mod outcomes;
mod pages;
mod recent;
mod routes;
#[cfg(test)]
mod tests;
mod tls;
mod user;

use std::net::SocketAddr;
use std::sync::Arc;

use kube_controller_client::Client;
use prometheus::Registry;
use tokio::net::TcpListener;

use self::authentication::Authentication;
use self::authorities::Authorities;
use self::authorization::Authorization;
pub use self::certificate::CertificateError;
pub(crate) use self::health::{Health, Probe};
pub(crate) use self::pages::Pages;
use self::routes::Routes;
use self::tls::Tls;
use crate::settings::ServingSettings;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServingError {
    /// There is no certificate to be had.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The API server does not say whose client certificates are believed.
    #[error("unable to load configmap based client CA file: {0}; see --authentication-tolerate-lookup-failure")]
    Lookup(kube_controller_client::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
}

/// The clients that reviews are sent with. Without the first, tokens are as good as none; without the second, nothing is
/// allowed but what is open to all.
#[derive(Debug, Default)]
pub(crate) struct Reviewers {
    pub(crate) tokens: Option<Client>,
    pub(crate) access: Option<Client>,
}

/// What there is to serve.
pub(crate) struct Contents {
    pub(crate) health: Health,
    pub(crate) registry: Registry,
    pub(crate) pages: Pages,
}

/// A socket that is listened on, with all that is needed to answer.
pub(crate) struct Server {
    listener: TcpListener,
    tls: Arc<Tls>,
    routes: Arc<Routes>,
}

impl Server {
    /// Reads or makes certificates and listens. Port 0 is any that is free.
    pub(crate) async fn bind(
        settings: &ServingSettings,
        reviewers: Reviewers,
        contents: Contents,
    ) -> Result<Server, ServingError> {
        let authorities = Authorities::new(&settings.authentication, reviewers.tokens.as_ref()).await?;
        let tls = Tls::new(settings, settings.bind_address, authorities)?;
        let address = SocketAddr::new(settings.bind_address, settings.port);
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| ServingError::Listen { address, source })?;
        let Contents { health, registry, pages } = contents;
        let routes = Routes {
            authentication: Authentication::new(reviewers.tokens, settings.authentication.token_ttl),
            authorization: Authorization::new(reviewers.access, &settings.authorization),
            health,
            registry,
            pages,
        };
        Ok(Server { listener, tls: Arc::new(tls), routes: Arc::new(routes) })
    }

    /// The address that is listened on.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves, for ever.
    pub(crate) async fn run(self) {
        let Server { listener, tls, routes } = self;
        tokio::join!(listener::serve(&listener, &tls, &routes), Arc::clone(&tls).reload());
    }
}
