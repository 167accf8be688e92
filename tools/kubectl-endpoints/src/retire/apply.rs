//! `retire apply`: deletes the Endpoints that a plan calls safe.

use std::collections::HashSet;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use jiff::SignedDuration;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_retire::apply::{Choice, Deletion, Kept, Outcome, Present, Stop, choose, stale};
use kube_endpoints_retire::{Backup, Plan, WholeEndpoints};
use kube_wire::Object as _;
use serde::Serialize;
use tokio::task::JoinSet;

use super::run::Run;
use super::watch_audit::{AuditLog, AuditWatch};
use super::{backup_file, cluster, controller, writes};
use crate::args::{ApplyArgs, GlobalArgs};
use crate::connection::Connection;
use crate::diff::ERROR_STATUS;
use crate::output::{self, Output, message, plural, warn};
use crate::stop::StopSignals;

/// Largest number of differences between plan and cluster that are printed.
const SHOWN: usize = 20;

/// The result in JSON and YAML.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    deleted: Vec<Name>,
    gone: Vec<Name>,
    unanswered: Vec<Name>,
    kept: Vec<KeptDocument>,
    remaining: Vec<Name>,
    /// Why the run ended before its end; null if it did not.
    stopped: Option<String>,
}

#[derive(Serialize)]
struct Name {
    namespace: String,
    name: String,
}

#[derive(Serialize)]
struct KeptDocument {
    #[serde(flatten)]
    object: Name,
    because: String,
}

/// Deletes the objects. The status is 1 if the plan is stale or objects are left that it allows to delete.
pub(super) async fn run(global: &GlobalArgs, args: &ApplyArgs) -> anyhow::Result<ExitCode> {
    let plan = read_plan(args)?;
    let audit = args.watch_audit.as_deref().map(AuditLog::open).transpose()?;
    let controller = args.controller_off.map_or_else(controller::ask, Ok)?;
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    let connection = Connection::open(global).await?;
    let mut tasks = JoinSet::new();
    let following = connection.client.follow_files();
    tasks.spawn(async { match following.await {} });
    let namespace = plan.namespace.as_deref();
    let starting = Box::pin(async {
        let identity = cluster::identity(&connection.client, &plan.cluster.uid, args.accept_unknown_cluster).await?;
        // Before the list: no write after the list is missed.
        let writes = writes::watch(&connection, namespace, &mut tasks).await?;
        let objects = cluster::managed_endpoints(&connection.client, namespace).await?;
        anyhow::Ok((identity, writes, objects))
    });
    let (identity, writes, objects) = tokio::select! {
        biased;
        () = signals.next() => bail!("stopped before the first delete"),
        started = starting => started?,
    };
    let backup = backup_file::read(&args.backup)?;
    if backup.as_ref().is_some_and(|backup| backup.cluster != plan.cluster.uid) {
        bail!("{} is a backup of another cluster", args.backup.display());
    }
    let (cluster, backed_up) = (identity.as_deref(), backup.as_ref());
    let present = Present { now: kube_ambient::now(), cluster, objects: &objects, backup: backed_up };
    let max_age = SignedDuration::try_from(args.max_age).unwrap_or(SignedDuration::MAX);
    let differences = stale(&plan, max_age, &present);
    if !differences.is_empty() {
        differences.iter().take(SHOWN).for_each(|it| message("stale: ", it));
        let more = differences.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        message("error: ", format_args!("the plan does not fit the cluster any more{more}: make a new one"));
        return Ok(ExitCode::FAILURE);
    }
    let Choice { targets, kept } = choose(&plan, &objects, args.accept_unknown);
    let count = targets.len();
    message(
        "",
        format_args!("{count} Endpoints object{} to delete, {} to keep. Ctrl-C stops.", plural(count), kept.len()),
    );
    let audit = audit.map(|log| {
        let existing: HashSet<ObjectKey> = objects.iter().map(|object| object.key()).collect();
        let of_plan = |object: &WholeEndpoints| namespace.is_none_or(|namespace| object.namespace() == namespace);
        // Those that an earlier run has deleted.
        let deleted = backup.iter().flat_map(Backup::objects).filter(|it| of_plan(it) && !existing.contains(&it.key()));
        let of_run = targets.iter().map(|target| Arc::clone(&target.object));
        AuditWatch::start(log, of_run.chain(deleted.cloned().map(Arc::new)).collect(), &mut tasks)
    });
    let deletion = Deletion::new(targets, &objects, args.batch_size);
    if count > 0 && !deletion.has_proof() {
        warn("all objects are left over: no deletion can prove that the endpoints controller is off");
    }
    let connection = &connection;
    let mut run = Run { global, args, connection, plan: &plan, backup, signals, writes, audit, tasks, deletion };
    run.finish().await;
    let status = report(global, args, run.deletion.outcome(), kept)?;
    if matches!(run.deletion.outcome().stopped, Some(Stop::Written { .. } | Stop::Recreated { .. })) {
        message("", controller::how(controller));
    }
    Ok(status)
}

fn read_plan(args: &ApplyArgs) -> anyhow::Result<Plan> {
    let path = args.plan.display();
    let text = fs::read(&args.plan).with_context(|| format!("cannot read {path}"))?;
    serde_json::from_slice(&text).with_context(|| format!("{path} is no plan of `retire plan -o json`"))
}

/// Prints the outcome, and returns the status. `unchosen` are the objects that the plan does not allow to delete.
fn report(
    global: &GlobalArgs,
    args: &ApplyArgs,
    outcome: &Outcome,
    unchosen: Vec<(ObjectKey, Kept)>,
) -> anyhow::Result<ExitCode> {
    let Outcome { deleted, gone, unanswered, kept, remaining, stopped } = outcome;
    let is_complete = stopped.is_none() && kept.is_empty();
    let names = |keys: &[ObjectKey]| keys.iter().map(name).collect();
    let mut all: Vec<(ObjectKey, Kept)> = kept.iter().cloned().chain(unchosen).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let document = Document {
        deleted: names(deleted),
        gone: names(gone),
        unanswered: names(unanswered),
        kept: all.iter().map(|(key, kept)| KeptDocument { object: name(key), because: kept.to_string() }).collect(),
        remaining: names(remaining),
        stopped: stopped.as_ref().map(ToString::to_string),
    };
    let text = |_| {
        let kept: Vec<String> = all.iter().map(|(key, kept)| format!("kept {key}: {kept}\n")).collect();
        let counts = [
            (deleted.len(), "deleted"),
            (gone.len(), "gone already"),
            (unanswered.len(), "perhaps deleted"),
            (all.len(), "kept"),
            (remaining.len(), "remaining"),
        ];
        let counts = counts.iter().enumerate().filter(|(at, (count, _))| *at == 0 || *count > 0);
        let counts: Vec<String> = counts.map(|(_, (count, what))| format!("{count} {what}")).collect();
        format!("{}Endpoints: {}.\n", kept.concat(), counts.join(", "))
    };
    output::print(&Output::new(global).render(&document, &[], text)?)?;
    if deleted.len() + unanswered.len() > 0 {
        let path = args.backup.display();
        message("", format_args!("kubectl endpoints retire undo --from {path} creates them again."));
    }
    if let Some(stop) = stopped {
        message("error: ", stop);
    }
    Ok(match stopped {
        Some(Stop::Failed(_)) => ExitCode::from(ERROR_STATUS),
        _ if is_complete => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn name(key: &ObjectKey) -> Name {
    Name { namespace: key.namespace.to_string(), name: key.name.to_string() }
}
