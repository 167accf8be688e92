//! A feature gate and its stage.

/// Maturity of a feature gate, as in `--feature-gates` of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Off by default; may be removed without notice.
    Alpha,
    /// May still change in detail.
    Beta,
    /// Generally available (GA).
    Stable,
    /// Will be removed.
    Deprecated,
}

impl Stage {
    /// Returns the value of the label `stage` in the metric `kubernetes_feature_enabled`; empty for stable features.
    pub fn label(self) -> &'static str {
        match self {
            Stage::Alpha => "ALPHA",
            Stage::Beta => "BETA",
            Stage::Stable => "",
            Stage::Deprecated => "DEPRECATED",
        }
    }
}

/// A feature gate: its name, stage and default, and whether it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Name of the gate in `--feature-gates`.
    pub name: &'static str,
    /// Stage of the feature.
    pub stage: Stage,
    /// Whether the feature is enabled by default.
    pub default: bool,
    /// Whether the gate is locked to its default.
    pub locked: bool,
}

impl Gate {
    pub(super) fn allows(self, value: bool) -> bool {
        !self.locked || self.default == value
    }
}
