//! The flag `--feature-gates`.

mod gate;
mod releases;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

pub use gate::{Gate, Stage};
use kube_endpoint_model::parse_go_bool;
pub(crate) use releases::MINORS;
use releases::{History, ranges};

use crate::emulation::EmulatedVersion;

/// The gate `EndpointSlice`, which upstream removed in Kubernetes 1.25. If disabled, the two slice controllers do not
/// start. On by default.
pub(crate) const ENDPOINT_SLICE: &str = "EndpointSlice";

/// The gate `AllAlpha`: sets every alpha gate that is not set by name.
const ALL_ALPHA: Gate = Gate { name: "AllAlpha", stage: Stage::Alpha, default: false, locked: false };
/// The gate `AllBeta`: sets every beta gate that is not set by name.
const ALL_BETA: Gate = Gate { name: "AllBeta", stage: Stage::Beta, default: false, locked: false };

// Gates for rules of the Endpoints controller in earlier versions of Kubernetes, see `kube_endpoint::Legacy`.
const TOLERATE_UNREADY: &str = "LegacyTolerateUnreadyEndpoints";
const SINGLE_STACK: &str = "LegacySingleStackEndpoints";
const RESTART_POLICY: &str = "LegacyRestartPolicyMembership";

/// Gates that this program adds to upstream's; the only ones that have an effect. Those for earlier rules are
/// deprecated and off, so that neither `AllAlpha` nor `AllBeta` sets them.
const OWN_GATES: &[Gate] = &[
    Gate { name: ENDPOINT_SLICE, stage: Stage::Stable, default: true, locked: false },
    Gate { name: TOLERATE_UNREADY, stage: Stage::Deprecated, default: false, locked: false },
    Gate { name: SINGLE_STACK, stage: Stage::Deprecated, default: false, locked: false },
    Gate { name: RESTART_POLICY, stage: Stage::Deprecated, default: false, locked: false },
];

/// All feature gates of kube-controller-manager of one release and of this program, and whether each is enabled. Only
/// `EndpointSlice` and the three `Legacy…` gates have an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureGates {
    version: EmulatedVersion,
    /// Copied on write: shared by all clones until a gate is set.
    states: Arc<States>,
}

type States = BTreeMap<&'static str, (Gate, bool)>;

static DEFAULTS: LazyLock<Arc<States>> = LazyLock::new(|| Arc::new(defaults(EmulatedVersion::default())));

fn defaults(version: EmulatedVersion) -> States {
    let gates = History::all().filter_map(|it| it.gate(version.minor()));
    let gates = gates.chain([ALL_ALPHA, ALL_BETA]).chain(OWN_GATES.iter().copied());
    gates.map(|gate| (gate.name, (gate, gate.default))).collect()
}

