//! How to reach an API server, and as whom.

mod live;
mod source;
mod target;

use std::{
    convert::Infallible,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use http::{Request, Response, Uri, uri::Scheme};
use http_body_util::Full;
use tower::{BoxError, Service};

use self::source::{Origin, Source};
pub(crate) use self::{live::Live, source::Loaded, target::Target};
use crate::{Client, Credentials, service_account::ServiceAccount};

/// Address, trust and identity for an API server.
///
/// From a kubeconfig, from the service account of the pod we run in, or, for plain HTTP in tests, from a URL.
#[derive(Clone)]
pub struct Config {
    pub(crate) target: Target,
    /// The user of requests, where it is not that of `target`.
    pub(crate) account: Option<ServiceAccount>,
    pub(crate) credentials: Credentials,
}

/// A configuration that cannot be used. The text is one line that says where the mistake is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The kubeconfig cannot be read or does not make sense.
    #[error("kubeconfig {path}: {cause}", path = path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// There is no service account to use: probably this is not running in a pod.
    #[error("in-cluster configuration: {cause}")]
    InCluster {
        /// What is missing.
        cause: String,
    },
    /// The server's address is not an http or https URL.
    #[error("server address {url:?}: {cause}")]
    Server {
        /// What was given.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// Certificates, keys, tokens or headers that cannot be used.
    #[error("cannot set up the connection to {server}: {cause}")]
    Connection {
        /// The server.
        server: String,
        /// What is wrong.
        cause: String,
    },
}

impl Config {
    fn of(origin: Origin, server: Option<String>) -> Result<Self, ConfigError> {
        let live = Live::new(Source { origin, server })?;
        Ok(Self::to(Target::Network(Arc::new(live))))
    }

    fn to(target: Target) -> Self {
        Self { target, account: None, credentials: Credentials::default() }
    }

    /// Reads the current context of a kubeconfig file.
    #[expect(clippy::unused_async, reason = "the interface leaves room for reading off the runtime")]
    pub async fn from_kubeconfig(path: &Path) -> Result<Self, ConfigError> {
        Self::of(Origin::Kubeconfig(path.to_owned()), None)
    }

    /// Uses the service account mounted into the pod we run in.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        Self::of(Origin::InCluster, None)
    }

    /// Talks to `url` without any credentials.
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        Self::of(Origin::Url(url.to_owned()), None)
    }

    /// Sends requests to `service` instead of a network address, without credentials. For tests and simulations.
    ///
    /// The URI of a request is its path and query. All requests of all clients go to clones of `service`; no connection, TLS
    /// or I/O driver is needed. An [`std::io::Error`] of the service or of a body, itself or as a source of another error,
    /// decides the [kind](crate::TransportKind) of the failure as one of a connection does: `ConnectionReset`, `BrokenPipe`
    /// and `UnexpectedEof` are [`Reset`](crate::TransportKind::Reset), for example.
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
    /// let client = Client::new(&Config::over(service), ClientOptions::default())?;
    /// assert_eq!(client.get_json("/version").await?["minor"], "36");
    /// # Ok(())
    /// # }
    /// ```
    pub fn over<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::to(Target::in_process(service))
    }

    /// The same identity at another address (`--master`). Without a scheme it is https if the configuration has an authority,
    /// a client certificate or `insecure-skip-tls-verify`, as in client-go; else it is http, and credentials are not sent.
    ///
    /// Errors: [`ConfigError::Server`] if the address is not an http or https URL, or if this configuration is
    /// [`over`](Self::over) a service.
    pub fn with_server(self, url: &str) -> Result<Self, ConfigError> {
        let Target::Network(live) = &self.target else {
            let cause = "requests go to a service of this process, which has no address".to_owned();
            return Err(ConfigError::Server { url: url.to_owned(), cause });
        };
        let origin = live.source().origin.clone();
        Ok(Self { account: self.account, ..Self::of(origin, Some(url.to_owned()))? })
    }

    /// Reads the configuration again whenever one of its files has other contents: the kubeconfig, the certificate of the
    /// authority, the certificate and the key of the client. Looks every 30 s and never returns.
    ///
    /// Clients of this configuration and of its clones then make new connections: requests under way are finished on the
    /// old ones, watches end. What cannot be used (half a file, a key of another certificate) is logged, and the
    /// configuration before stays. Token files do not depend on this: clients read them every 50 s, and after a 401.
    ///
    /// client-go replaces connections when a client certificate changes (`transport/cert_rotation.go`), and never reads a
    /// kubeconfig again.
    pub fn follow_files(&self) -> impl Future<Output = Infallible> + Send + use<> {
        self.target.clone().follow_files()
    }

    /// Whether the API server accepts the credentials of this configuration.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// The same server, as one of its service accounts, and with nothing of the identity that this configuration has.
    ///
    /// `asking` asks for the account's tokens (`TokenRequest`, an hour each) when they are needed: before the first request,
    /// after four fifths of a token's time, and after an answer of 401. It makes the account if there is none, and its namespace
    /// as well if it may. A request for which there is no token fails without being sent. Clients that are made of clones of
    /// the result share tokens.
    #[must_use]
    pub fn as_service_account(&self, asking: Client, namespace: &str, name: &str) -> Self {
        let account = Some(ServiceAccount::new(asking, namespace, name));
        Self { target: self.target.clone(), account, credentials: Credentials::default() }
    }

    /// The address of the server; `http://in-process/` for a configuration [`over`](Self::over) a service.
    pub fn server(&self) -> String {
        self.target.server()
    }

    /// The host of the server, with its port if the address has one.
    pub(crate) fn host(&self) -> String {
        self.target.host()
    }
}

