//! Server-sent events: frames to write, and an incremental decoder that a hostile peer cannot hurt.

use std::fmt;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use memchr::memchr2;

/// Writes an event on one `data:` line, joined from pieces so that an envelope can go around shared bytes.
///
/// The pieces must hold no line break; compact JSON never does.
pub fn write_event(out: &mut BytesMut, pieces: &[&[u8]]) {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    out.reserve(length + 8);
    out.put_slice(b"data: ");
    pieces.iter().for_each(|piece| out.put_slice(piece));
    out.put_slice(b"\n\n");
}

/// Writes an event named `error`, by which some clients tell an error from a result.
pub fn write_error(out: &mut BytesMut, pieces: &[&[u8]]) {
    out.put_slice(b"event: error\n");
    write_event(out, pieces);
}

/// Writes a comment, which readers skip: it shows that the stream is alive. `text` must hold no line break.
pub fn write_comment(out: &mut BytesMut, text: &str) {
    out.put_slice(b": ");
    out.put_slice(text.as_bytes());
    out.put_slice(b"\n\n");
}

/// An event as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event<'a> {
    /// What the `event:` field says; empty where there is none.
    pub name: &'a str,
    /// The `data:` lines, joined by line feeds.
    pub data: &'a str,
}

/// Why a stream can't be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseError {
    /// An event or a line is larger than the limit.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// An event is not UTF-8.
    Utf8,
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(f, "an event exceeds the limit of {limit} bytes"),
            Self::Utf8 => f.write_str("an event is not UTF-8"),
        }
    }
}

impl std::error::Error for SseError {}

/// Reads events from chunks that may be cut anywhere.
///
/// Each byte is looked at once, and no more than one event is held. After an error the decoder is used up: it reads
/// no further.
///
/// ```
/// # use a2a_proto::wire::sse::Decoder;
/// # use bytes::Bytes;
/// let mut decoder = Decoder::new(1024);
/// let mut chunk = Bytes::from_static(b": hello\n\ndata: {}\n\ndata: {\"la");
/// assert_eq!(decoder.next(&mut chunk).unwrap().unwrap().data, "{}");
/// assert_eq!(decoder.next(&mut chunk), Ok(None));
/// assert!(chunk.is_empty());
/// let mut chunk = Bytes::from_static(b"st\":1}");
/// assert_eq!(decoder.next(&mut chunk), Ok(None));
/// assert_eq!(decoder.finish().unwrap().unwrap().data, "{\"last\":1}");
/// ```
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    position: u64,
    failed: Option<SseError>,
    /// The start of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last line ended in CR: an LF right behind it belongs to it.
    after_cr: bool,
    /// No line has been read: a byte order mark may stand before it.
    at_start: bool,
    pending: Pending,
    /// The event that was given out last.
    given: Given,
}

/// The event that is being read.
#[derive(Debug, Default)]
struct Pending {
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

#[derive(Debug, Default)]
struct Given {
    name: String,
    data: String,
}

/// A buffer that an unusually large event has blown up beyond this is not kept.
const KEEP_CAPACITY: usize = 64 * 1024;

const BOM: &[u8] = "\u{feff}".as_bytes();

impl Decoder {
    /// A decoder that refuses events and lines above that many bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            position: 0,
            failed: None,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            pending: Pending::default(),
            given: Given::default(),
        }
    }

    /// How many bytes were read, comments included: a stream is idle while this stands still.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Takes from the chunk until an event is complete; `None` once the chunk is used up.
    ///
    /// # Errors
    ///
    /// When an event is too large or not UTF-8. Calling again gives the same error.
    pub fn next(&mut self, chunk: &mut Bytes) -> Result<Option<Event<'_>>, SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let outcome = self.read(chunk);
        self.give(outcome)
    }

    /// Ends the stream: gives the last event if the blank line behind it is missing.
    ///
    /// # Errors
    ///
    /// When that event is too large or not UTF-8, or an error came before.
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let rest = std::mem::take(&mut self.line);
        let outcome = match rest.is_empty() {
            true => self.dispatch(),
            false => self.line(&rest).and_then(|_| self.dispatch()),
        };
        self.give(outcome)
    }

    fn give(&mut self, outcome: Result<bool, SseError>) -> Result<Option<Event<'_>>, SseError> {
        match outcome {
            Ok(true) => Ok(Some(self.given.event())),
            Ok(false) => Ok(None),
            Err(error) => {
                self.failed = Some(error);
                self.line = Vec::new();
                self.pending = Pending::default();
                Err(error)
            }
        }
    }

    /// Whether an event became complete.
    fn read(&mut self, chunk: &mut Bytes) -> Result<bool, SseError> {
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                self.advance(chunk, 1);
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                self.check(self.line.len() + chunk.len())?;
                self.line.extend_from_slice(chunk);
                self.advance(chunk, chunk.len());
                break;
            };
            let line = chunk.slice(..end);
            self.after_cr = chunk.get(end) == Some(&b'\r');
            self.advance(chunk, end + 1);
            let complete = if self.line.is_empty() {
                self.line(&line)?
            } else {
                self.check(self.line.len() + line.len())?;
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(&line);
                let complete = self.line(&whole)?;
                if whole.capacity() <= KEEP_CAPACITY {
                    whole.clear();
                    self.line = whole;
                }
                complete
            };
            if complete {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn advance(&mut self, chunk: &mut Bytes, count: usize) {
        chunk.advance(count);
        self.position += count as u64;
    }

    fn check(&self, line: usize) -> Result<(), SseError> {
        if line.saturating_add(self.pending.data.len()) > self.limit {
            return Err(SseError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// Reads a line without its end; whether it completed an event.
    fn line(&mut self, line: &[u8]) -> Result<bool, SseError> {
        self.check(line.len())?;
        let line = match std::mem::take(&mut self.at_start) {
            true => line.strip_prefix(BOM).unwrap_or(line),
            false => line,
        };
        if line.is_empty() {
            return self.dispatch();
        }
        self.field(line);
        Ok(false)
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let (name, rest) = line.split_at(colon);
                let value = rest.strip_prefix(b":").unwrap_or(rest);
                (name, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match name {
            b"data" => self.pending.push_line(value),
            b"event" => {
                self.pending.name.clear();
                self.pending.name.extend_from_slice(value);
            }
            // Comments have an empty name; id and retry mean nothing in A2A.
            _ => {}
        }
    }

    /// Moves the event that is complete to where it is given out; an event without a data line is none.
    fn dispatch(&mut self) -> Result<bool, SseError> {
        if !std::mem::take(&mut self.pending.has_data) {
            self.pending.name.clear();
            return Ok(false);
        }
        self.given.take(&mut self.pending)?;
        Ok(true)
    }
}

impl Pending {
    fn push_line(&mut self, value: &[u8]) {
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
    }
}

impl Given {
    fn event(&self) -> Event<'_> {
        Event {
            name: &self.name,
            data: &self.data,
        }
    }

    /// Swaps the buffers, so that a stream of events allocates nothing.
    fn take(&mut self, pending: &mut Pending) -> Result<(), SseError> {
        swap(&mut self.name, &mut pending.name)?;
        swap(&mut self.data, &mut pending.data)
    }
}

fn swap(given: &mut String, pending: &mut Vec<u8>) -> Result<(), SseError> {
    let text = String::from_utf8(std::mem::take(pending)).map_err(|_| SseError::Utf8)?;
    let mut old = std::mem::replace(given, text).into_bytes();
    if old.capacity() <= KEEP_CAPACITY {
        old.clear();
        *pending = old;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
