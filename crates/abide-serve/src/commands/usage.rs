//! `abide-serve usage`: which elements clients use, as a file for `[usage] files` of `abide.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::logs::say;
use super::today;
use crate::error::Error;
use abide_transport::fetch;

/// The number of bytes a list of clients may have.
const MAX_CLIENTS: usize = 64 << 20;

/// Write which elements the clients of running servers use, for `[usage] files` of abide.toml
///
/// A line names each type that a client asks for, of which it may use all, and, with a count of 0, each
/// field that the server leaves out because the client does not know it. A client is named by its cluster, or else by its node.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve usage > uses/fleet.jsonl
  abide-serve usage --admin 10.0.0.1:19000 --admin 10.0.0.2:19000
  abide-serve usage --state clients.json --last 2026-03-01")]
pub(crate) struct UsageArgs {
    /// The admin port of a server (repeatable); 127.0.0.1:19000 if nothing is named
    #[arg(long, value_name = "ADDR")]
    admin: Vec<SocketAddr>,
    /// A file with what the page `/clients` of a server showed (repeatable)
    #[arg(long, value_name = "FILE")]
    state: Vec<PathBuf>,
    /// The day of the use [default: today]
    #[arg(long, value_name = "DATE")]
    last: Option<Date>,
}

/// What is used, by element, client and release; and how often.
type Uses = BTreeMap<(String, String, Option<String>), u64>;

pub(super) async fn usage(args: &UsageArgs) -> Result<ExitCode, Error> {
    let mut uses = Uses::new();
    let mut clients = 0;
    let servers = match args.admin.is_empty() && args.state.is_empty() {
        true => vec![SocketAddr::from(([127, 0, 0, 1], 19000))],
        false => args.admin.clone(),
    };
    for server in servers {
        let text = fetch(&server.to_string(), "/clients", MAX_CLIENTS).await;
        let read = text.map_err(|it| it.to_string()).and_then(|it| add_clients(&it, &mut uses));
        clients += read.map_err(|reason| Error::Report { address: server.to_string(), reason })?;
    }
    for path in &args.state {
        let text = std::fs::read(path).map_err(|error| Error::cannot_read(path, error))?;
        clients += add_clients(&text, &mut uses)
            .map_err(|reason| Error::Report { address: path.display().to_string(), reason })?;
    }
    let last = args.last.unwrap_or_else(today).to_string();
    let lines: String = uses.iter().map(|(key, count)| format_line(key, *count, &last)).collect();
    say(&abide_lint::pluralize(clients, "client"));
    let written = std::io::stdout().lock().write_all(lines.as_bytes());
    written.map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn format_line(
    (element, client, release): &(String, String, Option<String>),
    count: u64,
    last: &str,
) -> String {
    let mut object = Map::new();
    object.insert("element".to_owned(), json!(element));
    object.insert("client".to_owned(), json!(client));
    object.extend(release.as_ref().map(|it| ("release".to_owned(), json!(it))));
    object.insert("last".to_owned(), json!(last));
    object.insert("count".to_owned(), json!(count));
    format!("{}\n", Value::Object(object))
}

/// Adds what the clients of a server use. Returns how many there are.
fn add_clients(text: &[u8], uses: &mut Uses) -> Result<usize, String> {
    let page: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let clients = page.as_array().ok_or("it is not a list of clients")?;
    for client in clients {
        let text = |key: &str| client[key].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        let name = text("cluster").or_else(|| text("node")).unwrap_or_else(|| "unnamed".to_owned());
        let mut add = |element: &str, count: u64| {
            let key = (element.to_owned(), name.clone(), text("user_agent"));
            *uses.entry(key).or_default() += count;
        };
        for (url, held) in client["types"].as_object().into_iter().flatten() {
            add(url.rsplit('/').next().unwrap_or(url), 1);
            for field in list_fields(&held["dropped"]) {
                add(field, 0);
            }
        }
    }
    Ok(clients.len())
}

/// The elements that a part of the page lists, each once.
fn list_fields(list: &Value) -> BTreeSet<&str> {
    let entries = list.as_array().into_iter().flatten();
    entries.filter_map(|it| it["field"].as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Uses, add_clients, format_line};

    #[test]
    fn clients_use_what_they_ask_for_and_not_what_is_left_out() {
        let page = r#"[
            {"node": "a", "cluster": "edge", "user_agent": "envoy 1.30.0", "types": {
                "type.googleapis.com/acme.v3.Cluster": {
                    "dropped": [{"name": "x", "field": "acme.v3.Cluster.new"},
                                {"name": "y", "field": "acme.v3.Cluster.new"}]
                }}},
            {"node": "b", "cluster": "edge", "user_agent": "envoy 1.30.0", "types": {
                "type.googleapis.com/acme.v3.Cluster": {}}},
            {"node": "c", "cluster": "", "types": {"type.googleapis.com/acme.v3.Route": {}}}
        ]"#;
        let mut uses = Uses::new();
        assert_eq!(add_clients(page.as_bytes(), &mut uses), Ok(3));
        let lines: Vec<String> =
            uses.iter().map(|(key, count)| format_line(key, *count, "2026-01-02")).collect();
        let edge = |element: &str, count: u8| {
            format!(
                "{{\"element\":\"acme.v3.{element}\",\"client\":\"edge\",\"release\":\"envoy 1.30.0\",\
                 \"last\":\"2026-01-02\",\"count\":{count}}}\n"
            )
        };
        let route = "{\"element\":\"acme.v3.Route\",\"client\":\"c\",\"last\":\"2026-01-02\",\"count\":1}\n";
        let expected = [edge("Cluster", 2), edge("Cluster.new", 0), route.to_owned()];
        assert_eq!(lines, expected);
        for text in ["", "{}", "1"] {
            assert!(add_clients(text.as_bytes(), &mut uses).is_err(), "{text}");
        }
    }
}
