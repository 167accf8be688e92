//! Names of new slices, chosen here so that a create can be repeated safely.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use kube_ambient::{Defect, has};
use kube_controller::locked;
use kube_endpoint_model::{EndpointSlice, ObjectKey, Text};

/// The letters that the API server generates names from (upstream: `utilrand.String`).
const LETTERS: [u8; 27] = *b"bcdfghjklmnpqrstvwxz2456789";
/// Random letters at the end of a name.
const RANDOM: usize = 5;
/// Longest name that the API server generates; longer prefixes are cut (upstream: `maxNameLength`).
const LONGEST: usize = 63;

/// Names of creates that have not succeeded, by Service.
///
/// With `generateName` alone, a create whose answer is lost and that is sent again makes a second slice. A name that was sent
/// once is sent again instead, so that the server refuses the duplicate.
#[derive(Debug, Default)]
pub(crate) struct SliceNames {
    services: Mutex<HashMap<ObjectKey, Vec<SliceName>>>,
}

/// The name of a slice to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceName {
    pub(crate) prefix: Text,
    pub(crate) name: Text,
    /// An earlier create with this name was not answered, so that the server may have carried it out.
    pub(crate) unanswered: bool,
}

impl SliceName {
    /// A name that starts with `prefix`.
    fn random(prefix: &Text) -> SliceName {
        let mut name = String::from(prefix.get(..LONGEST - RANDOM).unwrap_or(prefix));
        for _ in 0..RANDOM {
            name.push(char::from(LETTERS[kube_ambient::random_range(0..LETTERS.len())]));
        }
        SliceName { prefix: prefix.clone(), name: name.into(), unanswered: false }
    }
}

impl SliceNames {
    fn services(&self) -> MutexGuard<'_, HashMap<ObjectKey, Vec<SliceName>>> {
        locked(&self.services)
    }

    /// A name for a slice to create: one of a create that did not succeed, or else a new one.
    pub(crate) fn take(&self, service: &ObjectKey, prefix: &Text) -> SliceName {
        if has(Defect::NewNameForRetry) {
            return SliceName::random(prefix);
        }
        let mut services = self.services();
        let reused = services.get_mut(service).and_then(|names| {
            let at = names.iter().position(|name| name.prefix == *prefix)?;
            Some(names.remove(at))
        });
        if services.get(service).is_some_and(Vec::is_empty) {
            services.remove(service);
        }
        reused.unwrap_or_else(|| SliceName::random(prefix))
    }

    /// Keeps the name of a create that did not succeed for the next one.
    pub(crate) fn keep(&self, service: &ObjectKey, name: SliceName) {
        self.services().entry(service.clone()).or_default().push(name);
    }

    /// Forgets the names of slices that exist.
    pub(crate) fn exist<'a>(&self, service: &ObjectKey, slices: impl IntoIterator<Item = &'a EndpointSlice>) {
        let mut services = self.services();
        let Some(names) = services.get_mut(service) else { return };
        for slice in slices {
            names.retain(|name| name.name != slice.metadata.name);
        }
        if names.is_empty() {
            services.remove(service);
        }
    }

    /// Forgets a Service.
    pub(crate) fn forget(&self, service: &ObjectKey) {
        self.services().remove(service);
    }
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::ObjectMeta;
    use rstest::rstest;

    use super::*;

    fn service() -> ObjectKey {
        ObjectKey::new("shop", "web")
    }

    #[rstest]
    #[case::short("web-", 9)]
    #[case::as_long_as_fits(&"a".repeat(58), 63)]
    #[case::cut(&"a".repeat(63), 63)]
    fn names_have_the_form_of_the_server(#[case] prefix: &str, #[case] length: usize) {
        let SliceName { name, unanswered, .. } = SliceNames::default().take(&service(), &prefix.into());
        assert_eq!((name.len(), unanswered), (length, false));
        let (start, end) = name.split_at(length - RANDOM);
        assert!(prefix.starts_with(start));
        assert!(end.bytes().all(|letter| LETTERS.contains(&letter)), "{name}");
    }

    #[test]
    fn a_name_is_reused_until_its_slice_exists() {
        let (names, prefix) = (SliceNames::default(), "web-".into());
        let first = names.take(&service(), &prefix);
        names.keep(&service(), SliceName { unanswered: true, ..first.clone() });
        assert_ne!(names.take(&service(), &"other-".into()).name, first.name, "another prefix");
        let second = names.take(&service(), &prefix);
        assert_eq!((&second.name, second.unanswered), (&first.name, true));

        names.keep(&service(), second);
        let metadata = ObjectMeta { name: first.name.clone(), ..ObjectMeta::default() };
        names.exist(&service(), [&EndpointSlice { metadata, ..EndpointSlice::default() }]);
        assert_ne!(names.take(&service(), &prefix).name, first.name);
        assert!(names.services().is_empty());
    }
}
