//! The sequence of steps that deletes objects.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_wire::{Object as _, ObjectKey, ResourceVersion, Uid};

use super::{Found, Kept, Outcome, Stop, Target};
use crate::WholeEndpoints;

/// Number of namespaces whose deletes fail, without a success in between, at which a run stops: the server fails, not a webhook.
const MOST_FAILING: usize = 5;

/// What the caller does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Wait, and report all writes of managed Endpoints by [`Deletion::seen`]. Then list them for [`Deletion::waited`].
    Wait(Wait),
    /// Write all targets to the backup file, and sync it to the disk. Then call [`Deletion::backed_up`].
    BackUp(Vec<Target>),
    /// Read these objects again, and what decides about their content. Then call [`Deletion::checked`].
    Check(Vec<Target>),
    /// Delete the object with its UID and version as preconditions. Then call [`Deletion::answered`].
    Delete(Target),
    /// Nothing: the run has ended. [`Deletion::outcome`] says how.
    End,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Before the first delete: a controller that is on may write.
    Quiet,
    /// After the first delete: a controller that is on creates the object again.
    First,
    /// Between two batches.
    Pause,
}

/// Answer to a delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The object was deleted.
    Deleted,
    /// The object did not exist.
    Gone,
    /// A precondition did not hold: another client has written the object since it was checked.
    Changed,
    /// Any other failure.
    Failed {
        /// Whether the object may have been deleted.
        may_have_been_applied: bool,
        /// Whether all other deletes would fail, too: there is no connection, or the credentials are not valid.
        of_all: bool,
        /// The error.
        message: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting(Wait),
    BackingUp,
    Checking,
    Deleting,
    Ended,
}

/// A run that deletes objects, as a state machine: the caller does each [`Step`] and reports what came of it.
///
/// No step deletes an object before [`backed_up`](Self::backed_up) was called. The first object is deleted alone, and the rest only
/// if it has not come back. Where a delete fails, as at a webhook that is down, the rest of the namespace comes last; there, two failures
/// in a row give the namespace up. A report that the current step does not expect is ignored, except for [`seen`](Self::seen) and
/// [`stop`](Self::stop).
#[derive(Debug)]
pub struct Deletion {
    state: State,
    batch_size: usize,
    /// Targets that were not checked.
    targets: VecDeque<Target>,
    /// Targets that were checked, and are to be deleted.
    batch: VecDeque<Target>,
    /// Targets of namespaces where a delete has failed, to be tried once more when all others are done.
    last: VecDeque<Target>,
    /// Whether the targets are those of `last`.
    is_last_round: bool,
    /// Namespaces of the deletes that have failed since one succeeded.
    failing: Vec<String>,
    /// Error of the first delete that has failed.
    failure: Option<String>,
    /// Whether an object was deleted that a controller would create again.
    is_proved: bool,
    /// UIDs of the objects whose deletion was begun: that they are gone is no write of another client.
    begun: HashSet<Uid>,
    /// Versions of the managed objects at the beginning.
    versions: HashMap<Uid, ResourceVersion>,
    outcome: Outcome,
}

impl Deletion {
    /// Returns a run that deletes `targets`. `objects` are all managed objects in its namespaces.
    pub fn new(mut targets: Vec<Target>, objects: &[Arc<WholeEndpoints>], batch_size: NonZeroUsize) -> Deletion {
        // A controller does not create left-overs again, so that they prove nothing.
        targets.sort_by_key(|target| (target.is_left_over, target.object.key()));
        Deletion {
            state: if targets.is_empty() { State::Ended } else { State::Waiting(Wait::Quiet) },
            batch_size: batch_size.get(),
            is_proved: targets.first().is_none_or(|target| target.is_left_over),
            targets: targets.into(),
            batch: VecDeque::new(),
            last: VecDeque::new(),
            is_last_round: false,
            failing: Vec::new(),
            failure: None,
            begun: HashSet::new(),
            versions: objects.iter().map(|object| (object.uid(), object.resource_version())).collect(),
            outcome: Outcome::default(),
        }
    }

    /// Returns whether the deletion of the first object proves that no controller is on: not if all are left over.
    pub fn has_proof(&self) -> bool {
        self.targets.front().is_some_and(|target| !target.is_left_over)
    }

