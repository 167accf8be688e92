//! How to reach an API server, and as whom.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use http::Uri;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::{Client, service_account::ServiceAccount};

/// Address, trust and identity for an API server.
///
/// From a kubeconfig, from the service account of the pod we run in, or, for plain HTTP in tests, from a URL.
#[derive(Clone)]
pub struct Config {
    pub(crate) inner: kube::Config,
    /// Who requests are of, where it is not who `inner` says.
    pub(crate) account: Option<ServiceAccount>,
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
    /// Reads the current context of a kubeconfig file.
    pub async fn from_kubeconfig(path: &Path) -> Result<Self, ConfigError> {
        let refuse =
            |error: &KubeconfigError| ConfigError::Kubeconfig { path: path.to_owned(), cause: complaint(error) };
        let kubeconfig = Kubeconfig::read_from(path).map_err(|error| refuse(&error))?;
        let options = KubeConfigOptions::default();
        let inner = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|error| refuse(&error))?;
        let url = inner.cluster_url.to_string();
        server_address(&url)
            .map_err(|error| ConfigError::Kubeconfig { path: path.to_owned(), cause: error.to_string() })?;
        Ok(Self { inner, account: None })
    }

    /// Uses the service account mounted into the pod we run in.
    pub fn in_cluster() -> Result<Self, ConfigError> {
        let inner = kube::Config::incluster().map_err(|error| ConfigError::InCluster { cause: one_line(&error) })?;
        Ok(Self { inner, account: None })
    }

    /// Talks to `url` without any credentials.
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        Ok(Self { inner: kube::Config::new(server_address(url)?), account: None })
    }

    /// The same identity at another address (`--master`). Without a scheme, `http` is meant, as in client-go.
    pub fn with_server(mut self, url: &str) -> Result<Self, ConfigError> {
        self.inner.cluster_url = server_address(url)?;
        Ok(self)
    }

    /// The same server, as one of its service accounts, and with nothing of the identity that this configuration has.
    ///
    /// `asking` asks for the account's tokens (`TokenRequest`, an hour each) when they are needed: before the first request,
    /// after four fifths of a token's time, and after an answer of 401. It makes the account if there is none, and its namespace
    /// as well if it may. A request for which there is no token fails without being sent. Clients that are made of clones of
    /// the result share tokens.
    #[must_use]
    pub fn as_service_account(&self, asking: Client, namespace: &str, name: &str) -> Self {
        let mut inner = self.inner.clone();
        inner.auth_info = AuthInfo::default();
        Self { inner, account: Some(ServiceAccount::new(asking, namespace, name)) }
    }

    /// The address of the server.
    pub fn server(&self) -> String {
        self.inner.cluster_url.to_string()
    }

    /// The host of the server, with its port if the address has one.
    pub(crate) fn host(&self) -> String {
        let authority = self.inner.cluster_url.authority().map_or("", http::uri::Authority::as_str);
        authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned()
    }
}

/// Says where, never as whom: credentials do not belong into logs.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("server", &self.server()).finish_non_exhaustive()
    }
}

/// What is wrong with a kubeconfig, without the file's name, which the caller knows.
fn complaint(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(cause, _) => cause.to_string(),
        KubeconfigError::CurrentContextNotSet => "no current-context".to_owned(),
        KubeconfigError::LoadContext(context) => format!("there is no context {context:?}"),
        KubeconfigError::LoadClusterOfContext(cluster) => format!("there is no cluster {cluster:?}"),
        KubeconfigError::MissingClusterUrl => "the cluster has no server".to_owned(),
        other => one_line(other),
    }
}

fn server_address(url: &str) -> Result<Uri, ConfigError> {
    let refuse = |cause: String| ConfigError::Server { url: url.to_owned(), cause };
    let full = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
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
