//! Cluster of a hostile scenario, with helpers to change it and to wait for states.

use std::{
    fs,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use kube_dev_apiserver::{Fault, On, Server};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Hostile;
use crate::{
    Api, Changes, Cluster, History, Kind, Kit, Limits, Manifest, Mode, Output, Player, Profile, Request, Running,
    Subject, Write, cluster, during,
};

/// First and last pause between two observations of a state.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

pub(crate) const SLICES: &str = "endpointslices";
pub(crate) const ENDPOINTS: &str = "endpoints";

/// Cluster with a namespace for one scenario.
pub struct World {
    cluster: Arc<Cluster>,
    subject: Arc<dyn Subject>,
    pub(super) profile: Arc<Profile>,
    pub(super) limits: Limits,
    player: Player,
    slices: History,
    pub(super) namespace: String,
    /// Node of all Pods.
    node: Manifest,
    audit: Option<Audit>,
    notes: Mutex<Vec<String>>,
}

/// Audit log from which writes are counted.
struct Audit {
    path: std::path::PathBuf,
    /// Length of the log at the start of the scenario, in bytes.
    start: usize,
}

impl World {
    /// Plays a scenario on a cluster. Returns parts that were not checked, with the reasons.
    ///
    /// # Errors
    /// The controllers do not do what the scenario requires, or a request fails.
    pub(crate) async fn play(kit: &Kit, cluster: Arc<Cluster>, scenario: &Hostile) -> Result<Vec<String>> {
        let world = Self::new(kit, cluster).await?;
        let played = Box::pin(world.run(scenario)).await;
        // The server may be used for other scenarios.
        if let Some(server) = world.cluster.server() {
            server.faults().clear();
            server.admission().clear();
        }
        let cleaned =
            if kit.is_shared() { world.player.clean_up(std::slice::from_ref(&world.node)).await } else { Ok(()) };
        played.and(cleaned)?;
        Ok(world.notes.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn new(kit: &Kit, cluster: Arc<Cluster>) -> Result<Self> {
        let player = Player::connect_with(cluster.config(), Arc::clone(&kit.profile), kit.limits).await?;
        let slices = History::open(player.api(), Kind::EndpointSlice).await?;
        let namespace = player.create_namespace().await?;
        // The slice controller omits Pods whose Node does not exist. The name is unique to the scenario.
        let node: Manifest = serde_json::from_value(json!({"kind": "Node", "metadata": {"name": namespace}}))?;
        player.create_nodes(std::slice::from_ref(&node)).await?;
        let audit = match (&kit.audit_log, cluster.server()) {
            (Some(path), None) => Some(Audit { path: path.clone(), start: fs::read(path)?.len() }),
            _ => None,
        };
        Ok(Self {
            cluster,
            subject: Arc::clone(&kit.subject),
            profile: Arc::clone(&kit.profile),
            limits: kit.limits,
            player,
            slices,
            namespace,
            node,
            audit,
            notes: Mutex::default(),
        })
    }

    /// Runs the work of a scenario when the controllers have started. Fails if anything is written in
    /// [`Limits::quiet`] after it.
    async fn run(&self, scenario: &Hostile) -> Result<()> {
        if let Some(before) = &scenario.before {
            before(self).await?;
        }
        let mode = scenario.needs.mode;
        if matches!(mode, Mode::Elected | Mode::Restarted) {
            return (scenario.work)(self).await;
        }
        let controllers = self.subject.start(self.cluster.kubeconfig(), mode).await?;
        let work = async {
            self.player.wait_for_controllers().await?;
            (scenario.work)(self).await?;
            self.stays_quiet().await
        };
        Box::pin(during(controllers, work)).await
    }

    /// Starts an instance of the controllers with default settings.
    pub(super) async fn start(&self) -> Result<Box<dyn Running>> {
        self.subject.start(self.cluster.kubeconfig(), Mode::Restarted).await
    }

    /// Starts an instance of the controllers with leader election, as this user.
    pub(super) async fn start_elected(&self, user: &str) -> Result<Box<dyn Running>> {
        self.subject.start(&self.cluster.kubeconfig_for(user)?, Mode::Elected).await
    }

    /// Records a part of the scenario that was not checked.
    pub(super) fn note(&self, unchecked: impl Into<String>) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let note = unchecked.into();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns the clock of time limits and pauses, which falls behind on a busy machine as the controllers do.
    pub(super) fn clock(&self) -> &Changes {
        self.player.clock()
    }

    /// Gives the controllers time to do something that they must not do.
    pub(super) async fn pause(&self, time: Duration) {
        self.clock().sleep(time).await;
    }

    pub(super) fn api(&self) -> &Api {
        self.player.api()
    }

    /// Returns the embedded server.
    ///
    /// # Errors
    /// The cluster is not the embedded server, since the scenario does not require it.
    pub(super) fn server(&self) -> Result<&Server> {
        self.cluster.server().context("the scenario must require the embedded server")
    }

    /// Returns a selector of the requests of the controllers.
    ///
    /// # Errors
    /// The profile has no user agent, since the scenario does not require [`checked_lists`](super::Needs::checked_lists).
    pub(super) fn controllers(&self) -> Result<On> {
        let user_agent = self.profile.user_agent.as_deref().context("the profile must have a user agent")?;
        Ok(On::any().user_agent(user_agent))
    }

    pub(super) fn is_embedded(&self) -> bool {
        self.cluster.server().is_some()
    }

    pub(super) fn claims(&self, output: Output) -> bool {
        self.profile.claims(output)
    }

    /// Returns the maximum number of slices of one Service that existed at the same time.
    pub(super) fn most_slices_at_once(&self) -> usize {
        self.slices.most_at_once(&self.namespace, |slice| {
            if self.profile.is_foreign(slice) {
                return None;
            }
            let mut slice = slice.clone();
            self.profile.to_upstream(&mut slice);
            super::objects::service_of(&slice).map(str::to_owned)
        })
    }

    pub(super) async fn create(&self, kind: Kind, object: Value) -> Result<Value> {
        self.player.create(kind, &self.namespace, object).await
    }

    pub(super) async fn merge(&self, kind: Kind, name: &str, patch: Value) -> Result<Value> {
        self.api().ok(Request::merge(kind.object(&self.namespace, name), patch)).await
    }

    pub(super) async fn merge_status(&self, kind: Kind, name: &str, status: Value) -> Result<Value> {
        let path = kind.object(&self.namespace, name) + "/status";
        self.api().ok(Request::merge(path, json!({ "status": status }))).await
    }

    pub(super) async fn delete(&self, kind: Kind, name: &str, options: Option<Value>) -> Result<Value> {
        self.api().ok(Request::delete(kind.object(&self.namespace, name), options)).await
    }

    /// Lists the objects of a kind. Slices have the labels of Kubernetes instead of those of the profile.
    pub(super) async fn list(&self, kind: Kind) -> Result<Vec<Value>> {
        self.player.list(kind, &self.namespace).await
    }

    /// As [`list`](Self::list), for the objects of all namespaces.
    pub(super) async fn list_all(&self, kind: Kind) -> Result<Vec<Value>> {
        self.player.list(kind, "").await
    }

    /// Creates another namespace.
    pub(super) async fn create_namespace(&self, name: &str) -> Result<()> {
        self.api().ok(Request::create("/api/v1/namespaces".to_owned(), json!({"metadata": {"name": name}}))).await?;
        Ok(())
    }

    /// Waits until `is` returns true for the objects of a kind. Returns these objects.
    pub(super) async fn until<F>(&self, what: &str, kind: Kind, is: F) -> Result<Vec<Value>>
    where
        F: Fn(&[Value]) -> bool + Send,
    {
        let clock = self.clock();
        let end = clock.now() + self.limits.state;
        let mut pause = PAUSES.0;
        loop {
            let found = self.list(kind).await;
            if let Ok(found) = &found
                && is(found)
            {
                return Ok(found.clone());
            }
            if clock.now() >= end {
                let found = serde_json::to_string_pretty(&found?)?;
                bail!("not within {} s: {what}; found {found}\n{}", self.limits.state.as_secs(), self.log()?);
            }
            sleep(pause).await;
            pause = PAUSES.1.min(2 * pause);
        }
    }

    /// Returns the writes of the controllers in the namespace, oldest first; `None` if there is no log of requests.
    pub(super) fn writes(&self) -> Result<Option<Vec<Write>>> {
        let writers = self.profile.writers();
        let mut writes: Vec<_> = if let Some(server) = self.cluster.server() {
            let requests = server.requests().matching(&On::writes().namespace(&self.namespace));
            requests.iter().filter_map(cluster::write).filter(|write| writers.count(write)).collect()
        } else if let Some(Audit { path, start }) = &self.audit {
            let log = fs::read(path)?;
            let log = String::from_utf8_lossy(log.get(*start..).unwrap_or_default()).into_owned();
            // The last line may be incomplete.
            let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
            let parsed = whole.lines().filter_map(|line| Write::from_audit(line, &writers).transpose());
            parsed.collect::<Result<_, _>>()?
        } else {
            return Ok(None);
        };
        writes.retain(|write| write.namespace == self.namespace);
        Ok(Some(writes))
    }

    /// Fails if anything is written within [`Limits::quiet`].
    pub(super) async fn stays_quiet(&self) -> Result<()> {
        self.quiet_for(self.limits.quiet).await
    }

    /// Waits until the controllers have not written for [`Limits::calm`].
    pub(super) async fn settled(&self) -> Result<()> {
        let clock = self.clock();
        let end = clock.now() + self.limits.state;
        while let Err(error) = self.quiet_for(self.limits.calm).await {
            ensure!(clock.now() < end, "the controllers do not settle: {error:#}");
        }
        Ok(())
    }

    async fn quiet_for(&self, quiet: Duration) -> Result<()> {
        let before = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        self.pause(quiet).await;
        let after = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        ensure!(
            before == after,
            "writes within {quiet:?} although nothing changed: before {before:?}, after {after:?}\n{}",
            self.log()?
        );
        Ok(())
    }

    /// Waits until the server answers again after it has closed all connections.
    pub(super) async fn reconnected(&self) -> Result<()> {
        let clock = self.clock();
        let end = clock.now() + self.limits.state;
        while let Err(error) = self.versions().await {
            ensure!(clock.now() < end, "the server does not answer: {error:#}");
        }
        Ok(())
    }

    /// Delays the events of a resource by `late`, on existing and future watches.
    pub(super) fn delay_watches(&self, resource: &str, late: Duration) -> Result<()> {
        if late.is_zero() {
            return Ok(());
        }
        let on = On::any().verb("watch").resource(resource);
        self.server()?.faults().inject(Fault::delay_events(late, late).on(on.clone()));
        self.server()?.faults().cut_watches(&on);
        Ok(())
    }

    async fn versions(&self) -> Result<Vec<Value>> {
        let mut versions = Vec::new();
        for kind in [Kind::Endpoints, Kind::EndpointSlice] {
            versions.extend(self.list(kind).await?.into_iter().map(|mut it| it["metadata"]["resourceVersion"].take()));
        }
        Ok(versions)
    }

    /// Formats the last 30 writes, one per line.
    pub(super) fn log(&self) -> Result<String> {
        let Some(writes) = self.writes()? else { return Ok(String::new()) };
        let line = |write: &Write| {
            let code = write.code.map_or_else(|| "no response".to_owned(), |code| code.to_string());
            format!("    {} {} {}: {code}", write.verb, write.resource, write.name)
        };
        let shown = writes.len().saturating_sub(30);
        let lines: Vec<_> = writes[shown..].iter().map(line).collect();
        Ok(format!("{} writes, the last of them:\n{}", writes.len(), lines.join("\n")))
    }
}
