//! The labels of slices: what is carried from the owner, and what every slice has.

use kube_endpoint_model::well_known::{HEADLESS_LABEL, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, Labels, Service, Text};

/// Which labels slices get (RC-37), and which of them count as a change when they differ (RC-38).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceLabels {
    carried: Labels,
    service_name: Text,
    headless: bool,
    reserved: &'static [&'static str],
}

/// The labels as one controller writes them.
pub(crate) struct WrittenLabels<'a> {
    pub(crate) written: Labels,
    rule: &'a SliceLabels,
}

/// Reserved in the slices of Services.
const SERVICE_RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL, HEADLESS_LABEL];
/// Reserved in all slices.
pub(crate) const RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL];

impl SliceLabels {
    /// Labels carried from an owner to slices of the Service `service_name`, which need not exist. Carried labels that
    /// only controllers may set are ignored.
    pub fn carry(labels: &Labels, service_name: &str) -> SliceLabels {
        SliceLabels::new(labels, service_name, RESERVED, false)
    }

    /// The labels of a Service, carried to its slices; those of a Service without a cluster IP are marked headless.
    pub fn for_service(service: &Service) -> SliceLabels {
        SliceLabels::new(&service.labels, &service.name, SERVICE_RESERVED, !service.has_cluster_ip())
    }

    fn new(labels: &Labels, service_name: &str, reserved: &'static [&'static str], headless: bool) -> SliceLabels {
        let carried = labels.without(|key| reserved.contains(&key));
        SliceLabels { carried, service_name: service_name.into(), headless, reserved }
    }

    /// The Service that the slices name.
    pub(crate) fn service_name(&self) -> &Text {
        &self.service_name
    }

    /// The labels as `controller` writes them.
    pub(crate) fn written_by(&self, controller: &str) -> WrittenLabels<'_> {
        let fixed = [(SERVICE_NAME_LABEL, &*self.service_name), (SLICE_MANAGED_BY_LABEL, controller)];
        let headless = self.headless.then_some((HEADLESS_LABEL, ""));
        WrittenLabels { written: self.carried.with(fixed.into_iter().chain(headless)), rule: self }
    }
}

impl WrittenLabels<'_> {
    /// Whether a slice's labels differ in what was carried. Wrong reserved labels alone are no reason to write.
    pub(crate) fn differ_from(&self, slice: &EndpointSlice) -> bool {
        let is_reserved = |key: &str| self.rule.reserved.contains(&key);
        !slice.metadata.labels.iter().filter(|(key, _)| !is_reserved(key)).eq(self.rule.carried.iter())
    }

    /// Whether a slice has the written labels, an empty value counting as absent: how placeholders are compared (RC-26).
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
