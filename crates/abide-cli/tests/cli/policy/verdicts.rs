//! Violations and breaks of the stable API versioning policy, and what it allows.

use std::path::Path;

use tempfile::TempDir;

use crate::breaking::{commit, git};
use crate::run::{Ran, abide, put};

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

/// A tree that is committed as the release `r1`.
pub(super) fn released(files: &[(&str, &str)]) -> TempDir {
    let folder = tree(files);
    commit(folder.path());
    git(folder.path(), &["tag", "r1"]);
    folder
}

/// What `check` reports about the changes since `r1`, notes included.
pub(super) fn changes(folder: &Path) -> Ran {
    abide(folder, &["breaking", "--against", "git:r1", "--changes", "--format", "json"])
}

/// The rules that reported, each with its severity.
fn severities(ran: &Ran) -> Vec<String> {
    let word = |it: &serde_json::Value| {
        Some(format!("{} {}", it["rule"].as_str()?, it["severity"].as_str()?))
    };
    ran.json().iter().filter_map(word).collect()
}

#[test]
fn package_names_end_with_a_version_and_at_most_alpha() {
    // The grammar: (envoy|udpa|xds).foo.bar.vN[alpha[M]].
    let good = [
        "envoy.foo.v1",
        "envoy.foo.bar.v3",
        "envoy.foo.bar.v3alpha",
        "envoy.foo.bar.v3alpha2",
        "envoy.foo.v2alpha1",
        "envoy.foo.v10alpha11",
        "udpa.foo.bar.v1",
        "xds.foo.v3",
    ];
    let bad = [
        "envoy.foo.bar",
        "envoy.foo.bar.v",
        "envoy.foo.bar.v1p1alpha1",
        "envoy.foo.bar.v1p1beta1",
        "envoy.foo.bar.v3beta",
        "envoy.foo.bar.v3beta1",
        "envoy.foo.bar.v3test",
        "envoy.foo.bar.v03",
        "envoy.foo.bar.v3alpha02",
        "envoy.foo.bar.v3alpha1beta1",
        "envoy.foo.bar.v3rc1",
        "envoy.foo.bar.V3",
        "envoy.foo.bar.v3_alpha",
        "envoy.v3",
        "google.foo.v1",
        "acme.envoy.foo.v3",
    ];
    let verdict = |package: &str| {
        let path = format!("{}/foo.proto", package.replace('.', "/"));
        let text = format!("syntax = \"proto3\";\npackage {package};\nmessage Foo {{}}\n");
        let folder = tree(&[("abide.toml", "preset = \"envoy\"\n"), (&path, &text)]);
        let mut rules = abide(folder.path(), &["lint", "--format", "json"]).rules();
        rules.retain(|it| it.starts_with("package-version-"));
        rules
    };
    for package in good {
        assert_eq!(verdict(package), Vec::<String>::new(), "{package} is well formed");
    }
    for package in bad {
        let rules = verdict(package);
        assert!(
            rules == ["package-version-malformed"] || rules == ["package-version-missing"],
            "{package}: {rules:?}"
        );
    }
}

#[test]
fn the_help_lists_the_version_forms_that_the_policy_allows() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1beta1;\nmessage User {}\n";
    let folder = tree(&[
        ("abide.toml", "[packages]\nversions = [\"vN\", \"vNalphaM\"]\n"),
        ("acme/user/v1beta1/user.proto", text),
    ]);
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 1, "{}", ran.text());
    assert!(ran.text().contains("has the form `vNbetaM`"), "{}", ran.text());
    assert!(ran.text().contains("of the form `vN` or `vNalphaM`"), "{}", ran.text());
    put(folder.path(), &[("abide.toml", "[packages]\nversions = [\"vNalfa\"]\n")]);
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("did you mean `vNalpha`?"), "{}", ran.stderr);
}

