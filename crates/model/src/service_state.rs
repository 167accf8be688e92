//! What a controller remembers about one Service between plans.

use std::sync::Arc;

use crate::{LastMessage, Pod, Service, TriggerTime, TriggerTimes, WarningEvent};

/// What a controller of selected Pods remembers about one Service between its plans.
#[derive(Debug, Default)]
pub struct ServiceState {
    trigger_times: TriggerTimes,
    /// Message about Pods that are left out because of their addresses.
    unusable: LastMessage,
}

impl ServiceState {
    /// Returns the state of a process that does not follow the Service, such as a preview: the trigger times of stored
    /// objects stay.
    pub fn unknown() -> ServiceState {
        ServiceState { trigger_times: TriggerTimes::unknown(), ..ServiceState::default() }
    }

    /// Returns the trigger time of a plan for this Service and its Pods: [`TriggerTimes::observe`].
    pub fn observe(&mut self, service: &Service, pods: &[Arc<Pod>]) -> TriggerTime {
        self.trigger_times.observe(service, pods)
    }

    /// Returns the [event](crate::UnusableAddresses::event) of a plan about Pods that are left out because of their
    /// addresses (EC-50), if they have changed since the last plan.
    pub fn changed_unusable(&mut self, event: Option<WarningEvent>) -> Option<WarningEvent> {
        let is_new = self.unusable.is_new(event.as_ref().map(|event| &event.message));
        event.filter(|_| is_new)
    }
}
