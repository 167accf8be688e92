//! The writes of a plan as a review sees them.

use std::collections::HashMap;
use std::sync::Arc;

use kube_controller_client::PlannedWrite;
use kube_endpoint_model::EndpointSlice;

use crate::plan::Plan;

impl Plan {
    /// Returns the writes in the order in which they are sent. `existing` are the slices that the plan is based on.
    pub(crate) fn planned_writes<'a>(
        &'a self,
        existing: &'a [Arc<EndpointSlice>],
    ) -> Vec<PlannedWrite<'a, EndpointSlice>> {
        // Most plans change nothing.
        if self.is_empty() {
            return Vec::new();
        }
        let stored: HashMap<&str, &EndpointSlice> =
            existing.iter().map(|slice| (&*slice.metadata.name, &**slice)).collect();
        let update = |desired: &'a EndpointSlice| {
            // An update has the name of the slice that it replaces.
            let stored = stored.get(&*desired.metadata.name).copied().unwrap_or(desired);
            PlannedWrite::Update { stored, desired }
        };
        let of_types = self.types.iter().flat_map(|plan| {
            let creates = plan.create.iter().map(PlannedWrite::Create);
            let deletes = plan.delete.iter().map(|slice| PlannedWrite::Delete(&**slice));
            creates.chain(plan.update.iter().map(update)).chain(deletes)
        });
        of_types.chain(self.unsupported.iter().map(|slice| PlannedWrite::Delete(&**slice))).collect()
    }
}
