//! Draws the points of a CSV text as one SVG path.

use super::{Fault, MAX_HEAD};
use crate::arena::{Arena, Full, Text};
use crate::http::split_once;

/// x and y in thousandths, so that every language computes and prints them alike.
type Point = [i32; 2];

/// "0,0" and its newline: no point is shorter.
const SHORTEST_LINE: usize = 4;

pub fn svg_path<'a>(body: &[u8], mut arena: Arena<'a>) -> Result<Text<'a>, Fault> {
    let points = arena.zeros(body.len() / SHORTEST_LINE)?;
    let count = parse_points(body, points).ok_or(Fault::Malformed)?;
    let mut text = arena.text(MAX_HEAD)?;
    draw_path(&points[..count], &mut text)?;
    Ok(text)
}

/// Reads the header "x,y", then a line "number,number" for each of one or more points. The last line may lack its
/// newline; nothing else may be missing, or there. Returns how many points there are.
fn parse_points(text: &[u8], points: &mut [Point]) -> Option<usize> {
    let mut text = text.strip_prefix(b"x,y\n")?;
    let mut count = 0;
    while !text.is_empty() {
        let (line, rest) = split_once(text, b"\n").unwrap_or((text, b""));
        let (x, y) = split_once(line, b",")?;
        // The header's four bytes make up for a last line without newline, so there is always a place.
        *points.get_mut(count)? = [thousandths(x)?, thousandths(y)?];
        count += 1;
        text = rest;
    }
    Some(count).filter(|&count| count > 0)
}

/// Reads -?[0-9]{1,6}(\.[0-9]{1,3})?
fn thousandths(text: &[u8]) -> Option<i32> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match split_once(digits, b".") {
        Some((_, b"")) => return None,
        Some(parts) => parts,
        None => (digits, &b""[..]),
    };
    if whole.is_empty() || whole.len() > 6 || fraction.len() > 3 {
        return None;
    }
    let mut value = 0;
    for digit in whole.iter().chain(fraction) {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i32::from(digit - b'0');
    }
    value *= [1000, 100, 10, 1][fraction.len()];
    Some(if digits.len() < text.len() { -value } else { value })
}

/// Writes an SVG document that shows all the points, of which there is at least one. SVG's y grows downward, the CSV's
/// upward.
fn draw_path(points: &[Point], svg: &mut Text) -> Result<(), Full> {
    let (mut lowest, mut highest) = (points[0], points[0]);
    for point in points {
        for axis in 0..2 {
            lowest[axis] = lowest[axis].min(point[axis]);
            highest[axis] = highest[axis].max(point[axis]);
        }
    }
    svg.push(b"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"")?;
    push_pair(svg, lowest[0], -highest[1])?;
    svg.push(b" ")?;
    push_pair(svg, highest[0] - lowest[0], highest[1] - lowest[1])?;
    svg.push(b"\"><path fill=\"none\" stroke=\"black\" d=\"")?;
    for (i, point) in points.iter().enumerate() {
        svg.push(if i == 0 { &b"M"[..] } else { b" L" })?;
        push_pair(svg, point[0], -point[1])?;
    }
    svg.push(b"\"/></svg>\n")
}

fn push_pair(text: &mut Text, x: i32, y: i32) -> Result<(), Full> {
    push_thousandths(text, x)?;
    text.push(b" ")?;
    push_thousandths(text, y)
}

/// Always prints three decimals: -1500 is -1.500.
fn push_thousandths(text: &mut Text, value: i32) -> Result<(), Full> {
    if value < 0 {
        text.push(b"-")?;
    }
    // Digits come last first, into the end of a buffer that holds the longest value: 2147483.647.
    let mut digits = [b'0'; 11];
    let mut rest = value.unsigned_abs();
    let mut at = digits.len();
    while rest > 0 || at > digits.len() - 5 {
        at -= 1;
        if at == digits.len() - 4 {
            digits[at] = b'.';
        } else {
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }
    text.push(&digits[at..])
}
