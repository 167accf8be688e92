//! Loading of kubeconfig files: which files, how they are merged, and which context is used.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use http::uri::Scheme;
use kube::config::{AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError, NamedContext};
use tower::BoxError;

use super::{
    error::ConfigError,
    source::{Files, Parsed, check_certificate_authority, parse_server_address},
};
use crate::kube_error::KubeError;

/// Files of a kubeconfig, and overrides of its context, as the flags of kubectl select them.
///
/// The default is what kubectl uses without flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KubeconfigOptions {
    /// The only file to read (`--kubeconfig`). `None` reads the files of `$KUBECONFIG`, or `~/.kube/config` if that is
    /// unset or empty.
    pub path: Option<PathBuf>,
    /// Name of the context (`--context`); `None` uses the current context.
    pub context: Option<String>,
    /// Name of the cluster (`--cluster`); `None` uses that of the context.
    pub cluster: Option<String>,
    /// Name of the user (`--user`); `None` uses that of the context.
    pub user: Option<String>,
    /// User to act as (`--as`), which needs the right to impersonate; `None` uses `as` of the user, if it has that.
    pub impersonate: Option<String>,
    /// Groups to act as (`--as-group`), with a user to act as; empty uses `as-groups` of the user.
    pub impersonate_groups: Vec<String>,
}

/// Files and overrides of a kubeconfig. The environment has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KubeconfigFiles {
    /// Files in order of precedence; at least one.
    paths: Vec<PathBuf>,
    /// Whether a file that does not exist is skipped, as client-go does with all but an explicit path.
    skip_missing: bool,
    context: Option<String>,
    cluster: Option<String>,
    user: Option<String>,
    impersonate: Option<String>,
    impersonate_groups: Vec<String>,
}

impl KubeconfigFiles {
    /// Resolves the options in the environment of this process.
    pub(crate) fn resolve(options: KubeconfigOptions) -> Result<KubeconfigFiles, ConfigError> {
        KubeconfigFiles::resolve_in(options, env::var_os("KUBECONFIG"), env::home_dir())
    }

