//! Measures `abide-serve` under load, beside a bare server that sends prepared bytes.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use abide_harness::programs::{abide_serve, stdout, target, workspace};
use abide_harness::{ExternalPaths, Result};
use serde_json::Value;

use super::timing::{median, name_verdict};

/// How many clients there are, each over a connection of its own.
const CLIENTS: usize = 1_000;

/// How many clusters they take, and whether the clients also come again and many changes are made.
const CLUSTERS: [(usize, bool); 2] = [(10_000, true), (100_000, false)];

/// How many times one cluster changes, for a median.
const CHANGES: u64 = 41;

/// How long the clients rest before a change. A server that answers sooner would otherwise be changed
/// sooner again, and TCP acknowledges what it received with what it sends within 40 ms, for nothing.
const REST: Duration = Duration::from_millis(100);

/// How many clusters a file holds.
const IN_A_FILE: usize = 100;

/// How many changes come in a second, and for how many seconds.
const RATE: u64 = 200;
const SECONDS: u64 = 60;

/// The most that a change may take, as a multiple of the floor, once the server knows of it.
const CHANGE: f64 = 1.25;

/// The most that the first fill may take, likewise.
const FILL: f64 = 2.0;

/// The most memory that the server may have had with the fewer clusters, in MiB.
const MEMORY: f64 = 400.0;

/// What the clients say about one of their lines.
#[derive(Clone, Copy)]
struct Answer {
    /// Seconds until the first and until the last client had accepted.
    first: f64,
    last: f64,
    mebibytes: f64,
}

impl Answer {
    fn of(said: &Value) -> Result<Answer> {
        let number = |name: &str| said[name].as_f64().ok_or(format!("no `{name}` in {said}"));
        let mebibytes = number("bytes")? / f64::from(1 << 20);
        Ok(Answer { first: number("first")?, last: number("last")?, mebibytes })
    }

    /// How long it took to tell all clients after the first one.
    fn spread(&self) -> f64 {
        self.last - self.first
    }
}

/// A server and its clients, beside another one.
struct Side {
    // They end before it does.
    clients: Clients,
    server: Ended,
    fill: Answer,
    changes: Vec<Answer>,
}

impl Side {
    /// Lets the clients come to a server.
    fn connect_clients(server: Ended, mut clients: Clients) -> Result<Side> {
        let fill = Answer::of(&clients.tell(&format!("connect {CLIENTS}"))?)?;
        Ok(Side { server, clients, fill, changes: Vec::new() })
    }

    /// Moves what was written into the place of a file, and waits until all clients have it.
    fn change(&mut self, written: &Path, file: &Path) -> Result<Answer> {
        let line = format!("change {} {}", written.display(), file.display());
        Answer::of(&self.clients.tell(&line)?)
    }

    /// The median of a figure of the changes.
    fn median(&self, figure: impl Fn(&Answer) -> f64) -> f64 {
        median(self.changes.iter().map(figure).collect())
    }
}

