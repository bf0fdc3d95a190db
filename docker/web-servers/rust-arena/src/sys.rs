//! The few system calls that std does not offer. Their symbols are in the C library that std links anyway.

use std::io;
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};

/// struct epoll_event of <sys/epoll.h>, which is packed on x86-64 only.
#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
struct EpollEvent {
    events: u32,
    token: u64,
}

extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(epoll: i32, operation: i32, fd: i32, event: *mut EpollEvent) -> i32;
    fn epoll_wait(epoll: i32, events: *mut EpollEvent, capacity: i32, timeout: i32) -> i32;
    fn listen(fd: i32, backlog: i32) -> i32;
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(status: i32) -> !;
}

const EPOLL_CLOEXEC: i32 = 0o2000000;
const EPOLL_CTL_ADD: i32 = 1;
const EPOLL_CTL_MOD: i32 = 3;
const EPOLLONESHOT: u32 = 1 << 30;
const SIGTERM: i32 = 15;

pub const READABLE: u32 = 0x001;
pub const WRITABLE: u32 = 0x004;

/// One epoll for all threads: whichever is idle takes the next event.
pub struct Poll(OwnedFd);

impl Poll {
    pub fn new() -> io::Result<Poll> {
        let fd = check(unsafe { epoll_create1(EPOLL_CLOEXEC) })?;
        Ok(Poll(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Reports a listener each time there is a connection to accept.
    pub fn watch_listener(&self, listener: &impl AsRawFd, token: u64) -> io::Result<()> {
        self.control(EPOLL_CTL_ADD, listener, READABLE, token)
    }

    /// Reports a connection once, to one thread, which then has it to itself until it calls this again.
    pub fn watch_once(&self, stream: &impl AsRawFd, events: u32, token: u64, known: bool) -> io::Result<()> {
        let operation = if known { EPOLL_CTL_MOD } else { EPOLL_CTL_ADD };
        self.control(operation, stream, events | EPOLLONESHOT, token)
    }

    fn control(&self, operation: i32, fd: &impl AsRawFd, events: u32, token: u64) -> io::Result<()> {
        let mut event = EpollEvent { events, token };
        check(unsafe { epoll_ctl(self.0.as_raw_fd(), operation, fd.as_raw_fd(), &mut event) }).map(drop)
    }

    /// Waits for an event and returns its token. One at a time: a second one would wait while other threads are idle.
    pub fn wait(&self) -> u64 {
        let mut event = EpollEvent { events: 0, token: 0 };
        while unsafe { epoll_wait(self.0.as_raw_fd(), &mut event, 1, -1) } != 1 {}
        event.token
    }
}

/// Makes the queue of a listener longer than the 128 that std asks for.
pub fn lengthen_queue(listener: &impl AsRawFd, backlog: i32) -> io::Result<()> {
    check(unsafe { listen(listener.as_raw_fd(), backlog) }).map(drop)
}

/// The first process of a container ignores SIGTERM unless it says otherwise.
pub fn exit_on_sigterm() {
    extern "C" fn exit(_: i32) {
        unsafe { _exit(0) }
    }
    unsafe { signal(SIGTERM, exit) };
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
