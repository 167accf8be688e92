//! Who may see health and metrics.

use clap::{ArgAction, Args};

use super::path;
use crate::go_duration::{self, GoDuration};
use crate::settings::AuthorizationSettings;

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Authorization flags")]
pub(super) struct Authorization {
    /// Paths open to everyone; one that ends in '*' stands for all that begin so.
    #[arg(
        long, value_name = "PATHS", value_delimiter = ',', action = ArgAction::Append,
        default_values_t = AuthorizationSettings::default().always_allow_paths
    )]
    authorization_always_allow_paths: Vec<String>,

    /// Kubeconfig of the API server that is asked what a caller may do. Without it, the service account of
    /// the Pod asks; outside of a Pod, only the paths that are always open are.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    authorization_kubeconfig: String,

    /// How long a yes is good for.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthorizationSettings::default().authorized_ttl), value_parser = go_duration::value)]
    authorization_webhook_cache_authorized_ttl: GoDuration,

    /// How long a no is good for.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthorizationSettings::default().unauthorized_ttl), value_parser = go_duration::value)]
    authorization_webhook_cache_unauthorized_ttl: GoDuration,
}

impl Authorization {
    pub(super) fn settings(&self, mistakes: &mut Vec<String>) -> AuthorizationSettings {
        let Authorization {
            authorization_always_allow_paths: paths,
            authorization_kubeconfig,
            authorization_webhook_cache_authorized_ttl,
            authorization_webhook_cache_unauthorized_ttl,
        } = self;
        for path in paths.iter().filter(|path| path.strip_suffix('*').unwrap_or(path).contains('*')) {
            mistakes.push(format!("only trailing * allowed in {path:?}"));
        }
        AuthorizationSettings {
            kubeconfig: path(authorization_kubeconfig),
            always_allow_paths: paths.iter().filter(|path| !path.is_empty()).cloned().collect(),
            authorized_ttl: authorization_webhook_cache_authorized_ttl.0,
            unauthorized_ttl: authorization_webhook_cache_unauthorized_ttl.0,
        }
    }
}
