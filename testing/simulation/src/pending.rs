//! Pending keys of the controllers, from the metrics of their processes.

use std::collections::BTreeMap;

use prometheus::Registry;

/// End of the names of the gauges of pending keys. What comes before differs between programs.
const SUFFIX: &str = "_pending_keys";
/// Label of these gauges.
const CONTROLLER: &str = "controller";

/// Returns the number of pending keys of each controller that has some: the sum over these registries.
pub(crate) fn keys<'a>(registries: impl IntoIterator<Item = &'a Registry>) -> BTreeMap<String, usize> {
    let mut keys = BTreeMap::new();
    for family in registries.into_iter().flat_map(Registry::gather).filter(|family| family.name().ends_with(SUFFIX)) {
        for metric in family.get_metric() {
            let label = metric.get_label().iter().find(|label| label.name() == CONTROLLER);
            let controller = label.map(|label| label.value().to_owned()).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of keys")]
            let count = metric.get_gauge().get_value() as usize;
            *keys.entry(controller).or_default() += count;
        }
    }
    keys.retain(|_, count| *count > 0);
    keys
}
