//! Carves slices out of one block of memory. They are given back all at once, by beginning anew with the block.

use std::{fmt, mem, ops::Range};

/// The block is used up.
#[derive(Debug, PartialEq)]
pub struct Full;

pub struct Arena<'a> {
    rest: &'a mut [u8],
    /// How much of the block lies before `rest`.
    taken: usize,
}

/// A type for which any bytes are a value, so that memory may be looked at as an array of it.
///
/// # Safety
/// It has no padding and no invalid values.
pub unsafe trait Plain {}
unsafe impl Plain for u32 {}
unsafe impl Plain for [i32; 2] {}

impl<'a> Arena<'a> {
    pub fn new(block: &'a mut [u8]) -> Arena<'a> {
        Arena { rest: block, taken: 0 }
    }

    /// An array of zeros.
    pub fn zeros<T: Plain>(&mut self, length: usize) -> Result<&'a mut [T], Full> {
        let padding = self.rest.as_ptr().align_offset(mem::align_of::<T>());
        let bytes = padding + length * mem::size_of::<T>();
        if bytes > self.rest.len() {
            return Err(Full);
        }
        let (taken, rest) = mem::take(&mut self.rest).split_at_mut(bytes);
        self.rest = rest;
        self.taken += bytes;
        let array = &mut taken[padding..];
        array.fill(0);
        // Sound: every T is Plain, and what does not fit T's alignment has been cut off in front.
        Ok(unsafe { array.align_to_mut().1 })
    }

    /// All the rest, to write text into, after `room` bytes that are left for what is known last.
    pub fn text(self, room: usize) -> Result<Text<'a>, Full> {
        if room > self.rest.len() {
            return Err(Full);
        }
        Ok(Text { start: room, end: room, bytes: self.rest, before: self.taken })
    }
}

/// Text that grows from the middle of a slice to its end and, once, to its front.
pub struct Text<'a> {
    bytes: &'a mut [u8],
    start: usize,
    end: usize,
    /// How much of the arena's block lies before `bytes`.
    before: usize,
}

impl Text<'_> {
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let end = self.end + bytes.len();
        self.bytes.get_mut(self.end..end).ok_or(Full)?.copy_from_slice(bytes);
        self.end = end;
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Puts bytes before the text, into the room that was left for them.
    pub fn put_before(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let start = self.start.checked_sub(bytes.len()).ok_or(Full)?;
        self.bytes[start..self.start].copy_from_slice(bytes);
        self.start = start;
        Ok(())
    }

    /// Where in the arena's block the text lies.
    pub fn range(self) -> Range<usize> {
        self.before + self.start..self.before + self.end
    }
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes()).map_err(|Full| fmt::Error)
    }
}

impl From<fmt::Error> for Full {
    fn from(_: fmt::Error) -> Full {
        Full
    }
}
