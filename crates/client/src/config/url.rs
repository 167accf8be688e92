//! Configurations of an address with a token, without a kubeconfig.

use std::{path::PathBuf, sync::Arc};

use http::uri::Scheme;
use kube::config::{Cluster, Context, Kubeconfig, NamedCluster, NamedContext};
use secrecy::SecretString;

use super::{
    Config, ConfigError, KubeconfigOptions,
    kubeconfig::load_options,
    source::{Origin, parse_server_address},
};

/// Credentials and TLS settings of a server that is not in a kubeconfig, as flags of kubectl.
///
/// The default has no credentials, and verifies the server by the certificate authorities of the system.
#[derive(Debug, Clone, Default)]
pub struct UrlOptions {
    /// Bearer token (`--token`). It is not sent over plain HTTP.
    pub token: Option<SecretString>,
    /// File with the certificate authorities of the server (`--certificate-authority`), which is read once.
    pub certificate_authority: Option<PathBuf>,
    /// Whether not to verify the certificate of the server (`--insecure-skip-tls-verify`).
    pub insecure_skip_tls_verify: bool,
    /// Name in the certificate of the server (`--tls-server-name`); `None` for the host of the address.
    pub tls_server_name: Option<String>,
}

impl Config {
    /// Returns a configuration for the server at `url`. No kubeconfig is read, so that no other credentials than those of the
    /// options are sent. Without a scheme it is `http`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Server`] if it is not an http or https URL, if the file of certificate authorities cannot be read or has
    /// none, or if there is one although the certificate is not to be verified.
    pub fn from_url_with(url: &str, options: UrlOptions) -> Result<Config, ConfigError> {
        let UrlOptions { token, certificate_authority, insecure_skip_tls_verify, tls_server_name } = options;
        let options = KubeconfigOptions {
            token,
            certificate_authority,
            insecure_skip_tls_verify,
            tls_server_name,
            ..KubeconfigOptions::default()
        };
        let server = Some(parse_server_address(url, &Scheme::HTTP)?.to_string());
        let cluster = Some(Cluster { server, ..Cluster::default() });
        let kubeconfig = Kubeconfig {
            clusters: vec![NamedCluster { cluster, ..NamedCluster::default() }],
            contexts: vec![NamedContext { context: Some(Context::default()), ..NamedContext::default() }],
            current_context: Some(String::new()),
            ..Kubeconfig::default()
        };
        let loaded = load_options(kubeconfig, options);
        let config = loaded.map_err(|source| ConfigError::Server { url: url.to_owned(), source })?;
        Self::load(Origin::Kube(Arc::new(config)))
    }
}

#[cfg(test)]
mod tests {
    use display_full_error::DisplayFullErrorExt as _;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_options("localhost:10257", UrlOptions::default(), Ok("http://localhost:10257/"))]
    #[case::token(
        "https://localhost:10257",
        UrlOptions { token: Some("secret".into()), ..UrlOptions::default() },
        Ok("https://localhost:10257/")
    )]
    #[case::another_scheme("ftp://localhost", UrlOptions::default(), Err("neither http nor https"))]
    #[case::missing_authority(
        "https://localhost",
        UrlOptions { certificate_authority: Some("/nowhere/ca.crt".into()), ..UrlOptions::default() },
        Err("/nowhere/ca.crt")
    )]
    #[case::empty_authority(
        "https://localhost",
        UrlOptions { certificate_authority: Some("/dev/null".into()), ..UrlOptions::default() },
        Err("certificate-authority has no certificate")
    )]
    #[case::authority_and_insecure(
        "https://localhost",
        UrlOptions {
            certificate_authority: Some("/dev/null".into()), insecure_skip_tls_verify: true, ..UrlOptions::default()
        },
        Err("specifying a root certificates file with the insecure flag is not allowed")
    )]
    fn options_are_those_of_a_kubeconfig(
        #[case] url: &str,
        #[case] options: UrlOptions,
        #[case] expect: Result<&str, &str>,
    ) {
        let loaded = Config::from_url_with(url, options).map_err(|error| error.to_string_full());
        match (&loaded, expect) {
            (Ok(config), Ok(server)) => assert_eq!(config.server(), server),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            _ => panic!("{loaded:?}"),
        }
    }

    #[test]
    fn only_the_given_token_is_a_credential() {
        let options = UrlOptions { token: Some("secret".into()), ..UrlOptions::default() };
        let config = Config::from_url_with("https://localhost", options).expect("an address");
        let user = &config.live.loaded().inner.auth_info;
        assert!(user.token.is_some() && user.exec.is_none() && user.client_certificate_data.is_none());
        assert!(config.verifies_server());
    }
}
