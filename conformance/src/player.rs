//! Plays the scenarios of a recording against a cluster.

use std::{
    cmp::Reverse,
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use futures::StreamExt as _;
use kube_controller_client::Config;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    Api, Changes, Kind, Manifest, Observed, Operation, Owners, QUIET, Request, Scenario, Snapshot, Step, Tag, Watches,
    canonical, compare, operations,
};

/// Scenarios played at the same time: enough to fill the waiting, few enough not to be what is waited for.
const AT_ONCE: usize = 24;

/// How long a namespace may take to settle.
const LIMIT: Duration = Duration::from_secs(60);

/// How long the first write for a new Service may take; what is compared afterwards says whether it came.
const FIRST_WRITE: Duration = Duration::from_secs(5);

/// How often a namespace may settle in another state than expected: on a machine with too much to do, a controller may
/// take longer to begin than a namespace may take to look settled.
const LOOKS: usize = 3;

/// A connection to a cluster, on which scenarios are played.
#[derive(Debug)]
pub struct Player {
    api: Api,
    changes: Arc<Changes>,
    namespaces: Mutex<Vec<String>>,
    _watches: Watches,
}

/// What came of one scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The scenario's name.
    pub scenario: String,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// How many steps had to be looked at again.
    pub second_looks: usize,
}

/// Why a scenario failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The step, counted from 1; 0 before the first.
    pub step: usize,
    /// What went wrong, or the differences from what was expected.
    pub reasons: Vec<String>,
}

impl Player {
    /// Connects to a cluster and begins to watch it.
    pub async fn connect(config: &Config) -> Result<Self> {
        let api = Api::new(config)?;
        let changes = Arc::new(Changes::default());
        let watches = Watches::open(&api, &changes).await?;
        Ok(Self { api, changes, namespaces: Mutex::default(), _watches: watches })
    }

    /// The connection.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Creates nodes, with their status and without taints.
    pub async fn create_nodes(&self, nodes: &[Manifest]) -> Result<()> {
        for node in nodes {
            for request in operations::create(node, "") {
                self.api.ok(request).await?;
            }
            // Admission taints new nodes, and who takes that back is not there.
            let path = node.kind.object("", &node.name);
            if !self.api.ok(Request::get(path.clone())).await?["spec"]["taints"].is_null() {
                self.api.ok(Request::merge(path, json!({ "spec": { "taints": null } }))).await?;
            }
        }
        Ok(())
    }

    /// Waits until all three controllers have done something: made Endpoints, a slice, and a mirrored slice.
    pub async fn wait_for_controllers(&self) -> Result<()> {
        let namespace = self.create_namespace().await?;
        let ports = json!([{ "port": 80 }]);
        let own = json!({ "metadata": { "name": "own" }, "spec": { "ports": ports } });
        let selected =
            json!({ "metadata": { "name": "selected" }, "spec": { "ports": ports, "selector": { "a": "b" } } });
        for service in [own, selected] {
            self.api.ok(Request::create(Kind::Service.collection(&namespace), service)).await?;
        }
        let endpoints = json!({ "metadata": { "name": "own" }, "subsets": [{ "addresses": [{ "ip": "10.0.0.1" }], "ports": ports }] });
        self.api.ok(Request::create(Kind::Endpoints.collection(&namespace), endpoints)).await?;
        let mut made = Vec::new();
        for _ in 0..LIMIT.as_secs() {
            made.clear();
            for kind in [Kind::Endpoints, Kind::EndpointSlice] {
                let objects = self.api.list(kind, &namespace, "").await?.items;
                made.extend(objects.iter().map(|object| format!("{kind:?} {}", object["metadata"]["name"])));
            }
            if made.len() == 4 {
                return Ok(());
            }
            sleep(Duration::from_secs(1)).await;
        }
        bail!("not all three controllers are at work: after {} s there is only {made:?}", LIMIT.as_secs())
    }

    /// Plays scenarios, some at a time, each in a new namespace.
    pub async fn play(&self, scenarios: &[Scenario]) -> Vec<Outcome> {
        let mut scenarios: Vec<_> = scenarios.iter().collect();
        // The longest first: whoever begins last should not end last.
        scenarios.sort_by_key(|scenario| Reverse(scenario.steps.len()));
        let outcomes: Vec<_> = scenarios.into_iter().map(|scenario| self.play_one(scenario)).collect();
        futures::stream::iter(outcomes).buffer_unordered(AT_ONCE).collect().await
    }

    async fn play_one(&self, scenario: &Scenario) -> Outcome {
        let mut walk = Walk { player: self, namespace: String::new(), owners: Owners::default(), second_looks: 0 };
        let failure = walk.play(scenario).await.err();
        Outcome { scenario: scenario.name.clone(), failure, second_looks: walk.second_looks }
    }

