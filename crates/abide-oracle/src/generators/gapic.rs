//! Compares what Abide says about `source-gapic` with the clients that
//! gapic-generator-python writes.
//!
//! Each change is made to `testdata/gapic/users.proto`, forth and back. Abide must name every
//! symbol of the client that is lost, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{Protoc, output, stdout, workspace};
use serde_json::Value;

const PROTO: &str = "acme/user/v1/users.proto";

const VERSION: &str = "from importlib import metadata; print(metadata.version('gapic-generator'))";

/// The symbols of all clients with their facts; none if the generator refuses the tree.
type Offered = Option<BTreeMap<String, BTreeSet<String>>>;

/// A change: what it is, and each text that is replaced by another.
struct Edit(&'static str, &'static [(&'static str, &'static str)]);

const EDITS: &[Edit] = &[
    Edit("default host", &[("\"user.acme.example\"", "\"users.acme.example\"")]),
    Edit(
        "default host removed",
        &[("option (google.api.default_host) = \"user.acme.example\";", "")],
    ),
    Edit("scope", &[(",https://acme.example/auth/all", "")]),
    Edit(
        "scopes reordered",
        &[("auth/user,https://acme.example/auth/all", "auth/all, https://acme.example/auth/user")],
    ),
    Edit("parameter", &[("option (google.api.method_signature) = \"name,view\";", "")]),
    Edit(
        "overload",
        &[(
            "option (google.api.method_signature) = \"name\";\n    option (google.api.method_signature) = \"name,view\"",
            "option (google.api.method_signature) = \"name,view\"",
        )],
    ),
    Edit("signatures reordered", &[("\"name,view\"", "\"view, name\"")]),
    Edit("empty signature", &[("option (google.api.method_signature) = \"\";", "")]),
    Edit("nested parameter", &[("\"user,user.title\"", "\"user\"")]),
    Edit("path of a parameter", &[("\"user,user.title\"", "\"user,request_id\"")]),
    Edit(
        "parameter of a stream",
        &[(
            "(stream User) {\n    option (google.api.method_signature) = \"name\";",
            "(stream User) {",
        )],
    ),
    Edit(
        "resource type",
        &[("type: \"acme.example/User\"\n    ", "type: \"acme.example/Person\"\n    ")],
    ),
    Edit(
        "domain of a resource type",
        &[("type: \"acme.example/User\"\n    ", "type: \"example.acme/User\"\n    ")],
    ),
    Edit(
        "resource type in another case",
        &[
            ("acme.example/Team\"\n", "acme.example/TEAM\"\n"),
            ("child_type = \"acme.example/Team\"", "child_type = \"acme.example/TEAM\""),
        ],
    ),
    Edit("first pattern", &[("\"users/{user}\"", "\"people/{user}\"")]),
    Edit("another pattern", &[("\"orgs/{org}/users/{user}\"", "\"firms/{org}/users/{user}\"")]),
    Edit(
        "pattern in front",
        &[(
            "    pattern: \"users/{user}\"",
            "    pattern: \"a/{a}/users/{user}\"\n    pattern: \"users/{user}\"",
        )],
    ),
    Edit(
        "pattern at the end",
        &[(
            "    pattern: \"orgs/{org}/users/{user}\"",
            "    pattern: \"orgs/{org}/users/{user}\"\n    pattern: \"a/{a}\"",
        )],
    ),
    Edit(
        "literal first pattern",
        &[(
            "    pattern: \"users/{user}\"",
            "    pattern: \"users/me\"\n    pattern: \"users/{user}\"",
        )],
    ),
    Edit("wildcard pattern", &[("\"users/{user}\"", "\"*\"")]),
    Edit("variable of the first pattern", &[("\"users/{user}\"", "\"users/{person}\"")]),
    Edit(
        "variable of another pattern",
        &[("\"orgs/{org}/users/{user}\"", "\"orgs/{firm}/users/{user}\"")],
    ),
    Edit(
        "patterns reordered",
        &[(
            "    pattern: \"users/{user}\"\n    pattern: \"teams/{team}/users/{user}\"",
            "    pattern: \"teams/{team}/users/{user}\"\n    pattern: \"users/{user}\"",
        )],
    ),
    Edit(
        "other patterns reordered",
        &[(
            "    pattern: \"teams/{team}/users/{user}\"\n    pattern: \"orgs/{org}/users/{user}\"",
            "    pattern: \"orgs/{org}/users/{user}\"\n    pattern: \"teams/{team}/users/{user}\"",
        )],
    ),
    Edit("multi-segment variable", &[("robots/{robot=**}", "robots/{robot}")]),
    Edit("resource of a response of an operation", &[("robots/{robot=**}", "machines/{robot=**}")]),
    Edit("resource that no call uses", &[("forgotten/{forgotten}", "lost/{forgotten}")]),
    Edit(
        "resource removed",
        &[(
            "  option (google.api.resource) = {\n    type: \"acme.example/Robot\"\n    pattern: \"robots/{robot=**}\"\n  };\n",
            "",
        )],
    ),
    Edit(
        "resource of a file removed",
        &[(
            "option (google.api.resource_definition) = {\n  type: \"acme.example/Team\"\n  pattern: \"teams/{team}\"\n};\n",
            "",
        )],
    ),
    Edit("resource of a file", &[("\"teams/{team}\"\n};", "\"groups/{team}\"\n};")]),
    Edit(
        "last reference to a resource",
        &[(" [(google.api.resource_reference).child_type = \"acme.example/Team\"]", "")],
    ),
    Edit(
        "reference to a resource that is used",
        &[(" [(google.api.resource_reference).type = \"acme.example/User\"]", "")],
    ),
    Edit(
        "reference to a parent",
        &[("(google.api.resource_reference).child_type", "(google.api.resource_reference).type")],
    ),
    Edit(
        "reference to another resource",
        &[("child_type = \"acme.example/Team\"", "child_type = \"acme.example/Forgotten\"")],
    ),
    Edit(
        "response of an operation",
        &[("response_type: \"ImportUsersResponse\"", "response_type: \"User\"")],
    ),
    Edit("metadata of an operation", &[("metadata_type: \"Progress\"", "metadata_type: \"User\"")]),
    Edit(
        "type written in full",
        &[("metadata_type: \"Progress\"", "metadata_type: \"acme.user.v1.Progress\"")],
    ),
    Edit("metadata of an operation removed", &[("\n      metadata_type: \"Progress\"", "")]),
    Edit(
        "operation that is not declared",
        &[(
            "    option (google.longrunning.operation_info) = {\n      response_type: \"ImportUsersResponse\"\n      metadata_type: \"Progress\"\n    };\n",
            "",
        )],
    ),
    Edit(
        "paging",
        &[
            (
                "  string text = 1;",
                "  string text = 1;\n  int32 page_size = 2;\n  string page_token = 3;",
            ),
            (
                "message FindUsersResponse {",
                "message FindUsersResponse {\n  string next_page_token = 2;",
            ),
        ],
    ),
    Edit(
        "half of paging",
        &[(
            "  string text = 1;",
            "  string text = 1;\n  int32 page_size = 2;\n  string page_token = 3;",
        )],
    ),
    Edit("type of a page size", &[("  int32 page_size = 1;", "  string page_size = 1;")]),
    Edit(
        "legacy page size",
        &[("  int32 page_size = 1;", "  int32 page_size = 1;\n  int64 max_results = 4;")],
    ),
    Edit(
        "repeated field in front",
        &[(
            "message ListUsersResponse {",
            "message ListUsersResponse {\n  repeated string warnings = 3;",
        )],
    ),
    Edit(
        "repeated field at the end",
        &[(
            "  string next_page_token = 2;",
            "  string next_page_token = 2;\n  repeated string warnings = 3;",
        )],
    ),
    Edit("behavior", &[("= REQUIRED", "= OPTIONAL")]),
    Edit(
        "output only",
        &[("string title = 2;", "string title = 2 [(google.api.field_behavior) = OUTPUT_ONLY];")],
    ),
    Edit("format", &[(" [(google.api.field_info).format = UUID4]", "")]),
    Edit("route", &[("get: \"/v1/users:find\"", "get: \"/v1/users:search\"")]),
];

