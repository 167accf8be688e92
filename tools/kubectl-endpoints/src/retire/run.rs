//! Does the steps of a deletion.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::time::Duration;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube_controller_client::{Client, Deleted, Error, Preconditions};
use kube_endpoints_history::audit::reads::Reads;
use kube_endpoints_retire::apply::{Answer, Deletion, Found, Step, Stop, Target, Wait, first_reader};
use kube_endpoints_retire::{Backup, Plan, WholeEndpoints};
use kube_wire::{Object as _, ObjectKey};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::watch_audit::{self, AuditWatch};
use super::writes::Seen;
use super::{backup_file, cluster};
use crate::args::{ApplyArgs, GlobalArgs};
use crate::connection::{Connection, named};
use crate::output::{message, warn};
use crate::stop::StopSignals;

/// Number of namespaces that are read at the same time.
const CONCURRENT_CHECKS: usize = 4;
/// Time to wait for the answer to a delete after a signal.
const LAST_ANSWER: Duration = Duration::from_secs(5);

/// A deletion, and what it needs.
pub(super) struct Run<'a> {
    pub(super) global: &'a GlobalArgs,
    pub(super) args: &'a ApplyArgs,
    pub(super) connection: &'a Connection,
    pub(super) plan: &'a Plan,
    /// What was read of the backup file, until it is written.
    pub(super) backup: Option<Backup>,
    pub(super) signals: StopSignals,
    pub(super) writes: UnboundedReceiver<Seen>,
    pub(super) audit: Option<AuditWatch>,
    pub(super) tasks: JoinSet<()>,
    pub(super) deletion: Deletion,
}

/// What ends the work of a step before its end.
enum Interrupted {
    Signal,
    Write(Seen),
    Reads(anyhow::Result<Reads>),
    WatchEnded,
}

impl Run<'_> {
    /// Does all steps. A failure ends the run, as its outcome says.
    pub(super) async fn finish(&mut self) {
        let mut lock: Option<File> = None;
        loop {
            // Also those that no step has waited for.
            while let Ok(seen) = self.writes.try_recv() {
                self.seen(seen);
            }
            while let Some(reads) = self.audit.as_mut().and_then(AuditWatch::try_next) {
                self.read(reads);
            }
            match self.deletion.step() {
                Step::End => break,
                Step::Delete(target) => self.delete(&target).await,
                Step::BackUp(targets) => {
                    let (path, uid) = (&self.args.backup, &self.plan.cluster.uid);
                    let backup = self.backup.take();
                    match backup_file::write(path, uid, backup, &targets) {
                        Ok(file) => {
                            lock = Some(file);
                            self.deletion.backed_up();
                        }
                        Err(error) => self.fail(&error),
                    }
                }
                Step::Wait(wait) => self.wait(wait).await,
                Step::Check(targets) => self.check(&targets).await,
            }
        }
        drop(lock);
    }

    fn seen(&mut self, Seen { key, before, after, by }: Seen) {
        self.deletion.seen(key, before.as_ref(), after.as_ref(), by);
    }

    /// Takes requests of the audit log into account.
    fn read(&mut self, reads: anyhow::Result<Reads>) {
        let reads = match reads {
            Ok(reads) => reads,
            Err(error) => return self.fail(&error),
        };
        let kept: HashSet<&ObjectKey> = self.deletion.outcome().kept.iter().map(|(key, _)| key).collect();
        let objects = self.audit.iter().flat_map(AuditWatch::objects).filter(|object| !kept.contains(&object.key()));
        if let Some(stop) = first_reader(&reads, objects) {
            self.deletion.stop(stop);
        }
    }

    fn fail(&mut self, error: &anyhow::Error) {
        self.deletion.stop(Stop::Failed(format!("{error:#}")));
    }

    /// Awaits `work`, unless a write, a read, a signal or the end of the watch comes before; `None` if so, and the run may have ended.
    async fn during<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = Box::pin(work);
        loop {
            let interrupted = tokio::select! {
                biased;
                () = self.signals.next() => Interrupted::Signal,
                seen = self.writes.recv() => seen.map_or(Interrupted::WatchEnded, Interrupted::Write),
                reads = watch_audit::next(&mut self.audit) => Interrupted::Reads(reads),
                _ = self.tasks.join_next() => Interrupted::WatchEnded,
                done = &mut work => return Some(done),
            };
            match interrupted {
                Interrupted::Signal => self.deletion.stop(Stop::Signal),
                Interrupted::Write(seen) => self.seen(seen),
                Interrupted::Reads(reads) => self.read(reads),
                Interrupted::WatchEnded => {
                    self.deletion.stop(Stop::Failed("the watch of Endpoints has ended".to_owned()));
                }
            }
            if self.deletion.step() == Step::End {
                return None;
            }
        }
    }

    async fn wait(&mut self, wait: Wait) {
        let time = match wait {
            Wait::Quiet | Wait::First => self.args.quiet,
            Wait::Pause => self.args.pause,
        };
        match wait {
            Wait::Quiet => {
                message("", format_args!("Watching managed Endpoints for {time:?} before the first delete."));
            }
            Wait::First => {
                message("", format_args!("1 object deleted. Watching for {time:?} whether it is created again."));
            }
            Wait::Pause => message("", format_args!("{} objects deleted.", self.deletion.outcome().deleted.len())),
        }
        let (client, namespace) = (self.connection.client.clone(), self.plan.namespace.clone());
        let listed = self
            .during(async move {
                sleep(time).await;
                cluster::managed_endpoints(&client, namespace.as_deref()).await
            })
            .await;
        match listed {
            Some(Ok(objects)) => self.deletion.waited(&objects),
            Some(Err(error)) => self.fail(&error),
            None => {}
        }
        if let (Wait::Quiet, Some(audit)) = (wait, self.audit.as_ref().filter(|it| !it.has_events())) {
            warn(format_args!("{} has had no audit event since the start: readers may not be seen", audit.name()));
        }
    }

    async fn check(&mut self, targets: &[Target]) {
        let (global, connection) = (self.global, self.connection);
        match self.during(check(global, &connection.client, targets)).await {
            Some(Ok(found)) => self.deletion.checked(found),
            Some(Err(error)) => self.fail(&error),
            None => {}
        }
    }

    /// Deletes an object. A signal does not drop the request at once: its answer says whether the object is gone.
    async fn delete(&mut self, target: &Target) {
        let client = &self.connection.client;
        let mut request = Box::pin(delete(client, &target.object));
        let answer = tokio::select! {
            biased;
            answer = &mut request => answer,
            () = self.signals.next() => {
                let unanswered = || Answer::Failed {
                    may_have_been_applied: true,
                    of_all: true,
                    message: format!("stopped by a signal while the delete of {} was not answered", target.object.key()),
                };
                let answer = timeout(LAST_ANSWER, request).await.unwrap_or_else(|_| unanswered());
                self.deletion.answered(answer);
                return self.deletion.stop(Stop::Signal);
            }
        };
        let failure = match &answer {
            Answer::Failed { message, .. } => Some(message.clone()),
            _ => None,
        };
        self.deletion.answered(answer);
        if let Some(failure) = failure.filter(|_| self.deletion.step() != Step::End) {
            warn(failure);
        }
    }
}

