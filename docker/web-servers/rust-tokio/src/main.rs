//! Serves the three programs of the web-servers suite on tokio, without an HTTP library.
//!
//! docker/web-servers/README.md states what is asked and answered.

mod allocations;
mod csv;
mod http;
mod programs;

use std::{env, io, time::Duration};

use http::Reading;
use programs::Answer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{signal, SignalKind};
use tokio::{runtime, time};

fn main() -> io::Result<()> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(threads()).enable_all().build()?;
    let stopped = runtime.block_on(async {
        let mut stop = signal(SignalKind::terminate())?;
        let listener = TcpListener::bind("0.0.0.0:8080").await?;
        // A task of its own: what runs in block_on itself runs on one more thread than THREADS says.
        tokio::spawn(accept(listener));
        stop.recv().await;
        Ok(())
    });
    runtime.shutdown_background();
    stopped
}

/// What THREADS says, by default 4: the number of users in the experiment, and of threads on its board.
fn threads() -> usize {
    env::var("THREADS").ok().and_then(|text| text.parse().ok()).filter(|&threads| threads > 0).unwrap_or(4)
}

async fn accept(listener: TcpListener) {
    loop {
        match listener.accept().await {
            // An error means that the client has gone, which nobody is left to be told.
            Ok((stream, _)) => drop(tokio::spawn(serve(stream))),
            Err(_) => time::sleep(Duration::from_millis(10)).await, // Out of file descriptors: some will come free.
        }
    }
}

/// Answers the requests of one connection, one after the other, until either side closes it.
async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = Vec::with_capacity(4096);
    loop {
        match http::read(&input) {
            Reading::Incomplete => {
                if stream.read_buf(&mut input).await? == 0 {
                    return Ok(());
                }
            }
            Reading::Refused(status) => {
                stream.write_all(&Answer::error(status).bytes(true)).await?;
                return linger(stream).await;
            }
            Reading::Complete(request) => {
                let answer = programs::answer(&request);
                let close = request.close || answer.closes;
                stream.write_all(&answer.bytes(close)).await?;
                if close {
                    return Ok(());
                }
                let length = request.length;
                input.drain(..length);
            }
        }
    }
}

/// Reads what a refused client still sends, for a second at most. A socket closed on unread bytes resets its
/// connection, and the client would lose the answer.
async fn linger(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 4096];
    let drain = async { while matches!(stream.read(&mut unread).await, Ok(1..)) {} };
    drop(time::timeout(Duration::from_secs(1), drain).await);
    Ok(())
}
