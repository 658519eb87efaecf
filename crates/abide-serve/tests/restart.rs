//! Servers that take over from one another, while clients go on.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // Tests set up a world.
#![allow(clippy::print_stdout, reason = "they say what they measured")]

#[path = "../src/restart/messages.rs"]
#[allow(dead_code, reason = "what plays one side needs half of it")]
mod messages;
#[path = "serve/server.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests need the rest")]
mod server;
#[path = "../../abide-cli/tests/cli/waiting.rs"]
mod waiting;

use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use abide_xds::wire::DiscoveryRequest;
use prost::Message;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::watch;
use tonic::{Code, Status};

use self::messages::{Answer, Ask, Draining, Handshake, Nothing, Refusal, Reply, Request};
use self::server::{CDS, Polling, Whole, cluster, edge_api, example, node, poll, pool, run};
use self::waiting::{LONG, Log, unless_it_hangs};

const SERVER: &str = env!("CARGO_BIN_EXE_abide-serve");
const CLUSTERS: &str = "/v3/discovery:clusters";
const FAST: &[&str] = &["--drain-time-s", "0.4", "--parent-shutdown-time-s", "0.8"];
const SLOW: &[&str] = &["--drain-time-s", "30", "--parent-shutdown-time-s", "60"];

/// What all epochs share.
struct World {
    folder: TempDir,
    api: PathBuf,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("resources")).unwrap();
        let world = World { folder, api: example("api") };
        world.put("a.yaml", &cluster("a", 1));
        world
    }

    fn put(&self, name: &str, text: &str) {
        let beside = self.folder.path().join("beside");
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(&beside, self.folder.path().join("resources").join(name)).unwrap();
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("restart")
    }

    /// Starts an epoch.
    fn start(&self, epoch: u32, flags: &[&str]) -> Process {
        let epoch = epoch.to_string();
        self.spawn(Command::new(SERVER), &[flags, &["--restart-epoch", &epoch]].concat())
    }

    /// Starts a command, followed by the flags of a server.
    fn spawn(&self, mut command: Command, flags: &[&str]) -> Process {
        let any = "127.0.0.1:0";
        let http: &[&str] = match flags.contains(&"--http") {
            true => &[],
            false => &["--http", any],
        };
        command.arg("--resources").arg(self.folder.path().join("resources"));
        command.arg("--api").arg(&self.api).arg("--restart-socket").arg(self.socket());
        command.args(["--grpc", any, "--admin", any, "--log-format", "json", "--long-poll", "0.2"]);
        command.args(http).args(flags).env("RUST_LOG", "info");
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let log = Log::of(BufReader::new(child.stderr.take().unwrap()));
        Process { child, log }
    }

    /// Starts an epoch that serves something.
    fn serving(&self, epoch: u32, flags: &[&str]) -> (Process, Addresses) {
        let process = self.start(epoch, flags);
        let line = process.says("\"serving\"");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let [grpc, http, admin] =
            ["grpc", "http", "admin"].map(|key| value["fields"][key].as_str().unwrap().to_owned());
        process.says("serving the resources");
        (process, Addresses { grpc, http, admin })
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Addresses {
    grpc: String,
    http: String,
    admin: String,
}

impl Addresses {
    /// A statistic.
    fn stat(&self, name: &str) -> u64 {
        let text = server::ask(
            &self.admin,
            "GET /stats HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        )
        .1;
        let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no `{name}` in {text}")).parse().unwrap()
    }

    /// A call over a new connection: it has to be answered.
    fn call(&self) {
        assert_eq!(poll(&self.http, CLUSTERS, r#"{"node": {"id": "new"}}"#).0, 200);
    }
}

/// An epoch. It ends when this is dropped.
struct Process {
    child: Child,
    log: Arc<Log>,
}

impl Process {
    fn log(&self) -> String {
        self.log.text()
    }

    /// Waits for a line of the log.
    fn says(&self, text: &str) -> String {
        self.log.line(|it| it.contains(text))
    }

    /// When it said this first.
    fn moment(&self, text: &str) -> jiff::Timestamp {
        let line: serde_json::Value = serde_json::from_str(&self.says(text)).unwrap();
        line["timestamp"].as_str().unwrap().parse().unwrap()
    }

    /// How long clients had to leave, until it was told to end.
    fn drained(&self) -> Duration {
        let begin = self.moment("another process took over");
        let end = self.moment("as the process that took over asked");
        end.duration_since(begin).unsigned_abs()
    }

    fn wait(&mut self) -> ExitStatus {
        let status = unless_it_hangs(&mut self.child, |it| it.wait().unwrap());
        self.log.whole();
        status
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).unwrap();
        let _ = kill_process(pid, signal);
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself. A restarter takes its servers with it, if it is asked.
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::TERM);
            let _ = unless_it_hangs(&mut self.child, Child::wait);
        }
    }
}

/// What plays a process of the restart protocol.
struct Peer(UnixStream);

impl Peer {
    fn say(&mut self, message: &impl Message) {
        let body = message.encode_to_vec();
        self.0.write_all(&(body.len() as u32).to_be_bytes()).unwrap();
        self.0.write_all(&body).unwrap();
    }

    fn hear<M: Message + Default>(&mut self) -> M {
        self.0.set_read_timeout(Some(LONG)).unwrap();
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut body).unwrap();
        M::decode(&*body).unwrap()
    }

    /// Says hello as an epoch, and gets the answer.
    fn greet(world: &World, hello: &Handshake) -> (Peer, Answer) {
        let mut peer = Peer(UnixStream::connect(world.socket()).unwrap());
        peer.say(hello);
        let answer = peer.hear::<Reply>().reply.unwrap();
        (peer, answer)
    }

    fn ask(&mut self, request: Ask) -> Answer {
        self.say(&Request { request: Some(request) });
        self.hear::<Reply>().reply.unwrap()
    }
}

