//! Reads HTTP/1.1 requests from bytes, writes the heads of answers.
//!
//! It waits for nothing and allocates nothing. rust-tokio and rust-arena hold the same copy of this file, so that
//! neither is faster by reading less; check.sh compares them.

use std::fmt::{self, Write};

pub const MAX_HEAD: usize = 8 << 10;
pub const MAX_BODY: usize = 64 << 10;

pub const PLAIN: &str = "text/plain; charset=utf-8";

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    pub code: u16,
    pub reason: &'static str,
    pub message: &'static str,
}

const fn status(code: u16, reason: &'static str, message: &'static str) -> Status {
    Status { code, reason, message }
}

pub const OK: Status = status(200, "OK", "");
pub const BAD_REQUEST: Status = status(400, "Bad Request", "bad request\n");
pub const NOT_FOUND: Status = status(404, "Not Found", "not found\n");
pub const WRONG_METHOD: Status = status(405, "Method Not Allowed", "method not allowed\n");
pub const NO_LENGTH: Status = status(411, "Length Required", "length required\n");
pub const TOO_LARGE: Status = status(413, "Request Entity Too Large", "content too large\n");
pub const EXPECTATION: Status = status(417, "Expectation Failed", "expectation failed\n");
pub const LONG_HEAD: Status = status(431, "Request Header Fields Too Large", "head too large\n");
pub const VERSION: Status = status(505, "HTTP Version Not Supported", "version not supported\n");

#[derive(Debug)]
pub struct Request<'a> {
    pub method: &'a [u8],
    pub path: &'a [u8],
    /// What follows the question mark; empty if there is none.
    pub query: &'a [u8],
    pub body: &'a [u8],
    /// Does the client want the connection closed after the answer?
    pub close: bool,
    /// Bytes of head and body together. The next request begins behind them.
    pub length: usize,
}

pub enum Reading<'a> {
    Complete(Request<'a>),
    /// More bytes are needed.
    Incomplete,
    /// Nothing that follows on this connection can be understood.
    Refused(Status),
}

/// Reads the first request in `bytes`, which may hold less than one or more than one.
pub fn read(bytes: &[u8]) -> Reading<'_> {
    let searched = &bytes[..bytes.len().min(MAX_HEAD)];
    let head_length = match searched.windows(4).position(|four| four == b"\r\n\r\n") {
        Some(at) => at + 4,
        None if bytes.len() < MAX_HEAD => return Reading::Incomplete,
        None => return Reading::Refused(LONG_HEAD),
    };
    let (head, rest) = bytes.split_at(head_length);
    match read_head(&head[..head_length - 4]) {
        Err(status) => Reading::Refused(status),
        Ok((_, body_length)) if rest.len() < body_length => Reading::Incomplete,
        Ok((request, body_length)) => Reading::Complete(Request {
            body: &rest[..body_length],
            length: head_length + body_length,
            ..request
        }),
    }
}

/// Reads a head without its empty last line. The body, whose length is returned, is left for the caller to fill in.
fn read_head(head: &[u8]) -> Result<(Request<'_>, usize), Status> {
    let (first, mut fields) = split_once(head, b"\r\n").unwrap_or((head, b""));
    let (method, first) = split_once(first, b" ").ok_or(BAD_REQUEST)?;
    let (target, version) = split_once(first, b" ").ok_or(BAD_REQUEST)?;
    let (path, query) = split_once(target, b"?").unwrap_or((target, b""));
    let close = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        _ if version.starts_with(b"HTTP/") => return Err(VERSION),
        _ => return Err(BAD_REQUEST),
    };
    let mut request = Request { method, path, query, body: b"", close, length: 0 };
    let mut body_length = None;
    while !fields.is_empty() {
        let (field, rest) = split_once(fields, b"\r\n").unwrap_or((fields, b""));
        let (name, value) = split_once(field, b":").ok_or(BAD_REQUEST)?;
        let value = trim(value);
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(value).ok_or(BAD_REQUEST)?;
            if body_length.replace(length).map_or(false, |earlier| earlier != length) {
                return Err(BAD_REQUEST);
            }
        } else if name.eq_ignore_ascii_case(b"connection") {
            request.close |= value.split(|&byte| byte == b',').any(|token| trim(token).eq_ignore_ascii_case(b"close"));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err(NO_LENGTH);
        } else if name.eq_ignore_ascii_case(b"expect") {
            return Err(EXPECTATION); // The client may ask again without it, as curl does.
        } else if name.is_empty() || name.iter().any(u8::is_ascii_whitespace) {
            return Err(BAD_REQUEST);
        }
        fields = rest;
    }
    match body_length.unwrap_or(0) {
        length if length > MAX_BODY => Err(TOO_LARGE),
        length => Ok((request, length)),
    }
}

/// Reads one or more decimal digits, and nothing else. A number past the range is the largest one.
pub fn number(text: &[u8]) -> Option<usize> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0usize, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0') as usize)))
}

pub fn split_once<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(separator.len()).position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// What stands before the body of an answer, in the alphabetical order that Go's net/http writes.
pub struct Head {
    pub status: Status,
    pub allow: Option<&'static str>,
    pub close: bool,
    pub content_length: usize,
    pub content_type: &'static str,
}

impl Head {
    pub fn write(&self, out: &mut impl Write) -> fmt::Result {
        write!(out, "HTTP/1.1 {} {}\r\n", self.status.code, self.status.reason)?;
        if let Some(method) = self.allow {
            write!(out, "Allow: {method}\r\n")?;
        }
        if self.close {
            out.write_str("Connection: close\r\n")?;
        }
        write!(out, "Content-Length: {}\r\nContent-Type: {}\r\n\r\n", self.content_length, self.content_type)
    }
}
