//! What this build can do of what the flags ask for. A flag that asks for more is refused, never ignored.

use kube_endpoint_model::parse_go_bool;

/// Parts of the program that may not be there yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Available {
    /// Serving health and metrics.
    pub(crate) serving: bool,
    /// A service account for each controller.
    pub(crate) service_accounts: bool,
}

/// What is there.
pub(crate) const AVAILABLE: Available = Available { serving: false, service_accounts: false };

/// Why a flag of serving is refused.
const NO_SERVING: &str = "health and metrics are not served, use --secure-port=0";

impl Available {
    /// What help and reference say of the flags that are refused.
    pub(super) fn notice(self) -> Option<String> {
        let Available { serving, service_accounts } = self;
        let missing: Vec<&str> = [
            (serving, "health and metrics (--secure-port)"),
            (service_accounts, "a service account for each controller (--use-service-account-credentials)"),
        ]
        .into_iter()
        .filter_map(|(there, what)| (!there).then_some(what))
        .collect();
        (!missing.is_empty()).then(|| format!("Not available yet, and refused: {}.", missing.join(", ")))
    }

    /// Why a flag with this value cannot be served, if so. `said` gives what the command line says of another flag.
    pub(super) fn refusal<'a>(self, name: &str, value: &str, said: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
        let no_serving_wanted = said("secure-port") == Some("0");
        let on = parse_go_bool(value) == Some(true);
        let why = match name {
            "secure-port" if !self.serving && value != "0" => NO_SERVING,
            "secure-port" => return None,
            _ if serves(name) && !self.serving && !no_serving_wanted => NO_SERVING,
            "use-service-account-credentials" if !self.service_accounts && on => {
                "all controllers share one identity, use --use-service-account-credentials=false"
            }
            _ => return None,
        };
        Some(format!("--{name}={value} is not available yet: {why}"))
    }
}

fn serves(name: &str) -> bool {
    ["bind-address", "cert-dir", "client-ca-file"].contains(&name)
        || ["tls-", "authentication-", "authorization-"].iter().any(|prefix| name.starts_with(prefix))
}