    pub(super) fn resolve_in(
        options: KubeconfigOptions,
        variable: Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<KubeconfigFiles, ConfigError> {
        let KubeconfigOptions { path, context, cluster, user, impersonate, impersonate_groups } = options;
        let skip_missing = path.is_none();
        let paths = match path {
            Some(path) => vec![path],
            None => default_paths(variable, home)?,
        };
        Ok(KubeconfigFiles { paths, skip_missing, context, cluster, user, impersonate, impersonate_groups })
    }

    /// Reads, merges and resolves the files.
    pub(super) fn load(&self) -> Result<Parsed, ConfigError> {
        // The files are read before they are parsed, so that a change in between is detected by the next check. A file
        // that does not exist is recorded too: it may be created.
        let mut files = Files::read(self.paths.iter().map(PathBuf::as_path));
        let mut kubeconfig = self.merge()?;
        self.select(&mut kubeconfig);
        let failed = |source| ConfigError::Kubeconfig { path: self.joined_paths(), source };
        let (mut inner, proxy_url, referenced) = load_context(kubeconfig).map_err(failed)?;
        files.extend(referenced);
        if self.impersonate.is_some() {
            inner.auth_info.impersonate.clone_from(&self.impersonate);
        }
        if !self.impersonate_groups.is_empty() {
            inner.auth_info.impersonate_groups = Some(self.impersonate_groups.clone());
        }
        Ok((inner, proxy_url, files))
    }

    /// Merges the files: of each name and of each scalar value, the first file that has it counts.
    fn merge(&self) -> Result<Kubeconfig, ConfigError> {
        let mut merged: Option<Kubeconfig> = None;
        for path in &self.paths {
            let failed = |error| ConfigError::Kubeconfig { path: path.clone(), source: describe(error) };
            let mut next = match Kubeconfig::read_from(path) {
                Ok(next) => next,
                Err(KubeconfigError::ReadConfig(error, _))
                    if self.skip_missing && error.kind() == io::ErrorKind::NotFound =>
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

    /// Makes the context of the overrides the current one, with the cluster and user of the overrides.
    fn select(&self, kubeconfig: &mut Kubeconfig) {
        let Self { context, cluster, user, .. } = self;
        if context.is_some() {
            kubeconfig.current_context.clone_from(context);
        }
        let Some(name) = &kubeconfig.current_context else {
            // As in client-go, an explicit cluster needs no context.
            if let Some(cluster) = cluster {
                let context = Context { cluster: cluster.clone(), user: user.clone(), ..Context::default() };
                // No context of the file is used, so that its name cannot conflict with another.
                kubeconfig.contexts =
                    vec![NamedContext { name: String::new(), context: Some(context), ..Default::default() }];
                kubeconfig.current_context = Some(String::new());
            }
            return;
        };
        let named = kubeconfig.contexts.iter_mut().find(|named| named.name == *name);
        if let Some(context) = named.and_then(|named| named.context.as_mut()) {
            if let Some(cluster) = cluster {
                context.cluster.clone_from(cluster);
            }
            if user.is_some() {
                context.user.clone_from(user);
            }
        }
    }

    /// Returns the paths as `$KUBECONFIG` lists them.
    fn joined_paths(&self) -> PathBuf {
        match self.paths.as_slice() {
            [path] => path.clone(),
            paths => env::join_paths(paths).map_or_else(|_| paths[0].clone(), PathBuf::from),
        }
    }
}

/// Loads the current context of a kubeconfig that is text, with the files that it refers to.
pub(super) fn load_text(text: &str) -> Result<Parsed, BoxError> {
    load_context(Kubeconfig::from_yaml(text).map_err(describe)?)
}

/// Loads the current context, with the files that it refers to.
fn load_context(kubeconfig: Kubeconfig) -> Result<Parsed, BoxError> {
    let files = Files::read(referenced_files(&kubeconfig).iter().map(PathBuf::as_path));
    let proxy_url = cluster(&kubeconfig).and_then(|cluster| cluster.proxy_url.clone()).filter(|url| !url.is_empty());
    let mut inner = kube::Config::try_from(kubeconfig).map_err(describe)?;
    if inner.cluster_url.scheme().is_none() {
        let url = &inner.cluster_url;
        return Err(format!("server address \"{url}\" has no scheme: write https://{url} or http://{url}").into());
    }
    parse_server_address(&inner.cluster_url.to_string(), &Scheme::HTTPS)?;
    check_certificate_authority(&inner)?;
    if inner.default_namespace.is_empty() {
        "default".clone_into(&mut inner.default_namespace);
    }
    Ok((inner, proxy_url, files))
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

fn context(kubeconfig: &Kubeconfig) -> Option<&Context> {
    let mut contexts = kubeconfig.contexts.iter();
    contexts.find(|named| Some(&named.name) == kubeconfig.current_context.as_ref())?.context.as_ref()
}

/// Returns the cluster of the current context.
fn cluster(kubeconfig: &Kubeconfig) -> Option<&Cluster> {
    let name = &context(kubeconfig)?.cluster;
    kubeconfig.clusters.iter().find(|named| named.name == *name)?.cluster.as_ref()
}

/// Returns the user of the current context.
fn user(kubeconfig: &Kubeconfig) -> Option<&AuthInfo> {
    let name = context(kubeconfig)?.user.as_ref()?;
    kubeconfig.auth_infos.iter().find(|named| named.name == *name)?.auth_info.as_ref()
}

/// Returns the certificate and key files of the current context. Token files are excluded: `TokenFile` reloads them
/// without new connections.
fn referenced_files(kubeconfig: &Kubeconfig) -> Vec<PathBuf> {
    let authority = cluster(kubeconfig).and_then(|cluster| cluster.certificate_authority.as_ref());
    let user = user(kubeconfig);
    let certificate = user.and_then(|user| user.client_certificate.as_ref());
    let key = user.and_then(|user| user.client_key.as_ref());
    [authority, certificate, key].into_iter().flatten().map(PathBuf::from).collect()
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
