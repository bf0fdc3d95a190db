//! Chooses the program that a request asks for.

use std::borrow::Cow;

use crate::http::{self, Head, Request, Status};
use crate::{allocations, csv};

type Body = Cow<'static, [u8]>;

struct Program {
    path: &'static str,
    method: &'static str,
    content_type: &'static str,
    /// The connection, after each answer.
    closes: bool,
    /// None means that the query or the body is malformed.
    body: fn(&Request) -> Option<Body>,
}

static PROGRAMS: [Program; 3] = [
    Program {
        path: "/csv-svg-path",
        method: "POST",
        content_type: "image/svg+xml",
        closes: false,
        body: |request| csv::svg_path(request.body).map(|svg| Cow::Owned(svg.into_bytes())),
    },
    Program {
        path: "/static",
        method: "GET",
        content_type: "text/html; charset=utf-8",
        closes: true,
        body: |_| Some(Cow::Borrowed(include_bytes!("../page.html"))),
    },
    Program {
        path: "/varying-allocations",
        method: "GET",
        content_type: http::PLAIN,
        closes: false,
        body: |request| allocations::varying(request.query).map(|text| Cow::Owned(text.into_bytes())),
    },
];

pub struct Answer {
    status: Status,
    allow: Option<&'static str>,
    content_type: &'static str,
    body: Body,
    pub closes: bool,
}

pub fn answer(request: &Request) -> Answer {
    let program = match PROGRAMS.iter().find(|program| program.path.as_bytes() == request.path) {
        Some(program) => program,
        None => return Answer::error(http::NOT_FOUND),
    };
    if program.method.as_bytes() != request.method {
        return Answer { allow: Some(program.method), ..Answer::error(http::WRONG_METHOD) };
    }
    match (program.body)(request) {
        None => Answer::error(http::BAD_REQUEST),
        Some(body) => Answer {
            status: http::OK,
            allow: None,
            content_type: program.content_type,
            body,
            closes: program.closes,
        },
    }
}

impl Answer {
    pub fn error(status: Status) -> Answer {
        let body = Cow::Borrowed(status.message.as_bytes());
        Answer { status, allow: None, content_type: http::PLAIN, body, closes: false }
    }

    /// Head and body in one piece, for one write.
    pub fn bytes(&self, close: bool) -> Vec<u8> {
        let head = Head {
            status: self.status,
            allow: self.allow,
            close,
            content_length: self.body.len(),
            content_type: self.content_type,
        };
        let mut text = String::with_capacity(256 + self.body.len());
        head.write(&mut text).expect("a String takes all that is written");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}
