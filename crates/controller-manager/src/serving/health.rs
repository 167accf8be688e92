//! Named health checks, with upstream's response format.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::StatusCode;

use super::outcomes::Outcomes;

/// A check: `Err` with the reason if it fails.
type CheckFn = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// A note for operators; `None` if there is nothing to show.
type NoteFn = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// A health endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// `/healthz`, the only one that upstream's kube-controller-manager serves.
    Healthz,
    /// `/livez`: fails if the process has to be restarted.
    Livez,
    /// `/readyz`: fails if the controllers cannot work, and during shutdown.
    Readyz,
}

impl Probe {
    /// Returns the path without the leading slash.
    pub(super) fn name(self) -> &'static str {
        match self {
            Probe::Healthz => "healthz",
            Probe::Livez => "livez",
            Probe::Readyz => "readyz",
        }
    }
}

/// The registered checks and counts of their results. Clones share both.
#[derive(Clone, Default)]
pub(crate) struct Health {
    checks: Arc<Mutex<Vec<Check>>>,
    note: Arc<OnceLock<(String, NoteFn)>>,
    outcomes: Outcomes,
}

#[derive(Clone)]
struct Check {
    name: String,
    probes: Vec<Probe>,
    test: CheckFn,
}

impl Health {
    /// Registers a check under `name` for `probes`.
    pub(crate) fn add(
        &self,
        name: &str,
        probes: &[Probe],
        test: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        let check = Check { name: name.to_owned(), probes: probes.to_vec(), test: Arc::new(test) };
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push(check);
    }

    /// Sets the note that `/readyz?verbose` and `/healthz?verbose` show in the format of a check that passes. It is no
    /// check: it affects neither status nor metrics.
    pub(crate) fn set_note(&self, name: &str, note: impl Fn() -> Option<String> + Send + Sync + 'static) {
        // Fails only if already set; there is one note.
        let _ = self.note.set((name.to_owned(), Arc::new(note)));
    }

    /// Returns the counts of results, for `/metrics/slis`.
    pub(super) fn outcomes(&self) -> &Outcomes {
        &self.outcomes
    }

