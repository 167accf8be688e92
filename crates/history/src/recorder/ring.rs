//! Segments in memory.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::rotation::Rotation;
use super::store::{SegmentLimits, Space, Store, WriteState};
use crate::{Archive, ReadError};

/// What is reserved at once for a present segment that is longer than expected, in bytes.
const GROWTH: usize = 64 << 10;

/// Segments in memory, of which the oldest are dropped: before they have more bytes than the limit, and once everything in them
/// is too old. Clones share the segments.
#[derive(Clone, Debug)]
pub struct Ring(Arc<Mutex<Segments>>);

#[derive(Debug)]
struct Segments {
    rotation: Rotation,
    /// The segments of `rotation` but the last one.
    complete: VecDeque<Arc<[u8]>>,
    /// The last one; `None` before the first.
    present: Option<Vec<u8>>,
}

impl Ring {
    /// Returns a ring for at most `limit` bytes that are at most as old as `max_age`, up to a segment.
    pub fn new(limit: u64, max_age: SignedDuration) -> Ring {
        let rotation = Rotation::new(limit, max_age);
        Ring(Arc::new(Mutex::new(Segments { rotation, complete: VecDeque::new(), present: None })))
    }

    /// Returns the segments. Complete ones are shared; the present one is copied.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the decompressor gets no memory.
    pub fn archive(&self) -> Result<Archive, ReadError> {
        let segments = self.segments();
        let present = segments.present.as_deref().map(Arc::from);
        let buffers: Vec<Arc<[u8]>> = segments.complete.iter().cloned().chain(present).collect();
        drop(segments);
        Archive::from_buffers(buffers)
    }

    fn segments(&self) -> MutexGuard<'_, Segments> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Segments {
    fn remove(&mut self, count: usize) {
        for _ in 0..count {
            if self.complete.pop_front().is_none() {
                self.present = None;
            }
            self.rotation.pop();
        }
    }
}

impl Store for Ring {
    fn begin(&mut self, started: Timestamp, bytes: u64, write: WriteState<'_>) -> io::Result<()> {
        let mut segments = self.segments();
        let count = segments.rotation.before_push(bytes)?;
        segments.remove(count);
        // What it will grow to, with its index: a system gives memory when it is written to, and a buffer that is moved leaves a hole.
        let length = segments.rotation.segment_limits(bytes).length.max(bytes).saturating_mul(17) / 16;
        drop(segments);
        // Readers do not wait for it.
        let mut present = Vec::with_capacity(usize::try_from(length).map_err(io::Error::other)?);
        write(&mut present)?;
        let mut segments = self.segments();
        // Without the capacity that a growing buffer has in reserve.
        let complete = segments.present.replace(present).map(Arc::from);
        segments.complete.extend(complete);
        segments.rotation.push(started, bytes);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut segments, length) = (self.segments(), bytes.len() as u64);
        let count = segments.rotation.before_growth(length)?;
        segments.remove(count);
        let present = segments.present.as_mut().ok_or_else(|| io::Error::other("no segment has begun"))?;
        if present.capacity() - present.len() < bytes.len() {
            present.reserve_exact(bytes.len().max(GROWTH));
        }
        present.extend_from_slice(bytes);
        segments.rotation.grow(length);
        Ok(())
    }

    fn sync(&mut self, now: Timestamp) -> io::Result<()> {
        let mut segments = self.segments();
        let count = segments.rotation.too_old(now);
        segments.remove(count);
        Ok(())
    }

    fn space(&self) -> Space {
        self.segments().rotation.space()
    }

    fn segment_limits(&self, state: u64) -> SegmentLimits {
        self.segments().rotation.segment_limits(state)
    }
}
