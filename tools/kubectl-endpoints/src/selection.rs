//! Restriction of results to the Services that `--selector` selects.

use std::{collections::HashSet, sync::Arc};

use kube_endpoint_model::{ObjectKey, Service, well_known::SERVICE_NAME_LABEL};
use kube_endpoints_explain::{Change, Kind};
use kube_wire::Object as _;

#[derive(Debug)]
pub(crate) struct Selection(HashSet<ObjectKey>);

impl Selection {
    pub(crate) fn of<'a>(services: impl IntoIterator<Item = &'a Arc<Service>>) -> Selection {
        Selection(services.into_iter().map(|service| service.key()).collect())
    }

    pub(crate) fn has_service(&self, key: &ObjectKey) -> bool {
        self.0.contains(key)
    }

    /// Returns whether a change is that of an object of a selected Service.
    pub(crate) fn has_change(&self, change: &Change) -> bool {
        let object = &change.object;
        let has_service = |name: &str| self.has_service(&ObjectKey::new(object.namespace.as_str(), name));
        match object.kind {
            Kind::Endpoints => has_service(&object.name),
            _ => [&change.before, &change.after].into_iter().flatten().any(|value| {
                let service = value["metadata"]["labels"][SERVICE_NAME_LABEL].as_str();
                service.is_some_and(has_service)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use kube_endpoints_explain::{DifferenceClass, ObjectRef};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::created(None, Some("web"), true)]
    #[case::deleted(Some("web"), None, true)]
    #[case::other(Some("api"), Some("api"), false)]
    fn changes_of_the_selected_services(
        #[case] before: Option<&str>,
        #[case] after: Option<&str>,
        #[case] expect: bool,
    ) {
        let slice = |service: &str| json!({"metadata": {"labels": {SERVICE_NAME_LABEL: service}}});
        let change = Change {
            object: ObjectRef::new(Kind::EndpointSlice, &ObjectKey::new("shop", "web-x")),
            before: before.map(slice),
            after: after.map(slice),
            classes: [DifferenceClass::Content].into(),
            reasons: Vec::new(),
        };
        let service = Service { namespace: "shop".into(), name: "web".into(), ..Service::default() };
        assert_eq!(Selection::of([&Arc::new(service)]).has_change(&change), expect);
    }
}
