//! Which endpoints controller is switched off.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::bail;
use clap::ValueEnum as _;

use crate::args::ControllerOff;
use crate::output::message;

/// Asks on a terminal. Fails elsewhere.
pub(super) fn ask() -> anyhow::Result<ControllerOff> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!(
            "--controller-off=kube-controller-manager or --controller-off=kube-endpoints says whose endpoints controller \
             is switched off"
        );
    }
    message("", "Whose endpoints controller is switched off, kube-controller-manager or kube-endpoints?");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match ControllerOff::from_str(answer.trim(), true) {
        Ok(controller) => Ok(controller),
        Err(_) => bail!("no endpoints controller is switched off: nothing was deleted"),
    }
}

/// Returns how the endpoints controller is switched off.
pub(super) fn how(controller: ControllerOff) -> &'static str {
    match controller {
        ControllerOff::KubeControllerManager => {
            "switch it off by --controllers=*,-endpoints-controller of kube-controller-manager, on all control plane Nodes"
        }
        ControllerOff::KubeEndpoints => {
            "switch it off by --controllers=*,-endpoints-controller of controller-manager, and let no kube-controller-manager run one"
        }
    }
}