    /// Returns what is to be done next. The same until it is reported.
    pub fn step(&self) -> Step {
        match self.state {
            State::Waiting(wait) => Step::Wait(wait),
            State::BackingUp => Step::BackUp(self.targets.iter().cloned().collect()),
            State::Checking => Step::Check(self.targets.iter().take(self.next_batch()).cloned().collect()),
            State::Deleting => self.batch.front().map_or(Step::End, |target| Step::Delete(target.clone())),
            State::Ended => Step::End,
        }
    }

    /// Reports the end of a wait, with all managed objects as they are now. Stops the run if they differ from those at the beginning,
    /// but for the deleted ones.
    pub fn waited(&mut self, objects: &[Arc<WholeEndpoints>]) {
        let State::Waiting(wait) = self.state else { return };
        let versions: HashMap<Uid, ResourceVersion> =
            objects.iter().map(|object| (object.uid(), object.resource_version())).collect();
        let written = objects.iter().find(|it| self.versions.get(&it.uid()) != Some(&it.resource_version()));
        if let Some(object) = written {
            return self.stop(self.cause(object.key(), None));
        }
        // Without the names of the others: the watch reports them.
        let deleted = self.versions.keys().find(|uid| !versions.contains_key(*uid) && !self.begun.contains(*uid));
        if deleted.is_some() {
            return self.stop(Stop::Failed("Endpoints were deleted during the run, and not by it".to_owned()));
        }
        self.state = if wait == Wait::Quiet { State::BackingUp } else { State::Checking };
        self.go_on();
    }

    /// Reports that all targets are in the backup file, and on the disk.
    pub fn backed_up(&mut self) {
        if self.state == State::BackingUp {
            self.state = State::Checking;
        }
    }

    /// Reports what was read of the objects of a [`Step::Check`], in their order; `None` for one that does not exist. Objects without
    /// a report stay. Stops the run if an object was written or deleted since the beginning.
    pub fn checked(&mut self, found: Vec<Option<Found>>) {
        if self.state != State::Checking {
            return;
        }
        let mut found = found.into_iter();
        let mut written = None;
        for target in self.targets.drain(..self.next_batch().min(self.targets.len())).collect::<Vec<_>>() {
            let key = target.object.key();
            match found.next() {
                // Its unanswered delete was applied.
                Some(None) if self.begun.contains(&target.object.uid()) => self.outcome.deleted.push(key),
                Some(None) => {
                    written.get_or_insert_with(|| key.clone());
                    self.outcome.gone.push(key);
                }
                Some(Some(found)) => match found.forbidden() {
                    Some(kept) => {
                        written = written.or_else(|| (kept == Kept::Changed).then(|| key.clone()));
                        self.outcome.kept.push((key, kept));
                    }
                    None => self.batch.push_back(target),
                },
                None => self.outcome.kept.push((key, Kept::NotCompared)),
            }
        }
        if let Some(key) = written {
            return self.stop(Stop::Written { key, by: None });
        }
        self.begin_delete();
        self.go_on();
    }

    /// Reports the answer to a delete.
    pub fn answered(&mut self, answer: Answer) {
        if self.state != State::Deleting {
            return;
        }
        let Some(target) = self.batch.pop_front() else { return };
        let key = target.object.key();
        let has_failed = matches!(answer, Answer::Failed { .. });
        match answer {
            Answer::Deleted => self.outcome.deleted.push(key),
            Answer::Gone => self.outcome.gone.push(key),
            Answer::Changed => {
                self.outcome.kept.push((key.clone(), Kept::Changed));
                return self.stop(Stop::Written { key, by: None });
            }
            Answer::Failed { may_have_been_applied, of_all, message } => {
                if !may_have_been_applied {
                    self.begun.remove(&target.object.uid());
                }
                if of_all {
                    self.leave(&target);
                    return self.stop(Stop::Failed(message));
                }
                self.failure.get_or_insert(message);
                self.put_last(target);
                if self.failing.len() >= MOST_FAILING {
                    return self.end();
                }
            }
        }
        let next = if self.is_proved {
            State::Waiting(Wait::Pause)
        } else if has_failed {
            State::Checking
        } else {
            State::Waiting(Wait::First)
        };
        if !has_failed {
            self.is_proved = true;
            self.failing.clear();
        }
        if self.batch.is_empty() {
            self.state = next;
            self.go_on();
        } else {
            self.begin_delete();
        }
    }

