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
    Api, Changes, Kind, Limits, Manifest, Observed, Operation, Output, Owners, Profile, Request, SERVICE_NAME_LABEL,
    Scenario, Snapshot, Step, Tag, Unnoticed, Watches, canonical, operations,
};

/// Maximum number of concurrent scenarios. They mostly wait, but more of them would overload a small machine.
const AT_ONCE: usize = 24;

/// Maximum number of comparisons per step: on an overloaded machine, a namespace may appear settled before a controller
/// has started to act.
const LOOKS: usize = 3;

/// Pause after each operation. In virtual time, which passes only while nothing else is to be done, the controllers react to
/// each operation before the next one, as those of the recorded cluster did.
const BETWEEN_OPERATIONS: Duration = Duration::from_millis(1);

/// Client of a cluster on which scenarios are played.
#[derive(Debug)]
pub struct Player {
    api: Api,
    changes: Arc<Changes>,
    profile: Arc<Profile>,
    limits: Limits,
    namespaces: Mutex<Vec<String>>,
    /// The last Node that was created.
    node: Mutex<Option<String>>,
    _watches: Watches,
}

/// Outcome of one scenario.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Name of the scenario.
    pub scenario: String,
    /// Failure of the scenario; `None` if it passed.
    pub failure: Option<Failure>,
    /// Number of steps that matched the recording only after the namespace had settled again.
    pub second_looks: usize,
    /// Steps that were not compared, with the reasons.
    pub notes: Vec<String>,
    /// Duration of the scenario.
    pub time: Duration,
}

/// Failure of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Number of the failed step, starting at 1; 0 if the scenario failed before its first step.
    pub step: usize,
    /// The error, or the differences from the expected snapshot.
    pub reasons: Vec<String>,
}

impl Player {
    /// Connects to a cluster and starts to watch it. The controllers under test must be all three, exactly as those of
    /// Kubernetes.
    ///
    /// # Errors
    /// The configuration cannot be used, or a list or watch request fails.
    pub async fn connect(config: &Config) -> Result<Self> {
        Self::connect_with(config, Arc::new(Profile::controller_manager()), Limits::default()).await
    }

