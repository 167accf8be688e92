//! Rules for runs of the endpoint controllers.

use std::num::NonZeroUsize;

use kube_dev_apiserver::Server;
use serde_json::Value;

use super::excess::excess;
use super::repeated::repeated_writes;
use super::{Content, demanded, differences, recordings, resolve_slice, write_violation};
use crate::fault::POLICY_LABEL;
use crate::log::Log;
use crate::oracle::{Rules, Write};
use crate::point::Verb;
use crate::request::Target;

/// Rules for runs of the endpoint controllers: the oracle, checks of each write, and limits on the number of writes.
#[derive(Clone, Copy, Debug)]
pub struct EndpointRules {
    /// Value of `--max-endpoints-per-slice`.
    pub max_endpoints_per_slice: NonZeroUsize,
}

impl Rules for EndpointRules {
    fn resolve(&self, path: &str, server: &Server) -> Option<String> {
        if !path.contains('*') {
            return Some(path.to_owned());
        }
        let slices = server.objects("discovery.k8s.io", "endpointslices");
        recordings::resolve(path, &slices).or_else(|| resolve_slice(path, &slices))
    }

    fn is_policed(&self, resource: &str) -> bool {
        matches!(resource, "endpoints" | "endpointslices")
    }

    fn remembered(&self) -> &[(&str, &str)] {
        &[("", "services"), ("", "endpoints")]
    }

    fn write(&self, write: &Write<'_>, server: &Server) -> Option<String> {
        let Target { resource, namespace, name, verb, .. } = write.target;
        match resource.as_str() {
            "leases" | "events" => return None,
            "endpoints" | "endpointslices" => {}
            _ => return Some(format!("{verb} of {resource}")),
        }
        let group = if resource == "endpoints" { "" } else { "discovery.k8s.io" };
        let before = (*verb != Verb::Create).then(|| server.object(group, resource, namespace, name)).flatten();
        if before.is_none() && *verb != Verb::Create {
            // The server answers 404.
            return None;
        }
        let after = (*verb != Verb::Delete).then(|| serde_json::from_slice::<Value>(write.body)).transpose();
        let after = match after {
            Ok(after) => after,
            Err(error) => return Some(format!("{resource} that cannot be checked: {error}")),
        };
        let service = after.as_ref().or(before.as_ref()).map(|object| &object["metadata"])?;
        // Endpoints copy all labels of their Service, so on them this label may have any value.
        let label = service["labels"]["kubernetes.io/service-name"].as_str().filter(|_| resource == "endpointslices");
        let service = label.or(service["name"].as_str())?;
        let versions = |index: usize| write.past.get(index).map(|it| it.of(namespace, service)).unwrap_or_default();
        write_violation(before.as_ref(), after.as_ref(), resource, versions(0), versions(1))
    }

    fn max_pending(&self, controller: &str, server: &Server) -> usize {
        if controller != "endpointslice-controller" {
            return 0;
        }
        let content = content(server);
        content.services.iter().filter(|service| demanded::waits_for_node(service, &content)).count()
    }

    fn differences(&self, server: &Server) -> Vec<String> {
        differences(&content(server), self.max_endpoints_per_slice.get())
    }

    fn history(&self, log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {
        [excess(log, fault_free), repeated_writes(log)].concat()
    }
}

/// Returns the objects that the oracle reads, without the label of [`Policy::AddLabel`](crate::Policy::AddLabel).
pub fn content(server: &Server) -> Content {
    let without_policy = |mut objects: Vec<Value>| {
        for object in &mut objects {
            if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
                labels.remove(POLICY_LABEL);
            }
        }
        objects
    };
    Content {
        services: server.objects("", "services"),
        pods: server.objects("", "pods"),
        nodes: server.objects("", "nodes"),
        endpoints: without_policy(server.objects("", "endpoints")),
        slices: without_policy(server.objects("discovery.k8s.io", "endpointslices")),
    }
}