/// The calls of clients: those that were answered. One that fails panics.
struct Calls {
    /// By client.
    answered: Mutex<Vec<u64>>,
    came: Condvar,
    is_over: AtomicBool,
}

impl Calls {
    fn new(clients: usize) -> Calls {
        let answered = Mutex::new(vec![0; clients]);
        Calls { answered, came: Condvar::new(), is_over: AtomicBool::new(false) }
    }

    fn count(&self, client: usize) {
        self.answered.lock().unwrap()[client] += 1;
        self.came.notify_all();
    }

    fn total(&self) -> u64 {
        self.answered.lock().unwrap().iter().sum()
    }

    /// How often each client was answered until now.
    fn so_far(&self) -> Vec<u64> {
        self.answered.lock().unwrap().clone()
    }

    /// Waits until each of these clients was answered more often than it was then.
    fn go_on_since(&self, then: &[u64], clients: Range<usize>) {
        let answered = self.answered.lock().unwrap();
        let wait = |now: &mut Vec<u64>| clients.clone().any(|it| now[it] == then[it]);
        let waited = self.came.wait_timeout_while(answered, LONG, wait).unwrap().1;
        assert!(!waited.timed_out(), "a client is not answered");
    }

    /// Polls over a connection for as long as that stays. It has all that is served, so most of the
    /// time it waits for something new.
    fn keep_polling(&self, address: &str, id: usize, version: &str) {
        while !self.is_over.load(Ordering::Relaxed) {
            let mut polling = Polling::connect(address);
            let node = format!(r#"{{"id": "poll-{id}"}}"#);
            loop {
                polling.send(&format!(r#"{{"node": {node}, "version_info": "{version}"}}"#));
                let (status, is_last) = polling.answer();
                assert_eq!(status, 304);
                self.count(id);
                if is_last || self.is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
    }

    /// A new connection for each call: one has all that is served, and the next one nothing.
    fn keep_connecting(&self, address: &str, id: usize, version: &str) {
        for turn in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let node = format!(r#"{{"id": "new-{id}-{turn}"}}"#);
            let (held, status) = if turn % 2 == 0 { (version, 304) } else { ("", 200) };
            let body = format!(r#"{{"node": {node}, "version_info": "{held}"}}"#);
            assert_eq!(poll(address, CLUSTERS, &body).0, status);
            self.count(id);
        }
    }

    /// Keeps a stream open, and opens the next one when the server ends it.
    async fn stay(&self, address: &str, id: usize, mut over: watch::Receiver<bool>) {
        while !*over.borrow() {
            let visit = visit(address, id).await;
            let (mut stream, _) = visit.unwrap_or_else(|it| panic!("stream {id}: {it:?}"));
            self.count(id);
            tokio::select! {
                next = stream.next() => {
                    let end = next.expect_err("nothing changes");
                    assert_eq!(end.code(), Code::Ok, "stream {id}: {end:?}");
                }
                _ = over.changed() => return,
            }
        }
    }
}

/// Opens a stream, and gets and accepts a response, of some version.
async fn visit(address: &str, id: usize) -> Result<(Whole, String), Status> {
    let mut stream = Whole::open(address, "v3", node(&format!("stream-{id}"), "", "1.0.0")).await?;
    stream.ask(CDS, &[]).await;
    let response = stream.next().await?;
    stream.ack(&response, &[]).await;
    Ok((stream, response.version_info))
}

#[test]
fn five_restarts_under_load_lose_no_request() {
    run(async {
        const STREAMS: usize = 4;
        const POLLS: usize = 12;
        let world = World::new();
        let (mut process, addresses) = world.serving(0, FAST);
        let calls = Arc::new(Calls::new(POLLS + STREAMS));
        let (end, over) = watch::channel(false);
        let version = visit(&addresses.grpc, 0).await.expect("a stream").1;
        calls.count(0);
        let mut clients = Vec::new();
        for id in 0..POLLS {
            let (calls, http) = (Arc::clone(&calls), addresses.http.clone());
            let version = version.clone();
            clients.push(thread::spawn(move || match id % 2 {
                0 => calls.keep_connecting(&http, id, &version),
                _ => calls.keep_polling(&http, id, &version),
            }));
        }
        let mut streams = tokio::task::JoinSet::new();
        for id in POLLS..POLLS + STREAMS {
            let (calls, grpc, over) = (Arc::clone(&calls), addresses.grpc.clone(), over.clone());
            streams.spawn(async move { calls.stay(&grpc, id, over).await });
        }
        let mut before = 0;
        for epoch in 1..=5 {
            let polls = || calls.go_on_since(&calls.so_far(), 0..POLLS);
            tokio::task::block_in_place(polls);
            // By the time when this test is told of it, all streams may have moved already.
            let then = calls.so_far();
            let (next, its) = tokio::task::block_in_place(|| world.serving(epoch, FAST));
            assert_eq!(its, addresses, "the sockets are the same");
            tokio::task::block_in_place(|| next.says("took over"));
            // All of them, streams as well, are answered by the next process.
            tokio::task::block_in_place(polls);
            let all = 0..POLLS + STREAMS;
            tokio::task::block_in_place(|| calls.go_on_since(&then, all));
            let counted = its.stat("grpc.streams_total");
            assert!(counted >= before, "{counted} after {before}");
            before = counted;
            assert_eq!(its.stat("server.hot_restart_epoch"), u64::from(epoch));
            let status = tokio::task::block_in_place(|| process.wait());
            assert!(status.success(), "{status}: {}", process.log());
            let drained = process.drained();
            assert!(drained >= Duration::from_millis(790), "it ended after {drained:?}");
            tokio::task::block_in_place(|| next.says("the process before is gone"));
            process = next;
        }
        // A gauge belongs to one process: all streams are here, once, and no more than the polls.
        let active = addresses.stat("grpc.streams_active") as usize;
        assert!((STREAMS..=STREAMS + POLLS).contains(&active), "{active} streams");
        calls.is_over.store(true, Ordering::Relaxed);
        tokio::task::block_in_place(|| {
            clients.into_iter().for_each(|it| it.join().expect("no call fails"));
        });
        end.send_replace(true);
        while let Some(ended) = streams.join_next().await {
            ended.expect("no stream fails");
        }
        let answered = calls.total();
        println!("{answered} calls were answered over 6 epochs, and none failed");
        assert_eq!(addresses.stat("grpc.streams_total"), answered, "all epochs are counted");
        assert!(process.is_running());
    });
}

#[test]
fn nothing_but_a_socket_is_replaced() {
    let world = World::new();
    std::fs::write(world.socket(), "mine").unwrap();
    let mut process = world.start(0, FAST);
    assert_eq!(process.wait().code(), Some(2), "{}", process.log());
    assert!(process.log().contains("it is no socket"), "{}", process.log());
    assert_eq!(std::fs::read_to_string(world.socket()).unwrap(), "mine");
}

#[test]
fn a_child_with_bad_resources_never_takes_over() {
    let world = World::new();
    let (mut parent, addresses) = world.serving(0, FAST);
    world.put("b.yaml", "\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\nnam: b\n");
    let mut child = world.start(1, FAST);
    assert_eq!(child.wait().code(), Some(2));
    assert!(child.log().contains("nothing is taken over:\n"), "{}", child.log());
    assert!(!parent.log().contains("about to take over"), "{}", parent.log());
    assert!(parent.is_running());
    addresses.call();
    // With good ones, the same epoch takes over.
    world.put("b.yaml", &cluster("b", 1));
    let (_child, its) = world.serving(1, FAST);
    assert_eq!(its, addresses);
    assert!(parent.wait().success());
}

#[test]
fn a_restart_follows_the_order_of_its_steps() {
    let world = World::new();
    let (mut parent, _) = world.serving(0, FAST);
    let (child, its) = world.serving(1, FAST);
    child.says("took over");
    assert!(parent.wait().success());
    // What each process said, by the clock of both.
    let moments = [
        parent.moment("about to take over"),
        child.moment("\"serving\""),
        parent.moment("another process took over"),
        child.moment("telling the process before to end"),
        parent.moment("as the process that took over asked"),
    ];
    assert!(moments.is_sorted(), "{moments:?}");
    assert!(parent.drained() >= Duration::from_millis(790), "{:?}", parent.drained());
    child.says("the process before is gone");
    its.call();
}

#[test]
fn who_may_not_take_over_is_told_why() {
    let world = World::new();
    let (mut parent, addresses) = world.serving(0, FAST);
    let refused = |epoch: u32, flags: &[&str], why: &str| {
        let mut process = world.start(epoch, flags);
        assert_eq!(process.wait().code(), Some(2));
        assert!(process.log().contains(why), "{}", process.log());
    };
    refused(0, FAST, "the next one has to have `--restart-epoch 1`, not 0");
    refused(2, FAST, "the next one has to have `--restart-epoch 1`, not 2");
    refused(1, &["--drain-time-s", "5", "--parent-shutdown-time-s", "5"], "would be cut off");
    // Another one is at it.
    let (peer, answer) = Peer::greet(&world, &Handshake::of(1));
    assert!(matches!(answer, Answer::Hello(_)), "{answer:?}");
    refused(1, FAST, "another process is taking over now");
    drop(peer);
    parent.says("going on");
    // One drains.
    let (mut child, _) = world.serving(1, SLOW);
    child.says("took over");
    refused(2, FAST, "waits for the one before it to end");
    assert!(parent.is_running() && child.is_running());
    addresses.call();
}

#[test]
fn a_restart_with_another_protocol_major_is_refused() {
    let world = World::new();
    let (mut parent, addresses) = world.serving(0, FAST);
    let (_, answer) = Peer::greet(&world, &Handshake { protocol_major: 2, ..Handshake::of(1) });
    let why = "the process of epoch 0 speaks version 1 of the restart protocol, and this one 2: \
               stop it, and start this one with `--restart-epoch 0`";
    assert_eq!(answer, Answer::Refusal(Refusal { reason: why.to_owned() }));
    // What is no message is refused as well.
    let mut stream = UnixStream::connect(world.socket()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let answer = Peer(stream).hear::<Reply>();
    assert!(matches!(answer.reply, Some(Answer::Refusal(_))), "{answer:?}");
    addresses.call();
    parent.kill();

    // The other way round: the parent is of another major.
    std::fs::remove_file(world.socket()).unwrap();
    let listener = UnixListener::bind(world.socket()).unwrap();
    let mut child = world.start(1, FAST);
    let mut peer = Peer(listener.accept().unwrap().0);
    assert_eq!(peer.hear::<Handshake>(), Handshake::of(1));
    let hello = Handshake { protocol_major: 2, ..Handshake::of(0) };
    peer.say(&Reply { reply: Some(Answer::Hello(hello)) });
    assert_eq!(child.wait().code(), Some(2));
    assert!(child.log().contains("speaks version 2 of the restart protocol"), "{}", child.log());
}

#[test]
fn a_child_that_is_killed_at_any_step_leaves_the_parent_as_it_was() {
    let world = World::new();
    let (parent, addresses) = world.serving(0, SLOW);
    let mut there = [(); 9].map(|()| Polling::connect(&addresses.http));
    for staying in &mut there {
        staying.send(r#"{"node": {"id": "there"}}"#);
        assert_eq!(staying.answer(), (200, false));
    }
    for steps in 0..3 {
        let (mut peer, answer) = Peer::greet(&world, &Handshake::of(1));
        assert!(matches!(answer, Answer::Hello(_)), "{answer:?}");
        if steps > 0 {
            let answer = peer.ask(Ask::TakeListeners(Nothing {}));
            let Answer::Heritage(heritage) = answer else { panic!("{answer:?}") };
            let names: Vec<&str> = heritage.listeners.iter().map(|it| &*it.name).collect();
            assert_eq!(names, ["http", "grpc", "admin"]);
        }
        if steps > 1 {
            let too_early = peer.ask(Ask::Terminate(Nothing {}));
            assert!(matches!(too_early, Answer::Refusal(_)), "{too_early:?}");
            let answer = peer.ask(Ask::Drain(Nothing {}));
            assert_eq!(answer, Answer::Draining(Draining { seconds: 30.0 }));
            // Nobody accepts now. Whoever comes waits until somebody does, though those who are there
            // are answered.
            let mut late = Polling::connect(&addresses.http);
            late.send(r#"{"node": {"id": "late"}}"#);
            for staying in &mut there {
                staying.send(r#"{"node": {"id": "there"}}"#);
                assert_eq!(staying.answer().0, 200);
            }
            assert!(!late.has_answer(), "somebody accepts");
            drop(peer);
            assert_eq!(late.answer().0, 200);
        }
        addresses.call();
    }
    // So does a real one.
    let (mut child, _) = world.serving(1, SLOW);
    child.says("took over");
    child.kill();
    parent.says("\"the process that was to take over is gone, going on: unexpected end of file\"");
    addresses.call();
    let (child, its) = world.serving(1, SLOW);
    child.says("took over");
    assert_eq!(its, addresses);
}

#[test]
fn a_parent_that_is_killed_at_any_step_is_replaced() {
    let world = World::new();
    // Before it is asked, and while it is.
    for answers in 0..3 {
        let _ = std::fs::remove_file(world.socket());
        let listener = UnixListener::bind(world.socket()).unwrap();
        let child = world.start(1, FAST);
        if answers > 0 {
            let mut peer = Peer(listener.accept().unwrap().0);
            peer.hear::<Handshake>();
            if answers > 1 {
                peer.say(&Reply { reply: Some(Answer::Hello(Handshake::of(0))) });
                peer.hear::<Request>();
            }
        }
        drop(listener);
        child.says("the process before this one is gone");
        child.says("\"serving\"");
    }
    // While it drains: what it counted is kept.
    std::fs::remove_file(world.socket()).unwrap();
    let (mut parent, addresses) = world.serving(0, SLOW);
    (0..3).for_each(|_| addresses.call());
    let (child, its) = world.serving(1, SLOW);
    child.says("took over");
    parent.kill();
    child.says("the process before is gone");
    (0..2).for_each(|_| its.call());
    assert_eq!(its.stat("grpc.streams_total"), 5);
    let (mut next, its) = world.serving(2, SLOW);
    next.says("took over");
    assert_eq!((its.stat("grpc.streams_total"), its.stat("grpc.streams_active")), (5, 0));
    assert!(next.is_running());
}

/// The system releases the sockets of a process that was killed a moment after its end.
#[test]
fn the_address_of_a_process_that_was_killed_is_waited_for() {
    let world = World::new();
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let child = world.start(1, &[FAST, &["--http", &address]].concat());
    child.says("the process before this one is gone");
    drop(held);
    child.says("\"serving\"");
}

#[test]
fn a_process_that_waits_for_the_one_before_it_ends_when_it_is_told_to() {
    let world = World::new();
    let listener = UnixListener::bind(world.socket()).unwrap();
    let mut child = world.start(1, FAST);
    // It never gets an answer.
    let mut peer = Peer(listener.accept().unwrap().0);
    peer.hear::<Handshake>();
    child.signal(Signal::TERM);
    assert!(child.wait().success(), "{}", child.log());
}

#[test]
fn another_address_is_listened_at_anew() {
    let world = World::new();
    let (_parent, addresses) = world.serving(0, SLOW);
    let (child, its) = world.serving(1, &[SLOW, &["--http", "0.0.0.0:0"]].concat());
    child.says("took over");
    let (_, port) = its.http.rsplit_once(':').unwrap();
    assert!(!addresses.http.ends_with(port), "{its:?}");
    let other = format!("127.0.0.1:{port}");
    assert_eq!(poll(&other, CLUSTERS, r#"{"node": {"id": "a"}}"#).0, 200);
    assert_eq!(addresses.stat("server.hot_restart_epoch"), 1);
}

#[test]
fn the_restarter_replaces_a_server() {
    let world = World::new();
    let mut command = Command::new(SERVER);
    command.args(["restarter", "--", SERVER]);
    let mut restarter = world.spawn(command, FAST);
    let line: serde_json::Value = serde_json::from_str(&restarter.says("\"serving\"")).unwrap();
    let address = |key: &str| line["fields"][key].as_str().unwrap().to_owned();
    let its = Addresses { grpc: address("grpc"), http: address("http"), admin: address("admin") };
    restarter.says("serving the resources");
    its.call();
    restarter.signal(Signal::HUP);
    restarter.says("took over");
    its.call();
    assert_eq!(its.stat("server.hot_restart_epoch"), 1);
    restarter.says("the process before is gone");
    assert!(restarter.is_running());
    restarter.signal(Signal::TERM);
    assert!(restarter.wait().success());
}

#[test]
fn a_thousand_streams_leave_and_come_back() {
    run(async {
        const STREAMS: usize = 1000;
        let world = World::new();
        let (mut parent, addresses) = world.serving(0, FAST);
        let mut streams = tokio::task::JoinSet::new();
        let (arrive, mut arrived) = watch::channel(0);
        for id in 0..STREAMS {
            let (grpc, arrive) = (addresses.grpc.clone(), arrive.clone());
            streams.spawn(async move {
                let (mut stream, _) = visit(&grpc, id).await.expect("a stream");
                arrive.send_modify(|it| *it += 1);
                let end = stream.next().await.expect_err("nothing changes");
                assert_eq!(end.code(), Code::Ok, "{end:?}");
                visit(&grpc, id).await.expect("a stream of the next process").0
            });
        }
        arrived.wait_for(|it| *it == STREAMS).await.unwrap();
        let child = tokio::task::block_in_place(|| world.start(1, FAST));
        tokio::task::block_in_place(|| child.says("took over"));
        let mut open = Vec::new();
        while let Some(came) = streams.join_next().await {
            open.push(came.expect("no call fails"));
        }
        tokio::task::block_in_place(|| parent.wait());
        let count = ["grpc.streams_active", "grpc.streams_total"].map(|it| addresses.stat(it));
        assert_eq!(count, [STREAMS as u64, 2 * STREAMS as u64]);
    });
}

#[test]
fn each_process_counts_deprecated_uses_from_zero() {
    let api = edge_api();
    let world = World { api: api.path().to_owned(), ..World::new() };
    world.put("a.yaml", &pool("a", "width: 3"));
    let (mut parent, its) = world.serving(0, FAST);
    let names = ["use", "seen_since_process_start"];
    let counts =
        |of: &Addresses| names.map(|name| of.stat(&format!("runtime.deprecated_feature_{name}")));
    assert_eq!(counts(&its), [1, 1]);
    world.put("a.yaml", &pool("a", "size: 1"));
    let is_served = || (its.stat("resources.update_success") == 2).then_some(());
    parent.log.until(is_served).expect("it is served");
    let (child, now) = world.serving(1, FAST);
    assert!(parent.wait().success(), "{}", parent.log());
    assert_eq!(counts(&now), [1, 0], "the counter goes on, and what this process saw is nothing");
    drop(child);
}

/// Refuses what a stream is sent, as a client of one release.
async fn refuse(address: &str, id: &str) {
    let mut stream = Whole::open(address, "v3", node(id, "", "1.0.0")).await.expect("a stream");
    stream.ask(CDS, &[]).await;
    let response = stream.next().await.expect("a response");
    let request = DiscoveryRequest {
        type_url: response.type_url,
        response_nonce: response.nonce,
        error_detail: Some(abide_xds::wire::Status { code: 3, message: "too fast".to_owned() }),
        ..DiscoveryRequest::default()
    };
    stream.send(request).await;
    // Until the refusal was heard.
    let _ = stream.next().await;
}

/// A page of the admin port, once it says something.
fn page_that_says(process: &Process, its: &Addresses, path: &str, what: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let page = || Some(server::ask(&its.admin, &head).1).filter(|it| it.contains(what));
    process.log.until(page).unwrap_or_else(|| panic!("{path} never says `{what}`"))
}

/// Two clients refuse a change: it is taken back, by one process and all after it.
fn with_a_change_taken_back(flags: &[&str]) -> (World, Process, Addresses) {
    let world = World::new();
    let (process, its) = world.serving(0, flags);
    world.put("a.yaml", &cluster("a", 2));
    let is_served = || (its.stat("resources.update_success") == 2).then_some(());
    process.log.until(is_served).expect("it is served");
    run(async {
        tokio::join!(refuse(&its.grpc, "one"), refuse(&its.grpc, "two"));
    });
    page_that_says(&process, &its, "/ready", "was refused by 2 clients");
    (world, process, its)
}

#[test]
fn what_was_taken_back_stays_so_after_a_hot_restart() {
    let flags = [FAST, &["--roll-back-after", "2"]].concat();
    let (world, mut parent, its) = with_a_change_taken_back(&flags);
    let before = page_that_says(&parent, &its, "/config_dump", "served");
    let mut child = world.start(1, &flags);
    child.says("the process before is gone");
    assert!(parent.wait().success(), "{}", parent.log());
    let ready = page_that_says(&child, &its, "/ready", "was refused by 2 clients");
    assert!(ready.starts_with("LIVE: what was served before"), "{ready}");
    let version = |dump: &str| {
        let dump: serde_json::Value = serde_json::from_str(dump).expect("JSON");
        dump["served"][0]["types"][CDS]["version"].clone()
    };
    let now = page_that_says(&child, &its, "/config_dump", "served");
    assert!(version(&now).is_string() && version(&now) == version(&before), "{now}");
    // A change that mends it is served.
    world.put("a.yaml", &cluster("a", 3));
    page_that_says(&child, &its, "/ready", "LIVE\n");
    assert!(child.is_running());
}

#[test]
fn a_state_folder_outlives_a_process_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let flags =
        [FAST, &["--roll-back-after", "2", "--state-dir", state.to_str().unwrap()]].concat();
    let (world, mut killed, _) = with_a_change_taken_back(&flags);
    let is_kept = || {
        let kept = std::fs::read(state.join("state")).unwrap_or_default();
        kept.windows(8).any(|it| it == b"too fast").then_some(())
    };
    killed.log.until(is_kept).expect("it is written");
    killed.kill();
    let after = world.start(0, &flags);
    let line = after.says("\"serving\"");
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = |key: &str| line["fields"][key].as_str().unwrap().to_owned();
    let its = Addresses { grpc: address("grpc"), http: address("http"), admin: address("admin") };
    page_that_says(&after, &its, "/ready", "LIVE: what was served before");
    page_that_says(&after, &its, "/ready", "was refused by 2 clients");
    its.call();
    drop(after);
    // A file that is broken when a server starts takes nothing away either.
    world.put("a.yaml", "name: [");
    let after = world.start(0, &flags);
    let line: serde_json::Value = serde_json::from_str(&after.says("\"serving\"")).unwrap();
    let address = |key: &str| line["fields"][key].as_str().unwrap().to_owned();
    let its = Addresses { grpc: address("grpc"), http: address("http"), admin: address("admin") };
    page_that_says(&after, &its, "/ready", "LIVE: what was served before");
    page_that_says(&after, &its, "/ready", "a.yaml:1");
    its.call();
    // Only its owner reads it: resources may be secrets.
    let mode = std::os::unix::fs::MetadataExt::mode(&state.join("state").metadata().unwrap());
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[test]
fn what_operators_set_and_what_was_counted_by_type_goes_on() {
    let world = World::new();
    let (mut parent, its) = world.serving(0, FAST);
    (0..3).for_each(|_| its.call());
    let post = |path: &str| {
        let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        server::ask(&its.admin, &format!("{head}content-length: 0\r\n\r\n")).0
    };
    assert_eq!(post("/runtime_modify?key=7"), 200);
    let old = "/v2/discovery:clusters";
    assert_eq!(poll(&its.http, old, r#"{"node": {"id": "old"}}"#).0, 200);
    let since = |page: &str| {
        let page: serde_json::Value = serde_json::from_str(page).expect("JSON");
        page["since"].as_str().expect("a time").parse::<jiff::Timestamp>().expect("a time")
    };
    let begin = since(&page_that_says(&parent, &its, "/versions", "since"));
    let child = world.start(1, FAST);
    child.says("the process before is gone");
    assert!(parent.wait().success(), "{}", parent.log());
    assert_eq!([its.stat("xds.requests.cds.v3"), its.stat("xds.responses.cds.v3")], [3, 3]);
    assert_eq!(its.stat("xds.requests.cds.v2"), 1);
    let versions = page_that_says(&child, &its, "/versions", "envoy.api.v2.Cluster");
    let found: serde_json::Value = serde_json::from_str(&versions).unwrap();
    let types = found["types"].as_array().unwrap();
    let asked =
        types.iter().find(|it| it["type_url"] == "type.googleapis.com/envoy.api.v2.Cluster");
    assert_eq!(asked.expect("it is listed")["asked"], 1, "{versions}");
    assert_eq!(since(&versions).as_second(), begin.as_second());
    page_that_says(&child, &its, "/runtime", "\"final_value\": \"7\"");
    // Health checks that were made to fail go on to do so.
    assert_eq!(post("/healthcheck/fail"), 200);
    let next = world.start(2, FAST);
    next.says("the process before is gone");
    page_that_says(&next, &its, "/ready", "DRAINING: health checks are to fail");
}

/// What systemd is told by the units that run servers.
#[test]
fn systemd_is_told_when_clients_may_come_and_when_they_leave() {
    use std::os::unix::net::UnixDatagram;
    let world = World::new();
    let path = world.folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    let next = || {
        let mut bytes = [0; 4096];
        let length = socket.recv(&mut bytes).expect("it says something");
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let start = |epoch: &str| {
        let mut command = Command::new(SERVER);
        command.env("NOTIFY_SOCKET", &path);
        world.spawn(command, &[FAST, &["--restart-epoch", epoch]].concat())
    };
    let first = start("0");
    let ready = next();
    assert!(ready.starts_with("READY=1\nSTATUS=gRPC at 127.0.0.1:"), "{ready}");
    let mut second = start("1");
    let reloading = next();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert!(next().starts_with("READY=1\n"));
    // The one before ends, and the service does not.
    first.says("as the process that took over asked");
    // A start that fails leaves the service as it was.
    world.put("a.yaml", "name: [");
    assert_eq!(start("2").wait().code(), Some(2));
    assert!(next().starts_with("RELOADING=1\n"));
    assert!(next().starts_with("READY=1\nSTATUS=the last start failed"));
    second.signal(Signal::TERM);
    assert!(next().starts_with("STOPPING=1\n"));
    assert_eq!(second.wait().code(), Some(0));
}
