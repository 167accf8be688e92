//! What a run must satisfy.

use bytes::Bytes;
use kube_dev_apiserver::Server;

use crate::log::Log;
use crate::request::Target;
use crate::versions::Versions;

/// Requirements of one application.
///
/// All methods are called with the state of the server, never with that of a process.
pub trait Rules: Send + Sync {
    /// Returns the path that a step of the user means, for steps that name an object otherwise than by its name. `None` if
    /// there is no such object; the step is then left out.
    fn resolve(&self, path: &str, server: &Server) -> Option<String> {
        let _ = server;
        Some(path.to_owned())
    }

    /// Whether writes of this kind have to stop once nothing changes. Renewals of leases do not.
    fn must_stop(&self, target: &Target) -> bool {
        !matches!(target.resource.as_str(), "leases" | "events")
    }

    /// Whether only the holder of the lease may send such a write.
    fn needs_lease(&self, target: &Target) -> bool {
        self.must_stop(target)
    }

    /// Whether admission policies of a [`Disturbance`](crate::Disturbance) apply to a resource.
    fn is_policed(&self, resource: &str) -> bool;

    /// Resources, by group and plural, of which [`Write::past`] has all versions. None by default.
    fn remembered(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Checks a write that a process has sent and that the server is about to carry out. Returns what is wrong with it.
    fn write(&self, write: &Write<'_>, server: &Server) -> Option<String> {
        let _ = (write, server);
        None
    }

    /// Number of keys that may wait in a work queue once nothing changes, since their syncs fail as long as the state stays as it
    /// is. `queue` is the name that the program gave to [`kube_ambient::count_pending`].
    fn may_wait(&self, queue: &str, server: &Server) -> usize {
        let _ = (queue, server);
        0
    }

    /// Differences between the state and what it has to be once nothing changes; empty if there are none.
    fn differences(&self, server: &Server) -> Vec<String>;

    /// Checks the log of a run that has ended. Returns what is wrong.
    ///
    /// `fault_free` makes the same run without faults and returns its log, which takes as long as the run did.
    fn history(&self, log: &Log, fault_free: &dyn Fn() -> Log) -> Vec<String> {
        let _ = (log, fault_free);
        Vec::new()
    }
}

/// A write of a process.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The process.
    pub process: &'a str,
    /// What is written.
    pub target: &'a Target,
    /// Body of the request, JSON.
    pub body: &'a Bytes,
    /// Every version so far of the objects of [`Rules::remembered`], in that order. A process may act on any of them, since its
    /// caches lag.
    pub past: &'a [Versions],
}
