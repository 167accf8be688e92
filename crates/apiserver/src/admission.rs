//! Admission rules: closures that change or refuse writes, as the policies and webhooks of a real cluster do.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::shared::Shared;

/// What an admission rule is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// POST, an apply of what does not exist, and PUT where that creates.
    Create,
    /// PUT and PATCH of what exists.
    Update,
    /// DELETE, and each object of a delete-collection. Objects that the server itself removes (garbage, the content of a
    /// deleted namespace) are not subject to admission.
    Delete,
}

/// A write that a rule decides on. Texts that do not apply are empty.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AdmissionRequest<'a> {
    /// Create, update or delete.
    pub operation: Operation,
    /// The API group; empty for core.
    pub group: &'a str,
    /// The name of the kind: `EndpointSlice`.
    pub kind: &'a str,
    /// The plural of the resource: `endpointslices`.
    pub resource: &'a str,
    /// `status` for a write of the status alone.
    pub subresource: &'a str,
    /// The namespace of the object; empty for kinds without namespaces.
    pub namespace: &'a str,
    /// The name of the object; empty for a create whose name the server generates.
    pub name: &'a str,
    /// The object before the write; `None` for a create.
    pub old: Option<&'a Value>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
}

/// The refusal of a write, answered as a `metav1.Status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl Denial {
    /// A refusal with any HTTP status code and reason. The code is one of an error, 400 to 599.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into() }
    }

    /// 403 `Forbidden`, which is what a webhook that names no code answers with.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// 422 `Invalid`, which is what a `ValidatingAdmissionPolicy` that names no reason answers with.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(422, "Invalid", message)
    }
}

type Mutation = dyn Fn(&AdmissionRequest<'_>, &mut Value) -> Result<(), Denial> + Send + Sync;
type Validation = dyn Fn(&AdmissionRequest<'_>, Option<&Value>) -> Result<(), Denial> + Send + Sync;

#[derive(Clone)]
enum Rule {
    Mutation(Arc<Mutation>),
    Validation(Arc<Validation>),
}

/// The rules in force, in the order in which they were added.
#[derive(Default)]
pub(crate) struct AdmissionRules {
    rules: Vec<(u64, Rule)>,
    last_id: u64,
}

impl AdmissionRules {
    fn add(&mut self, rule: Rule) -> u64 {
        self.last_id += 1;
        self.rules.push((self.last_id, rule));
        self.last_id
    }

    fn remove(&mut self, id: u64) -> bool {
        let before = self.rules.len();
        self.rules.retain(|(it, _)| *it != id);
        self.rules.len() < before
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Runs the mutations on an object as the client sent it.
    pub(crate) fn mutate(&self, request: &AdmissionRequest<'_>, object: &mut Value) -> Result<(), Denial> {
        self.rules.iter().try_for_each(|(_, rule)| match rule {
            Rule::Mutation(rule) => rule(request, object),
            Rule::Validation(_) => Ok(()),
        })
    }

    /// Runs the validations on an object as it would be stored; `None` for a delete.
    pub(crate) fn validate(&self, request: &AdmissionRequest<'_>, object: Option<&Value>) -> Result<(), Denial> {
        self.rules.iter().try_for_each(|(_, rule)| match rule {
            Rule::Validation(rule) => rule(request, object),
            Rule::Mutation(_) => Ok(()),
        })
    }
}

impl fmt::Debug for AdmissionRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdmissionRules").field("count", &self.rules.len()).finish_non_exhaustive()
    }
}

/// The admission rules of a [`Server`](crate::Server).
///
/// A write passes the mutations first, then the defaults and the validation of its kind, then the validations, which is
/// the order of a real server. A mutation gets the object as the client sent it, without defaults. Rules run while the
/// server is locked: a rule that calls the server blocks for ever.
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
///     Operation::Delete => Err(Denial::forbidden("nothing is deleted here")),
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

    /// Adds a rule that may change the object of a create or update, or refuse it. Returns the id to remove it with.
    pub fn mutate(
        &self,
        rule: impl Fn(&AdmissionRequest<'_>, &mut Value) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {
        self.add(Rule::Mutation(Arc::new(rule)))
    }

    /// Adds a rule that may refuse a create, update or delete. Its second argument is the object as it would be stored,
    /// `None` for a delete. Returns the id to remove it with.
    pub fn validate(
        &self,
        rule: impl Fn(&AdmissionRequest<'_>, Option<&Value>) -> Result<(), Denial> + Send + Sync + 'static,
    ) -> u64 {
        self.add(Rule::Validation(Arc::new(rule)))
    }

    /// Removes a rule. Returns false if there is none with this id.
    pub fn remove(&self, id: u64) -> bool {
        self.shared.write(false, |cluster, _| cluster.admission_mut().remove(id))
    }

    /// Removes all rules.
    pub fn clear(&self) {
        self.shared.write(false, |cluster, _| cluster.admission_mut().rules.clear());
    }

    fn add(self, rule: Rule) -> u64 {
        self.shared.write(false, |cluster, _| cluster.admission_mut().add(rule))
    }
}
