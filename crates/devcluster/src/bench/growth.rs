//! How costs grow: one row for each size.

use super::{
    outcome::{Outcome, mib},
    table::{number, table},
};

/// One size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Size {
    /// Pods, or Services of one namespace.
    pub(crate) count: usize,
    /// Milliseconds of CPU for a Pod that changes.
    pub(crate) cpu: f64,
    /// KiB resident for each Pod, beyond what a process needs that follows nothing.
    pub(crate) memory: f64,
}

/// The sizes that were measured, by what grew: `pods` or `services`.
#[expect(clippy::cast_precision_loss, reason = "figures to look at")]
pub(crate) fn sizes(outcomes: &[Outcome], what: &str) -> Vec<Size> {
    let find = |name: &str| outcomes.iter().find(|it| it.name == name);
    let nothing = find("growth-nothing").map_or(0.0, |it| mib(it.usage.resident_kib));
    let prefix = format!("growth-{what}-");
    let size = |filled: &Outcome| {
        let count = filled.name.strip_prefix(&prefix)?.parse().ok()?;
        let cpu = find(&format!("{}-churn", filled.name))?.cpu_of_a_change()?;
        let memory = (mib(filled.usage.resident_kib) - nothing) * 1_024.0 / filled.population.pods.max(1) as f64;
        Some(Size { count, cpu, memory })
    };
    outcomes.iter().filter_map(size).collect()
}

/// Both tables in one.
pub(crate) fn growth(outcomes: &[Outcome]) -> String {
    let rows = [("pods", "Pods, 20 of a Service"), ("services", "Services of one namespace, 4 Pods each")];
    let rows = rows.into_iter().flat_map(|(what, text)| {
        sizes(outcomes, what).into_iter().map(move |Size { count, cpu, memory }| {
            vec![format!("{} {text}", number(count as u64)), format!("{cpu:.3} ms"), format!("{memory:.2} KiB")]
        })
    });
    table(&["Cluster", "CPU a change of a Pod", "Memory a Pod"], rows)
}