    /// Reports a write that a watch has seen: the UID of the object before and after it, and the field manager of the writer. Stops the
    /// run unless it is the deletion of an object by this run.
    pub fn seen(&mut self, key: ObjectKey, before: Option<&Uid>, after: Option<&Uid>, by: Option<String>) {
        let is_own = after.is_none() && before.is_some_and(|uid| self.begun.contains(uid));
        if !is_own {
            self.stop(self.cause(key, by));
        }
    }

    /// Ends the run before its end. If a delete was sent, its answer is to be reported first.
    pub fn stop(&mut self, cause: Stop) {
        if self.state == State::Ended {
            return;
        }
        self.state = State::Ended;
        self.outcome.stopped = Some(cause);
        // They existed at the last check.
        self.outcome.remaining.extend(self.batch.drain(..).map(|target| target.object.key()));
        for target in self.targets.drain(..).chain(self.last.drain(..)).collect::<Vec<_>>() {
            self.leave(&target);
        }
    }

    /// Returns what the run has done so far.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn next_batch(&self) -> usize {
        if self.is_proved { self.batch_size } else { 1 }
    }

    /// Returns why the run stops after a write of another client.
    fn cause(&self, key: ObjectKey, by: Option<String>) -> Stop {
        let was_deleted = self.outcome.deleted.iter().chain(&self.outcome.gone).any(|it| *it == key);
        if was_deleted { Stop::Recreated { key, by } } else { Stop::Written { key, by } }
    }

    /// Begins to delete the first object of the batch, if there is one.
    fn begin_delete(&mut self) {
        if let Some(target) = self.batch.front() {
            self.begun.insert(target.object.uid());
            self.state = State::Deleting;
        }
    }

    /// Puts a target whose delete has failed behind all others, with those of its namespace. In the last round, leaves it, and after two
    /// failures in a row also the others.
    fn put_last(&mut self, target: Target) {
        let namespace = target.object.namespace().to_owned();
        let is_second = self.failing.last() == Some(&namespace);
        let mut others = Vec::new();
        if is_second || !self.is_last_round {
            for queue in [&mut self.batch, &mut self.targets] {
                let is_other = |it: &Target| it.object.namespace() == namespace;
                let (of_namespace, rest): (Vec<Target>, _) = queue.drain(..).partition(is_other);
                others.extend(of_namespace);
                *queue = rest.into();
            }
        }
        if !is_second {
            self.failing.push(namespace);
        }
        others.push(target);
        if self.is_last_round {
            for target in &others {
                self.leave(target);
            }
        } else {
            self.last.extend(others);
        }
    }

    /// Notes a target that the run has not deleted, as far as is known.
    fn leave(&mut self, target: &Target) {
        let may_be_deleted = self.begun.contains(&target.object.uid());
        let list = if may_be_deleted { &mut self.outcome.unanswered } else { &mut self.outcome.remaining };
        list.push(target.object.key());
    }

    /// Begins the last round if nothing else is left, and ends the run after it.
    fn go_on(&mut self) {
        if !matches!(self.state, State::Checking | State::Waiting(Wait::Pause)) {
            return;
        }
        let has_proof = self.is_proved || self.has_proof();
        if self.targets.is_empty() && has_proof {
            self.is_last_round = true;
            self.targets = std::mem::take(&mut self.last);
            self.failing.clear();
        }
        // Left-overs prove nothing as long as there are others.
        if self.targets.is_empty() || !has_proof && !self.last.is_empty() {
            self.end();
        }
    }

    /// Ends the run, with the first failure if objects are left because of one.
    fn end(&mut self) {
        let Outcome { unanswered, remaining, .. } = &self.outcome;
        let are_left = !(self.last.is_empty() && unanswered.is_empty() && remaining.is_empty());
        match self.failure.take() {
            Some(message) if are_left => self.stop(Stop::Failed(message)),
            _ => self.state = State::Ended,
        }
    }
}

#[cfg(test)]
mod tests;
