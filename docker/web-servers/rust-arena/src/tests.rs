//! Proves that the server allocates nothing while it serves: every allocation of the process is counted, except those
//! of the thread that plays the client.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use crate::server::{Server, Size};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CLIENT: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if !CLIENT.with(Cell::get) {
        ALLOCATIONS.fetch_add(1, SeqCst);
    }
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        System.alloc(layout)
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        System.alloc_zeroed(layout)
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        System.realloc(pointer, layout, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        System.dealloc(pointer, layout)
    }
}

const CONNECTIONS: usize = 8;

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Connects and keeps one of the server's blocks. It may take a moment until those of earlier clients are free.
fn hold(address: SocketAddr) -> TcpStream {
    loop {
        let mut stream = connect(address);
        stream.write_all(b"GET /none HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        if &answer == b"HTTP/1.1 404" {
            return stream;
        }
    }
}

/// Sends a request in pieces of this size and reads until the server closes.
fn ask(address: SocketAddr, request: &[u8], piece: usize) -> Vec<u8> {
    let mut stream = connect(address);
    for part in request.chunks(piece) {
        // A refused request may be cut off while it is being sent.
        if stream.write_all(part).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

fn post(csv: &str) -> Vec<u8> {
    format!("POST /csv-svg-path HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{csv}", csv.len()).into()
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").into()
}

fn start(block: usize) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    Server::start(listener, Size { threads: 3, connections: CONNECTIONS, block }).unwrap();
    address
}

/// One test in all, because another one beside it would be counted too.
#[test]
fn the_server_allocates_nothing_while_it_serves() {
    CLIENT.with(|client| client.set(true));

    thread::spawn(|| drop(Box::new([0u8; 64]))).join().unwrap();
    assert!(ALLOCATIONS.load(SeqCst) > 0, "the counter does not count another thread's allocations");

    let large = start(5 << 20);
    let small = start(0); // as small as can be
    let before = ALLOCATIONS.load(SeqCst);

    let longest = format!("x,y\n{}", "0,0\n".repeat(16383));
    let pipelined = [&b"GET /varying-allocations?n=3 HTTP/1.1\r\n\r\n"[..], &get("/varying-allocations?n=16")].concat();
    let endless = [b'a'; 9000];
    let rows: [(&str, SocketAddr, Vec<u8>, &str); 13] = [
        ("a path", large, post("x,y\n1,2\n-0.5,0.25"), "200 OK"),
        ("the longest path", large, post(&longest), "200 OK"),
        ("the longest path in a small block", small, post(&longest), "503 Service Unavailable"),
        ("a bad number", large, post("x,y\n1,2a\n"), "400 Bad Request"),
        ("the page", large, get("/static"), "200 OK"),
        ("the fewest arrays", large, get("/varying-allocations?n=1"), "200 OK"),
        ("the most arrays", large, get("/varying-allocations?n=16"), "200 OK"),
        ("arrays in a small block", small, get("/varying-allocations?n=16"), "503 Service Unavailable"),
        ("two requests at once", large, pipelined, "200 OK"),
        ("an unknown path", large, get("/"), "404 Not Found"),
        ("a wrong method", large, get("/csv-svg-path"), "405 Method Not Allowed"),
        ("a body past the limit", large, post(&"0".repeat(70_000)), "413 Request Entity Too Large"),
        ("a head without end", large, endless.to_vec(), "431 Request Header Fields Too Large"),
    ];
    for (name, address, request, expected) in &rows {
        for piece in [1 << 20, 1000, 7] {
            let answer = ask(*address, request, piece);
            let first = String::from_utf8_lossy(&answer[..answer.len().min(60)]);
            assert!(first.starts_with(&format!("HTTP/1.1 {expected}\r\n")), "{name} in pieces of {piece}: {first}");
        }
    }

    let _held: Vec<_> = (0..CONNECTIONS).map(|_| hold(large)).collect();
    assert!(ask(large, b"", 1).starts_with(b"HTTP/1.1 503"), "a client more than there are blocks");

    assert_eq!(ALLOCATIONS.load(SeqCst) - before, 0, "allocations while serving");
}
