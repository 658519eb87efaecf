//! What holds of the engine whatever the rules are: the result does not depend
//! on threads, waivers cover what is inside, and accepted findings stay quiet.

use std::sync::Arc;

use abide_change::Surface;
use abide_lint::{Accepted, Bump, Config, Finding, Options, Report, RuleScope, Severity, check};
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
    check(tree, &config.policy, Options { accepted, ..Options::on(date(2026, 1, 15)) })
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
fn a_waiver_for_a_change_is_used_by_either_baseline() {
    let released = one("message User { string name = 1; string mail = 2; }");
    let base = one("message User { string name = 1; }");
    let judged = |new: &Tree, config: &str, baselines: [Option<&Tree>; 2], scope| {
        let policy = Config::parse(config, None).expect("it is well-formed").policy;
        let [baseline, bump_baseline] = baselines;
        let options = Options { baseline, bump_baseline, scope, ..Options::on(date(2026, 1, 15)) };
        check(new, &policy, options)
    };
    let broken = judged(&base, "", [Some(&released), None], RuleScope::Changes);
    let [removed] = broken.findings.as_slice() else { panic!("{:?}", broken.findings) };
    let fingerprint =
        format!("[[waiver]]\nfingerprint = \"{}\"\nreason = \"agreed\"", removed.fingerprint());
    let rule = "[[waiver]]\nrule = \"field-removed\"\nelement = \"acme.**\"\nreason = \"agreed\"";
    let comment = one("// abide:allow(field-removed): agreed\nmessage User { string name = 1; }");
    for (new, config) in [(&base, fingerprint.as_str()), (&base, rule), (&comment, "")] {
        let told = |old, released, scope| rules(&judged(new, config, [old, released], scope));
        for scope in [RuleScope::Everything, RuleScope::Changes] {
            assert!(told(Some(&released), None, scope).is_empty(), "{config}");
            // What is merged must be named in a comment: it would waive the next change, too.
            let merged = told(Some(&base), Some(&released), scope);
            let is_open = config.is_empty();
            assert_eq!(merged, if is_open { vec!["waiver-unused"] } else { vec![] }, "{config}");
            assert!(told(Some(&released), Some(&base), scope).is_empty(), "{config}");
            assert!(told(None, None, scope).is_empty(), "{config}");
        }
        let stale = told(Some(&base), Some(&base), RuleScope::Everything);
        assert_eq!(stale, ["waiver-unused"], "{config}");
        assert_eq!(told(Some(&base), None, RuleScope::Everything), ["waiver-unused"], "{config}");
    }
}

/// The sketch of `Node` that a design document of the policy itself got wrong.
#[test]
fn a_number_given_twice_and_a_misspelt_type_are_told() {
    let node = one("message Node { string id = 1; string build = 6; Agents agents = 7;\n\
                    repeated string features = 7; AgentVersions versions = 8; }\n\
                    message Agents { repeated AgentsVersions all = 1; }\n\
                    message AgentVersions {}");
    assert_eq!(rules(&judge(&node, "", None)), ["number-duplicated", "name-not-found"]);
}

#[test]
fn a_waived_break_counts_as_a_minor() {
    let old = one("message User { string name = 1; string mail = 2; }");
    let judged = |new: &str, config: &str| {
        let policy = Config::parse(config, None).expect("it is well-formed").policy;
        let new = one(new);
        let options = Options { baseline: Some(&old), ..Options::on(date(2026, 1, 15)) };
        let report = check(&new, &policy, options);
        // The same where the last release is told apart.
        let options = Options { bump_baseline: Some(&old), ..options };
        assert_eq!(check(&new, &policy, options).required_bump, report.required_bump);
        (rules(&report), report.waived, report.required_bump)
    };
    let gone = "message User { string name = 1; }";
    assert_eq!(judged(gone, ""), (vec!["field-removed"], 0, Some(Bump::Major)));
    let comment = format!("// abide:allow(field-removed): nobody sends it\n{gone}");
    assert_eq!(judged(&comment, ""), (vec![], 1, Some(Bump::Minor)));
    let waiver = "[[waiver]]\nrule = \"field-removed\"\nelement = \"acme.**\"\nreason = \"agreed\"";
    assert_eq!(judged(gone, waiver), (vec![], 1, Some(Bump::Minor)));
    // A rule that is off finds nothing, and that the meaning changed is seen without it.
    let off = "[rules]\nfield-removed = \"off\"";
    assert_eq!(judged(gone, off), (vec![], 0, Some(Bump::Minor)));
}