    /// Creates a namespace with a new name, which it returns.
    ///
    /// # Errors
    /// The API server refuses it or cannot be reached.
    pub async fn create_namespace(&self) -> Result<String> {
        let object = json!({ "metadata": { "generateName": "replay-" } });
        let created = self.api.ok(Request::create("/api/v1/namespaces".to_owned(), object)).await?;
        let name = created["metadata"]["name"].as_str().context("a namespace without a name")?.to_owned();
        self.namespaces.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        // A full API server admits no pod before its namespace has this, and the controller that makes it may be late or
        // missing. The embedded server knows no service accounts and says so, which is as good.
        let path = format!("/api/v1/namespaces/{name}/serviceaccounts");
        self.api.send(Request::create(path, json!({ "metadata": { "name": "default" } }))).await?;
        Ok(name)
    }

    /// Deletes the namespaces of all scenarios, and nodes: for clusters that others use too.
    pub async fn clean_up(&self, nodes: &[Manifest]) -> Result<()> {
        let namespaces = mem::take(&mut *self.namespaces.lock().unwrap_or_else(PoisonError::into_inner));
        let namespaces = namespaces.into_iter().map(|name| format!("/api/v1/namespaces/{name}"));
        for path in namespaces.chain(nodes.iter().map(|node| node.kind.object("", &node.name))) {
            self.api.ok(Request::delete(path, None)).await?;
        }
        Ok(())
    }
}

/// A scenario being played.
struct Walk<'a> {
    player: &'a Player,
    namespace: String,
    owners: Owners,
    second_looks: usize,
}

impl Walk<'_> {
    async fn play(&mut self, scenario: &Scenario) -> Result<(), Failure> {
        let broken = |step: usize| move |error: anyhow::Error| Failure { step, reasons: vec![format!("{error:#}")] };
        self.namespace = self.player.create_namespace().await.map_err(broken(0))?;
        for (number, step) in (1..).zip(&scenario.steps) {
            let reasons = self.step(scenario, step).await.map_err(broken(number))?;
            // Later steps build on this one: what they would show says nothing.
            if !reasons.is_empty() {
                return Err(Failure { step: number, reasons });
            }
        }
        Ok(())
    }

    /// Performs a step and returns the differences from what was expected.
    async fn step(&mut self, scenario: &Scenario, step: &Step) -> Result<Vec<String>> {
        for (number, operation) in (1..).zip(&step.operations) {
            let what = || format!("operation {number} of {}", step.operations.len());
            operations::perform(&self.player.api, &self.namespace, operation).await.with_context(what)?;
            if scenario.tags.contains(&Tag::ExactTime)
                && let Operation::Create { obj } = operation
            {
                self.let_serve(obj).await.with_context(what)?;
            }
        }
        let mut looks = 0;
        loop {
            self.player.changes.settled(&self.namespace, QUIET, LIMIT).await?;
            looks += 1;
            let differences = compare(&step.expect, &self.snapshot().await?, &scenario.tags);
            if differences.is_empty() {
                self.second_looks += usize::from(looks > 1);
                return Ok(differences);
            }
            if looks == LOOKS {
                return Ok(differences);
            }
        }
    }

    /// Waits until a Service that was created has been served for the first time, if it is one that is.
    ///
    /// The first write says when the Service came, whatever else is there by then. The recorded API server was slow enough
    /// for that write to come before the next operation; the embedded one is not, on a machine with much to do.
    async fn let_serve(&self, created: &Manifest) -> Result<()> {
        let spec = &created.body["spec"];
        if created.kind != Kind::Service || spec["selector"].is_null() || spec["type"] == "ExternalName" {
            return Ok(());
        }
        let service_of = |slice: &Value| slice["metadata"]["labels"]["kubernetes.io/service-name"] == *created.name;
        let end = Instant::now() + FIRST_WRITE;
        while Instant::now() < end {
            let endpoints = self.list(Kind::Endpoints).await?;
            let slices = self.list(Kind::EndpointSlice).await?;
            if endpoints.iter().any(|it| it["metadata"]["name"] == *created.name) && slices.iter().any(service_of) {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// The state of the namespace, at a settled point.
    async fn snapshot(&mut self) -> Result<Snapshot> {
        let services = self.list(Kind::Service).await?;
        let endpoints = self.list(Kind::Endpoints).await?;
        let slices = self.list(Kind::EndpointSlice).await?;
        let events = self.list(Kind::Event).await?;
        self.owners.observe(Kind::Service, &services);
        self.owners.observe(Kind::Endpoints, &endpoints);
        Ok(canonical(&Observed { endpoints, slices, events }, &self.namespace, &self.owners))
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Value>> {
        Ok(self.player.api.list(kind, &self.namespace, "").await?.items)
    }
}
