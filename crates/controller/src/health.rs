//! Named health checks, with the response format of Kubernetes components.

mod cache;
mod results;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use kube_informer::Progress;
use tokio::time::Instant;

use self::results::Results;
use crate::locked;

/// A check: `Err` with the reason if it fails.
type CheckFn = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// A health endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// `/healthz`, the only one that upstream's kube-controller-manager serves.
    Healthz,
    /// `/livez`: fails if the process has to be restarted.
    Livez,
    /// `/readyz`: fails if the controllers cannot work, and during shutdown.
    Readyz,
}

impl Probe {
    const ALL: [Probe; 3] = [Probe::Healthz, Probe::Livez, Probe::Readyz];

    /// Returns the path without the leading slash.
    fn name(self) -> &'static str {
        match self {
            Probe::Healthz => "healthz",
            Probe::Livez => "livez",
            Probe::Readyz => "readyz",
        }
    }
}

/// Response to a request for a health endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthResponse {
    /// Whether all checks pass that were run.
    pub passed: bool,
    /// Plain text: `ok`, or a line for each check.
    pub body: String,
}

impl HealthResponse {
    /// Returns the HTTP status: 200 if all checks pass, otherwise 500.
    pub fn status(&self) -> u16 {
        if self.passed { 200 } else { 500 }
    }
}

/// Registered health checks, and counts of their results. Clones share both.
///
/// It has the checks and responses of `healthz` of Kubernetes components (`k8s.io/apiserver/pkg/server/healthz`), without
/// a server: an HTTP server of the program passes it path and query.
///
/// ```
/// use kube_controller::{Health, Probe};
///
/// let health = Health::default();
/// health.add("database", &[Probe::Readyz], || Err("no connection".to_owned()));
/// let response = health.respond("/readyz", "verbose").unwrap();
/// assert_eq!(response.status(), 500);
/// assert_eq!(response.body, "[-]database failed: no connection\nreadyz check failed\n");
/// assert_eq!(health.respond("/livez", "").unwrap().body, "ok");
/// assert_eq!(health.respond("/metrics", ""), None);
/// ```
#[derive(Clone, Default)]
pub struct Health {
    checks: Arc<Mutex<Vec<Check>>>,
    results: Results,
}

#[derive(Clone)]
struct Check {
    name: String,
    probes: Vec<Probe>,
    test: CheckFn,
}

impl Health {
    /// Registers a check under `name` for `probes`, or under `name-2`, `name-3` and so on if `name` is taken, as for two
    /// informers of one resource. `test` returns the reason of a failure; it is called for each request and must not
    /// block.
    pub fn add(&self, name: &str, probes: &[Probe], test: impl Fn() -> Result<(), String> + Send + Sync + 'static) {
        let mut checks = locked(&self.checks);
        let is_taken = |name: &str| checks.iter().any(|check| check.name == name);
        let (mut unique, mut number) = (name.to_owned(), 1);
        while is_taken(&unique) {
            number += 1;
            unique = format!("{name}-{number}");
        }
        checks.push(Check { name: unique, probes: probes.to_vec(), test: Arc::new(test) });
    }

    /// Registers the check `informer-NAME` of `/readyz`, which fails until the informer has stored its first list, and
    /// while its cache has stored no list, event or bookmark for more than 180 s. API servers send a bookmark on every
    /// watch about once a minute, and a broken watch is reopened within a minute.
    ///
    /// It is no check of `/livez`: a restart repairs no cache that waits for the API server, and drops the state that the
    /// controller still works with.
    pub fn add_informer(&self, name: &str, progress: Progress) {
        self.add(&format!("informer-{name}"), &[Probe::Readyz], move || cache::check(progress.at(Instant::now())));
    }

    /// Registers the check `leaderElection` of `/livez` and `/healthz` (CM-10): the counterpart of client-go's
    /// `leaderelection.HealthzAdaptor`. `is_overdue` returns whether this process still counts as the leader although it
    /// has not renewed the lease in time (`Fence::is_overdue` of `kube-lease-election`). A standby passes.
    pub fn add_leader_election(&self, lease: impl fmt::Display, is_overdue: impl Fn() -> bool + Send + Sync + 'static) {
        let failed = format!("failed election to renew leadership on lease {lease}");
        let test = move || if is_overdue() { Err(failed.clone()) } else { Ok(()) };
        self.add("leaderElection", &[Probe::Healthz, Probe::Livez], test);
    }

