//! `retire undo`: creates the Endpoints again that `apply` has deleted.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use kube_endpoints_retire::{Backup, WholeEndpoints};
use kube_wire::Object as _;
use serde::Serialize;

use super::{backup_file, cluster};
use crate::args::{GlobalArgs, UndoArgs};
use crate::connection::{Connection, named};
use crate::output::{self, Output, message};

/// The result in JSON and YAML.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// Number of objects that were created.
    created: usize,
    /// Number of objects that exist, and were left alone.
    left_alone: usize,
    rejected: Vec<Rejected>,
}

/// An object that cannot be created.
#[derive(Serialize)]
struct Rejected {
    namespace: String,
    name: String,
    because: String,
}

/// Creates the objects. The status is 1 if the API server rejects some, for example because their namespace is gone. If it does not
/// answer, the run ends with an error; the same command goes on.
pub(super) async fn run(global: &GlobalArgs, args: &UndoArgs) -> anyhow::Result<ExitCode> {
    let path = args.from.display();
    let Some(backup) = backup_file::read(&args.from)? else { bail!("{path} does not exist, or has no object") };
    let connection = Connection::open(global).await?;
    let identity = cluster::identity(&connection.client, args.accept_unknown_cluster).await?;
    if identity.is_some_and(|uid| uid != backup.cluster) {
        bail!("{path} is a backup of another cluster: nothing was created");
    }
    let mut document = Document::default();
    let created = create_all(&connection, &backup, &mut document).await;
    let text = |_| {
        let rejected = document.rejected.iter();
        let lines = rejected.map(|it| format!("not created {}/{}: {}\n", it.namespace, it.name, it.because));
        let lines: String = lines.collect();
        let Document { created, left_alone, rejected } = &document;
        let failed = if rejected.is_empty() { String::new() } else { format!(", {} not created", rejected.len()) };
        format!("{lines}Endpoints: {created} created, {left_alone} exist and were left alone{failed}.\n")
    };
    output::print(&Output::new(global).render(&document, &[], text)?)?;
    if created.is_err() {
        message("", "The same command goes on.");
    }
    created?;
    Ok(if document.rejected.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn create_all(connection: &Connection, backup: &Backup, document: &mut Document) -> anyhow::Result<()> {
    for object in backup.objects() {
        let restored: WholeEndpoints = object.without_server_fields().context("cannot restore an object")?;
        match connection.client.create(&restored).await {
            Ok(_) => document.created += 1,
            Err(error) if error.is_already_exists() => document.left_alone += 1,
            Err(error) if error.is_server_failure() => return Err(named(error)),
            Err(error) => document.rejected.push(Rejected {
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
                because: error.to_string(),
            }),
        }
    }
    Ok(())
}
