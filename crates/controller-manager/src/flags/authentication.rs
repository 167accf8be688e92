//! Who asks for health and metrics.

use clap::Args;

use super::{go_bool_parser, path};
use crate::go_duration::{self, GoDuration};
use crate::settings::AuthenticationSettings;

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Authentication flags")]
pub(super) struct Authentication {
    /// Kubeconfig of the API server that is asked whose a token is. Without it, the service account of the
    /// Pod asks; outside of a Pod, every token is as good as none.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    authentication_kubeconfig: String,

    /// Do not ask the API server whose client certificates are believed, where --client-ca-file does not say it.
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool_parser, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true"
    )]
    authentication_skip_lookup: bool,

    /// Go on, and believe no client certificate, where the API server refuses to say that.
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool_parser, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true"
    )]
    authentication_tolerate_lookup_failure: bool,

    /// How long its answers are good for.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthenticationSettings::default().token_ttl), value_parser = go_duration::value)]
    authentication_token_webhook_cache_ttl: GoDuration,

    /// The authorities whose client certificates are believed, in PEM. Without it, those of
    /// configmap/extension-apiserver-authentication in kube-system.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    client_ca_file: String,
}

impl Authentication {
    pub(super) fn settings(&self) -> AuthenticationSettings {
        let Authentication {
            authentication_kubeconfig,
            authentication_skip_lookup,
            authentication_tolerate_lookup_failure,
            authentication_token_webhook_cache_ttl,
            client_ca_file,
        } = self;
        AuthenticationSettings {
            client_ca_file: path(client_ca_file),
            skip_lookup: *authentication_skip_lookup,
            tolerate_lookup_failure: *authentication_tolerate_lookup_failure,
            kubeconfig: path(authentication_kubeconfig),
            token_ttl: authentication_token_webhook_cache_ttl.0,
        }
    }
}