/// A beta, released, from which a field went.
fn changed_beta(config: &str) -> TempDir {
    let path = "acme/user/v1beta1/user.proto";
    let text = "syntax = \"proto3\";\npackage acme.user.v1beta1;\nmessage User {\n  \
                string id = 1;\n  string mail = 2;\n}\n";
    let folder = released(&[("abide.toml", config), (path, text)]);
    put(folder.path(), &[(path, &text.replace("  string mail = 2;\n", ""))]);
    folder
}

#[test]
fn a_beta_may_break_like_an_alpha() {
    let envoy = "preset = \"envoy\"\n[packages]\nversions = []\npattern = \"acme.*.vN\"\n";
    for config in ["", "preset = \"standard\"\n", envoy] {
        let folder = changed_beta(config);
        let ran = changes(folder.path());
        assert_eq!((ran.status, severities(&ran)), (0, vec!["field-removed note".to_owned()]));
        let human = abide(folder.path(), &["breaking", "--against", "git:r1", "--changes", "-v"]);
        assert!(human.text().contains("a beta may change"), "{}", human.text());
        let bump = abide(folder.path(), &["bump", "--against", "git:r1", "--write"]);
        assert_eq!(bump.status, 0, "{} {}", bump.text(), bump.stderr);
        // A number that may be used again is not recorded for ever.
        let lock = std::fs::read_to_string(folder.path().join("abide.lock")).unwrap();
        assert!(!lock.contains("field "), "{lock}");
        assert_eq!(abide(folder.path(), &["bump", "--check", "--against", "git:r1"]).status, 0);
    }
}

#[test]
fn one_key_chooses_the_stabilities_that_may_not_break() {
    let bound = "[breaking]\nstabilities = [\"beta\", \"stable\", \"unversioned\"]\n";
    let buf = "preset = \"buf-wire\"\n";
    for config in ["preset = \"google\"\n", bound, buf] {
        let folder = changed_beta(config);
        let ran = changes(folder.path());
        assert_eq!((ran.status, severities(&ran)), (1, vec!["field-removed error".to_owned()]));
        let bump = abide(folder.path(), &["bump", "--against", "git:r1", "--write"]);
        assert_eq!(bump.status, 1, "a break of a bound package is refused: {}", bump.text());
    }
    let folder = changed_beta("preset = \"google\"\n[breaking]\nstabilities = [\"gamma\"]\n");
    let ran = changes(folder.path());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("expected `alpha`, `beta`, `stable` or `unversioned`"));
}

const PRICE_V1: (&str, &str) = (
    "envoy/price/v1/price.proto",
    "syntax = \"proto3\";\npackage envoy.price.v1;\nmessage Price { int64 cents = 1; }\n",
);
const PRICE_V2: (&str, &str) = (
    "envoy/price/v2/price.proto",
    "syntax = \"proto3\";\npackage envoy.price.v2;\nmessage Price { int64 micros = 1; }\n",
);

/// A file of package `envoy.shop.v2` with a field of this type.
fn shop(import: &str, ty: &str) -> String {
    format!(
        "syntax = \"proto3\";\npackage envoy.shop.v2;\nimport \"{import}\";\nmessage Cart {{\n  \
         {ty} total = 1;\n}}\n"
    )
}

const ENVOY: &str = "preset = \"envoy\"\nimport-paths = [\"third_party\"]\n[rules]\n\
                     package-status-missing = \"off\"\n";

