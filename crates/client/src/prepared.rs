//! What connections and requests are made with: all of a configuration that can be wrong is checked here.

use http::uri::Scheme;
use hyper_rustls::FixedServerNameResolver;
use kube::client::{
    ConfigExt as _,
    middleware::{AuthLayer, BaseUriLayer, ExtraHeadersLayer},
};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;

use crate::{
    config::one_line,
    proxy::{Kind, Proxy},
    token_file::TokenFile,
};

pub(crate) struct Prepared {
    pub(crate) base: BaseUriLayer,
    pub(crate) headers: ExtraHeadersLayer,
    pub(crate) identity: Identity,
    pub(crate) tls: rustls::ClientConfig,
    pub(crate) proxy: Option<Proxy>,
    tls_server_name: Option<ServerName<'static>>,
    is_plain: bool,
}

/// How requests say whose they are.
pub(crate) enum Identity {
    /// Not at all, or by the certificate of the connection.
    Connection,
    /// By a token file.
    TokenFile(TokenFile),
    /// By what `kube` puts into the header.
    Header(AuthLayer),
}

impl Prepared {
    /// Reads the certificate and the key of the client and its token file, and runs its credential plugin, if it has such.
    ///
    /// `proxy_url` is the kubeconfig's, which holds for every server; without it, the environment decides.
    pub(crate) fn new(config: &kube::Config, proxy_url: Option<&str>) -> Result<Prepared, String> {
        // `kube` builds its TLS configuration with the process-wide provider and panics when several are compiled in and none
        // was chosen. Choosing one here does nothing when the program has chosen already, and saves every small user a line.
        if CryptoProvider::get_default().is_none() {
            // An error means that another thread was faster, which is just as good.
            let _ = ring::default_provider().install_default();
        }
        let tls_server_name = match &config.tls_server_name {
            None => None,
            Some(name) => {
                let parsed = name.clone().try_into().map_err(|_| format!("tls-server-name {name:?} is not a name"))?;
                Some(parsed)
            }
        };
        let proxy = match proxy_url {
            Some(url) => Some(Proxy::parse(url).map_err(|cause| format!("proxy-url: {cause}"))?),
            None => Proxy::of_environment(|name| std::env::var(name).ok(), &config.cluster_url)?,
        };
        Ok(Prepared {
            base: config.base_uri_layer(),
            headers: config.extra_headers_layer().map_err(|error| one_line(&error))?,
            identity: identity(config)?,
            tls: config.rustls_client_config().map_err(|error| one_line(&error))?,
            proxy,
            tls_server_name,
            is_plain: config.cluster_url.scheme() == Some(&Scheme::HTTP),
        })
    }

    /// Whether an HTTP proxy is asked to forward requests; it is asked for a tunnel if the server speaks TLS.
    pub(crate) fn forwards(&self) -> bool {
        self.is_plain && self.proxy.as_ref().is_some_and(|proxy| proxy.kind == Kind::Http)
    }

    pub(crate) fn server_name_resolver(&self) -> Option<FixedServerNameResolver> {
        self.tls_server_name.clone().map(FixedServerNameResolver::new)
    }
}

fn identity(config: &kube::Config) -> Result<Identity, String> {
    let user = &config.auth_info;
    if let Some(path) = &user.token_file
        && user.username.is_none()
        && user.auth_provider.is_none()
    {
        // As in client-go, the file goes before the token beside it, and that serves if there is no file.
        match TokenFile::open(path.into()) {
            Ok(file) => return Ok(Identity::TokenFile(file)),
            Err(cause) if user.token.is_none() => return Err(cause),
            Err(_) => {}
        }
    }
    let layer = config.auth_layer().map_err(|error| one_line(&error))?;
    Ok(layer.map_or(Identity::Connection, Identity::Header))
}
