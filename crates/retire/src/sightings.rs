//! Requests of readers that are not expected, and which objects they concern.

use std::collections::{BTreeSet, HashMap};

use kube_endpoint_model::{LabelSelector, Labels};
use kube_endpoints_history::audit::reads::{Reads, Request, Seen};

use crate::rbac::Who;
use crate::readers::expected;

/// Requests of readers that are not expected, indexed by what they read.
#[derive(Default)]
pub(crate) struct Sightings<'a> {
    everywhere: Vec<Sighting<'a>>,
    in_namespace: HashMap<&'a str, Vec<Sighting<'a>>>,
    of_name: HashMap<(&'a str, &'a str), Vec<Sighting<'a>>>,
}

/// A request in the audit log.
pub(crate) struct Sighting<'a> {
    pub(crate) who: Who,
    pub(crate) request: &'a Request,
    pub(crate) seen: Seen,
    /// `None` for all objects.
    labels: Option<LabelSelector>,
}

impl<'a> Sightings<'a> {
    pub(crate) fn new(reads: Option<&'a Reads>) -> Sightings<'a> {
        let mut sightings = Sightings::default();
        for (request, seen) in reads.into_iter().flat_map(Reads::requests).filter(|(it, _)| expected(it).is_none()) {
            sightings.add(request, seen);
        }
        sightings
    }

    fn add(&mut self, request: &'a Request, seen: Seen) {
        // A selector that cannot be parsed may select everything.
        let labels = request.labels.as_deref().and_then(|labels| LabelSelector::parse(labels).ok());
        let list = match (request.namespace.as_str(), request.name.as_str()) {
            ("", _) => &mut self.everywhere,
            (namespace, "") => self.in_namespace.entry(namespace).or_default(),
            key => self.of_name.entry(key).or_default(),
        };
        list.push(Sighting { who: Who::of_user(&request.user), request, seen, labels });
    }

    /// Returns the requests that concern an object.
    pub(crate) fn concerning<'s>(
        &'s self,
        namespace: &'s str,
        name: &'s str,
        labels: &'s Labels,
    ) -> impl Iterator<Item = &'s Sighting<'a>> {
        let lists = [Some(&self.everywhere), self.in_namespace.get(namespace), self.of_name.get(&(namespace, name))];
        lists.into_iter().flatten().flatten().filter(move |sighting| {
            let of = &sighting.request.name;
            (of.is_empty() || of == name) && sighting.labels.as_ref().is_none_or(|selector| selector.matches(labels))
        })
    }

    /// Returns who has sent requests.
    pub(crate) fn readers(&self) -> BTreeSet<&Who> {
        let of_some = self.in_namespace.values().chain(self.of_name.values()).flatten();
        self.everywhere.iter().chain(of_some).map(|it| &it.who).collect()
    }

    /// Returns the number of users that watch all Endpoints.
    pub(crate) fn watchers(&self) -> u64 {
        let requests = self.everywhere.iter();
        let watching = requests.filter(|it| it.request.verb == "watch" && it.request.name.is_empty());
        watching.map(|it| &it.who).collect::<BTreeSet<_>>().len() as u64
    }
}
