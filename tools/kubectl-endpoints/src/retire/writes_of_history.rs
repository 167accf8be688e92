//! How often Endpoints were written, as a history has it.

use jiff::Timestamp;
use kube_endpoints_history::{Change, Kind, Select, What};
use kube_endpoints_retire::WriteRate;

use crate::args::GlobalArgs;
use crate::source::{Part, Source};

/// Counts the writes in the history of `--history`; `None` without one, and if it is empty.
pub(super) async fn read(global: &GlobalArgs, namespace: Option<&str>) -> anyhow::Result<Option<WriteRate>> {
    let Some(source) = Source::of(global) else { return Ok(None) };
    let mut archive = source.open(global, Part { namespace, ..Part::default() }).await?;
    let first: Option<Timestamp> = archive.headers().next().map(|header| header.started);
    let (Some(first), Some(end)) = (first, archive.end()?) else { return Ok(None) };
    let select = namespace.map_or(Select::All, |namespace| Select::Namespace(namespace.into()));
    let mut replay = archive.replay(select, first)?;
    let mut writes = 0;
    while let Some(change) = replay.next_change()? {
        writes += u64::from(is_of_endpoints(&change));
    }
    Ok(Some(WriteRate { writes, time: end.duration_since(first) }))
}

fn is_of_endpoints(change: &Change) -> bool {
    match &change.what {
        What::Put { after: object, .. } | What::Removed(object) => object.kind() == Kind::Endpoints,
        What::Unknown(write) => write.kind == Kind::Endpoints,
        What::Gap(_) => false,
    }
}