    /// Returns the checks of a probe in the order of registration; `ping`, which always passes, if there are none.
    fn checks(&self, probe: Probe) -> Vec<(String, CheckFn)> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let of_probe = checks.iter().filter(|check| check.probes.contains(&probe));
        let mut found: Vec<_> = of_probe.map(|check| (check.name.clone(), Arc::clone(&check.test))).collect();
        if found.is_empty() {
            found.push(("ping".to_owned(), Arc::new(|| Ok(()))));
        }
        found
    }

    /// Runs all checks of a probe except those in `excluded`; returns status and body of the response (CM-9).
    ///
    /// These paths need no authorization by default. `/readyz?verbose`, which upstream's kube-controller-manager does
    /// not serve, gives the reason of each failure; the other responses withhold it, as upstream's do.
    pub(crate) fn all(&self, probe: Probe, verbose: bool, mut excluded: Vec<String>) -> (StatusCode, String) {
        let (mut text, mut failed) = (String::new(), false);
        // Writing to a string cannot fail.
        for (name, test) in self.checks(probe) {
            if let Some(at) = excluded.iter().position(|it| *it == name) {
                excluded.remove(at);
                let _ = writeln!(text, "[+]{name} excluded: ok");
                continue;
            }
            let outcome = test();
            self.outcomes.observe(&name, probe.name(), outcome.is_ok());
            match outcome {
                Ok(()) => {
                    let _ = writeln!(text, "[+]{name} ok");
                }
                Err(reason) => {
                    failed = true;
                    tracing::info!(probe = probe.name(), check = name, reason, "Health check failed");
                    let shown = if probe == Probe::Readyz && verbose { &*reason } else { "reason withheld" };
                    let _ = writeln!(text, "[-]{name} failed: {shown}");
                }
            }
        }
        if probe != Probe::Livez
            && let Some((name, note)) = self.note.get()
            && let Some(note) = note()
        {
            let _ = writeln!(text, "[+]{name} ok: {note}");
        }
        if !excluded.is_empty() {
            let names: Vec<String> = excluded.iter().map(|name| format!("{name:?}")).collect();
            let names = names.join(",");
            let _ = writeln!(text, "warn: some health checks cannot be excluded: no matches for {names}");
        }
        let name = probe.name();
        match (failed, verbose) {
            (true, _) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{text}{name} check failed\n")),
            (false, true) => (StatusCode::OK, format!("{text}{name} check passed\n")),
            (false, false) => (StatusCode::OK, "ok".to_owned()),
        }
    }

    /// Runs one check; returns status and body of the response, or `None` if there is no such check. The body contains
    /// the reason of a failure, since the path needs authorization.
    pub(super) fn one(&self, probe: Probe, name: &str) -> Option<(StatusCode, String)> {
        let (_, test) = self.checks(probe).into_iter().find(|(it, _)| it == name)?;
        let outcome = test();
        self.outcomes.observe(name, probe.name(), outcome.is_ok());
        Some(match outcome {
            Ok(()) => (StatusCode::OK, "ok".to_owned()),
            Err(reason) => (StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {reason}\n")),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn health() -> Health {
        let health = Health::default();
        health.add("leaderElection", &[Probe::Healthz, Probe::Livez], || Ok(()));
        health.add("informer-sync", &[Probe::Readyz], || Err("pods not synced".to_owned()));
        health.add("endpoints-controller", &[Probe::Healthz], || Ok(()));
        health
    }

    #[rstest]
    #[case(Probe::Healthz, false, &[], 200, "ok")]
    #[case(Probe::Healthz, true, &[], 200, "[+]leaderElection ok\n[+]endpoints-controller ok\nhealthz check passed\n")]
    #[case(
        Probe::Livez, true, &["leaderElection", "x"], 200,
        "[+]leaderElection excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nlivez check passed\n"
    )]
    #[case(Probe::Readyz, false, &[], 500, "[-]informer-sync failed: reason withheld\nreadyz check failed\n")]
    #[case(Probe::Readyz, false, &["informer-sync"], 200, "ok")]
    #[case(Probe::Readyz, true, &[], 500, "[-]informer-sync failed: pods not synced\nreadyz check failed\n")]
    fn responses_match_upstream(
        #[case] probe: Probe,
        #[case] verbose: bool,
        #[case] excluded: &[&str],
        #[case] code: u16,
        #[case] text: &str,
    ) {
        let excluded = excluded.iter().map(|name| (*name).to_owned()).collect();
        let (found, body) = health().all(probe, verbose, excluded);
        assert_eq!((found.as_u16(), body.as_str()), (code, text));
    }

    #[test]
    fn single_check_is_selected_by_name() {
        let one = |probe, name: &str| health().one(probe, name).map(|(code, text)| (code.as_u16(), text));
        assert_eq!(one(Probe::Livez, "leaderElection"), Some((200, "ok".to_owned())));
        let failed = (500, "internal server error: pods not synced\n".to_owned());
        assert_eq!(one(Probe::Readyz, "informer-sync"), Some(failed));
        assert_eq!(one(Probe::Livez, "informer-sync"), None);
    }

    #[rstest]
    #[case::nothing(Probe::Healthz, true, None, "[+]ping ok\nhealthz check passed\n")]
    #[case::healthz(Probe::Healthz, true, Some("held"), "[+]ping ok\n[+]writes ok: held\nhealthz check passed\n")]
    #[case::readyz(Probe::Readyz, true, Some("held"), "[+]ping ok\n[+]writes ok: held\nreadyz check passed\n")]
    #[case::livez(Probe::Livez, true, Some("held"), "[+]ping ok\nlivez check passed\n")]
    #[case::not_verbose(Probe::Readyz, false, Some("held"), "ok")]
    fn note_does_not_change_the_status(
        #[case] probe: Probe,
        #[case] verbose: bool,
        #[case] note: Option<&'static str>,
        #[case] expected: &str,
    ) {
        let health = Health::default();
        health.set_note("writes", move || note.map(str::to_owned));
        assert_eq!(health.all(probe, verbose, Vec::new()), (StatusCode::OK, expected.to_owned()));
        assert_eq!(health.one(probe, "writes"), None);
    }

    #[test]
    fn probe_without_checks_has_ping() {
        let (code, text) = Health::default().all(Probe::Healthz, true, Vec::new());
        assert_eq!((code.as_u16(), text.as_str()), (200, "[+]ping ok\nhealthz check passed\n"));
    }
}
