//! Health: named checks, in upstream's words.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;

use super::outcomes::Outcomes;

/// Whether something is well; if not, why.
type Test = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// A question about health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// What upstream serves.
    Healthz,
    /// Whether the process is to go on.
    Livez,
    /// Whether its caches are filled.
    Readyz,
}

impl Probe {
    /// Its path, without the slash.
    pub(super) fn name(self) -> &'static str {
        match self {
            Probe::Healthz => "healthz",
            Probe::Livez => "livez",
            Probe::Readyz => "readyz",
        }
    }
}

/// The checks of the process, and how they went. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Health {
    checks: Arc<Mutex<Vec<Check>>>,
    outcomes: Outcomes,
}

#[derive(Clone)]
struct Check {
    name: String,
    probes: Vec<Probe>,
    test: Test,
}

impl Health {
    /// Adds a check to some of the probes.
    pub(crate) fn add(
        &self,
        name: &str,
        probes: &[Probe],
        test: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        let check = Check { name: name.to_owned(), probes: probes.to_vec(), test: Arc::new(test) };
        self.checks.lock().unwrap_or_else(PoisonError::into_inner).push(check);
    }

    /// How checks went, for `/metrics/slis`.
    pub(super) fn outcomes(&self) -> &Outcomes {
        &self.outcomes
    }

    /// The checks of a probe, by name. One that has none has `ping`, which always passes.
    fn checks(&self, probe: Probe) -> Vec<(String, Test)> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        let of_probe = checks.iter().filter(|check| check.probes.contains(&probe));
        let mut found: Vec<_> = of_probe.map(|check| (check.name.clone(), Arc::clone(&check.test))).collect();
        if found.is_empty() {
            found.push(("ping".to_owned(), Arc::new(|| Ok(()))));
        }
        found
    }

    /// Answers for all checks of a probe (CM-9).
    ///
    /// Everyone may ask. `/readyz?verbose`, which upstream's kube-controller-manager does not serve, gives the reason of each
    /// failure; the other answers withhold it, as upstream's do.
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
            self.outcomes.observe(&name, probe, outcome.is_ok());
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

    /// Answers for one check, with the reason: its path is not open to all.
    pub(super) fn one(&self, probe: Probe, name: &str) -> Option<(StatusCode, String)> {
        let (_, test) = self.checks(probe).into_iter().find(|(it, _)| it == name)?;
        let outcome = test();
        self.outcomes.observe(name, probe, outcome.is_ok());
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
    fn upstreams_words(
        #[case] probe: Probe,
        #[case] verbose: bool,
        #[case] excluded: &[&str],
        #[case] code: u16,
        #[case] text: &str,
    ) {
        let excluded = excluded.iter().map(|name| (*name).to_owned()).collect();
        let (found, said) = health().all(probe, verbose, excluded);
        assert_eq!((found.as_u16(), said.as_str()), (code, text));
    }

    #[test]
    fn one_check_by_name() {
        let one = |probe, name: &str| health().one(probe, name).map(|(code, text)| (code.as_u16(), text));
        assert_eq!(one(Probe::Livez, "leaderElection"), Some((200, "ok".to_owned())));
        let failed = (500, "internal server error: pods not synced\n".to_owned());
        assert_eq!(one(Probe::Readyz, "informer-sync"), Some(failed));
        assert_eq!(one(Probe::Livez, "informer-sync"), None);
    }

    #[test]
    fn without_checks_there_is_ping() {
        let (code, text) = Health::default().all(Probe::Healthz, true, Vec::new());
        assert_eq!((code.as_u16(), text.as_str()), (200, "[+]ping ok\nhealthz check passed\n"));
    }
}