    /// As [`connect`](Self::connect), for controllers with other claims.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with(config: &Config, profile: Arc<Profile>, limits: Limits) -> Result<Self> {
        let api = Api::new(config)?;
        let changes = Arc::new(Changes::default());
        let watches = Watches::open(&api, &changes).await?;
        Ok(Self {
            api,
            changes,
            profile,
            limits,
            namespaces: Mutex::default(),
            node: Mutex::default(),
            _watches: watches,
        })
    }

    /// Returns the clock of time limits and quiet times.
    pub(crate) fn clock(&self) -> &Changes {
        &self.changes
    }

    /// Returns the client.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Creates Nodes, sets their status and removes their taints.
    ///
    /// # Errors
    /// A request fails.
    pub async fn create_nodes(&self, nodes: &[Manifest]) -> Result<()> {
        for node in nodes {
            for request in operations::create(node, "") {
                self.api.ok(request).await?;
            }
            // Admission taints new Nodes, and the controller that removes the taint does not run.
            let path = node.kind.object("", &node.name);
            if !self.api.ok(Request::get(path.clone())).await?["spec"]["taints"].is_null() {
                self.api.ok(Request::merge(path, json!({ "spec": { "taints": null } }))).await?;
            }
            *self.node.lock().unwrap_or_else(PoisonError::into_inner) = Some(node.name.clone());
        }
        Ok(())
    }

    /// Waits until the controllers have written an object of each [`Output`] that the profile claims.
    ///
    /// # Errors
    /// A request fails, or an object is missing after [`Limits::start`].
    pub async fn wait_for_controllers(&self) -> Result<()> {
        let namespace = self.create_namespace().await?;
        let ports = json!([{ "port": 80 }]);
        let own = json!({ "metadata": { "name": "own" }, "spec": { "ports": ports } });
        let selected =
            json!({ "metadata": { "name": "selected" }, "spec": { "ports": ports, "selector": { "a": "b" } } });
        let endpoints = json!({ "metadata": { "name": "own" }, "subsets": [{ "addresses": [{ "ip": "10.0.0.1" }], "ports": ports }] });
        for (kind, object) in [(Kind::Service, own), (Kind::Service, selected), (Kind::Endpoints, endpoints)] {
            self.create(kind, &namespace, object).await?;
        }
        if !self.profile.is_exact() {
            // Controllers may write nothing for a Service without endpoints.
            self.create_ready_pod(&namespace).await?;
        }
        let start = self.changes.now();
        loop {
            let mut missing = Vec::new();
            for (output, kind, service) in WRITTEN_AT_FIRST.into_iter().filter(|(it, ..)| self.profile.claims(*it)) {
                let objects = self.list(kind, &namespace).await?;
                if !objects.iter().any(|object| is_for(kind, object, service)) {
                    missing.push(output.name());
                }
            }
            if missing.is_empty() {
                return Ok(());
            }
            if self.changes.now().saturating_sub(start) > self.limits.start {
                let (missing, limit) = (missing.join(", "), self.limits.start.as_secs());
                bail!("the controllers have not started: no object of {missing} after {limit} s");
            }
            sleep(Duration::from_millis(250)).await;
        }
    }

    /// Creates a ready Pod that the Service `selected` selects.
    async fn create_ready_pod(&self, namespace: &str) -> Result<()> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let spec = json!({ "nodeName": node, "containers": [{ "name": "main", "image": "app:1" }] });
        let pod = json!({ "metadata": { "name": "selected", "labels": { "a": "b" } }, "spec": spec });
        self.create(Kind::Pod, namespace, pod).await?;
        let status = json!({ "phase": "Running", "podIP": "10.0.0.2", "podIPs": [{ "ip": "10.0.0.2" }],
            "conditions": [{ "type": "Ready", "status": "True" }] });
        let path = Kind::Pod.object(namespace, "selected") + "/status";
        self.api.ok(Request::merge(path, json!({ "status": status }))).await?;
        Ok(())
    }

    /// Creates an object with the patches of the profile.
    ///
    /// # Errors
    /// The request fails.
    pub async fn create(&self, kind: Kind, namespace: &str, mut object: Value) -> Result<Value> {
        self.profile.patch(kind, &mut object);
        self.api.ok(Request::create(kind.collection(namespace), object)).await
    }

    /// Lists the objects of a kind in a namespace. Slices have the labels of Kubernetes instead of those of the
    /// profile, and those of Kubernetes' controllers that are not under test are omitted.
    ///
    /// # Errors
    /// The request fails.
    pub async fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>> {
        let mut objects = self.api.list(kind, namespace, "").await?.items;
        if kind == Kind::EndpointSlice {
            objects.retain(|slice| !self.profile.is_foreign(slice));
            for slice in &mut objects {
                self.profile.to_upstream(slice);
            }
        }
        Ok(objects)
    }

    /// Plays scenarios, up to 24 at a time, each in a new namespace. Returns their outcomes in any order.
    pub async fn play(&self, scenarios: &[Scenario]) -> Vec<Outcome> {
        self.play_file("", scenarios, |_| {}).await
    }

    /// As [`play`](Self::play) for the scenarios of a file, and calls `progress` with each outcome at once. The name of
    /// the file identifies steps that are [`Unnoticed`].
    pub async fn play_file(&self, file: &str, scenarios: &[Scenario], progress: impl Fn(&Outcome)) -> Vec<Outcome> {
        let mut scenarios: Vec<_> = scenarios.iter().collect();
        // Long scenarios start first, which shortens the total time.
        scenarios.sort_by_key(|scenario| Reverse(scenario.steps.len()));
        let outcomes: Vec<_> = scenarios.into_iter().map(|scenario| self.play_one(file, scenario)).collect();
        futures::stream::iter(outcomes).buffer_unordered(AT_ONCE).inspect(progress).collect().await
    }

    async fn play_one(&self, file: &str, scenario: &Scenario) -> Outcome {
        let unnoticed = Unnoticed::of(&format!("{file}/{}", scenario.name)).filter(|_| !self.profile.is_exact());
        let mut walk = Walk::new(self, unnoticed);
        let start = Instant::now();
        let failure = walk.play(scenario).await.err();
        let Walk { second_looks, notes, .. } = walk;
        Outcome { scenario: scenario.name.clone(), failure, second_looks, notes, time: start.elapsed() }
    }

    /// Creates a namespace with a generated name. Returns the name.
    ///
    /// # Errors
    /// The request fails.
    pub async fn create_namespace(&self) -> Result<String> {
        let object = json!({ "metadata": { "generateName": "replay-" } });
        let created = self.api.ok(Request::create("/api/v1/namespaces".to_owned(), object)).await?;
        let name = created["metadata"]["name"].as_str().context("the created namespace has no name")?.to_owned();
        self.namespaces.lock().unwrap_or_else(PoisonError::into_inner).push(name.clone());
        // kube-apiserver rejects Pods until their namespace has this service account, and the controller that creates
        // it may be slow or missing. Status codes are ignored, since the account may exist already.
        let path = format!("/api/v1/namespaces/{name}/serviceaccounts");
        self.api.send(Request::create(path, json!({ "metadata": { "name": "default" } }))).await?;
        Ok(name)
    }

    /// Deletes all namespaces that this player has created, and the given Nodes. Needed on existing clusters.
    ///
    /// # Errors
    /// A request fails.
    pub async fn clean_up(&self, nodes: &[Manifest]) -> Result<()> {
        let namespaces = mem::take(&mut *self.namespaces.lock().unwrap_or_else(PoisonError::into_inner));
        let namespaces = namespaces.into_iter().map(|name| format!("/api/v1/namespaces/{name}"));
        for path in namespaces.chain(nodes.iter().map(|node| node.kind.object("", &node.name))) {
            self.api.ok(Request::delete(path, None)).await?;
        }
        Ok(())
    }
}

