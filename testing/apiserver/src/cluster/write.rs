//! What all writes share: their result, the rules of the kind, and storing the object.

use std::sync::Arc;

use super::{Cluster, Stored, WriteOptions};
use crate::kinds::{Context, Kind, Prepared};
use crate::status::StatusError;

#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) object: Arc<Stored>,
    pub(crate) created: bool,
    pub(crate) warnings: Vec<String>,
}

impl Written {
    /// Adds warnings to the result of a write, before those that it has.
    pub(super) fn warned(result: Result<Self, StatusError>, mut warnings: Vec<String>) -> Result<Self, StatusError> {
        match result {
            Ok(mut written) => {
                warnings.append(&mut written.warnings);
                Ok(Self { warnings, ..written })
            }
            Err(error) => Err(error.warned(&warnings)),
        }
    }
}

impl Cluster {
    /// Returns the context of the rules of a kind. `tracks` is whether a client owns what it changes.
    pub(super) fn context<'a>(
        &'a mut self,
        kind: &'a Kind,
        namespace: &'a str,
        options: WriteOptions<'_>,
        tracks: bool,
    ) -> Context<'a> {
        let namespace = kind.namespaced.then_some(namespace);
        Context { kind, namespace, now: options.now, rng: &mut self.rng, addresses: &self.addresses, tracks }
    }

    /// Stores a prepared object in place of `old`. With a dry run it only gets the version of `old`, if any.
    pub(super) fn store(
        &mut self,
        kind: &Kind,
        prepared: &mut Prepared,
        old: Option<&Stored>,
        options: WriteOptions<'_>,
    ) -> Arc<Stored> {
        if options.dry_run {
            let revision = old.map_or(0, |it| it.revision);
            return Arc::new(Stored::new(kind, prepared, revision));
        }
        let object = Stored::new(kind, prepared, self.next_revision());
        self.put(kind, object)
    }
}
