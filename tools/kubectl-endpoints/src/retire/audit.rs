//! Audit logs of `retire`.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context as _;
use kube_endpoints_history::audit::reads::Reads;

/// Reads the files to their ends; `None` without files.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Option<Reads>> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut reads = Reads::default();
    for path in files {
        let name = path.display().to_string();
        let added = File::open(path).and_then(|file| reads.add(&name, file));
        added.with_context(|| format!("cannot read {name}"))?;
    }
    Ok(Some(reads))
}
