//! Who asks for health and metrics.

use clap::Args;

use super::path;
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

    /// How long its answers are good for.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthenticationSettings::default().token_ttl), value_parser = go_duration::value)]
    authentication_token_webhook_cache_ttl: GoDuration,

    /// The authorities whose client certificates are believed, in PEM.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    client_ca_file: String,
}

impl Authentication {
    pub(super) fn settings(&self) -> AuthenticationSettings {
        let Authentication { authentication_kubeconfig, authentication_token_webhook_cache_ttl, client_ca_file } = self;
        AuthenticationSettings {
            client_ca_file: path(client_ca_file),
            kubeconfig: path(authentication_kubeconfig),
            token_ttl: authentication_token_webhook_cache_ttl.0,
        }
    }
}
