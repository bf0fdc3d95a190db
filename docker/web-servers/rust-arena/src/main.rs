//! Serves the three programs of the web-servers suite without allocating: each connection has one block of memory,
//! taken when the server starts, and all that a request needs is carved out of it.
//!
//! No crates, only std and Linux's epoll. The idea is that of nea, by Folkert de Vries at Tweede golf.
//! docker/web-servers/README.md states what is asked and answered.

mod arena;
mod connection;
mod http;
mod programs;
mod server;
mod sys;
#[cfg(test)]
mod tests;

use std::{env, io, net::TcpListener, thread};

use server::{Server, Size};

fn main() -> io::Result<()> {
    sys::exit_on_sigterm();
    let size = Size {
        // By default the number of users in the experiment, and of threads on its board.
        threads: setting("THREADS", 4),
        connections: setting("CONNECTIONS", 64),
        block: setting("BLOCK_KIB", 5 << 10) << 10,
    };
    Server::start(TcpListener::bind("0.0.0.0:8080")?, size)?;
    loop {
        thread::park();
    }
}

/// A positive number from the environment.
fn setting(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).filter(|&value| value > 0).unwrap_or(default)
}
