//! Rules of protolint and of api-linter under their own names: what they report is reported, and
//! the comments that turn them off count.
//!
//! Each file of `testdata/protolint` is one repository, with what protolint reports.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use abide_lint::{BufVersion, PROTOLINT_RULES, RULES, Rule, buf_lint_rules};
use serde_json::Value;
use tempfile::TempDir;

use crate::moving::files;
use crate::run::{abide, put, repository};

/// What protolint reports, a line for each finding.
const VERDICT: &str = "protolint";

/// What Abide reports in a folder, under the names that another tool has for it.
fn reported(folder: &Path, tool: &str) -> BTreeSet<String> {
    let ran = abide(folder, &["lint", "--format", "json"]);
    assert_ne!(ran.status, 2, "{}", ran.stderr);
    let prefix = format!("{tool}:");
    let mut lines = BTreeSet::new();
    let first = Value::from(1);
    for finding in ran.json().iter().filter(|it| it["kind"] == "finding") {
        let (path, line) = (finding["path"].as_str().unwrap(), &finding["start"]["line"]);
        let aliases = finding["aliases"].as_array().into_iter().flatten();
        let names: Vec<&str> =
            aliases.filter_map(Value::as_str).filter_map(|it| it.strip_prefix(&prefix)).collect();
        // What only Abide has is less than an error here, but for what the compiler refuses.
        let is_known = !names.is_empty()
            || finding["severity"] != "error"
            || finding["message"].as_str().is_some_and(|it| it.contains("proto3"));
        assert!(is_known, "{tool} does not report {finding}");
        // protolint reports what is about the name of a file at its beginning.
        let line = if names.iter().any(|it| it.starts_with("FILE_NAMES")) { &first } else { line };
        lines.extend(names.iter().map(|rule| format!("{path}:{line}: {rule}")));
    }
    lines
}

#[test]
fn repositories_of_protolint_are_judged_as_by_protolint() {
    let mut cases = 0;
    let mut differences = String::new();
    for entry in std::fs::read_dir(repository().join("testdata/protolint")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        cases += 1;
        let mut files = files(&std::fs::read_to_string(&path).unwrap());
        let verdict = files.pop().filter(|(name, _)| name == VERDICT).expect("it is recorded");
        let tree = TempDir::new().unwrap();
        let each: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        put(tree.path(), &each);
        let theirs: BTreeSet<String> = verdict.1.lines().map(str::to_owned).collect();
        let ours = reported(tree.path(), "protolint");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for line in theirs.difference(&ours) {
            writeln!(differences, "{name}: only protolint: {line}").unwrap();
        }
        for line in ours.difference(&theirs) {
            writeln!(differences, "{name}: only Abide: {line}").unwrap();
        }
    }
    assert!(cases >= 4, "{cases} repositories");
    assert!(differences.is_empty(), "{differences}");
}

const CONFIG: &str = "[rules]\nlayout = \"off\"\n\"api-linter\" = \"error\"\n";

/// The rules that api-linter names on each line of a file.
fn api_linter(text: &str, config: &str) -> BTreeSet<String> {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("abide.toml", config), ("acme/user/v1/a.proto", text)]);
    let lines = reported(tree.path(), "api-linter");
    let short = |line: String| line.trim_start_matches("acme/user/v1/a.proto:").to_owned();
    lines.into_iter().map(short).collect()
}

#[test]
fn comments_of_api_linter_count_where_they_count_for_it() {
    let text = "syntax = \"proto3\";
package acme.user.v1;
// A user.
message User {
  // (-- api-linter: core::0140::uri=disabled
  //     aip.dev/not-precedent: it is a URL. --)
  // Where.
  string photo_url = 1;
  // Where.
  string other_url = 2;
  // Where.
  // (-- api-linter: core::0140=disabled aip.dev/not-precedent: old. --)
  string third_url = 3;
}
// (-- api-linter: core::0140=disabled aip.dev/not-precedent: all of it. --)
// Another.
message Old {
  // Where.
  string page_url = 1;
}
";
    let found = api_linter(text, CONFIG);
    assert_eq!(found, ["10: core::0140::uri".to_owned()].into());
    let without = api_linter(text, &format!("{CONFIG}[lint]\napi-linter-comments = false\n"));
    let lines = [10, 13, 19, 8].map(|line| format!("{line}: core::0140::uri"));
    assert_eq!(without, lines.into());
    // Above `package` it counts for the file.
    let above = text.replace("package", "// (-- api-linter: core::0140=disabled --)\npackage");
    assert_eq!(api_linter(&above, CONFIG), BTreeSet::new());
    // What is deprecated is not judged.
    let deprecated = text.replace("other_url = 2", "other_url = 2 [deprecated = true]");
    let found = api_linter(&deprecated, CONFIG);
    assert_eq!(found, ["10: core::0192::deprecated-comment".to_owned()].into());
}

