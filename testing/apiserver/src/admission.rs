//! Admission rules: closures that mutate or reject writes, like the admission policies and webhooks of a real cluster.

mod handle;

use std::sync::Arc;

use serde_json::Value;

pub use handle::Admission;

/// Operation that an admission rule decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// POST; server-side apply of an object that does not exist; PUT of such an object if its kind allows that.
    Create,
    /// PUT and PATCH of an existing object.
    Update,
    /// DELETE, and each object of a delete-collection. Objects that the server itself removes (by garbage collection or
    /// with their namespace) are not subject to admission.
    Delete,
}

/// Write that an admission rule decides on. Strings that do not apply are empty.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct AdmissionRequest<'a> {
    /// Create, update or delete.
    pub operation: Operation,
    /// API group; empty for the core group.
    pub group: &'a str,
    /// Kind of the object, such as `EndpointSlice`; `Binding` for the binding of a Pod.
    pub kind: &'a str,
    /// Plural resource name, such as `endpointslices`.
    pub resource: &'a str,
    /// `status`, `scale` or `binding` for a write to that subresource; otherwise empty.
    pub subresource: &'a str,
    /// Namespace of the object; empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// Name of the object. For a create with `generateName` it is empty in a mutation, and the generated name in a
    /// validation.
    pub name: &'a str,
    /// Object before the write; `None` for a create.
    pub old: Option<&'a Value>,
    /// Whether the write is a dry run, which stores nothing.
    pub dry_run: bool,
}

/// Rejection of a write, returned to the client as a `metav1.Status`.
///
/// The server puts `RESOURCE "NAME" is forbidden: ` in front of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl Denial {
    /// Creates a rejection with an HTTP status code and a `metav1.Status` reason. The code must be from 400 to 599;
    /// this is not checked.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into() }
    }

    /// Creates a 403 `Forbidden` rejection, like `admission.Denied` of controller-runtime.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// Creates a 422 `Invalid` rejection, the default of a `ValidatingAdmissionPolicy`.
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

/// Admission rules of a server with their ids, in the order in which they were added.
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

    /// Runs all mutations on an object as sent by the client, up to the first rejection.
    pub(crate) fn mutate(&self, request: &AdmissionRequest<'_>, object: &mut Value) -> Result<(), Denial> {
        self.rules.iter().try_for_each(|(_, rule)| match rule {
            Rule::Mutation(rule) => rule(request, object),
            Rule::Validation(_) => Ok(()),
        })
    }

    /// Runs all validations on the object to be stored, `None` for a delete, up to the first rejection.
    pub(crate) fn validate(&self, request: &AdmissionRequest<'_>, object: Option<&Value>) -> Result<(), Denial> {
        self.rules.iter().try_for_each(|(_, rule)| match rule {
            Rule::Validation(rule) => rule(request, object),
            Rule::Mutation(_) => Ok(()),
        })
    }
}
