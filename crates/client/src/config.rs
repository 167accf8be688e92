//! The [`Config`] of a client: server address, TLS and credentials.

mod error;
mod from_kube;
mod kubeconfig;
mod live;
mod source;
mod url;

use std::{convert::Infallible, fmt, path::Path, sync::Arc};

use bytes::Bytes;
use http::{Request, Response, Uri, uri::Scheme};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use tower::{
    BoxError, Service as TowerService, ServiceExt as _,
    util::{BoxCloneSyncService, MapErr},
};

pub use self::{error::ConfigError, kubeconfig::KubeconfigOptions, url::UrlOptions};
use self::{
    kubeconfig::{KubeconfigFiles, load_text},
    source::{Origin, parse_server_address},
};
pub(crate) use self::{live::Live, source::Loaded};
use crate::{Availability, Client, Credentials, service::Service, service_account::ServiceAccount};

/// Address, certificate authority and credentials of an API server.
///
/// Loaded from a kubeconfig, from the service account of the Pod, or from a URL without credentials. Over plain HTTP,
/// no token, password or header of a credential plugin is sent, as by client-go with a kubeconfig; tokens of
/// [`as_service_account`](Self::as_service_account) are. Clones share the loaded state. The counterpart of
/// `kube::Config`; code that needs both writes `use kube::Config as KubeConfig`.
#[derive(Clone)]
pub struct Config {
    pub(crate) live: Arc<Live>,
    /// Service that gets the requests in place of the server.
    pub(crate) service: Option<Service>,
    /// Service account whose tokens replace the credentials of the configuration.
    pub(crate) account: Option<ServiceAccount>,
    pub(crate) credentials: Credentials,
    pub(crate) availability: Availability,
}

impl Config {
    fn load(origin: Origin) -> Result<Self, ConfigError> {
        Ok(Self::with(Live::new(origin)?, None))
    }

    fn with(live: Live, service: Option<Service>) -> Self {
        let (credentials, availability) = (live.credentials.clone(), Availability::default());
        Self { live: Arc::new(live), service, account: None, credentials, availability }
    }

    /// Returns a configuration without an address, for an in-process service, with this default namespace.
    fn without_server(namespace: &str) -> Live {
        let mut inner = kube::Config::new(Uri::from_static("http://in-process/"));
        namespace.clone_into(&mut inner.default_namespace);
        Live::fixed(inner)
    }

    /// Loads the current context of a kubeconfig file. The certificate and key of the user are read, and its
    /// credential plugin is run, when a client is created.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Kubeconfig`] if the file cannot be read or parsed, if its current context, cluster, user or server
    /// address is missing or invalid, or if its `certificate-authority` contains no certificate.
    pub async fn from_kubeconfig(path: &Path) -> Result<Self, ConfigError> {
        let path = Some(path.to_owned());
        Self::from_kubeconfig_with(KubeconfigOptions { path, ..KubeconfigOptions::default() }).await
    }

    /// Loads a kubeconfig as kubectl does: from one file, from the files of `$KUBECONFIG`, or from `~/.kube/config`,
    /// with another context, cluster, server or user than the current one if `options` select it.
    ///
    /// Several files are merged: of each name, and of the current context, the first file that has it counts. Files of
    /// `$KUBECONFIG` that do not exist are skipped, unless none exists. `$KUBECONFIG` is read once;
    /// [`follow_files`](Self::follow_files) follows all files. A context without a user has no credentials; a user that
    /// does not exist is an error, also where client-go uses the anonymous user: if the context names it.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Kubeconfig`], as for [`from_kubeconfig`](Self::from_kubeconfig). Its path contains all files,
    /// joined as in `$KUBECONFIG`, if the error is not about one of them. [`ConfigError::Server`] if
    /// [`KubeconfigOptions::server`] is not an http or https URL.
    #[expect(clippy::unused_async, reason = "async, so that a later version can read the files off the runtime")]
    pub async fn from_kubeconfig_with(options: KubeconfigOptions) -> Result<Self, ConfigError> {
        Self::load(Origin::Kubeconfig(Box::new(KubeconfigFiles::resolve(options)?)))
    }

