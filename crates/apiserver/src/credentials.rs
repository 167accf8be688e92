//! How a server is reached by those who own it: URLs, certificates, tokens, kubeconfigs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::config::{Anonymous, Authorization};
use crate::server::Server;
use crate::transport::{ClientCertificate, TlsError};
use crate::{User, shared::Shared};

impl Server {
    /// The base URL for clients.
    pub fn url(&self) -> String {
        let scheme = if self.shared().authority.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address())
    }

    /// A kubeconfig that points here, with everything needed to do everything: the certificate of the authority and a
    /// client certificate when the server speaks TLS, a token where a plain one asks who it is talking to.
    ///
    /// kubectl and other clients made with client-go send no token over plain HTTP.
    pub fn kubeconfig(&self) -> String {
        let shared = self.shared();
        let open =
            shared.config.anonymous == Anonymous::Allowed && shared.config.authorization == Authorization::AlwaysAllow;
        let user = match &shared.authority {
            Some(authority) => match authority.client("kubernetes-admin", Some("system:masters")) {
                Ok(made) => format!(
                    "{{client-certificate-data: {}, client-key-data: {}}}",
                    STANDARD.encode(made.certificate),
                    STANDARD.encode(made.key)
                ),
                // A token does as well.
                Err(_) => with_token(&shared.identities.admin_token),
            },
            None if open => "{}".to_owned(),
            None => with_token(&shared.identities.admin_token),
        };
        self.kubeconfig_with(&user)
    }

    /// A kubeconfig for a user, by a new token.
    pub fn kubeconfig_for(&self, user: User) -> String {
        self.kubeconfig_with(&with_token(&self.token_for(user)))
    }

    /// A bearer token for a user. It lasts as long as the server.
    pub fn token_for(&self, user: User) -> String {
        self.shared().identities.tokens().issue_to_user(user)
    }

    /// Lets every token that a service account was given expire. New ones are good.
    pub fn expire_tokens(&self) {
        self.shared().identities.tokens().expire();
    }

    /// The certificate of the authority that signed the server's, in PEM; nothing of a plain server.
    pub fn ca_certificate(&self) -> Option<String> {
        self.shared().authority.as_ref().map(crate::transport::Authority::pem)
    }

    /// A certificate for a user and at most one group; nothing of a plain server.
    pub fn client_certificate(&self, user: &str, group: Option<&str>) -> Option<Result<ClientCertificate, TlsError>> {
        self.shared().authority.as_ref().map(|authority| authority.client(user, group))
    }

    fn kubeconfig_with(&self, user: &str) -> String {
        let authority = self.ca_certificate().map_or_else(String::new, |pem| {
            format!("\n{}certificate-authority-data: {}", " ".repeat(4), STANDARD.encode(pem))
        });
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             current-context: dev\n\
             clusters:\n\
             - name: dev\n  \
               cluster:\n    \
                 server: {}{authority}\n\
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
    /// The uid of a service account that exists.
    pub(crate) fn uid_of(&self, namespace: &str, name: &str) -> Option<String> {
        self.read(|cluster| {
            let kind = cluster.kinds().find("", "v1", "serviceaccounts")?;
            cluster.get(kind, namespace, name).ok().map(|account| account.uid.to_string())
        })
    }
}
