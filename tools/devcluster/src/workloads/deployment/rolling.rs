//! The rolling update: the new `ReplicaSet` grows and the old ones shrink, within the limits.

use super::{
    limits::Limits,
    sets::{Sets, available, replicas, scale},
};

/// Scales the new set towards the number of replicas of the Deployment. Returns whether its size changed (Go:
/// `reconcileNewReplicaSet`).
pub(super) fn scale_new(sets: &mut Sets, limits: Limits) -> bool {
    let to = new_size(sets, limits);
    match &mut sets.new {
        Some(new) if replicas(new) != to => scale(new, to),
        _ => return false,
    }
    true
}

/// Returns the next size of the new set (Go: `NewRSNewReplicas`).
fn new_size(sets: &Sets, limits: Limits) -> i32 {
    let current = sets.new.as_ref().map(replicas).unwrap_or_default();
    if current >= limits.replicas {
        return limits.replicas;
    }
    let room = (limits.most() - sets.desired()).max(0);
    current + room.min(limits.replicas - current)
}

/// Shrinks the old sets as far as enough Pods stay available: first by those of their Pods that are not available (Go:
/// `reconcileOldReplicaSets`).
pub(super) fn scale_old(sets: &mut Sets, limits: Limits) {
    let (new_size, new_available) = sets.new.as_ref().map(|new| (replicas(new), available(new))).unwrap_or_default();
    let mut removable = sets.desired() - limits.least_available() - (new_size - new_available);
    if removable <= 0 {
        return;
    }
    for set in &mut sets.old {
        let unavailable = replicas(set) - available(set);
        let removed = unavailable.min(removable);
        if removed > 0 {
            removable -= removed;
            scale(set, replicas(set) - removed);
        }
    }
    let mut removable = sets.available() - limits.least_available();
    for set in &mut sets.old {
        let removed = replicas(set).min(removable);
        if removed > 0 {
            removable -= removed;
            scale(set, replicas(set) - removed);
        }
    }
}
