//! Rules for runs of walks.

use std::sync::OnceLock;

use kube_dev_apiserver::Server;

use super::rules::{EndpointRules, content};
use super::{Content, same_content};
use crate::log::Log;
use crate::oracle::{Rules, Write};
use crate::request::Target;

/// The rules of [`EndpointRules`]. In addition, the final content must equal the first content that satisfied them.
#[derive(Debug)]
pub(super) struct WalkRules {
    rules: EndpointRules,
    before: OnceLock<Content>,
}

impl WalkRules {
    pub(super) fn new(rules: EndpointRules) -> WalkRules {
        WalkRules { rules, before: OnceLock::new() }
    }
}

impl Rules for WalkRules {
    fn resolve(&self, path: &str, server: &Server) -> Option<String> {
        self.rules.resolve(path, server)
    }

    fn must_stop(&self, target: &Target) -> bool {
        self.rules.must_stop(target)
    }

    fn needs_lease(&self, target: &Target) -> bool {
        self.rules.needs_lease(target)
    }

    fn is_policed(&self, resource: &str) -> bool {
        self.rules.is_policed(resource)
    }

    fn remembered(&self) -> &[(&str, &str)] {
        self.rules.remembered()
    }

    fn write(&self, write: &Write<'_>, server: &Server) -> Option<String> {
        self.rules.write(write, server)
    }

    fn max_pending(&self, controller: &str, server: &Server) -> usize {
        self.rules.max_pending(controller, server)
    }

    fn differences(&self, server: &Server) -> Vec<String> {
        let found = self.rules.differences(server);
        if !found.is_empty() {
            return found;
        }
        let now = content(server);
        same_content(self.before.get_or_init(|| now.clone()), &now)
    }

    fn history(&self, log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {
        self.rules.history(log, fault_free)
    }
}
