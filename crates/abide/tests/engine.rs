//! What holds of the engine whatever the rules are: the result does not depend
//! on threads, waivers cover what is inside, and accepted findings stay quiet.

use std::sync::Arc;

use abide::{Accepted, Config, Options, Report, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::date;

/// A tree of files `(path, text)`; every text is proto3.
fn tree(files: &[(String, String)]) -> Tree {
    let parse = |(path, text): &(String, String)| {
        let path: Arc<str> = path.as_str().into();
        let display = Arc::clone(&path);
        let text = format!("syntax = \"proto3\";\n{text}").into_bytes().into();
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.iter().map(parse).collect())
}

fn one(text: &str) -> Tree {
    tree(&[("acme/user/v1/user.proto".to_owned(), format!("package acme.user.v1;\n{text}"))])
}

fn judge(tree: &Tree, config: &str, accepted: Option<&Accepted>) -> Report {
    let config = Config::parse(config, None).expect("it is well-formed");
    check(tree, &config.policy, Options { as_of: date(2026, 1, 15), baseline: None, accepted })
}

fn rules(report: &Report) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let files: Vec<(String, String)> = (0..200)
        .map(|number| {
            let major = number % 5 + 1;
            let text = format!(
                "package acme.p{0}.v{major};\nimport \"acme/p{1}/v1/a.proto\";\n\
                 // Gone.\nenum Color {{ RED_{number} = 0 [deprecated = {2}]; }}\n\
                 message M {{ // abide:allow(deprecation-without-replacement): old\n\
                 string name = 1 [deprecated = true]; Color color = 2; string name = 3; }}",
                number / 5,
                (number / 5 + 7) % 40,
                number % 3 == 0,
            );
            (format!("acme/p{}/v{major}/a.proto", number / 5), text)
        })
        .collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("the pool starts").install(|| judge(&tree(&files), "", None))
    };
    let alone = run(1);
    let mut seen = rules(&alone);
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() >= 4 && alone.waived > 0, "{seen:?}, {} waived", alone.waived);
    for threads in [2, 8] {
        let many = run(threads);
        assert_eq!(many.findings, alone.findings, "{threads} threads");
        assert_eq!(many.waived, alone.waived);
    }
}

const DEPRECATED: &str = "message Outer {\n  message Inner {\n    \
                          // Old.\n    string name = 1 [deprecated = true];\n  }\n}\n";

#[test]
fn a_waiver_covers_what_is_inside() {
    let rule = "deprecation-without-replacement";
    assert_eq!(rules(&judge(&one(DEPRECATED), "", None)), [rule]);
    let comment = format!("// abide:allow({rule}): nothing came after it\n{DEPRECATED}");
    let report = judge(&one(&comment), "", None);
    assert_eq!((rules(&report), report.waived), (vec![], 1));
    let config = format!(
        "[[waiver]]\nrule = \"{rule}\"\nelement = \"acme.user.v1.Outer\"\nreason = \"it is old\""
    );
    let report = judge(&one(DEPRECATED), &config, None);
    assert_eq!((rules(&report), report.waived), (vec![], 1));
    let beside = format!("// abide:allow({rule}): nothing\nmessage Other {{}}\n{DEPRECATED}");
    assert_eq!(rules(&judge(&one(&beside), "", None)), ["waiver-unused", rule]);
}

#[test]
fn a_waiver_ends_on_its_day() {
    let rule = "deprecation-without-replacement";
    let with = |until: &str| {
        let text = format!("// abide:allow({rule}, until = \"{until}\"): soon gone\n{DEPRECATED}");
        rules(&judge(&one(&text), "", None))
    };
    assert_eq!(with("2026-01-15"), Vec::<&str>::new());
    assert_eq!(with("2026-01-14"), ["waiver-expired", rule]);
}

#[test]
fn comments_of_buf_waive_the_rules_that_are_theirs() {
    let with = |comment: &str| {
        let report = judge(&one(&format!("{comment}enum Color {{\n  RED = 0;\n}}")), "", None);
        (rules(&report), report.waived)
    };
    assert_eq!(with(""), (vec!["zero-value-changeable"], 0));
    assert_eq!(with("// buf:lint:ignore ENUM_ZERO_VALUE_SUFFIX\n"), (vec![], 1));
    // Another rule, or a comment that is set apart, ignores nothing.
    assert_eq!(with("// buf:lint:ignore ENUM_VALUE_PREFIX\n").1, 0);
    assert_eq!(with("// buf:lint:ignore ENUM_ZERO_VALUE_SUFFIX\n\n").1, 0);
}

#[test]
fn accepted_findings_come_back_when_they_change() {
    let tree = one(DEPRECATED);
    let report = judge(&tree, "", None);
    let text = Accepted::text(&report.findings);
    let accepted = Accepted::parse(&text).expect("it was written by this tool");
    let again = judge(&tree, "", Some(&accepted));
    assert_eq!((rules(&again), again.accepted), (vec![], 1));
    assert_eq!(Accepted::text(&report.findings), text);

    let renamed = one(&DEPRECATED.replace("string name", "string other"));
    let report = judge(&renamed, "", Some(&accepted));
    assert_eq!(rules(&report), ["deprecation-without-replacement", "accepted-stale"]);

    let moved = one(&format!("\n\nmessage Before {{}}\n{DEPRECATED}"));
    assert_eq!(judge(&moved, "", Some(&accepted)).accepted, 1);
}

#[test]
fn work_in_progress_is_spared() {
    let policy = "import \"google/protobuf/descriptor.proto\";\n\
                  extend google.protobuf.MessageOptions { ElementPolicy message_policy = 76351; }\n\
                  message ElementPolicy { bool work_in_progress = 1; }";
    let with = |option: &str| {
        let text = format!(
            "package acme.user.v1;\nimport \"abide/annotations/v1/lifecycle.proto\";\n{}",
            DEPRECATED.replacen('{', &format!("{{ {option}"), 1),
        );
        let files = [
            ("acme/user/v1/user.proto".to_owned(), text),
            (
                "abide/annotations/v1/lifecycle.proto".to_owned(),
                format!("package abide.annotations.v1;\n{policy}"),
            ),
        ];
        rules(&judge(&tree(&files), "[rules]\nlanguage = \"off\"", None))
    };
    let option = "option (abide.annotations.v1.message_policy).work_in_progress = true;";
    assert_eq!(with(""), ["deprecation-without-replacement"]);
    assert_eq!(with(option), Vec::<&str>::new());
}
