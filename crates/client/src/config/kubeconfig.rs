//! Loading of kubeconfig files: which files, how they are merged, and which context is used.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use http::uri::Scheme;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError, NamedContext};
use secrecy::{ExposeSecret as _, SecretString};
use tower::BoxError;

use super::{
    error::ConfigError,
    source::{Files, Parsed, check_certificate_authority, parse_server_address},
};
use crate::kube_error::KubeError;

/// Files of a kubeconfig, and overrides of its context, as the flags of kubectl select them.
///
/// The default is what kubectl uses without flags.
#[derive(Debug, Clone, Default)]
pub struct KubeconfigOptions {
    /// The only file to read (`--kubeconfig`). `None` reads the files of `$KUBECONFIG`, or `~/.kube/config` if that is
    /// unset or empty.
    pub path: Option<PathBuf>,
    /// Name of the context (`--context`); `None` uses the context that is current when the configuration is loaded.
    pub context: Option<String>,
    /// Name of the cluster (`--cluster`); `None` uses that of the context.
    pub cluster: Option<String>,
    /// Name of the user (`--user`); `None` uses that of the context.
    pub user: Option<String>,
    /// Address of the server (`--server` of kubectl, `--master`); `None` uses that of the cluster. Without a scheme it is
    /// https if the kubeconfig has a certificate authority, a client certificate or `insecure-skip-tls-verify`; otherwise it
    /// is http.
    pub server: Option<String>,
    /// User to act as (`--as`), which needs the right to impersonate; `None` uses `as` of the user, if it has that.
    pub impersonate: Option<String>,
    /// Groups to act as (`--as-group`), with a user to act as; empty uses `as-groups` of the user.
    pub impersonate_groups: Vec<String>,
    /// UID to act as (`--as-uid`), with a user to act as; `None` uses `as-uid` of the user.
    pub impersonate_uid: Option<String>,
    /// Bearer token (`--token`); replaces the token, password or credential plugin of the user, while a client
    /// certificate stays in use.
    pub token: Option<SecretString>,
    /// File with the certificate authorities of the server (`--certificate-authority`); replaces those of the cluster and
    /// its `insecure-skip-tls-verify`.
    pub certificate_authority: Option<PathBuf>,
    /// Whether not to verify the certificate of the server (`--insecure-skip-tls-verify`); `true` replaces the certificate
    /// authorities of the cluster, `false` uses the setting of the cluster.
    pub insecure_skip_tls_verify: bool,
    /// Name in the certificate of the server (`--tls-server-name`); `None` uses that of the cluster, unless
    /// [`server`](Self::server) replaces its address.
    pub tls_server_name: Option<String>,
}

/// Files and overrides of a kubeconfig. The environment has been read.
#[derive(Debug, Clone)]
pub(crate) struct KubeconfigFiles {
    /// Files in order of precedence; at least one.
    paths: Vec<PathBuf>,
    /// The overrides. Without a path, a file that does not exist is skipped, as by client-go.
    options: KubeconfigOptions,
}

impl KubeconfigFiles {
    /// Resolves the options in the environment of this process, and the current context in the files.
    pub(crate) fn resolve(options: KubeconfigOptions) -> Result<KubeconfigFiles, ConfigError> {
        KubeconfigFiles::resolve_in(options, env::var_os("KUBECONFIG"), env::home_dir())
    }

