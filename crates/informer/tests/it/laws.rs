//! Property tests: after any history, store, index and the events of the handlers agree.

use std::collections::BTreeMap;

use kube_informer::{Informer, ManualSource, NamedIndexes};
use kube_wire::Object as _;
use proptest::prelude::*;

use crate::{replay::Replay, thing::Thing};

type Things = NamedIndexes<Thing>;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const GROUPS: [&str; 3] = ["x", "y", "z"];

/// One step of a random history. Indexes are into `NAMES` and `GROUPS`.
#[derive(Debug, Clone)]
enum Step {
    Apply(usize, usize),
    /// Repeats the last event of this name.
    Repeat(usize),
    Delete(usize),
    /// A list after missed watch events: these names were deleted, these changed.
    Relist {
        deleted: Vec<usize>,
        changed: Vec<(usize, usize)>,
    },
    AddHandler,
    Deliver,
}

fn step() -> impl Strategy<Value = Step> {
    let (name, group) = (0..NAMES.len(), 0..GROUPS.len());
    prop_oneof![
        4 => (name.clone(), group.clone()).prop_map(|(name, group)| Step::Apply(name, group)),
        1 => name.clone().prop_map(Step::Repeat),
        2 => name.clone().prop_map(Step::Delete),
        1 => (prop::collection::vec(name.clone(), 0..3), prop::collection::vec((name, group), 0..3))
            .prop_map(|(deleted, changed)| Step::Relist { deleted, changed }),
        1 => Just(Step::AddHandler),
        2 => Just(Step::Deliver),
    ]
}

/// Expected state.
#[derive(Default)]
struct Cluster {
    objects: BTreeMap<String, Thing>,
    last: BTreeMap<String, Thing>,
    version: u64,
}

impl Cluster {
    fn apply(&mut self, name: usize, group: usize) -> Thing {
        self.version += 1;
        let thing = Thing::new(NAMES[name], self.version, GROUPS[group]);
        self.objects.insert(NAMES[name].to_owned(), thing.clone());
        self.last.insert(NAMES[name].to_owned(), thing.clone());
        thing
    }

    fn delete(&mut self, name: usize) -> Option<Thing> {
        let mut thing = self.objects.remove(NAMES[name])?;
        self.version += 1;
        thing.metadata.resource_version = self.version.into();
        Some(thing)
    }
}

fn check(informer: &Informer<Thing, Things>, cluster: &Cluster) {
    informer.lister().read(|objects, index| {
        let stored: Vec<_> = objects.iter().map(|it| (**it).clone()).collect();
        assert_eq!(stored, cluster.objects.values().cloned().collect::<Vec<_>>());
        assert_eq!(objects.len(), stored.len());
        for group in GROUPS {
            let expect: Vec<_> = stored.iter().filter(|it| it.group() == [group]).map(Thing::text).collect();
            let found: Vec<_> = index.bucket("group", group).map(|it| it.text()).collect();
            assert_eq!(found, expect, "index of group {group}");
        }
    });
}

proptest! {
    #[test]
    fn store_index_and_handlers_agree(steps in prop::collection::vec(step(), 1..60)) {
        let index = Things::new().with("group", Thing::group);
        let (informer, source) = ManualSource::with_index(index);
        let mut cluster = Cluster::default();
        let mut replays = vec![Replay::of(&informer)];
        source.replace([], "0");
        for step in steps {
            match step {
                Step::Apply(name, group) => source.apply(cluster.apply(name, group)),
                Step::Repeat(name) => {
                    if let Some(thing) = cluster.objects.get(NAMES[name]) {
                        source.apply(thing.clone());
                    }
                }
                Step::Delete(name) => {
                    if let Some(last) = cluster.delete(name) {
                        source.delete(last.clone());
                        source.delete(last);
                    }
                }
                Step::Relist { deleted, changed } => {
                    for name in deleted {
                        cluster.delete(name);
                    }
                    for (name, group) in changed {
                        cluster.apply(name, group);
                    }
                    source.replace(cluster.objects.values().cloned(), cluster.version);
                }
                Step::AddHandler => replays.push(Replay::of(&informer)),
                Step::Deliver => drop(source.deliver()),
            }
            check(&informer, &cluster);
        }
        source.deliver();
        for replay in replays {
            prop_assert_eq!(replay.things(), cluster.objects.values().cloned().collect::<Vec<_>>());
        }
        prop_assert!(informer.lister().list().iter().all(|it| informer.lister().get("shop", &it.key().name).is_some()));
    }
}

/// Generates names and versions of one list: some of 700 things, of which a random share is unchanged.
fn list() -> impl Strategy<Value = BTreeMap<u32, u64>> {
    let sizes = prop_oneof![Just(0_usize), 1..20_usize, 200..300_usize, 600..700_usize];
    (sizes, 1..1000_u64, 0..1000_u32).prop_map(|(size, churn, start)| {
        let names = (0..700_u32).map(|n| (n * 7 + start) % 700).take(size);
        names.map(|n| (n, u64::from(n) % churn + 1)).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    // Up to 256 differences are applied in place, more to a copy. The result must be the same.
    #[test]
    fn a_relist_of_any_size_is_exact(lists in prop::collection::vec(list(), 2..6)) {
        let index = Things::new().with("group", Thing::group);
        let (informer, source) = ManualSource::with_index(index);
        let replay = Replay::of(&informer);
        for (round, list) in lists.into_iter().enumerate() {
            let thing = |(n, version): (&u32, &u64)| Thing::new(&format!("{n:03}"), *version, GROUPS[usize::try_from(*version).unwrap() % 3]);
            // Of several objects of one name, the last is stored, in any order of names.
            let stale = list.keys().take(3).map(|n| Thing::new(&format!("{n:03}"), 0, "stale"));
            let things: Vec<_> = stale.chain(list.iter().rev().map(thing)).collect();
            source.replace(things, round.to_string());
            source.deliver();
            let objects = list.iter().map(thing).map(|it| (it.metadata.name.to_string(), it)).collect();
            check(&informer, &Cluster { objects, ..Cluster::default() });
            prop_assert_eq!(replay.things(), list.iter().map(thing).collect::<Vec<_>>());
        }
    }
}
