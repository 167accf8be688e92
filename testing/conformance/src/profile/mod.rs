//! Claims of a controller under test: what it writes, and how strictly this is compared.

mod applies;
mod builtin;
mod comparison;
mod labels;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context as _, Result, bail, ensure};
use kube_dev_apiserver::LoggedRequest;
use serde::Deserialize;
use serde_json::Value;

pub(crate) use labels::upstream_manager;
pub use labels::{MANAGED_BY_LABEL, SERVICE_NAME_LABEL};

use crate::{Kind, Tag, api::PLAYER};

/// Claims of a controller under test, as read from a YAML file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent claims")]
pub struct Profile {
    /// Name in reports.
    pub name: String,
    /// Description in one line.
    #[serde(default)]
    pub about: String,
    /// Whether the controller writes Endpoints for Services with a selector.
    #[serde(default)]
    pub endpoints: bool,
    /// Labels of the slices for Services with a selector; `None` if the controller writes none.
    #[serde(default)]
    pub service_slices: Option<SliceLabels>,
    /// Labels of the slices that mirror the Endpoints of Services without a selector; `None` if the controller writes
    /// none.
    #[serde(default)]
    pub mirrored_slices: Option<SliceLabels>,
    /// What is compared with the recordings.
    #[serde(default)]
    pub compare: Comparison,
    /// Whether Events are compared; only with [`Comparison::Exact`].
    #[serde(default = "yes")]
    pub events: bool,
    /// Fields of endpoints that are not compared.
    #[serde(default)]
    pub ignore: BTreeSet<Field>,
    /// How the numbers of writes in hostile scenarios are compared.
    #[serde(default)]
    pub writes: WriteBound,
    /// Substring of the user agents of the controller. Without it, all writes but those of the player are counted.
    #[serde(default)]
    pub user_agent: Option<String>,
    /// Whether the controller keeps the endpoints of existing Pods while lists of the API server lack objects, which those
    /// of Kubernetes do not. Requires [`user_agent`](Self::user_agent).
    #[serde(default)]
    pub checks_lists: bool,
    /// Whether the controller must exit with status 0 after SIGTERM.
    #[serde(default)]
    pub clean_exit: bool,
    /// JSON merge patches of all created objects of a kind, such as an annotation by which the controller selects
    /// Services.
    #[serde(default)]
    pub patches: BTreeMap<Kind, Value>,
    /// Scenarios that do not apply.
    #[serde(default)]
    pub skip: Vec<Skip>,
}

/// Labels of slices, where they differ from those of Kubernetes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SliceLabels {
    /// Key of the label with the name of the Service; `kubernetes.io/service-name` by default.
    #[serde(default)]
    pub service_label: Option<String>,
    /// Value of the label `endpointslice.kubernetes.io/managed-by`; that of Kubernetes' controller by default.
    #[serde(default)]
    pub managed_by: Option<String>,
}

/// Objects of one kind that a controller writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// Endpoints for Services with a selector.
    Endpoints,
    /// Slices for Services with a selector.
    ServiceSlices,
    /// Slices that mirror Endpoints.
    MirroredSlices,
}

/// What is compared with the recordings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// All fields of all objects, including the form of names, the distribution of endpoints to slices, and Events.
    #[default]
    Exact,
    /// The union of the endpoints of a Service for each address type and list of ports. A slice without endpoints
    /// equals no slice, and absent conditions have the meaning that the API defines. Slices of Services that do not exist
    /// or do not select Pods any longer are not compared, and neither are steps that are
    /// [`Unnoticed`](crate::Unnoticed) in Kubernetes.
    Endpoints,
}

/// Field of endpoints that a profile can exclude from the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// `hints`
    Hints,
    /// `hostname`
    Hostname,
    /// `nodeName`
    NodeName,
    /// `conditions.serving`
    Serving,
    /// `targetRef`
    TargetRef,
    /// `conditions.terminating`
    Terminating,
    /// `zone`
    Zone,
}

/// How the numbers of writes are compared with those of Kubernetes' controllers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBound {
    /// Creates, updates, deletes and rejected writes must be equal.
    #[default]
    Exact,
    /// The sum of all writes must be at most twice as high, unless a scenario documents another bound.
    Bounded,
}

