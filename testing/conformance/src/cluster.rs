//! Clusters on which scenarios are played: an API server and the kubeconfig of the controllers under test.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use kube_controller_client::Config;
use kube_dev_apiserver::{Authorization, LoggedRequest, On, Server, Transport, User};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Api, Request, Tally, Write, Writers};

/// Size of the request log of the embedded server, at some hundred bytes per request. No file needs as many requests.
const REMEMBERED: usize = 100_000;

/// Cluster on which scenarios are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The embedded API server, one for each file.
    Embedded,
    /// An existing cluster, for all files one after the other.
    Cluster {
        /// Path of the kubeconfig.
        kubeconfig: PathBuf,
    },
}

/// User and rights of the controllers on the embedded server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Name of the user.
    pub user: String,
    /// Documents of a YAML file with all roles and bindings, each as JSON; `None` allows every request.
    pub rights: Option<Vec<Value>>,
}

impl Access {
    /// Allows every request.
    pub fn all() -> Self {
        Self { user: "controller-under-test".to_owned(), rights: None }
    }

    /// Parses a YAML file with the roles and bindings of `user`.
    ///
    /// # Errors
    /// A document is not valid YAML.
    pub fn with_rights(user: &str, yaml: &str) -> Result<Self> {
        let documents = yaml.split("\n---\n").map(serde_saphyr::from_str::<Value>);
        let mut rights = documents.collect::<Result<Vec<_>, _>>()?;
        rights.retain(|document| !document.is_null());
        Ok(Self { user: user.to_owned(), rights: Some(rights) })
    }

    fn user(&self) -> User {
        let group = if self.rights.is_some() { "system:authenticated" } else { "system:masters" };
        User::new(&self.user).group(group)
    }
}

/// API server, embedded or existing, and the kubeconfig of the controllers.
pub struct Cluster {
    config: Config,
    kubeconfig: PathBuf,
    runs: Runs,
}

/// Servers that run as long as the cluster is used.
enum Runs {
    /// The server and the directory of the kubeconfigs.
    Embedded(Box<Server>, TempDir),
    Elsewhere,
}

impl Cluster {
    /// Starts a cluster. `server` configures the embedded server, except authorization and request log.
    ///
    /// # Errors
    /// The server does not start, or the rights cannot be granted.
    pub async fn start(target: &Target, server: kube_dev_apiserver::Config, access: &Access) -> Result<Self> {
        let (admin, controllers, runs) = match target {
            Target::Embedded => {
                // Over plain HTTP, clients send no credentials, so that there are no users with rights.
                let authorization = match server.transport {
                    Transport::Plain => Authorization::AlwaysAllow,
                    Transport::Tls => Authorization::Rbac,
                };
                let server = kube_dev_apiserver::Config { authorization, request_log: REMEMBERED, ..server };
                let server = Server::start(server).await?;
                let files = tempfile::tempdir()?;
                let (admin, controllers) = (files.path().join("admin"), files.path().join("controllers"));
                std::fs::write(&admin, server.kubeconfig())?;
                std::fs::write(&controllers, server.kubeconfig_for(access.user()))?;
                let rights = access.rights.as_deref().unwrap_or_default();
                grant(&Config::from_kubeconfig(&admin).await?, rights).await.context("cannot grant the rights")?;
                (admin, controllers, Runs::Embedded(Box::new(server), files))
            }
            Target::Cluster { kubeconfig } => (kubeconfig.clone(), kubeconfig.clone(), Runs::Elsewhere),
        };
        Ok(Self { config: Config::from_kubeconfig(&admin).await?, kubeconfig: controllers, runs })
    }

    /// Returns a client configuration with all rights.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the path of the kubeconfig of the controllers.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Returns the embedded server; `None` on other targets.
    pub fn server(&self) -> Option<&Server> {
        match &self.runs {
            Runs::Embedded(server, _) => Some(server),
            Runs::Elsewhere => None,
        }
    }

    /// Writes a kubeconfig of a user with all rights. Returns its path.
    ///
    /// # Errors
    /// The server is not the embedded one, or the file cannot be written.
    pub fn kubeconfig_for(&self, user: &str) -> Result<PathBuf> {
        let Runs::Embedded(server, files) = &self.runs else {
            anyhow::bail!("only the embedded server has kubeconfigs of other users")
        };
        let path = files.path().join(user);
        std::fs::write(&path, server.kubeconfig_for(User::new(user).group("system:masters")))?;
        Ok(path)
    }

