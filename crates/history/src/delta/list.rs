//! Differences of lists: what is between the common beginning and the common end.

use std::sync::Arc;

use kube_endpoint_model::{Addresses, Labels, NamedPort, Text};

use super::Delta;
use crate::codec::{Input, Malformed, Output};

/// Number of new items up to which they are searched among those before.
const SEARCHED: usize = 8;
/// Largest number of items that is read, so that a few bytes of a damaged file claim no more than tens of MiB. An object of
/// 1.5 MiB, the limit of etcd, has fewer: an address in an Endpoints object takes 11 bytes.
const MAX_ITEMS: usize = 150_000;

/// Writes the length of the common beginning, how many items follow that are replaced, and by which others. One that was
/// anywhere in `before` or `beside` is written as its place there, plus one. Others follow a 0, as differences: the first ones
/// from those that they replace, each other one from the one before it, which is often alike.
pub(super) fn write<T: Delta + Default + PartialEq>(now: &[T], before: &[T], beside: &[T], out: &mut Output) {
    write_after(common_beginning(now, before), now, before, beside, out);
}

fn common_beginning<T: PartialEq>(now: &[T], before: &[T]) -> usize {
    now.iter().zip(before).take_while(|(now, before)| now == before).count()
}

fn write_after<T: Delta + Default + PartialEq>(start: usize, now: &[T], before: &[T], beside: &[T], out: &mut Output) {
    let (rest, replaced) = (&now[start..], &before[start..]);
    // Of lists with one other list in each, such as subsets, nothing is compared twice.
    let is_one = rest.len() == 1 && replaced.len() == 1;
    let common_end = || rest.iter().rev().zip(replaced.iter().rev()).take_while(|(now, before)| now == before).count();
    let end = if is_one { 0 } else { common_end() };
    let (rest, replaced) = (&rest[..rest.len() - end], &replaced[..replaced.len() - end]);
    for number in [start, replaced.len(), rest.len()] {
        out.number(number as u64);
    }
    let initial = T::default();
    for (at, item) in rest.iter().enumerate() {
        let is_other = |place: usize| at == 0 && place == start && start < before.len();
        let is_known = |(place, known): (usize, &T)| !is_other(place) && known == item;
        let search = || before.iter().chain(beside).enumerate().position(is_known);
        if let Some(known) = (rest.len() <= SEARCHED).then(search).flatten() {
            out.number(known as u64 + 1);
        } else {
            out.number(0);
            let like = replaced.get(at).or_else(|| rest.get(at.checked_sub(1)?)).unwrap_or(&initial);
            item.write(like, out);
        }
    }
}

pub(super) fn read<T: Delta + Default + Clone>(
    before: &[T],
    beside: &[T],
    input: &mut Input<'_>,
) -> Result<Vec<T>, Malformed> {
    let mut length = || input.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let (start, replaced) = (length()?, length()?);
    let rest = before.get(start..).ok_or(BEYOND)?;
    let (replaced, end) = rest.split_at_checked(replaced).ok_or(BEYOND)?;
    let count = input.count()?;
    let length = start + end.len() + count;
    if length > MAX_ITEMS {
        return Err(Malformed("a list has more items than an object can have"));
    }
    let mut now = Vec::with_capacity(length);
    now.extend_from_slice(&before[..start]);
    let initial = T::default();
    for at in 0..count {
        let item = if let Some(known) = input.number()?.checked_sub(1) {
            let known = usize::try_from(known).unwrap_or(usize::MAX);
            before.iter().chain(beside).nth(known).cloned().ok_or(BEYOND)?
        } else {
            let like = replaced.get(at).or_else(|| if at > 0 { now.last() } else { None }).unwrap_or(&initial);
            T::read(like, input)?
        };
        now.push(item);
    }
    now.extend_from_slice(end);
    Ok(now)
}

const BEYOND: Malformed = Malformed("a list keeps more than there was");

impl<T: Delta + Default + Clone + PartialEq> Delta for Vec<T> {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, &[], out);
    }

    fn write_if_different(&self, before: &Self, out: &mut Output) -> bool {
        let start = common_beginning(self, before);
        let differs = start < self.len().max(before.len());
        if differs {
            write_after(start, self, before, &[], out);
        }
        differs
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read(before, &[], input)
    }
}

impl Delta for Arc<[NamedPort]> {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, &[], out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read(before, &[], input).map(Arc::from)
    }
}

impl Delta for Addresses {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, &[], out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(read(before, &[], input)?.into_iter().collect())
    }
}

/// A pair of a map.
type Pair = (Text, Text);

impl Delta for Pair {
    fn write(&self, before: &Self, out: &mut Output) {
        self.0.write(&before.0, out);
        self.1.write(&before.1, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok((Text::read(&before.0, input)?, Text::read(&before.1, input)?))
    }
}

impl Delta for Labels {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self.pairs(), before.pairs(), &[], out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(read(before.pairs(), &[], input)?.into_iter().collect())
    }
}

/// Calls `pair` with each key and value of labels that were written whole, and allocates no text.
pub(crate) fn each_label(input: &mut Input<'_>, mut pair: impl FnMut(&[u8], &[u8])) -> Result<(), Malformed> {
    if (input.number()?, input.number()?) != (0, 0) {
        return Err(BEYOND);
    }
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for _ in 0..input.count()? {
        if input.number()? != 0 {
            return Err(BEYOND);
        }
        // As in `read`, a pair is like the one before it.
        for text in [&mut key, &mut value] {
            let common = usize::try_from(input.number()?).unwrap_or(usize::MAX);
            if common > text.len() {
                return Err(BEYOND);
            }
            text.truncate(common);
            text.extend_from_slice(input.bytes()?);
        }
        pair(&key, &value);
    }
    Ok(())
}
