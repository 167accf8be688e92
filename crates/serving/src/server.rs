//! The server: a socket, its TLS configuration, and what it serves.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use tokio::net::TcpListener;

use crate::ServingError;
use crate::authentication::Authentication;
use crate::authorities::Authorities;
use crate::authorization::Authorization;
use crate::handler::{Access, Handler};
use crate::listener::{self, Shared};
use crate::metrics::ServingMetrics;
use crate::reviewers::Reviewers;
use crate::routes::Routes;
use crate::settings::ServingSettings;
use crate::tls::Tls;

/// A server on a bound socket. Dropping it closes the socket.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    /// Futures that reload the configurations of the review clients.
    following: Vec<BoxFuture<'static, Infallible>>,
}

impl Server {
    /// Returns an HTTPS server: loads or generates its certificate, looks up the CA bundle for client certificates, and
    /// binds the socket.
    ///
    /// # Errors
    ///
    /// See [`ServingError`].
    pub async fn bind(
        settings: &ServingSettings,
        reviewers: Reviewers,
        routes: Routes,
        metrics: ServingMetrics,
    ) -> Result<Server, ServingError> {
        let Reviewers { tokens, access, following } = reviewers;
        let authorities = Authorities::new(&settings.authentication, tokens.as_ref()).await?;
        let tls = Tls::new(settings, authorities)?;
        let address = SocketAddr::new(settings.bind_address, settings.port);
        let listener = listener::bind(address).map_err(|source| ServingError::Listen { address, source })?;
        let access = Access {
            authentication: Authentication::new(tokens, settings.authentication.token_ttl),
            authorization: Authorization::new(access, &settings.authorization),
        };
        let handler = Handler::new(Some(access), routes, metrics.clone());
        let shared = Arc::new(Shared::new(Some(Arc::new(tls)), handler, metrics));
        Ok(Server { listener, shared, following })
    }

    /// Returns a server of plain HTTP/1.1 without authentication and authorization, for clients in a trusted network.
    pub fn plain(listener: TcpListener, routes: Routes, metrics: ServingMetrics) -> Server {
        let handler = Handler::new(None, routes, metrics.clone());
        Server { listener, shared: Arc::new(Shared::new(None, handler, metrics)), following: Vec::new() }
    }

    /// Returns the address of the socket.
    ///
    /// # Errors
    ///
    /// That of the operating system.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns a handle that reloads the certificates, for example on SIGHUP; `None` for plain HTTP. [`run`](Self::run)
    /// reloads them every minute.
    pub fn certificates(&self) -> Option<Certificates> {
        self.shared.tls.clone().map(Certificates)
    }

    /// Serves connections, and reloads certificates and the files of the review clients when they change. Never returns;
    /// dropping the future closes all connections.
    pub async fn run(self) {
        let Server { listener, shared, following } = self;
        let reloads = async {
            if let Some(tls) = &shared.tls {
                Arc::clone(tls).reload_periodically().await;
            }
        };
        tokio::join!(listener::serve(&listener, &shared), reloads, join_all(following));
    }
}

/// Handle to the certificates of a running server. Clones share them.
#[derive(Clone)]
pub struct Certificates(Arc<Tls>);

impl Certificates {
    /// Reloads the server's certificate and key, and the CA bundle for client certificates. If they cannot be used, that
    /// is logged, and the previous ones stay in use. A changed CA bundle ends all connections.
    pub async fn reload(&self) {
        Arc::clone(&self.0).reload().await;
    }
}
