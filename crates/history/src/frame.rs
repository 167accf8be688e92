//! Frames: the units that are compressed, checked and written at once.
//!
//! A frame is a Zstandard frame with a checksum, after a skippable frame with its length. So a file of history is also a
//! file that `zstd --test` checks.

use std::io::{self, Read, Seek, SeekFrom};

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use crate::codec::Output;

/// Begins the skippable frame before each frame.
const LENGTH_MAGIC: u32 = 0x184D_2A50;
/// Begins the skippable frame at the end of a complete segment.
const TRAILER_MAGIC: u32 = 0x184D_2A5E;
/// Length of the skippable frame before each frame.
pub(crate) const HEAD: usize = 12;
/// Length of the skippable frame at the end of a complete segment.
pub(crate) const TRAILER: usize = 24;
/// Longest content of a frame. A reader needs no more memory for one, whatever it claims.
pub(crate) const MAX_CONTENT: usize = 8 << 20;
/// Longest frame: what cannot be compressed takes a little more than its length.
const MAX_PACKED: usize = MAX_CONTENT + (64 << 10);
/// Compression level. The next two need twice the memory and a third more time, and make changes 1 % shorter.
const LEVEL: i32 = 1;

/// First byte of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The first frame of a segment.
    Header = 1,
    /// Objects as they were when the segment began.
    State = 2,
    /// Changes.
    Changes = 3,
    /// Part of the index of a segment.
    Index = 4,
    /// A time at which the recorder was running.
    Time = 5,
}

impl FrameKind {
    pub(crate) fn of(byte: u8) -> Option<FrameKind> {
        [FrameKind::Header, FrameKind::State, FrameKind::Changes, FrameKind::Index, FrameKind::Time]
            .into_iter()
            .find(|it| *it as u8 == byte)
    }
}

/// Compresses frames.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
}

impl Packer {
    pub(crate) fn new() -> io::Result<Packer> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Packer { compressor })
    }

    /// Appends a frame. Returns its length.
    pub(crate) fn pack(&mut self, content: &Output, out: &mut Vec<u8>) -> io::Result<usize> {
        let packed = self.compressor.compress(content.as_slice())?;
        out.extend_from_slice(&LENGTH_MAGIC.to_le_bytes());
        out.extend_from_slice(&4_u32.to_le_bytes());
        let length = u32::try_from(packed.len()).map_err(io::Error::other)?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&packed);
        Ok(HEAD + packed.len())
    }
}

/// End of a complete segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// Length of the segment up to the trailer, in bytes.
    pub(crate) segment: u64,
    /// Length of the frames of the index, which come last.
    pub(crate) index: u64,
}

impl Trailer {
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&TRAILER_MAGIC.to_le_bytes());
        out.extend_from_slice(&16_u32.to_le_bytes());
        out.extend_from_slice(&self.segment.to_le_bytes());
        out.extend_from_slice(&self.index.to_le_bytes());
    }

    /// Returns the trailer if the bytes are one.
    pub(crate) fn read(bytes: &[u8; TRAILER]) -> Option<Trailer> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let is_trailer = word(0) == TRAILER_MAGIC && word(4) == 16;
        is_trailer.then(|| Trailer { segment: long(8), index: long(16) })
    }
}

/// What follows at an offset.
pub(crate) enum Next {
    /// A frame, whose packed content begins 12 bytes later.
    Frame {
        /// Length of the packed content.
        packed: usize,
    },
    /// The end of a complete segment.
    Trailer,
    /// The file ends within a frame, as after a crash.
    CutOff,
    /// Zeros, perhaps after the beginning of a frame: what a file system had no time to write before a loss of power. The frame before
    /// may lack a part, too. What follows the zeros is not known to be whole.
    Zeros,
    /// The end of the file.
    End,
    /// Neither.
    Foreign,
}

/// Bytes that can be read at any offset.
pub(crate) trait Source: Read + Seek + Send {}

impl<T: Read + Seek + Send> Source for T {}

