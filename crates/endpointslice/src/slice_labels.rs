//! Labels of slices.

use kube_endpoint_model::well_known::{HEADLESS_LABEL, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{EndpointSlice, Labels, Service, Text};

use crate::options::Options;

/// Labels of slices: those that are copied from the owner, and those that every slice has (RC-37). Only the former
/// cause a write if they differ (RC-38).
///
/// Every slice has the labels [`Options::owner_label`] and `endpointslice.kubernetes.io/managed-by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceLabels {
    carried: Labels,
    /// Value of `kubernetes.io/service-name` if that is not the owner label.
    service_name: Option<Text>,
    headless: bool,
    reserved: &'static [&'static str],
}

/// Labels with the owner and managed-by values of a controller.
pub(crate) struct WrittenLabels<'a> {
    pub(crate) written: Labels,
    rule: &'a SliceLabels,
    /// Key of the owner label; `None` if the rule reserves it anyway.
    owner_label: Option<&'a str>,
}

/// Labels that only the controller sets, in slices of Services.
const SERVICE_RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL, HEADLESS_LABEL];
/// Labels that only the controller sets, in slices of any owner.
const RESERVED: &[&str] = &[SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL];

impl SliceLabels {
    /// Returns labels copied from an owner. The labels `kubernetes.io/service-name`,
    /// `endpointslice.kubernetes.io/managed-by` and [`Options::owner_label`] are not copied.
    pub fn carry(labels: &Labels) -> SliceLabels {
        SliceLabels::new(labels, None, RESERVED, false)
    }

    /// Returns labels copied from a Service, and its name in `kubernetes.io/service-name`, for slices that kube-proxy
    /// and other consumers read as those of the Service. If it has no cluster IP, they include
    /// `service.kubernetes.io/headless` (PD-5).
    pub fn for_service(service: &Service) -> SliceLabels {
        SliceLabels::new(&service.labels, Some(&service.name), SERVICE_RESERVED, !service.has_cluster_ip())
    }

    /// Sets the label `kubernetes.io/service-name`: consumers read the slices as those of the Service `name`, which need
    /// not exist, beside those that Kubernetes writes for it.
    ///
    /// Without effect with [`Options::for_services`], where the value is [`Input::tracked_as`](crate::Input::tracked_as)
    /// or the name of the owner.
    #[must_use]
    pub fn of_service(self, name: impl Into<Text>) -> SliceLabels {
        SliceLabels { service_name: Some(name.into()), ..self }
    }

    fn new(
        labels: &Labels,
        service_name: Option<&Text>,
        reserved: &'static [&'static str],
        headless: bool,
    ) -> SliceLabels {
        let carried = labels.without(|key| reserved.contains(&key));
        SliceLabels { carried, service_name: service_name.cloned(), headless, reserved }
    }

    /// Returns the labels of the slices of `owner`, a key's name.
    pub(crate) fn written_by<'a>(&'a self, options: &'a Options, owner: &str) -> WrittenLabels<'a> {
        let value = options.label_value(owner);
        let fixed = [(&*options.owner_label, &*value), (SLICE_MANAGED_BY_LABEL, &*options.controller)];
        let service_name = self.service_name.as_deref().filter(|_| !options.are_for_services());
        let service_name = service_name.map(|name| (SERVICE_NAME_LABEL, name));
        let headless = self.headless.then_some((HEADLESS_LABEL, ""));
        let owner_label = Some(&*options.owner_label).filter(|label| !self.reserved.contains(label));
        let written = self.carried.with(fixed.into_iter().chain(service_name).chain(headless));
        WrittenLabels { written, rule: self, owner_label }
    }
}

impl WrittenLabels<'_> {
    /// Returns whether the labels of a slice differ from the copied ones, without the reserved labels: a wrong reserved
    /// label alone causes no write (RC-38).
    pub(crate) fn differ_from(&self, slice: &EndpointSlice) -> bool {
        let is_tracking = |key: &str| self.owner_label == Some(key);
        let is_reserved = |key: &str| self.rule.reserved.contains(&key) || is_tracking(key);
        let carried = self.rule.carried.iter().filter(|(key, _)| !is_tracking(key));
        !slice.metadata.labels.iter().filter(|(key, _)| !is_reserved(key)).eq(carried)
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
        let options = Options::for_services("c");
        let rule = rule.written_by(&options, "web");
        assert_eq!(rule.differ_from(&slice), differ);
        let expected = [NAME, MANAGED].iter().chain(written).copied().collect::<Vec<_>>().join(",");
        assert_eq!(rule.written, labels(&expected));
    }

    #[rstest]
    #[case::own("", "", false, &["c/owner=edge"])]
    #[case::copied("team=a", "team=a,c/owner=other", false, &["team=a", "c/owner=edge"])]
    #[case::differ("team=a", "team=b", true, &["team=a", "c/owner=edge"])]
    #[case::not_of_a_service("kubernetes.io/service-name=edge", "", false, &["c/owner=edge"])]
    #[case::owner_has_the_label("c/owner=me,team=a", "team=a", false, &["team=a", "c/owner=edge"])]
    fn of_other_owners(
        #[case] owner_labels: &str,
        #[case] slice_labels: &str,
        #[case] differ: bool,
        #[case] written: &[&str],
    ) {
        let (options, rule) = (Options::new("c"), SliceLabels::carry(&labels(owner_labels)));
        let mut slice = EndpointSlice::default();
        slice.metadata.labels = labels(slice_labels);
        let of_owner = rule.written_by(&options, "edge");
        assert_eq!(of_owner.differ_from(&slice), differ);
        assert_eq!(of_owner.written, labels(&[&[MANAGED], written].concat().join(",")));
        let rule = rule.of_service("web");
        let fed = rule.written_by(&options, "edge").written;
        assert_eq!(fed, labels(&[&[MANAGED, NAME], written].concat().join(",")), "on request");
    }
}