#[test]
fn the_newest_stable_must_depend_on_the_newest_stable() {
    let direct = shop(PRICE_V1.0, "envoy.price.v1.Price");
    let path = "envoy/shop/v2/cart.proto";
    let folder = tree(&[("abide.toml", ENVOY), PRICE_V1, PRICE_V2, (path, &direct)]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!((ran.status, severities(&ran)), (1, vec!["dependency-not-latest error".to_owned()]));
    // The advice of the message, obeyed, leads to the end.
    put(folder.path(), &[(path, &shop(PRICE_V2.0, "envoy.price.v2.Price"))]);
    let ran = abide(folder.path(), &["check"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
}

#[test]
fn a_dependency_through_imported_packages_counts() {
    let middle = "syntax = \"proto3\";\npackage xds.base.v1;\nimport \
                  \"envoy/price/v1/price.proto\";\nmessage Base {\n  envoy.price.v1.Price price = \
                  1;\n}\n";
    let folder = tree(&[
        ("abide.toml", &format!("roots = [\"api\"]\n{ENVOY}")),
        ("third_party/xds/base/v1/base.proto", middle),
        ("third_party/envoy/price/v1/price.proto", PRICE_V1.1),
        ("third_party/envoy/price/v2/price.proto", PRICE_V2.1),
        ("api/envoy/shop/v2/cart.proto", &shop("xds/base/v1/base.proto", "xds.base.v1.Base")),
        (
            "api/envoy/pay/v1/pay.proto",
            "syntax = \"proto3\";\npackage envoy.pay.v1;\nimport \
             \"envoy/price/v2/price.proto\";\nmessage Pay { envoy.price.v2.Price price = 1; }\n",
        ),
    ]);
    let ran = abide(folder.path(), &["lint", "--format", "json"]);
    let found = ran.json();
    let finding = found.iter().find(|it| it["rule"] == "dependency-not-latest").expect("one");
    assert_eq!(finding["package"], "envoy.shop.v2", "{}", ran.text());
    assert_eq!(finding["severity"], "error");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("depends on `envoy.price.v1` through `xds.base.v1`"), "{message}");
}

#[test]
fn a_frozen_package_may_keep_old_dependencies() {
    let api = crate::run::repository().join("api").display().to_string();
    let frozen = shop(PRICE_V1.0, "envoy.price.v1.Price").replace(
        "import",
        "import \"abide/annotations/v1/status.proto\";\noption \
         (abide.annotations.v1.file_policy).package_version_status = \
         PACKAGE_VERSION_STATUS_FROZEN;\nimport",
    );
    let config = format!("preset = \"envoy\"\nimport-paths = [{api:?}]\n");
    let path = "envoy/shop/v2/cart.proto";
    let folder = tree(&[("abide.toml", &config), PRICE_V1, PRICE_V2, (path, &frozen)]);
    let mut rules = abide(folder.path(), &["lint", "--format", "json"]).rules();
    rules.retain(|it| it != "package-status-missing");
    assert_eq!(rules, Vec::<String>::new());
}

#[test]
fn a_change_marked_as_patch_is_a_patch_in_every_report() {
    let config = "[deprecation]\nremoval = \"reserved\"\n[rules]\ncompatibility = \"warning\"\n";
    let path = "acme/user/v1/user.proto";
    let file = |body: &str| format!("syntax = \"proto3\";\npackage acme.user.v1;\n{body}\n");
    let mark = "// abide:security-fix: mails leaked\n";
    let with = |config: &str, old: &str, new: &str| {
        let folder = tree(&[("abide.toml", config), (path, &file(old))]);
        assert_eq!(abide(folder.path(), &["bump", "--write"]).status, 0, "{old}");
        commit(folder.path());
        git(folder.path(), &["tag", "r1"]);
        put(folder.path(), &[(path, &file(&new.replace("MARK", mark)))]);
        let bump = abide(folder.path(), &["bump", "--against", "git:r1", "--format", "json"]);
        bump.json()[0]["required"].as_str().unwrap().to_owned()
    };
    let required = |old: &str, new: &str| with(config, old, new);
    let two = "message User { string id = 1; string mail = 2; }";
    let in_oneof = "message User { oneof key { string id = 1; string mail = 2; } }";
    let cases = [
        // The finding is at the message, the mark at what reserves the field.
        (two, "message User { string id = 1;\nMARK reserved 2;\nreserved \"mail\"; }"),
        (
            in_oneof,
            "message User {\nMARK reserved 2; reserved \"mail\";\noneof key { string id = 1; } }",
        ),
        // The findings are at the field and at the oneof.
        (in_oneof, "message User {\nMARK reserved 1, 2;\nMARK reserved \"id\", \"mail\"; }"),
        (two, "message User { string id = 1; oneof key {\nMARK string mail = 2; } }"),
        (in_oneof, "message User { oneof key { string id = 1; }\nMARK string mail = 2; }"),
        (
            "enum Kind { KIND_UNSPECIFIED = 0; KIND_BOT = 1; }",
            "enum Kind { KIND_UNSPECIFIED = 0;\nMARK reserved 1; reserved \"KIND_BOT\"; }",
        ),
        // The finding is at a message all of whose fields are marked.
        (
            two,
            "message User { string id = 1; string mail = 2; }\nmessage Key {\nMARK string id = 1; }",
        ),
        // No rule reports it; the hash of the message shows it.
        (two, "message User { string id = 1;\nMARK string mail = 2 [debug_redact = true]; }"),
        (two, "message User { string id = 1; string mail = 2;\nMARK reserved 7; }"),
        // The type of the field was in no file before.
        (
            "message User { string id = 1; }",
            "import \"google/protobuf/duration.proto\";\nmessage User { string id = 1;\nMARK \
             google.protobuf.Duration ttl = 2; }",
        ),
    ];
    for (old, new) in cases {
        assert_eq!(required(old, new), "patch", "{new}");
        assert_eq!(required(old, &new.replace("MARK", "")), "minor", "{new} without a mark");
    }
    // What `abide.toml` names needs no comment.
    let named = "[[security-fix]]\nelement = \"acme.user.v1.User.mail\"\nreason = \"it leaks\"\n";
    let by_name = [
        (two, "message User { string id = 1; reserved 2; reserved \"mail\"; }"),
        (two, "message User { string id = 1; string mail = 2 [debug_redact = true]; }"),
        (two, "message User { string id = 1; oneof key { string mail = 2; } }"),
    ];
    for (old, new) in by_name {
        assert_eq!(with(&format!("{config}{named}"), old, new), "patch", "{new}");
    }
    // Lines may end as on Windows.
    let crlf = "message User { string id = 1;\r\nMARK reserved 2;\r\nreserved \"mail\"; }";
    assert_eq!(required(two, crlf), "patch");
    // What is beside the mark counts as before.
    let beside = [
        "message User { string id = 1; string mail = 2;\nMARK reserved 7;\nreserved 8; }",
        "message User {\nMARK string id = 1 [debug_redact = true];\nstring mail = 2 [debug_redact = \
         true]; }",
        "message User { string id = 1; string mail = 2; }\nmessage Key {\nMARK string id = 1;\n\
         string text = 2; }",
    ];
    for new in beside {
        assert_eq!(required(two, new), "minor", "{new}");
    }
}

#[test]
fn a_wrapper_default_may_change_unless_the_rule_is_on() {
    let path = "acme/user/v1/user.proto";
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \
                \"google/protobuf/wrappers.proto\";\nmessage User {\n  // Defaults to 3.\n  \
                google.protobuf.UInt32Value attempts = 1;\n}\n";
    let folder = released(&[("abide.toml", ""), (path, text)]);
    put(folder.path(), &[(path, &text.replace("to 3.", "to 4."))]);
    let ran = changes(folder.path());
    assert_eq!((ran.status, severities(&ran)), (0, vec![]), "off by default");
    put(folder.path(), &[("abide.toml", "[rules]\nwrapper-default-changed = \"error\"\n")]);
    let ran = changes(folder.path());
    let found = vec!["wrapper-default-changed error".to_owned()];
    assert_eq!((ran.status, severities(&ran)), (1, found), "{}", ran.text());
    let page = abide(folder.path(), &["explain", "wrapper-default-changed"]);
    assert!(page.text().contains("Off by default"), "{}", page.text());
}

/// A field of a released message whose constraint changed.
fn constrained(config: &str, package: &str, old: &str, new: &str) -> TempDir {
    let imports = crate::run::repository().join("testdata/imports/validate");
    let imports = imports.parent().expect("it is in a folder").display().to_string();
    let path = format!("{}/user.proto", package.replace('.', "/"));
    let file = |rules: &str| {
        format!(
            "syntax = \"proto3\";\npackage {package};\nimport \
             \"buf/validate/validate.proto\";\nmessage User {{\n  string name = 1{rules};\n}}\n"
        )
    };
    let config = format!("import-paths = [{imports:?}]\n{config}");
    let folder = released(&[("abide.toml", &config), (&path, &file(old))]);
    put(folder.path(), &[(&path, &file(new))]);
    folder
}

const SHORT: &str = " [(buf.validate.field).string.max_len = 64]";
const LONG: &str = " [(buf.validate.field).string.max_len = 128]";

#[test]
fn strict_annotations_forbid_every_change_of_validation() {
    let cases = [(SHORT, LONG), (LONG, SHORT), (SHORT, ""), ("", SHORT)];
    for (old, new) in cases {
        let strict = "[breaking]\nstrict-annotations = true\n";
        let folder = constrained(strict, "acme.user.v1", old, new);
        let ran = changes(folder.path());
        assert_eq!(ran.status, 1, "{old} to {new}: {}", ran.text());
        let bump = abide(folder.path(), &["bump", "--against", "git:r1"]);
        assert!(bump.text().contains("which is refused"), "{}", bump.text());
        let is_looser = old == SHORT;
        let lenient = changes(constrained("", "acme.user.v1", old, new).path());
        assert_eq!(lenient.status, i32::from(!is_looser), "{old} to {new}: {}", lenient.text());
        let alpha = changes(constrained(strict, "acme.user.v1alpha", old, new).path());
        assert_eq!(alpha.status, 0, "an alpha may change: {}", alpha.text());
    }
    let same = " [(buf.validate.field).string = { max_len: 64 }]";
    let folder =
        constrained("[breaking]\nstrict-annotations = true\n", "acme.user.v1", SHORT, same);
    assert_eq!(changes(folder.path()).status, 0, "the same limit in other words");
}

#[test]
fn constraint_loosened_has_the_configured_severity() {
    for (level, status) in [("error", 1), ("warning", 0), ("note", 0)] {
        let config = format!("[rules]\nconstraint-loosened = \"{level}\"\n");
        let ran = changes(constrained(&config, "acme.user.v1", SHORT, LONG).path());
        let found = vec![format!("constraint-loosened {level}")];
        assert_eq!((ran.status, severities(&ran)), (status, found));
        let alpha = changes(constrained(&config, "acme.user.v1alpha", SHORT, LONG).path());
        assert_eq!(severities(&alpha), [format!("constraint-loosened {level}")], "in an alpha too");
    }
    let group = changes(
        constrained("[rules]\ncompatibility = \"error\"\n", "acme.user.v1", SHORT, LONG).path(),
    );
    assert_eq!(severities(&group), ["constraint-loosened note"], "a group names no rule");
}

const USER: (&str, &str) = (
    "api/acme/user/v1/user.proto",
    "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n",
);

#[test]
fn client_features_are_listed_once_sorted_in_reverse_dns() {
    let list = "\u{feff}# Zones.\r\ncom.acme.lb.zones\r\n  Com.acme.b # odd\r\nplain\r\n\r\n\
                com.acme.auth\r\ncom.acme.lb.zones";
    let folder = tree(&[("abide.toml", "roots = [\"api\"]\n"), USER, ("api/features.txt", list)]);
    let ran = abide(folder.path(), &["lint", "--format", "json"]);
    assert_eq!(ran.status, 1);
    let found = ran.json();
    let place = |it: &serde_json::Value| {
        let (start, end) = (&it["start"], &it["end"]);
        format!(
            "{}:{}:{}-{} {}",
            it["path"].as_str().unwrap(),
            start["line"],
            start["column"],
            end["column"],
            it["message"].as_str().unwrap()
        )
    };
    let findings = found.iter().filter(|it| it["kind"] == "finding");
    assert!(findings.clone().all(|it| it["rule"] == "feature-list-invalid"), "{}", ran.text());
    let places: Vec<String> = findings.map(place).collect();
    assert_eq!(
        places,
        [
            "api/features.txt:3:3-13 `Com.acme.b` is not a reverse-DNS name of a feature",
            "api/features.txt:4:1-6 `plain` is not a reverse-DNS name of a feature",
            "api/features.txt:6:1-14 feature `com.acme.auth` must be listed before `com.acme.lb.zones`",
            "api/features.txt:7:1-18 feature `com.acme.lb.zones` is listed twice",
        ]
    );
    for format in ["human", "sarif", "junit", "github", "gitlab", "markdown", "html"] {
        let text = abide(folder.path(), &["check", "--format", format]).text();
        assert!(text.contains("api/features.txt"), "{format}: {text}");
        assert!(text.contains("com.acme.auth"), "{format}: {text}");
    }
    // A tree with findings can be adopted.
    assert_eq!(abide(folder.path(), &["check", "--accept"]).status, 0);
    assert_eq!(abide(folder.path(), &["check"]).status, 0);
    std::fs::remove_file(folder.path().join("abide.accepted")).unwrap();
    // What the messages say to do, done.
    let mended = "# Zones.\ncom.acme.auth\ncom.acme.b # odd\ncom.acme.lb.zones\n";
    put(folder.path(), &[("api/features.txt", mended)]);
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
}

#[test]
fn feature_lists_are_read_from_other_folders_and_revisions() {
    let config = "roots = [\"api\"]\nfeatures = [\"docs/a.txt\", \"docs/b.txt\"]\n";
    let folder = released(&[
        ("abide.toml", config),
        USER,
        ("docs/a.txt", "com.acme.one\n"),
        ("docs/b.txt", "com.acme.one\n"),
    ]);
    put(folder.path(), &[("docs/b.txt", "com.acme.two\n")]);
    assert_eq!(abide(folder.path(), &["lint"]).status, 0);
    let ran = abide(folder.path(), &["lint", "git:r1"]);
    assert_eq!(ran.status, 1, "{} {}", ran.text(), ran.stderr);
    assert!(ran.text().contains("docs/b.txt:1:1"), "{}", ran.text());
    // A part of the tree without the lists is judged without them.
    put(folder.path(), &[("docs/b.txt", "com.acme.one\n")]);
    assert_eq!(abide(folder.path(), &["lint"]).status, 1);
    assert_eq!(abide(folder.path(), &["lint", "api/acme"]).status, 0);
    std::fs::remove_file(folder.path().join("docs/a.txt")).unwrap();
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("docs/a.txt"), "{}", ran.stderr);
}

#[test]
fn generated_code_of_every_language_is_protected() {
    let path = "acme/user/v1/user.proto";
    let file = |option: &str, field: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.user.v1;\n{option}\nmessage User {{ string {field} \
             = 1; }}\n"
        )
    };
    let surfaces = |old: &str, new: &str| {
        let folder = released(&[("abide.toml", ""), (path, old)]);
        put(folder.path(), &[(path, new)]);
        let ran = changes(folder.path());
        assert_eq!(ran.status, 1, "{new}: {}", ran.text());
        ran.json()[0]["surfaces"].to_string()
    };
    let options = [
        ("csharp_namespace", "source-csharp"),
        ("go_package", "source-go"),
        ("java_package", "source-java"),
        ("objc_class_prefix", "source-objc"),
        ("php_namespace", "source-php"),
        ("ruby_package", "source-ruby"),
        ("swift_prefix", "source-swift"),
    ];
    for (option, surface) in options {
        let with = |value: &str| file(&format!("option {option} = \"{value}\";"), "id");
        assert_eq!(surfaces(&with("Old"), &with("New")), format!("[\"{surface}\"]"), "{option}");
    }
    // Where names come from the elements themselves, the model of the generator knows them.
    let renamed = surfaces(&file("", "id"), &file("", "key"));
    for surface in ["source-cpp", "source-go", "source-java", "source-python"] {
        assert!(renamed.contains(surface), "{surface}: {renamed}");
    }
}