/// State of a scenario that is being played.
struct Walk<'a> {
    player: &'a Player,
    namespace: String,
    owners: Owners,
    /// Services at the last settled point.
    services: Vec<Value>,
    second_looks: usize,
    /// Steps whose result depends on changes that trigger no sync in Kubernetes.
    unnoticed: Option<Unnoticed>,
    notes: Vec<String>,
}

impl<'a> Walk<'a> {
    fn new(player: &'a Player, unnoticed: Option<Unnoticed>) -> Self {
        Self {
            player,
            namespace: String::new(),
            owners: Owners::default(),
            services: Vec::new(),
            second_looks: 0,
            unnoticed,
            notes: Vec::new(),
        }
    }

    async fn play(&mut self, scenario: &Scenario) -> Result<(), Failure> {
        let broken = |step: usize| move |error: anyhow::Error| Failure { step, reasons: vec![format!("{error:#}")] };
        self.namespace = self.player.create_namespace().await.map_err(broken(0))?;
        for (number, step) in (1..).zip(&scenario.steps) {
            let reasons = self.step(scenario, number, step).await.map_err(broken(number))?;
            // Later steps depend on this one, so their results would be meaningless.
            if !reasons.is_empty() {
                return Err(Failure { step: number, reasons });
            }
        }
        Ok(())
    }

