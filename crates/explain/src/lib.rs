//! Explains which Pods are endpoints of a Service, which are not, and why.

mod report;

pub use report::{
    Change, Finding, HintsReport, Kind, LastWrite, NearMiss, ObjectRef, ObjectReport, ObjectState, PodEndpointReport,
    PodOfService, PodReport, PodServicesReport, PodState, Reason, ServiceReport, Severity, WrittenObject,
};
