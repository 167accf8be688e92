//! Whether a plan still describes the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_wire::{Object as _, ObjectKey};

use crate::{API_VERSION, Backup, Plan, WholeEndpoints};

/// Difference between two clocks that does not count.
const CLOCKS: SignedDuration = SignedDuration::from_mins(1);

/// The cluster as it is now.
#[derive(Clone, Copy, Debug)]
pub struct Present<'a> {
    /// Time.
    pub now: Timestamp,
    /// UID of the namespace `kube-system`; `None` if it or that of the plan is not known, so that they are not compared.
    pub cluster: Option<&'a str>,
    /// All managed Endpoints in the namespaces of the plan.
    pub objects: &'a [Arc<WholeEndpoints>],
    /// Backup of an earlier run, whose objects may have been deleted.
    pub backup: Option<&'a Backup>,
}

/// Difference between a plan and the cluster, for which nothing is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stale {
    /// The plan has another format than `retire/v1`.
    Format(String),
    /// The plan is about another cluster.
    OtherCluster,
    /// The plan is older than the limit.
    Old(SignedDuration),
    /// The plan was made at a later time than now.
    Future(Timestamp),
    /// The plan names the object twice.
    Twice(ObjectKey),
    /// The object was deleted.
    Gone(ObjectKey),
    /// The object was deleted and created again.
    Recreated(ObjectKey),
    /// The object was written.
    Written(ObjectKey),
    /// The object is managed, and the plan does not know it.
    Unplanned(ObjectKey),
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stale::Format(format) => write!(f, "the plan has the format {format:?}, and not {API_VERSION:?}"),
            Stale::OtherCluster => f.write_str("the plan is about another cluster"),
            Stale::Old(age) => write!(f, "the plan was made {} minutes ago", age.as_mins()),
            Stale::Future(created) => write!(f, "the plan was made in the future, at {created}: a clock is wrong"),
            Stale::Twice(key) => write!(f, "{key} is in the plan twice"),
            Stale::Gone(key) => write!(f, "{key} was deleted"),
            Stale::Recreated(key) => write!(f, "{key} was deleted and created again"),
            Stale::Written(key) => write!(f, "{key} was written"),
            Stale::Unplanned(key) => write!(f, "{key} is new"),
        }
    }
}

/// Returns the differences between a plan and the cluster, those of objects by namespace and name; none if the plan can be applied.
///
/// An object of the plan that does not exist counts as deleted by an earlier run if the backup has it.
pub fn stale(plan: &Plan, max_age: SignedDuration, present: &Present<'_>) -> Vec<Stale> {
    let Present { now, cluster, objects, backup } = *present;
    let mut found = Vec::new();
    if plan.api_version != API_VERSION {
        found.push(Stale::Format(plan.api_version.clone()));
    }
    if cluster.is_some_and(|uid| uid != plan.cluster.uid) {
        found.push(Stale::OtherCluster);
    }
    let age = now.duration_since(plan.created);
    if age > max_age {
        found.push(Stale::Old(age));
    } else if age < -CLOCKS {
        found.push(Stale::Future(plan.created));
    }
    let mut existing: BTreeMap<ObjectKey, &WholeEndpoints> = objects.iter().map(|it| (it.key(), &**it)).collect();
    let mut differences = BTreeMap::new();
    let mut planned_keys = BTreeSet::new();
    for planned in &plan.objects {
        let key = ObjectKey::new(planned.namespace.as_str(), planned.name.as_str());
        let is_first = planned_keys.insert(key.clone());
        let difference: Option<fn(ObjectKey) -> Stale> = match existing.remove(&key) {
            _ if !is_first => Some(Stale::Twice),
            Some(object) if object.uid() != *planned.uid => Some(Stale::Recreated),
            Some(object) if object.resource_version() != *planned.resource_version => Some(Stale::Written),
            Some(_) => None,
            None if backup.is_some_and(|it| it.has(&key, &planned.uid)) => None,
            None => Some(Stale::Gone),
        };
        if let Some(difference) = difference {
            differences.insert(key.clone(), difference(key));
        }
    }
    differences.extend(existing.into_keys().map(|key| (key.clone(), Stale::Unplanned(key))));
    found.extend(differences.into_values());
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::{PLANNED, plan, planned, read};

    const DAY: SignedDuration = SignedDuration::from_hours(24);

    /// Returns the differences of a plan of `shop/api` and `shop/web`, one minute after it was made.
    fn differences(
        change_plan: impl FnOnce(&mut Plan),
        change_objects: impl FnOnce(&mut Vec<Arc<WholeEndpoints>>),
        backup: Option<&Backup>,
    ) -> Vec<String> {
        let mut objects = vec![Arc::new(read("shop", "api")), Arc::new(read("shop", "web"))];
        let mut plan = plan(objects.iter().map(|it| planned(it)).collect());
        change_plan(&mut plan);
        change_objects(&mut objects);
        let now = PLANNED + SignedDuration::from_mins(1);
        let present = Present { now, cluster: Some("cluster"), objects: &objects, backup };
        stale(&plan, DAY, &present).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_plan_of_the_same_cluster_is_not_stale() {
        assert_eq!(differences(|_| (), |_| (), None), [""; 0]);
    }

    #[rstest]
    #[case::format(|plan: &mut Plan| plan.api_version = "retire/v2".to_owned(), "the plan has the format \"retire/v2\", and not \"retire/v1\"")]
    #[case::cluster(|plan: &mut Plan| plan.cluster.uid = "other".to_owned(), "the plan is about another cluster")]
    #[case::old(|plan: &mut Plan| plan.created = PLANNED - DAY, "the plan was made 1441 minutes ago")]
    #[case::future(|plan: &mut Plan| plan.created = PLANNED + DAY, "the plan was made in the future, at 2026-11-28T14:00:00Z: a clock is wrong")]
    #[case::uid(|plan: &mut Plan| plan.objects[1].uid = "other".to_owned(), "shop/web was deleted and created again")]
    #[case::version(|plan: &mut Plan| plan.objects[1].resource_version = "1".to_owned(), "shop/web was written")]
    #[case::unplanned(|plan: &mut Plan| drop(plan.objects.remove(0)), "shop/api is new")]
    #[case::twice(|plan: &mut Plan| plan.objects.push(plan.objects[0].clone()), "shop/api is in the plan twice")]
    fn each_difference_is_found(#[case] change: fn(&mut Plan), #[case] expected: &str) {
        assert_eq!(differences(change, |_| (), None), [expected]);
    }

    #[test]
    fn a_deleted_object_is_a_difference_unless_the_backup_has_it() {
        let remove = |objects: &mut Vec<Arc<WholeEndpoints>>| drop(objects.remove(0));
        assert_eq!(differences(|_| (), remove, None), ["shop/api was deleted"]);
        let mut backup = Backup::new("cluster");
        backup.add(read("shop", "web"));
        assert_eq!(differences(|_| (), remove, Some(&backup)), ["shop/api was deleted"]);
        backup.add(read("shop", "api"));
        assert_eq!(differences(|_| (), remove, Some(&backup)), [""; 0]);
        // Of another object of that name.
        let recreate = |plan: &mut Plan| plan.objects[0].uid = "other".to_owned();
        assert_eq!(differences(recreate, remove, Some(&backup)), ["shop/api was deleted"]);
    }

    #[test]
    fn a_cluster_that_may_not_be_read_is_not_compared() {
        let mut plan = plan(Vec::new());
        plan.cluster.uid = "other".to_owned();
        let present = Present { now: PLANNED, cluster: None, objects: &[], backup: None };
        assert_eq!(stale(&plan, DAY, &present), []);
    }
}