/// Says where, never as whom: credentials do not belong into logs.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("server", &self.server()).finish_non_exhaustive()
    }
}

/// Parses an address, which has the scheme given if it has none itself.
fn server_address(url: &str, scheme: &Scheme) -> Result<Uri, ConfigError> {
    let refuse = |cause: String| ConfigError::Server { url: url.to_owned(), cause };
    let full = if url.contains("://") { url.to_owned() } else { format!("{scheme}://{url}") };
    let address: Uri = full.parse().map_err(|error: http::uri::InvalidUri| refuse(error.to_string()))?;
    match (address.scheme_str(), address.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(address),
        _ => Err(refuse("neither http nor https".to_owned())),
    }
}

/// The text of an error and of its causes, on one line. Parsers like to draw pictures of the place; logs want a sentence.
pub(crate) fn one_line(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let part = error.to_string();
        let part = part.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        // Many errors already end with their cause.
        if !text.ends_with(part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(part);
        }
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
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
        loaded.map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
    }

    #[tokio::test]
    async fn reads_the_current_context() {
        assert_eq!(load(GOOD).await.unwrap().server(), "http://127.0.0.1:8080/");
    }

    #[rstest]
    #[case::not_yaml("{{{{", "kubeconfig FILE: failed to parse kubeconfig YAML")]
    #[case::scalar("hello", "kubeconfig FILE: failed to parse kubeconfig YAML")]
    #[case::empty("", "kubeconfig FILE: ")]
    #[case::no_context("apiVersion: v1\nkind: Config\n", "kubeconfig FILE: no current-context")]
    #[case::unknown_context("current-context: prod\ncontexts: []\n", "kubeconfig FILE: there is no context \"prod\"")]
    #[case::unknown_cluster(
        "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n",
        "kubeconfig FILE: there is no cluster \"b\""
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
    #[case::empty_authority(
        &GOOD.replace("server:", "certificate-authority: /dev/null, server:"),
        "kubeconfig FILE: certificate-authority holds no certificate"
    )]
    #[tokio::test]
    async fn says_what_is_wrong_in_one_line(#[case] text: &str, #[case] expect: &str) {
        let error = load(text).await.unwrap_err();
        assert!(error.starts_with(expect), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    #[tokio::test]
    async fn names_a_missing_file() {
        let error = Config::from_kubeconfig("/nowhere/admin.conf".as_ref()).await.unwrap_err().to_string();
        assert!(error.starts_with("kubeconfig /nowhere/admin.conf: No such file"), "{error}");
    }

    #[rstest]
    #[case("127.0.0.1:8080", Some("http://127.0.0.1:8080/"))]
    #[case("https://api.example:6443/prefix", Some("https://api.example:6443/prefix"))]
    #[case("ftp://api.example", None)]
    #[case("http://", None)]
    #[case("not a url", None)]
    fn server_addresses(#[case] url: &str, #[case] expect: Option<&str>) {
        assert_eq!(Config::from_url(url).ok().map(|config| config.server()).as_deref(), expect);
    }
}
