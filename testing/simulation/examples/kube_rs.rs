//! A kube-rs controller under simulation: a bug caused by a stale cache, the plan that triggers it, and two fixes.
//!
//! The controller creates a child `ConfigMap` for each `ConfigMap` with the label `role=site`. It looks up the child
//! in the store of a reflector, which lags behind the controller's own writes.
//!
//! ```console
//! cargo run --release -p kube-simulation --example kube_rs
//! ```
//!
//! The bug appears only under a plan. The version with another name for the child passes, and so does the unchanged
//! reconciler with a store that has the controller's own writes: see the tests at the end.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, future};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ObjectMeta, PostParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{self, Store};
use kube::runtime::utils::Backoff;
use kube::runtime::{Controller, WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource as _, ResourceExt as _};
use kube_dev_apiserver::Server;
use kube_informer::runtime::Caches;
use kube_simulation::sieve::{self, Pattern};
use kube_simulation::{
    EntryKind, Environment, Fault, Faults, Limits, Log, Operation, Plan, Process, Rules, Simulation, Step,
};
use serde_json::json;

/// Version of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Creates a child with a generated name whenever the store has none.
    Buggy,
    /// Creates the child with a name derived from its parent, so that the server rejects a second one.
    Fixed,
    /// Creates a child as `Buggy` does. The store is that of a cache which the controller's own writes enter.
    Cached,
}

/// Back-off of one second without jitter. The jitter of kube-rs is not drawn from the seed of a run.
struct EachSecond;

impl Iterator for EachSecond {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }
}

impl Backoff for EachSecond {
    fn reset(&mut self) {}
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
        Version::Buggy | Version::Cached => metadata.generate_name = Some(format!("{}-", site.name_any())),
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

/// The controller: an ordinary kube-rs program whose client uses the transport of the simulation.
async fn controller(environment: Environment, version: Version) -> Result<(), kube::Error> {
    let client = Client::new(environment.transport, "default");
    if version == Version::Cached {
        cached_controller(client).await;
        return Ok(());
    }
    let api: Api<ConfigMap> = Api::all(client.clone());
    let (children, writer) = reflector::store();
    let pages =
        watcher(api.clone(), watcher::Config::default().labels("role=page")).backoff(EachSecond).reflect(writer);
    let sites = Controller::new(api, watcher::Config::default().labels("role=site")).trigger_backoff(EachSecond);
    let context = Arc::new(Context { client, children, version });
    let run = sites.run(reconcile, retry, context).for_each(|_| future::ready(()));
    future::join(run, pages.for_each(|_| future::ready(()))).await;
    Ok(())
}

/// The controller over caches instead of a watch and a reflector.
async fn cached_controller(client: Client) {
    let caches = Caches::new(client);
    let with_labels = |selector: &str| caches.builder::<ConfigMap>().labels(selector).build();
    let (sites, pages) = (with_labels("role=site"), with_labels("role=page"));
    let context = Context { client: caches.client(), children: pages.store(), version: Version::Cached };
    let sites = sites.controller();
    let run = async {
        // Fails only if the caches have ended.
        if pages.store().wait_until_ready().await.is_ok() {
            sites.run(reconcile, retry, Arc::new(context)).for_each(|_| future::ready(())).await;
        }
    };
    future::join(caches.run(), run).await;
}

fn retry(_: Arc<ConfigMap>, _: &kube::Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

/// Rule: each site has exactly one page.
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

/// Returns a simulation in which the user creates a site and changes it 500 ms later.
fn simulation(version: Version, faults: Faults) -> Simulation {
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
        limits: Limits { settle: Duration::from_secs(60), quiet: Duration::from_secs(10) },
    }
}

/// Returns one plan for each event of a run, which delays it by a second: until after the next change by the user.
fn delays(log: &Log) -> Vec<Plan> {
    let events = log.entries().iter().filter_map(|entry| match &entry.what {
        EntryKind::Event { point, .. } => Some(point.clone()),
        _ => None,
    });
    events.map(|point| Plan { faults: [(point, Fault::Delay(1_000))].into(), ..Plan::default() }).collect()
}

/// Returns the plans under which a version fails, of [`delays`] and of the three patterns of Sieve.
fn failing(version: Version) -> Vec<Plan> {
    let calm = simulation(version, Faults::Planned(Plan::default())).run();
    let mut plans = delays(&calm.log);
    plans.extend(Pattern::ALL.into_iter().flat_map(|pattern| sieve::plans(&calm.log, pattern)));
    plans.retain(|plan| !simulation(version, Faults::Planned(plan.clone())).run().violations.is_empty());
    plans
}

/// One of [`delays`]: the second event, that of the page, arrives after the site has changed.
const LATE_PAGE: &str = "controller/event/configmaps/2=delay-1000";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let late_page: Plan = LATE_PAGE.parse()?;
    for version in [Version::Buggy, Version::Fixed, Version::Cached] {
        let calm = simulation(version, Faults::Planned(Plan::default())).run();
        let failing: Vec<String> = failing(version).iter().map(ToString::to_string).collect();
        writeln!(out, "{version:?}: without faults {} violations; fails under {failing:?}", calm.violations.len())?;
        let late = simulation(version, Faults::Planned(late_page.clone())).run();
        writeln!(out, "{version:?} under {LATE_PAGE}: {:?}\n{}", late.violations, late.log.timeline())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::calm(Version::Buggy, "", 0)]
    #[case::late(Version::Buggy, LATE_PAGE, 1)]
    #[case::fixed(Version::Fixed, LATE_PAGE, 0)]
    fn violations(#[case] version: Version, #[case] plan: &str, #[case] expected: usize) {
        let plan: Plan = plan.parse().unwrap();
        let outcome = simulation(version, Faults::Planned(plan.clone())).run();
        assert_eq!(outcome.violations.len(), expected, "{:?}\n{}", outcome.violations, outcome.log.timeline());
        assert_eq!(outcome.plan, plan, "a planned fault was not injected");
    }

    #[test]
    fn the_plan_is_one_of_those_found() {
        let late_page: Plan = LATE_PAGE.parse().unwrap();
        let calm = simulation(Version::Buggy, Faults::Planned(Plan::default())).run();
        assert!(delays(&calm.log).contains(&late_page));
        assert!(failing(Version::Buggy).contains(&late_page));
        assert_eq!(failing(Version::Fixed), []);
    }

    #[test]
    fn a_store_with_own_writes_passes_under_each_plan() {
        assert_eq!(failing(Version::Cached), []);
        for plan in failing(Version::Buggy) {
            assert_eq!(simulation(Version::Cached, Faults::Planned(plan.clone())).run().violations, [""; 0], "{plan}");
        }
    }

    #[test]
    fn runs_are_repeatable() {
        let run = |plan: &str| simulation(Version::Buggy, Faults::Planned(plan.parse().unwrap())).run().log.text();
        for plan in
            ["", LATE_PAGE, "controller/create/configmaps/1=reject-503", "controller/event/configmaps/1=lose-request"]
        {
            assert_eq!(run(plan), run(plan));
        }
    }
}
