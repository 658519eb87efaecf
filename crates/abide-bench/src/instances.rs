//! Measures `abide config check` beside Envoy's own validation.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use abide_harness::Result;
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::target;

use super::timing::{Bench, Sample, Tool, name_verdict};

/// How many bytes the large file has at least.
const LARGE: usize = 1_000_000;

/// How many small files are judged in one run.
const SMALL: usize = 1_000;

/// The most seconds that the large file may take, besides reading the API.
const GOAL: f64 = 0.030;

impl Bench {
    /// One large file, many small ones, and one judged against all releases that are installed.
    pub(super) fn instances(&self, report: &mut String) -> Result<bool> {
        let releases = envoys()?;
        let newest = releases.first().ok_or("no Envoy")?;
        let folder = target()?.join("bench-instances");
        let files = Files::write(&folder, &releases)?;
        let check = |name, file: &Path, more: &[&str]| {
            let mut command = vec![self.abide.clone().into(), "config".into(), "check".into()];
            command.extend([file.to_owned().into(), "--format".into(), "json".into()]);
            command.extend(more.iter().map(OsString::from));
            tool(name, command, &folder, "")
        };
        let api = format!("{}", newest.program.display());
        let one = ["--api", &*api];
        let names: Vec<String> = releases.iter().map(release_name).collect();
        let all: Vec<&str> = names.iter().flat_map(|it| ["--release", it]).collect();
        let validated = format!("validated by {}, its own checks too", newest.version);
        let mut tools = vec![
            check("abide config check, 1 small file", &files.small, &one),
            check("abide config check, 1 MB", &files.large, &one),
            check("abide config check, 1,000 small files", &files.many, &one),
            check("abide config check, 1 small file, all releases", &files.small, &all),
            tool("Envoy, 1 small file", validate(newest, &files.small), &folder, &validated),
            tool("Envoy, 1 MB", validate(newest, &files.large), &folder, &validated),
        ];
        let medians = self.medians(&mut tools)?;
        writeln!(report, "\n## Configuration of Envoy {}\n", newest.version)?;
        writeln!(report, "| run | seconds | peak MiB | what it did |\n|---|---|---|---|")?;
        for (tool, Sample { seconds, mebibytes, .. }) in tools.iter().zip(&medians) {
            writeln!(
                report,
                "| {} | {seconds:.3} | {mebibytes:.0} | {} |",
                tool.name, tool.checks
            )?;
        }
        let besides = medians[1].seconds - medians[0].seconds;
        let met = besides <= GOAL;
        writeln!(
            report,
            "\nA file of 1 MB takes {besides:.3} s besides reading the API (goal: {GOAL} s): {}.",
            name_verdict(met)
        )?;
        Ok(met)
    }
}

fn tool(name: &'static str, command: Vec<OsString>, folder: &Path, checks: &str) -> Tool {
    let (folder, checks) = (folder.to_owned(), checks.to_owned());
    Tool { name, command, folder, done: &[0, 1], checks }
}

fn validate(envoy: &Envoy, file: &Path) -> Vec<OsString> {
    let words = ["--mode", "validate", "--log-level", "error", "--use-dynamic-base-id", "-c"];
    let mut command: Vec<OsString> = vec![envoy.program.clone().into()];
    command.extend(words.iter().map(OsString::from));
    command.push(file.to_owned().into());
    command
}

/// The name of a release in `abide.toml`.
fn release_name(envoy: &Envoy) -> String {
    format!("envoy-{}", envoy.version)
}

/// What is judged.
struct Files {
    small: PathBuf,
    large: PathBuf,
    /// A folder of small files.
    many: PathBuf,
}

impl Files {
    /// Writes them, with an `abide.toml` that names the releases.
    fn write(folder: &Path, releases: &[Envoy]) -> Result<Files> {
        let many = folder.join("many");
        std::fs::create_dir_all(&many)?;
        let files =
            Files { small: folder.join("small.yaml"), large: folder.join("large.yaml"), many };
        std::fs::write(&files.small, render_bootstrap(1))?;
        let clusters = LARGE / (render_bootstrap(2).len() - render_bootstrap(1).len()) + 1;
        std::fs::write(&files.large, render_bootstrap(clusters))?;
        for number in 0..SMALL {
            std::fs::write(
                files.many.join(format!("{number:04}.yaml")),
                render_bootstrap(number % 7 + 1),
            )?;
        }
        let mut config = String::new();
        for envoy in releases {
            let (name, program) = (release_name(envoy), envoy.program.display());
            writeln!(config, "[api.\"{name}\"]\nsource = \"{program}\"\n")?;
        }
        std::fs::write(folder.join("abide.toml"), config)?;
        Ok(files)
    }
}

/// A bootstrap with so many clusters.
fn render_bootstrap(clusters: usize) -> String {
    let mut text = "\
admin:
  address: {socket_address: {address: 127.0.0.1, port_value: 0}}
static_resources:
  clusters:
"
    .to_owned();
    for number in 0..clusters {
        text.push_str(&format!(
            "  - name: cluster-{number}
    type: STATIC
    connect_timeout: 0.25s
    lb_policy: LEAST_REQUEST
    circuit_breakers:
      thresholds:
      - {{priority: DEFAULT, max_connections: 1024, max_pending_requests: 512}}
    load_assignment:
      cluster_name: cluster-{number}
      endpoints:
      - locality: {{region: north, zone: \"{}\"}}
        lb_endpoints:
        - endpoint:
            address: {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}
          load_balancing_weight: 3
    transport_socket:
      name: envoy.transport_sockets.raw_buffer
      typed_config:
        \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer
",
            number % 3,
            number % 50_000 + 1_024,
        ));
    }
    text
}
