//! Backends, and requests that never stop.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server that answers with its name.
pub(crate) struct Backend {
    pub(super) name: &'static str,
    pub(crate) port: u16,
}

impl Backend {
    pub(crate) fn start(name: &'static str) -> Result<Backend> {
        // No request is for a path without a name.
        Backend::without(name, "")
    }

    /// The same, which never answers requests for one path.
    pub(super) fn without(name: &'static str, path: &'static str) -> Result<Backend> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream, name, path));
            }
        });
        Ok(Backend { name, port })
    }
}

/// Answers the requests of one connection.
fn answer(stream: TcpStream, name: &str, without: &str) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut is_silent = false;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            is_silent |= line.split(' ').nth(1) == Some(without);
        }
        if is_silent {
            continue;
        }
        // In one write: otherwise the system waits for the acknowledgement of the first part.
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", name.len());
        stream.write_all((head + name).as_bytes())?;
    }
}

/// A connection that is kept.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(port: u16) -> Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// The body of an answer with status 200.
    fn get(&mut self, path: &str) -> Result<String> {
        self.ask("GET", path)
    }

    fn ask(&mut self, method: &str, path: &str) -> Result<String> {
        let request =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
        self.0.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (String::new(), None);
        self.0.read_line(&mut status)?;
        let mut is_chunked = false;
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            let value = |key: &str| line.strip_prefix(key).map(|it| it.trim().to_owned());
            length = length.or_else(|| value("content-length:")?.parse::<usize>().ok());
            is_chunked |= value("transfer-encoding:").is_some();
        }
        let mut body = vec![0; length.filter(|_| !is_chunked).unwrap_or(0)];
        self.0.read_exact(&mut body)?;
        match status.split(' ').nth(1) {
            Some("200") => String::from_utf8(body).map_err(Error::other),
            _ => Err(Error::new(ErrorKind::InvalidData, status)),
        }
    }
}

/// The body of an answer with status 200.
pub(crate) fn get(port: u16, path: &str) -> Result<String> {
    Connection::open(port)?.get(path)
}

/// The same of an answer to a request that changes something.
pub(super) fn post(port: u16, path: &str) -> Result<String> {
    Connection::open(port)?.ask("POST", path)
}

/// Requests that never stop, over a few connections.
pub(super) struct Traffic {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<(usize, usize)>>,
}

impl Traffic {
    pub(super) fn start(port: u16) -> Traffic {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = (0..3).map(|_| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || ask(port, &is_over))
        });
        Traffic { threads: threads.collect(), is_over }
    }

    /// Ends it; how many requests were answered and how many failed.
    pub(super) fn stop(self) -> (usize, usize) {
        self.is_over.store(true, Ordering::Relaxed);
        let counts = self.threads.into_iter().filter_map(|it| it.join().ok());
        counts.fold((0, 0), |(good, bad), (more, worse)| (good + more, bad + worse))
    }
}

fn ask(port: u16, is_over: &AtomicBool) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    let mut connection = Connection::open(port).ok();
    while !is_over.load(Ordering::Relaxed) {
        let answer = connection.as_mut().map(|it| it.get("/"));
        match answer {
            Some(Ok(_)) => good += 1,
            Some(Err(_)) | None => {
                bad += 1;
                connection = Connection::open(port).ok();
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    (good, bad)
}
