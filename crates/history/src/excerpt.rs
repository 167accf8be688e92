//! A part of a history, as a history of its own.

use std::io;

use jiff::Timestamp;

use crate::archive::Archive;
use crate::change::{What, whole_milliseconds};
use crate::encoder::Encoder;
use crate::error::ReadError;
use crate::header::Header;
use crate::object::Recorded;
use crate::select::Select;

/// Maximum number of objects of an excerpt at any time, which are decoded in memory: about 1 KiB each.
const MAX_OBJECTS: usize = 20_000;

/// Why there is no excerpt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExcerptError {
    /// The history has no segment.
    #[error("the history has no records")]
    Empty,
    /// Nothing is known about the time.
    #[error("the history has no record of that time: it reaches from {from} to {to}")]
    Outside {
        /// Time of the first record.
        from: Timestamp,
        /// Time until which the history is known.
        to: Timestamp,
    },
    /// The excerpt is longer than the limit.
    #[error("the excerpt has more than {limit} bytes: choose a shorter time, a namespace, or a Service")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// No segment begins at the time: it may have been deleted meanwhile.
    #[error("no segment of the history begins at {started}")]
    NoSegment {
        /// The time.
        started: Timestamp,
    },
    /// The excerpt has more objects than are kept in memory.
    #[error("the excerpt has more than {limit} objects: choose a namespace, or a Service")]
    TooManyObjects {
        /// The limit.
        limit: usize,
    },
    /// The history cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// The excerpt cannot be compressed, for lack of memory.
    #[error("cannot compress the excerpt")]
    Pack(#[from] io::Error),
}

impl From<ReadError> for ExcerptError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::TooManyObjects { limit } => ExcerptError::TooManyObjects { limit },
            other => ExcerptError::Read(other),
        }
    }
}

impl Archive {
    /// Returns the state of the selected objects at the beginning of a time, and their changes until its end, as the
    /// bytes of a history. Of a time that reaches beyond the history, only the part within is returned. A gap that begins
    /// within the time is contained.
    ///
    /// # Errors
    ///
    /// [`ExcerptError`]; [`ExcerptError::TooLong`] for more than `limit` bytes, [`ExcerptError::TooManyObjects`] for more than
    /// 20,000 objects at once.
    pub fn excerpt(
        &mut self,
        select: Select,
        since: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<u8>, ExcerptError> {
        let from = self.headers().next().map(|header| header.started).ok_or(ExcerptError::Empty)?;
        let to = self.end()?.unwrap_or(from);
        // Times are often given in whole seconds.
        if until.as_second() < from.as_second() || since.as_second() > to.as_second() {
            return Err(ExcerptError::Outside { from, to });
        }
        let since = since.max(from).min(to);
        let mut replay = self.replay_bounded(select, since, MAX_OBJECTS)?;
        let header = replay.header().cloned().ok_or(ExcerptError::Empty)?;
        let mut out = Vec::new();
        let mut encoder = begin(&header, since, replay.objects(), &mut out)?;
        let (mut segment, mut began) = (replay.present(), since);
        while let Some(next) = replay.time_of_next()? {
            let (read, header) = replay.reads();
            if segment != Some(read) && header.started <= until {
                let header = header.clone();
                // Its recorder may be another one, or unable to read other kinds.
                segment = Some(read);
                encoder.end_segment(&mut out)?;
                let started = header.started.max(since);
                let continues = Some(whole_milliseconds(began));
                encoder = begin(&Header { continues, ..header }, started, replay.objects(), &mut out)?;
                began = started;
            }
            let Some(change) = replay.next_change()? else { break };
            let is_gap_within = matches!(&change.what, What::Gap(gap) if gap.since <= until);
            if next > until && !is_gap_within {
                break;
            }
            change.record(&mut encoder);
            if encoder.is_full() {
                encoder.flush(&mut out)?;
            }
            if out.len() > limit {
                return Err(ExcerptError::TooLong { limit });
            }
        }
        encoder.mark_time(until.min(to).max(since), &mut out)?;
        encoder.end_segment(&mut out)?;
        if out.len() > limit { Err(ExcerptError::TooLong { limit }) } else { Ok(out) }
    }
}

/// Begins a segment with a state.
fn begin<'a>(
    header: &Header,
    now: Timestamp,
    objects: impl Iterator<Item = &'a Recorded>,
    out: &mut Vec<u8>,
) -> io::Result<Encoder> {
    let mut encoder = Encoder::new(header.recorder.clone(), header.unknown.iter().copied())?;
    objects.for_each(|object| encoder.put(now, None, object.clone()));
    encoder.continue_segment(header.continues);
    encoder.begin_segment(now, out)?;
    Ok(encoder)
}
