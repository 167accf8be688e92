//! Flags for the authorization of requests to the HTTPS server.

use clap::{ArgAction, Args};
use kube_controller_serving::AuthorizationSettings;

use super::value::path;
use crate::go_duration::{self, GoDuration};

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Authorization flags")]
pub(super) struct Authorization {
    /// Paths that are served without authorization; a trailing '*' matches any suffix.
    #[arg(
        long, value_name = "PATHS", value_delimiter = ',', action = ArgAction::Append,
        default_values_t = AuthorizationSettings::default().always_allow_paths
    )]
    authorization_always_allow_paths: Vec<String>,

    /// Kubeconfig for `SubjectAccessReview` requests, which authorize all other paths. Without it, the service account
    /// of the Pod is used; outside of a Pod, other paths are forbidden except for members of system:masters.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    authorization_kubeconfig: String,

    /// Time for which an allowed `SubjectAccessReview` is cached.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthorizationSettings::default().authorized_ttl), value_parser = go_duration::value)]
    authorization_webhook_cache_authorized_ttl: GoDuration,

    /// Time for which a denied `SubjectAccessReview` is cached.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthorizationSettings::default().unauthorized_ttl), value_parser = go_duration::value)]
    authorization_webhook_cache_unauthorized_ttl: GoDuration,
}

impl Authorization {
    pub(super) fn settings(&self, errors: &mut Vec<String>) -> AuthorizationSettings {
        let paths = &self.authorization_always_allow_paths;
        for path in paths.iter().filter(|path| path.strip_suffix('*').unwrap_or(path).contains('*')) {
            errors.push(format!("only trailing * allowed in {path:?}"));
        }
        AuthorizationSettings {
            kubeconfig: path(&self.authorization_kubeconfig),
            always_allow_paths: paths.iter().filter(|path| !path.is_empty()).cloned().collect(),
            authorized_ttl: self.authorization_webhook_cache_authorized_ttl.0,
            unauthorized_ttl: self.authorization_webhook_cache_unauthorized_ttl.0,
        }
    }
}
