//! The cluster that a scenario is played on, and what a scenario asks of it.

use std::{env, fs, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use endpoint_controller_manager::Settings;
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_conformance::{Api, Controllers, History, Kind, Manifest, Options, Player, Request, Target, Write};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cluster::{self, Cluster};

/// How long the controllers may take until an expected state is there. The longest delay in between is a retry.
const LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// How long nothing is written when all is done: longer than the second after which the slice controller acts on events of
/// slices.
const SETTLED: Duration = Duration::from_secs(3);

pub(crate) const SLICES: &str = "endpointslices";
pub(crate) const ENDPOINTS: &str = "endpoints";

/// What a scenario needs besides an API server and controllers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// Faults, restores or other features of the embedded server.
    pub(crate) embedded: bool,
    /// Controllers in the process of the test: their settings, or two instances of them.
    pub(crate) in_process: bool,
}

impl Needs {
    pub(crate) const ANY: Self = Self { embedded: false, in_process: false };
    pub(crate) const EMBEDDED: Self = Self { embedded: true, in_process: false };
    pub(crate) const IN_PROCESS: Self = Self { embedded: true, in_process: true };
}

/// A cluster with a namespace for one scenario.
pub(crate) struct World {
    cluster: Cluster,
    options: Options,
    player: Player,
    slices: History,
    pub(crate) namespace: String,
    /// Where all Pods run.
    node: Manifest,
    /// Of controllers in this process.
    pub(crate) settings: Settings,
    /// Where the audit log ended when the scenario began.
    audit_start: usize,
}

/// Numbers of writes to one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) creates: usize,
    pub(crate) updates: usize,
    pub(crate) deletes: usize,
    /// Of any verb, and those that were not answered and not carried out.
    pub(crate) rejected: usize,
}

impl Counts {
    pub(crate) const fn of(creates: usize, updates: usize, deletes: usize) -> Self {
        Self { creates, updates, deletes, rejected: 0 }
    }
}

impl World {
    /// A cluster for a scenario, or nothing if it needs what the cluster at hand cannot do.
    pub(crate) async fn start(needs: Needs) -> Result<Option<Self>> {
        Self::start_with(needs, kube_dev_apiserver::Config::default()).await
    }

    pub(crate) async fn start_with(needs: Needs, config: kube_dev_apiserver::Config) -> Result<Option<Self>> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
        let options = Options::read(workspace, |name| env::var(name).ok())?;
        if needs.embedded && options.target != Target::Embedded {
            eprintln!("SKIPPED: this scenario needs the embedded API server");
            return Ok(None);
        }
        if needs.in_process && options.controllers != Controllers::InProcess {
            eprintln!("SKIPPED: this scenario needs controllers in the process of the test");
            return Ok(None);
        }
        let config = kube_dev_apiserver::Config { garbage_collection: true, ..config };
        let cluster = Cluster::start_with(&options.target, config).await?;
        let player = Player::connect(cluster.config()).await?;
        let slices = History::open(player.api(), Kind::EndpointSlice).await?;
        let namespace = player.create_namespace().await?;
        // The slice controller leaves out Pods of nodes that are not there. Named so that no other scenario has it.
        let node: Manifest = serde_json::from_value(json!({"kind": "Node", "metadata": {"name": namespace}}))?;
        player.create_nodes(std::slice::from_ref(&node)).await?;
        let audit_start = options.audit_log.as_ref().map_or(Ok(0), |path| fs::read(path).map(|log| log.len()))?;
        let settings = cluster::settings();
        Ok(Some(Self { cluster, options, player, slices, namespace, node, settings, audit_start }))
    }

    /// Does `work` once the controllers are at work. Then nothing may be written for as long as the environment says.
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

    /// The embedded server.
    ///
    /// # Errors
    /// The scenario does not say that it [needs](Needs) one.
    pub(crate) fn server(&self) -> Result<&Server> {
        self.cluster.server().context("this scenario has to say that it needs the embedded server")
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.cluster.server().is_some()
    }

    /// The watch of slices since the beginning.
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

    /// Waits until `is` holds of the objects of a kind.
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
        let end = Instant::now() + limit;
        loop {
            let found = self.list(kind).await?;
            if is(&found) {
                return Ok(found);
            }
            if Instant::now() > end {
                let found = serde_json::to_string_pretty(&found)?;
                bail!("not within {} s: {what}; there is {found}\n{}", limit.as_secs(), self.log()?);
            }
            sleep(POLL).await;
        }
    }

    /// The writes of the controllers in the namespace, oldest first; nothing where no log can be read.
    pub(crate) fn writes(&self) -> Result<Option<Vec<Write>>> {
        let mut writes = if let Some(server) = self.cluster.server() {
            let requests = server.requests().matching(&On::writes().namespace(&self.namespace));
            requests.iter().filter_map(cluster::write).filter(Write::counts).collect()
        } else if let Some(path) = &self.options.audit_log {
            let log = fs::read(path)?;
            let log = String::from_utf8_lossy(log.get(self.audit_start..).unwrap_or_default()).into_owned();
            // The last line may be half written.
            let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
            whole.lines().filter_map(|line| Write::from_audit(line).transpose()).collect::<Result<Vec<_>, _>>()?
        } else {
            return Ok(None);
        };
        writes.retain(|write| write.namespace == self.namespace);
        Ok(Some(writes))
    }

    /// How many writes to a resource there were.
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

    /// Fails unless the controllers have made exactly these writes to a resource.
    pub(crate) fn expect_counts(&self, resource: &str, expect: Counts) -> Result<()> {
        match self.counts(resource)? {
            Some(found) if found != expect => bail!("{resource}: {found:?} instead of {expect:?}\n{}", self.log()?),
            _ => Ok(()),
        }
    }

    /// Fails if anything is written while nothing changes, for as long as the environment says.
    pub(crate) async fn stays_quiet(&self) -> Result<()> {
        self.quiet_for(self.options.quiet).await
    }

    /// Waits until the controllers have acted on all that has happened.
    pub(crate) async fn settled(&self) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while let Err(error) = self.quiet_for(SETTLED).await {
            ensure!(Instant::now() < end, "never settles: {error:#}");
        }
        Ok(())
    }

    async fn quiet_for(&self, quiet: Duration) -> Result<()> {
        let before = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        sleep(quiet).await;
        let after = (self.versions().await?, self.writes()?.map(|writes| writes.len()));
        ensure!(
            before == after,
            "written within {quiet:?} though nothing changed: {before:?} {after:?}\n{}",
            self.log()?
        );
        Ok(())
    }

    /// Waits until the server answers again after it has dropped every connection.
    pub(crate) async fn reconnected(&self) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while let Err(error) = self.versions().await {
            ensure!(Instant::now() < end, "the server does not answer: {error:#}");
        }
        Ok(())
    }

    /// Lets the events of this resource arrive this much later, on all watches there are and will be.
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

    /// The last writes, one per line.
    fn log(&self) -> Result<String> {
        let Some(writes) = self.writes()? else { return Ok(String::new()) };
        let line = |write: &Write| {
            let code = write.code.map_or_else(|| "no answer".to_owned(), |code| code.to_string());
            format!("    {} {} {}: {code}", write.verb, write.resource, write.name)
        };
        let shown = writes.len().saturating_sub(30);
        let lines: Vec<_> = writes[shown..].iter().map(line).collect();
        Ok(format!("{} writes, the last of them:\n{}", writes.len(), lines.join("\n")))
    }
}
