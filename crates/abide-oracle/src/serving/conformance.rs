//! Real clients under `abide-serve conformance --client`: each keeps to the protocol in every scenario.

use std::path::Path;
use std::process::Command;

use abide_harness::Result;
use abide_harness::envoys::Envoy;
use abide_harness::programs::{stdout, target};

/// The scenarios that a run has at least.
const SCENARIOS: u64 = 18;

/// What the names of scenarios have in which a client has to refuse something. gRPC for Node, as of
/// 1.14.1, gives no answer at all about a resource that it cannot use.
const REFUSAL: &str = "nack";

/// How many scenarios have no refusal.
const WITHOUT_REFUSAL: u64 = 12;

/// Whether gRPC clients and Envoys, in both variants, pass all scenarios, and a program that does nothing
/// fails.
pub(super) fn run(serve: &Path, envoys: &[&Envoy]) -> Result<bool> {
    let folder = target()?.join("oracle-serving").join("conformance");
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("rpc.py");
    std::fs::write(&program, super::grpc::PROGRAM)?;
    let python = ["python3", &program.to_string_lossy(), "client", "600"].map(str::to_owned);
    let mut good = passes_scenarios("gRPC", serve, &[], &python, SCENARIOS)?;
    let [node, modules] = super::grpc::find_node()?;
    let program = folder.join("rpc.js");
    std::fs::write(&program, super::grpc::PROGRAM_JS)?;
    let node = [node, program.to_string_lossy().into_owned(), modules, "600".to_owned()];
    let names = without_refusal(serve)?;
    let only: Vec<&str> = names.iter().flat_map(|it| ["--only", it]).collect();
    good &=
        passes_scenarios("gRPC for Node, where it answers,", serve, &only, &node, WITHOUT_REFUSAL)?;
    for envoy in envoys {
        let program = envoy.program.to_string_lossy();
        let arguments = ["-c", "{bootstrap}", "--use-dynamic-base-id", "-l", "off"];
        let command: Vec<String> =
            std::iter::once(&*program).chain(arguments).map(str::to_owned).collect();
        let name = format!("Envoy {}", envoy.version);
        good &= passes_scenarios(&name, serve, &[], &command, SCENARIOS)?;
        let delta = format!("{name} incrementally");
        good &= passes_scenarios(&delta, serve, &["--delta"], &command, SCENARIOS)?;
    }
    let idle =
        play_scenarios(serve, &["--only", "client-acks", "--patience", "1s"], &["sleep", "600"])?;
    if idle.failed == 0 {
        println!("serving: a program that does nothing keeps to the protocol");
        good = false;
    }
    Ok(good)
}

struct Counts {
    passed: u64,
    failed: u64,
}

/// The names of the scenarios in which nothing has to be refused.
fn without_refusal(serve: &Path) -> Result<Vec<String>> {
    let mut list = Command::new(serve);
    list.args(["conformance", "--client", "--list", "--format", "json"]);
    let text = stdout(&mut list)?;
    let lines = text.lines().map(serde_json::from_str::<serde_json::Value>);
    let names = lines.map(|line| Ok(line?["name"].as_str().unwrap_or_default().to_owned()));
    let names: Vec<String> = names.collect::<Result<_>>()?;
    Ok(names.into_iter().filter(|it| it.starts_with("client-") && !it.contains(REFUSAL)).collect())
}

/// Whether nothing fails, and at least so many scenarios are played.
fn passes_scenarios(
    name: &str,
    serve: &Path,
    flags: &[&str],
    command: &[String],
    at_least: u64,
) -> Result<bool> {
    let command: Vec<&str> = command.iter().map(|it| &**it).collect();
    let counts = play_scenarios(serve, &[&["--patience", "60s"], flags].concat(), &command)?;
    println!(
        "serving: {name} as a client: {} scenarios hold, {} fail",
        counts.passed, counts.failed
    );
    Ok(counts.failed == 0 && counts.passed >= at_least)
}

/// Runs the scenarios; what fails is printed.
fn play_scenarios(serve: &Path, flags: &[&str], command: &[&str]) -> Result<Counts> {
    let mut run = Command::new(serve);
    run.args(["conformance", "--client", "--format", "json"]).args(flags).arg("--").args(command);
    let output = run.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text
        .lines()
        .map(serde_json::from_str)
        .collect::<std::result::Result<Vec<serde_json::Value>, _>>()?;
    for line in lines.iter().filter(|line| line["outcome"] == "fail") {
        println!("  {line}");
    }
    let summary = lines.last().filter(|it| it["kind"] == "summary");
    let count = |word: &str| summary.and_then(|it| it[word].as_u64());
    match (count("passed"), count("failed")) {
        (Some(passed), Some(failed)) => Ok(Counts { passed, failed }),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}