    /// Loads the service account mounted into the Pod, and the server address from `KUBERNETES_SERVICE_HOST` and
    /// `_PORT`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::InCluster`] if one of them is missing or invalid.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        Self::load(Origin::InCluster)
    }

    /// Loads the kubeconfig as kubectl does, and if there is none, as [`in_cluster`](Self::in_cluster): the default of
    /// programs that run on a workstation and in a Pod.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Infer`] if there is neither; [`ConfigError::Kubeconfig`] if there is a kubeconfig that cannot be
    /// used, as for [`from_kubeconfig_with`](Self::from_kubeconfig_with).
    #[expect(clippy::unused_async, reason = "as `from_kubeconfig_with`")]
    pub async fn infer() -> Result<Self, ConfigError> {
        Self::infer_from(KubeconfigFiles::resolve(KubeconfigOptions::default()))
    }

    fn infer_from(files: Result<KubeconfigFiles, ConfigError>) -> Result<Self, ConfigError> {
        let kubeconfig = match files.and_then(|files| Self::load(Origin::Kubeconfig(Box::new(files)))) {
            Err(error) if error.is_missing_file() => error,
            result => return result,
        };
        Self::in_cluster()
            .map_err(|source| ConfigError::Infer { kubeconfig: Box::new(kubeconfig), source: Box::new(source) })
    }

    /// Loads the current context of a kubeconfig that is text, such as that of an embedded test server.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Text`], as for [`from_kubeconfig`](Self::from_kubeconfig).
    pub fn from_kubeconfig_text(text: &str) -> Result<Self, ConfigError> {
        let inner = load_text(text).map_err(|source| ConfigError::Text { source })?;
        Self::load(Origin::Kube(Arc::new(inner)))
    }

    /// Returns a configuration for the server at `url`, without credentials. Without a scheme it is `http`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Server`] if it is not an http or https URL.
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        Self::load(Origin::Kube(Arc::new(kube::Config::new(parse_server_address(url, &Scheme::HTTP)?))))
    }

    /// Returns a configuration that sends requests to an in-process `tower` service instead of the network, without
    /// credentials. For tests and simulations.
    ///
    /// The URI of a request is its path and query. Requests of all clients go to clones of `service`; no socket, TLS or
    /// I/O driver is needed. An [`std::io::Error`] from the service or from a body, or in the source chain of such an
    /// error, determines the [kind](crate::TransportKind) of the failure: `ConnectionReset`, `BrokenPipe` and
    /// `UnexpectedEof` are [`Reset`](crate::TransportKind::Reset), for example.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::Full;
    /// use kube_controller_client::{Client, ClientOptions, Config};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = tower::service_fn(async |request: http::Request<Full<Bytes>>| {
    ///     assert_eq!(request.uri(), "/version");
    ///     Ok::<_, std::io::Error>(http::Response::new(Full::from(r#"{"minor": "36"}"#)))
    /// });
    /// let client = Client::new(&Config::from_service(service), ClientOptions::default())?;
    /// assert_eq!(client.get_json("/version").await?["minor"], "36");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_service<S, B>(service: S) -> Self
    where
        S: TowerService<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let service = MapErr::new(service, Into::into);
        let boxed = |response: Response<B>| response.map(|body| body.map_err(Into::into).boxed_unsync());
        let service = BoxCloneSyncService::new(service.map_response(boxed));
        Self::with(Self::without_server("default"), Some(service))
    }

    /// Reloads the configuration when the content of one of its files changes: the kubeconfig, the certificate
    /// authority, the client certificate or the client key. Checks every 30 s and never returns; the caller spawns the
    /// future. Of several futures for clones of a configuration, one checks.
    ///
    /// Clients of this configuration and of its clones then open new connections. Requests in flight are completed on
    /// the old ones; watches end. If the new files cannot be used (partly written, or a key of another certificate), a
    /// warning is logged and the previous configuration stays in use. Another current context is not followed: the one at
    /// the start must still exist. Token files are reloaded independently, every 50 s and after a 401 response.
    ///
    /// After a 401 response, the credential plugin of the kubeconfig is run, as by client-go, but at most every 5 s. A
    /// token with an expiration time is also renewed a minute before it, without this future. A certificate is not, and if a
    /// plugin fails when `kube` runs it for a certificate, requests are sent without credentials.
    ///
    /// client-go replaces connections when a client certificate changes (`transport/cert_rotation.go`), but never
    /// reloads a kubeconfig.
    pub fn follow_files(&self) -> impl Future<Output = Infallible> + Send + use<> {
        Arc::clone(&self.live).follow()
    }

    /// Returns the state of the credentials, as updated by the responses to all clients of this configuration.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns whether the server answers, as updated by the attempts of all clients of this configuration.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// Returns a configuration for the same server that authenticates as a service account. No credentials of this
    /// configuration are sent.
    ///
    /// `token_client` requests tokens for the account (`TokenRequest`, valid for 1 h): before the first request,
    /// after 80% of a token's lifetime, and after a 401 response. It creates the account if it does not exist, and
    /// tries to create its namespace if that does not exist. Without a token a request is not sent and fails with
    /// [`Error::Transport`](crate::Error::Transport). Clients of clones of the result share one token.
    #[must_use]
    pub fn as_service_account(&self, token_client: Client, namespace: &str, name: &str) -> Self {
        let account = Some(ServiceAccount::new(token_client, namespace, name));
        Self { account, credentials: Credentials::default(), ..self.clone() }
    }

    /// Returns the URL of the server; `http://in-process/` for a configuration [`over`](Self::from_service) a service.
    pub fn server(&self) -> String {
        self.live.loaded().inner.cluster_url.to_string()
    }

    /// Returns whether connections over TLS check the certificate of the server: not with `insecure-skip-tls-verify` in
    /// the kubeconfig.
    pub fn verifies_server(&self) -> bool {
        let inner = &self.live.loaded().inner;
        !inner.accept_invalid_certs || inner.cluster_url.scheme_str() == Some("http")
    }

    /// Returns the namespace of the kubeconfig's context, or in a Pod that of its service account; `default` if there is
    /// none.
    pub fn default_namespace(&self) -> String {
        self.live.loaded().inner.default_namespace.clone()
    }

    /// Returns the host of the server, with the port if the address has one.
    pub(crate) fn host(&self) -> String {
        let loaded = self.live.loaded();
        let authority = loaded.inner.cluster_url.authority().map_or("", http::uri::Authority::as_str);
        authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned()
    }
}

