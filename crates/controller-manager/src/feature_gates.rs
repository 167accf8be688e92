//! Which rules are switched on or off: the flag `--feature-gates`.

use kube_endpoint::Legacy;
use kube_endpoint_model::parse_go_bool;

/// An entry of `--feature-gates` that cannot be obeyed.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureGateError {
    /// It names no gate of this program.
    #[error("unrecognized feature gate: {name}; known are {}", KNOWN.map(|gate| gate.name).join(", "))]
    Unknown {
        /// The name as it was written.
        name: String,
    },
    /// It has no value.
    #[error("missing bool value for {name}")]
    Missing {
        /// The gate.
        name: String,
    },
    /// Its value is no boolean.
    #[error("invalid value of {name}={value}: expected true or false")]
    Invalid {
        /// The gate.
        name: String,
        /// The value as it was written.
        value: String,
    },
}

/// A gate, and the switch it is.
struct Gate {
    name: &'static str,
    switch: fn(&mut Legacy) -> &mut bool,
}

/// All gates of this program: alpha, and off unless asked for.
const KNOWN: [Gate; 3] = [
    Gate { name: "LegacyTolerateUnreadyEndpoints", switch: |it| &mut it.tolerate_unready_endpoints },
    Gate { name: "LegacySingleStackEndpoints", switch: |it| &mut it.single_stack_endpoints },
    Gate { name: "LegacyRestartPolicyMembership", switch: |it| &mut it.restart_policy_membership },
];

/// Resolves a list such as `LegacySingleStackEndpoints=true`. The last entry for a gate decides.
pub(crate) fn parse(list: &[String]) -> Result<Legacy, FeatureGateError> {
    let mut legacy = Legacy::default();
    for entry in list.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()) {
        let (name, value) =
            entry.split_once('=').map_or((entry, None), |(name, value)| (name.trim(), Some(value.trim())));
        let gate = KNOWN.iter().find(|gate| gate.name == name);
        let gate = gate.ok_or_else(|| FeatureGateError::Unknown { name: name.to_owned() })?;
        let value = value.ok_or_else(|| FeatureGateError::Missing { name: name.to_owned() })?;
        let invalid = || FeatureGateError::Invalid { name: name.to_owned(), value: value.to_owned() };
        *(gate.switch)(&mut legacy) = parse_go_bool(value).ok_or_else(invalid)?;
    }
    Ok(legacy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn entries(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[rstest]
    #[case("", [false, false, false])]
    #[case("LegacyTolerateUnreadyEndpoints=true", [true, false, false])]
    #[case("LegacySingleStackEndpoints=true", [false, true, false])]
    #[case("LegacyRestartPolicyMembership=true", [false, false, true])]
    #[case(" LegacyRestartPolicyMembership = T ,LegacySingleStackEndpoints=false,", [false, false, true])]
    #[case("LegacySingleStackEndpoints=true,LegacySingleStackEndpoints=false", [false, false, false])]
    fn resolves(#[case] list: &str, #[case] expected: [bool; 3]) {
        let mut legacy = parse(&entries(list)).unwrap();
        assert_eq!(KNOWN.map(|gate| *(gate.switch)(&mut legacy)), expected);
    }

    #[rstest]
    #[case(
        "WatchListClient=true",
        "unrecognized feature gate: WatchListClient; known are LegacyTolerateUnreadyEndpoints, "
    )]
    #[case("LegacySingleStackEndpoints", "missing bool value for LegacySingleStackEndpoints")]
    #[case(
        "LegacySingleStackEndpoints=maybe",
        "invalid value of LegacySingleStackEndpoints=maybe: expected true or false"
    )]
    fn refuses(#[case] list: &str, #[case] expected: &str) {
        let message = parse(&entries(list)).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}