/// Scenarios that do not apply to a controller.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Skip {
    /// Substring of the key `file/scenario`.
    #[serde(default)]
    pub key: Option<String>,
    /// Tag of a recorded scenario.
    #[serde(default)]
    pub tag: Option<Tag>,
    /// Reason, for the report.
    pub reason: String,
}

fn yes() -> bool {
    true
}

impl Profile {
    /// Parses the text of a profile.
    ///
    /// # Errors
    /// The text is not a profile, it claims no output, or its fields contradict each other.
    pub fn parse(text: &str) -> Result<Self> {
        let profile: Self = serde_saphyr::from_str(text)?;
        profile.check()?;
        Ok(profile)
    }

    /// Returns the built-in profile of this name, or reads it from a file of this path.
    ///
    /// # Errors
    /// There is no such profile or file, or as [`parse`](Self::parse).
    pub fn find(name_or_path: &str) -> Result<Self> {
        if let Some(text) = Self::builtin(name_or_path) {
            return Self::parse(text);
        }
        let path = Path::new(name_or_path);
        let text = fs::read_to_string(path).with_context(|| {
            let names: Vec<_> = Self::builtins().map(|(name, _)| name).collect();
            format!("{name_or_path} is neither a built-in profile ({}) nor a readable file", names.join(", "))
        })?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Checks that the claims are consistent.
    ///
    /// # Errors
    /// No output is claimed, the two kinds of slices have the same managed-by value, or an entry of `skip` selects
    /// nothing.
    pub fn check(&self) -> Result<()> {
        ensure!(
            Output::ALL.iter().any(|&output| self.claims(output)),
            "profile {}: at least one of endpoints, service-slices and mirrored-slices is required",
            self.name
        );
        if self.claims(Output::ServiceSlices) && self.claims(Output::MirroredSlices) {
            let managed_by = self.managed_by(Output::ServiceSlices);
            ensure!(
                managed_by != self.managed_by(Output::MirroredSlices),
                "profile {}: service-slices and mirrored-slices have the same managed-by value {managed_by}",
                self.name
            );
        }
        ensure!(
            !self.checks_lists || self.user_agent.is_some(),
            "profile {}: checks-lists requires user-agent",
            self.name
        );
        for Skip { key, tag, reason } in &self.skip {
            if key.as_ref().is_none_or(String::is_empty) && tag.is_none() {
                bail!("profile {}: an entry of skip has neither key nor tag: {reason}", self.name);
            }
        }
        Ok(())
    }

    /// Returns whether the controller writes these objects.
    pub fn claims(&self, output: Output) -> bool {
        match output {
            Output::Endpoints => self.endpoints,
            Output::ServiceSlices | Output::MirroredSlices => self.slice_labels(output).is_some(),
        }
    }

    /// Returns whether the controller writes slices of either kind.
    pub fn claims_slices(&self) -> bool {
        self.claims(Output::ServiceSlices) || self.claims(Output::MirroredSlices)
    }

    /// Returns whether objects are compared exactly.
    pub fn is_exact(&self) -> bool {
        self.compare == Comparison::Exact
    }

    /// Returns whether a request to the embedded server is one of the controller.
    pub(crate) fn has_sent(&self, request: &LoggedRequest) -> bool {
        match &self.user_agent {
            Some(part) => request.user_agent.contains(part.as_str()),
            None => request.user_agent != PLAYER,
        }
    }

    /// Applies the merge patch for a kind to an object.
    pub fn patch(&self, kind: Kind, object: &mut Value) {
        if let Some(patch) = self.patches.get(&kind) {
            json_patch::merge(object, patch);
        }
    }

    fn slice_labels(&self, output: Output) -> Option<&SliceLabels> {
        match output {
            Output::Endpoints => None,
            Output::ServiceSlices => self.service_slices.as_ref(),
            Output::MirroredSlices => self.mirrored_slices.as_ref(),
        }
    }
}

impl Output {
    /// All outputs.
    pub const ALL: [Self; 3] = [Self::Endpoints, Self::ServiceSlices, Self::MirroredSlices];

    /// Returns the key of this output in a profile.
    pub fn name(self) -> &'static str {
        match self {
            Self::Endpoints => "endpoints",
            Self::ServiceSlices => "service-slices",
            Self::MirroredSlices => "mirrored-slices",
        }
    }
}
