//! The HTTPS server: health checks, metrics, the debug pages `/configz`, `/flagz` and
//! `/statusz`, and the comparison of shadow mode at `/shadow`.
//!
//! Requests are authenticated and authorized as by upstream's delegated authentication and authorization: client
//! certificates, `TokenReview`, `SubjectAccessReview`. By default only `/healthz`, `/livez` and `/readyz` need no
//! authorization.

mod authentication;
mod authorities;
mod authorization;
mod certificate;
mod connection;
mod connections;
mod error;
mod exposition;
mod lifetime;
mod listener;
mod metrics;
mod negotiation;
mod pacer;
mod pages;
mod peer;
mod pool;
mod response;
mod review_queue;
mod reviewer;
mod routes;
mod shadow_page;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
mod ttl_cache;
mod user;

use std::net::SocketAddr;
use std::sync::Arc;

use kube_controller::Health;
use kube_controller_client::Client;
use prometheus::Registry;
use tokio::net::TcpListener;

use self::authentication::Authentication;
use self::authorities::Authorities;
use self::authorization::Authorization;
pub use self::certificate::CertificateError;
pub use self::error::ServingError;
use self::listener::Shared;
pub(crate) use self::metrics::ServingMetrics;
pub(crate) use self::pages::Pages;
use self::routes::{Responses, Routes};
#[cfg(feature = "shadow")]
pub(crate) use self::shadow_page::Report;
pub(crate) use self::shadow_page::ShadowPage;
use self::tls::Tls;
use crate::settings::ServingSettings;

/// Clients for reviews.
#[derive(Debug, Default)]
pub(crate) struct Reviewers {
    /// For `TokenReview`. `None`: tokens are ignored and requests are anonymous.
    pub(crate) tokens: Option<Client>,
    /// For `SubjectAccessReview`. `None`: only always allowed paths and members of `system:masters` are authorized.
    pub(crate) access: Option<Client>,
}

/// Sources of the responses.
pub(crate) struct Contents {
    pub(crate) health: Health,
    pub(crate) registry: Registry,
    pub(crate) pages: Pages,
    pub(crate) shadow: ShadowPage,
    pub(crate) metrics: ServingMetrics,
}

/// A bound socket with its TLS configuration and routes.
pub(crate) struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

impl Server {
    /// Loads or generates certificates and binds the socket. Port 0 binds any free port.
    ///
    /// # Errors
    ///
    /// See [`ServingError`].
    pub(crate) async fn bind(
        settings: &ServingSettings,
        reviewers: Reviewers,
        contents: Contents,
    ) -> Result<Server, ServingError> {
        let authorities = Authorities::new(&settings.authentication, reviewers.tokens.as_ref()).await?;
        let tls = Tls::new(settings, settings.bind_address, authorities)?;
        let address = SocketAddr::new(settings.bind_address, settings.port);
        let listener = listener::bind(address).map_err(|source| ServingError::Listen { address, source })?;
        let Contents { health, registry, pages, shadow, metrics } = contents;
        let routes = Routes {
            authentication: Authentication::new(reviewers.tokens, settings.authentication.token_ttl),
            authorization: Authorization::new(reviewers.access, &settings.authorization),
            health,
            registry,
            pages,
            shadow,
            metrics: metrics.clone(),
            responses: Responses::new(),
        };
        Ok(Server { listener, shared: Arc::new(Shared::new(Arc::new(tls), routes, metrics)) })
    }

    /// Returns the address of the socket.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves connections and reloads certificates. Never returns.
    pub(crate) async fn run(self) {
        let Server { listener, shared } = self;
        let reloads = Arc::clone(&shared.tls).reload_periodically();
        tokio::join!(listener::serve(&listener, &shared), reloads);
    }
}
