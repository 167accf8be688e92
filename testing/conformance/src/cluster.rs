//! Clusters on which scenarios are played: an API server and the connection of the controllers.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use kube_controller_client::Config;
use kube_dev_apiserver::{Authorization, Config as ServerConfig, Server, Transport, User};
use serde_json::Value;
use tempfile::TempDir;

use crate::{Api, Connection, Profile, Request};

/// Size of the request log of the embedded server, at some hundred bytes per request. No file needs as many requests.
const REMEMBERED: usize = 100_000;

/// Group with all rights.
const MASTERS: &str = "system:masters";

/// Cluster on which scenarios are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The embedded API server over TLS, one for each file.
    Embedded,
    /// The embedded API server without a socket, for controllers in the process of the test. In a runtime with paused
    /// time, scenarios then take virtual time.
    InProcess,
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
}

/// API server, embedded or existing, and the connection of the controllers.
pub struct Cluster {
    config: Config,
    controllers: Connection,
    embedded: Option<Embedded>,
}

struct Embedded {
    server: Server,
    in_process: bool,
    /// Directory of the kubeconfigs.
    files: TempDir,
}

impl Embedded {
    async fn connect(&self, name: &str, group: &str) -> Result<Connection> {
        let user = User::new(name).group(group);
        let kubeconfig = if self.in_process { PathBuf::new() } else { self.files.path().join(name) };
        let config = if self.in_process {
            Config::from_service(self.server.service().as_user(user))
        } else {
            std::fs::write(&kubeconfig, self.server.kubeconfig_for(user))?;
            Config::from_kubeconfig(&kubeconfig).await?
        };
        Ok(Connection { config, kubeconfig })
    }
}

impl Cluster {
    /// Starts a cluster. `server` configures the embedded server, except transport, authorization and request log.
    ///
    /// # Errors
    /// The server does not start, or the rights cannot be granted.
    pub async fn start(target: &Target, server: ServerConfig, access: &Access) -> Result<Self> {
        let server = ServerConfig {
            transport: Transport::Tls,
            authorization: Authorization::Rbac,
            request_log: REMEMBERED,
            ..server
        };
        let server = match target {
            Target::Embedded => Server::start(server).await?,
            Target::InProcess => Server::in_process(server)?,
            Target::Cluster { kubeconfig } => {
                let config = Config::from_kubeconfig(kubeconfig).await?;
                let controllers = Connection { config: config.clone(), kubeconfig: kubeconfig.clone() };
                return Ok(Self { config, controllers, embedded: None });
            }
        };
        let files = tempfile::tempdir()?;
        let embedded = Embedded { server, in_process: *target == Target::InProcess, files };
        let config = embedded.connect("admin", MASTERS).await?.config;
        let rights = access.rights.as_deref();
        grant(&config, rights.unwrap_or_default()).await.context("cannot grant the rights")?;
        let group = if rights.is_some() { "system:authenticated" } else { MASTERS };
        Ok(Self { config, controllers: embedded.connect(&access.user, group).await?, embedded: Some(embedded) })
    }

    /// Returns a client configuration with all rights.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the connection of the controllers.
    pub fn controllers(&self) -> &Connection {
        &self.controllers
    }

    /// Returns the embedded server; `None` on other targets.
    pub fn server(&self) -> Option<&Server> {
        self.embedded.as_ref().map(|it| &it.server)
    }

    /// Returns a connection to the embedded server of a user with all rights.
    ///
    /// # Errors
    /// The server is not the embedded one, or the kubeconfig cannot be written.
    pub async fn connect_as(&self, user: &str) -> Result<Connection> {
        let embedded = self.embedded.as_ref().context("only the embedded server has other users")?;
        embedded.connect(user, MASTERS).await
    }

    /// Checks that the embedded server has denied no request of the controllers.
    ///
    /// # Errors
    /// It has, or its request log was too short.
    pub fn check_rights(&self, profile: &Profile) -> Result<()> {
        let Some(server) = self.server() else { return Ok(()) };
        let mut requests = server.requests().all();
        ensure!(requests.len() < REMEMBERED, "the request log is too short");
        requests.retain(|it| it.denied && profile.has_sent(it));
        ensure!(requests.is_empty(), "requests of the controllers were denied: {requests:#?}");
        Ok(())
    }

    /// Stops the embedded server.
    pub async fn stop(self) {
        if let Some(embedded) = self.embedded {
            embedded.server.shutdown().await;
        }
    }
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
    async fn create(connection: &Connection, name: &str) -> u16 {
        let options = ClientOptions { user_agent: "controller-manager".to_owned(), ..ClientOptions::default() };
        let body = map(name, &Value::Null).to_string().into_bytes();
        let client = Client::new(&connection.config, options).unwrap();
        client.raw(http::Method::POST, MAPS, Some("application/json"), body).await.unwrap().0.as_u16()
    }

    /// A namespace is deleted at the end of one scenario, and the log is cleared. A controller that has not observed the
    /// deletion creates an object during the next one.
    #[tokio::test]
    async fn a_create_in_a_namespace_in_deletion_is_not_denied_even_if_the_log_lacks_the_deletion() {
        let access = Access::with_rights("controllers", include_str!("../rights.yaml")).unwrap();
        let cluster = Cluster::start(&Target::Embedded, ServerConfig::default(), &access).await.unwrap();
        let (player, profile) = (Api::new(cluster.config()).unwrap(), Profile::find("controller-manager").unwrap());
        let namespace = json!({"metadata": {"name": "shop"}});
        player.ok(Request::create("/api/v1/namespaces".to_owned(), namespace)).await.unwrap();
        // The finalizer keeps the namespace.
        player.ok(Request::create(MAPS.to_owned(), map("kept", &json!(["example.com/kept"])))).await.unwrap();
        player.ok(Request::delete("/api/v1/namespaces/shop".to_owned(), None)).await.unwrap();
        cluster.server().unwrap().requests().clear();
        assert_eq!(create(&cluster.connect_as("admin").await.unwrap(), "late").await, 403);
        cluster.check_rights(&profile).unwrap();

        assert_eq!(create(cluster.controllers(), "without-rights").await, 403);
        let error = cluster.check_rights(&profile).unwrap_err().to_string();
        assert!(error.starts_with("requests of the controllers were denied"), "{error}");
        assert_eq!(error.matches("LoggedRequest {").count(), 1, "{error}");
        cluster.stop().await;
    }
}
