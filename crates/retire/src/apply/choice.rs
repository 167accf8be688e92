//! Which objects of a plan are to be deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_wire::{Object as _, ObjectKey};

use super::Kept;
use crate::{ObjectState, Plan, PlannedObject, Verdict, WholeEndpoints};

/// Object to delete.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The object as it was read.
    pub object: Arc<WholeEndpoints>,
    /// Whether it is left over from a Service, as the plan says.
    pub is_left_over: bool,
}

/// Objects of a plan that are to be deleted, and those that stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Objects to delete.
    pub targets: Vec<Target>,
    /// Objects that stay, and why.
    pub kept: Vec<(ObjectKey, Kept)>,
}

/// Object that was read right before its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whether it has the UID and the resource version of the [`Target`].
    pub is_unchanged: bool,
    /// Its content beside what the endpoints controller would write; `None` if that is not known.
    pub state: Option<ObjectState>,
    /// Whether slices mirror it, or will do so.
    pub is_mirrored: bool,
}

/// Chooses the objects that are to be deleted: those that the plan calls safe and that nothing protects. With `accept_unknown`,
/// those with an unknown verdict, too.
///
/// `objects` are all managed objects of the namespaces of the plan, which must not be [stale](super::stale). Objects of the plan
/// that do not exist any more are ignored.
pub fn choose(plan: &Plan, objects: &[Arc<WholeEndpoints>], accept_unknown: bool) -> Choice {
    let existing: BTreeMap<ObjectKey, &Arc<WholeEndpoints>> = objects.iter().map(|it| (it.key(), it)).collect();
    let mut choice = Choice::default();
    for planned in &plan.objects {
        let key = ObjectKey::new(planned.namespace.as_str(), planned.name.as_str());
        let Some(object) = existing.get(&key) else { continue };
        match object.protected().or_else(|| forbidden(planned, accept_unknown)) {
            Some(kept) => choice.kept.push((key, kept)),
            None => choice
                .targets
                .push(Target { object: Arc::clone(object), is_left_over: planned.state == ObjectState::LeftOver }),
        }
    }
    choice
}

fn forbidden(planned: &PlannedObject, accept_unknown: bool) -> Option<Kept> {
    match (&planned.verdict, &planned.state) {
        (Verdict::NotSafe { because }, _) => Some(Kept::NotSafe(because.clone())),
        (_, ObjectState::Differs) => Some(Kept::Differs),
        (Verdict::Unknown { because, .. }, _) if !accept_unknown => Some(Kept::Unknown(because.clone())),
        _ => None,
    }
}

impl Found {
    /// Returns why the object is not to be deleted; `None` if it is.
    pub fn forbidden(&self) -> Option<Kept> {
        match self {
            Found { is_unchanged: false, .. } => Some(Kept::Changed),
            Found { state: None, .. } => Some(Kept::NotCompared),
            Found { state: Some(ObjectState::Differs), .. } => Some(Kept::Differs),
            Found { is_mirrored: true, .. } => Some(Kept::Mirrored),
            Found { state: Some(ObjectState::Current | ObjectState::LeftOver), .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::{plan, planned, read};

    fn not_safe() -> Verdict {
        Verdict::NotSafe { because: vec!["x reads it".to_owned()] }
    }

    fn unknown() -> Verdict {
        Verdict::Unknown { because: vec!["no audit log".to_owned()], needs: Vec::new() }
    }

    #[rstest]
    #[case::safe(Verdict::Safe, ObjectState::Current, false, None)]
    #[case::left_over(Verdict::Safe, ObjectState::LeftOver, false, None)]
    #[case::differs(Verdict::Safe, ObjectState::Differs, true, Some(Kept::Differs))]
    #[case::not_safe(not_safe(), ObjectState::Current, true, Some(Kept::NotSafe(vec!["x reads it".to_owned()])))]
    #[case::unknown(unknown(), ObjectState::Current, false, Some(Kept::Unknown(vec!["no audit log".to_owned()])))]
    #[case::accepted(unknown(), ObjectState::Current, true, None)]
    #[case::accepted_and_differs(unknown(), ObjectState::Differs, true, Some(Kept::Differs))]
    fn the_plan_decides(
        #[case] verdict: Verdict,
        #[case] state: ObjectState,
        #[case] accept_unknown: bool,
        #[case] expected: Option<Kept>,
    ) {
        let object = Arc::new(read("shop", "web"));
        let mut planned = planned(&object);
        (planned.verdict, planned.state) = (verdict, state);
        let Choice { targets, kept } = choose(&plan(vec![planned]), &[object], accept_unknown);
        assert_eq!(targets.len(), usize::from(expected.is_none()));
        assert_eq!(kept.into_iter().next().map(|(_, kept)| kept), expected);
    }

    #[test]
    fn what_is_protected_stays_whatever_the_plan_says() {
        let objects = [read("default", "kubernetes"), read("shop", "web")].map(Arc::new);
        let planned = objects.iter().map(|it| planned(it)).collect();
        let Choice { targets, kept } = choose(&plan(planned), &objects, true);
        let targets: Vec<_> = targets.iter().map(|it| it.object.key().to_string()).collect();
        assert_eq!(targets, ["shop/web"]);
        assert_eq!(kept, [(ObjectKey::new("default", "kubernetes"), Kept::OfApiServer)]);
    }

    #[rstest]
    #[case::current(true, Some(ObjectState::Current), false, None)]
    #[case::left_over(true, Some(ObjectState::LeftOver), false, None)]
    #[case::changed(false, Some(ObjectState::Current), false, Some(Kept::Changed))]
    #[case::differs(true, Some(ObjectState::Differs), false, Some(Kept::Differs))]
    #[case::unknown(true, None, false, Some(Kept::NotCompared))]
    #[case::mirrored(true, Some(ObjectState::LeftOver), true, Some(Kept::Mirrored))]
    #[case::current_and_mirrored(true, Some(ObjectState::Current), true, Some(Kept::Mirrored))]
    fn objects_are_checked_again(
        #[case] is_unchanged: bool,
        #[case] state: Option<ObjectState>,
        #[case] is_mirrored: bool,
        #[case] expected: Option<Kept>,
    ) {
        assert_eq!(Found { is_unchanged, state, is_mirrored }.forbidden(), expected);
    }
}
