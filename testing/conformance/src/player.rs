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
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use crate::{
    Api, Changes, Entry, Failure, Kind, Limits, Manifest, Operation, Output, Owners, Profile, Request,
    SERVICE_NAME_LABEL, Scenario, Snapshot, Step, Tag, Unnoticed, Verdict, canonical,
    objects::{self, Pod},
    operations, watch,
};

/// Maximum number of concurrent scenarios. They mostly wait, but more of them would overload a small machine.
const AT_ONCE: usize = 24;

/// Maximum number of comparisons per step: on an overloaded machine, a namespace may appear settled before a controller
/// has started to act.
const LOOKS: usize = 3;

/// Pause after each operation. In virtual time, which passes only while nothing else is to be done, the controllers react to
/// each operation before the next one, as those of the recorded cluster did.
const BETWEEN_OPERATIONS: Duration = Duration::from_millis(1);

/// Maximum time from the first to the last operation of a step for which its outcome counts as a failure: the controllers of the
/// recorded cluster combined changes within 500 ms, and react in between to operations that a busy machine performs later.
const COMBINED: Duration = Duration::from_millis(400);

/// Maximum number of times that a scenario is played whose operations were performed too late.
const PLAYS: usize = 4;

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
    /// Watches that record changes.
    _tasks: JoinSet<()>,
}

