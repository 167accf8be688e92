//! Readers that an audit log shows during a run.

use kube_endpoints_history::audit::reads::Reads;
use kube_wire::Object as _;

use super::Stop;
use crate::sightings::Sightings;
use crate::{ReaderRequest, WholeEndpoints};

/// Returns why requests of an audit log stop a run that deletes objects: the first request that concerns one of them and does not come
/// from a controller, the API server or this program. `None` if there is none.
pub fn first_reader<'a>(reads: &Reads, objects: impl IntoIterator<Item = &'a WholeEndpoints>) -> Option<Stop> {
    let sightings = Sightings::new(Some(reads));
    let concerned = objects.into_iter().flat_map(|object| {
        let concerning = sightings.concerning(object.namespace(), object.name(), object.labels());
        concerning.map(move |sighting| (sighting, object))
    });
    let (sighting, object) = concerned.min_by_key(|(sighting, _)| sighting.seen.first)?;
    let agent = sighting.request.agent.split(' ').next().unwrap_or_default();
    let what = format!("{} ({agent})", ReaderRequest::new(sighting.request, sighting.seen).what());
    Some(Stop::Read { key: object.key(), by: sighting.who.clone(), what })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use kube_wire::ObjectKey;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::Who;
    use crate::testing::read;

    /// Returns the event of an answered request for Endpoints of the namespace `shop`, by alice; `more` has other
    /// fields, and those that replace its own.
    fn event(verb: &str, more: &Value) -> Value {
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
            "verb": verb, "user": {"username": "alice"}, "userAgent": "curl/8.5.0 (x)", "responseStatus": {"code": 200},
            "requestURI": "/api/v1/namespaces/shop/endpoints",
            "objectRef": {"resource": "endpoints", "namespace": "shop"}, "stageTimestamp": "2026-11-27T14:00:00Z",
        });
        event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        event
    }

    fn reads(events: &[Value]) -> Reads {
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        let mut reads = Reads::default();
        reads.add("audit.log", Cursor::new(lines.join("\n"))).expect("readable");
        reads
    }

    fn of(namespace: &str, name: &str) -> Value {
        json!({"resource": "endpoints", "namespace": namespace, "name": name})
    }

    const ALICE: &str = "User alice still reads Endpoints, among them shop/web, which was deleted or is about to be: ";

    #[rstest]
    #[case::namespace(json!({}), Some("list in namespace shop (curl/8.5.0)"))]
    #[case::everything(json!({"verb": "watch", "objectRef": {"resource": "endpoints"}}), Some("watch in all namespaces (curl/8.5.0)"))]
    #[case::object(json!({"verb": "get", "objectRef": of("shop", "web")}), Some("get of shop/web (curl/8.5.0)"))]
    #[case::deleted_object(json!({"verb": "get", "objectRef": of("shop", "web"), "responseStatus": {"code": 404}}),
        Some("get of shop/web (curl/8.5.0)"))]
    #[case::its_labels(json!({"requestURI": "/x?labelSelector=endpoints.kubernetes.io/managed-by"}),
        Some("list in namespace shop with labels endpoints.kubernetes.io/managed-by (curl/8.5.0)"))]
    #[case::no_selector(json!({"requestURI": "/x?labelSelector=(("}), Some("list in namespace shop with labels (( (curl/8.5.0)"))]
    #[case::other_labels(json!({"requestURI": "/x?labelSelector=app%3Dweb"}), None)]
    #[case::other_object(json!({"verb": "get", "objectRef": of("shop", "api")}), None)]
    #[case::other_namespace(json!({"objectRef": {"resource": "endpoints", "namespace": "lab"}}), None)]
    #[case::same_name_elsewhere(json!({"verb": "get", "objectRef": of("lab", "web")}), None)]
    #[case::other_kind(json!({"objectRef": {"resource": "services", "namespace": "shop"}}), None)]
    #[case::denied(json!({"responseStatus": {"code": 403}}), None)]
    #[case::write(json!({"verb": "delete", "objectRef": of("shop", "web")}), None)]
    #[case::this_program(json!({"userAgent": "kubectl-endpoints/0.5.0 (linux/amd64)"}), None)]
    #[case::api_server(json!({"user": {"username": "system:apiserver"}}), None)]
    #[case::controller(json!({"user": {"username": "system:serviceaccount:kube-system:endpointslicemirroring-controller"}}), None)]
    fn reads_that_stop_a_run(#[case] changes: Value, #[case] expected: Option<&str>) {
        let (web, other) = (read("shop", "web"), read("quiet", "e"));
        let stop = first_reader(&reads(&[event("list", &changes)]), [&web, &other]);
        assert_eq!(stop.map(|stop| stop.to_string()), expected.map(|what| format!("{ALICE}{what}")));
    }

    #[test]
    fn the_first_of_several_is_named() {
        let late = event("list", &json!({}));
        let early = json!({"stageTimestamp": "2026-11-27T13:59:59Z", "objectRef": of("quiet", "e"),
            "user": {"username": "system:serviceaccount:shop:proxy"}});
        let objects = [read("shop", "web"), read("quiet", "e")];
        let stop = first_reader(&reads(&[late, event("get", &early)]), &objects);
        let what = "get of quiet/e (curl/8.5.0)".to_owned();
        let by = Who::account("shop", "proxy");
        assert_eq!(stop, Some(Stop::Read { key: ObjectKey::new("quiet", "e"), by, what }));
        assert_eq!(first_reader(&reads(&[]), &objects), None);
    }
}
