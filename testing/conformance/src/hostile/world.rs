//! Cluster of a hostile scenario, with helpers to change it and to wait for states.

use std::{
    slice,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use kube_dev_apiserver::{AdmissionRequest, Denial, Fault, LoggedRequest, On, Server};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Hostile;
use crate::{
    Api, Changes, Cluster, Kind, Kit, Limits, Manifest, Mode, Output, Player, Profile, Request, Running, Subject,
    during, watch::History,
};

/// First and last pause between two observations of a state.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

pub(crate) const SLICES: &str = "endpointslices";
pub(crate) const ENDPOINTS: &str = "endpoints";

/// Embedded cluster with a namespace for one scenario.
pub struct World {
    cluster: Arc<Cluster>,
    subject: Arc<dyn Subject>,
    pub(super) profile: Arc<Profile>,
    pub(super) limits: Limits,
    player: Player,
    pub(super) slices: History,
    pub(super) namespace: String,
    /// Node of all Pods.
    node: Manifest,
    notes: Mutex<Vec<String>>,
}

impl World {
    /// Plays a scenario on a cluster. Returns parts that were not checked, with the reasons.
    pub(crate) async fn play(kit: &Kit, cluster: Arc<Cluster>, scenario: &Hostile) -> Result<Vec<String>> {
        let world = Self::new(kit, cluster).await?;
        let played = Box::pin(world.run(scenario)).await;
        // The server may be used for other scenarios.
        let server = world.server()?;
        server.faults().clear();
        server.admission().clear();
        let cleaned = if kit.is_shared() { world.player.clean_up(slice::from_ref(&world.node)).await } else { Ok(()) };
        // A denied request is the reason of most other failures.
        world.cluster.check_rights(&world.profile)?;
        played.and(cleaned)?;
        Ok(world.notes.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn new(kit: &Kit, cluster: Arc<Cluster>) -> Result<Self> {
        let player = Player::connect(cluster.config(), Arc::clone(&kit.profile), kit.limits).await?;
        let slices = History::open(player.api(), Kind::EndpointSlice).await?;
        let namespace = player.create_namespace().await?;
        // The slice controller omits Pods whose Node does not exist. The name is unique to the scenario.
        let node: Manifest = serde_json::from_value(json!({"kind": "Node", "metadata": {"name": namespace}}))?;
        player.create_nodes(slice::from_ref(&node)).await?;
        Ok(Self {
            cluster,
            subject: Arc::clone(&kit.subject),
            profile: Arc::clone(&kit.profile),
            limits: kit.limits,
            player,
            slices,
            namespace,
            node,
            notes: Mutex::default(),
        })
    }

    /// Runs the work of a scenario when the controllers have started. Fails if anything is written in
    /// [`Limits::calm`] after it.
    async fn run(&self, scenario: &Hostile) -> Result<()> {
        if let Some(before) = &scenario.before {
            before(self).await?;
        }
        let mode = scenario.needs.mode;
        if matches!(mode, Mode::Elected | Mode::Restarted) {
            return (scenario.work)(self).await;
        }
        let controllers = self.subject.start(self.cluster.controllers(), mode).await?;
        let work = async {
            self.player.wait_for_controllers().await?;
            (scenario.work)(self).await?;
            self.stays_quiet().await
        };
        Box::pin(during(controllers, work)).await
    }

    /// Starts an instance of the controllers with default settings.
    pub(super) async fn start(&self) -> Result<Box<dyn Running>> {
        self.subject.start(self.cluster.controllers(), Mode::Restarted).await
    }

    /// Starts an instance of the controllers with leader election, as this user.
    pub(super) async fn start_elected(&self, user: &str) -> Result<Box<dyn Running>> {
        self.subject.start(&self.cluster.connect_as(user).await?, Mode::Elected).await
    }

    /// Records a part of the scenario that was not checked.
    pub(super) fn note(&self, unchecked: impl Into<String>) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(unchecked.into());
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

    /// Returns the embedded server. Fails if the cluster is not the embedded server.
    pub(super) fn server(&self) -> Result<&Server> {
        self.cluster.server().context("hostile scenarios require the embedded server")
    }

    /// Returns a selector of the requests of the controllers. Fails if the profile has no user agent, since the
    /// scenario does not require [`checked_lists`](super::Needs::checked_lists).
    pub(super) fn controllers(&self) -> Result<On> {
        let user_agent = self.profile.user_agent.as_deref().context("the profile must have a user agent")?;
        Ok(On::any().user_agent(user_agent))
    }

    pub(super) fn claims(&self, output: Output) -> bool {
        self.profile.claims(output)
    }

    /// Changes every object of a resource in the namespace of the scenario, on create and update.
    pub(super) fn mutate(
        &self,
        resource: &'static str,
        rule: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Result<()> {
        let namespace = self.namespace.clone();
        self.server()?.admission().mutate(move |request, object| {
            if request.resource == resource && request.namespace == namespace {
                rule(object);
            }
            Ok(())
        });
        Ok(())
    }

    /// Rejects the writes of a resource in the namespace of the scenario for which `refuses` returns true. Returns the id
    /// of the rule.
    pub(super) fn veto(
        &self,
        resource: &'static str,
        refuses: impl Fn(&AdmissionRequest<'_>, Option<&Value>) -> bool + Send + Sync + 'static,
    ) -> Result<u64> {
        let namespace = self.namespace.clone();
        Ok(self.server()?.admission().validate(move |request, object| {
            let refused = request.resource == resource && request.namespace == namespace && refuses(request, object);
            if refused { Err(Denial::invalid("refused by a policy of this scenario")) } else { Ok(()) }
        }))
    }

    pub(super) async fn create(&self, kind: Kind, object: Value) -> Result<()> {
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

    pub(super) async fn create_namespace(&self, name: &str) -> Result<()> {
        self.api().ok(Request::create("/api/v1/namespaces".to_owned(), json!({"metadata": {"name": name}}))).await?;
        Ok(())
    }

    pub(super) fn wait(&self, limit: Duration) -> Wait<'_> {
        Wait { world: self, end: self.clock().now() + limit, limit, pause: PAUSES.0 }
    }

    /// Waits until `is` returns true for the objects of a kind. Returns these objects.
    pub(super) async fn until<F>(&self, what: &str, kind: Kind, is: F) -> Result<Vec<Value>>
    where
        F: Fn(&[Value]) -> bool + Send,
    {
        let mut wait = self.wait(self.limits.state);
        loop {
            match self.list(kind).await {
                Ok(found) if is(&found) => return Ok(found),
                Ok(found) => wait.again(|| format!("{what}; found {:#}", Value::Array(found))).await?,
                Err(error) => wait.again(|| format!("{what}; {error:#}")).await?,
            }
        }
    }

    /// Returns the writes of the controllers in the namespace, oldest first.
    pub(super) fn writes(&self) -> Result<Vec<LoggedRequest>> {
        let on = On::writes().subresource("").namespace(&self.namespace);
        let mut writes = self.server()?.requests().matching(&on);
        writes.retain(|it| !it.dry_run && [SLICES, ENDPOINTS].contains(&&*it.resource) && self.profile.has_sent(it));
        Ok(writes)
    }

    /// Fails if anything is written within [`Limits::calm`].
    pub(super) async fn stays_quiet(&self) -> Result<()> {
        let before = (self.versions().await?, self.writes()?.len());
        self.pause(self.limits.calm).await;
        let after = (self.versions().await?, self.writes()?.len());
        let quiet = self.limits.calm;
        ensure!(
            before == after,
            "writes within {quiet:?} although nothing changed: before {before:?}, after {after:?}\n{}",
            self.log()?
        );
        Ok(())
    }

    /// Waits until the controllers have not written for [`Limits::calm`].
    pub(super) async fn settled(&self) -> Result<()> {
        let mut wait = self.wait(self.limits.state);
        while let Err(error) = self.stays_quiet().await {
            wait.again(|| format!("the controllers do not settle: {error:#}")).await?;
        }
        Ok(())
    }

    /// Waits until the server answers again after it has closed all connections.
    pub(super) async fn reconnected(&self) -> Result<()> {
        let mut wait = self.wait(self.limits.state);
        while let Err(error) = self.versions().await {
            wait.again(|| format!("the server does not answer: {error:#}")).await?;
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
        let writes = self.writes()?;
        let shown = writes.len().saturating_sub(30);
        let lines: Vec<_> = writes[shown..].iter().map(|write| format!("    {write}")).collect();
        Ok(format!("{} writes, the last of them:\n{}", writes.len(), lines.join("\n")))
    }
}

/// Wait for a state, on the clock of the scenario.
pub(super) struct Wait<'a> {
    world: &'a World,
    end: Duration,
    limit: Duration,
    pause: Duration,
}

impl Wait<'_> {
    /// Pauses until the state is observed again. Fails at the limit; `missing` returns the difference from the state.
    pub(super) async fn again(&mut self, missing: impl FnOnce() -> String) -> Result<()> {
        if self.world.clock().now() >= self.end {
            bail!("not within {} s: {}\n{}", self.limit.as_secs(), missing(), self.world.log()?);
        }
        sleep(self.pause).await;
        self.pause = PAUSES.1.min(2 * self.pause);
        Ok(())
    }
}
