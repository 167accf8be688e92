//! Feature gates: the flag `--feature-gates`.

mod known;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use kube_endpoint_model::parse_go_bool;

/// How far a feature is, in upstream's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Off unless asked for; may go away.
    Alpha,
    /// Stays, may change.
    Beta,
    /// Stays as it is.
    Stable,
    /// Goes away.
    Deprecated,
}

impl Stage {
    /// As the metric `kubernetes_feature_enabled` names it: a stable feature has no name there.
    pub fn label(self) -> &'static str {
        match self {
            Stage::Alpha => "ALPHA",
            Stage::Beta => "BETA",
            Stage::Stable => "",
            Stage::Deprecated => "DEPRECATED",
        }
    }
}

/// One feature gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// As it is written in `--feature-gates`.
    pub name: &'static str,
    /// How far the feature is in Kubernetes 1.36.
    pub stage: Stage,
    /// Whether it is on when nothing is said.
    pub default: bool,
    /// Whether nothing else may be said.
    pub locked: bool,
}

/// Whether the slice controllers run, as before Kubernetes 1.25. Ours: on by default.
pub(crate) const ENDPOINT_SLICE: &str = "EndpointSlice";

/// Every alpha gate that is not named itself.
const ALL_ALPHA: Gate = Gate { name: "AllAlpha", stage: Stage::Alpha, default: false, locked: false };
/// Every beta gate that is not named itself.
const ALL_BETA: Gate = Gate { name: "AllBeta", stage: Stage::Beta, default: false, locked: false };

/// Rules of the Endpoints controller before Kubernetes 1.36, see [`kube_endpoint::Legacy`].
const TOLERATE_UNREADY: &str = "LegacyTolerateUnreadyEndpoints";
const SINGLE_STACK: &str = "LegacySingleStackEndpoints";
const RESTART_POLICY: &str = "LegacyRestartPolicyMembership";

/// Gates that this program adds to upstream's, and the only ones that change what it does. Older rules stand where
/// upstream has its own: deprecated and off, so that `AllAlpha` leaves them so.
const OURS: &[Gate] = &[
    Gate { name: ENDPOINT_SLICE, stage: Stage::Stable, default: true, locked: false },
    Gate { name: TOLERATE_UNREADY, stage: Stage::Deprecated, default: false, locked: false },
    Gate { name: SINGLE_STACK, stage: Stage::Deprecated, default: false, locked: false },
    Gate { name: RESTART_POLICY, stage: Stage::Deprecated, default: false, locked: false },
];

/// Why a text for `--feature-gates` is refused, in upstream's words.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureGateError {
    /// There is no such gate.
    #[error("unrecognized feature gate: {0}")]
    Unknown(String),
    /// A gate that is locked was to be changed.
    #[error("cannot set feature gate {name} to {value}, feature is locked to {}", !value)]
    Locked {
        /// The gate.
        name: &'static str,
        /// What it was to be.
        value: bool,
    },
    /// There is a name and no value.
    #[error("missing bool value for {0}")]
    NoValue(String),
    /// The value is no boolean.
    #[error("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")]
    NoBool {
        /// The gate.
        name: String,
        /// What was given for it.
        value: String,
    },
    /// It is for a program that this is not: `wardle:Foo=true`.
    #[error("component not registered: {0}")]
    Component(String),
}

/// What is on and what is off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    /// Shared until a gate is set.
    states: Arc<States>,
}

type States = BTreeMap<&'static str, (Gate, bool)>;

static DEFAULTS: LazyLock<Arc<States>> = LazyLock::new(|| {
    let gates = known::upstream().chain([ALL_ALPHA, ALL_BETA]).chain(OURS.iter().copied());
    Arc::new(gates.map(|gate| (gate.name, (gate, gate.default))).collect())
});

impl Default for FeatureGates {
    /// Kubernetes 1.36's defaults.
    fn default() -> Self {
        FeatureGates { states: Arc::clone(&DEFAULTS) }
    }
}

