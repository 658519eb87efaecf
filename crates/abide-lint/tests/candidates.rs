//! What an upgrade makes is taken by a check: laws over generated trees, under every preset that
//! says how candidates are made.

#![allow(clippy::disallowed_methods, reason = "the test reads the annotations that trees import")]

#[path = "../../abide-schema/tests/protos/mod.rs"]
mod protos;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Config, Options, Preset, Severity, check, find_upgrade_blockers};
use abide_schema::{FileDecl, SourceFile, Tree};
use abide_upgrade::{UpgradeOptions, upgrade};
use jiff::civil::{Date, date};
use protos::protos;

type Files = BTreeMap<String, String>;

/// A day on which no major may appear.
const DAY: Date = date(2026, 2, 1);

/// A generator of numbers that gives the same ones in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// True once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A package of a generated tree.
struct Package {
    name: String,
    folder: String,
    status: Option<&'static str>,
}

const FIELD_POLICY: &str = "(abide.annotations.v1.field_policy)";

/// A tree of packages that use each other, with everything for which an upgrade has a rule.
fn generate(random: &mut Random, preset: Preset) -> Files {
    let root = if preset == Preset::Envoy { "envoy" } else { "acme" };
    let version = match preset {
        // The next major of these is `v3` itself.
        Preset::Envoy => *random.one_of(&["v1", "v2", "v3", "v3"]),
        _ => "v1",
    };
    let has_status = random.once_in(2);
    let mut packages = Vec::new();
    for number in 0..2 + random.below(4) {
        let is_old = random.once_in(6);
        for (version, status) in [(version, "ACTIVE"), ("v4", "ACTIVE")] {
            let status = if is_old && version != "v4" { "FROZEN" } else { status };
            if version != "v4" || is_old {
                let name = format!("{root}.p{number}.{version}");
                let folder = name.replace('.', "/");
                let status = has_status.then_some(status);
                packages.push(Package { name, folder, status });
            }
        }
    }
    let mut files = Files::new();
    // By package: its messages, each with the file that declares it.
    let mut declared: Vec<(String, String)> = Vec::new();
    for package in &packages {
        let mut own = Vec::new();
        for file in ["a", "b"].iter().take(1 + random.below(2)) {
            let path = format!("{}/{file}.proto", package.folder);
            let before = declared.len().saturating_sub(8);
            let visible: Vec<_> = declared[before..].iter().chain(&own).cloned().collect();
            let (text, messages) = generate_file(random, package, file, &path, &visible);
            own.extend(messages.into_iter().map(|it| (it, path.clone())));
            files.insert(path, text);
        }
        declared.extend(own);
    }
    files
}

fn generate_file(
    random: &mut Random,
    package: &Package,
    file: &str,
    path: &str,
    visible: &[(String, String)],
) -> (String, Vec<String>) {
    let mut imports = BTreeSet::from(["abide/annotations/v1/lifecycle.proto".to_owned()]);
    let indent = *random.one_of(&["  ", "    ", "\t"]);
    let mut body = String::new();
    let mut messages = Vec::new();
    let letter = file.to_uppercase();
    for number in 0..1 + random.below(3) {
        let name = format!("{letter}{number}");
        writeln!(body, "\n// {name} of {file}.\nmessage {name} {{").expect("a string grows");
        let mut fields = 0;
        for at in 1..2 + random.below(5) {
            let mut options = Vec::new();
            let is_deprecated = random.once_in(4);
            if is_deprecated {
                options.push("deprecated = true".to_owned());
                options.push(format!("{FIELD_POLICY}.deprecated_at = \"2025-01-01\""));
            } else if random.once_in(8) {
                options.push(format!("{FIELD_POLICY}.migration.rename = \"renamed_{at}\""));
            }
            let ty = match random.below(5) {
                0 => "google.protobuf.Any".to_owned(),
                1 | 2 if !visible.is_empty() => {
                    let (ty, declared_in) = random.one_of(visible);
                    if declared_in != path {
                        imports.insert(declared_in.clone());
                    }
                    ty.clone()
                }
                3 => format!("Kind{letter}{number}"),
                _ => "string".to_owned(),
            };
            if ty == "google.protobuf.Any" {
                imports.insert("google/protobuf/any.proto".to_owned());
            }
            let options = match options.is_empty() {
                true => String::new(),
                false => format!(" [{}]", options.join(", ")),
            };
            let comment = if is_deprecated { "Replaced by `other`." } else { "What it is." };
            writeln!(body, "{indent}// {comment}\n{indent}{ty} f{at} = {at}{options};")
                .expect("a string grows");
            fields += 1;
        }
        if random.once_in(4) {
            writeln!(
                body,
                "{indent}oneof of {{\n{indent}{indent}string g = {};\n{indent}}}",
                fields + 1
            )
            .expect("a string grows");
        }
        let kind = format!("KIND_{letter}{number}");
        let zero = if random.once_in(8) { " [deprecated = true]" } else { "" };
        let one = if random.once_in(4) { " [deprecated = true]" } else { "" };
        write!(
            body,
            "}}\n\nenum Kind{letter}{number} {{\n{indent}{kind}_UNSPECIFIED = 0{zero};\n\
             {indent}{kind}_ONE = 1{one};\n{indent}{kind}_TWO = 2;\n}}\n"
        )
        .expect("a string grows");
        messages.push(format!("{}.{name}", package.name));
    }
    if random.once_in(3) {
        let old = if random.once_in(3) { " {\n    option deprecated = true;\n  }" } else { ";" };
        write!(
            body,
            "\nservice Service{letter} {{\n  rpc Get({letter}0) returns ({letter}0){old}\n  rpc \
             Set({letter}0) returns ({letter}0);\n}}\n"
        )
        .expect("a string grows");
    }
    if random.once_in(6) {
        // One that nothing uses.
        imports.insert("google/protobuf/duration.proto".to_owned());
    }
    let mut text = format!("syntax = \"proto3\";\n\npackage {};\n\n", package.name);
    if package.status.is_some() {
        imports.insert("abide/annotations/v1/status.proto".to_owned());
    }
    for import in imports {
        writeln!(text, "import \"{import}\";").expect("a string grows");
    }
    if let Some(status) = package.status {
        let name = "(abide.annotations.v1.file_policy).package_version_status";
        write!(text, "\noption {name} = PACKAGE_VERSION_STATUS_{status};\n")
            .expect("a string grows");
    }
    (text + &body, messages)
}

