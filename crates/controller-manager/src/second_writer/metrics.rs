//! Metrics of the writes by other clients.

use prometheus::{IntCounterVec, IntGauge, Opts, Registry};

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
        let help = "Writes by other clients to objects that the managed-by label assigns to a controller of this process, \
                    by resource and field manager, while this process leads. At most 20 managers; the others count as \
                    \"other\", and writes whose manager could not be read as \"unknown\".";
        let options = Opts::new("endpoint_controllers_foreign_writes_total", help);
        let foreign_writes = IntCounterVec::new(options, &["resource", "manager"])?;
        let help = "Whether another controller writes the same objects as this process: 1 if one field manager has written \
                    5 different objects or one object 5 times within a minute, until there were no writes by others for \
                    5 minutes.";
        let second_writer = IntGauge::new("endpoint_controllers_second_writer", help)?;
        registry.register(Box::new(foreign_writes.clone()))?;
        registry.register(Box::new(second_writer.clone()))?;
        Ok(SecondWriterMetrics { foreign_writes, second_writer })
    }
}
