//! Whether Endpoints can go: of each object, and of all.

use std::collections::BTreeMap;

use kube_endpoint_model::Endpoints;
use kube_endpoints_history::audit::reads::Reads;

use crate::accounts::{Accounts, RunningProgram};
use crate::evidence::Evidence;
use crate::known::Reading;
use crate::plan::Verdict;
use crate::rbac::{Right, Rights, Who};
use crate::sightings::{Sighting, Sightings};

/// Number of reasons of a verdict about all objects.
const REASONS: usize = 30;

/// Why an object cannot go, or why that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// The reason, for all objects that have it.
    pub(crate) of_all: String,
    /// The reason, for one object.
    pub(crate) of_one: String,
    /// What would make it known; `None` if the object cannot go.
    pub(crate) needs: Option<String>,
}

impl Reason {
    pub(crate) fn not_safe(of_all: impl Into<String>, of_one: impl Into<String>) -> Reason {
        Reason { of_all: of_all.into(), of_one: of_one.into(), needs: None }
    }

    pub(crate) fn unknown(because: impl Into<String>, needs: impl Into<String>) -> Reason {
        let because = because.into();
        Reason { of_all: because.clone(), of_one: because, needs: Some(needs.into()) }
    }
}

/// Returns the verdict that follows from reasons: none is safe.
pub(crate) fn verdict(reasons: &[Reason]) -> Verdict {
    verdict_of(reasons.iter().map(|reason| (reason.of_one.clone(), reason.needs.as_deref())))
}

fn verdict_of<'a>(reasons: impl IntoIterator<Item = (String, Option<&'a str>)>) -> Verdict {
    let (mut against, mut unknown, mut needed) = (Vec::new(), Vec::new(), Vec::new());
    for (because, needs) in reasons {
        match needs {
            None => against.push(because),
            Some(needs) => {
                unknown.push(because);
                if !needed.iter().any(|it| it == needs) {
                    needed.push(needs.to_owned());
                }
            }
        }
    }
    if !against.is_empty() {
        Verdict::NotSafe { because: against }
    } else if !unknown.is_empty() {
        Verdict::Unknown { because: unknown, needs: needed }
    } else {
        Verdict::Safe
    }
}

/// Reasons of all objects.
#[derive(Default)]
pub(crate) struct Tally {
    /// Number of objects with each reason, and the first of them.
    reasons: BTreeMap<String, (Option<String>, u64, String)>,
    /// Reasons that are about no object.
    general: Vec<Reason>,
}

impl Tally {
    pub(crate) fn add(&mut self, object: &Endpoints, reasons: &[Reason]) {
        for reason in reasons.iter().filter(|reason| !self.general.contains(reason)) {
            let name = || format!("{}/{}", object.metadata.namespace, object.metadata.name);
            let entry = self.reasons.entry(reason.of_all.clone());
            entry.or_insert_with(|| (reason.needs.clone(), 0, name())).1 += 1;
        }
    }

    pub(crate) fn add_general(&mut self, reason: Reason) {
        self.general.push(reason);
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let mut counted: Vec<_> = self.reasons.iter().collect();
        counted.sort_by_key(|(because, (_, count, _))| (std::cmp::Reverse(*count), *because));
        let objects = counted.iter().map(|(because, (needs, count, first))| {
            let text = match count {
                1 => format!("{because}: {first}"),
                _ => format!("{because}: {count} objects, such as {first}"),
            };
            (text, needs.as_deref())
        });
        let general = self.general.iter().map(|reason| (reason.of_all.clone(), reason.needs.as_deref()));
        let shortened = |mut because: Vec<String>| {
            let more = because.len().saturating_sub(REASONS);
            because.truncate(REASONS);
            because.extend((more > 0).then(|| format!("{more} more")));
            because
        };
        match verdict_of(general.chain(objects)) {
            Verdict::Safe => Verdict::Safe,
            Verdict::NotSafe { because } => Verdict::NotSafe { because: shortened(because) },
            Verdict::Unknown { because, needs } => {
                Verdict::Unknown { because: shortened(because), needs: shortened(needs) }
            }
        }
    }
}

/// What is known of readers.
pub(crate) struct Judge<'a> {
    pub(crate) sightings: Sightings<'a>,
    suspects: Vec<Suspect>,
    /// Why the evidence does not suffice.
    pub(crate) shortfalls: Vec<Reason>,
}

