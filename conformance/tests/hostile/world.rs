//! Cluster of a hostile scenario, with helpers to change it and to check it.

use std::{env, fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use endpoint_controller_manager::Settings;
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_conformance::{Api, Controllers, History, Kind, Manifest, Options, Player, Request, Target, Write};
use kube_endpoints_testing::within;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cluster::{self, Cluster};

/// Maximum time until the controllers reach an expected state. The longest delay is a retry.
const LIMIT: Duration = Duration::from_secs(30);
/// Time without writes after which the controllers are settled: longer than the second after which the slice controller
/// acts on events of slices.
const SETTLED: Duration = Duration::from_secs(3);

pub(crate) const SLICES: &str = "endpointslices";
pub(crate) const ENDPOINTS: &str = "endpoints";

/// Requirements of a scenario.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// The embedded server, for faults, restores or other features.
    pub(crate) embedded: bool,
    /// Controllers in the process of the test, for other settings or a second instance.
    pub(crate) in_process: bool,
}

impl Needs {
    pub(crate) const ANY: Self = Self { embedded: false, in_process: false };
    pub(crate) const EMBEDDED: Self = Self { embedded: true, in_process: false };
    pub(crate) const IN_PROCESS: Self = Self { embedded: true, in_process: true };
}

/// Cluster with a namespace for one scenario.
pub(crate) struct World {
    cluster: Cluster,
    options: Options,
    player: Player,
    slices: History,
    pub(crate) namespace: String,
    /// Node of all Pods.
    node: Manifest,
    /// Settings of controllers in this process.
    pub(crate) settings: Settings,
    /// Length of the audit log at the start of the scenario, in bytes.
    audit_start: usize,
}

/// Numbers of writes to one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) creates: usize,
    pub(crate) updates: usize,
    pub(crate) deletes: usize,
    /// Writes with any verb that were rejected, or that were neither answered nor executed.
    pub(crate) rejected: usize,
}

impl Counts {
    pub(crate) const fn of(creates: usize, updates: usize, deletes: usize) -> Self {
        Self { creates, updates, deletes, rejected: 0 }
    }
}

impl World {
    /// Starts a cluster for a scenario. `None` if the cluster does not meet its requirements.
    pub(crate) async fn start(needs: Needs) -> Result<Option<Self>> {
        Self::start_with(needs, kube_dev_apiserver::Config::default()).await
    }

