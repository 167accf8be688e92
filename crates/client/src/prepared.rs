//! TLS configuration, headers, credentials and proxy derived from a loaded configuration, with all validation.

use http::uri::Scheme;
use kube::client::{
    ConfigExt as _,
    middleware::{AuthLayer, BaseUriLayer, ExtraHeadersLayer},
};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use tower::BoxError;

#[cfg(feature = "proxy")]
use crate::proxy::Proxy;
use crate::{
    credential_plugin::{self, CredentialPlugin},
    kube_error::KubeError,
    token_file::TokenFile,
};

/// Everything needed to open connections and authenticate requests.
pub(crate) struct Prepared {
    pub(crate) base: BaseUriLayer,
    pub(crate) headers: ExtraHeadersLayer,
    pub(crate) identity: Identity,
    pub(crate) tls: rustls::ClientConfig,
    #[cfg(feature = "proxy")]
    pub(crate) proxy: Option<Proxy>,
    pub(crate) tls_server_name: Option<ServerName<'static>>,
}

/// How requests are authenticated.
pub(crate) enum Identity {
    /// By the client certificate of the connection, or not at all.
    Connection,
    /// By a bearer token from a file.
    TokenFile(TokenFile),
    /// By an `Authorization` header from `kube`: static token, password or credential plugin.
    Header(AuthLayer, Option<CredentialPlugin>),
}

impl Prepared {
    /// Reads the client certificate, key and token file, and runs the credential plugin, as configured.
    ///
    /// The `proxy-url` of the kubeconfig applies to every server, regardless of `NO_PROXY`. Without it the proxy is taken
    /// from the environment. Without the feature `proxy`, a `proxy-url` is an error, as in `kube`.
    pub(crate) fn new(config: &kube::Config) -> Result<Prepared, BoxError> {
        // `kube` builds its TLS configuration with the process-wide crypto provider, and rustls panics if several are
        // compiled in and none is installed.
        if CryptoProvider::get_default().is_none() {
            // An error means that another thread has installed one concurrently.
            let _ = ring::default_provider().install_default();
        }
        let server_name =
            |name: &String| name.clone().try_into().map_err(|_| format!("tls-server-name {name:?} is invalid"));
        let tls_server_name = config.tls_server_name.as_ref().map(server_name).transpose()?;
        #[cfg(feature = "proxy")]
        let proxy = match &config.proxy_url {
            Some(url) => Some(Proxy::parse(&url.to_string()).map_err(|cause| format!("proxy-url: {cause}"))?),
            None => Proxy::from_env(|name| std::env::var(name).ok(), &config.cluster_url)?,
        };
        #[cfg(not(feature = "proxy"))]
        if config.proxy_url.is_some() {
            return Err("proxy-url: proxies need the feature `proxy` of kube-controller-client".into());
        }
        let is_plain_http = config.cluster_url.scheme() == Some(&Scheme::HTTP);
        let identity = if is_plain_http { plain_http_identity(config) } else { identity(config)? };
        Ok(Prepared {
            base: config.base_uri_layer(),
            headers: config.extra_headers_layer().map_err(|error| KubeError::new(&error))?,
            tls: tls(config, &identity, is_plain_http)?,
            identity,
            #[cfg(feature = "proxy")]
            proxy,
            tls_server_name,
        })
    }
}

/// Returns the identity of requests over plain HTTP: none, whatever the kubeconfig has. As in client-go
/// (`DirectClientConfig.ClientConfig`), no token, password or header of a credential plugin is sent in clear text, and
/// files and plugins are not read and run. Headers for impersonation are sent, because they contain no secret.
fn plain_http_identity(config: &kube::Config) -> Identity {
    let user = &config.auth_info;
    let token = user.token.is_some() || user.token_file.is_some();
    let password = user.username.is_some() || user.password.is_some();
    if token || password || user.exec.is_some() || user.auth_provider.is_some() {
        tracing::warn!(server = %config.cluster_url, "The server is plain HTTP: credentials are not sent");
    }
    Identity::Connection
}

/// Returns the TLS configuration. `kube` runs the credential plugin for it, for a certificate. One that has returned a token
/// is not run again, and over plain HTTP none is.
fn tls(config: &kube::Config, identity: &Identity, is_plain_http: bool) -> Result<rustls::ClientConfig, KubeError> {
    let mut config = config.clone();
    if is_plain_http || !matches!(identity, Identity::Connection) {
        config.auth_info.exec = None;
    }
    config.rustls_client_config().map_err(|error| KubeError::new(&error))
}

fn identity(config: &kube::Config) -> Result<Identity, BoxError> {
    let user = &config.auth_info;
    if let Some(path) = &user.token_file
        && user.username.is_none()
        && user.auth_provider.is_none()
    {
        // As in client-go, `tokenFile` has precedence over `token`, which is the fallback if the file cannot be read.
        match TokenFile::open(path.into()) {
            Ok(file) => return Ok(Identity::TokenFile(file)),
            Err(error) if user.token.is_none() => return Err(error.into()),
            Err(_) => {}
        }
    }
    let plugin = CredentialPlugin::of(user);
    let layer = config.auth_layer().map_err(|error| match error {
        kube::Error::Auth(error) => credential_plugin::describe(error, plugin.as_ref()),
        error => KubeError::new(&error).into(),
    })?;
    Ok(layer.map_or(Identity::Connection, |layer| Identity::Header(layer, plugin)))
}
