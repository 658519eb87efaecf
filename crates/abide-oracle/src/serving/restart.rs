//! `abide-serve` takes over from itself while real Envoys of the newest and the oldest release stay
//! with it, in all ways of asking, and no request through them fails. Every second process is in
//! mount and process namespaces of its own: the folder is all that it shares with the others.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::envoys::envoys;
use abide_harness::programs::abide_serve;
use abide_harness::{ExternalPaths, Result};

use super::processes::Processes;
use super::resources::{Fleet, Way};
use super::traffic::{Backend, Traffic, get};
use super::wait_until;

/// How often a process takes over.
const RESTARTS: usize = 5;

/// Whether every Envoy was served by every process, and no request failed.
pub(crate) fn run(paths: &ExternalPaths) -> Result<bool> {
    let serve = abide_serve(paths.abide_serve.as_deref())?;
    let envoys = envoys()?;
    let newest = envoys.first().ok_or("no Envoy is installed")?;
    let oldest = envoys.last().ok_or("no Envoy is installed")?;
    let fleet = Fleet::new("restart", newest, oldest)?;
    let contained = contained(&serve, &fleet)?;
    let backends = [Backend::start("blue")?, Backend::start("green")?];
    let mut processes = Processes::default();
    let mut clients = Vec::new();
    for envoy in [newest, oldest] {
        for way in Way::ASKING {
            clients.push((envoy, way, fleet.add_client(envoy, way)?));
        }
    }
    let mut traffic = Vec::new();
    for epoch in 0..=RESTARTS {
        let backend = &backends[epoch % 2];
        fleet.route_to(backend.name, backend.port)?;
        let (number, socket) = (epoch.to_string(), fleet.path("restart"));
        let socket = socket.to_str().ok_or("the folder has no name in UTF-8")?;
        let flags = ["--restart-epoch", &number, "--restart-socket", socket];
        let times = ["--drain-time-s", "1", "--parent-shutdown-time-s", "2"];
        let program = contained.as_deref().filter(|_| epoch % 2 == 1).unwrap_or(&serve);
        fleet.serve(program, &mut processes, &[flags, times].concat())?;
        if epoch == 0 {
            for (envoy, way, client) in &clients {
                fleet.start_envoy(envoy, *way, client, &mut processes)?;
            }
        } else {
            wait_until("the process before ends", || {
                fleet.said().contains("the process before is gone").then_some(())
            })?;
        }
        wait_until("the new process answers", || {
            let info = get(fleet.admin, "/server_info").ok()?;
            let info: serde_json::Value = serde_json::from_str(&info).ok()?;
            (info["restart_epoch"] == epoch).then_some(())
        })?;
        // What changed at the restart or before comes from the new process.
        for (envoy, way, client) in &clients {
            let name = format!("Envoy {} by {}, epoch {epoch}", envoy.version, way.name());
            wait_until(&name, || get(client.listener, "/").ok().filter(|it| it == backend.name))?;
        }
        if epoch == 0 {
            traffic.extend(clients.iter().map(|(_, _, client)| Traffic::start(client.listener)));
        }
        println!("restart: epoch {epoch}: {} clients follow", clients.len());
    }
    let mut good = true;
    for ((envoy, way, _), traffic) in clients.iter().zip(traffic) {
        let (answered, failed) = traffic.stop();
        good &= failed == 0 && answered > 0;
        println!(
            "restart: {RESTARTS} restarts under Envoy {} by {}: {answered} answered, {failed} failed",
            envoy.version,
            way.name()
        );
    }
    let nacked = get(fleet.admin, "/clients")?.contains("\"nacked\"");
    if nacked {
        println!("restart: a client refused something: see /clients");
    }
    Ok(good && !nacked)
}

/// A program that runs `abide-serve` in namespaces of its own, if this machine lets us have them.
fn contained(serve: &Path, fleet: &Fleet) -> Result<Option<PathBuf>> {
    let flags = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
    for user in [&[][..], &["--map-root-user"]] {
        let mut command = Command::new("unshare");
        let is_allowed = command.args(user).args(flags).arg("true").output();
        if is_allowed.is_ok_and(|it| it.status.success()) {
            let path = fleet.path("contained");
            let words = [user, &flags].concat().join(" ");
            let script =
                format!("#!/bin/sh\nexec unshare {words} -- '{}' \"$@\"\n", serve.display());
            std::fs::write(&path, script)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
            println!("restart: every second process runs under `unshare {words}`");
            return Ok(Some(path));
        }
    }
    println!("SKIPPED: no namespaces: `unshare` is not there, or not allowed");
    Ok(None)
}
