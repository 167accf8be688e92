//! Sends the writes of a plan.

use std::borrow::Cow;

use kube_controller_client::{Client, Deleted, Error, Preconditions, RequestPriority, ReviewedClient};
use kube_informer::{OwnWrite, WriteThrough};
use kube_wire::{Encode, ObjectKey, Uid, Write};

/// Sends the writes of one sync, and puts the responses into the cache.
///
/// Writes are sent in groups: a failure ends its group, and the next group continues. Each update carries the resource
/// version of the object that the plan is based on, and each delete its UID and resource version, so that a delayed request
/// changes nothing that another client has changed since.
///
/// If the client has a [review](kube_controller_client::Review), the writes go to it and are not sent.
#[derive(Debug)]
pub struct Executor<'a, T> {
    client: &'a ReviewedClient<T>,
    cache: Option<&'a WriteThrough<T>>,
}

/// Rules for the writes of one kind, and the state of one sync that they need.
///
/// The methods that are not implemented do nothing.
pub trait WriteRules<T> {
    /// Returns the priority of the writes of one sync. Called only if the client's rate of requests is adaptive.
    fn priority(&self, writes: &[&Write<T>]) -> RequestPriority;

    /// Returns the object to send for a planned create: by default, this one. Called again after [`Failure::Repeat`].
    fn to_create<'p>(&mut self, planned: &'p T) -> Cow<'p, T>
    where
        T: Clone,
    {
        Cow::Borrowed(planned)
    }

    /// Called with the object that a response to a create or update contains, before it is in the cache.
    fn answered(&mut self, planned: &T, answer: &T) {
        let _ = (planned, answer);
    }

    /// Called after the server has accepted a write and the cache contains its result. `uid` is that of the object.
    fn accepted(&mut self, write: &Write<T>, uid: &Uid) {
        let _ = (write, uid);
    }

    /// Returns what follows a failed write. `sent` is the object of the request. A delete of an object that does not exist
    /// is not a failure.
    fn failed(&mut self, write: &Write<T>, sent: &T, error: &Error) -> Failure {
        let _ = (write, sent, error);
        Failure::Fail
    }

    /// Called after all writes of a group were sent without a failure. `group` is its position.
    fn completed(&mut self, group: usize) {
        let _ = group;
    }
}

/// What follows a failed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The write has failed, and the remaining writes of its group are not sent.
    Fail,
    /// The remaining writes of the group are not sent, without an error.
    EndGroup,
    /// The create is sent again, as the next [`WriteRules::to_create`] returns it.
    Repeat,
}

/// Result of [`Executor::execute`].
#[derive(Debug)]
pub struct Executed<'p, T> {
    /// Whether the writes went to the review of the client.
    pub is_reviewed: bool,
    /// Number of writes that the server accepted.
    pub writes: usize,
    /// Failed writes with their errors, at most one for each group.
    pub failures: Vec<(&'p Write<T>, Error)>,
}

/// How a write ended that did not fail.
enum Sent {
    Accepted,
    /// There was no object to delete.
    Nothing,
    /// [`Failure::EndGroup`].
    Ended,
}

impl<'a, T: Encode + Clone> Executor<'a, T> {
    /// Returns an executor that sends writes with `client`. Responses go into `cache`, if there is one.
    pub fn new(client: &'a ReviewedClient<T>, cache: Option<&'a WriteThrough<T>>) -> Self {
        Self { client, cache }
    }

