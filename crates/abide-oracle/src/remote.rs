//! APIs of real servers: each is read by reflection equal to its tree, and drifts are found with who is
//! behind.

mod drifts;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use abide_harness::programs::{Protoc, abide_remote, abide_serve, stdout, target, workspace};
use abide_harness::{ExternalPaths, Result};

use self::drifts::{DRIFTS, Drift, FILES, SERVICE};
use crate::serving::processes::{Processes, free_port};
use crate::serving::wait_until;

const PYTHON: &str = include_str!("remote/server.py");
const NODE: &str = include_str!("remote/server.js");

/// True if every server is read as it is, and every drift is found.
pub(crate) fn run(paths: &ExternalPaths, protoc: &Protoc, abide: &Path) -> Result<bool> {
    let folder = target()?.join("oracle-remote");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let remote = abide_remote(paths.abide_remote.as_deref())?;
    let programs = Programs { abide: abide.to_owned(), remote, folder };
    let tree = programs.write_tree("tree", FILES)?;
    let set = programs.compile(protoc, &tree)?;
    let mut good = python(&programs, protoc, &tree, &set)?;
    good &= node(&programs, &tree, &set)?;
    good &= rust(&programs, &abide_serve(paths.abide_serve.as_deref())?)?;
    println!("SKIPPED: reflection of C++, Java and Go: their servers need a toolchain to build");
    Ok(good)
}

/// The programs under test, and where their files go.
struct Programs {
    abide: PathBuf,
    remote: PathBuf,
    folder: PathBuf,
}

impl Programs {
    fn write_tree(&self, name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
        let tree = self.folder.join(name);
        for (path, text) in files {
            let path = tree.join(path);
            std::fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
            std::fs::write(path, text)?;
        }
        Ok(tree)
    }

    /// A descriptor set of a tree, as the real protoc writes it.
    fn compile(&self, protoc: &Protoc, tree: &Path) -> Result<PathBuf> {
        let set = tree.with_extension("binpb");
        let mut command = protoc.command(&[tree]);
        command.arg("--include_imports").arg(format!("--descriptor_set_out={}", set.display()));
        stdout(command.args(FILES.iter().map(|it| it.0)))?;
        Ok(set)
    }

    fn abide(&self, args: &[&str]) -> Result<Output> {
        let beside = self.remote.parent().ok_or("a program has a folder")?;
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(&self.abide);
        command.args(args).env("PATH", format!("{}:{path}", beside.display()));
        Ok(command.output()?)
    }

    /// True if a server is read equal to a tree: no drift in any direction, and the same hashes.
    fn is_equal(&self, port: u16, tree: &Path) -> Result<bool> {
        let (server, tree) = (format!("grpc://127.0.0.1:{port}"), tree.display().to_string());
        let drifts = [
            self.abide(&["drift", &server, &tree, "--format", "json"])?,
            self.abide(&["drift", &tree, &server, "--format", "json"])?,
        ];
        let is_silent = |ran: &Output| {
            let text = String::from_utf8_lossy(&ran.stdout);
            ran.status.success() && text.lines().count() == 1
        };
        let hashes = [
            self.abide(&["hash", &server, "--format", "json"])?,
            self.abide(&["hash", &tree, "--format", "json"])?,
        ];
        for ran in drifts.iter().filter(|it| !is_silent(it)) {
            print!(
                "{}{}",
                String::from_utf8_lossy(&ran.stdout),
                String::from_utf8_lossy(&ran.stderr)
            );
        }
        let is_same = hashes[0].status.success() && hashes[0].stdout == hashes[1].stdout;
        if !is_same {
            println!("remote: {}", String::from_utf8_lossy(&hashes[0].stderr));
        }
        Ok(is_same && drifts.iter().all(is_silent))
    }
}

/// A program that prints the ports of its servers. It ends when this is dropped.
struct Servers {
    child: Child,
    ports: Vec<u16>,
}