    pub(super) fn resolve_in(
        mut options: KubeconfigOptions,
        variable: Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<KubeconfigFiles, ConfigError> {
        options.drop_empty();
        let paths = match &options.path {
            Some(path) => vec![path.clone()],
            None => default_paths(variable, home)?,
        };
        let mut files = KubeconfigFiles { paths, options };
        // As in client-go, which reads a kubeconfig once, a later `kubectl config use-context` changes nothing: the process
        // would go on with another cluster.
        if files.options.context.is_none() {
            files.options.context = files.merge()?.current_context;
        }
        Ok(files)
    }

    pub(super) fn load(&self) -> Result<Parsed, ConfigError> {
        // The files are read before they are parsed, so that a change in between is detected by the next check. A file
        // that does not exist is recorded too: it may be created.
        let mut files = Files::read(self.paths.iter().map(PathBuf::as_path));
        let mut kubeconfig = self.merge()?;
        let failed = |source| ConfigError::Kubeconfig { path: self.joined_paths(), source };
        if let Some(user) = self.options.user.as_ref().filter(|user| !has_user(&kubeconfig, user)) {
            return Err(failed(format!("auth info {user:?} does not exist").into()));
        }
        self.options.select(&mut kubeconfig);
        self.options.override_cluster(&mut kubeconfig).map_err(failed)?;
        let (mut inner, referenced) = load_context(kubeconfig, &self.options).map_err(failed)?;
        files.extend(referenced);
        if let Some(server) = &self.options.server {
            set_server(&mut inner, server)?;
        }
        Ok((inner, files))
    }

    /// Merges the files: of each name and of each scalar value, the first file that has it counts.
    fn merge(&self) -> Result<Kubeconfig, ConfigError> {
        let mut merged: Option<Kubeconfig> = None;
        for path in &self.paths {
            let failed = |error| ConfigError::Kubeconfig { path: path.clone(), source: describe(error) };
            let mut next = match Kubeconfig::read_from(path) {
                Ok(next) => next,
                Err(KubeconfigError::ReadConfig(error, _))
                    if self.options.path.is_none() && error.kind() == io::ErrorKind::NotFound =>
                {
                    continue;
                }
                Err(error) => return Err(failed(error)),
            };
            // As in client-go, an empty value does not override that of a later file.
            next.current_context = next.current_context.filter(|name| !name.is_empty());
            merged = Some(match merged {
                Some(before) => before.merge(next).map_err(failed)?,
                None => next,
            });
        }
        merged.ok_or_else(|| {
            let source = io::Error::from(io::ErrorKind::NotFound).into();
            ConfigError::Kubeconfig { path: self.joined_paths(), source }
        })
    }

    /// Returns the paths as `$KUBECONFIG` lists them.
    fn joined_paths(&self) -> PathBuf {
        match self.paths.as_slice() {
            [path] => path.clone(),
            paths => env::join_paths(paths).map_or_else(|_| paths[0].clone(), PathBuf::from),
        }
    }
}

impl KubeconfigOptions {
    /// Removes empty values, which override nothing, as for kubectl.
    fn drop_empty(&mut self) {
        let Self { context, cluster, user, server, impersonate, impersonate_uid, tls_server_name, .. } = self;
        for value in [context, cluster, user, server, impersonate, impersonate_uid, tls_server_name] {
            value.take_if(|value| value.is_empty());
        }
        self.certificate_authority.take_if(|path| path.as_os_str().is_empty());
        self.token.take_if(|token| token.expose_secret().is_empty());
    }

    /// Makes the context of the overrides the current one, with the cluster and user of the overrides.
    fn select(&self, kubeconfig: &mut Kubeconfig) {
        let Self { context, cluster, user, .. } = self;
        if context.is_some() {
            kubeconfig.current_context.clone_from(context);
        } else if kubeconfig.current_context.is_none() && cluster.is_some() {
            // As in client-go, an explicit cluster needs no context. Its name cannot conflict with another.
            kubeconfig.contexts = vec![NamedContext { context: Some(Context::default()), ..NamedContext::default() }];
            kubeconfig.current_context = Some(String::new());
        }
        if let Some(current) = context_mut(kubeconfig) {
            if let Some(cluster) = cluster {
                current.cluster.clone_from(cluster);
            }
            if user.is_some() {
                current.user.clone_from(user);
            }
        }
    }

    fn override_user(&self, user: &mut AuthInfo) {
        let Self { token, impersonate, impersonate_groups, impersonate_uid, .. } = self;
        if token.is_some() {
            // As in client-go, a token replaces what the credential plugin returns. Here it replaces all that would be sent
            // in its header.
            user.token.clone_from(token);
            (user.token_file, user.exec, user.auth_provider) = (None, None, None);
            (user.username, user.password) = (None, None);
        }
        if impersonate.is_some() {
            user.impersonate.clone_from(impersonate);
        }
        if !impersonate_groups.is_empty() {
            user.impersonate_groups = Some(impersonate_groups.clone());
        }
        if impersonate_uid.is_some() {
            user.impersonate_uid.clone_from(impersonate_uid);
        }
    }

