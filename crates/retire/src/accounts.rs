//! Service accounts that running Pods use, and the known programs among them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::known::{Reading, programs};
use crate::parts::PodProgram;

/// Service accounts of running Pods.
#[derive(Clone, Debug, Default)]
pub struct Accounts(pub(crate) BTreeMap<(String, String), Account>);

/// A service account of running Pods.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) pods: u64,
    /// Name of one of the Pods.
    pub(crate) example: String,
    /// Time at which the first of the Pods was created; `None` if it is unknown.
    pub(crate) since: Option<Timestamp>,
    programs: BTreeMap<(&'static str, String, Reading), u64>,
}

/// A known program that runs in Pods.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningProgram {
    /// Name.
    pub name: String,
    /// Image.
    pub image: String,
    /// Whether it reads Endpoints.
    pub reading: Reading,
    /// Number of containers.
    pub containers: u64,
    /// Where it is described that the program reads Endpoints.
    pub source: String,
}

impl Accounts {
    /// Adds a running Pod.
    pub fn add(&mut self, namespace: &str, pod: &str, program: &PodProgram) {
        // The API server sets the name; static Pods have none.
        let account = if program.service_account.is_empty() { "default" } else { &program.service_account };
        let account = self.0.entry((namespace.to_owned(), account.to_owned())).or_default();
        if account.pods == 0 {
            (account.example, account.since) = (pod.to_owned(), program.created);
        }
        account.pods += 1;
        account.since = account.since.min(program.created);
        for known in &program.known {
            let key = (known.program.name.as_str(), known.image.clone(), known.reading);
            *account.programs.entry(key).or_default() += 1;
        }
    }
}

impl Account {
    pub(crate) fn programs(&self) -> Vec<RunningProgram> {
        let running = self.programs.iter().map(|((name, image, reading), containers)| RunningProgram {
            name: (*name).to_owned(),
            image: image.clone(),
            reading: *reading,
            containers: *containers,
            source: programs().iter().find(|it| it.name == *name).map(|it| it.source.clone()).unwrap_or_default(),
        });
        running.collect()
    }
}
