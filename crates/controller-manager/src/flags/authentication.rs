//! Flags for the authentication of the HTTPS server's clients.

use clap::Args;
use kube_controller_serving::AuthenticationSettings;

use super::value::{go_bool_parser, path};
use crate::go_duration::{self, GoDuration};

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Authentication flags")]
pub(super) struct Authentication {
    /// Kubeconfig for `TokenReview` requests, which authenticate bearer tokens. Without it, the service account of the
    /// Pod is used; outside of a Pod, bearer tokens are ignored and requests are anonymous.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    authentication_kubeconfig: String,

    /// Do not look up the CA bundle for client certificates in the cluster if --client-ca-file is not given. Client
    /// certificates are then ignored.
    #[arg(long, value_name = "BOOL", value_parser = go_bool_parser, default_value = "false")]
    authentication_skip_lookup: bool,

    /// Start even if the API server forbids that lookup. Client certificates are ignored until a later lookup succeeds.
    #[arg(long, value_name = "BOOL", value_parser = go_bool_parser, default_value = "false")]
    authentication_tolerate_lookup_failure: bool,

    /// Time for which the result of a `TokenReview` is cached.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(AuthenticationSettings::default().token_ttl), value_parser = go_duration::value)]
    authentication_token_webhook_cache_ttl: GoDuration,

    /// CA bundle in PEM that client certificates are verified against. Without it, the one in
    /// configmap/extension-apiserver-authentication of kube-system.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    client_ca_file: String,
}

impl Authentication {
    pub(super) fn settings(&self) -> AuthenticationSettings {
        AuthenticationSettings {
            client_ca_file: path(&self.client_ca_file),
            skip_lookup: self.authentication_skip_lookup,
            tolerate_lookup_failure: self.authentication_tolerate_lookup_failure,
            kubeconfig: path(&self.authentication_kubeconfig),
            token_ttl: self.authentication_token_webhook_cache_ttl.0,
        }
    }
}
