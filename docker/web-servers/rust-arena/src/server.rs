//! Gives connections to blocks, and events to threads.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use crate::connection::{Connection, Wait, MIN_BLOCK};
use crate::sys::{self, Poll};

#[derive(Clone, Copy)]
pub struct Size {
    pub threads: usize,
    /// How many connections can be open at once. One more is told so (503) and closed.
    pub connections: usize,
    /// Bytes for each of them. A request that needs more is answered with 503.
    pub block: usize,
}

pub struct Server {
    listener: TcpListener,
    poll: Poll,
    /// A connection is locked by one thread at a time without waiting, because epoll reports it to one only.
    connections: Vec<Mutex<Connection>>,
    /// Which of them are without a client. The last one freed is taken first: its block is still in the cache.
    free: Mutex<Vec<usize>>,
}

const LISTENER: u64 = u64::MAX;

const NO_BLOCK: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 21\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\r\ntoo many connections\n";

impl Server {
    /// Takes all the memory there will ever be, starts the threads, and returns when they are ready.
    pub fn start(listener: TcpListener, size: Size) -> io::Result<()> {
        let block = size.block.max(MIN_BLOCK);
        let memory: &'static mut [u8] = Vec::leak(vec![0; block * size.connections]);
        let server = Arc::new(Server {
            listener,
            poll: Poll::new()?,
            connections: memory.chunks_exact_mut(block).map(|block| Mutex::new(Connection::new(block))).collect(),
            free: Mutex::new((0..size.connections).rev().collect()),
        });
        server.listener.set_nonblocking(true)?;
        sys::lengthen_queue(&server.listener, 1024)?;
        let ready = Arc::new(Barrier::new(size.threads + 1));
        for _ in 0..size.threads {
            let (server, ready) = (server.clone(), ready.clone());
            thread::Builder::new().spawn(move || {
                ready.wait();
                server.work()
            })?;
        }
        ready.wait();
        server.poll.watch_listener(&server.listener, LISTENER)
    }

    fn work(&self) -> ! {
        loop {
            match self.poll.wait() {
                LISTENER => self.accept(),
                token => self.serve(token as usize),
            }
        }
    }

    /// Accepts one connection. Where more are waiting, epoll tells another thread.
    fn accept(&self) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(_) => return, // Another thread was faster, or the client has gone.
        };
        // A statement of its own: within the match, the list would stay locked until the match ends.
        let free = self.free.lock().unwrap().pop();
        match free {
            None => refuse(stream),
            Some(index) => {
                self.connections[index].lock().unwrap().open(stream);
                self.serve(index); // The request is often there already.
            }
        }
    }

    fn serve(&self, index: usize) {
        let mut connection = self.connections[index].lock().unwrap();
        let watched = match connection.advance() {
            Wait::Closed => false,
            Wait::Readable => connection.watch(&self.poll, sys::READABLE, index as u64).is_ok(),
            Wait::Writable => connection.watch(&self.poll, sys::WRITABLE, index as u64).is_ok(),
        };
        if !watched {
            // In this order, so that a client that has seen its connection close finds the block free.
            self.free.lock().unwrap().push(index);
            connection.close();
        }
    }
}

fn refuse(mut stream: TcpStream) {
    // Whether the client reads it is the client's business.
    let _ = stream.write(NO_BLOCK);
}
