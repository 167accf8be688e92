//! Cost by size of the cluster.

use super::{
    outcome::{Outcome, mib},
    table::{number, table},
};

/// Measurements of one size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Size {
    /// Number of Pods, or of Services in one namespace.
    pub(crate) count: usize,
    /// CPU time per Pod change, in milliseconds.
    pub(crate) cpu: f64,
    /// Resident memory per Pod in KiB, beyond that of a process in a cluster with 4 Pods. `None` below 1,000 Pods,
    /// where the difference is dominated by a few pages.
    pub(crate) memory: Option<f64>,
}

/// Minimum number of Pods for memory per Pod.
const MIN_PODS_FOR_MEMORY: usize = 1_000;

/// Returns the measured sizes of the series `what`: `pods` or `services`.
#[expect(clippy::cast_precision_loss, reason = "for display")]
pub(crate) fn sizes(outcomes: &[Outcome], what: &str) -> Vec<Size> {
    let find = |name: &str| outcomes.iter().find(|it| it.name == name);
    let tiny = find("growth-tiny");
    let prefix = format!("growth-{what}-");
    let size = |filled: &Outcome| {
        let count = filled.name.strip_prefix(&prefix)?.parse().ok()?;
        let cpu = find(&format!("{}-churn", filled.name))?.cpu_of_a_change()?;
        let memory = tiny.filter(|_| filled.population.pods >= MIN_PODS_FOR_MEMORY).map(|tiny| {
            let more = mib(filled.usage.resident_kib) - mib(tiny.usage.resident_kib);
            more * 1_024.0 / (filled.population.pods - tiny.population.pods) as f64
        });
        Some(Size { count, cpu, memory })
    };
    outcomes.iter().filter_map(size).collect()
}

/// Formats both series as one table.
pub(crate) fn growth(outcomes: &[Outcome]) -> String {
    let rows = [("pods", "Pods, 20 of a Service"), ("services", "Services of one namespace, 4 Pods each")];
    let rows = rows.into_iter().flat_map(|(what, text)| {
        sizes(outcomes, what).into_iter().map(move |Size { count, cpu, memory }| {
            let memory = memory.map_or_else(String::new, |it| format!("{it:.2} KiB"));
            vec![format!("{} {text}", number(count as u64)), format!("{cpu:.3} ms"), memory]
        })
    });
    table(&["Cluster", "CPU a change of a Pod", "Memory a Pod"], rows)
}
