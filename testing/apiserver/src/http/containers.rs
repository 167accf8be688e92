//! Subresources that need a kubelet, such as `log` and `exec`. No containers run here.

use super::path::ResourcePath;
use super::reply::{self, Reply};
use crate::kinds::Kind;
use crate::shared::Shared;
use crate::status::StatusError;

/// Subresources for which upstream connects to the kubelet of the Node of a Pod.
const OF_THE_KUBELET: [&str; 4] = ["attach", "exec", "log", "portforward"];

/// Answers a request for a subresource. As upstream, a Pod without a Node has an empty log. Fails with 404 if there is
/// no such object; 400 for a Pod without a Node, as upstream; otherwise 501, since no containers run here.
pub(super) fn answer(
    shared: &Shared,
    kind: &Kind,
    path: &ResourcePath,
    subresource: &str,
) -> Result<Reply, StatusError> {
    let (namespace, name) = (path.namespace.as_deref().unwrap_or_default(), path.name.as_deref().unwrap_or_default());
    let object = shared.read(|cluster| cluster.get(kind, namespace, name))?.value();
    let has_node = object["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
    match subresource {
        "log" if !has_node => Ok(reply::text("")),
        subresource if OF_THE_KUBELET.contains(&subresource) && !has_node => {
            Err(StatusError::bad_request(format!("pod {name} does not have a host assigned")))
        }
        subresource => Err(StatusError::no_containers(kind, subresource)),
    }
}