#[test]
fn the_book_lists_what_is_outside_of_the_policy() {
    let path = crate::run::repository().join("crates/abide-cli/book/policy.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, section) = page.split_once("## What the policy does not cover\n").expect("a section");
    let section = section.split("\n## ").next().unwrap();
    assert!(section.contains("feature flags") && section.contains("endpoints of administration"));
}

#[test]
fn the_presets_of_buf_judge_alphas_as_buf_does() {
    let path = "acme/user/v1alpha1/user.proto";
    let text = "syntax = \"proto3\";\npackage acme.user.v1alpha1;\nmessage User {\n  \
                string id = 1;\n  string mail = 2;\n}\n";
    for preset in ["buf-file", "buf-package", "buf-csr", "buf-wire-json", "buf-wire"] {
        let config = format!("preset = \"{preset}\"\n");
        let folder = released(&[("abide.toml", &config), (path, text)]);
        put(folder.path(), &[(path, &text.replace("  string mail = 2;\n", ""))]);
        let ran = changes(folder.path());
        let found = (ran.status, severities(&ran));
        assert_eq!(found, (1, vec!["field-removed error".to_owned()]), "{preset}");
    }
}

/// A break of stored values, one of source code, a packaging option, and a new demand.
fn weighed(config: &str) -> TempDir {
    let imports = crate::run::repository().join("testdata/imports").display().to_string();
    let config = format!("import-paths = [{imports:?}]\n{config}");
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                import \"google/api/field_behavior.proto\";\n\
                option go_package = \"example.com/user/v1\";\nmessage User {\n  \
                string id = 1 [(google.api.field_behavior) = OPTIONAL];\n  string name = 2;\n  \
                oneof kind {\n    string mail = 3;\n  }\n}\nmessage Group {}\n";
    let path = "acme/user/v1/user.proto";
    let folder = released(&[("abide.toml", &config), (path, text)]);
    let text = text
        .replace("example.com/user/v1", "example.com/users/v1")
        .replace("= OPTIONAL", "= REQUIRED")
        .replace("oneof kind", "oneof sort")
        .replace("  string name = 2;\n", "");
    put(folder.path(), &[(path, &text)]);
    folder
}

/// The rules in the order of the report for people, errors only.
fn weights(folder: &Path) -> Vec<String> {
    let text = abide(folder, &["breaking", "--against", "git:r1"]).text();
    let heads = text.lines().filter_map(|it| it.strip_prefix("error[")).map(str::to_owned);
    heads.filter_map(|it| Some(it.split_once(']')?.0.to_owned())).collect()
}

#[test]
fn one_key_says_how_little_a_break_may_weigh() {
    let clients = "field-removed";
    let source = "oneof-renamed";
    let options = ["packaging-option-changed", "field-behavior-changed"];
    let all: Vec<&str> = [clients, source].into_iter().chain(options).collect();
    assert_eq!(weights(weighed("").path()), all, "the heaviest come first");
    let lightest = |word: &str| format!("[breaking]\nlightest = \"{word}\"\n");
    assert_eq!(weights(weighed(&lightest("options")).path()), all);
    assert_eq!(weights(weighed(&lightest("source")).path()), [clients, source]);
    let folder = weighed(&lightest("clients"));
    assert_eq!(weights(folder.path()), [clients]);
    // They are notes, not lost.
    let ran = changes(folder.path());
    for rule in [source, options[0], options[1]] {
        assert!(severities(&ran).contains(&format!("{rule} note")), "{}", ran.text());
    }
    let ran = changes(weighed(&lightest("sauce")).path());
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`clients`, `source` or `options`"), "{}", ran.stderr);
}
