//! Checks what `abide config diff` says of the cost of changes against the statistics of a real
//! Envoy that takes the same changes from files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::Envoy;
use abide_harness::programs::{stdout, workspace};
use abide_harness::running_envoy::{RunningEnvoy, Started};
use serde_json::Value;

const BOOTSTRAP: &str = "
node: {id: me, cluster: mine}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
dynamic_resources:
  lds_config: {path_config_source: {path: ROOT/lds.yaml}}
  cds_config: {path_config_source: {path: ROOT/cds.yaml}}
";

/// The kinds of resources, as their files are called.
const KINDS: [&str; 5] = ["lds", "rds", "cds", "eds", "sds"];

/// A change of a file, there and back.
struct Change {
    kind: String,
    from: String,
    to: String,
    /// What Abide says of the way there and of the way back.
    costs: [String; 2],
}

impl Change {
    fn parse(line: &str) -> Option<Change> {
        let mut parts = line.split('|');
        let mut next = || parts.next();
        let kind = next()?.trim().to_owned();
        let text = |it: &str| it.trim().replace("\\n", "\n");
        let (from, to, costs) = (text(next()?), text(next()?), next()?.trim());
        let (there, back) = costs.split_once(", ").unwrap_or((costs, costs));
        Some(Change { kind, from, to, costs: [there.to_owned(), back.to_owned()] })
    }
}

/// The counters that show what a change costs, the most expensive first.
const COUNTERS: [(&str, &str); 4] = [
    ("listener_manager.total_listeners_draining", "drains-listener"),
    ("listener_manager.total_filter_chains_draining", "drains-filter-chain"),
    ("cluster_manager.cluster_added", "warms-cluster"),
    ("cluster_manager.cluster_modified", "warms-cluster"),
];

/// The counters that tell that a change was taken in, or was not. What Envoy takes as no change, and what
/// it takes in without a cost, grows these alone.
const TAKEN: [&str; 10] = [
    "listener_manager.lds.update_success",
    "listener_manager.listener_added",
    "listener_manager.listener_modified",
    "listener_manager.listener_removed",
    "cluster_manager.cds.update_success",
    "cluster_manager.cluster_removed",
    "cluster_manager.cluster_updated",
    "http.in.rds.routes.update_success",
    "cluster.found.update_success",
    "cluster.found.client_ssl_socket_factory.ssl_context_update_by_sds",
];

const REFUSED: [&str; 3] = [
    "listener_manager.lds.update_rejected",
    "cluster_manager.cds.update_rejected",
    "http.in.rds.routes.update_rejected",
];

/// An Envoy that follows files, with a copy of each.
struct Followed {
    running: RunningEnvoy,
    folder: PathBuf,
    texts: Vec<(&'static str, String)>,
}

impl Followed {
    fn start(envoy: &Envoy, data: &Path) -> Result<Followed> {
        let folder = corpora::make_fresh_folder("costs")?;
        let bootstrap = folder.join("bootstrap.yaml");
        let root = folder.to_string_lossy().into_owned();
        corpora::write(&bootstrap, BOOTSTRAP.replace("ROOT", &root).as_bytes())?;
        let mut texts = Vec::new();
        for kind in KINDS {
            let text = std::fs::read_to_string(data.join(format!("{kind}.yaml")))?;
            let text = text.replace("ROOT", &root);
            corpora::write(&folder.join(format!("{kind}.yaml")), text.as_bytes())?;
            texts.push((kind, text));
        }
        let drain = ["--drain-time-s", "3600"];
        match RunningEnvoy::start(envoy, &bootstrap, &drain, &folder)? {
            Started::Running(running) => Ok(Followed { running, folder, texts }),
            Started::Refused(why) => Err(format!("Envoy refuses the bootstrap: {why}").into()),
        }
    }

    /// Replaces a file at once, and keeps the one before beside it.
    fn put(&self, kind: &str, old: &str, new: &str) -> Result<()> {
        let next = self.folder.join("next");
        corpora::write(&self.folder.join("old.yaml"), old.as_bytes())?;
        corpora::write(&next, new.as_bytes())?;
        Ok(std::fs::rename(next, self.folder.join(format!("{kind}.yaml")))?)
    }

