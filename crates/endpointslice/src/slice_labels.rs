//! Labels of slices.

use kube_endpoint_model::well_known::{HEADLESS_LABEL, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, Labels, Service, Text};

/// Labels of slices: those that are copied from the owner, and those that every slice has (RC-37). Only the former
/// cause a write if they differ (RC-38).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceLabels {
    carried: Labels,
    service_name: Text,
    headless: bool,
    reserved: &'static [&'static str],
}

/// Labels with the managed-by value of a controller.
pub(crate) struct WrittenLabels<'a> {
    pub(crate) written: Labels,
    rule: &'a SliceLabels,
}

/// Labels that only the controller sets, in slices of Services.
const SERVICE_RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL, HEADLESS_LABEL];
/// Labels that only the controller sets, in slices of any owner.
pub(crate) const RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL];

impl SliceLabels {
    /// Returns labels copied from an owner, for slices of the Service `service_name`, which need not exist. The labels
    /// `kubernetes.io/service-name` and `endpointslice.kubernetes.io/managed-by` are not copied.
    pub fn carry(labels: &Labels, service_name: &str) -> SliceLabels {
        SliceLabels::new(labels, service_name, RESERVED, false)
    }

    /// Returns labels copied from a Service, for its slices. If it has no cluster IP, they include
    /// `service.kubernetes.io/headless` (PD-5).
    pub fn for_service(service: &Service) -> SliceLabels {
        SliceLabels::new(&service.labels, &service.name, SERVICE_RESERVED, !service.has_cluster_ip())
    }

    fn new(labels: &Labels, service_name: &str, reserved: &'static [&'static str], headless: bool) -> SliceLabels {
        let carried = labels.without(|key| reserved.contains(&key));
        SliceLabels { carried, service_name: service_name.into(), headless, reserved }
    }

    /// Returns the name of the Service that the slices belong to.
    pub(crate) fn service_name(&self) -> &Text {
        &self.service_name
    }

    /// Returns the labels with `controller` as the managed-by value.
    pub(crate) fn written_by(&self, controller: &str) -> WrittenLabels<'_> {
        let fixed = [(SERVICE_NAME_LABEL, &*self.service_name), (SLICE_MANAGED_BY_LABEL, controller)];
        let headless = self.headless.then_some((HEADLESS_LABEL, ""));
        WrittenLabels { written: self.carried.with(fixed.into_iter().chain(headless)), rule: self }
    }
}

impl WrittenLabels<'_> {
    /// Returns whether the labels of a slice differ from the copied ones, without the reserved labels: a wrong reserved
    /// label alone causes no write (RC-38).
    pub(crate) fn differ_from(&self, slice: &EndpointSlice) -> bool {
        let is_reserved = |key: &str| self.rule.reserved.contains(&key);
        !slice.metadata.labels.iter().filter(|(key, _)| !is_reserved(key)).eq(self.rule.carried.iter())
    }

    /// Returns whether a slice has the written labels, where a label with an empty value equals an absent one. Upstream
    /// compares placeholders like this (RC-26).
    pub(crate) fn same_but_for_empty(&self, slice: &EndpointSlice) -> bool {
        fn filled(labels: &Labels) -> impl Iterator<Item = (&str, &str)> {
            labels.iter().filter(|(_, value)| !value.is_empty())
        }
        filled(&slice.metadata.labels).eq(filled(&self.written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn labels(text: &str) -> Labels {
        text.split(',').filter(|it| !it.is_empty()).filter_map(|pair| pair.split_once('=')).collect()
    }

    const NAME: &str = "kubernetes.io/service-name=web";
    const MANAGED: &str = "endpointslice.kubernetes.io/managed-by=c";
    const HEADLESS: &str = "service.kubernetes.io/headless=";

    // upstream: TestSetEndpointSliceLabels, TestNewEndpointSlice
    #[rstest]
    #[case::plain("", "10.0.0.1", "", false, &[])]
    #[case::headless_with_labels("foo=bar", "None", "", true, &["foo=bar", HEADLESS])]
    #[case::headless("", "", "", false, &[HEADLESS])]
    #[case::false_headless_label("service.kubernetes.io/headless=", "10.0.0.1", "", false, &[])]
    #[case::same("foo=bar", "10.0.0.1", "foo=bar", false, &["foo=bar"])]
    #[case::slice_has_more("", "10.0.0.1", "foo=bar", true, &[])]
    #[case::headless_label_of_slice_is_ignored("", "10.0.0.1", "service.kubernetes.io/headless=", false, &[])]
    #[case::reserved_of_slice_are_ignored("foo=bar", "10.0.0.1", "foo=bar,kubernetes.io/service-name=x", false, &["foo=bar"])]
    #[case::hijacking("kubernetes.io/service-name=evil,endpointslice.kubernetes.io/managed-by=evil,foo=bar", "10.0.0.1", "", true, &["foo=bar"])]
    #[case::headless_becomes_cluster_ip_with_the_label(
        "service.kubernetes.io/headless=", "10.0.0.1", "service.kubernetes.io/headless=", false, &[])]
    #[case::headless_becomes_cluster_ip("foo=bar", "10.0.0.1", "foo=bar,service.kubernetes.io/headless=", false, &["foo=bar"])]
    #[case::headless_and_slice_alike("foo=bar", "None", "foo=bar,service.kubernetes.io/headless=", false, &["foo=bar", HEADLESS])]
    #[case::labels_and_empty_slice("foo=bar", "10.0.0.1", "", true, &["foo=bar"])]
    #[case::hijacking_with_other_changes("kubernetes.io/service-name=evil,foo=baz", "10.0.0.1", "foo=bar", true, &["foo=baz"])]
    fn of_services(
        #[case] service_labels: &str,
        #[case] cluster_ip: &str,
        #[case] slice_labels: &str,
        #[case] differ: bool,
        #[case] written: &[&str],
    ) {
        let service = Service {
            name: "web".into(),
            labels: labels(service_labels),
            cluster_ip: cluster_ip.into(),
            ..Service::default()
        };
        let mut slice: EndpointSlice = serde_json::from_str("{}").unwrap();
        slice.metadata.labels = labels(slice_labels);
        let rule = SliceLabels::for_service(&service);
        let rule = rule.written_by("c");
        assert_eq!(rule.differ_from(&slice), differ);
        let expected = [NAME, MANAGED].iter().chain(written).copied().collect::<Vec<_>>().join(",");
        assert_eq!(rule.written, labels(&expected));
    }
}
