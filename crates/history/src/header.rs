//! The first frame of a segment.

use jiff::Timestamp;
use kube_endpoint_model::Text;

use crate::codec::{Input, Malformed, Output};
use crate::delta::Delta;
use crate::frame::FrameKind;
use crate::object::{KINDS, Kind, number_of};

/// Version of the format. A reader refuses files with a higher one.
pub const FORMAT: u64 = 1;

const SIGNATURE: &[u8] = b"kube-endpoints history";

/// What is known about a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Time at which it begins, in whole milliseconds.
    pub started: Timestamp,
    /// Program that recorded it, and its version.
    pub recorder: Text,
    /// Kinds that could not be read, for instance for lack of rights.
    pub unknown: Vec<Kind>,
    /// Time at which the segment began that it continues without a gap; `None` for the first one of a recorder.
    pub continues: Option<Timestamp>,
    /// Length of the frames with the state that it begins with, in bytes.
    pub(crate) state: u64,
}

/// Why the first frame is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoHeader {
    Foreign,
    Newer(u64),
    Malformed(Malformed),
}

impl Header {
    pub(crate) fn write(&self, out: &mut Output) {
        out.byte(FrameKind::Header as u8);
        out.raw(SIGNATURE);
        out.number(FORMAT);
        self.started.write(&Timestamp::default(), out);
        out.bytes(self.recorder.as_bytes());
        out.number(self.unknown.iter().fold(0, |mask, kind| mask | 1 << number_of(*kind)));
        self.continues.write(&Some(self.started), out);
        out.number(self.state);
    }

    pub(crate) fn read(content: &[u8]) -> Result<Header, NoHeader> {
        let signed = content.strip_prefix(&[FrameKind::Header as u8]).and_then(|rest| rest.strip_prefix(SIGNATURE));
        let mut input = Input::new(signed.ok_or(NoHeader::Foreign)?);
        let version = input.number().map_err(NoHeader::Malformed)?;
        if version > FORMAT {
            return Err(NoHeader::Newer(version));
        }
        Header::read_fields(&mut input).map_err(NoHeader::Malformed)
    }

    fn read_fields(input: &mut Input<'_>) -> Result<Header, Malformed> {
        let started = Timestamp::read(&Timestamp::default(), input)?;
        let recorder = input.text()?;
        let mask = input.number()?;
        let unknown = KINDS.into_iter().filter(|kind| mask & 1 << number_of(*kind) != 0).collect();
        let continues = Option::read(&Some(started), input)?;
        Ok(Header { started, recorder, unknown, continues, state: input.number()? })
    }
}