impl Servers {
    fn start(command: &mut Command, count: usize) -> Result<Servers> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("it is piped")?;
        let mut servers = Servers { child, ports: Vec::new() };
        for line in BufReader::new(output).lines().take(count) {
            servers.ports.push(line?.trim().parse()?);
        }
        match servers.ports.len() == count {
            true => Ok(servers),
            false => Err(format!("{command:?} started {} of {count}", servers.ports.len()).into()),
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn claim(what: &str, holds: bool) -> bool {
    println!("remote: {what}: {}", if holds { "yes" } else { "NO" });
    holds
}

/// Servers in Python: one with the tree, and one with each drift.
fn python(programs: &Programs, protoc: &Protoc, tree: &Path, set: &Path) -> Result<bool> {
    let script = programs.folder.join("server.py");
    std::fs::write(&script, PYTHON)?;
    let mut changed = Vec::new();
    for (number, drift) in DRIFTS.iter().enumerate() {
        let tree = programs.write_tree(&format!("drift-{number}"), &drift.files())?;
        let set = programs.compile(protoc, &tree)?;
        changed.push((drift, tree, set));
    }
    let mut command = Command::new("python3");
    command.arg(&script).arg(set).args(changed.iter().map(|it| &it.2));
    let servers = Servers::start(&mut command, DRIFTS.len() + 1).map_err(|error| {
        format!("no servers in Python, run `pip install grpcio-reflection`: {error}")
    })?;
    let mut good =
        claim("a server in Python is its tree", programs.is_equal(servers.ports[0], tree)?);
    let mut found = 0;
    for ((drift, changed, _), port) in changed.iter().zip(&servers.ports[1..]) {
        let ahead = is_found(programs, drift, servers.ports[0], (changed, "target", 0))?;
        let behind = is_found(programs, drift, *port, (tree, "tree", 1))?;
        found += usize::from(ahead) + usize::from(behind);
    }
    let what = format!("drifts with who is behind: {found} of {}", 2 * DRIFTS.len());
    good &= claim(&what, found == 2 * DRIFTS.len());
    Ok(good)
}

/// True if a drift is found, with who is behind and the exit status.
fn is_found(
    programs: &Programs,
    drift: &Drift,
    port: u16,
    (tree, behind, status): (&Path, &str, i32),
) -> Result<bool> {
    let (server, tree) = (format!("grpc://127.0.0.1:{port}"), tree.display().to_string());
    let ran = programs.abide(&["drift", &server, &tree, "--format", "json"])?;
    let text = String::from_utf8(ran.stdout)?;
    let mut is_named = false;
    for line in text.lines() {
        let finding: serde_json::Value = serde_json::from_str(line)?;
        is_named |= finding["element"].as_str().is_some_and(|it| it.ends_with(drift.element))
            && finding["behind"] == behind;
    }
    let is_found = is_named && ran.status.code() == Some(status);
    if !is_found {
        println!("remote: {} ({behind}, {:?}): {text}", drift.element, ran.status.code());
    }
    Ok(is_found)
}

/// A server in Node, with a library that shows the set as it is. That of gRPC itself makes descriptors
/// anew, of other files and without imports.
fn node(programs: &Programs, tree: &Path, set: &Path) -> Result<bool> {
    let script = programs.folder.join("server.js");
    std::fs::write(&script, NODE)?;
    let modules = match std::env::var_os("ABIDE_GRPC_JS") {
        Some(folder) => PathBuf::from(folder),
        None => target()?.join("ci-grpc-js"),
    };
    let mut command = Command::new("node");
    command.arg(&script).arg(std::path::absolute(&modules)?).arg(set).arg(SERVICE);
    let servers = Servers::start(&mut command, 1).map_err(|error| {
        let modules = modules.display();
        format!("no server in Node, run `npm install --prefix {modules} nice-grpc nice-grpc-server-reflection`: {error}")
    })?;
    Ok(claim("a server in Node is its tree", programs.is_equal(servers.ports[0], tree)?))
}

/// `abide-serve`, whose reflection is our own, with the API of its example.
fn rust(programs: &Programs, serve: &Path) -> Result<bool> {
    let example = workspace()?.join("crates/abide-serve/example");
    let mut processes = Processes::default();
    let [grpc, http, admin] = [free_port()?, free_port()?, free_port()?];
    let mut command = Command::new(serve);
    command.arg("--resources").arg(example.join("resources"));
    command.arg("--api").arg(example.join("api"));
    for (flag, port) in [("--grpc", grpc), ("--http", http), ("--admin", admin)] {
        command.arg(flag).arg(format!("127.0.0.1:{port}"));
    }
    processes.start(&mut command, &programs.folder.join("serve.log"))?;
    let server = format!("grpc://127.0.0.1:{grpc}");
    let api = example.join("api").display().to_string();
    let ran = wait_until("the server answers", || {
        let ran = programs.abide(&["drift", &server, &api, "--format", "json"]).ok()?;
        (ran.status.code() != Some(2)).then_some(ran)
    })?;
    let text = String::from_utf8(ran.stdout)?;
    print!(
        "{}",
        text.lines().filter(|it| it.contains("\"finding\"")).collect::<Vec<_>>().join("\n")
    );
    let is_silent = ran.status.success() && text.lines().count() == 1;
    Ok(claim("abide-serve is its API, and has services beside it", is_silent))
}