    /// Returns the numbers of writes of the controllers so far. Only the embedded server counts them.
    ///
    /// # Errors
    /// The server denied a request of the controllers, or its request log was too short.
    pub fn tally(&self, writers: &Writers) -> Result<Tally> {
        let Some(server) = self.server() else { return Ok(Tally::default()) };
        let mut requests = server.requests().all();
        ensure!(requests.len() < REMEMBERED, "the request log is too short");
        requests.retain(|it| writers.include(&it.user_agent));
        let denied: Vec<_> = requests.iter().filter(|it| it.denied).collect();
        ensure!(denied.is_empty(), "requests of the controllers were denied: {denied:#?}");
        let writes: Vec<_> = requests.iter().filter_map(write).collect();
        Ok(Tally::of(&writes, writers))
    }

    /// Stops the embedded server.
    pub async fn stop(self) {
        if let Runs::Embedded(server, _files) = self.runs {
            server.shutdown().await;
        }
    }
}

/// Returns the default configuration of the embedded server, with TLS if `tls` is set.
pub(crate) fn server_config(tls: bool) -> kube_dev_apiserver::Config {
    let transport = if tls { Transport::Tls } else { Transport::Plain };
    kube_dev_apiserver::Config { transport, ..<_>::default() }
}

/// Converts a request of the embedded server's log. `None` for reads, dry runs and subresources.
pub(crate) fn write(request: &LoggedRequest) -> Option<Write> {
    let is_write = request.matches(&On::writes().subresource("")) && !request.dry_run;
    is_write.then(|| Write {
        verb: request.verb.clone(),
        resource: request.resource.clone(),
        namespace: request.namespace.clone(),
        name: if request.name.is_empty() { request.object_name.clone() } else { request.name.clone() },
        user_agent: request.user_agent.clone(),
        code: request.status,
        accepted: request.applied,
    })
}

/// Creates roles and bindings.
async fn grant(config: &Config, rights: &[Value]) -> Result<()> {
    let api = Api::new(config)?;
    for object in rights {
        let plural = object["kind"].as_str().context("an object of the rights has no kind")?.to_lowercase() + "s";
        let place = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("namespaces/{namespace}/{plural}"),
            None => plural,
        };
        api.ok(Request::create(format!("/apis/rbac.authorization.k8s.io/v1/{place}"), object.clone())).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{Client, ClientOptions};
    use serde_json::json;

    use super::*;

    const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

    fn map(name: &str, finalizers: &Value) -> Value {
        json!({"metadata": {"name": name, "finalizers": finalizers}})
    }

    /// Creates a `ConfigMap` as a controller. Returns the status code.
    async fn create(kubeconfig: &Path, name: &str) -> u16 {
        let config = Config::from_kubeconfig(kubeconfig).await.unwrap();
        let options = ClientOptions { user_agent: "controllers".to_owned(), ..ClientOptions::default() };
        let body = map(name, &Value::Null).to_string().into_bytes();
        let client = Client::new(&config, options).unwrap();
        client.raw(http::Method::POST, MAPS, Some("application/json"), body).await.unwrap().0.as_u16()
    }

    /// A namespace is deleted at the end of one scenario, and the log is cleared. A controller that has not observed the
    /// deletion creates an object during the next one.
    #[tokio::test]
    async fn a_create_in_a_namespace_in_deletion_is_not_denied_even_if_the_log_lacks_the_deletion() {
        let access = Access::with_rights("controllers", include_str!("../rights.yaml")).unwrap();
        let cluster = Cluster::start(&Target::Embedded, server_config(true), &access).await.unwrap();
        let (player, writers) = (Api::new(cluster.config()).unwrap(), Writers::all_but_the_player());
        let namespace = json!({"metadata": {"name": "shop"}});
        player.ok(Request::create("/api/v1/namespaces".to_owned(), namespace)).await.unwrap();
        // The finalizer keeps the namespace.
        player.ok(Request::create(MAPS.to_owned(), map("kept", &json!(["example.com/kept"])))).await.unwrap();
        player.ok(Request::delete("/api/v1/namespaces/shop".to_owned(), None)).await.unwrap();
        cluster.server().unwrap().requests().clear();
        assert_eq!(create(&cluster.kubeconfig_for("admin").unwrap(), "late").await, 403);
        cluster.tally(&writers).unwrap();

        assert_eq!(create(cluster.kubeconfig(), "without-rights").await, 403);
        let error = cluster.tally(&writers).unwrap_err().to_string();
        assert!(error.starts_with("requests of the controllers were denied"), "{error}");
        assert_eq!(error.matches("LoggedRequest {").count(), 1, "{error}");
        cluster.stop().await;
    }
}
