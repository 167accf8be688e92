//! Differences of lists: what is between the common beginning and the common end.

use std::sync::Arc;

use kube_endpoint_model::{Addresses, Labels, NamedPort, Text};

use super::{Delta, scalars::Initial};
use crate::codec::{Input, Malformed, Output};

/// Writes the lengths of the common beginning and end, the number of items between them, and these. The first are compared
/// with those that they replace, each other one with the one before it, which is often alike.
fn write<T: Delta + Initial + PartialEq>(now: &[T], before: &[T], out: &mut Output) {
    let start = now.iter().zip(before).take_while(|(now, before)| now == before).count();
    let (now, before) = (&now[start..], &before[start..]);
    let end = now.iter().rev().zip(before.iter().rev()).take_while(|(now, before)| now == before).count();
    let (now, replaced) = (&now[..now.len() - end], &before[..before.len() - end]);
    for number in [start, end, now.len()] {
        out.number(number as u64);
    }
    let initial = T::initial();
    for (at, item) in now.iter().enumerate() {
        let like = replaced.get(at).or_else(|| now.get(at.checked_sub(1)?)).unwrap_or(&initial);
        item.write(like, out);
    }
}

fn read<T: Delta + Initial + Clone>(before: &[T], input: &mut Input<'_>) -> Result<Vec<T>, Malformed> {
    let mut length = || input.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let (start, end) = (length()?, length()?);
    let rest = before.get(start..).ok_or(BEYOND)?;
    let replaced = rest.len().checked_sub(end).map(|length| &rest[..length]).ok_or(BEYOND)?;
    let count = input.count()?;
    let mut now = before[..start].to_vec();
    let initial = T::initial();
    for at in 0..count {
        let like = replaced.get(at).or_else(|| if at > 0 { now.last() } else { None }).unwrap_or(&initial);
        let item = T::read(like, input)?;
        now.push(item);
    }
    now.extend_from_slice(&before[before.len() - end..]);
    Ok(now)
}

const BEYOND: Malformed = Malformed("a list keeps more than there was");

impl<T: Delta + Initial + Clone + PartialEq> Delta for Vec<T> {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read(before, input)
    }
}

impl<T> Initial for Vec<T> {
    fn initial() -> Self {
        Vec::new()
    }
}

impl Delta for Arc<[NamedPort]> {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read(before, input).map(Arc::from)
    }
}

impl Delta for Addresses {
    fn write(&self, before: &Self, out: &mut Output) {
        write(self, before, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(read(before, input)?.into_iter().collect())
    }
}

impl Initial for Addresses {
    fn initial() -> Self {
        Self::default()
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

impl Initial for Pair {
    fn initial() -> Self {
        Self::default()
    }
}

impl Delta for Labels {
    fn write(&self, before: &Self, out: &mut Output) {
        write(&pairs(self), &pairs(before), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(read(&pairs(before), input)?.into_iter().collect())
    }
}

impl Initial for Labels {
    fn initial() -> Self {
        Self::default()
    }
}

fn pairs(labels: &Labels) -> Vec<Pair> {
    labels.iter().map(|(key, value)| (key.into(), value.into())).collect()
}
