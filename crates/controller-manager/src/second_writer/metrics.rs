//! Metrics of the writes by other clients.

use prometheus::{
    IntCounterVec, IntGauge, Registry, register_int_counter_vec_with_registry, register_int_gauge_with_registry,
};

/// Metrics of the writes by other clients to the objects of the controllers.
#[derive(Clone)]
pub(crate) struct SecondWriterMetrics {
    /// `endpoint_controllers_foreign_writes_total`, labelled `resource` and `manager`.
    pub(super) foreign_writes: IntCounterVec,
    /// `endpoint_controllers_second_writer`.
    pub(super) second_writer: IntGauge,
}

impl SecondWriterMetrics {
    pub(crate) fn register(registry: &Registry) -> prometheus::Result<SecondWriterMetrics> {
        Ok(SecondWriterMetrics {
            foreign_writes: register_int_counter_vec_with_registry!(
                "endpoint_controllers_foreign_writes_total",
                "Writes by other clients to objects that the managed-by label assigns to a controller of this process, by \
                 resource and field manager, while this process leads. At most 20 managers; the others count as \"other\", \
                 and writes whose manager could not be read as \"unknown\".",
                &["resource", "manager"],
                registry
            )?,
            second_writer: register_int_gauge_with_registry!(
                "endpoint_controllers_second_writer",
                "Whether another controller writes the same objects as this process: 1 if one field manager has written 5 \
                 different objects or one object 5 times within a minute, until there were no writes by others for 5 \
                 minutes.",
                registry
            )?,
        })
    }
}
