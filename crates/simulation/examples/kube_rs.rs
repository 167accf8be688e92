//! A kube-rs controller under simulation: a bug that a stale cache causes, the plan that shows it, and the fix.
//!
//! The controller gives each `ConfigMap` with the label `role=site` a child `ConfigMap`. It looks for the child in the store of
//! a reflector, which lags behind its own writes.
//!
//! ```console
//! cargo run --release -p kube-simulation --example kube_rs
//! ```

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, future};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ObjectMeta, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{self, Store};
use kube::runtime::{Controller, WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource as _, ResourceExt as _};
use kube_dev_apiserver::Server;
use kube_simulation::sieve::{self, Pattern};
use kube_simulation::{
    Chaos, Environment, Fault, Faults, Limits, Operation, Outcome, Plan, Process, Rules, Simulation, Step, Verb,
};
use serde_json::json;

/// Which version of the controller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Creates a child with a generated name whenever the store has none.
    Buggy,
    /// Creates the child under a name that follows from its parent, so that the server rejects a second one.
    Fixed,
}

struct Context {
    client: Client,
    children: Store<ConfigMap>,
    version: Version,
}

async fn reconcile(site: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let of = |child: &ConfigMap| child.labels().get("site") == Some(&site.name_any());
    if context.children.state().iter().any(|child| of(child)) {
        return Ok(Action::await_change());
    }
    let mut metadata = ObjectMeta {
        labels: Some(BTreeMap::from([("role".to_owned(), "page".to_owned()), ("site".to_owned(), site.name_any())])),
        owner_references: site.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    match context.version {
        Version::Buggy => metadata.generate_name = Some(format!("{}-", site.name_any())),
        Version::Fixed => metadata.name = Some(format!("{}-page", site.name_any())),
    }
    let child = ConfigMap { metadata, ..ConfigMap::default() };
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &site.namespace().unwrap_or_default());
    match api.create(&PostParams::default(), &child).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        answer => drop(answer?),
    }
    Ok(Action::await_change())
}

/// The controller, an ordinary kube-rs program. Only its client is unusual: it uses the transport of the simulation.
async fn controller(environment: Environment, version: Version) -> Result<(), kube::Error> {
    let client = Client::new(environment.transport, "default");
    let api: Api<ConfigMap> = Api::all(client.clone());
    let (children, writer) = reflector::store();
    let pages = watcher(api.clone(), watcher::Config::default().labels("role=page")).reflect(writer);
    let sites = Controller::new(api, watcher::Config::default().labels("role=site"));
    let context = Arc::new(Context { client, children, version });
    let retry = |_, _: &kube::Error, _| Action::requeue(Duration::from_secs(1));
    let run = sites.run(reconcile, retry, context).for_each(|_| future::ready(()));
    future::join(run, pages.for_each(|_| future::ready(()))).await;
    Ok(())
}

/// Each site has exactly one page.
struct OnePage;

impl Rules for OnePage {
    fn is_policed(&self, _: &str) -> bool {
        false
    }

    fn differences(&self, server: &Server) -> Vec<String> {
        let maps = server.objects("", "configmaps");
        let sites = maps.iter().filter(|map| map["metadata"]["labels"]["role"] == "site");
        let wrong = |site: &serde_json::Value| {
            let name = &site["metadata"]["name"];
            let pages = maps.iter().filter(|map| map["metadata"]["labels"]["site"] == *name).count();
            (pages != 1).then(|| format!("site {name} has {pages} pages"))
        };
        sites.filter_map(wrong).collect()
    }
}

/// A user who creates a site and soon changes it.
pub fn simulation(version: Version, faults: Faults) -> Simulation {
    let path = "/api/v1/namespaces/default/configmaps";
    let site = json!({ "metadata": { "name": "blog", "labels": { "role": "site" } } });
    let change = json!({ "data": { "title": "News" } });
    let steps = [
        Operation::Create { path: path.to_owned(), object: site },
        Operation::Patch { path: format!("{path}/blog"), patch: change },
    ];
    Simulation {
        seed: 1,
        processes: vec![Process::new("controller", move |environment| controller(environment, version))],
        rules: Arc::new(OnePage),
        setup: Vec::new(),
        steps: steps.map(|operation| Step { after: Duration::from_millis(500), operation }).into(),
        faults,
        disturbances: Vec::new(),
        limits: Limits { settle: Duration::from_secs(60), quiet: Duration::from_secs(10) },
    }
}

/// A plan that delays the event about the page until the site has changed.
pub fn late_page() -> Plan {
    // Event 1 is that of the site, in the list that the watch begins with, or a bookmark; every event is late in turn.
    let point = |nth| kube_simulation::Point {
        process: "controller".to_owned(),
        verb: Verb::Event,
        resource: "configmaps".to_owned(),
        nth,
    };
    Plan { faults: (1..=6).map(|nth| (point(nth), Fault::Delay(600))).collect(), ..Plan::default() }
}

fn show(version: Version, outcome: &Outcome) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{version:?}:\n{}violations: {:?}\n", outcome.log.timeline(), outcome.violations)
}

fn main() -> std::io::Result<()> {
    let calm = simulation(Version::Buggy, Faults::Drawn(Chaos::NONE)).run();
    assert!(calm.violations.is_empty(), "without faults the bug does not show: {:?}", calm.violations);
    for pattern in Pattern::ALL {
        let count = |pruned| sieve::plans(&calm.log, pattern, pruned).len();
        writeln!(std::io::stdout(), "{pattern:?}: {} plans, {} after pruning", count(false), count(true))?;
    }
    for version in [Version::Buggy, Version::Fixed] {
        let outcome = simulation(version, Faults::Planned(late_page())).run();
        show(version, &outcome)?;
        assert_eq!(outcome.violations.is_empty(), version == Version::Fixed);
    }
    Ok(())
}
