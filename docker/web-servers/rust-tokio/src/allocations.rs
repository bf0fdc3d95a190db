//! Allocates large arrays of varying sizes, touches them, frees them.

use crate::http;

const MAX_ARRAYS: usize = 16;
/// 64 bytes: every cache line of an array is touched, and no word more than that.
const LINE_WORDS: usize = 16;

/// Allocates the n arrays of the query n=N, of 4 to 260 KiB each, holds them all, then frees them.
pub fn varying(query: &[u8]) -> Option<String> {
    let n = array_count(query)?;
    let mut arrays = Vec::with_capacity(n);
    let mut state = n as u32;
    let mut words = 0;
    for _ in 0..n {
        // The generator of Numerical Recipes, for sizes that look random.
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let mut array = vec![0u32; 1024 + (state >> 16) as usize];
        for i in (0..array.len()).step_by(LINE_WORDS) {
            array[i] = state ^ i as u32;
        }
        words += array.len();
        arrays.push(array);
    }
    let mut checksum = 0u32;
    for array in &arrays {
        for i in (0..array.len()).step_by(LINE_WORDS) {
            checksum = checksum.wrapping_mul(31).wrapping_add(array[i]);
        }
    }
    Some(format!("arrays={n} words={words} checksum={checksum:08x}\n"))
}

/// Reads n=1 to n=16.
fn array_count(query: &[u8]) -> Option<usize> {
    let digits = query.strip_prefix(b"n=")?;
    http::number(digits).filter(|n| digits.len() <= 2 && (1..=MAX_ARRAYS).contains(n))
}
