//! Pods that have other labels after a gap.

use std::collections::HashSet;

use super::{Replay, State};
use crate::error::ReadError;
use crate::group::GroupRef;
use crate::object::{Kind, Recorded};
use crate::select::Select;

impl Replay<'_> {
    /// Adds the Pods to the state at the beginning of a segment that the Service has selected until the gap before it,
    /// and that exist with other labels. The segment has them among those of the namespace.
    pub(super) fn add_relabelled(&mut self, segment: usize, state: &mut State) -> Result<(), ReadError> {
        let Select::Service(service) = &self.select else { return Ok(()) };
        let pods = self.objects.keys().filter(|(kind, _)| *kind == Kind::Pod);
        let gone: HashSet<_> = pods.filter(|key| !state.contains_key(*key)).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let lookup = self.archive.lookup(segment, Some(&Select::Namespace(service.namespace.clone())))?;
        let frames = lookup.frames_of(|group| matches!(group, GroupRef::Pods(..)));
        for frame in frames.into_iter().filter(|frame| frame.is_state) {
            let read = self.archive.read_frame(segment, frame, |mut record| {
                let object = Recorded::read(&mut record.body)?;
                let key = (object.kind(), object.key());
                if gone.contains(&key) {
                    state.insert(key, object);
                }
                Ok(())
            });
            match read {
                // The Service does not need the others of this frame.
                Err(ReadError::Damaged { .. }) => {}
                read => drop(read?),
            }
        }
        Ok(())
    }
}