/// Formats the server URL only; credentials are never logged.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("server", &self.server()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use display_full_error::DisplayFullErrorExt as _;
    use rstest::rstest;

    use super::*;

    const GOOD: &str = "
apiVersion: v1
kind: Config
current-context: dev
contexts: [{name: dev, context: {cluster: dev, user: dev}}]
clusters: [{name: dev, cluster: {server: 'http://127.0.0.1:8080'}}]
users: [{name: dev, user: {}}]
";

    async fn load(text: &str) -> Result<Config, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("admin.conf");
        std::fs::write(&path, text).unwrap();
        let loaded = Config::from_kubeconfig(&path).await;
        loaded.map_err(|error| error.to_string_full().replace(&path.display().to_string(), "FILE"))
    }

    #[rstest]
    #[case::not_yaml("{{{{", "kubeconfig FILE: failed to parse kubeconfig YAML")]
    #[case::scalar("hello", "kubeconfig FILE: failed to parse kubeconfig YAML")]
    #[case::empty("", "kubeconfig FILE: ")]
    #[case::no_context("apiVersion: v1\nkind: Config\n", "kubeconfig FILE: current-context is not set")]
    #[case::unknown_context(
        "current-context: prod\ncontexts: []\n",
        "kubeconfig FILE: context \"prod\" does not exist"
    )]
    #[case::unknown_cluster(
        "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n",
        "kubeconfig FILE: cluster \"b\" does not exist"
    )]
    #[case::ftp(&GOOD.replace("http://", "ftp://"), "kubeconfig FILE: server address \"ftp://127.0.0.1:8080/\": neither")]
    #[case::no_server(&GOOD.replace("server: 'http://127.0.0.1:8080'", ""), "kubeconfig FILE: the cluster has no server")]
    #[case::no_scheme(
        &GOOD.replace("http://", ""),
        "kubeconfig FILE: server address \"127.0.0.1:8080\" has no scheme: write https://127.0.0.1:8080 or"
    )]
    #[case::no_scheme_and_no_port(
        &GOOD.replace("http://127.0.0.1:8080", "localhost"),
        "kubeconfig FILE: server address \"localhost\" has no scheme: write https://localhost or"
    )]
    #[case::unknown_user(
        &GOOD.replace("user: dev", "user: nobody"),
        "kubeconfig FILE: user \"nobody\" was not found for context \"dev\""
    )]
    #[case::empty_authority(
        &GOOD.replace("server:", "certificate-authority: /dev/null, server:"),
        "kubeconfig FILE: certificate-authority has no certificate"
    )]
    #[tokio::test]
    async fn invalid_kubeconfig_error_is_one_line(#[case] text: &str, #[case] expect: &str) {
        let error = load(text).await.unwrap_err();
        assert!(error.starts_with(expect), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    #[tokio::test]
    async fn missing_kubeconfig_error_contains_the_path() {
        let error = Config::from_kubeconfig("/nowhere/admin.conf".as_ref()).await.unwrap_err().to_string_full();
        assert!(error.starts_with("kubeconfig /nowhere/admin.conf: No such file"), "{error}");
    }

    #[tokio::test]
    async fn without_kubeconfig_the_service_account_is_inferred() {
        let infer = |variable: Option<&Path>, home: Option<&Path>| {
            let variable = variable.map(|path| path.as_os_str().to_owned());
            let files = KubeconfigFiles::resolve_in(KubeconfigOptions::default(), variable, home.map(Path::to_owned));
            Config::infer_from(files)
        };
        let nowhere = infer(Some("/nowhere/config".as_ref()), None).unwrap_err().to_string_full();
        assert!(
            nowhere.starts_with("no kubeconfig (kubeconfig /nowhere/config): in-cluster configuration: "),
            "{nowhere}"
        );
        // A container without a shell has no home directory.
        let homeless = infer(None, None).unwrap_err();
        assert!(matches!(homeless, ConfigError::Infer { .. }), "{homeless}");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(&path, "kind: Config").unwrap();
        let invalid = infer(Some(&path), None).unwrap_err();
        assert!(matches!(invalid, ConfigError::Kubeconfig { .. }), "{invalid}");
        std::fs::write(&path, GOOD).unwrap();
        assert_eq!(infer(Some(&path), None).unwrap().server(), "http://127.0.0.1:8080/");
    }

    #[tokio::test]
    async fn text_is_a_kubeconfig() {
        assert_eq!(Config::from_kubeconfig_text(GOOD).unwrap().server(), "http://127.0.0.1:8080/");
        let error = Config::from_kubeconfig_text("current-context: a").unwrap_err().to_string_full();
        assert_eq!(error, "kubeconfig: context \"a\" does not exist");
    }

    #[rstest]
    #[case("127.0.0.1:8080", Some("http://127.0.0.1:8080/"))]
    #[case("https://api.example:6443/prefix", Some("https://api.example:6443/prefix"))]
    #[case("ftp://api.example", None)]
    #[case("http://", None)]
    #[case("not a url", None)]
    fn server_address_is_parsed(#[case] url: &str, #[case] expect: Option<&str>) {
        assert_eq!(Config::from_url(url).ok().map(|config| config.server()).as_deref(), expect);
    }
}