#[test]
fn a_rule_of_another_linter_is_turned_on_by_its_name_or_its_group() {
    let tree = TempDir::new().unwrap();
    let file = (
        "acme/user/v1/a.proto",
        "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  repeated string role = 1;\n  string photo_url = 2;\n}\n",
    );
    let rules = |key: &str| {
        let config = format!("[rules]\nlayout = \"off\"\n\"{key}\" = \"error\"\n");
        put(tree.path(), &[("abide.toml", &config), file]);
        let ran = abide(tree.path(), &["lint", "--format", "json"]);
        assert_ne!(ran.status, 2, "{}", ran.stderr);
        ran.rules().len()
    };
    // Of the comments that are missing there are four; see the rules of `protolint`.
    assert_eq!(rules("protolint"), 1);
    assert_eq!(rules("protolint:REPEATED_FIELD_NAMES_PLURALIZED"), 1);
    assert_eq!(rules("api-linter:core::0140"), 1);
    assert_eq!(rules("api-linter:core::0140::uri"), 1);
    assert_eq!(rules("api-linter:core::0158"), 0);
    put(tree.path(), &[("abide.toml", "[rules]\n\"protolint:INDENT\" = \"error\"\n")]);
    let ran = abide(tree.path(), &["lint"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("no rule reports what `protolint:INDENT` does"), "{}", ran.stderr);
    let ran =
        abide(tree.path(), &["explain", "api-linter:core::0140::uri", "--config", "/dev/null"]);
    assert!(ran.text().contains("photo_uri"), "{}{}", ran.text(), ran.stderr);
}

/// What other tools have and Abide does not, with what to use instead.
const ELSEWHERE: &[(&str, &str)] = &[
    ("protolint:IMPORTS_SORTED", "`abide format`"),
    ("protolint:INDENT", "`abide format`"),
    ("protolint:MAX_LINE_LENGTH", "`abide format`"),
    ("protolint:ORDER", "`abide format`"),
    ("protolint:QUOTE_CONSISTENT", "`abide format`"),
    ("protolint:RPC_NAMES_CASE", "`type-name-case`, for UpperCamelCase"),
];

fn owners(alias: &str) -> Vec<&'static str> {
    let owns = |rule: &&&Rule| rule.all_aliases().any(|it| it == alias);
    RULES.iter().filter(owns).map(|rule| rule.id).collect()
}

/// The rules of a tool that have a rule here, or that it is known to have.
fn rules_of(tool: &str) -> BTreeSet<&'static str> {
    let mut rules: BTreeSet<&'static str> = RULES.iter().flat_map(|it| it.all_aliases()).collect();
    let categories = ["STANDARD", "COMMENTS", "UNARY_RPC"];
    rules.extend(categories.iter().flat_map(|it| buf_lint_rules(BufVersion::V2, it)));
    rules.extend(PROTOLINT_RULES.iter().map(|it| it.alias));
    rules.retain(|it| it.strip_prefix(tool).is_some_and(|rest| rest.starts_with(':')));
    rules
}

#[test]
fn every_rule_of_another_linter_has_its_row() {
    let mut page = "# Rules of other tools

Which rule of Abide reports what a rule of another tool does. `abide explain buf:FIELD_NO_DELETE`
prints the page of a rule by such a name, and `[rules]` takes the names of lint rules, such as
`\"protolint:FILE_HAS_COMMENT\" = \"warning\"`. A rule that is named this way is judged as its tool
does. `\"buf:STANDARD\"`, `\"protolint\"`, `\"protolint:all_default\"`, `\"api-linter\"` and
`\"api-linter:core::0140\"` are groups of them.

Comments that turn off rules of buf, protolint and api-linter count; `buf-comments`,
`protolint-comments` and `api-linter-comments` of `[lint]` turn that off.

`SNAPSHOTS=overwrite cargo test` writes this page from what each rule says of itself.
"
    .to_owned();
    for (tool, title) in [
        ("buf", "buf"),
        ("protolint", "protolint"),
        ("api-linter", "api-linter"),
        ("aip", "API Improvement Proposals"),
        ("protolock", "protolock"),
        ("google", "Google's proto-breaking-change-detector"),
    ] {
        writeln!(page, "\n## {title}\n\n| rule | here |\n|---|---|").unwrap();
        for alias in rules_of(tool) {
            let owners = owners(alias);
            let elsewhere = ELSEWHERE.iter().find(|(rule, _)| *rule == alias);
            assert_ne!(owners.is_empty(), elsewhere.is_none(), "{alias} has one row");
            let links =
                owners.iter().map(|id| format!("[`{id}`](../../abide-lint/src/rules/{id}.md)"));
            let here = elsewhere.map_or_else(
                || links.collect::<Vec<_>>().join(", "),
                |(_, instead)| format!("none: use {instead}"),
            );
            let name = alias.split_once(':').map_or(alias, |(_, name)| name);
            writeln!(page, "| `{name}` | {here} |").unwrap();
        }
    }
    let path = repository().join("crates/abide-cli/book/other-tools.md");
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "the page is stale: `SNAPSHOTS=overwrite cargo test` writes it");
}

#[test]
fn the_claimed_rules_of_api_linter_have_a_rule() {
    for name in [
        "0123::resource-type-name",
        "0126::unspecified",
        "0127::http-annotation",
        "0131::http-method",
        "0132::http-method",
        "0133::http-method",
        "0134::http-method",
        "0135::http-method",
        "0136::http-method",
        "0140::prepositions",
        "0141::forbidden-types",
        "0142::time-field-names",
        "0143::standardized-codes",
        "0148::human-names",
        "0158::request-page-size-field",
        "0191::proto-version",
        "0192::deprecated-comment",
        "0203::field-behavior-required",
        "0215::foreign-type-reference",
        "0215::versioned-packages",
        "0231::http-method",
        "0235::http-method",
    ] {
        assert_eq!(owners(&format!("api-linter:core::{name}")).len(), 1, "{name}");
    }
}