#[test]
fn a_chosen_surface_shows_nothing_of_others() {
    let old = one("message User { string name = 1; string mail = 2; }");
    let new = one("message User { string name = 1; }");
    let policy = Config::parse("", None).expect("it is well-formed").policy;
    let options = Options {
        baseline: Some(&old),
        scope: RuleScope::Changes,
        surfaces: &[Surface::Json, Surface::SourceGo],
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(&new, &policy, options);
    let changes: Vec<_> = report.findings.iter().filter_map(|it| it.change.as_ref()).collect();
    let [change] = changes.as_slice() else { panic!("{:?}", report.findings) };
    let surfaces: Vec<Surface> = change.symbols.iter().map(|it| it.surface).collect();
    assert_eq!(surfaces, [Surface::SourceGo]);
    assert_eq!(change.witness.as_ref().map(|it| it.surface), Some(Surface::Json));
}

#[test]
fn what_a_compiler_warns_of_is_no_change() {
    let files = |text: &str| {
        tree(&[
            ("a.proto".to_owned(), format!("package a.v1;\n{text}message A {{}}\n")),
            ("b.proto".to_owned(), "package a.v1;\nmessage B {}\n".to_owned()),
        ])
    };
    let (old, new) = (files(""), files("import \"b.proto\";\n"));
    let policy = Config::parse("", None).expect("it is well-formed").policy;
    let told = |scope| {
        let options = Options { baseline: Some(&old), scope, ..Options::on(date(2026, 1, 15)) };
        rules(&check(&new, &policy, options))
    };
    assert!(told(RuleScope::Changes).is_empty(), "{:?}", told(RuleScope::Changes));
    assert!(told(RuleScope::Everything).contains(&"import-unused"));
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
    let text = Accepted::text("", &report.findings);
    let accepted = Accepted::parse(&text).expect("it was written by this tool");
    let again = judge(&tree, "", Some(&accepted));
    assert_eq!((rules(&again), again.accepted), (vec![], 1));
    assert_eq!(Accepted::text("", &report.findings), text);

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

#[test]
fn language_packages_name_the_major_of_their_api() {
    let with = |option: &str, package: &str| {
        let path = format!("{}/a.proto", package.replace('.', "/"));
        let text = format!("package {package};\noption {option};\nmessage M {{}}");
        rules(&judge(&tree(&[(path, text)]), "[rules]\nlanguage = \"off\"", None))
    };
    for (path, package) in [
        // The major of a module is not the one of the API.
        ("example.com/acme/v2/user", "acme.user.v1"),
        ("example.com/acme/v2/user/v1;userv1", "acme.user.v1"),
        ("cloud.example.com/go/user/apiv1/userpb;userpb", "acme.user.v1"),
        ("example.com/go/config/core/v3;corev3", "acme.config.core.v3"),
        ("example.com/acme/user", "acme.user.v1"),
        // A word may end like a version.
        ("example.com/acme/dev2;dev2", "acme.user.v1"),
    ] {
        let none: [&str; 0] = [];
        assert_eq!(with(&format!("go_package = \"{path}\""), package), none, "{path}");
    }
    for (path, package) in [
        ("example.com/acme/user/v2", "acme.user.v1"),
        ("cloud.example.com/go/user/apiv2/userpb;userpb", "acme.user.v1"),
        ("example.com/go/ads/v15/common;common", "acme.ads.v16.common"),
        ("example.com/acme/user;userv2", "acme.user.v1"),
    ] {
        let found = with(&format!("go_package = \"{path}\""), package);
        assert!(found.contains(&"go-package-major-mismatch"), "{path}: {found:?}");
    }
    assert_eq!(
        with("java_package = \"com.acme.v1.user\"", "acme.user.v2"),
        ["java-package-major-mismatch"]
    );
}

#[test]
fn every_change_of_a_frozen_package_is_found() {
    const STATUS: &str = "package abide.annotations.v1;\n\
        import \"google/protobuf/descriptor.proto\";\n\
        extend google.protobuf.FileOptions { FilePolicy file_policy = 76350; }\n\
        message FilePolicy { Status package_version_status = 1; }\n\
        enum Status { NONE = 0; FROZEN = 1; ACTIVE = 2; }";
    let tree_of = |files: &[(&str, &str)]| {
        let status = ("abide/annotations/v1/s.proto".to_owned(), STATUS.to_owned());
        let each = files.iter().map(|(name, body)| {
            let head = "package acme.user.v1;\nimport \"abide/annotations/v1/s.proto\";\n\
                option (abide.annotations.v1.file_policy).package_version_status =";
            (format!("acme/user/v1/{name}.proto"), format!("{head} {body}"))
        });
        tree(&each.chain([status]).collect::<Vec<_>>())
    };
    let old =
        tree_of(&[("a", "FROZEN; message A {} message B {}"), ("b", "FROZEN; enum E { NO = 0; }")]);
    let with = |files: &[(&str, &str)]| -> Vec<String> {
        let new = tree_of(files);
        let policy = Config::parse("", None).expect("it is empty").policy;
        let options = Options { baseline: Some(&old), ..Options::on(date(2026, 1, 15)) };
        let report = check(&new, &policy, options);
        let found = report.findings.into_iter().filter(|it| it.rule == "frozen-package-changed");
        found.map(|it| it.message).collect()
    };
    let b = ("b", "FROZEN; enum E { NO = 0; }");
    let none: [&str; 0] = [];
    assert_eq!(with(&[("a", "ACTIVE;\nmessage B {} // Same.\nmessage A {}"), b]), none);
    let of = |what: &str| [format!("{what} the frozen package `acme.user.v1`")];
    assert_eq!(with(&[("a", "FROZEN; message A {}"), b]), of("`acme.user.v1.B` was removed from"));
    assert_eq!(
        with(&[("a", "FROZEN; message A {} message B { string s = 1; }"), b]),
        of("`acme.user.v1.B` changed in")
    );
    assert_eq!(
        with(&[("a", "FROZEN; option go_package = \"x/y\"; message A {} message B {}"), b]),
        of("options of file `acme/user/v1/a.proto` changed in")
    );
    assert_eq!(
        with(&[("a", "FROZEN; message A {} message B {}"), b, ("c", "FROZEN;")]),
        of("file `acme/user/v1/c.proto` was added to")
    );
    assert_eq!(with(&[b]), of("file `acme/user/v1/a.proto` was removed from"));
}

/// What changes between two texts: the findings on these surfaces, and all of them together.
fn compared(old: &str, new: &str, config: &str, surfaces: &[Surface]) -> Report {
    let (old, new) = (one(old), one(new));
    let policy = Config::parse(config, None).expect("it is well-formed").policy;
    let options = Options {
        baseline: Some(&old),
        changes: true,
        scope: RuleScope::Changes,
        surfaces,
        ..Options::on(date(2026, 1, 15))
    };
    check(&new, &policy, options)
}

#[test]
fn an_unrelated_name_for_an_old_number_is_a_warning_where_only_the_wire_counts() {
    let with = |name: &str| {
        format!("enum State {{ UNKNOWN = 0; {name} = 3; }}\nmessage Entry {{ State state = 1; }}")
    };
    let judged = |name: &str, surfaces: &[Surface]| {
        let report = compared(&with("ERROR"), &with(name), "", surfaces);
        let said = |it: &Finding| {
            let help = it.help.clone().unwrap_or_default();
            (it.rule, it.severity, help.starts_with("keep `ERROR` and add"))
        };
        (report.findings.iter().map(said).collect::<Vec<_>>(), report.required_bump)
    };
    let rule = "enum-value-renamed";
    let wire = &[Surface::Wire][..];
    assert_eq!(
        judged("HEALTHY", wire),
        (vec![(rule, Severity::Warning, false)], Some(Bump::Minor))
    );
    assert_eq!(judged("HEALTHY", &[]), (vec![(rule, Severity::Error, false)], Some(Bump::Major)));
    // Another spelling, or a longer name, is the same state.
    for name in ["STATE_ERROR", "INTERNAL_ERROR", "Error"] {
        assert_eq!(judged(name, wire).0, []);
        assert_eq!(judged(name, &[]).0, [(rule, Severity::Error, true)], "{name}");
    }
}

#[test]
fn the_bump_of_a_finding_is_the_one_that_its_package_needs() {
    let old = "message User { string name = 1; string mail = 2; }";
    let new = "message User { string name = 1; reserved 2; reserved \"mail\"; }";
    for (level, bump) in [("error", Bump::Major), ("warning", Bump::Minor), ("note", Bump::Minor)] {
        let report = compared(old, new, &format!("[rules]\nfield-removed = \"{level}\""), &[]);
        let bumps = report.findings.iter().filter_map(|it| Some(it.change.as_ref()?.bump));
        assert_eq!((bumps.max(), report.required_bump), (Some(bump), Some(bump)), "{level}");
    }
}

#[test]
fn the_preset_google_refuses_what_aip_203_lists_as_incompatible() {
    // The annotation in few words; the numbers are those of googleapis.
    let api = "syntax = \"proto3\";\npackage google.api;\n\
               import \"google/protobuf/descriptor.proto\";\n\
               extend google.protobuf.FieldOptions {\n\
               repeated FieldBehavior field_behavior = 1052 [packed = false]; }\n\
               enum FieldBehavior { FIELD_BEHAVIOR_UNSPECIFIED = 0; OPTIONAL = 1; REQUIRED = 2;\n\
               OUTPUT_ONLY = 3; INPUT_ONLY = 4; IMMUTABLE = 5; UNORDERED_LIST = 6;\n\
               NON_EMPTY_DEFAULT = 7; IDENTIFIER = 8; }\n";
    let with = |behavior: &str| {
        let option = match behavior {
            "" => String::new(),
            it => format!(" [(google.api.field_behavior) = {it}]"),
        };
        let user = format!(
            "syntax = \"proto3\";\npackage acme.v1;\nimport \"google/api/field_behavior.proto\";\n\
             message User {{ string name = 1{option}; }}\n"
        );
        let file = |path: &str, text: &str, imported| {
            let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
            let display = Arc::clone(&path);
            Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
        };
        Tree::link(vec![
            file("acme/v1/user.proto", &user, false),
            file("google/api/field_behavior.proto", api, true),
        ])
    };
    let is_refused = |old: &str, new: &str, preset: &str| {
        let (old, new) = (with(old), with(new));
        let config = format!("preset = \"{preset}\"");
        let policy = Config::parse(&config, None).expect("it is well-formed").policy;
        let scope = RuleScope::Changes;
        let options = Options {
            baseline: Some(&old),
            changes: true,
            scope,
            ..Options::on(date(2026, 1, 15))
        };
        let report = check(&new, &policy, options);
        assert!(!report.findings.is_empty());
        report.errors > 0
    };
    for (old, new) in [
        ("", "REQUIRED"),
        ("OPTIONAL", "REQUIRED"),
        ("", "OUTPUT_ONLY"),
        ("", "INPUT_ONLY"),
        ("", "IMMUTABLE"),
        ("OUTPUT_ONLY", ""),
        ("IDENTIFIER", ""),
    ] {
        assert!(is_refused(old, new, "google"), "{old} -> {new}");
        assert_eq!(is_refused(old, new, "standard"), new == "REQUIRED", "{old} -> {new}");
    }
    for (old, new) in [
        ("", "OPTIONAL"),
        ("", "IDENTIFIER"),
        ("REQUIRED", "OPTIONAL"),
        ("REQUIRED", ""),
        ("OUTPUT_ONLY", "IDENTIFIER"),
        ("IMMUTABLE", "IDENTIFIER"),
        ("INPUT_ONLY", ""),
        ("IMMUTABLE", ""),
    ] {
        assert!(!is_refused(old, new, "google"), "{old} -> {new}");
    }
}
