//! Flags for the address of the API server, for flags of kube-controller-manager, for help and version.

use clap::{ArgAction, Args};

use super::value::{go_bool_parser, path};
use crate::settings::ClientSettings;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Misc flags")]
pub(super) struct Misc {
    /// Kubeconfig with the address of the API server and the credentials. Without it and without --master, the service
    /// account of the Pod is used.
    #[arg(long, value_name = "FILE", default_value = "", hide_default_value = true)]
    kubeconfig: String,

    /// URL of the API server; overrides the one in the kubeconfig. Without a kubeconfig, requests carry no credentials.
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    master: String,

    /// Ignore flags of kube-controller-manager that have no effect in this program, with a warning for each, so that
    /// its manifest can be used unchanged. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "BOOL", value_parser = go_bool_parser, default_value = "false")]
    pub(super) allow_upstream_flags: bool,
}

impl Misc {
    pub(super) fn apply(&self, client: &mut ClientSettings) {
        client.kubeconfig = path(&self.kubeconfig);
        client.master = Some(self.master.clone()).filter(|it| !it.is_empty());
    }
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global flags")]
pub(super) struct Global {
    /// Print this help.
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,

    /// Print the version; raw also prints operating system and architecture.
    #[arg(long, value_name = "BOOL|raw")]
    pub(super) version: Option<String>,
}
