//! The Prometheus metrics of the process, on one registry.

#[cfg(target_os = "linux")]
mod process;

use kube_controller::PrometheusControllers;
use kube_controller_serving::ServingMetrics;
use prometheus::{IntGaugeVec, Registry, register_int_gauge_vec_with_registry as gauge};

use crate::emulation::EmulatedVersion;
use crate::feature_gates::FeatureGates;
use crate::history::HistoryMetrics;
use crate::second_writer::SecondWriterMetrics;

/// Value of the label `name` in informer metrics: upstream's, so that existing dashboards match.
const INFORMER_NAME: &str = "kube-controller-manager";

/// The metrics shared by all components. Metrics of a controller are registered when the controller starts, as upstream
/// does.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) registry: Registry,
    pub(crate) informers: kube_informer::PrometheusMetrics,
    pub(crate) elections: kube_lease_election::PrometheusMetrics,
    pub(crate) clients: kube_controller_client::PrometheusMetrics,
    pub(crate) queues: kube_workqueue::PrometheusMetrics,
    pub(crate) controllers: PrometheusControllers,
    /// Gauge `endpoint_controllers_api_available`, labelled `group_version` and `resource`.
    pub(crate) api_available: IntGaugeVec,
    pub(crate) second_writer: SecondWriterMetrics,
    pub(crate) history: HistoryMetrics,
    pub(crate) serving: ServingMetrics,
}

impl Metrics {
    pub(crate) fn register(
        registry: Registry,
        gates: &FeatureGates,
        version: EmulatedVersion,
    ) -> prometheus::Result<Metrics> {
        register_feature_gates(&registry, gates)?;
        register_versions(&registry, version)?;
        #[cfg(target_os = "linux")]
        registry.register(Box::new(process::ProcessMetrics::new()?))?;
        let mut informers = kube_informer::PrometheusMetrics::register(&registry, INFORMER_NAME)?;
        if version >= EmulatedVersion::V1_38 {
            informers = informers.with_correct_plurals();
        }
        Ok(Metrics {
            informers,
            elections: kube_lease_election::PrometheusMetrics::register(&registry)?,
            clients: kube_controller_client::PrometheusMetrics::register(&registry)?,
            queues: kube_workqueue::PrometheusMetrics::register(&registry)?,
            controllers: PrometheusControllers::register(&registry)?,
            api_available: gauge!(
                "endpoint_controllers_api_available",
                "Whether the API server serves a resource that controllers need: 1 if it does, 0 if it does not. Absent until \
                 it has answered.",
                &["group_version", "resource"],
                registry
            )?,
            second_writer: SecondWriterMetrics::register(&registry)?,
            history: HistoryMetrics::register(&registry)?,
            serving: ServingMetrics::register(&registry, "endpoint_controllers")?,
            registry,
        })
    }
}

/// Registers `kubernetes_feature_enabled`: 1 for each enabled feature gate, 0 for the others.
fn register_feature_gates(registry: &Registry, gates: &FeatureGates) -> prometheus::Result<()> {
    let features = gauge!(
        "kubernetes_feature_enabled",
        "[BETA] This metric records the data about the stage and enablement of a k8s feature.",
        &["name", "stage"],
        registry
    )?;
    for (gate, on) in gates.all() {
        features.with_label_values(&[gate.name, gate.stage.label()]).set(on.into());
    }
    Ok(())
}

/// Registers `kubernetes_build_info` (the version of this program) and `version_info` (the emulated version of
/// Kubernetes).
fn register_versions(registry: &Registry, emulated: EmulatedVersion) -> prometheus::Result<()> {
    let labels = [
        ("build_date", String::new()),
        ("compiler", "rustc".to_owned()),
        ("git_commit", String::new()),
        ("git_tree_state", String::new()),
        ("git_version", concat!("v", env!("CARGO_PKG_VERSION")).to_owned()),
        ("go_version", String::new()),
        ("major", env!("CARGO_PKG_VERSION_MAJOR").to_owned()),
        ("minor", env!("CARGO_PKG_VERSION_MINOR").to_owned()),
        ("platform", format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH)),
    ];
    let build = gauge!(
        "kubernetes_build_info",
        "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, \
         build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
        &labels.each_ref().map(|(name, _)| *name),
        registry
    )?;
    build.with_label_values(&labels.each_ref().map(|(_, value)| value.as_str())).set(1);

    let version = gauge!(
        "version_info",
        "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the \
         component, usually kube, but is relevant for aggregated-apiservers.",
        &["binary", "component", "emulation", "min_compat"],
        registry
    )?;
    // As of the kube-controller-manager of the emulated version, with its default minimum compatibility version.
    let (emulated, minimum) = (emulated.to_string(), format!("1.{}", emulated.minor() - 1));
    version.with_label_values(&[emulated.as_str(), "kube", emulated.as_str(), minimum.as_str()]).set(1);
    Ok(())
}