impl FeatureGates {
    /// Whether a feature is on. A gate that does not exist is off.
    pub fn enabled(&self, name: &str) -> bool {
        self.states.get(name).is_some_and(|(_, on)| *on)
    }

    /// Every gate and whether it is on, by name: what the metric `kubernetes_feature_enabled` shows.
    pub fn all(&self) -> impl Iterator<Item = (Gate, bool)> {
        self.states.values().copied()
    }

    /// The older rules that hold.
    #[cfg(feature = "endpoint")]
    pub(crate) fn legacy(&self) -> kube_endpoint::Legacy {
        kube_endpoint::Legacy {
            tolerate_unready_endpoints: self.enabled(TOLERATE_UNREADY),
            single_stack_endpoints: self.enabled(SINGLE_STACK),
            restart_policy_membership: self.enabled(RESTART_POLICY),
        }
    }

    /// Sets what texts such as `A=true,kube:B=false` say, later ones winning, and collects what is wrong with them.
    /// Gives what an operator should be told.
    pub(crate) fn set(&mut self, texts: &[String], errors: &mut Vec<FeatureGateError>) -> Vec<String> {
        let mut wanted = BTreeMap::new();
        for pair in texts.iter().flat_map(|text| text.split(',')).filter(|pair| !pair.trim().is_empty()) {
            match self.read(pair) {
                Ok((name, value)) => drop(wanted.insert(name, value)),
                Err(error) => errors.push(error),
            }
        }
        let states = Arc::make_mut(&mut self.states);
        for (group, stage) in [(ALL_ALPHA, Stage::Alpha), (ALL_BETA, Stage::Beta)] {
            let Some(all) = wanted.get(group.name) else { continue };
            let members = states.values_mut().filter(|(gate, _)| gate.stage == stage && gate.name != group.name);
            members.for_each(|(_, on)| *on = *all);
        }
        let mut remarks = Vec::new();
        for (name, value) in wanted {
            let Some((gate, on)) = states.get_mut(name) else { continue };
            *on = value;
            if OURS.iter().any(|it| it.name == name) {
                continue;
            }
            match gate.stage {
                Stage::Stable => {
                    remarks.push(format!(
                        "Setting GA feature gate {name}={value}. It will be removed in a future release."
                    ));
                }
                Stage::Deprecated => remarks.push(format!(
                    "Setting deprecated feature gate {name}={value}. It will be removed in a future release."
                )),
                _ => {}
            }
            remarks.push(format!("Feature gate {name} has no effect on these controllers"));
        }
        remarks
    }

