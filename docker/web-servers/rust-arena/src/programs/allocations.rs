//! Carves large arrays of varying sizes out of the arena, touches them, and lets go of all of them at once.

use std::fmt::Write;

use super::{Fault, MAX_HEAD};
use crate::arena::{Arena, Full, Text};
use crate::http;

const MAX_ARRAYS: usize = 16;
/// 64 bytes: every cache line of an array is touched, and no word more than that.
const LINE_WORDS: usize = 16;

/// Allocates the n arrays of the query n=N, of 4 to 260 KiB each, and holds them all.
pub fn varying<'a>(query: &[u8], mut arena: Arena<'a>) -> Result<Text<'a>, Fault> {
    let n = array_count(query).ok_or(Fault::Malformed)?;
    let mut arrays: [&[u32]; MAX_ARRAYS] = [&[]; MAX_ARRAYS];
    let mut state = n as u32;
    let mut words = 0;
    for slot in &mut arrays[..n] {
        // The generator of Numerical Recipes, for sizes that look random.
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let array = arena.zeros::<u32>(1024 + (state >> 16) as usize)?;
        for i in (0..array.len()).step_by(LINE_WORDS) {
            array[i] = state ^ i as u32;
        }
        words += array.len();
        *slot = array;
    }
    let mut checksum = 0u32;
    for array in &arrays[..n] {
        for i in (0..array.len()).step_by(LINE_WORDS) {
            checksum = checksum.wrapping_mul(31).wrapping_add(array[i]);
        }
    }
    let mut text = arena.text(MAX_HEAD)?;
    writeln!(text, "arrays={n} words={words} checksum={checksum:08x}").map_err(Full::from)?;
    Ok(text)
}

/// Reads n=1 to n=16.
fn array_count(query: &[u8]) -> Option<usize> {
    let digits = query.strip_prefix(b"n=")?;
    http::number(digits).filter(|n| digits.len() <= 2 && (1..=MAX_ARRAYS).contains(n))
}