/// Somebody who could read Endpoints, although the audit log does not show it.
struct Suspect {
    /// Rights; `None` if they are unknown.
    rights: Option<Vec<Right>>,
    reason: Reason,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        reads: Option<&'a Reads>,
        evidence: &Evidence,
        accounts: &Accounts,
        rights: Option<&Rights>,
    ) -> Judge<'a> {
        let shortfalls =
            evidence.shortfalls.iter().map(|it| Reason::unknown(it.because.as_str(), it.needs.as_str())).collect();
        let mut judge = Judge { sightings: Sightings::new(reads), suspects: Vec::new(), shortfalls };
        let mut suspects = Vec::new();
        let seen = judge.sightings.readers();
        for ((namespace, name), account) in &accounts.0 {
            let who = Who::account(namespace, name);
            let rights: Option<Vec<Right>> =
                rights.map(|rights| rights.of_account(namespace, name).into_iter().cloned().collect());
            if rights.as_ref().is_some_and(Vec::is_empty) || seen.contains(&who) {
                continue;
            }
            let programs = account.programs();
            let program = programs.iter().filter(|it| it.reading != Reading::Own).min_by_key(|it| it.reading);
            let reason = program.and_then(|program| judge.of_program(program, &who));
            let is_new = || {
                let until = evidence.log.as_ref()?.until.filter(|_| judge.shortfalls.is_empty())?;
                account.since.filter(|since| *since > until)?;
                let because = format!("{who} may read Endpoints, and its Pods are newer than the end of the audit log");
                Some(Reason::unknown(because, "an audit log that ends later"))
            };
            if let Some(reason) = reason.or_else(is_new) {
                suspects.push(Suspect { rights, reason });
            }
        }
        judge.suspects = suspects;
        judge
    }

    /// Returns the reason that follows from a known program whose requests the audit log does not have.
    fn of_program(&self, program: &RunningProgram, who: &Who) -> Option<Reason> {
        let RunningProgram { name, image, source, .. } = program;
        match (program.reading, self.shortfalls.is_empty()) {
            (Reading::Always, false) => {
                let text = format!("{who} runs {name} ({image}), which reads Endpoints ({source})");
                Some(Reason::not_safe(text.clone(), text))
            }
            (Reading::Always, true) => Some(Reason::unknown(
                format!(
                    "{who} runs {name} ({image}), which reads Endpoints ({source}), but the audit log has none of its requests"
                ),
                format!(
                    "an audit policy that records the requests of {who}, or a version of {name} that does not read Endpoints"
                ),
            )),
            (Reading::Perhaps, false) => Some(Reason::unknown(
                format!("{who} runs {name} ({image}), which can read Endpoints ({source})"),
                format!("the configuration of {name}, or an audit log"),
            )),
            (Reading::Perhaps, true) | (Reading::Own, _) => None,
        }
    }

    /// Returns why somebody needs an object, or could.
    pub(crate) fn reasons(&self, object: &Endpoints) -> Vec<Reason> {
        let (namespace, name) = (&*object.metadata.namespace, &*object.metadata.name);
        let mut by_who: BTreeMap<&Who, Vec<&Sighting<'_>>> = BTreeMap::new();
        for sighting in self.sightings.concerning(namespace, name, &object.metadata.labels) {
            by_who.entry(&sighting.who).or_default().push(sighting);
        }
        let mut reasons: Vec<Reason> =
            by_who.into_iter().map(|(who, sightings)| seen_reason(who, &sightings)).collect();
        let of_object = |suspect: &&Suspect| {
            suspect.rights.as_ref().is_none_or(|rights| rights.iter().any(|right| concerns(right, namespace, name)))
        };
        reasons.extend(self.suspects.iter().filter(of_object).map(|suspect| suspect.reason.clone()));
        reasons.extend(self.shortfalls.iter().cloned());
        reasons
    }
}

fn concerns(right: &Right, namespace: &str, name: &str) -> bool {
    right.namespace.as_ref().is_none_or(|it| it == namespace) && (right.names.is_empty() || right.names.contains(name))
}

fn seen_reason(who: &Who, sightings: &[&Sighting<'_>]) -> Reason {
    let mut verbs: Vec<&str> = sightings.iter().map(|it| it.request.verb).collect();
    verbs.sort_unstable();
    verbs.dedup();
    let count: u64 = sightings.iter().map(|it| it.seen.count).sum();
    let last = sightings.iter().map(|it| it.seen.last).max().map(|it| it.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let (verbs, last) = (verbs.join(", "), last.unwrap_or_default());
    Reason::not_safe(
        format!("{who} reads Endpoints"),
        format!("{who} reads it: {verbs}; requests: {count}, the last at {last}"),
    )
}
