//! What this build can do of what the flags ask for. A flag that asks for more is refused, never ignored.

use kube_endpoint_model::parse_go_bool;

/// Parts of the program that may not be there yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Available {
    /// A service account for each controller.
    pub(crate) service_accounts: bool,
}

/// What is there.
pub(crate) const AVAILABLE: Available = Available { service_accounts: false };

impl Available {
    /// What help and reference say of the flags that are refused.
    pub(super) fn notice(self) -> Option<String> {
        let Available { service_accounts } = self;
        let missing: Vec<&str> =
            [(service_accounts, "a service account for each controller (--use-service-account-credentials)")]
                .into_iter()
                .filter_map(|(there, what)| (!there).then_some(what))
                .collect();
        (!missing.is_empty()).then(|| format!("Not available yet, and refused: {}.", missing.join(", ")))
    }

    /// Why a flag with this value cannot be served, if so.
    pub(super) fn refusal(self, name: &str, value: &str) -> Option<String> {
        let on = parse_go_bool(value) == Some(true);
        let why = match name {
            "use-service-account-credentials" if !self.service_accounts && on => {
                "all controllers share one identity, use --use-service-account-credentials=false"
            }
            _ => return None,
        };
        Some(format!("--{name}={value} is not available yet: {why}"))
    }
}