/// Reads and decompresses frames.
pub(crate) struct Unpacker {
    decompressor: Decompressor<'static>,
    packed: Vec<u8>,
}

impl Unpacker {
    pub(crate) fn new() -> io::Result<Unpacker> {
        Ok(Unpacker { decompressor: Decompressor::new()?, packed: Vec::new() })
    }

    /// Decompresses the frame at an offset into `content`, with the length of [`Next::Frame`]. Fails for more than 8 MiB, and
    /// with a checksum that does not match.
    pub(crate) fn unpack(
        &mut self,
        source: &mut dyn Source,
        offset: u64,
        packed: usize,
        content: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.packed.clear();
        if packed > MAX_PACKED {
            return Err(io::Error::other(format!("a frame has {packed} bytes, more than {MAX_PACKED}")));
        }
        source.seek(SeekFrom::Start(offset + HEAD as u64))?;
        self.packed.resize(packed, 0);
        source.read_exact(&mut self.packed)?;
        content.clear();
        content.reserve(MAX_CONTENT.min(claimed_length(&self.packed)?));
        self.decompressor.decompress_to_buffer(&self.packed, content)?;
        Ok(())
    }

    /// Returns whether the last frame that was read ends with zeros. A checksum is zero once in four billion times.
    pub(crate) fn has_read_zeros(&self) -> bool {
        self.packed.ends_with(&[0; 4])
    }
}

/// Returns the length that a Zstandard frame claims for its content.
fn claimed_length(packed: &[u8]) -> io::Result<usize> {
    let claimed = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let claimed = claimed.ok_or_else(|| io::Error::other("not compressed as frames of history are"))?;
    match usize::try_from(claimed) {
        Ok(length) if length <= MAX_CONTENT => Ok(length),
        _ => Err(io::Error::other(format!("a frame claims {claimed} bytes, more than {MAX_CONTENT}"))),
    }
}

/// Number of bytes up to which zeros in a file count as its end.
const MOST_ZEROS: usize = 16 << 20;

/// Returns what follows at an offset of a source with this length.
pub(crate) fn next(source: &mut dyn Source, offset: u64, length: u64) -> io::Result<Next> {
    if offset >= length {
        return Ok(Next::End);
    }
    source.seek(SeekFrom::Start(offset))?;
    let mut head = Vec::with_capacity(HEAD);
    source.take(HEAD as u64).read_to_end(&mut head)?;
    let Ok(head) = <[u8; HEAD]>::try_from(head) else { return Ok(Next::CutOff) };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    Ok(match (word(0), word(4)) {
        (LENGTH_MAGIC, 4) => {
            let packed = word(8) as usize;
            if offset + (HEAD + packed) as u64 > length { Next::CutOff } else { Next::Frame { packed } }
        }
        (TRAILER_MAGIC, 16) if offset + TRAILER as u64 > length => Next::CutOff,
        (TRAILER_MAGIC, 16) => Next::Trailer,
        _ => match after_zeros(source, offset + HEAD as u64)? {
            AfterZeros::End => Next::Zeros,
            AfterZeros::Other if head == [0; HEAD] => Next::Zeros,
            AfterZeros::Other | AfterZeros::TooMany => Next::Foreign,
        },
    })
}

/// What follows zeros.
enum AfterZeros {
    End,
    Other,
    TooMany,
}

/// Returns what follows the zeros at an offset, of which there may be none.
fn after_zeros(source: &mut dyn Source, offset: u64) -> io::Result<AfterZeros> {
    source.seek(SeekFrom::Start(offset))?;
    let (mut bytes, mut count) = ([0; 4 << 10], 0);
    loop {
        match source.read(&mut bytes)? {
            0 => return Ok(AfterZeros::End),
            length if bytes[..length].iter().any(|byte| *byte != 0) => return Ok(AfterZeros::Other),
            _ if count > MOST_ZEROS => return Ok(AfterZeros::TooMany),
            length => count += length,
        }
    }
}
