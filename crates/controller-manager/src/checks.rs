//! The health checks of the process.
//!
//! `/readyz` fails for every reason for which a controller cannot work: the API server was not reached, rejects the
//! credentials or does not serve EndpointSlices, a cache has not started, has not synced or has stalled, or shutdown
//! has started. A standby is ready. `/livez` and `/healthz` fail only if the lease, while held, is not renewed in time:
//! a restart repairs neither an unreachable API server nor a cache that waits for it, and would drop the caches that
//! the process still works with.

use std::sync::{Arc, OnceLock};

use kube_controller::{AnyInformer, Health, Probe};
use kube_controller_client::Credentials;
use kube_informer::HandlerHandle;
use kube_lease_election::Fence;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::credentials;
use crate::discovery::{GROUP_VERSION, SliceApi};
use crate::settings::LeaderElection;

/// The registered health checks and the state that they read. Clones share both.
#[derive(Clone)]
pub(crate) struct Checks {
    health: Health,
    caches: Arc<OnceLock<Vec<HandlerHandle>>>,
    fence: Arc<OnceLock<Fence>>,
}

impl Checks {
    /// Registers the checks that exist from the start: `leaderElection` (CM-10; with leader election only),
    /// `informer-sync`, `credentials` and `shutdown`.
    pub(crate) fn new(
        stop: &CancellationToken,
        election: Option<&LeaderElection>,
        credentials: &Credentials,
    ) -> Checks {
        let checks = Checks { health: Health::default(), caches: Arc::default(), fence: Arc::default() };
        if let Some(election) = election {
            let (lease, fence) = (election.lease.name.clone(), Arc::clone(&checks.fence));
            checks.health.add_leader_election(lease, move || fence.get().is_some_and(Fence::is_overdue));
        }
        let caches = Arc::clone(&checks.caches);
        checks.health.add("informer-sync", &[Probe::Readyz], move || match caches.get() {
            None => Err("no cache has been started yet".to_owned()),
            Some(caches) => {
                let missing: Vec<&str> = caches.iter().filter(|it| !it.has_synced()).map(HandlerHandle::name).collect();
                if missing.is_empty() { Ok(()) } else { Err(format!("not synced yet: {}", missing.join(", "))) }
            }
        });
        let credentials = credentials.clone();
        checks.health.add("credentials", &[Probe::Readyz], move || credentials::check(&credentials, Instant::now()));
        let stop = stop.clone();
        checks.health.add("shutdown", &[Probe::Readyz], move || {
            if stop.is_cancelled() { Err("the process is shutting down".to_owned()) } else { Ok(()) }
        });
        checks
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    /// Adds the check `api/discovery.k8s.io/v1`, which fails until the API server serves EndpointSlices.
    pub(crate) fn add_slice_api(&self, api: SliceApi) {
        self.health.add(&format!("api/{GROUP_VERSION}"), &[Probe::Readyz], move || api.check());
    }

    /// Adds a check for each cache that the controllers read: `informer-pods` and so on.
    pub(crate) fn add_caches<'a>(&self, informers: impl Iterator<Item = &'a dyn AnyInformer>) {
        let add = |informer: &dyn AnyInformer| {
            self.health.add_informer(informer.resource().plural, informer.progress());
            informer.store_synced()
        };
        // Fails only if already set, and this method is called once.
        let _ = self.caches.set(informers.map(add).collect());
    }

    /// Sets the fence that `leaderElection` and [`leads`](Self::leads) read. Later calls have no effect.
    pub(crate) fn set_fence(&self, fence: &Fence) {
        let _ = self.fence.set(fence.clone());
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.fence.get().is_some_and(|fence| fence.term_end().is_some())
    }

    /// Adds the check of a started controller. It always passes: a controller that fails ends the process.
    pub(crate) fn add_controller(&self, name: &str) {
        self.health.add(name, &[Probe::Healthz], || Ok(()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube_endpoint_model::Node;
    use kube_informer::ManualSource;
    use tokio::task::JoinSet;
    use tokio::time::advance;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// The body of `/readyz?verbose` and the status codes of `/livez` and `/healthz`.
    fn probes(checks: &Checks) -> (String, u16, u16) {
        let run = |path| checks.health().respond(path, "verbose").unwrap();
        (run("/readyz").body, run("/livez").status(), run("/healthz").status())
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_cache_fails_readiness_and_not_liveness() {
        let stop = CancellationToken::new();
        let checks = Checks::new(&stop, None, &Credentials::default());
        let (nodes, source) = ManualSource::<Node>::new();
        checks.add_caches(std::iter::once::<&dyn AnyInformer>(&nodes));
        let lines = |sync: &str, informer: &str, result: &str| {
            let text = format!("{sync}\n[+]credentials ok\n[+]shutdown ok\n{informer}\nreadyz check {result}\n");
            (text, 200, 200)
        };
        let unsynced = "[-]informer-sync failed: not synced yet: manual source";
        let not_started = lines(unsynced, "[-]informer-manual source failed: not started", "failed");
        assert_eq!(probes(&checks), not_started);

        let mut tasks = JoinSet::new();
        tasks.spawn(nodes.run(stop.clone()));
        tokio::task::yield_now().await;
        advance(seconds(600)).await;
        let syncing = lines(unsynced, "[-]informer-manual source failed: no complete list in 600 s", "failed");
        assert_eq!(probes(&checks), syncing);

        source.replace([], "1");
        let ready = lines("[+]informer-sync ok", "[+]informer-manual source ok", "passed");
        for _ in 0..5 {
            advance(seconds(60)).await;
            source.bookmark("2");
            assert_eq!(probes(&checks), ready);
        }
        advance(seconds(181)).await;
        let stalled = "[-]informer-manual source failed: no list, event or bookmark for 181 s";
        assert_eq!(probes(&checks), lines("[+]informer-sync ok", stalled, "failed"));
        source.bookmark("3");
        assert_eq!(probes(&checks), ready);
        stop.cancel();
        assert!(probes(&checks).0.contains("[-]shutdown failed: the process is shutting down\n"));
    }
}
