//! Paths of slices in histories, without the names that the API server generates.

use serde_json::Value;

use super::object::{SERVICE_NAME, label, name, namespace};

/// Prefix of the paths of slices.
const NAMESPACES: &str = "/apis/discovery.k8s.io/v1/namespaces";

/// Returns the path of the slices of a namespace.
pub(super) fn collection(in_namespace: &str) -> String {
    format!("{NAMESPACES}/{in_namespace}/endpointslices")
}

/// Returns the path in histories of the slice at a position among those of a Service: `web*0` is the first of `web`.
///
/// Names of objects do not contain `*`, so the API server answers 404 to a path that was not resolved.
pub(super) fn slice_path(in_namespace: &str, service: &str, place: usize) -> String {
    format!("{}/{service}*{place}", collection(in_namespace))
}

/// Returns the path of the slice that a path such as `…/endpointslices/web*0` refers to: the position is that among all
/// `slices` with the label of the Service, of any manager, sorted by name. `None` if there are fewer slices. Other
/// paths are returned unchanged.
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
