//! Times at which changes may have been missed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube_informer::{HandlerMetrics, InformerMetrics, InformerMetricsProvider, RelistCause};
use kube_wire::{Resource, ResourceVersion};

use super::Message;
use crate::{Change, Gap, What};

/// Time without an event or a bookmark after which a resumed watch counts as interrupted: API servers send a bookmark at
/// least every 75 s.
const INTERRUPTED: SignedDuration = SignedDuration::from_secs(120);

/// Sends a gap for each list that an informer reads instead of resuming its watch, and for each watch that was interrupted.
///
/// The metrics provider of the informers that are recorded. They report their lists before their events, so that a gap comes
/// before the changes that the list shows. Clones are the same provider.
#[derive(Clone)]
pub struct Gaps {
    send: SendGap,
    resources: Arc<Mutex<Vec<Arc<GapsOf>>>>,
}

/// Receives the gaps. It must not block.
type SendGap = Arc<dyn Fn(Message) + Send + Sync>;

struct GapsOf {
    resource: Resource,
    send: SendGap,
    contact: Mutex<Contact>,
}

impl Gaps {
    /// Returns a provider that calls `send` with each gap. `send` must not block.
    pub fn new(send: impl Fn(Message) + Send + Sync + 'static) -> Gaps {
        Gaps { send: Arc::new(send), resources: Arc::default() }
    }

    /// Returns the gap of a watch that is interrupted at a time, which is sent only once it is open again. Of several, the
    /// first one.
    pub fn interrupted(&self, now: Timestamp) -> Option<Gap> {
        let resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        let gap =
            |of: &Arc<GapsOf>| of.contact.lock().unwrap_or_else(PoisonError::into_inner).interrupted(&of.resource, now);
        resources.iter().filter_map(gap).min_by_key(|gap| gap.since)
    }
}

/// The contact with the API server about one resource.
#[derive(Debug, Default)]
struct Contact {
    /// Time of the last list, event or bookmark; `None` before the first list.
    last: Option<Timestamp>,
    /// Why the last watch was given up.
    cause: Option<RelistCause>,
}

impl Contact {
    /// Returns the gap before a list that has been read.
    fn listed(&mut self, resource: &Resource) -> Option<Gap> {
        let cause = self.cause.take();
        let why = match cause {
            Some(RelistCause::Expired) => "the API server no longer has the changes",
            Some(RelistCause::Ahead) => "the API server was restored, or has an older state",
            Some(RelistCause::Requested | RelistCause::Confirm | RelistCause::LostWrite) => {
                "the state was compared with that of the API server"
            }
            _ => "the watch has failed",
        };
        let reason = format!("{} were listed again: {why}", resource.plural).as_str().into();
        Some(Gap { since: self.last?, reason })
    }

    /// Returns the gap before a watch that was opened at a time.
    fn watching(&mut self, resource: &Resource, now: Timestamp) -> Option<Gap> {
        let Gap { since, reason } = self.interrupted(resource, now)?;
        self.last = Some(now);
        Some(Gap { since, reason: format!("{reason}: changes were seen late").as_str().into() })
    }

    /// Returns the gap that has begun with the last contact, if that was long before a time.
    fn interrupted(&self, resource: &Resource, now: Timestamp) -> Option<Gap> {
        let since = self.last.filter(|last| now.duration_since(*last) > INTERRUPTED)?;
        let reason = format!("the watch of {} was interrupted", resource.plural);
        Some(Gap { since, reason: reason.as_str().into() })
    }
}

impl GapsOf {
    fn contact(&self, update: impl FnOnce(&mut Contact, &Resource, Timestamp) -> Option<Gap>) {
        let now = kube_ambient::now();
        let mut contact = self.contact.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gap) = update(&mut contact, &self.resource, now) {
            let change = Change { seen: now, author: None, what: What::Gap(gap) };
            (self.send)(Message { change, is_listed: true });
        }
    }
}

impl InformerMetricsProvider for Gaps {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics> {
        let of = Arc::new(GapsOf { resource: *resource, send: Arc::clone(&self.send), contact: Mutex::default() });
        self.resources.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&of));
        of
    }
}

impl InformerMetrics for GapsOf {
    fn listed(&self, _items: usize, _took: Duration) {
        self.contact(|contact, resource, _| contact.listed(resource));
    }

    fn list_failed(&self) {}

    fn watch_opened(&self) {
        self.contact(Contact::watching);
    }

    fn relist(&self, cause: RelistCause) {
        self.contact(|contact, _, _| {
            contact.cause = Some(cause);
            None
        });
    }

    fn undecodable(&self) {}

    fn undecodable_objects(&self, _objects: usize) {}

    fn processed(&self, _took: Duration) {}

    fn stored(&self, _version: &ResourceVersion, _objects: usize) {
        self.contact(|contact, _, now| {
            contact.last = Some(now);
            None
        });
    }

    fn handler(&self, _name: &str) -> Arc<dyn HandlerMetrics> {
        Arc::new(NoMetrics)
    }
}

struct NoMetrics;

impl HandlerMetrics for NoMetrics {
    fn queued(&self, _events: usize) {}

    fn delivered(&self, _events: usize) {}

    fn lag(&self, _waited: Duration) {}
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

    fn time(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn the_first_list_is_no_gap() {
        assert_eq!(Contact::default().listed(&PODS), None);
    }

    #[rstest]
    #[case::expired(Some(RelistCause::Expired), "pods were listed again: the API server no longer has the changes")]
    #[case::failed(Some(RelistCause::Failed), "pods were listed again: the watch has failed")]
    #[case::compared(
        Some(RelistCause::LostWrite),
        "pods were listed again: the state was compared with that of the API server"
    )]
    #[case::unknown(None, "pods were listed again: the watch has failed")]
    fn a_list_after_a_watch_is_a_gap(#[case] cause: Option<RelistCause>, #[case] reason: &str) {
        let mut contact = Contact { last: Some(time(7)), cause };
        assert_eq!(contact.listed(&PODS), Some(Gap { since: time(7), reason: reason.into() }));
    }

    #[rstest]
    #[case::before_the_first_list(None, false)]
    #[case::just_reopened(Some(time(999)), false)]
    #[case::after_the_last_bookmark(Some(time(925)), false)]
    #[case::interrupted(Some(time(600)), true)]
    fn a_watch_after_a_long_time_is_a_gap(#[case] last: Option<Timestamp>, #[case] expect: bool) {
        let mut contact = Contact { last, cause: None };
        let gap = contact.watching(&PODS, time(1_000));
        assert_eq!(gap.map(|gap| gap.since), last.filter(|_| expect));
        assert_eq!(contact.watching(&PODS, time(1_001)), None, "reported once");
    }
}