    /// Performs a step and returns the differences from the expected snapshot.
    async fn step(&mut self, scenario: &Scenario, number: usize, step: &Step) -> Result<Vec<String>> {
        for (number, operation) in (1..).zip(&step.operations) {
            let what = || format!("operation {number} of {}", step.operations.len());
            let Player { api, profile, .. } = self.player;
            operations::perform(api, profile, &self.namespace, operation).await.with_context(what)?;
            sleep(BETWEEN_OPERATIONS).await;
            let shows_first_write = !scenario.tags.contains(&Tag::NoEvents) || scenario.tags.contains(&Tag::ExactTime);
            if shows_first_write && let Operation::Create { obj } = operation {
                self.let_serve(obj).await.with_context(what)?;
            }
        }
        let mut looks = 0;
        loop {
            let Limits { settled_after, settle, .. } = self.player.limits;
            self.player.changes.settled(&self.namespace, settled_after, settle).await?;
            if let Some(Unnoticed { reason, .. }) = self.unnoticed.filter(|it| it.steps.contains(&number)) {
                self.notes.push(format!("step {number} is not compared: in Kubernetes, {reason}"));
                return Ok(Vec::new());
            }
            looks += 1;
            let actual = self.snapshot().await?;
            let differences = self.player.profile.differences(&step.expect, &actual, &self.services, &scenario.tags);
            if differences.is_empty() {
                self.second_looks += usize::from(looks > 1);
                return Ok(differences);
            }
            if looks == LOOKS {
                return Ok(differences);
            }
        }
    }

    /// Waits until a created Service has Endpoints and a slice, if the controllers act on it.
    ///
    /// The first write contains the creation time of the Service as the trigger time, and its sync records events about a
    /// Service without endpoints. The recorded API server was slow enough for this write to precede the next operation;
    /// the embedded one is not, on a busy machine. Controllers that are not compared exactly may write nothing for a
    /// Service without endpoints.
    async fn let_serve(&self, created: &Manifest) -> Result<()> {
        let spec = &created.body["spec"];
        let acts = created.kind == Kind::Service && !spec["selector"].is_null() && spec["type"] != "ExternalName";
        if !acts || !self.player.profile.is_exact() {
            return Ok(());
        }
        let awaited = [(Output::Endpoints, Kind::Endpoints), (Output::ServiceSlices, Kind::EndpointSlice)];
        let Player { changes, limits, .. } = self.player;
        let end = changes.now() + limits.settle;
        for (_, kind) in awaited.into_iter().filter(|(output, _)| self.player.profile.claims(*output)) {
            // If the write is missing at the end, the later comparison fails.
            while changes.now() < end {
                if self.list(kind).await?.iter().any(|it| is_for(kind, it, &created.name)) {
                    break;
                }
                sleep(Duration::from_millis(10)).await;
            }
        }
        Ok(())
    }

    /// Returns the state of the namespace, which must be settled.
    async fn snapshot(&mut self) -> Result<Snapshot> {
        let services = self.list(Kind::Service).await?;
        let endpoints = self.list(Kind::Endpoints).await?;
        let slices = self.list(Kind::EndpointSlice).await?;
        let events = self.list(Kind::Event).await?;
        self.owners.observe(Kind::Service, &services);
        self.services = services;
        self.owners.observe(Kind::Endpoints, &endpoints);
        Ok(canonical(&Observed { endpoints, slices, events }, &self.namespace, &self.owners))
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Value>> {
        self.player.list(kind, &self.namespace).await
    }
}

/// Objects that the controllers write for the Services of [`Player::wait_for_controllers`].
const WRITTEN_AT_FIRST: [(Output, Kind, &str); 3] = [
    (Output::Endpoints, Kind::Endpoints, "selected"),
    (Output::ServiceSlices, Kind::EndpointSlice, "selected"),
    (Output::MirroredSlices, Kind::EndpointSlice, "own"),
];

/// Returns whether an Endpoints object or a slice is for a Service.
fn is_for(kind: Kind, object: &Value, service: &str) -> bool {
    let metadata = &object["metadata"];
    let name = if kind == Kind::EndpointSlice { &metadata["labels"][SERVICE_NAME_LABEL] } else { &metadata["name"] };
    *name == *service
}
