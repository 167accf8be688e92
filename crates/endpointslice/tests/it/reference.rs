//! Literal implementation of upstream's phases (RC-6, RC-15, RC-16, RC-18 to RC-21, RC-24, RC-25, RC-41) that only
//! counts writes.

use std::collections::BTreeMap;

/// Slice with its port (0 for none), and its endpoints by number with their readiness.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) port: i32,
    pub(crate) owned: bool,
    pub(crate) right_labels: bool,
    pub(crate) endpoints: BTreeMap<usize, bool>,
}

/// Desired endpoints by port and number, with their readiness.
pub(crate) type Desired = BTreeMap<i32, BTreeMap<usize, bool>>;

/// Returns the minimum number of writes of upstream over all orders of its maps and lists.
pub(crate) fn fewest_writes(existing: &[Slice], desired: &Desired, max: usize) -> usize {
    let mut fewest = usize::MAX;
    permute(&mut existing.iter().collect(), 0, &mut |order| fewest = fewest.min(writes(order, desired, max)));
    fewest
}

fn permute<'a>(slices: &mut Vec<&'a Slice>, from: usize, visit: &mut impl FnMut(&[&'a Slice])) {
    if from == slices.len() {
        visit(slices);
    }
    for at in from..slices.len() {
        slices.swap(from, at);
        permute(slices, from + 1, visit);
        slices.swap(from, at);
    }
}

fn writes(existing: &[&Slice], desired: &Desired, max: usize) -> usize {
    let (mut create, mut update) = (0, 0);
    let foreign = existing.iter().filter(|slice| !slice.owned).count();
    let mut deleted: Vec<&Slice> = Vec::new();
    for (port, endpoints) in desired {
        let mut left = endpoints.clone();
        let (mut updated, mut unchanged) = (Vec::new(), Vec::new());
        for slice in existing.iter().filter(|slice| slice.owned && slice.port == *port) {
            let kept: Vec<bool> =
                slice.endpoints.iter().filter_map(|(number, ready)| Some(left.remove(number)? == *ready)).collect();
            if kept.len() < slice.endpoints.len() || kept.contains(&false) {
                if kept.is_empty() { deleted.push(slice) } else { updated.push(kept.len()) }
            } else if slice.right_labels {
                unchanged.push(kept.len());
            } else {
                updated.push(kept.len());
            }
        }
        let mut left = left.len();
        updated.sort_unstable();
        for size in updated.iter().rev() {
            left -= left.min(max.saturating_sub(*size));
        }
        update += updated.len();
        while left > 0 {
            let fitting = unchanged.iter().enumerate().filter(|(_, size)| *size + left <= max);
            match fitting.max_by_key(|(_, size)| **size).map(|(at, _)| at) {
                Some(at) if left < max => {
                    unchanged.remove(at);
                    update += 1;
                    left = 0;
                }
                _ => {
                    create += 1;
                    left -= left.min(max);
                }
            }
        }
    }
    deleted.extend(existing.iter().filter(|slice| slice.owned && !desired.contains_key(&slice.port)));

    let mut delete = deleted.len() + foreign;
    if existing.len() == delete && create == 0 {
        let is_placeholder = |slice: &&Slice| slice.port == 0 && slice.endpoints.is_empty() && slice.right_labels;
        if delete == 1 && existing.iter().copied().any(|slice| is_placeholder(&slice)) {
            delete = 0;
            deleted.clear();
        } else {
            create += 1;
        }
    }
    let recycled = create.min(deleted.len());
    create + update + delete - recycled
}
