//! Our three controllers as processes of a simulation.

use std::num::NonZeroUsize;

use endpoint_controller_manager::{LeaderElection, Settings, run};
use kube_controller_client::{Config, Encoding};

use crate::process::Process;

/// How the controllers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Encoding in which objects are read.
    pub encoding: Encoding,
    /// Whether the process works only while it holds the Lease.
    pub elects: bool,
    /// `--max-endpoints-per-slice`.
    pub max_endpoints_per_slice: NonZeroUsize,
}

/// The program `controller-manager`, with all controllers.
pub fn controller_manager(name: &str, options: Options) -> Process {
    let process = Process::new(name, move |environment| {
        let mut settings = Settings::default();
        settings.client.content_type = options.encoding;
        settings.endpointslice.max_endpoints_per_slice = options.max_endpoints_per_slice;
        settings.leader_election = options.elects.then(LeaderElection::default);
        run(Config::over(environment.transport), settings, environment.stop)
    });
    if options.elects { process.with_leader_election() } else { process }
}