    /// One pair. Nothing is set by it yet: `AllBeta` must not undo what stands before it.
    fn read(&self, pair: &str) -> Result<(&'static str, bool), FeatureGateError> {
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (pair.trim(), None),
        };
        let name = match name.split_once(':') {
            Some(("kube", name)) => name,
            Some((component, _)) => return Err(FeatureGateError::Component(component.to_owned())),
            None => name,
        };
        let value = value.ok_or_else(|| FeatureGateError::NoValue(name.to_owned()))?;
        let value = parse_go_bool(value)
            .ok_or_else(|| FeatureGateError::NoBool { name: name.to_owned(), value: value.to_owned() })?;
        let (gate, _) = self.states.get(name).ok_or_else(|| FeatureGateError::Unknown(name.to_owned()))?;
        if gate.locked && gate.default != value {
            return Err(FeatureGateError::Locked { name: gate.name, value });
        }
        Ok((gate.name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn set(texts: &[&str]) -> (FeatureGates, Vec<String>, Vec<String>) {
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        let (mut gates, mut errors) = (FeatureGates::default(), Vec::new());
        let remarks = gates.set(&texts, &mut errors);
        (gates, remarks, errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn no_gate_is_there_twice_and_each_is_at_its_default() {
        let gates = FeatureGates::default();
        let named = known::upstream().count() + OURS.len() + 2;
        assert_eq!(gates.all().count(), named);
        assert!(gates.all().all(|(gate, on)| gate.default == on));
    }

    /// As the Go program tells of its gates: name, stage, and whether it is on.
    #[test]
    fn they_are_upstreams() {
        const METRICS: &str = include_str!("../../../conformance/fixtures/kcm-metrics.txt");
        // Added by the distribution that the program was taken from.
        const CARRIED: [&str; 3] =
            ["MinimumKubeletVersion", "RouteExternalCertificate", "StoragePerformantSecurityPolicy"];
        let lines = METRICS.lines().filter_map(|line| line.strip_prefix("kubernetes_feature_enabled{name=\""));
        let expected: Vec<&str> =
            lines.filter(|line| !CARRIED.iter().any(|name| line.starts_with(&format!("{name}\"")))).collect();
        let gates = FeatureGates::default();
        let upstreams = gates.all().filter(|(gate, _)| !OURS.contains(gate));
        let found: Vec<String> = upstreams
            .map(|(gate, on)| format!("{}\",stage=\"{}\"}} {}", gate.name, gate.stage.label(), u8::from(on)))
            .collect();
        assert!(found.len() > 200);
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case(&["EndpointSlice=false"], "EndpointSlice", false)]
    #[case(&["kube:EndpointSlice=false"], "EndpointSlice", false)]
    #[case(&["EndpointSlice=false,EndpointSlice=true"], "EndpointSlice", true)]
    #[case(&["EndpointSlice=false", " EndpointSlice = T "], "EndpointSlice", true)]
    #[case(&["AllBeta=false"], "EndpointSlice", true)]
    #[case(&["AllBeta=false"], "ComponentFlagz", false)]
    #[case(&["ComponentFlagz=true,AllBeta=false"], "ComponentFlagz", true)]
    #[case(&["AllAlpha=true"], "NativeHistograms", true)]
    #[case(&["AllAlpha=true,NativeHistograms=false"], "NativeHistograms", false)]
    #[case(&["PreferSameTrafficDistribution=true"], "PreferSameTrafficDistribution", true)]
    #[case(&["LegacyTolerateUnreadyEndpoints=true"], "LegacyTolerateUnreadyEndpoints", true)]
    #[case(&["AllAlpha=true"], "LegacySingleStackEndpoints", false)]
    #[case(&["", ",,"], "EndpointSlice", true)]
    fn sets(#[case] texts: &[&str], #[case] name: &str, #[case] on: bool) {
        let (gates, _, errors) = set(texts);
        assert_eq!((gates.enabled(name), errors), (on, vec![]));
    }

    #[rstest]
    #[case("Nonsense=true", "unrecognized feature gate: Nonsense")]
    #[case("EndpointSlice", "missing bool value for EndpointSlice")]
    #[case("wardle:EndpointSlice=true", "component not registered: wardle")]
    #[case(
        "EndpointSlice=maybe",
        "invalid value of EndpointSlice=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax"
    )]
    #[case(
        "PreferSameTrafficDistribution=false",
        "cannot set feature gate PreferSameTrafficDistribution to false, feature is locked to true"
    )]
    fn refuses_in_upstreams_words(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(set(&[text]).2, [expected]);
    }

    #[test]
    fn every_mistake_is_reported() {
        assert_eq!(set(&["A=true,B=true", "InOrderInformers=false"]).2.len(), 3);
    }

    #[rstest]
    #[case("EndpointSlice=false", &[])]
    #[case("LegacySingleStackEndpoints=true", &[])]
    #[case("AtomicFIFO=false", &["Feature gate AtomicFIFO has no effect on these controllers"])]
    #[case("InOrderInformers=true", &[
        "Setting GA feature gate InOrderInformers=true. It will be removed in a future release.",
        "Feature gate InOrderInformers has no effect on these controllers",
    ])]
    fn tells_what_changes_nothing(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(set(&[text]).1, expected);
    }
}
