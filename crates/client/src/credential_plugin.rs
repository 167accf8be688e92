//! The credential plugin of a kubeconfig (`exec` of its user), and the error if it cannot be started.

use std::io;

use kube::{client::AuthError, config::AuthInfo};
use tower::BoxError;

use crate::kube_error::KubeError;

/// Command of a credential plugin, which the errors of `kube` do not contain.
#[derive(Debug, Clone)]
pub(crate) struct CredentialPlugin {
    command: String,
    /// What to do if the command does not exist, on one line.
    install_hint: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot start the credential plugin {command:?} of the kubeconfig{hint}")]
struct StartError {
    command: String,
    /// Empty, or the hint in parentheses after a space.
    hint: String,
    source: io::Error,
}

impl CredentialPlugin {
    /// Returns the plugin of a user; `None` without one, or without a command.
    pub(crate) fn of(user: &AuthInfo) -> Option<Self> {
        let exec = user.exec.as_ref()?;
        let hint = exec.install_hint.as_deref().unwrap_or_default();
        let install_hint = hint.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Self { command: exec.command.clone()?, install_hint })
    }
}

/// Describes an error of the credentials, with the command of `plugin` if that cannot be started.
pub(crate) fn describe(error: AuthError, plugin: Option<&CredentialPlugin>) -> BoxError {
    match (error, plugin) {
        (AuthError::AuthExecStart(source), Some(CredentialPlugin { command, install_hint })) => {
            let hint = if install_hint.is_empty() { String::new() } else { format!(" ({install_hint})") };
            StartError { command: command.clone(), hint, source }.into()
        }
        (error, _) => KubeError::new(&error).into(),
    }
}

/// Describes an error of a request if it is one of the credentials.
pub(crate) fn describe_in_request(error: BoxError, plugin: Option<&CredentialPlugin>) -> BoxError {
    error.downcast::<AuthError>().map_or_else(|other| other, |error| describe(*error, plugin))
}

#[cfg(test)]
mod tests {
    use display_full_error::DisplayFullErrorExt as _;
    use kube::config::ExecConfig;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::command("", "cannot start the credential plugin \"aws\" of the kubeconfig: missing")]
    #[case::hint(
        "It is not installed.\n  See example.com.\n",
        "cannot start the credential plugin \"aws\" of the kubeconfig (It is not installed. See example.com.): missing"
    )]
    fn plugin_that_does_not_start_is_named(#[case] hint: &str, #[case] expect: &str) {
        let install_hint = Some(hint.to_owned());
        let exec = ExecConfig { command: Some("aws".to_owned()), install_hint, ..ExecConfig::default() };
        let plugin = CredentialPlugin::of(&AuthInfo { exec: Some(exec), ..AuthInfo::default() });
        let missing = || io::Error::new(io::ErrorKind::NotFound, "missing");
        let error = describe_in_request(AuthError::AuthExecStart(missing()).into(), plugin.as_ref());
        assert_eq!(error.to_string_full(), expect);
        let other = describe_in_request(missing().into(), plugin.as_ref());
        assert_eq!(other.to_string_full(), "missing");
        let without = describe(AuthError::AuthExecStart(missing()), None);
        assert_eq!(without.to_string_full(), "unable to run auth exec: missing");
    }
}
