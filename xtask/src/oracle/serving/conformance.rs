//! Real clients under `abide-serve conformance --client`: each keeps to the protocol in every scenario.

use std::path::Path;
use std::process::Command;

use crate::envoys::Envoy;
use crate::task::Result;
use crate::tools::target;

/// The scenarios that a run has at least.
const SCENARIOS: u64 = 18;

/// Whether gRPC clients and Envoys, in both variants, pass all scenarios, and a program that does nothing
/// fails.
pub(super) fn run(serve: &Path, envoys: &[&Envoy]) -> Result<bool> {
    let folder = target()?.join("oracle-serving").join("conformance");
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("rpc.py");
    std::fs::write(&program, super::grpc::PROGRAM)?;
    let python = ["python3", &program.to_string_lossy(), "client", "600"].map(str::to_owned);
    let mut good = passes("gRPC", serve, &[], &python)?;
    let [node, modules] = super::grpc::node()?;
    let program = folder.join("rpc.js");
    std::fs::write(&program, super::grpc::PROGRAM_JS)?;
    let node = [node, program.to_string_lossy().into_owned(), modules, "600".to_owned()];
    good &= passes("gRPC for Node", serve, &[], &node)?;
    for envoy in envoys {
        let program = envoy.program.to_string_lossy();
        let arguments = ["-c", "{bootstrap}", "--use-dynamic-base-id", "-l", "off"];
        let command: Vec<String> =
            std::iter::once(&*program).chain(arguments).map(str::to_owned).collect();
        let name = format!("Envoy {}", envoy.version);
        good &= passes(&name, serve, &[], &command)?;
        good &= passes(&format!("{name} incrementally"), serve, &["--delta"], &command)?;
    }
    let idle = play(serve, &["--only", "client-acks", "--patience", "1s"], &["sleep", "600"])?;
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

fn passes(name: &str, serve: &Path, flags: &[&str], command: &[String]) -> Result<bool> {
    let command: Vec<&str> = command.iter().map(|it| &**it).collect();
    let counts = play(serve, &[&["--patience", "60s"], flags].concat(), &command)?;
    println!(
        "serving: {name} as a client: {} scenarios hold, {} fail",
        counts.passed, counts.failed
    );
    Ok(counts.failed == 0 && counts.passed >= SCENARIOS)
}

/// Runs the scenarios; what fails is printed.
fn play(serve: &Path, flags: &[&str], command: &[&str]) -> Result<Counts> {
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