/// Reads the objects again, namespace by namespace, and returns what was found in their order.
async fn check(global: &GlobalArgs, client: &Client, targets: &[Target]) -> anyhow::Result<Vec<Option<Found>>> {
    let mut by_namespace: BTreeMap<&str, Vec<Target>> = BTreeMap::new();
    for target in targets {
        by_namespace.entry(target.object.namespace()).or_default().push(target.clone());
    }
    let checks = by_namespace.into_iter().map(async |(namespace, targets)| {
        let found = cluster::check(global, client, namespace, &targets).await?;
        let keys = targets.into_iter().map(|target| target.object.key());
        anyhow::Ok(keys.zip(found).collect::<Vec<(ObjectKey, Option<Found>)>>())
    });
    let found: Vec<_> = stream::iter(checks).buffer_unordered(CONCURRENT_CHECKS).try_collect().await?;
    let mut found: BTreeMap<ObjectKey, Option<Found>> = found.into_iter().flatten().collect();
    let in_order = targets.iter().map(|target| found.remove(&target.object.key()).context("an object was not checked"));
    in_order.collect()
}

async fn delete(client: &Client, object: &WholeEndpoints) -> Answer {
    let preconditions = Preconditions::unchanged(&object.uid(), &object.resource_version());
    match client.delete::<WholeEndpoints>(object.namespace(), object.name(), Some(preconditions)).await {
        Ok(Deleted::Removed | Deleted::Pending(_)) => Answer::Deleted,
        // The client has repeated an unanswered request.
        Err(error) if error.is_not_found() && error.may_have_been_applied() => Answer::Deleted,
        Err(error) if error.is_not_found() => Answer::Gone,
        Err(error) if error.is_conflict() => Answer::Changed,
        Err(error) => failed(error),
    }
}

fn failed(error: Error) -> Answer {
    let may_have_been_applied = error.may_have_been_applied();
    let of_all = error.is_unreachable() || error.is_unauthorized();
    Answer::Failed { may_have_been_applied, of_all, message: format!("{:#}", named(error)) }
}
