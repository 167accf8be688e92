//! `retire plan`: who reads and writes Endpoints, and which of them can go.

use std::process::ExitCode;

use kube_endpoints_retire::{Verdict, text};
use tokio::task::spawn_blocking;

use super::{audit, facts, writes_of_history};
use crate::args::{GlobalArgs, PlanArgs};
use crate::connection::Connection;
use crate::output::{self, Output};
use crate::progress::Progress;

/// Prints the plan. The status is 1 unless everything is safe.
pub(super) async fn run(global: &GlobalArgs, args: &PlanArgs) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(global).await?;
    let namespace = (!global.all_namespaces).then_some(connection.namespace.as_str());
    let files = args.audit_log.clone();
    // Long logs take longer than the lists.
    let reads = spawn_blocking(move || audit::read(&files));
    let progress = Progress::new();
    let reading = facts::read(&connection, namespace, args, &progress);
    let mut facts = progress.show_during(Box::pin(reading)).await?;
    facts.reads = reads.await??;
    facts.writes = writes_of_history::read(global, namespace).await?;
    let plan = facts.plan();
    drop(facts);
    output::print(&Output::new(global).render(&plan, &[], |_| text(&plan))?)?;
    Ok(if plan.verdict == Verdict::Safe { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