/// Compares all changes; true if nothing differs.
pub(crate) fn run(protoc: &Protoc, abide: &Path, show: usize) -> Result<bool> {
    let Ok(version) = stdout(Command::new("python3").args(["-c", VERSION])) else {
        println!(
            "SKIPPED: no gapic-generator, run `pip install gapic-generator`: no API client is compared"
        );
        return Ok(true);
    };
    let base = fs::read_to_string(workspace()?.join("testdata/gapic/users.proto"))?;
    let root = corpora::make_fresh_folder("gapic")?;
    let mut trees = vec![root.join("base")];
    corpora::write(&trees[0].join(PROTO), base.as_bytes())?;
    for (at, Edit(name, replaced)) in EDITS.iter().enumerate() {
        let mut text = base.clone();
        for (from, to) in *replaced {
            if text.matches(from).count() != 1 {
                return Err(format!("`{name}`: `{from}` is not there once").into());
            }
            text = text.replace(from, to);
        }
        trees.push(root.join(at.to_string()));
        corpora::write(&root.join(at.to_string()).join(PROTO), text.as_bytes())?;
    }
    let imports = workspace()?.join("testdata/imports");
    let offered = collect_offered_symbols(&trees, &imports, protoc)?;

    let (mut claims, mut silent, mut faults) = (0, 0, Vec::new());
    for (at, Edit(name, _)) in EDITS.iter().enumerate() {
        for (way, old, new) in [("forth", 0, at + 1), ("back", at + 1, 0)] {
            let claimed = collect_claimed_losses(abide, &trees[old], &trees[new], &imports)?;
            claims += claimed.len();
            silent += usize::from(claimed.is_empty());
            let [missing, wrong] = compare_claims(&claimed, &offered[old], &offered[new]);
            let sides = [("not claimed", missing), ("claimed, but not lost", wrong)];
            for (what, symbols) in sides.into_iter().filter(|it| !it.1.is_empty()) {
                faults.push(format!("{name}, {way}: {what}: {}", symbols.join(", ")));
            }
        }
    }
    println!(
        "gapic: gapic-generator {}; {} changes; {claims} symbols claimed, {silent} changes break \
         no client; {} differences",
        version.trim(),
        EDITS.len() * 2,
        faults.len()
    );
    faults.iter().take(show.max(1) * 8).for_each(|it| println!("  {it}"));
    Ok(faults.is_empty() && claims > 0 && silent > 0)
}