    pub(crate) async fn start_with(needs: Needs, config: kube_dev_apiserver::Config) -> Result<Option<Self>> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the crate is not in a workspace")?;
        let options = Options::read(workspace, |name| env::var(name).ok())?;
        if needs.embedded && options.target != Target::Embedded {
            eprintln!("SKIPPED: this scenario requires the embedded API server");
            return Ok(None);
        }
        if needs.in_process && options.controllers != Controllers::InProcess {
            eprintln!("SKIPPED: this scenario requires controllers in the process of the test");
            return Ok(None);
        }
        let config = kube_dev_apiserver::Config { garbage_collection: true, ..config };
        let cluster = Cluster::start_with(&options.target, config).await?;
        let player = Player::connect(cluster.config()).await?;
        let slices = History::open(player.api(), Kind::EndpointSlice).await?;
        let namespace = player.create_namespace().await?;
        // The slice controller omits Pods whose Node does not exist. The name is unique to the scenario.
        let node: Manifest = serde_json::from_value(json!({"kind": "Node", "metadata": {"name": namespace}}))?;
        player.create_nodes(std::slice::from_ref(&node)).await?;
        let audit_start = options.audit_log.as_ref().map_or(Ok(0), |path| fs::read(path).map(|log| log.len()))?;
        let settings = cluster::settings();
        Ok(Some(Self { cluster, options, player, slices, namespace, node, settings, audit_start }))
    }

    /// Runs `work` when the controllers have started. Fails if anything is written in [`Options::quiet`] after it.
    pub(crate) async fn play(self, work: impl AsyncFnOnce(&Self) -> Result<()>) -> Result<()> {
        let played = async {
            self.player.wait_for_controllers().await?;
            work(&self).await?;
            self.stays_quiet().await
        };
        Box::pin(self.cluster.with_controllers_set(&self.options, self.settings.clone(), played)).await?;
        if matches!(self.options.target, Target::Cluster { .. }) {
            self.player.clean_up(std::slice::from_ref(&self.node)).await?;
        }
        Ok(())
    }

    pub(crate) fn api(&self) -> &Api {
        self.player.api()
    }

    /// Returns the embedded server.
    ///
    /// # Errors
    /// The cluster is not the embedded server, since the scenario does not [require](Needs) it.
    pub(crate) fn server(&self) -> Result<&Server> {
        self.cluster.server().context("the scenario must start with Needs::EMBEDDED or Needs::IN_PROCESS")
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.cluster.server().is_some()
    }

    /// Returns all events of slices since the start.
    pub(crate) fn slice_history(&self) -> &History {
        &self.slices
    }

    pub(crate) async fn create(&self, kind: Kind, object: Value) -> Result<Value> {
        self.api().ok(Request::create(kind.collection(&self.namespace), object)).await
    }

    pub(crate) async fn merge(&self, kind: Kind, name: &str, patch: Value) -> Result<Value> {
        self.api().ok(Request::merge(kind.object(&self.namespace, name), patch)).await
    }

    pub(crate) async fn merge_status(&self, kind: Kind, name: &str, status: Value) -> Result<Value> {
        let path = kind.object(&self.namespace, name) + "/status";
        self.api().ok(Request::merge(path, json!({ "status": status }))).await
    }

    pub(crate) async fn delete(&self, kind: Kind, name: &str, options: Option<Value>) -> Result<Value> {
        self.api().ok(Request::delete(kind.object(&self.namespace, name), options)).await
    }

    pub(crate) async fn list(&self, kind: Kind) -> Result<Vec<Value>> {
        Ok(self.api().list(kind, &self.namespace, "").await?.items)
    }

    /// Waits until `is` returns true for the objects of a kind. Returns these objects.
    pub(crate) async fn until(&self, what: &str, kind: Kind, is: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        self.until_within(LIMIT, what, kind, is).await
    }

    pub(crate) async fn until_within(
        &self,
        limit: Duration,
        what: &str,
        kind: Kind,
        is: impl Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>> {
        match within(limit, || self.list(kind), |found| found.as_deref().map_or(true, &is)).await {
            Ok(found) => found,
            Err(found) => {
                let found = serde_json::to_string_pretty(&found?)?;
                bail!("not within {} s: {what}; found {found}\n{}", limit.as_secs(), self.log()?);
            }
        }
    }

    /// Returns the writes of the controllers in the namespace, oldest first; `None` if there is no log of requests.
    pub(crate) fn writes(&self) -> Result<Option<Vec<Write>>> {
        let mut writes = if let Some(server) = self.cluster.server() {
            let requests = server.requests().matching(&On::writes().namespace(&self.namespace));
            requests.iter().filter_map(cluster::write).filter(Write::counts).collect()
        } else if let Some(path) = &self.options.audit_log {
            let log = fs::read(path)?;
            let log = String::from_utf8_lossy(log.get(self.audit_start..).unwrap_or_default()).into_owned();
            // The last line may be incomplete.
            let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
            whole.lines().filter_map(|line| Write::from_audit(line).transpose()).collect::<Result<Vec<_>, _>>()?
        } else {
            return Ok(None);
        };
        writes.retain(|write| write.namespace == self.namespace);
        Ok(Some(writes))
    }

    /// Returns the numbers of writes to a resource; `None` if there is no log of requests.
    pub(crate) fn counts(&self, resource: &str) -> Result<Option<Counts>> {
        let Some(writes) = self.writes()? else {
            eprintln!("SKIPPED: writes to {resource} are not counted without CONFORMANCE_AUDIT_LOG");
            return Ok(None);
        };
        let mut counts = Counts::of(0, 0, 0);
        for write in writes.iter().filter(|write| write.resource == resource) {
            match (write.accepted, write.verb.as_str()) {
                (false, _) => counts.rejected += 1,
                (true, "create") => counts.creates += 1,
                (true, "update" | "patch") => counts.updates += 1,
                (true, _) => counts.deletes += 1,
            }
        }
        Ok(Some(counts))
    }

    /// Fails unless the controllers have made exactly these numbers of writes to a resource. Does nothing if there is
    /// no log of requests.
    pub(crate) fn expect_counts(&self, resource: &str, expect: Counts) -> Result<()> {
        match self.counts(resource)? {
            Some(found) if found != expect => bail!("{resource}: {found:?} instead of {expect:?}\n{}", self.log()?),
            _ => Ok(()),
        }
    }

    /// Fails if anything is written within [`Options::quiet`].
    pub(crate) async fn stays_quiet(&self) -> Result<()> {
        self.quiet_for(self.options.quiet).await
    }

    /// Waits until the controllers have not written for three seconds.
    pub(crate) async fn settled(&self) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while let Err(error) = self.quiet_for(SETTLED).await {
            ensure!(Instant::now() < end, "the controllers do not settle: {error:#}");
        }
        Ok(())
    }

    async fn quiet_for(&self, quiet: Duration) -> Result<()> {
        let before = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        sleep(quiet).await;
        let after = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        ensure!(
            before == after,
            "writes within {quiet:?} although nothing changed: before {before:?}, after {after:?}\n{}",
            self.log()?
        );
        Ok(())
    }

    /// Waits until the server answers again after it has closed all connections.
    pub(crate) async fn reconnected(&self) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while let Err(error) = self.versions().await {
            ensure!(Instant::now() < end, "the server does not answer: {error:#}");
        }
        Ok(())
    }

    /// Delays the events of a resource by `late`, on existing and future watches.
    pub(crate) fn delay_watches(&self, resource: &str, late: Duration) -> Result<()> {
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
    fn log(&self) -> Result<String> {
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
