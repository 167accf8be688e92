//! Where the API server is, and what to do with the flags of others.

use clap::{ArgAction, Args};

use super::{go_bool_parser, path};
use crate::settings::ClientSettings;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Misc flags")]
pub(super) struct Misc {
    /// Kubeconfig that says where the API server is and how to authenticate; without it and without --master, the service
    /// account of the Pod this runs in.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    kubeconfig: String,

    /// Address of the API server; wins over the one in the kubeconfig. Without a kubeconfig, it is asked without
    /// credentials.
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    master: String,

    /// Ignore flags of kube-controller-manager that mean nothing here, with a warning each, so that its manifest can be
    /// used as it is. Not a flag of kube-controller-manager.
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool_parser, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true"
    )]
    pub(super) allow_upstream_flags: bool,
}

impl Misc {
    pub(super) fn apply(&self, client: &mut ClientSettings) {
        let Misc { kubeconfig, master, allow_upstream_flags: _ } = self;
        client.kubeconfig = path(kubeconfig);
        client.master = Some(master.clone()).filter(|it| !it.is_empty());
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global flags")]
pub(super) struct Global {
    /// Print this help.
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print the version; raw prints all that is known of it.
    #[arg(long, value_name = "BOOL|raw", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) version: Option<String>,
}