/// What clients lose and Abide does not claim, and the reverse. Clients that can no longer be
/// generated lose everything, of which Abide must name something.
fn compare_claims(claimed: &BTreeSet<String>, old: &Offered, new: &Offered) -> [Vec<String>; 2] {
    let empty = BTreeMap::new();
    let old = old.as_ref().unwrap_or(&empty);
    let is_lost = |symbol: &&String, facts: &BTreeSet<String>| match new {
        None => true,
        Some(new) => !new.get(*symbol).is_some_and(|it| it.is_superset(facts)),
    };
    let lost: BTreeSet<String> =
        old.iter().filter(|it| is_lost(&it.0, it.1)).map(|it| it.0.clone()).collect();
    let wrong = claimed.difference(&lost).cloned().collect();
    // A finding names one symbol, although a type that calls no longer reach takes its helper along.
    let is_enough = |it: &&String| !claimed.is_empty() && (new.is_none() || it.ends_with("_path"));
    let missing = lost.difference(claimed).filter(|it| !is_enough(it)).cloned();
    [missing.collect(), wrong]
}

/// What the clients of each tree offer.
fn collect_offered_symbols(
    trees: &[PathBuf],
    imports: &Path,
    protoc: &Protoc,
) -> Result<Vec<Offered>> {
    let mut sets = Vec::new();
    for tree in trees {
        let set = tree.join("set.binpb");
        let mut command = protoc.command(&[tree, imports]);
        command.args(["--include_imports", "--include_source_info", "-o"]).arg(&set).arg(PROTO);
        stdout(&mut command)?;
        sets.push(set);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/generators/gapic/offered.py");
    let said = stdout(Command::new("python3").arg(script).arg(PROTO).args(&sets))?;
    let offered: Vec<Offered> =
        said.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
    if offered.len() != trees.len() || offered.first().is_none_or(Option::is_none) {
        return Err(format!("{} clients of {} trees", offered.len(), trees.len()).into());
    }
    Ok(offered)
}

/// The symbols that Abide says clients lose.
fn collect_claimed_losses(
    abide: &Path,
    old: &Path,
    new: &Path,
    imports: &Path,
) -> Result<BTreeSet<String>> {
    const SURFACE: &str = "source-gapic";
    let mut command = Command::new(abide);
    command.arg("breaking").arg(new).arg("--against").arg(old).arg("-I").arg(imports);
    let ran = output(command.args([
        "--format=json",
        "--preset=google",
        "--changes",
        "--surface",
        SURFACE,
    ]))?;
    let mut claimed = BTreeSet::new();
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["rule"] == "import-missing" {
            return Err(line.to_string().into());
        }
        let symbols = line["symbols"].as_array().into_iter().flatten();
        for symbol in symbols.filter(|it| it["surface"] == SURFACE) {
            let words = symbol["symbol"].as_str().unwrap_or_default();
            let name = words.split('`').nth(1).ok_or("a symbol has no name")?;
            claimed.insert(name.to_owned());
        }
    }
    if ran.stdout.is_empty() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned().into());
    }
    Ok(claimed)
}
