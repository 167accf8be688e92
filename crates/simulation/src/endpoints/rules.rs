//! What a run of the endpoint controllers must satisfy.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use bytes::Bytes;
use kube_dev_apiserver::Server;
use serde_json::Value;

use super::{Content, recordings, differences, resolve_slice, write_violation};
use crate::log::{Happening, Log};
use crate::oracle::{Rules, Write};
use crate::point::Verb;
use crate::request::Target;

/// The oracle of the endpoint controllers, and the bounds on their writes.
#[derive(Clone, Copy, Debug)]
pub struct EndpointRules {
    /// `--max-endpoints-per-slice`.
    pub max_endpoints_per_slice: NonZeroUsize,
}

/// Creates and deletes that the controllers may make in all, for each request of the user, fault and start of a process.
const ALLOWANCE: usize = 8;

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
        let content = content(server);
        let objects = if resource == "endpoints" { &content.endpoints } else { &content.slices };
        let metadata = |key: &str, object: &Value| object["metadata"][key].as_str().map(ToOwned::to_owned);
        let is_it = |object: &&Value| {
            metadata("namespace", object).as_ref() == Some(namespace) && metadata("name", object).as_ref() == Some(name)
        };
        let before = (*verb != Verb::Create).then(|| objects.iter().find(is_it)).flatten();
        if before.is_none() && *verb != Verb::Create {
            // The server answers 404.
            return None;
        }
        let after = serde_json::from_slice(write.body).ok();
        let after = if *verb == Verb::Delete { None } else { after.as_ref() };
        write_violation(before, after, resource, &content)?;
        let parse = |past: &BTreeSet<Bytes>| past.iter().filter_map(|it| serde_json::from_slice(it).ok()).collect();
        let mut versions = content.clone();
        let past: Vec<Vec<Value>> = write.past.iter().map(parse).collect();
        for (objects, past) in [&mut versions.services, &mut versions.endpoints].into_iter().zip(past) {
            objects.extend(past);
        }
        write_violation(before, after, resource, &versions)
    }

    fn differences(&self, server: &Server) -> Vec<String> {
        differences(&content(server), self.max_endpoints_per_slice.get())
    }

    fn history(&self, log: &Log) -> Vec<String> {
        let mut causes = 1;
        let mut counts: BTreeMap<(&str, Verb), usize> = BTreeMap::new();
        for entry in log.entries() {
            match &entry.what {
                Happening::User { .. }
                | Happening::Fault { .. }
                | Happening::Disturbance(_)
                | Happening::Started { .. } => causes += 1,
                _ => {}
            }
        }
        for (point, _) in log.writes().filter(|(point, _)| point.resource.starts_with("endpoint")) {
            *counts.entry((&point.resource, point.verb)).or_default() += 1;
        }
        let wrong = |(&(resource, verb), &count): (&(&str, Verb), &usize)| {
            let allowed = causes * ALLOWANCE;
            (verb != Verb::Update && count > allowed)
                .then(|| format!("{count} times {verb} of {resource}, allowed are {allowed}"))
        };
        counts.iter().filter_map(wrong).collect()
    }
}

/// The objects that the oracle reads.
pub fn content(server: &Server) -> Content {
    Content {
        services: server.objects("", "services"),
        pods: server.objects("", "pods"),
        nodes: server.objects("", "nodes"),
        endpoints: server.objects("", "endpoints"),
        slices: server.objects("discovery.k8s.io", "endpointslices"),
    }
}