/// Measures all of it; true if every goal is met.
pub(super) fn run(report: &mut String, paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let load = load()?;
    writeln!(report, "\n## Serving {CLIENTS} incremental clients\n")?;
    writeln!(
        report,
        "Each has its own connection. Seconds from the start, or from the moment that a file is \
         moved into place, to the last ACK; in parentheses to the first. Changes are medians of \
         {CHANGES}, in turn, each {REST:?} after the one before.\n"
    )?;
    writeln!(report, "| clusters | | server | floor | ratio | goal |\n|---|---|---|---|---|---|")?;
    let mut met = true;
    for (clusters, is_long) in CLUSTERS {
        let folder = Folder::write(clusters)?;
        let mut ours = start_server(&serve, &load, &folder)?;
        // What all are sent is recorded for the floor.
        ours.change(&folder.write_change(0)?, &folder.file(0))?;
        let mut floor = start_floor(&load, &folder)?;
        floor.change(&folder.write_change(0)?, &folder.watched())?;
        for number in 1..=CHANGES {
            for (side, file) in [(&mut ours, folder.file(0)), (&mut floor, folder.watched())] {
                let written = folder.write_change(number)?;
                std::thread::sleep(REST);
                let answer = side.change(&written, &file)?;
                side.changes.push(answer);
            }
        }
        let memory = (ours.server.memory()?, floor.server.memory()?);
        let mut row = |what: &str, ours: String, floor: String, ratio: f64, most: Option<f64>| {
            let goal = most.map_or_else(String::new, |most| {
                met &= ratio <= most;
                format!("{most}: {}", name_verdict(ratio <= most))
            });
            writeln!(report, "| {clusters} | {what} | {ours} | {floor} | {ratio:.2} | {goal} |")
        };
        let told = |it: &Answer| format!("{:.3} ({:.3})", it.last, it.first);
        let fill = (&ours.fill, &floor.fill);
        row(
            &format!("first fill, {:.0} MiB", fill.0.mebibytes),
            told(fill.0),
            told(fill.1),
            fill.0.last / fill.1.last,
            Some(FILL),
        )?;
        let whole = (ours.median(|it| it.last), floor.median(|it| it.last));
        row(
            "one change, from file to last ACK",
            format!("{:.3} ({:.3})", whole.0, ours.median(|it| it.first)),
            format!("{:.3} ({:.3})", whole.1, floor.median(|it| it.first)),
            whole.0 / whole.1,
            None,
        )?;
        let spread = (ours.median(Answer::spread), floor.median(Answer::spread));
        row(
            "one change, from first ACK to last",
            format!("{:.3}", spread.0),
            format!("{:.3}", spread.1),
            spread.0 / spread.1,
            Some(CHANGE),
        )?;
        row(
            "peak memory, MiB",
            format!("{:.0}", memory.0),
            format!("{:.0}", memory.1),
            memory.0 / memory.1,
            None,
        )?;
        if is_long {
            let fits = memory.0 <= MEMORY;
            met &= fits;
            drop(floor);
            writeln!(report, "\n- memory at most {MEMORY} MiB: {}", name_verdict(fits))?;
            writeln!(report, "{}\n", time_long_run(&mut ours, &folder)?)?;
            writeln!(
                report,
                "| clusters | | server | floor | ratio | goal |\n|---|---|---|---|---|---|"
            )?;
        }
    }
    Ok(met)
}

/// The program that is the clients and the floor.
fn load() -> Result<PathBuf> {
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "--locked", "-p", "abide-serve", "--example", "load"]);
    stdout(build.current_dir(workspace()?))?;
    Ok(target()?.join("release/examples/load"))
}

/// `abide-serve`.
fn start_server(serve: &Path, load: &Path, folder: &Folder) -> Result<Side> {
    let mut command = Command::new(serve);
    command
        .arg("--resources")
        .arg(folder.resources())
        .arg("--api")
        .arg(workspace()?.join("crates/abide-serve/example/api"))
        .args(["--log-format", "json"])
        .env("RUST_LOG", "warn,abide_serve::commands=info")
        .stderr(Stdio::piped());
    let any = "127.0.0.1:0";
    command.args(["--grpc", any, "--http", any, "--admin", any]);
    let mut server = Ended(command.spawn()?);
    let mut logs = BufReader::new(server.0.stderr.take().ok_or("it is piped")?);
    let mut line = String::new();
    let address = loop {
        line.clear();
        if logs.read_line(&mut line)? == 0 {
            return Err("abide-serve ended".into());
        }
        let said: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(address) = said["fields"]["grpc"].as_str() {
            break address.to_owned();
        }
    };
    std::thread::spawn(move || std::io::copy(&mut logs, &mut std::io::sink()));
    Side::connect_clients(server, Clients::start(load, &address, Some(&folder.root))?)
}

/// Lets all clients come again, and makes many changes.
fn time_long_run(ours: &mut Side, folder: &Folder) -> Result<String> {
    let Side { server, clients, .. } = ours;
    let again = Answer::of(&clients.tell("reconnect")?)?;
    let before = server.processor()?;
    clients.say(&format!("watch {}", SECONDS + 5))?;
    let begin = Instant::now();
    let mut late = Duration::ZERO;
    for number in 0..RATE * SECONDS {
        let due = Duration::from_millis(number * 1000 / RATE);
        match due.checked_sub(begin.elapsed()) {
            Some(wait) => std::thread::sleep(wait),
            None => late = late.max(begin.elapsed() - due),
        }
        std::fs::rename(folder.write_change(CHANGES + 1 + number)?, folder.file(0))?;
    }
    let ended = begin.elapsed().as_secs_f64();
    let said = clients.hear()?;
    let processor = server.processor()? - before;
    let peak = server.memory()?;
    let responses = said["responses"].as_u64().unwrap_or(0);
    let behind = said["last"].as_f64().unwrap_or(f64::NAN) - ended;
    let mut more = String::new();
    writeln!(
        more,
        "- {CLIENTS} clients that come again at once with what they hold: the last was answered after \
         {:.3} s",
        again.last
    )?;
    write!(
        more,
        "- {RATE} changes a second for {SECONDS} s: {responses} responses, the last one accepted \
         {behind:.2} s after the last change; {processor:.1} s of processor time, peak {peak:.0} MiB; \
         no change was made more than {:.2} s late",
        late.as_secs_f64()
    )?;
    Ok(more)
}

