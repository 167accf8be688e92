//! The records of a frame, one after the other.

use jiff::Timestamp;

use crate::change::{Context, Record};
use crate::codec::{Input, Malformed};
use crate::frame::FrameKind;

/// Reads the records of a frame. Only the content of the frame and one record are in memory: a frame can have thousands of
/// changes of a large slice.
pub(crate) struct Records {
    pub(crate) kind: FrameKind,
    content: Vec<u8>,
    position: usize,
    context: Context,
}

impl Records {
    /// Returns the records in the content of a frame. A part of an index, whose trailer was cut off, has none.
    pub(crate) fn new(content: Vec<u8>) -> Result<Records, Malformed> {
        let mut input = Input::new(&content);
        let kind = FrameKind::of(input.byte()?).ok_or(Malformed("unknown kind of frame"))?;
        let (mut context, mut position) = (Context::default(), content.len());
        if kind != FrameKind::Index {
            context = Context::read(&mut input)?;
            position -= input.len();
        }
        Ok(Records { kind, content, position, context })
    }

    /// Returns the time of the last record that was read, or of the beginning of the frame; `None` for a part of an index.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        (self.kind != FrameKind::Index).then(|| self.context.seen())
    }

    /// Returns the content of the frame.
    pub(crate) fn into_content(self) -> Vec<u8> {
        self.content
    }

    /// Returns the next record; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, Malformed> {
        let mut input = Input::new(&self.content[self.position..]);
        if input.is_empty() {
            return Ok(None);
        }
        let record = self.context.read_record(&mut input)?;
        self.position = self.content.len() - input.len();
        Ok(Some(record))
    }
}
