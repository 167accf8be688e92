//! Handle of the admission rules for the owner of a server.

use std::sync::Arc;

use serde_json::Value;

use super::{AdmissionRequest, Denial, Rule};
use crate::shared::Shared;

/// Handle that adds and removes the admission rules of a [`Server`](crate::Server).
///
/// A write passes the mutations, then defaulting and validation by its kind, then the validations, as on a real server.
/// A mutation gets the object as sent by the client, before defaulting. Rules run under the server's write lock: a rule
/// that calls the server deadlocks.
///
/// ```
/// use kube_dev_apiserver::{Config, Denial, Operation, Server};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let server = Server::start(Config::default()).await?;
/// server.admission().mutate(|request, object| {
///     if request.resource == "endpointslices" {
///         object["metadata"]["labels"]["team"] = json!("network");
///     }
///     Ok(())
/// });
/// let id = server.admission().validate(|request, _| match request.operation {
///     Operation::Delete => Err(Denial::forbidden("deletes are disabled")),
///     Operation::Create | Operation::Update => Ok(()),
/// });
/// assert!(server.admission().remove(id));
/// # server.shutdown().await;
/// # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    shared: &'a Shared,
}

impl<'a> Admission<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Adds a mutation, which may change the object of a create or update, or reject the write. Returns its id for
    /// [`remove`](Self::remove).
    pub fn mutate(
        &self,
        rule: impl Fn(&AdmissionRequest<'_>, &mut Value) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {
        self.add(Rule::Mutation(Arc::new(rule)))
    }

    /// Adds a validation, which may reject a create, update or delete. Its second argument is the object to be stored,
    /// `None` for a delete. Returns its id for [`remove`](Self::remove).
    pub fn validate(
        &self,
        rule: impl Fn(&AdmissionRequest<'_>, Option<&Value>) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {
        self.add(Rule::Validation(Arc::new(rule)))
    }

    /// Removes an admission rule. Returns `false` if there is none with this id.
    pub fn remove(&self, id: u64) -> bool {
        self.shared.write(false, |cluster, _| cluster.admission_mut().remove(id))
    }

    /// Removes all admission rules.
    pub fn clear(&self) {
        self.shared.write(false, |cluster, _| cluster.admission_mut().rules.clear());
    }

    fn add(self, rule: Rule) -> u64 {
        self.shared.write(false, |cluster, _| cluster.admission_mut().add(rule))
    }
}
