//! Paths of slices, whose names the API server generates.

use serde_json::Value;

use super::object::{SERVICE_NAME, label, name, namespace};

/// Path of all namespaces with slices.
const NAMESPACES: &str = "/apis/discovery.k8s.io/v1/namespaces";

/// Path of the slices of a namespace.
pub(super) fn collection(in_namespace: &str) -> String {
    format!("{NAMESPACES}/{in_namespace}/endpointslices")
}

/// Path of a slice by its place among those of a Service, as histories name them: `web*0` is the first of `web`.
///
/// `*` is in no name of an object, so that the API server answers 404 if such a path is sent as it is.
pub(super) fn slice_path(in_namespace: &str, service: &str, place: usize) -> String {
    format!("{}/{service}*{place}", collection(in_namespace))
}

/// Returns the path of the object that a step means, if `path` names a slice by its place: of all `slices` with the label of
/// that Service, by any manager, sorted by name. `None` if there are not so many. Every other path is returned as it is.
pub fn resolve_slice(path: &str, slices: &[Value]) -> Option<String> {
    let Some((collection, (service, place))) =
        path.rsplit_once('/').and_then(|(collection, place)| Some((collection, place.split_once('*')?)))
    else {
        return Some(path.to_owned());
    };
    let in_namespace = collection.rsplit('/').nth(1)?;
    let of_service = |slice: &&Value| namespace(slice) == in_namespace && label(slice, SERVICE_NAME) == Some(service);
    let mut names: Vec<_> = slices.iter().filter(of_service).map(name).collect();
    names.sort_unstable();
    let name = names.get(place.parse::<usize>().ok()?)?;
    Some(format!("{collection}/{name}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::first("shop", 0, Some("web-a"))]
    #[case::second("shop", 1, Some("web-b"))]
    #[case::too_few("shop", 2, None)]
    #[case::elsewhere("default", 0, None)]
    fn resolves(#[case] in_namespace: &str, #[case] place: usize, #[case] expected: Option<&str>) {
        let slice = |name: &str, service: &str| {
            let labels = json!({ SERVICE_NAME: service });
            json!({ "metadata": { "namespace": "shop", "name": name, "labels": labels } })
        };
        let slices = [slice("web-b", "web"), slice("db-a", "db"), slice("web-a", "web")];
        let found = resolve_slice(&slice_path(in_namespace, "web", place), &slices);
        assert_eq!(found, expected.map(|name| format!("{NAMESPACES}/{in_namespace}/endpointslices/{name}")));
    }

    #[test]
    fn leaves_other_paths() {
        assert_eq!(resolve_slice("/api/v1/nodes/n", &[]).as_deref(), Some("/api/v1/nodes/n"));
    }
}
