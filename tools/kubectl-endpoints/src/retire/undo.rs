//! `retire undo`: creates the Endpoints again that `apply` has deleted.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use kube_controller_client::{Client, Error};
use kube_endpoint_model::Service;
use kube_endpoints_retire::{Backup, WholeEndpoints};
use kube_wire::Object as _;
use serde::Serialize;

use super::{backup_file, cluster};
use crate::args::{GlobalArgs, UndoArgs};
use crate::connection::{Connection, named};
use crate::output::{self, Output, message, warn};

/// Number of objects of a namespace that fail again, one after another, after which its others are not tried: each takes as long as the
/// webhook that is down.
const FAILURES_IN_A_ROW: u32 = 2;

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

/// An object that was not created, and does not exist.
#[derive(Serialize)]
struct Rejected {
    namespace: String,
    name: String,
    because: String,
}

/// What came of an object.
enum Done {
    Created,
    LeftAlone,
    Rejected(String),
    /// The API server did not answer, or could not do it now.
    Failed(String),
}

impl Document {
    fn add(&mut self, object: &WholeEndpoints, done: Done) {
        match done {
            Done::Created => self.created += 1,
            Done::LeftAlone => self.left_alone += 1,
            Done::Rejected(because) | Done::Failed(because) => {
                let (namespace, name) = (object.namespace().to_owned(), object.name().to_owned());
                self.rejected.push(Rejected { namespace, name, because });
            }
        }
    }
}

/// Creates the objects. The status is 1 if some cannot be created, for example because their namespace is gone. Without a connection or
/// valid credentials, the run ends with an error; the same command goes on.
pub(super) async fn run(global: &GlobalArgs, args: &UndoArgs) -> anyhow::Result<ExitCode> {
    let path = args.from.display();
    let Some(backup) = backup_file::read(&args.from)? else { bail!("{path} does not exist, or has no object") };
    let connection = Connection::open(global).await?;
    let identity = cluster::identity(&connection.client, &backup.cluster, args.accept_unknown_cluster).await?;
    if identity.is_some_and(|uid| uid != backup.cluster) {
        bail!("{path} is a backup of another cluster: nothing was created");
    }
    let mut document = Document::default();
    let created = create_all(&connection.client, &backup, &mut document).await;
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

async fn create_all(client: &Client, backup: &Backup, document: &mut Document) -> anyhow::Result<()> {
    let mut restore = Restore { client, has_warned: false };
    // Where a request has failed, as at a webhook that is down, the rest comes last: it delays no other namespace.
    let (mut failing, mut last, mut first) = (HashMap::new(), Vec::new(), Vec::new());
    for object in backup.objects() {
        if failing.contains_key(object.namespace()) {
            last.push((object, "not tried, because others of its namespace failed".to_owned()));
            continue;
        }
        match restore.create(object).await? {
            Done::Failed(because) => {
                failing.insert(object.namespace(), 0);
                first.push((object, because));
            }
            done => document.add(object, done),
        }
    }
    if !first.is_empty() {
        let count = first.len() + last.len();
        message("", format_args!("{count} objects of namespaces where a create has failed are tried again."));
    }
    for (object, because) in last.into_iter().chain(first) {
        let failures = failing.entry(object.namespace()).or_default();
        let done = if *failures < FAILURES_IN_A_ROW { restore.create(object).await? } else { Done::Failed(because) };
        *failures = if matches!(done, Done::Failed(_)) { *failures + 1 } else { 0 };
        document.add(object, done);
    }
    Ok(())
}

struct Restore<'a> {
    client: &'a Client,
    /// Whether the user knows that Services may not be read.
    has_warned: bool,
}

impl Restore<'_> {
    /// Creates an object, unless it exists or would be mirrored. The error is one that all other objects would get, too.
    async fn create(&mut self, object: &WholeEndpoints) -> anyhow::Result<Done> {
        let restored: WholeEndpoints = object.without_server_fields().context("cannot restore an object")?;
        let created = match self.would_be_mirrored(object).await {
            Ok(true) => match self.client.get::<WholeEndpoints>(object.namespace(), object.name()).await {
                Ok(_) => return Ok(Done::LeftAlone),
                Err(error) if error.is_not_found() => {
                    let because = "its Service has no selector any more, and would get these addresses by mirroring";
                    return Ok(Done::Rejected(because.to_owned()));
                }
                Err(error) => Err(error),
            },
            Ok(false) => self.client.create(&restored).await,
            Err(error) => Err(error),
        };
        Ok(match created {
            Ok(_) => Done::Created,
            Err(error) if error.is_already_exists() => Done::LeftAlone,
            Err(error) if error.is_unreachable() || error.is_unauthorized() => return Err(named(error)),
            Err(error) if error.is_server_failure() => Done::Failed(format!("{:#}", named(error))),
            Err(error) => Done::Rejected(error.to_string()),
        })
    }

    /// Returns whether slices would mirror an object: its Service may have lost its selector since the deletion.
    async fn would_be_mirrored(&mut self, object: &WholeEndpoints) -> Result<bool, Error> {
        match self.client.get::<Service>(object.namespace(), object.name()).await {
            Ok(service) => Ok(object.is_mirrored(&service)),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) if error.is_forbidden() => {
                if !self.has_warned {
                    self.has_warned = true;
                    warn(format_args!("Endpoints of Services that have lost their selector are mirrored: {error}"));
                }
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
