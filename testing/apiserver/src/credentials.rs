//! Client credentials for a server: certificates, tokens, kubeconfigs.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::config::{Anonymous, Authorization};
use crate::server::Server;
use crate::transport::{ClientCertificate, TlsError};
use crate::{User, shared::Shared};

impl Server {
    /// Returns the base URL of the server for clients on this machine: of the loopback address, if the server listens on
    /// all addresses.
    pub fn url(&self) -> String {
        let scheme = if self.shared().authority.is_some() { "https" } else { "http" };
        let mut address = self.address();
        match address {
            SocketAddr::V4(_) if address.ip().is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            SocketAddr::V6(_) if address.ip().is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("{scheme}://{address}")
    }

    /// Returns a kubeconfig with full access to the server.
    ///
    /// Over TLS it has a client certificate of the user `kubernetes-admin` in the group `system:masters`, over plain
    /// HTTP a token of that user, or no credentials if the server needs none. kubectl and other clients that load a
    /// kubeconfig with client-go send no token over plain HTTP.
    pub fn kubeconfig(&self) -> String {
        let shared = self.shared();
        let open =
            shared.config.anonymous == Anonymous::Allowed && shared.config.authorization == Authorization::AlwaysAllow;
        let user = match &shared.authority {
            Some(authority) => match authority.client("kubernetes-admin", Some("system:masters")) {
                Ok(certificate) => format!(
                    "{{client-certificate-data: {}, client-key-data: {}}}",
                    STANDARD.encode(certificate.certificate),
                    STANDARD.encode(certificate.key)
                ),
                // A token of the same user gives the same access.
                Err(_) => with_token(&shared.identities.admin_token),
            },
            None if open => "{}".to_owned(),
            None => with_token(&shared.identities.admin_token),
        };
        self.kubeconfig_with(&user)
    }

    /// Returns a kubeconfig for a user, with a new token.
    pub fn kubeconfig_for(&self, user: User) -> String {
        self.kubeconfig_with(&with_token(&self.token_for(user)))
    }

    /// Returns a new bearer token for a user. It does not expire.
    pub fn token_for(&self, user: User) -> String {
        self.shared().identities.tokens().issue_to_user(user)
    }

    /// Expires all tokens that service accounts got by `TokenRequest`. Later ones are valid.
    pub fn expire_tokens(&self) {
        self.shared().identities.tokens().expire();
    }

    /// Returns the certificate of the authority that signed the server certificate, in PEM; `None` without TLS.
    pub fn ca_certificate(&self) -> Option<String> {
        self.shared().authority.as_ref().map(crate::transport::Authority::pem)
    }

    /// Returns a client certificate for a user and at most one group; `None` without TLS.
    ///
    /// # Errors
    /// [`TlsError`] if the certificate cannot be generated.
    pub fn client_certificate(&self, user: &str, group: Option<&str>) -> Option<Result<ClientCertificate, TlsError>> {
        self.shared().authority.as_ref().map(|authority| authority.client(user, group))
    }

    fn kubeconfig_with(&self, user: &str) -> String {
        // Clients for JavaScript connect over plain HTTP only if they need not check a certificate.
        let authority = self.ca_certificate().map_or_else(
            || "insecure-skip-tls-verify: true".to_owned(),
            |pem| format!("certificate-authority-data: {}", STANDARD.encode(pem)),
        );
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             current-context: dev\n\
             clusters:\n\
             - name: dev\n  \
               cluster:\n    \
                 server: {}\n    \
                 {authority}\n\
             contexts:\n\
             - name: dev\n  \
               context:\n    \
                 cluster: dev\n    \
                 user: dev\n    \
                 namespace: default\n\
             users:\n\
             - name: dev\n  \
               user: {user}\n",
            self.url()
        )
    }
}

fn with_token(token: &str) -> String {
    format!("{{token: {token}}}")
}

impl Shared {
    /// Returns the uid of a service account; `None` if it does not exist.
    pub(crate) fn uid_of(&self, namespace: &str, name: &str) -> Option<String> {
        self.read(|cluster| {
            let kind = cluster.kinds().find("", "v1", "serviceaccounts")?;
            cluster.get(kind, namespace, name).ok().map(|account| account.uid.to_string())
        })
    }
}
