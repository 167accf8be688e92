//! `coordination.k8s.io/v1` Lease.

use k8s_openapi::api::coordination::v1::Lease;
use serde_json::{Map, Value};

use super::{Resource, shape};
use crate::field::FieldErrors;

impl Resource for Lease {
    fn validate(&self, errors: &mut FieldErrors) {
        let Some(spec) = &self.spec else { return };
        if let Some(seconds) = spec.lease_duration_seconds
            && seconds <= 0
        {
            errors.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
        }
        if let Some(transitions) = spec.lease_transitions
            && transitions < 0
        {
            errors.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0");
        }
    }

    fn shape(object: &mut Map<String, Value>) {
        shape::section(object, "spec");
    }
}
