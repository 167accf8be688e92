//! Order of the items of a merged list.

/// Returns the items of a merged list in upstream's order: patched items in the order of the patch (or of its
/// `$setElementOrder`), interleaved with the other items, which keep their relative order.
///
/// `index_in_patch` returns the index of an item in the patch, `index_before` its index in the original list.
pub(super) fn interleave<T>(
    merged: Vec<T>,
    index_in_patch: impl Fn(&T) -> Option<usize>,
    index_before: impl Fn(&T) -> Option<usize>,
) -> Vec<T> {
    let (mut patched, mut others): (Vec<T>, Vec<T>) =
        merged.into_iter().partition(|item| index_in_patch(item).is_some());
    patched.sort_by_key(|item| index_in_patch(item));
    others.sort_by_key(|item| index_before(item));

    let mut ordered = Vec::with_capacity(patched.len() + others.len());
    let (mut patched, mut others) = (patched.into_iter().peekable(), others.into_iter().peekable());
    loop {
        let other_first = match (others.peek(), patched.peek()) {
            (None, None) => return ordered,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(other), Some(patched)) => {
                matches!((index_before(other), index_before(patched)), (Some(other), Some(patched)) if other < patched)
            }
        };
        ordered.extend(if other_first { others.next() } else { patched.next() });
    }
}
