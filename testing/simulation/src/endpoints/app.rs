//! The program `controller-manager` as a process of a simulation.

use std::num::NonZeroUsize;

use endpoint_controller_manager::{Batching, LeaderElection, Settings, run};
use kube_controller_client::{Config, Encoding};

use crate::process::Process;

/// Settings of a simulated `controller-manager`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Encoding in which objects are read and written.
    pub encoding: Encoding,
    /// Whether the process uses leader election.
    pub elects: bool,
    /// Value of `--max-endpoints-per-slice`.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// Value of `--updates-batching`.
    pub batching: Batching,
    /// Whether every list that lacks an object is checked, however few objects it lacks. Histories have too few objects
    /// for the default limit.
    pub checks_all_lists: bool,
}

/// JSON, without leader election, batching and checks of short lists; at most 100 endpoints per slice, as in the
/// recorded cluster.
impl Default for Options {
    fn default() -> Self {
        Options {
            encoding: Encoding::Json,
            elects: false,
            max_endpoints_per_slice: const { NonZeroUsize::new(100).expect("not zero") },
            batching: Batching::None,
            checks_all_lists: false,
        }
    }
}

/// Returns a process that runs `controller-manager` with all three controllers.
pub fn controller_manager(name: &str, options: Options) -> Process {
    let process = Process::new(name, move |environment| {
        let mut settings = Settings::default();
        settings.client.content_type = options.encoding;
        settings.max_endpoints_per_slice = options.max_endpoints_per_slice;
        settings.syncs.all_mut().for_each(|syncs| syncs.batching = options.batching);
        if options.checks_all_lists {
            settings.guard.free = 0;
        }
        settings.registry = Some(environment.metrics);
        settings.leader_election = options.elects.then(LeaderElection::default);
        run(Config::from_service(environment.transport), settings, environment.stop)
    });
    if options.elects { process.with_leader_election() } else { process }
}
