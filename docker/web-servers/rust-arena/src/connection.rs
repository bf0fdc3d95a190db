//! Serves one client at a time from one block of memory.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::Range;

use crate::http::{self, Reading};
use crate::programs;
use crate::sys::Poll;

/// The front of a block, for what has been read: the longest request fits. Behind it lies the arena.
const INPUT: usize = http::MAX_HEAD + http::MAX_BODY;
pub const MIN_BLOCK: usize = INPUT + (8 << 10);

/// How much a refused client may still send before its connection is cut.
const MAX_UNREAD: usize = 4 << 20;

pub struct Connection {
    stream: Option<TcpStream>,
    /// Does epoll know the stream?
    known: bool,
    block: &'static mut [u8],
    /// How much of the input is filled.
    filled: usize,
    /// The part of the block that is still to be sent.
    unsent: Range<usize>,
    next: Next,
}

/// What follows when all is sent.
#[derive(Clone, Copy)]
enum Next {
    Request,
    Close,
    /// Tell the client that no more will come, and read what it still sends: a socket closed on unread bytes resets
    /// its connection, and the client would lose the answer.
    Linger,
    Discard { unread: usize },
}

pub enum Wait {
    Readable,
    Writable,
    Closed,
}

impl Connection {
    pub fn new(block: &'static mut [u8]) -> Connection {
        Connection { stream: None, known: false, block, filled: 0, unsent: 0..0, next: Next::Request }
    }

    pub fn open(&mut self, stream: TcpStream) {
        let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        self.stream = ready.ok().map(|()| stream); // None is closed at the next step.
        self.known = false;
        self.filled = 0;
        self.unsent = 0..0;
        self.next = Next::Request;
    }

    pub fn close(&mut self) {
        self.stream = None;
    }

    /// Asks epoll for the next event of this connection.
    pub fn watch(&mut self, poll: &Poll, events: u32, token: u64) -> io::Result<()> {
        let known = std::mem::replace(&mut self.known, true);
        self.stream.as_ref().map_or(Ok(()), |stream| poll.watch_once(stream, events, token, known))
    }

    /// Does all that can be done without waiting, and says what must be waited for.
    pub fn advance(&mut self) -> Wait {
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(wait)) => return wait,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Wait::Closed,
                Err(_) if self.unsent.is_empty() => return Wait::Readable,
                Err(_) => return Wait::Writable,
            }
        }
    }

    fn step(&mut self) -> io::Result<Option<Wait>> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => return Ok(Some(Wait::Closed)),
        };
        if !self.unsent.is_empty() {
            self.unsent.start += stream.write(&self.block[self.unsent.clone()])?;
            let idle = self.unsent.is_empty() && matches!(self.next, Next::Request) && !self.answer();
            // After an answer the next request is hardly ever there yet: waiting is cheaper than looking for it.
            return Ok(idle.then(|| Wait::Readable));
        }
        match self.next {
            Next::Close => return Ok(Some(Wait::Closed)),
            Next::Linger => {
                stream.shutdown(Shutdown::Write)?;
                self.next = Next::Discard { unread: MAX_UNREAD };
            }
            Next::Discard { unread } => {
                let count = stream.read(&mut self.block[..INPUT])?;
                if count == 0 || count >= unread {
                    return Ok(Some(Wait::Closed));
                }
                self.next = Next::Discard { unread: unread - count };
            }
            Next::Request => {
                let count = stream.read(&mut self.block[self.filled..INPUT])?;
                if count == 0 {
                    return Ok(Some(Wait::Closed));
                }
                self.filled += count;
                self.answer();
            }
        }
        Ok(None)
    }

    /// Answers the first request of the input, if it is there to its last byte.
    fn answer(&mut self) -> bool {
        let (input, memory) = self.block.split_at_mut(INPUT);
        let (unsent, next, length) = match http::read(&input[..self.filled]) {
            Reading::Incomplete => return false,
            Reading::Refused(status) => (programs::error(memory, status, None, true), Next::Linger, self.filled),
            Reading::Complete(request) => {
                let (text, close) = programs::answer(&request, memory);
                (text, if close { Next::Close } else { Next::Request }, request.length)
            }
        };
        self.unsent = unsent.start + INPUT..unsent.end + INPUT;
        self.next = next;
        // What the client has sent ahead moves to the front.
        self.block.copy_within(length..self.filled, 0);
        self.filled -= length;
        true
    }
}