fn imports() -> Files {
    protos(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../api"))
}

fn link(files: &Files, imports: &Files) -> Tree {
    let imported = imports.iter().map(|it| (it, true));
    let all = imported.chain(files.iter().map(|it| (it, false)));
    let parse = |((path, text), imported): ((&String, &String), bool)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    };
    Tree::link(all.map(parse).collect())
}

/// A finding: its severity, rule and element, and the file that it is in.
type Found = (Severity, &'static str, String, String);

fn findings(tree: &Tree, config: &Config, baseline: Option<&Tree>) -> BTreeSet<Found> {
    let report = check(tree, &config.policy, Options { baseline, ..Options::on(DAY) });
    let findings = report.findings.into_iter().map(|it| {
        let file = it.location.place().map(|it| tree.file(it.file).path().to_owned());
        (it.severity, it.rule, it.element, file.unwrap_or_default())
    });
    findings.collect()
}

/// Whether a finding is about how candidates hang together: nobody can see it in a source.
fn is_about_candidates(rule: &str) -> bool {
    rule == "one-definition"
}

#[test]
fn what_an_upgrade_makes_a_check_takes() {
    let imports = imports();
    for preset in [Preset::Standard, Preset::Google, Preset::Envoy] {
        let config = Config::of_preset(preset);
        let mut made_any = 0;
        for seed in 0..150 {
            let mut random = Random(seed * 7919 + 11);
            let mut files = generate(&mut random, preset);
            let before = link(&files, &imports);
            let known = findings(&before, &config, None);
            let options = UpgradeOptions::default();
            let made = upgrade(&before, config.policy.upgrade_settings(), &options)
                .unwrap_or_else(|why| panic!("{preset:?} {seed}: {why}"));
            let hindrances =
                find_upgrade_blockers(&before, &config.policy, DAY, &made.files, false);
            if made.files.is_empty() || hindrances.errors > 0 {
                continue;
            }
            made_any += 1;
            for file in &made.files {
                let text = String::from_utf8(file.text.clone()).expect("texts stay texts");
                files.insert(file.path.clone(), text);
            }
            let candidates: BTreeSet<&str> = made.files.iter().map(|it| &*it.path).collect();
            let after = link(&files, &imports);
            for found in findings(&after, &config, Some(&before)).difference(&known) {
                let (severity, rule, _, file) = found;
                assert!(
                    *severity < Severity::Error,
                    "{preset:?} {seed}: {found:?}\n{}",
                    files.get(file).map_or("", String::as_str)
                );
                assert!(
                    !candidates.contains(&**file) || is_about_candidates(rule),
                    "{preset:?} {seed}: {found:?}\n{}",
                    files[file]
                );
            }
        }
        assert!(made_any > 50, "{preset:?}: only {made_any} trees were upgraded");
    }
}