    /// What `abide config diff` says of the last change of a file.
    fn ask_abide(&self, abide: &Path, api: &Path, kind: &str) -> Result<String> {
        let mut diff = Command::new(abide);
        diff.args(["config", "diff", "--format", "json", "--api"]).arg(api);
        diff.args(["--type", "envoy.service.discovery.v3.DiscoveryResponse"]);
        let new = self.folder.join(format!("{kind}.yaml"));
        let said = stdout(diff.arg(self.folder.join("old.yaml")).arg(new))?;
        let summary: Value = serde_json::from_str(said.lines().last().ok_or("no summary")?)?;
        Ok(summary["cost"].as_str().unwrap_or("nothing").to_owned())
    }
}

/// Makes each change there and back; true if all cost what Abide says. The API is that which the program
/// carries.
pub(super) fn run(envoy: &Envoy, abide: &Path) -> Result<bool> {
    let data = workspace()?.join("testdata/instances/costs");
    let lines = std::fs::read_to_string(data.join("changes.txt"))?;
    let lines = lines.lines().filter(|it| !it.is_empty() && !it.starts_with('#'));
    let followed = Followed::start(envoy, &data)?;
    let mut last = settled(&followed.running)?;
    let (mut count, mut faults) = (0, 0);
    for line in lines {
        let change = Change::parse(line).ok_or_else(|| format!("`{line}` is no change"))?;
        let text = followed.texts.iter().find(|it| it.0 == change.kind);
        let text = text.map(|it| &it.1).filter(|it| it.contains(&change.from));
        let text = text.ok_or_else(|| format!("nothing has what `{line}` changes"))?;
        let changed = text.replacen(&change.from, &change.to, 1);
        for ((old, new), cost) in
            [(text, &changed), (&changed, text)].into_iter().zip(&change.costs)
        {
            followed.put(&change.kind, old, new)?;
            let ours = followed.ask_abide(abide, &envoy.program, &change.kind)?;
            let now = settled(&followed.running)?;
            let seen = cost_seen(&last, &now);
            let is_free = |it: &str| ["nothing", "live"].contains(&it);
            if ours != *cost || seen != ours && !(seen == "live" && is_free(&ours)) {
                faults += 1;
                println!("costs: {line}\n  Abide says {ours}, expected {cost}; Envoy: {seen}");
            }
            last = now;
        }
        count += 1;
    }
    println!(
        "runtime: {count} changes of resources and their way back have their cost; {faults} differences"
    );
    Ok(faults == 0 && count >= 60)
}

/// What the statistics show that a change cost.
fn cost_seen(old: &[u64], new: &[u64]) -> &'static str {
    let has_grown: Vec<bool> = old.iter().zip(new).map(|(old, new)| new > old).collect();
    let found = COUNTERS.iter().zip(&has_grown).find(|it| *it.1).map(|it| it.0.1);
    let is_refused = has_grown[has_grown.len() - REFUSED.len()..].contains(&true);
    if is_refused { "refused" } else { found.unwrap_or("live") }
}

/// The names of all statistics that are watched: those of costs, those of what was taken in, and of what
/// was refused.
fn watched() -> impl Iterator<Item = &'static str> {
    COUNTERS.iter().map(|it| it.0).chain(TAKEN).chain(REFUSED)
}

/// The watched statistics, once they no longer change.
fn settled(running: &RunningEnvoy) -> Result<Vec<u64>> {
    let read = || -> Result<Vec<u64>> {
        let found =
            running.statistics("listener_manager%7Ccluster_manager%7Crds%7Ccluster.found")?;
        let count = |name: &str| {
            let value =
                found.iter().find(|(it, _)| it == name).map(|(_, value)| value.parse().ok());
            value.flatten().unwrap_or_default()
        };
        Ok(watched().map(count).collect())
    };
    let begin = Instant::now();
    let (mut last, mut same) = (read()?, 0);
    while same < 5 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(100));
        let now = read()?;
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}
