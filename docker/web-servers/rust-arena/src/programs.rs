//! Chooses the program that a request asks for, and answers within the memory it is given.

use std::ops::Range;

use crate::arena::{Arena, Full, Text};
use crate::http::{self, Head, Request, Status};

mod allocations;
mod csv;

/// Enough for the longest head of an answer.
const MAX_HEAD: usize = 256;

const NO_MEMORY: Status =
    Status { code: 503, reason: "Service Unavailable", message: "the connection's block is too small\n" };

struct Program {
    path: &'static str,
    method: &'static str,
    content_type: &'static str,
    /// The connection, after each answer.
    closes: bool,
    body: for<'a> fn(&Request, Arena<'a>) -> Result<Text<'a>, Fault>,
}

/// Why a program has no answer.
#[derive(Debug, PartialEq)]
pub enum Fault {
    /// The query or the body is malformed.
    Malformed,
    Full,
}

impl From<Full> for Fault {
    fn from(_: Full) -> Fault {
        Fault::Full
    }
}

static PROGRAMS: [Program; 3] = [
    Program {
        path: "/csv-svg-path",
        method: "POST",
        content_type: "image/svg+xml",
        closes: false,
        body: |request, arena| csv::svg_path(request.body, arena),
    },
    Program {
        path: "/static",
        method: "GET",
        content_type: "text/html; charset=utf-8",
        closes: true,
        body: |_, arena| {
            let mut text = arena.text(MAX_HEAD)?;
            text.push(include_bytes!("../page.html"))?;
            Ok(text)
        },
    },
    Program {
        path: "/varying-allocations",
        method: "GET",
        content_type: http::PLAIN,
        closes: false,
        body: |request, arena| allocations::varying(request.query, arena),
    },
];

/// Answers a request. Returns where in the memory the answer lies, head and body in one piece, and whether the
/// connection is to be closed after it.
pub fn answer(request: &Request, memory: &mut [u8]) -> (Range<usize>, bool) {
    let close = request.close;
    let program = match PROGRAMS.iter().find(|program| program.path.as_bytes() == request.path) {
        Some(program) => program,
        None => return (error(memory, http::NOT_FOUND, None, close), close),
    };
    if program.method.as_bytes() != request.method {
        return (error(memory, http::WRONG_METHOD, Some(program.method), close), close);
    }
    let text = (program.body)(request, Arena::new(memory));
    let closes = close || program.closes;
    match text.and_then(|text| with_head(text, http::OK, program.content_type, None, closes)) {
        Ok(answer) => (answer, closes),
        Err(Fault::Malformed) => (error(memory, http::BAD_REQUEST, None, close), close),
        Err(Fault::Full) => (error(memory, NO_MEMORY, None, close), close),
    }
}

/// Writes an answer that says what is wrong. Returns where in the memory it lies.
pub fn error(memory: &mut [u8], status: Status, allow: Option<&'static str>, close: bool) -> Range<usize> {
    with_message(memory, status, allow, close).expect("the smallest block holds any error")
}

fn with_message(
    memory: &mut [u8],
    status: Status,
    allow: Option<&'static str>,
    close: bool,
) -> Result<Range<usize>, Fault> {
    let mut text = Arena::new(memory).text(MAX_HEAD)?;
    text.push(status.message.as_bytes())?;
    with_head(text, status, http::PLAIN, allow, close)
}

/// Puts the head, which names the body's length, before the body that has been written.
fn with_head(
    mut body: Text,
    status: Status,
    content_type: &'static str,
    allow: Option<&'static str>,
    close: bool,
) -> Result<Range<usize>, Fault> {
    let head = Head { status, allow, close, content_length: body.len(), content_type };
    let mut scratch = [0; MAX_HEAD];
    let mut text = Arena::new(&mut scratch).text(0)?;
    head.write(&mut text).map_err(Full::from)?;
    let length = text.len();
    body.put_before(&scratch[..length])?;
    Ok(body.range())
}
