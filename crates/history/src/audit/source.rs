//! A file of a log.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::content::Content;
use super::line::{Line, parse};
use super::summary::Summary;
use super::values::{Found, Values};
use super::write::{Meaning, Write};

const BUFFER: usize = 64 << 10;
/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Largest length of the printed objects that are kept, in bytes.
const LONGEST_PRINTED: usize = 256 << 20;

/// Objects that kubectl has printed.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) objects: Vec<Content>,
    length: usize,
}

impl Printed {
    fn add(&mut self, content: Content, length: usize) {
        self.length = self.length.saturating_add(length);
        if self.length <= LONGEST_PRINTED {
            self.objects.push(content);
        }
    }
}

/// The values of a file.
pub(super) type FileValues = Values<Box<dyn BufRead + Send>>;

/// Opens a file, which is plain or compressed by gzip.
pub(super) fn values(input: impl Read + Send + 'static) -> io::Result<FileValues> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let is_compressed = input.fill_buf()?.starts_with(&GZIP);
    let input: Box<dyn BufRead + Send> = if is_compressed {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input)))
    } else {
        Box::new(input)
    };
    Ok(Values::new(input))
}

/// A file, and the writes that were read from it.
pub(super) struct Source {
    name: String,
    /// `None` after the end.
    values: Option<FileValues>,
    writes: VecDeque<Write>,
}

impl Source {
    /// Opens a file, which is plain or compressed by gzip.
    pub(super) fn open(name: String, input: impl Read + Send + 'static) -> io::Result<Source> {
        Ok(Source { name, values: Some(values(input)?), writes: VecDeque::new() })
    }

    /// Returns the next write, and removes it.
    pub(super) fn next(&mut self) -> Option<Write> {
        self.writes.pop_front()
    }

    /// Reads until there is a write; returns it, or `None` at the end.
    pub(super) fn peek(
        &mut self,
        namespace: Option<&str>,
        printed: &mut Printed,
        summary: &mut Summary,
    ) -> Option<&Write> {
        while self.writes.is_empty() {
            let values = self.values.as_mut()?;
            match values.next() {
                Ok(Some(Found::Value(line))) => {
                    let (name, writes, length) = (&self.name, &mut self.writes, values.value().len());
                    parse(values.value(), &mut |value| match value {
                        Line::Event(event) => {
                            summary.see(event.time);
                            summary.events[event.level as usize] += 1;
                            match Meaning::of(&event, namespace) {
                                Meaning::NoChange => summary.without_effect += 1,
                                Meaning::Other => summary.others += 1,
                                Meaning::Writes(read) => {
                                    summary.writes += 1;
                                    summary.unnamed += u64::from(read.is_empty());
                                    writes.extend(read);
                                }
                            }
                        }
                        Line::Object(content) => {
                            summary.objects[0] += 1;
                            let of = &content.object.key().namespace;
                            if of.is_empty() || namespace.is_none_or(|namespace| of == namespace) {
                                printed.add(content, length);
                            }
                        }
                        Line::Foreign => summary.foreign.add(name, line),
                    });
                }
                Ok(Some(Found::Foreign(line))) => summary.foreign.add(&self.name, line),
                Ok(Some(Found::TooLong(line))) => summary.too_long.add(&self.name, line),
                Ok(None) => self.values = None,
                Err(error) => {
                    summary.unreadable.push((self.name.clone(), error.to_string()));
                    self.values = None;
                }
            }
        }
        self.writes.front()
    }
}