    /// Returns the response to a GET request; `None` if the path is none of a probe or a check.
    ///
    /// - `/healthz`, `/livez` and `/readyz` run all checks of the probe. The query parameter `verbose` lists them, and
    ///   `exclude=NAME` skips one (CM-9). These paths usually need no authorization: reasons of failures are withheld,
    ///   except in `/readyz?verbose`, which kube-controller-manager does not serve.
    /// - `/readyz/NAME` runs one check; its response contains the reason of a failure.
    pub fn respond(&self, path: &str, query: &str) -> Option<HealthResponse> {
        Probe::ALL.into_iter().find_map(|probe| {
            let rest = path.strip_prefix('/')?.strip_prefix(probe.name())?;
            if rest.is_empty() {
                let (verbose, excluded) = parameters(query);
                Some(self.all(probe, verbose, excluded))
            } else {
                self.one(probe, rest.strip_prefix('/')?)
            }
        })
    }

    /// Returns the metrics `kubernetes_healthcheck` and `kubernetes_healthchecks_total` of the results since the start or
    /// the last reset, which Kubernetes components serve at `/metrics/slis`.
    ///
    /// # Errors
    ///
    /// If a metric cannot be created. Not expected: names and labels are constant.
    #[cfg(feature = "prometheus")]
    pub fn metrics(&self) -> prometheus::Result<Vec<prometheus::proto::MetricFamily>> {
        self.results.families()
    }

    /// Resets the counts of results; for a DELETE of `/metrics/slis` (MT-12).
    pub fn reset_metrics(&self) {
        self.results.reset();
    }

    /// Returns the checks of a probe in the order of registration; `ping`, which always passes, if there are none.
    fn checks(&self, probe: Probe) -> Vec<(String, CheckFn)> {
        let checks = locked(&self.checks);
        let of_probe = checks.iter().filter(|check| check.probes.contains(&probe));
        let mut found: Vec<_> = of_probe.map(|check| (check.name.clone(), Arc::clone(&check.test))).collect();
        if found.is_empty() {
            found.push(("ping".to_owned(), Arc::new(|| Ok(()))));
        }
        found
    }

    /// Runs all checks of a probe except those in `excluded`.
    fn all(&self, probe: Probe, verbose: bool, mut excluded: Vec<String>) -> HealthResponse {
        let (mut text, mut passed) = (String::new(), true);
        // Writing to a string cannot fail.
        for (name, test) in self.checks(probe) {
            if let Some(at) = excluded.iter().position(|it| *it == name) {
                excluded.remove(at);
                let _ = writeln!(text, "[+]{name} excluded: ok");
                continue;
            }
            let result = test();
            self.results.observe(&name, probe.name(), result.is_ok());
            match result {
                Ok(()) => {
                    let _ = writeln!(text, "[+]{name} ok");
                }
                Err(reason) => {
                    passed = false;
                    tracing::info!(probe = probe.name(), check = name, reason, "Health check failed");
                    let shown = if probe == Probe::Readyz && verbose { &*reason } else { "reason withheld" };
                    let _ = writeln!(text, "[-]{name} failed: {shown}");
                }
            }
        }
        if !excluded.is_empty() {
            let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
            let names = names.join(",");
            let _ = writeln!(text, "warn: some health checks cannot be excluded: no matches for {names}");
        }
        let name = probe.name();
        let body = match (passed, verbose) {
            (false, _) => format!("{text}{name} check failed\n"),
            (true, true) => format!("{text}{name} check passed\n"),
            (true, false) => "ok".to_owned(),
        };
        HealthResponse { passed, body }
    }

    /// Runs one check; `None` if the probe has no check of this name.
    fn one(&self, probe: Probe, name: &str) -> Option<HealthResponse> {
        let (_, test) = self.checks(probe).into_iter().find(|(it, _)| it == name)?;
        let result = test();
        self.results.observe(name, probe.name(), result.is_ok());
        Some(match result {
            Ok(()) => HealthResponse { passed: true, body: "ok".to_owned() },
            Err(reason) => HealthResponse { passed: false, body: format!("internal server error: {reason}\n") },
        })
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = locked(&self.checks).iter().map(|check| check.name.clone()).collect();
        f.debug_struct("Health").field("checks", &names).finish_non_exhaustive()
    }
}

/// Parses the query of a probe: whether `verbose` is set, and the names of `exclude`.
fn parameters(query: &str) -> (bool, Vec<String>) {
    let (mut verbose, mut excluded) = (false, Vec::new());
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "verbose" => verbose = true,
            "exclude" => excluded.extend(value.split(',').filter(|it| !it.is_empty()).map(str::to_owned)),
            _ => {}
        }
    }
    (verbose, excluded)
}
