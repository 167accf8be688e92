//! What the admission plugins of a real server set in Pods by default: `Priority` and `DefaultTolerationSeconds`.

use k8s_openapi::api::core::v1::{PodSpec, Toleration};

/// Seconds for which a Pod stays on a Node that is not ready or not reachable.
const TOLERATION_SECONDS: i64 = 300;
/// Conditions of a Node that a Pod tolerates for that time.
const CONDITIONS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/// The priority classes that every cluster has.
const CLASSES: [(&str, i32); 2] = [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Sets priority, preemption policy and tolerations of a new Pod. Since `PriorityClass` is not served, a Pod of a class that not
/// every cluster has keeps what it has.
pub(super) fn apply(spec: &mut PodSpec) {
    let class = spec.priority_class_name.as_deref().unwrap_or_default();
    let priority = match class {
        "" => Some(0),
        class => CLASSES.iter().find(|(name, _)| *name == class).map(|(_, priority)| *priority),
    };
    if let Some(priority) = priority {
        spec.priority.get_or_insert(priority);
        spec.preemption_policy.get_or_insert_with(|| "PreemptLowerPriority".to_owned());
    }
    add_tolerations(spec);
}

/// Adds the tolerations for a Node that is not ready or not reachable, which an update that replaces the list leaves out.
pub(super) fn add_tolerations(spec: &mut PodSpec) {
    for condition in CONDITIONS {
        if !spec.tolerations.iter().flatten().any(|it| tolerates(it, condition)) {
            spec.tolerations.get_or_insert_default().push(Toleration {
                key: Some(condition.to_owned()),
                operator: Some("Exists".to_owned()),
                effect: Some("NoExecute".to_owned()),
                toleration_seconds: Some(TOLERATION_SECONDS),
                ..Toleration::default()
            });
        }
    }
}

/// Returns `true` if a toleration concerns the condition; one without key or effect concerns all.
fn tolerates(toleration: &Toleration, condition: &str) -> bool {
    let key = toleration.key.as_deref().unwrap_or_default();
    let effect = toleration.effect.as_deref().unwrap_or_default();
    matches!(effect, "" | "NoExecute") && (key.is_empty() || key == condition)
}

/// Returns `true` if an update only adds tolerations, or changes their time, as upstream's `validateOnlyAddedTolerations`.
pub(super) fn keeps_tolerations(new: &PodSpec, old: &PodSpec) -> bool {
    let untimed = |it: &Toleration| Toleration { toleration_seconds: None, ..it.clone() };
    old.tolerations.iter().flatten().all(|old| new.tolerations.iter().flatten().any(|new| untimed(new) == untimed(old)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn admitted(spec: &str) -> PodSpec {
        let mut spec = serde_json::from_str(spec).unwrap();
        apply(&mut spec);
        spec
    }

    #[rstest]
    #[case::none("{}", Some(0), Some("PreemptLowerPriority"))]
    #[case::class(
        r#"{"priorityClassName": "system-node-critical"}"#,
        Some(2_000_001_000),
        Some("PreemptLowerPriority")
    )]
    #[case::unknown_class(r#"{"priorityClassName": "gold"}"#, None, None)]
    #[case::given(r#"{"priority": 7, "preemptionPolicy": "Never"}"#, Some(7), Some("Never"))]
    fn priorities(#[case] spec: &str, #[case] priority: Option<i32>, #[case] policy: Option<&str>) {
        let spec = admitted(spec);
        assert_eq!((spec.priority, spec.preemption_policy.as_deref()), (priority, policy));
    }

    #[rstest]
    #[case::none("{}", 2)]
    #[case::everything(r#"{"tolerations": [{"operator": "Exists"}]}"#, 1)]
    #[case::other_effect(r#"{"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}"#, 3)]
    #[case::one_of_them(r#"{"tolerations": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}"#, 2)]
    fn tolerations(#[case] spec: &str, #[case] count: usize) {
        assert_eq!(admitted(spec).tolerations.unwrap().len(), count);
    }
}
