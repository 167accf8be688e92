//! Rules that a run is checked against.

use bytes::Bytes;
use kube_dev_apiserver::Server;

use crate::log::Log;
use crate::request::Target;
use crate::versions::Versions;

/// Rules that the runs of an application must satisfy.
///
/// All methods get the state of the API server, never the caches of a process.
pub trait Rules: Send + Sync {
    /// Returns the path of the object that a step of the user refers to. Needed for steps whose path does not contain
    /// the object's name, for example because it is generated. `None` if there is no such object: the step is skipped.
    ///
    /// By default, `path` itself.
    fn resolve(&self, path: &str, server: &Server) -> Option<String> {
        let _ = server;
        Some(path.to_owned())
    }

    /// Returns whether the [`Policy`](crate::Policy) of a disturbance applies to a resource, given by its plural name.
    fn is_policed(&self, resource: &str) -> bool;

    /// Returns the resources, as group and plural, whose versions are recorded for [`Write::past`]. None by default.
    fn remembered(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Checks a write of a process before the server executes it. Returns the violation, if there is one, which is
    /// reported only if the server accepts the write.
    fn write(&self, write: &Write<'_>, server: &Server) -> Option<String> {
        let _ = (write, server);
        None
    }

    /// Returns the maximum number of pending keys of a controller at the end of a run: those whose syncs fail as long as
    /// the state does not change. 0 by default.
    ///
    /// `controller` is the label of the gauge in [`Environment::metrics`](crate::Environment::metrics).
    fn max_pending(&self, controller: &str, server: &Server) -> usize {
        let _ = (controller, server);
        0
    }

    /// Returns the differences between the current and the expected state, which must be empty at the end of a run.
    fn differences(&self, server: &Server) -> Vec<String>;

    /// Checks the log of a finished run. Returns the violations.
    ///
    /// `fault_free` repeats the run without faults and returns its log, which takes about as long as the run itself.
    fn history(&self, log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {
        let _ = (log, fault_free);
        Vec::new()
    }
}

/// Write request of a process, the argument of [`Rules::write`].
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// Name of the process.
    pub process: &'a str,
    /// Verb, resource and object of the request.
    pub target: &'a Target,
    /// Body of the request, JSON.
    pub body: &'a Bytes,
    /// Recorded versions of the resources of [`Rules::remembered`], in the same order. A process may act on any of
    /// them, since its caches lag behind.
    pub past: &'a [Versions],
}