    /// Sends the writes of the sync of `key`, group by group, in their order.
    pub async fn execute<'p>(
        &self,
        key: &ObjectKey,
        groups: impl Iterator<Item = &'p [Write<T>]> + Clone + Send,
        rules: &mut (impl WriteRules<T> + Send),
    ) -> Executed<'p, T>
    where
        T: 'p,
    {
        let mut executed = Executed { is_reviewed: false, writes: 0, failures: Vec::new() };
        if !self.client.sends(key, || groups.clone().flatten()) {
            executed.is_reviewed = true;
            return executed;
        }
        let writes = groups.clone().flatten();
        let client = self.client.client().with_priority(|| rules.priority(&writes.collect::<Vec<_>>()));
        for (number, group) in groups.enumerate() {
            let mut completed = true;
            for write in group {
                match self.send(&client, write, rules).await {
                    Ok(Sent::Accepted) => executed.writes += 1,
                    Ok(Sent::Nothing) => {}
                    Ok(Sent::Ended) => completed = false,
                    Err(error) => {
                        executed.failures.push((write, error));
                        completed = false;
                    }
                }
                if !completed {
                    break;
                }
            }
            if completed {
                rules.completed(number);
            }
        }
        executed
    }

    async fn send(
        &self,
        client: &Client,
        write: &Write<T>,
        rules: &mut (impl WriteRules<T> + Send),
    ) -> Result<Sent, Error> {
        match write {
            Write::Create(planned) => loop {
                let object = rules.to_create(planned);
                let own = self.begin(&object);
                let error = match client.create(&*object).await {
                    Ok(answer) => return Ok(accepted(own, write, planned, answer, rules)),
                    Err(error) => error,
                };
                not_written(own, None, &error);
                match rules.failed(write, &object, &error) {
                    Failure::Repeat => {}
                    Failure::EndGroup => return Ok(Sent::Ended),
                    Failure::Fail => return Err(error),
                }
            },
            Write::Update { stored, desired } => {
                let own = self.begin(desired);
                let error = match client.update(desired).await {
                    Ok(answer) => return Ok(accepted(own, write, desired, answer, rules)),
                    Err(error) => error,
                };
                let is_other_state = error.is_conflict() || error.is_not_found();
                not_written(own, is_other_state.then_some(&**stored), &error);
                ended(write, desired, error, rules)
            }
            Write::Delete(stored) => {
                let (uid, version) = (stored.uid(), stored.resource_version());
                let preconditions = Preconditions::unchanged(&uid, &version);
                let own = self.begin(stored);
                let error = match client.delete::<T>(stored.namespace(), stored.name(), Some(preconditions)).await {
                    Ok(outcome) => {
                        match (own, outcome) {
                            (Some(own), Deleted::Removed) => own.deleted(stored),
                            (Some(own), Deleted::Pending(answer)) => own.written(answer),
                            (None, _) => {}
                        }
                        rules.accepted(write, &uid);
                        return Ok(Sent::Accepted);
                    }
                    Err(error) => error,
                };
                not_written(own, error.is_conflict().then_some(&**stored), &error);
                // Another client deleted it. The watch will deliver that.
                if error.is_not_found() { Ok(Sent::Nothing) } else { ended(write, stored, error, rules) }
            }
        }
    }

    fn begin(&self, object: &T) -> Option<OwnWrite<T>> {
        self.cache.map(|cache| cache.begin(object.namespace(), object.name()))
    }
}

/// Puts the response to a create or update into the cache.
fn accepted<T: Encode>(
    own: Option<OwnWrite<T>>,
    write: &Write<T>,
    planned: &T,
    answer: T,
    rules: &mut impl WriteRules<T>,
) -> Sent {
    rules.answered(planned, &answer);
    let uid = answer.uid();
    if let Some(own) = own {
        own.written(answer);
    }
    rules.accepted(write, &uid);
    Sent::Accepted
}

/// Reports a failed write to the cache. `other_state` is the stored object that the server no longer has in this state,
/// unless because of an earlier attempt of this write.
fn not_written<T: Encode>(own: Option<OwnWrite<T>>, other_state: Option<&T>, error: &Error) {
    match (own, other_state.filter(|_| !error.may_have_been_applied())) {
        (Some(own), Some(stored)) => own.conflict(stored),
        (Some(own), None) => own.failed(error.may_have_been_applied()),
        (None, _) => {}
    }
}

fn ended<T>(write: &Write<T>, sent: &T, error: Error, rules: &mut impl WriteRules<T>) -> Result<Sent, Error> {
    match rules.failed(write, sent, &error) {
        Failure::EndGroup => Ok(Sent::Ended),
        // Only creates are repeated.
        Failure::Fail | Failure::Repeat => Err(error),
    }
}