    /// Overrides the TLS settings of the cluster of the current context, as `DirectClientConfig.getCluster` of client-go.
    fn override_cluster(&self, kubeconfig: &mut Kubeconfig) -> Result<(), BoxError> {
        let Self { server, certificate_authority, insecure_skip_tls_verify: insecure, tls_server_name, .. } = self;
        if *insecure && certificate_authority.is_some() {
            return Err("specifying a root certificates file with the insecure flag is not allowed".into());
        }
        let Some(cluster) = cluster_mut(kubeconfig) else { return Ok(()) };
        if *insecure || certificate_authority.is_some() {
            cluster.insecure_skip_tls_verify = Some(*insecure);
            cluster.certificate_authority = match certificate_authority {
                // Relative to the working directory, not to the kubeconfig.
                Some(path) => Some(path.to_str().ok_or("certificate-authority is not UTF-8")?.to_owned()),
                None => None,
            };
            cluster.certificate_authority_data = None;
        }
        // The name of the kubeconfig is that of the address in it.
        if tls_server_name.is_some() || server.is_some() {
            cluster.tls_server_name.clone_from(tls_server_name);
        }
        Ok(())
    }
}

pub(super) fn load_text(text: &str) -> Result<kube::Config, BoxError> {
    let kubeconfig = Kubeconfig::from_yaml(text).map_err(describe)?;
    load_context(kubeconfig, &KubeconfigOptions::default()).map(|(inner, _)| inner)
}

/// Loads the current context with overrides of its user and cluster.
pub(super) fn load_options(
    mut kubeconfig: Kubeconfig,
    mut options: KubeconfigOptions,
) -> Result<kube::Config, BoxError> {
    options.drop_empty();
    options.override_cluster(&mut kubeconfig)?;
    load_context(kubeconfig, &options).map(|(inner, _)| inner)
}

/// Loads the current context, with the files that it refers to.
fn load_context(mut kubeconfig: Kubeconfig, options: &KubeconfigOptions) -> Result<Parsed, BoxError> {
    let missing_user = missing_user(&mut kubeconfig).filter(|_| options.token.is_none());
    let cluster = cluster_mut(&mut kubeconfig).cloned().unwrap_or_default();
    let mut files = Files::read(cluster.certificate_authority.as_deref().map(Path::new));
    let mut inner = kube::Config::try_from(kubeconfig).map_err(describe)?;
    if let Some(error) = missing_user {
        return Err(error.into());
    }
    // Otherwise it is from the environment, whose `NO_PROXY` kube compares with the proxy.
    inner.proxy_url.take_if(|_| cluster.proxy_url.as_ref().is_none_or(String::is_empty));
    options.override_user(&mut inner.auth_info);
    files.extend(Files::of_user(&inner.auth_info));
    if inner.cluster_url.scheme().is_none() {
        let url = &inner.cluster_url;
        return Err(format!("server address \"{url}\" has no scheme: write https://{url} or http://{url}").into());
    }
    parse_server_address(&inner.cluster_url.to_string(), &Scheme::HTTPS)?;
    check_certificate_authority(&inner)?;
    if inner.default_namespace.is_empty() {
        "default".clone_into(&mut inner.default_namespace);
    }
    Ok((inner, files))
}

/// Replaces the address of the server. Without a scheme it is https if the configuration has a certificate authority,
/// a client certificate or `insecure-skip-tls-verify` (client-go: `DefaultServerUrlFor`); otherwise it is http, over which
/// no credentials are sent.
fn set_server(config: &mut kube::Config, server: &str) -> Result<(), ConfigError> {
    let user = &config.auth_info;
    let has_certificate = user.client_certificate.is_some() || user.client_certificate_data.is_some();
    let has_tls = config.root_cert.is_some() || config.accept_invalid_certs || has_certificate;
    config.cluster_url = parse_server_address(server, if has_tls { &Scheme::HTTPS } else { &Scheme::HTTP })?;
    Ok(())
}

/// Returns the paths that `$KUBECONFIG` lists, or that of the file in the home directory.
fn default_paths(variable: Option<OsString>, home: Option<PathBuf>) -> Result<Vec<PathBuf>, ConfigError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in env::split_paths(&variable.unwrap_or_default()) {
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        let home = home.filter(|home| !home.as_os_str().is_empty()).ok_or_else(|| ConfigError::Kubeconfig {
            path: Path::new("~").join(".kube").join("config"),
            source: Box::new(io::Error::new(
                io::ErrorKind::NotFound,
                "the home directory is unknown: set KUBECONFIG or HOME",
            )),
        })?;
        paths.push(home.join(".kube").join("config"));
    }
    Ok(paths)
}

/// Returns the error for a context whose user does not exist, which `kube` and client-go replace by the anonymous user.
fn missing_user(kubeconfig: &mut Kubeconfig) -> Option<String> {
    let name = context_mut(kubeconfig)?.user.clone()?;
    let context = kubeconfig.current_context.as_deref().unwrap_or_default();
    let is_missing = !name.is_empty() && !has_user(kubeconfig, &name);
    is_missing.then(|| format!("user {name:?} was not found for context {context:?}"))
}

fn has_user(kubeconfig: &Kubeconfig, name: &str) -> bool {
    kubeconfig.auth_infos.iter().any(|named| named.name == name)
}

fn context_mut(kubeconfig: &mut Kubeconfig) -> Option<&mut Context> {
    let mut contexts = kubeconfig.contexts.iter_mut();
    contexts.find(|named| Some(&named.name) == kubeconfig.current_context.as_ref())?.context.as_mut()
}

/// Returns the cluster of the current context.
fn cluster_mut(kubeconfig: &mut Kubeconfig) -> Option<&mut Cluster> {
    let name = context_mut(kubeconfig)?.cluster.clone();
    kubeconfig.clusters.iter_mut().find(|named| named.name == name)?.cluster.as_mut()
}

/// Returns the error without the path of the kubeconfig, which the caller adds.
fn describe(error: KubeconfigError) -> BoxError {
    match error {
        KubeconfigError::ReadConfig(source, _) => source.into(),
        KubeconfigError::CurrentContextNotSet => "current-context is not set".into(),
        KubeconfigError::LoadContext(context) => format!("context {context:?} does not exist").into(),
        KubeconfigError::LoadClusterOfContext(cluster) => format!("cluster {cluster:?} does not exist").into(),
        KubeconfigError::MissingClusterUrl => "the cluster has no server".into(),
        other => KubeError::new(&other).into(),
    }
}

#[cfg(test)]
mod tests;