/// A valid entry of `--feature-gates`.
enum Entry {
    /// Sets a gate of the emulated version.
    Set(&'static str, bool),
    /// Sets a gate as only other releases allow it: the warning about that.
    OfOtherReleases(&'static str, String),
}

impl Default for FeatureGates {
    /// The defaults of Kubernetes 1.36, and of the gates that this program adds.
    fn default() -> Self {
        FeatureGates { version: EmulatedVersion::default(), states: Arc::clone(&DEFAULTS) }
    }
}

impl FeatureGates {
    /// Returns the gates of a version with their defaults.
    pub fn of_version(version: EmulatedVersion) -> FeatureGates {
        if version == EmulatedVersion::default() {
            return FeatureGates::default();
        }
        FeatureGates { version, states: Arc::new(defaults(version)) }
    }

    /// Returns whether a gate is enabled; `false` for a gate that does not exist.
    pub fn enabled(&self, name: &str) -> bool {
        self.states.get(name).is_some_and(|(_, on)| *on)
    }

    /// Returns every gate and whether it is enabled, ordered by name.
    pub fn all(&self) -> impl Iterator<Item = (Gate, bool)> {
        self.states.values().copied()
    }

    #[cfg(feature = "endpoint")]
    pub(crate) fn legacy(&self) -> kube_endpoint::Legacy {
        kube_endpoint::Legacy {
            tolerate_unready_endpoints: self.enabled(TOLERATE_UNREADY),
            single_stack_endpoints: self.enabled(SINGLE_STACK),
            restart_policy_membership: self.enabled(RESTART_POLICY),
        }
    }

    /// Sets gates from texts such as `A=true,kube:B=false`. Of several entries for one gate the last wins, and an entry
    /// for a gate wins over `AllAlpha` and `AllBeta`, in any order. For invalid entries, upstream's messages are appended to
    /// `errors`. Returns warnings for the log.
    ///
    /// An entry that another release from Kubernetes 1.28 to 1.38 allows is ignored with a warning, so that a command line
    /// of that release is valid: its gate does not exist in the emulated version, or is locked. With a version after the
    /// default one, which a command line has to name, locks are errors as in that version.
    pub(crate) fn set(&mut self, entries: &[String], errors: &mut Vec<String>) -> Vec<String> {
        let (mut requested, mut ignored) = (BTreeMap::new(), BTreeMap::new());
        for pair in entries.iter().flat_map(|entry| entry.split(',')).filter(|pair| !pair.trim().is_empty()) {
            match self.parse_entry(pair) {
                Ok(Entry::Set(name, value)) => {
                    requested.insert(name, value);
                    ignored.remove(name);
                }
                Ok(Entry::OfOtherReleases(name, warning)) => {
                    requested.remove(name);
                    ignored.insert(name, warning);
                }
                Err(error) => errors.push(error),
            }
        }
        let states = Arc::make_mut(&mut self.states);
        for (group, stage) in [(ALL_ALPHA, Stage::Alpha), (ALL_BETA, Stage::Beta)] {
            let Some(value) = requested.get(group.name) else { continue };
            let members = states.values_mut().filter(|(gate, _)| gate.stage == stage && gate.name != group.name);
            members.for_each(|(_, on)| *on = *value);
        }
        let mut warnings: Vec<String> = ignored.into_values().collect();
        for (name, value) in requested {
            let Some((gate, on)) = states.get_mut(name) else { continue };
            *on = value;
            if OWN_GATES.iter().any(|it| it.name == name) {
                continue;
            }
            match gate.stage {
                Stage::Stable => {
                    warnings.push(format!(
                        "Setting GA feature gate {name}={value}. It will be removed in a future release."
                    ));
                }
                Stage::Deprecated => warnings.push(format!(
                    "Setting deprecated feature gate {name}={value}. It will be removed in a future release."
                )),
                _ => {}
            }
            warnings.push(format!("Feature gate {name} has no effect on these controllers"));
        }
        warnings
    }

    /// Parses one entry. The caller sets the gates after all entries are parsed, so that `AllBeta` does not override an
    /// entry before it.
    fn parse_entry(&self, pair: &str) -> Result<Entry, String> {
        let (name, value) = match pair.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (pair.trim(), None),
        };
        let name = match name.split_once(':') {
            Some(("kube", name)) => name,
            Some((component, _)) => return Err(format!("component not registered: {component}")),
            None => name,
        };
        let value = value.ok_or_else(|| format!("missing bool value for {name}"))?;
        let value = parse_go_bool(value).ok_or_else(|| {
            format!("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")
        })?;
        match self.states.get(name) {
            Some((gate, _)) if gate.allows(value) => Ok(Entry::Set(gate.name, value)),
            Some((gate, _)) if self.version > EmulatedVersion::default() => Err(locked(gate.name, value)),
            gate => self.entry_of_other_releases(gate.map(|(gate, _)| gate), name, value),
        }
    }

    /// Returns the entry for a gate that the emulated version does not have, or has locked to another value.
    fn entry_of_other_releases(&self, gate: Option<&Gate>, name: &str, value: bool) -> Result<Entry, String> {
        let history = History::find(name).ok_or_else(|| format!("unrecognized feature gate: {name}"))?;
        let (name, releases) = (history.name, history.releases_allowing(value));
        if releases.is_empty() {
            return Err(locked(name, value));
        }
        let (releases, version) = (ranges(&releases), self.version);
        let here = match gate {
            Some(gate) => format!("in {version} it is locked to {}", gate.default),
            None => format!("{version} does not have it"),
        };
        let warning = format!("Feature gate {name}={value} is ignored: Kubernetes {releases} allows it, {here}");
        Ok(Entry::OfOtherReleases(name, warning))
    }
}

fn locked(name: &str, value: bool) -> String {
    format!("cannot set feature gate {name} to {value}, feature is locked to {}", !value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn set(entries: &[&str]) -> (FeatureGates, Vec<String>, Vec<String>) {
        let entries: Vec<String> = entries.iter().map(|it| (*it).to_owned()).collect();
        let (mut gates, mut errors) = (FeatureGates::default(), Vec::new());
        let warnings = gates.set(&entries, &mut errors);
        (gates, warnings, errors)
    }

    #[test]
    fn gate_names_are_unique_and_gates_have_their_defaults() {
        let gates = FeatureGates::default();
        let named = History::all().filter(|it| it.gate(36).is_some()).count() + OWN_GATES.len() + 2;
        assert_eq!(gates.all().count(), named);
        assert!(gates.all().all(|(gate, on)| gate.default == on));
    }

    /// Name, stage and state of each gate are those of the metric `kubernetes_feature_enabled` of the Go program.
    #[test]
    fn gates_match_the_metrics_of_kube_controller_manager() {
        const METRICS: &str = include_str!("../../../testing/conformance/fixtures/kcm-metrics.txt");
        // Gates of the vendor build that the metrics were recorded from; Kubernetes does not have them.
        const CARRIED: [&str; 3] =
            ["MinimumKubeletVersion", "RouteExternalCertificate", "StoragePerformantSecurityPolicy"];
        let lines = METRICS.lines().filter_map(|line| line.strip_prefix("kubernetes_feature_enabled{name=\""));
        let expected: Vec<&str> =
            lines.filter(|line| !CARRIED.iter().any(|name| line.starts_with(&format!("{name}\"")))).collect();
        let gates = FeatureGates::default();
        let upstreams = gates.all().filter(|(gate, _)| !OWN_GATES.contains(gate));
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
    fn entries_set_gates(#[case] entries: &[&str], #[case] name: &str, #[case] on: bool) {
        let (gates, _, errors) = set(entries);
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
    #[case::locked_in_every_release(
        "CPUManager=false",
        "cannot set feature gate CPUManager to false, feature is locked to true"
    )]
    fn invalid_entries_fail_with_upstreams_messages(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(set(&[text]).2, [expected]);
    }

    #[rstest]
    #[case(EmulatedVersion::V1_36, Stage::Beta, None)]
    #[case(EmulatedVersion::V1_37, Stage::Beta, None)]
    #[case(
        EmulatedVersion::V1_38,
        Stage::Stable,
        Some("cannot set feature gate StrictIPCIDRValidation to false, feature is locked to true")
    )]
    fn strict_validation_of_addresses_is_locked_since_1_38(
        #[case] version: EmulatedVersion,
        #[case] stage: Stage,
        #[case] error: Option<&str>,
    ) {
        let (mut gates, mut errors) = (FeatureGates::of_version(version), Vec::new());
        let name = "StrictIPCIDRValidation";
        assert!(gates.enabled(name));
        assert_eq!(gates.all().find(|(gate, _)| gate.name == name).unwrap().0.stage, stage);
        gates.set(&[format!("{name}=false")], &mut errors);
        assert_eq!(errors.first().map(String::as_str), error);
        assert_eq!(gates.enabled(name), error.is_some());
    }