impl Player {
    /// Connects to a cluster and starts to watch it, for controllers with these claims.
    ///
    /// # Errors
    /// The configuration cannot be used, or a list or watch request fails.
    pub async fn connect(config: &Config, profile: Arc<Profile>, limits: Limits) -> Result<Self> {
        let api = Api::new(config)?;
        let changes = Arc::new(Changes::default());
        let tasks = watch::record(&api, &changes).await?;
        Ok(Self { api, changes, profile, limits, namespaces: Mutex::default(), node: Mutex::default(), _tasks: tasks })
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
            for request in node.requests("") {
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
        let mut created = vec![objects::service(&namespace, "selected")];
        created.extend(objects::own(&namespace, "own", &["10.0.0.1"]));
        if !self.profile.is_exact() {
            // Controllers may write nothing for a Service without endpoints.
            let node = self.node.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
            let (name, service) = ("selected", "selected");
            let pod = Pod { namespace: &namespace, service, name, ip: "10.0.0.2", node: &node };
            created.push(objects::pod(pod));
        }
        for (kind, object) in created {
            self.create(kind, &namespace, object).await?;
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

    /// Creates an object with the patches of the profile, and then sets its status, if it has one.
    ///
    /// # Errors
    /// A request fails.
    pub async fn create(&self, kind: Kind, namespace: &str, mut object: Value) -> Result<()> {
        self.profile.patch(kind, &mut object);
        let status = object.as_object_mut().and_then(|fields| fields.remove("status"));
        let created = self.api.ok(Request::create(kind.collection(namespace), object)).await?;
        if let Some(status) = status {
            let name = created["metadata"]["name"].as_str().unwrap_or_default();
            let path = kind.object(namespace, name) + "/status";
            self.api.ok(Request::merge(path, json!({ "status": status }))).await?;
        }
        Ok(())
    }

    /// Lists the objects of a kind in a namespace. Slices have the labels of Kubernetes instead of those of the
    /// profile, and those of Kubernetes' controllers that are not under test are omitted.
    ///
    /// # Errors
    /// The request fails.
    pub async fn list(&self, kind: Kind, namespace: &str) -> Result<Vec<Value>> {
        let mut objects = self.api.list(kind, namespace, "").await?;
        if kind == Kind::EndpointSlice {
            objects.retain(|slice| !self.profile.is_foreign(slice));
            for slice in &mut objects {
                self.profile.to_upstream(slice);
            }
        }
        Ok(objects)
    }

    /// Plays scenarios of a file, up to 24 at a time, each in a new namespace. Returns their outcomes with their keys, in
    /// any order; `progress` gets each of them at once.
    pub async fn play(
        &self,
        file: &str,
        scenarios: &[Scenario],
        progress: impl Fn(&str, &Entry),
    ) -> Vec<(String, Entry)> {
        let mut scenarios: Vec<_> = scenarios.iter().collect();
        // Long scenarios start first, which shortens the total time.
        scenarios.sort_by_key(|scenario| Reverse(scenario.steps.len()));
        let played: Vec<_> = scenarios.into_iter().map(|scenario| self.play_one(file, scenario)).collect();
        let played = futures::stream::iter(played).buffer_unordered(AT_ONCE);
        played.inspect(|(key, entry)| progress(key, entry)).collect().await
    }

    async fn play_one(&self, file: &str, scenario: &Scenario) -> (String, Entry) {
        let key = format!("{file}/{}", scenario.name);
        let start = Instant::now();
        let mut plays = 1;
        loop {
            let mut walk = Walk {
                player: self,
                namespace: String::new(),
                owners: Owners::default(),
                services: Vec::new(),
                unnoticed: Unnoticed::of(&key).filter(|_| !self.profile.is_exact()),
                was_late: false,
                notes: Vec::new(),
            };
            let verdict = walk.play(scenario).await.map_or_else(Verdict::Failed, |()| Verdict::Passed);
            if walk.was_late && matches!(verdict, Verdict::Failed(_)) && plays < PLAYS {
                plays += 1;
                continue;
            }
            let mut notes = walk.notes;
            if plays > 1 {
                let limit = COMBINED.as_millis();
                notes.push(format!("played {plays} times: the operations of a step took more than {limit} ms"));
            }
            return (key, Entry { verdict, time: start.elapsed(), notes });
        }
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
    /// Steps whose result depends on changes that trigger no sync in Kubernetes.
    unnoticed: Option<Unnoticed>,
    /// Whether the operations of a step took more than [`COMBINED`].
    was_late: bool,
    notes: Vec<String>,
}

impl Walk<'_> {
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
        let mut first = Instant::now();
        for (number, operation) in (1..).zip(&step.operations) {
            let what = || format!("operation {number} of {}", step.operations.len());
            let Player { api, profile, .. } = self.player;
            let performed = operations::perform(api, profile, &self.namespace, operation).await;
            self.was_late |= first.elapsed() > COMBINED;
            performed.with_context(what)?;
            sleep(BETWEEN_OPERATIONS).await;
            let shows_first_write = !scenario.tags.contains(&Tag::NoEvents) || scenario.tags.contains(&Tag::ExactTime);
            if shows_first_write && let Operation::Create { obj } = operation {
                self.let_serve(obj).await.with_context(what)?;
                first = Instant::now();
            }
        }
        let mut look = 1;
        loop {
            let Limits { settled_after, settle, .. } = self.player.limits;
            self.player.changes.settled(&self.namespace, settled_after, settle).await?;
            if let Some(Unnoticed { reason, .. }) = self.unnoticed.filter(|it| it.steps.contains(&number)) {
                self.notes.push(format!("step {number} is not compared: in Kubernetes, {reason}"));
                return Ok(Vec::new());
            }
            let actual = self.snapshot().await?;
            let differences = self.player.profile.differences(&step.expect, &actual, &self.services, &scenario.tags);
            if differences.is_empty() || look == LOOKS {
                return Ok(differences);
            }
            look += 1;
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
            let mut listed = Duration::ZERO;
            while changes.now() < end {
                if changes.last(&self.namespace) >= listed {
                    listed = changes.now();
                    if self.list(kind).await?.iter().any(|it| is_for(kind, it, &created.name)) {
                        break;
                    }
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
        Ok(canonical(&Snapshot { endpoints, slices, events }, &self.namespace, &self.owners))
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

fn is_for(kind: Kind, object: &Value, service: &str) -> bool {
    let metadata = &object["metadata"];
    let name = if kind == Kind::EndpointSlice { &metadata["labels"][SERVICE_NAME_LABEL] } else { &metadata["name"] };
    *name == *service
}
