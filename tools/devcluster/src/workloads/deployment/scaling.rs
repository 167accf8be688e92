//! A change of the number of replicas, which is spread over the `ReplicaSet`s if a rollout is under way.

use std::cmp::Reverse;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, ReplicaSet};

use super::{
    limits::{Limits, is_rolling},
    revisions::{DESIRED_REPLICAS, MAX_REPLICAS, number_in, scale},
    sets::{Sets, available, created, replicas},
};

/// Returns whether the number of replicas of the Deployment has changed since its sets were scaled.
pub(super) fn is_scaled(sets: &Sets, limits: Limits) -> bool {
    let mut active = sets.all().filter(|set| replicas(set) > 0);
    active.any(|set| number_in(set, DESIRED_REPLICAS).is_some_and(|desired: i32| desired != limits.replicas))
}

/// Scales the sets to the number of replicas of the Deployment (Go: `scale`).
pub(super) fn spread(deployment: &Deployment, spec: &DeploymentSpec, sets: &mut Sets, limits: Limits) {
    let mut active: Vec<&mut ReplicaSet> = sets.all_mut().filter(|set| replicas(set) > 0).collect();
    if let [only] = active.as_mut_slice() {
        return scale(only, limits.replicas, limits);
    }
    if active.is_empty() {
        // The new set, or else the youngest.
        let youngest = sets.new.as_mut().or(sets.old.last_mut());
        return youngest.into_iter().for_each(|set| scale(set, limits.replicas, limits));
    }
    if sets.new.as_ref().is_some_and(|new| is_saturated(new, limits)) {
        for set in sets.old.iter_mut().filter(|set| replicas(set) > 0) {
            scale(set, 0, limits);
        }
    } else if is_rolling(spec) {
        let known = deployment.status.as_ref().and_then(|status| status.replicas).unwrap_or_default();
        spread_in_proportion(sets, limits, known);
    }
}

/// Returns whether the new set has all the replicas of the Deployment, available (Go: `IsSaturated`).
fn is_saturated(new: &ReplicaSet, limits: Limits) -> bool {
    [replicas(new), available(new)] == [limits.replicas; 2] && number_in(new, DESIRED_REPLICAS) == Some(limits.replicas)
}

/// Spreads the added or removed replicas over the active sets in proportion to their sizes. The largest set gets the
/// remainder. `known` is the number of Pods in the status of the Deployment.
fn spread_in_proportion(sets: &mut Sets, limits: Limits, known: i32) {
    let allowed = if limits.replicas > 0 { limits.most() } else { 0 };
    let difference = allowed - sets.desired();
    let mut active: Vec<&mut ReplicaSet> = sets.all_mut().filter(|set| replicas(set) > 0).collect();
    // Of equal ones, the youngest grows first and the oldest shrinks first.
    active.sort_by_key(|set| created(set));
    if difference >= 0 {
        active.reverse();
    }
    active.sort_by_key(|set| Reverse(replicas(set)));
    let mut spread = 0;
    let mut sizes = Vec::new();
    for set in &active {
        let share = share(set, limits, known, difference, spread);
        spread += share;
        sizes.push(replicas(set) + share);
    }
    if let Some(largest) = sizes.first_mut() {
        *largest = (*largest + difference - spread).max(0);
    }
    for (set, size) in active.into_iter().zip(sizes) {
        scale(set, size, limits);
    }
}

/// Returns the change of one set, not beyond what is left of the difference (Go: `GetReplicaSetProportion`).
fn share(set: &ReplicaSet, limits: Limits, known: i32, difference: i32, spread: i32) -> i32 {
    let left = difference - spread;
    let share = fraction(set, limits, known);
    if difference > 0 { share.clamp(0, left.max(0)) } else { share.clamp(left.min(0), 0) }
}

/// Returns the change that keeps the proportion of a set in the Deployment, rounded.
fn fraction(set: &ReplicaSet, limits: Limits, known: i32) -> i32 {
    let size = replicas(set);
    if limits.replicas == 0 {
        return -size;
    }
    let before = number_in(set, MAX_REPLICAS).filter(|it| *it > 0).unwrap_or(known);
    if before == 0 {
        return 0;
    }
    let (size, before) = (i64::from(size), i64::from(before));
    let scaled = size * i64::from(limits.most());
    // Half rounds up, as Go's `math.Round` of positive numbers.
    i32::try_from((2 * scaled + before) / (2 * before) - size).unwrap_or_default()
}