    #[test]
    fn all_invalid_entries_are_reported() {
        assert_eq!(set(&["A=true,B=true", "CPUManager=false"]).2.len(), 3);
    }

    #[rstest]
    #[case("EndpointSlice=false", &[])]
    #[case("LegacySingleStackEndpoints=true", &[])]
    #[case("AtomicFIFO=false", &["Feature gate AtomicFIFO has no effect on these controllers"])]
    #[case("InOrderInformers=true", &[
        "Setting GA feature gate InOrderInformers=true. It will be removed in a future release.",
        "Feature gate InOrderInformers has no effect on these controllers",
    ])]
    fn gates_without_effect_are_reported(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(set(&[text]).1, expected);
    }
    /// A value that another release allows is ignored; the gate keeps the state of the emulated version.
    #[rstest]
    #[case::removed(
        "TopologyAwareHints=false",
        "Feature gate TopologyAwareHints=false is ignored: Kubernetes 1.28 to 1.32 allows it, 1.36 does not have it"
    )]
    #[case::later(
        "CompositePodGroup=true",
        "Feature gate CompositePodGroup=true is ignored: Kubernetes 1.37 to 1.38 allows it, 1.36 does not have it"
    )]
    #[case::locked(
        "PreferSameTrafficDistribution=false",
        "Feature gate PreferSameTrafficDistribution=false is ignored: Kubernetes 1.33 to 1.34 allows it, in 1.36 it is \
         locked to true"
    )]
    fn entries_of_other_releases_are_ignored_with_a_warning(#[case] text: &str, #[case] expected: &str) {
        let (gates, warnings, errors) = set(&[text]);
        assert_eq!((gates, warnings, errors), (FeatureGates::default(), vec![expected.to_owned()], vec![]));
    }

    #[test]
    fn last_of_several_entries_wins_over_those_of_other_releases() {
        let (_, warnings, _) = set(&["PreferSameTrafficDistribution=false,PreferSameTrafficDistribution=true"]);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings.iter().all(|it| !it.contains("is ignored")), "{warnings:?}");
    }

    /// Every gate of every release, with each value that the release allows: the command line of that release is valid.
    #[rstest]
    fn gates_of_every_release_are_accepted(
        #[values(28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38)] minor: u64,
        #[values(false, true)] value: bool,
    ) {
        let gates: Vec<Gate> = History::all().filter_map(|it| it.gate(minor)).collect();
        let allowed = gates.iter().filter(|gate| gate.allows(value));
        let line: Vec<String> = allowed.map(|gate| format!("{}={value}", gate.name)).collect();
        assert!(line.len() > 50, "{line:?}");
        let (gates, warnings, errors) = set(&[&line.join(",")]);
        assert_eq!(errors, Vec::<String>::new());
        for entry in line {
            let (name, _) = entry.split_once('=').unwrap();
            let ignored = warnings.iter().any(|it| it.starts_with(&format!("Feature gate {entry} is ignored: ")));
            assert_eq!(ignored, !gates.states.contains_key(name) || gates.enabled(name) != value, "{entry}");
        }
    }
}
