//! `abide-serve versions`: which versions of types clients ask for, and which nobody does.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::logs::say;
use crate::clients::UsageReport;
use crate::error::Error;
use abide_transport::fetch;

/// The number of bytes a report may have.
const MAX_REPORT: usize = 4 << 20;

/// Show which versions of types clients asked running servers for
#[derive(Args, Clone, Debug)]
pub(crate) struct VersionsArgs {
    /// Show only the types of older majors that nobody asked for: they may be turned off
    #[arg(long)]
    unused: bool,
    /// The admin port of a server (repeatable); 127.0.0.1:19000 if nothing is named
    #[arg(long, value_name = "ADDR")]
    admin: Vec<SocketAddr>,
    /// A file with what the page `/versions` of a server showed (repeatable)
    #[arg(long, value_name = "FILE")]
    state: Vec<PathBuf>,
    /// How they are shown
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = ["human", "json"])]
    format: String,
}

pub(super) async fn versions(args: &VersionsArgs) -> Result<ExitCode, Error> {
    let mut reports = Vec::new();
    let usual = SocketAddr::from(([127, 0, 0, 1], 19000));
    let servers = match args.admin.is_empty() && args.state.is_empty() {
        true => vec![usual],
        false => args.admin.clone(),
    };
    for server in servers {
        let text = fetch(&server.to_string(), "/versions", MAX_REPORT).await;
        let report = text.map_err(Error::from).and_then(|text| UsageReport::parse_json(&text));
        reports.push(report.map_err(|error| Error::Report {
            address: server.to_string(),
            reason: error.to_string(),
        })?);
    }
    for path in &args.state {
        let text = std::fs::read(path).map_err(|error| Error::cannot_read(path, error))?;
        let report = UsageReport::parse_json(&text);
        reports.push(report.map_err(|error| Error::cannot_read(path, error))?);
    }
    let Some(report) = UsageReport::merge(&reports) else { return Ok(ExitCode::SUCCESS) };
    let text = match (args.unused, &*args.format) {
        (false, "json") => format!("{:#}\n", report.to_json()),
        (true, "json") => {
            let unused = report.find_unused();
            let unused =
                unused.iter().map(|(it, newer)| json!({"type_url": it.type_url, "newer": newer}));
            let unused = unused.collect::<Vec<_>>();
            format!("{:#}\n", json!({"since": report.since.to_string(), "unused": unused}))
        }
        (false, _) => {
            let line = |it: &crate::clients::UsedType| {
                format!("{}: asked for {} times, {} now\n", it.type_url, it.asked, it.clients)
            };
            report.types.iter().map(line).collect()
        }
        (true, _) => {
            let line = |(it, newer): &(&crate::clients::UsedType, String)| {
                format!("{}: nobody asked for it; {newer} is served\n", it.type_url)
            };
            report.find_unused().iter().map(line).collect()
        }
    };
    say(&format!("{} since {}", abide_lint::pluralize(reports.len(), "server"), report.since));
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}
