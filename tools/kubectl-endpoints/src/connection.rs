//! Configuration and client of the API server.

use kube_controller_client::{
    Client, ClientOptions, Config, ConfigError, Error, KubeconfigOptions, Timeouts, UrlOptions,
};
use kube_endpoint_model::Interner;

use crate::args::GlobalArgs;

/// A client, with the namespace that the arguments select.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Client that decodes objects with shared strings.
    pub(crate) client: Client,
    /// Namespace of `--namespace`, or of the context.
    pub(crate) namespace: String,
}

impl Connection {
    /// Loads the configuration that the arguments select. Connections are opened by the first request.
    pub(crate) async fn open(args: &GlobalArgs) -> Result<Connection, ConfigError> {
        let timeouts = args.timeouts(Timeouts::default());
        let config = Config::from_kubeconfig_with(kubeconfig_options(args)).await?;
        let namespace = named_namespace(args).unwrap_or_else(|| config.default_namespace());
        // The rate limit of kubectl.
        // The API server warns of every read of Endpoints, which the plugin explains on purpose.
        let (user_agent, log_warnings) = (user_agent(), false);
        let options = ClientOptions { user_agent, qps: 50.0, burst: 300, timeouts, log_warnings, ..Default::default() };
        let client = Client::new(&config, options)?.decoding_in(Interner::default());
        Ok(Connection { client, namespace })
    }
}

/// Returns the namespace of `--namespace`, or of the context; `default` if there is no kubeconfig. Sends no request.
pub(crate) async fn namespace_offline(args: &GlobalArgs) -> String {
    if let Some(namespace) = named_namespace(args) {
        return namespace;
    }
    let config = Config::from_kubeconfig_with(kubeconfig_options(args)).await;
    config.map_or_else(|_| "default".to_owned(), |config| config.default_namespace())
}

fn named_namespace(args: &GlobalArgs) -> Option<String> {
    args.namespace.clone().filter(|namespace| !namespace.is_empty())
}

/// Returns the kubeconfig and the overrides of the arguments.
fn kubeconfig_options(args: &GlobalArgs) -> KubeconfigOptions {
    KubeconfigOptions {
        path: args.kubeconfig.clone(),
        context: args.context.clone(),
        cluster: args.cluster.clone(),
        user: args.user.clone(),
        server: args.server.clone(),
        impersonate: args.impersonate.clone(),
        impersonate_groups: args.impersonate_groups.clone(),
        impersonate_uid: args.impersonate_uid.clone(),
        token: args.token.clone(),
        certificate_authority: args.certificate_authority.clone(),
        insecure_skip_tls_verify: args.insecure_skip_tls_verify,
        tls_server_name: args.tls_server_name.clone(),
    }
}

/// Returns the credentials and TLS settings of the arguments for a server other than the API server: none of the kubeconfig.
pub(crate) fn url_options(args: &GlobalArgs) -> UrlOptions {
    UrlOptions {
        token: args.token.clone(),
        certificate_authority: args.certificate_authority.clone(),
        insecure_skip_tls_verify: args.insecure_skip_tls_verify,
        tls_server_name: args.tls_server_name.clone(),
    }
}

fn user_agent() -> String {
    concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned()
}

/// Returns the error with the request in its message, which that of an API error lacks.
pub(crate) fn named(error: Error) -> anyhow::Error {
    match &error {
        Error::Api { call, .. } => {
            let call = call.to_string();
            anyhow::Error::new(error).context(call)
        }
        _ => error.into(),
    }
}