/// The same with prepared bytes.
fn start_floor(load: &Path, folder: &Folder) -> Result<Side> {
    let mut command = Command::new(load);
    command.arg("floor").stdout(Stdio::piped());
    for (flag, name) in [("--first", "connect"), ("--change", "change")] {
        command.arg(flag).arg(folder.root.join(name));
    }
    std::fs::write(folder.watched(), "")?;
    command.arg("--watch").arg(folder.watched());
    let mut server = Ended(command.spawn()?);
    let mut said = BufReader::new(server.0.stdout.take().ok_or("it is piped")?);
    let mut address = String::new();
    said.read_line(&mut address)?;
    Side::connect_clients(server, Clients::start(load, address.trim(), None)?)
}

/// A process that ends when this is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Ended {
    /// The most memory it had, in MiB.
    fn memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find(|it| it.starts_with("VmHWM:")).ok_or("no VmHWM")?;
        let kibibytes: f64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
        Ok(kibibytes / 1024.0)
    }

    /// The seconds of processor time that it has taken. Linux counts them in hundredths.
    fn processor(&self) -> Result<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
        Ok(ticks.sum::<std::result::Result<u64, _>>()? as f64 / 100.0)
    }
}

/// The clients, which are one process.
struct Clients {
    process: Ended,
    input: ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Clients {
    fn start(load: &Path, address: &str, record: Option<&Path>) -> Result<Clients> {
        let mut command = Command::new(load);
        command.args(["clients", "--target", address]);
        if let Some(folder) = record {
            command.arg("--record").arg(folder);
        }
        let mut process = Ended(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let input = process.0.stdin.take().ok_or("it is piped")?;
        let output = BufReader::new(process.0.stdout.take().ok_or("it is piped")?);
        Ok(Clients { process, input, output })
    }

    fn say(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.input, "{line}")?)
    }

    fn hear(&mut self) -> Result<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            let status = self.process.0.wait()?;
            return Err(format!("the clients ended: {status}").into());
        }
        Ok(serde_json::from_str(&line)?)
    }

    fn tell(&mut self, line: &str) -> Result<Value> {
        self.say(line)?;
        self.hear()
    }
}

/// What is served.
struct Folder {
    root: PathBuf,
}

impl Folder {
    fn write(clusters: usize) -> Result<Folder> {
        let root = target()?.join(format!("bench-serving-{clusters}"));
        if root.exists() {
            std::fs::remove_dir_all(&root)?;
        }
        let folder = Folder { root };
        std::fs::create_dir_all(folder.resources())?;
        for number in 0..clusters / IN_A_FILE {
            std::fs::write(folder.file(number), text(number, 1))?;
        }
        Ok(folder)
    }

    fn resources(&self) -> PathBuf {
        self.root.join("resources")
    }

    fn file(&self, number: usize) -> PathBuf {
        self.resources().join(format!("clusters-{number:04}.yaml"))
    }

    fn next(&self) -> PathBuf {
        self.root.join("next.yaml")
    }

    /// The file whose changes the floor tells of.
    fn watched(&self) -> PathBuf {
        self.root.join("watched.yaml")
    }

    /// Writes a file in which one cluster is different, to be moved over the first one.
    fn write_change(&self, number: u64) -> Result<PathBuf> {
        std::fs::write(self.next(), text(0, number + 2))?;
        Ok(self.next())
    }
}

/// The clusters of a file; the first of them has this timeout.
fn text(file: usize, seconds: u64) -> String {
    let mut text = String::new();
    for at in 0..IN_A_FILE {
        let number = file * IN_A_FILE + at;
        let seconds = if at == 0 { seconds } else { 1 };
        text.push_str(&format!(
            "---
\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: cluster-{number:06}
type: STRICT_DNS
connect_timeout: {seconds}s
"
        ));
    }
    text
}
