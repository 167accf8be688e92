//! Recognising an Endpoints object that the cache has not caught up with.

use std::collections::HashMap;
use std::time::Instant;

use kube_controller::{Freshness, Staleness};
use kube_endpoint_model::{ObjectKey, ResourceVersion};

/// Remembers, for every object, the version that a write replaced (TR-E1 to TR-E3): a cache that still shows it is
/// behind. Unlike upstream, an object that stays stale is read from the server in the end.
#[derive(Debug, Default)]
pub(crate) struct ReplacedVersions {
    objects: HashMap<ObjectKey, Replaced>,
}

#[derive(Debug)]
struct Replaced {
    version: ResourceVersion,
    staleness: Staleness,
}

impl ReplacedVersions {
    /// A write replaced `version`. A write that changed nothing replaces nothing and must not be told (TR-E3).
    pub(crate) fn replaced(&mut self, key: &ObjectKey, version: ResourceVersion) {
        self.objects.insert(key.clone(), Replaced { version, staleness: Staleness::default() });
    }

    /// Whether a cache that shows `version` can be believed.
    pub(crate) fn check(&mut self, key: &ObjectKey, version: &ResourceVersion, now: Instant) -> Freshness {
        let Some(replaced) = self.objects.get_mut(key) else { return Freshness::Fresh };
        replaced.staleness.check(replaced.version == *version, now)
    }

    /// Whether a sync is waiting for the cache to show this object.
    pub(crate) fn is_waiting(&self, key: &ObjectKey) -> bool {
        self.objects.get(key).is_some_and(|replaced| replaced.staleness.is_waiting())
    }

    /// Forgets an object whose Service is gone, or that was read from the server.
    pub(crate) fn forget(&mut self, key: &ObjectKey) {
        self.objects.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_controller::STALE_DEADLINE;

    // upstream: TestStaleEndpointsTracker
    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
    fn only_the_replaced_version_is_stale_and_not_for_ever() {
        let (key, start) = (ObjectKey::new("ns", "web"), Instant::now());
        let mut versions = ReplacedVersions::default();
        assert_eq!(versions.check(&key, &1.into(), start), Freshness::Fresh, "nothing known");
        versions.replaced(&key, "1".into());
        assert_eq!(versions.check(&key, &2.into(), start), Freshness::Fresh);
        assert_eq!(versions.check(&key, &1.into(), start), Freshness::Stale { wait: STALE_DEADLINE });
        assert!(versions.is_waiting(&key));
        assert_eq!(versions.check(&key, &1.into(), start + STALE_DEADLINE), Freshness::Overdue);
        assert_eq!(versions.check(&key, &2.into(), start), Freshness::Fresh);
        assert!(!versions.is_waiting(&key));
        versions.forget(&key);
        assert_eq!(versions.check(&key, &1.into(), start), Freshness::Fresh);
    }
}
