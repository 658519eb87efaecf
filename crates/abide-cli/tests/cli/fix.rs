//! `--fix` and `--diff`: what they change, and what they never do.
//!
//! Each folder of `testdata/fix` has the name of a rule. It holds a tree `before`, the same tree
//! `after` `--fix`, and perhaps an `old` one to compare with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use abide_lint::{Applied, REMEDIES};
use tempfile::TempDir;

use crate::breaking::commit;
use crate::format::{read, tree};
use crate::run::{Ran, abide, put, repository};

/// Texts by path.
type Files = BTreeMap<String, String>;

fn files(folder: &Path) -> Files {
    fn read(folder: &Path, top: &Path, found: &mut Files) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, top, found);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = Files::new();
    if folder.is_dir() {
        read(folder, folder, &mut found);
    }
    found
}

fn cases() -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(repository().join("testdata/fix")).unwrap();
    let mut cases: Vec<(String, PathBuf)> = folders
        .map(|it| it.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// A case, copied to where it can be fixed, with every text passed through `change`.
struct Case {
    folder: TempDir,
    rule: String,
    has_old: bool,
}

impl Case {
    fn of(rule: &str, path: &Path, change: impl Fn(&str) -> String) -> Case {
        let folder = TempDir::new().unwrap();
        let place = |to: &str, files: &Files| {
            for (name, text) in files {
                put(folder.path(), &[(&format!("{to}/{name}"), &change(text))]);
            }
        };
        let old = files(&path.join("old"));
        place("tree", &files(&path.join("before")));
        place("old", &old);
        Case { folder, rule: rule.to_owned(), has_old: !old.is_empty() }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn files(&self) -> Files {
        files(&self.tree())
    }

    /// The options that name the folders of imports.
    fn imports(&self) -> Vec<String> {
        let folders = ["api", "testdata/imports"].map(|it| repository().join(it));
        folders.iter().flat_map(|it| ["-I".to_owned(), it.display().to_string()]).collect()
    }

    fn run(&self, args: &[&str]) -> Ran {
        let imports = self.imports();
        let mut all = vec!["check", "--as-of", "2026-01-15"];
        all.extend(imports.iter().map(String::as_str));
        if self.has_old {
            all.extend(["--against", "../old"]);
        }
        all.extend(args);
        abide(&self.tree(), &all)
    }

    /// Fixes the findings of its rule.
    fn fix(&self) -> Ran {
        let ran = self.run(&["--fix", "--select", &self.rule]);
        assert!(ran.status < 2, "{}: {}", self.rule, ran.stderr);
        ran
    }

    /// The findings of every rule.
    fn findings(&self) -> Vec<serde_json::Value> {
        let ran = self.run(&["--format", "json"]);
        assert!(ran.status < 2, "{}: {}", self.rule, ran.stderr);
        ran.json().into_iter().filter(|it| it["kind"] == "finding").collect()
    }
}

fn same(text: &str) -> String {
    text.to_owned()
}

#[test]
fn fixes_are_those_of_the_goldens() {
    for (rule, path) in cases() {
        let case = Case::of(&rule, &path, same);
        let before = case.files();
        case.fix();
        let made = case.files();
        if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
            let after = path.join("after");
            let _ = fs::remove_dir_all(&after);
            for (name, text) in made.iter().filter(|(name, text)| before.get(*name) != Some(text)) {
                put(&after, &[(name, text)]);
            }
        }
        let mut wanted = before;
        wanted.extend(files(&path.join("after")));
        assert_eq!(made, wanted, "{rule}: `SNAPSHOTS=overwrite` records it");
    }
}

#[test]
fn every_rule_with_a_fix_has_a_case_that_needs_it() {
    let cases: Vec<(String, PathBuf)> = cases();
    let named: Vec<&str> = cases.iter().map(|(rule, _)| rule.as_str()).collect();
    assert_eq!(named, REMEDIES.iter().map(|it| it.rule.id).collect::<Vec<_>>());
    for ((rule, path), remedy) in cases.iter().zip(REMEDIES) {
        let case = Case::of(rule, path, same);
        let findings = case.findings();
        let own = findings.iter().filter(|it| it["rule"] == **rule);
        let fixes = own.flat_map(|it| it["fixes"].as_array().cloned().unwrap_or_default());
        let applied: Vec<String> =
            fixes.map(|it| it["applied"].as_str().unwrap().to_owned()).collect();
        assert!(applied.iter().any(|it| it == remedy.applied.word()), "{rule}: {applied:?}");
        let more = |it: &String| it != remedy.applied.word() && it != Applied::Never.word();
        assert!(!applied.iter().any(more), "{rule}: {applied:?}");
        // Nobody else has fixes.
        let is_known =
            |it: &&serde_json::Value| REMEDIES.iter().any(|remedy| it["rule"] == remedy.rule.id);
        let with_fixes: Vec<_> = findings.iter().filter(|it| it.get("fixes").is_some()).collect();
        assert!(with_fixes.iter().all(is_known), "{with_fixes:#?}");
    }
}

#[test]
fn a_fix_does_no_harm_and_leaves_nothing_to_fix() {
    for (rule, path) in cases() {
        let case = Case::of(&rule, &path, same);
        // A removal that reserves is another one than that which does not.
        let key = |it: &serde_json::Value| [it["rule"].to_string(), it["element"].to_string()];
        let before: Vec<[String; 2]> = case.findings().iter().map(key).collect();
        for (name, text) in case.files() {
            put(case.folder.path(), &[(&format!("first/{name}"), &text)]);
        }
        case.fix();
        let fixed = case.files();
        let new: Vec<_> = case.findings();
        let new: Vec<_> = new.iter().filter(|it| !before.contains(&key(it))).collect();
        assert!(new.is_empty(), "{rule}: {new:#?}");
        let again = case.fix();
        assert_eq!(case.files(), fixed, "{rule}: a second run changes nothing");
        assert!(!again.stderr.contains("note: fixed"), "{rule}: {}", again.stderr);
        let diff = case.run(&["--diff", "--select", &rule]);
        assert_eq!((diff.status, &*diff.text()), (0, ""), "{rule}: {}", diff.stderr);
        let mut breaking = case.imports();
        breaking.extend(["--against", "../first", "--format", "json"].map(str::to_owned));
        let args: Vec<&str> =
            ["breaking"].into_iter().chain(breaking.iter().map(|it| &**it)).collect();
        let breaking = abide(&case.tree(), &args);
        assert!(breaking.status < 2, "{rule}: {}", breaking.stderr);
        let is_break =
            |it: &serde_json::Value| it.get("bump").is_some() && it["severity"] == "error";
        let broken: Vec<_> = breaking.json().into_iter().filter(is_break).collect();
        assert!(broken.is_empty(), "{rule}: {broken:#?}");
    }
}

#[test]
fn the_patch_is_what_a_fix_writes() {
    for (rule, path) in cases() {
        let case = Case::of(&rule, &path, same);
        let before = case.files();
        let diff = case.run(&["--diff", "--select", &rule]);
        assert_eq!(case.files(), before, "{rule}: it only shows");
        case.fix();
        let changed: Vec<String> = case
            .files()
            .into_iter()
            .filter(|(name, text)| before.get(name) != Some(text))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(diff.status, i32::from(!changed.is_empty()), "{rule}: {}", diff.stderr);
        let named: Vec<String> = diff
            .text()
            .lines()
            .filter_map(|it| it.strip_prefix("+++ b/").map(str::to_owned))
            .collect();
        let in_patch = |it: &String| named.iter().any(|path| path.ends_with(it.as_str()));
        assert!(changed.iter().all(in_patch), "{rule}: {named:?} {changed:?}");
        assert_eq!(named.len(), changed.len(), "{rule}");
    }
}

/// The ends of lines, a mark of byte order and a last line without an end stay as they are.
#[test]
fn a_fix_keeps_the_form_of_a_text() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    let marked = |text: &str| match text.is_empty() || text.starts_with(['#', '[']) {
        // Only proto files may begin with one.
        true => text.to_owned(),
        false => format!("\u{feff}{text}"),
    };
    let forms: [&dyn Fn(&str) -> String; 2] = [&windows, &marked];
    for (rule, path) in cases() {
        for form in forms {
            let case = Case::of(&rule, &path, form);
            case.fix();
            let mut wanted = files(&path.join("before"));
            wanted.extend(files(&path.join("after")));
            let wanted: Files =
                wanted.into_iter().map(|(name, text)| (name, form(&text))).collect();
            assert_eq!(case.files(), wanted, "{rule}");
        }
    }
}

const UNUSED: &str = "syntax = \"proto3\";\npackage acme.v1;\nimport \"google/protobuf/any.proto\";\n\
                      message A {}\n";
const USED: &str = "syntax = \"proto3\";\npackage acme.v1;\nmessage A {}\n";

#[test]
fn what_remains_is_reported() {
    let tree = tree(&[
        ("acme/v1/a.proto", UNUSED),
        ("b/b.proto", "syntax = \"proto3\";\npackage b;\nmessage B {}\n"),
    ]);
    let ran = abide(tree.path(), &["lint", "--fix"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("note: fixed 1 finding in 1 file"), "{}", ran.stderr);
    assert!(ran.text().contains("b.proto"), "{}", ran.text());
    assert!(!ran.text().contains("unused"), "{}", ran.text());
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), USED);
    let quiet = abide(tree.path(), &["lint", "--fix", "--quiet"]);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn only_what_is_selected_is_fixed() {
    let text = format!("{UNUSED}// abide:allow(import-unused): nobody knows\nmessage B {{}}\n");
    let tree = tree(&[("acme/v1/a.proto", &text)]);
    let ran = abide(tree.path(), &["lint", "--fix", "--select", "waiver-unused"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), format!("{UNUSED}message B {{}}\n"));
}

#[test]
fn what_is_waived_accepted_or_off_is_left_alone() {
    let waived = UNUSED.replace("import", "// abide:allow(import-unused): later\nimport");
    let waived_tree = tree(&[("acme/v1/a.proto", &waived)]);
    assert_eq!(abide(waived_tree.path(), &["lint", "--fix"]).status, 0);
    assert_eq!(read(waived_tree.path(), "acme/v1/a.proto"), waived);
    let off = "[rules]\nimport-unused = \"off\"\n";
    let off = tree(&[("abide.toml", off), ("acme/v1/a.proto", UNUSED)]);
    assert_eq!(abide(off.path(), &["lint", "--fix"]).status, 0);
    assert_eq!(read(off.path(), "acme/v1/a.proto"), UNUSED);
    let rules = "[rules]\nsyntax-missing = \"warning\"\n";
    let text = "package acme.v1;\nmessage A {}\n";
    let accepted = tree(&[("abide.toml", rules), ("acme/v1/a.proto", text)]);
    assert_eq!(abide(accepted.path(), &["check", "--accept"]).status, 0);
    assert_eq!(abide(accepted.path(), &["check", "--fix"]).status, 0);
    assert_eq!(read(accepted.path(), "acme/v1/a.proto"), text);
}

#[test]
fn imported_and_generated_files_are_left_alone() {
    let vendor = tree(&[("api/acme/v1/a.proto", UNUSED), ("vendor/b.proto", UNUSED)]);
    let ran = abide(vendor.path(), &["lint", "api", "-I", "vendor", "--fix"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(read(vendor.path(), "api/acme/v1/a.proto"), USED);
    assert_eq!(read(vendor.path(), "vendor/b.proto"), UNUSED);
    let text = UNUSED.replace("{}", "{ string a = 1; string b = 2 [deprecated = true]; }");
    let tree = tree(&[("abide.toml", ""), ("acme/v1/a.proto", &text)]);
    assert_eq!(abide(tree.path(), &["upgrade", "--write"]).status, 0);
    let candidate = read(tree.path(), "acme/v2alpha/a.proto");
    abide(tree.path(), &["lint", "--fix"]);
    assert_eq!(read(tree.path(), "acme/v2alpha/a.proto"), candidate);
    assert_ne!(read(tree.path(), "acme/v1/a.proto"), text);
}

#[test]
fn only_a_tree_on_disk_is_fixed() {
    let tree = tree(&[("acme/v1/a.proto", UNUSED)]);
    commit(tree.path());
    let build = abide(tree.path(), &["build", "-o", "set.binpb"]);
    assert_eq!(build.status, 0, "{}", build.stderr);
    for source in ["git:HEAD", "set.binpb", "-"] {
        let ran = abide(tree.path(), &["lint", source, "--fix"]);
        assert_eq!(ran.status, 2, "{source}: {}", ran.text());
        assert!(ran.stderr.contains("`--fix` edits files on disk"), "{source}: {}", ran.stderr);
    }
    let diff = abide(tree.path(), &["lint", "git:HEAD", "--diff"]);
    assert_eq!(diff.status, 1, "{}", diff.stderr);
    assert!(diff.text().contains("-import \"google/protobuf/any.proto\";\n"), "{}", diff.text());
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), UNUSED);
}

#[test]
fn a_fix_that_would_break_a_rule_is_not_applied() {
    let alpha = "syntax = \"proto3\";\npackage acme.b.v1alpha;\nmessage B {}\n";
    let stable = "syntax = \"proto3\";\npackage acme.a.v1;\nmessage A {\n  \
                  acme.b.v1alpha.B b = 1;\n}\n";
    let tree = tree(&[("acme/b/v1alpha/b.proto", alpha), ("acme/a/v1/a.proto", stable)]);
    let ran = abide(tree.path(), &["lint", "--fix"]);
    assert_eq!(read(tree.path(), "acme/a/v1/a.proto"), stable);
    assert!(
        ran.stderr.contains("did not add `import \"acme/b/v1alpha/b.proto\";`"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("note: fixed"), "{}", ran.stderr);
}

const ALPHA: &str =
    "syntax = \"proto3\";\npackage acme.v1alpha;\nmessage A {\n  string userName = 1;\n}\n";

#[test]
fn a_rename_is_applied_where_the_policy_allows_it() {
    let rules = "[rules]\nfield-name-case = \"warning\"\n";
    let stable = ALPHA.replace("v1alpha", "v1");
    let named = ALPHA
        .replace("v1alpha", "v2alpha")
        .replace("message", "option java_package = \"a.otherName\";\nmessage")
        .replace("userName", "otherName");
    let tree = tree(&[
        ("abide.toml", rules),
        ("acme/v1alpha/a.proto", ALPHA),
        ("acme/v1/a.proto", &stable),
        ("acme/v2alpha/a.proto", &named),
    ]);
    let ran = abide(tree.path(), &["lint", "--fix", "--select", "field-name-case"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let renamed = ALPHA.replace("userName", "user_name");
    assert_eq!(read(tree.path(), "acme/v1alpha/a.proto"), renamed, "{}", ran.stderr);
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), stable);
    assert_eq!(read(tree.path(), "acme/v2alpha/a.proto"), named);
    assert!(ran.stderr.contains("it would cause `field-renamed`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("a string may name `otherName`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: fixed 1 finding in 1 file"), "{}", ran.stderr);
}

#[test]
fn a_member_that_the_baseline_does_not_have_may_be_renamed() {
    let rules = "[rules]\nfield-name-case = \"warning\"\n";
    let stable = ALPHA.replace("v1alpha", "v1");
    let old = stable.replace("  string userName = 1;\n", "");
    let tree = tree(&[
        ("t/abide.toml", rules),
        ("t/acme/v1/a.proto", &stable),
        ("old/acme/v1/a.proto", &old),
    ]);
    let ran = abide(&tree.path().join("t"), &["check", "--against", "../old", "--fix"]);
    assert_eq!(ran.status, 0, "{}{}", ran.stderr, ran.text());
    assert_eq!(
        read(tree.path(), "t/acme/v1/a.proto"),
        stable.replace("userName", "user_name"),
        "{}",
        ran.stderr
    );
}

#[test]
fn with_changed_only_what_the_change_reaches_is_fixed() {
    let other = UNUSED.replace("acme.v1", "acme.v2");
    let files = [("abide.toml", ""), ("acme/v1/a.proto", USED), ("acme/v2/a.proto", &*other)];
    let tree = tree(&files);
    commit(tree.path());
    put(tree.path(), &[("acme/v1/a.proto", UNUSED)]);
    let ran = abide(tree.path(), &["check", "--changed", "--fix"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), USED);
    assert_eq!(read(tree.path(), "acme/v2/a.proto"), other);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_tree_is_not_followed() {
    let outside = tree(&[("b.proto", UNUSED)]);
    let tree = tree(&[("acme/v1/a.proto", UNUSED)]);
    let link = tree.path().join("acme/v1/b.proto");
    std::os::unix::fs::symlink(outside.path().join("b.proto"), link).unwrap();
    let ran = abide(tree.path(), &["lint", "--fix"]);
    assert_eq!(ran.status, 2, "{}", ran.text());
    assert!(ran.stderr.contains("nothing was fixed"), "{}", ran.stderr);
    assert_eq!(read(outside.path(), "b.proto"), UNUSED);
    assert_eq!(read(tree.path(), "acme/v1/a.proto"), UNUSED);
}

/// An unused import is only seen once the file links; it is not the doing of what makes it link.
#[test]
fn a_missing_import_is_added_beside_an_unused_one() {
    let folder = TempDir::new().unwrap();
    let other = |file: &str, name: &str| {
        (
            format!("acme/other/v1/{file}.proto"),
            format!("syntax = \"proto3\";\npackage acme.other.v1;\nmessage {name} {{}}\n"),
        )
    };
    for (path, text) in [other("o", "Old"), other("n", "New")] {
        put(folder.path(), &[(&path, &text)]);
    }
    let cart = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \"acme/other/v1/o.proto\";\nmessage \
                Cart {\n  acme.other.v1.New new = 1;\n}\n";
    put(folder.path(), &[("acme/shop/v1/cart.proto", cart)]);
    let ran = abide(folder.path(), &["lint", "--fix"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert_eq!(read(folder.path(), "acme/shop/v1/cart.proto"), cart.replace("o.proto", "n.proto"));
}

/// A finding that goes on under another name is not new: the other fixes of the file are applied.
#[test]
fn a_finding_with_a_new_name_is_no_harm() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.y.v1alpha;\nmessage B {\n  string itemSize = 1;\n}\nenum \
                Color {\n  none = 0;\n}\n";
    put(
        folder.path(),
        &[
            ("abide.toml", "[rules]\n\"buf:STANDARD\" = \"warning\"\n"),
            ("acme/y/v1alpha/m.proto", text),
        ],
    );
    let ran = abide(folder.path(), &["lint", "--fix"]);
    let fixed = read(folder.path(), "acme/y/v1alpha/m.proto");
    assert!(fixed.contains("item_size") && !fixed.contains("none"), "{fixed}{}", ran.stderr);
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_not_fixed() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| {
        format!(
            "syntax = \"proto3\";\npackage acme.{name}.v1;\nimport \"acme/other/v1/o.proto\";\n"
        )
    };
    put(
        folder.path(),
        &[
            ("acme/other/v1/o.proto", "syntax = \"proto3\";\npackage acme.other.v1;\n"),
            ("acme/shop/v1/c.proto", &file("shop")),
            ("acme/zoo/v1/c.proto", &file("zoo")),
        ],
    );
    commit(folder.path());
    let cone = ["sparse-checkout", "set", "--cone", "acme/other", "acme/zoo"];
    crate::history::git(folder.path(), &cone);
    let ran = abide(folder.path(), &["lint", "--fix"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(!read(folder.path(), "acme/zoo/v1/c.proto").contains("import"));
    assert!(!folder.path().join("acme/shop").exists());
}

/// A field, an enum value and a oneof are named in options in many ways, in every file.
#[test]
fn a_rename_goes_through_the_options_of_all_files() {
    let rules = "[rules]\nfield-name-case = \"warning\"\nenum-value-name-case = \"warning\"\n";
    let options = "syntax = \"proto2\";\npackage acme.options.v1alpha;\nimport \
                   \"google/protobuf/descriptor.proto\";\nmessage Note {\n  optional string \
                   shortText = 1;\n  optional Note inNote = 2;\n  optional Kind kind = 3 [default \
                   = kindTwo];\n  repeated Kind allKinds = 4;\n}\nenum Kind {\n  KIND_UNSPECIFIED \
                   = 0;\n  kindTwo = 2;\n}\nextend google.protobuf.FieldOptions {\n  optional \
                   Note note = 50001;\n}\n";
    let using = "syntax = \"proto2\";\npackage acme.using.v1alpha;\nimport \
                 \"acme/options/v1alpha/options.proto\";\nmessage Use {\n  optional string a = 1 \
                 [(acme.options.v1alpha.note).inNote.shortText = \"x\"];\n  optional string b = 2 \
                 [(acme.options.v1alpha.note) = {shortText: \"x\" inNote {allKinds: [kindTwo, \
                 kindTwo]}}];\n  optional acme.options.v1alpha.Kind c = 3 [default = kindTwo];\n}\n";
    let tree = tree(&[
        ("abide.toml", rules),
        ("acme/options/v1alpha/options.proto", options),
        ("acme/using/v1alpha/using.proto", using),
    ]);
    let ran = abide(tree.path(), &["lint", "--fix"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    assert_eq!(ran.stderr, "note: fixed 4 findings in 2 files\n");
    let names = [
        ("shortText", "short_text"),
        ("inNote", "in_note"),
        ("allKinds", "all_kinds"),
        ("kindTwo", "KIND_TWO"),
    ];
    let renamed = |text: &str| names.iter().fold(text.to_owned(), |it, (a, b)| it.replace(a, b));
    assert_eq!(read(tree.path(), "acme/options/v1alpha/options.proto"), renamed(options));
    assert_eq!(read(tree.path(), "acme/using/v1alpha/using.proto"), renamed(using));
}

/// The error of one may appear in another file, which has a fix of its own.
#[test]
fn a_fix_that_fails_takes_no_other_with_it() {
    let rules = "[rules]\nfield-name-case = \"warning\"\nenum-value-name-case = \"warning\"\n";
    let file = |package: &str, text: &str| {
        format!("syntax = \"proto3\";\npackage acme.{package}.v1alpha;\n{text}\n")
    };
    let twice = file("twice", "message A { string userName = 1; string user_name = 2; }");
    let value = file("value", "enum A { A_UNSPECIFIED = 0; a_red = 1; a_green = 2; }");
    let taken = file("value", "message A_RED { string farName = 1; }");
    let far = file("far", "message Far { string farName = 1; }");
    let vendored = "syntax = \"proto3\";\npackage vendored;\nimport \
                    \"acme/shared/v1alpha/a.proto\";\nmessage V { string a = 1 \
                    [(acme.shared.v1alpha.shared).farName = \"x\"]; }\n";
    let shared = file(
        "shared",
        "import \"google/protobuf/descriptor.proto\";\nmessage Shared { string farName = 1; string \
         nearName = 2; }\nextend google.protobuf.FieldOptions { Shared shared = 50001; }",
    );
    let tree = tree(&[
        ("api/abide.toml", rules),
        ("api/acme/twice/v1alpha/a.proto", &twice),
        ("api/acme/value/v1alpha/a.proto", &value),
        ("api/acme/value/v1alpha/b.proto", &taken),
        ("api/acme/far/v1alpha/a.proto", &far),
        ("api/acme/shared/v1alpha/a.proto", &shared),
        (
            "api/acme/shared/v1alpha/b.proto",
            &file("shared", "import \"vendored.proto\";\nmessage B { vendored.V v = 1; }"),
        ),
        ("vendor/vendored.proto", vendored),
    ]);
    let ran = abide(&tree.path().join("api"), &["lint", "-I", "../vendor", "--fix"]);
    let read = |name: &str| read(tree.path(), &format!("api/acme/{name}"));
    assert_eq!(read("twice/v1alpha/a.proto"), twice);
    assert_eq!(
        read("value/v1alpha/a.proto"),
        value.replace("a_green", "A_GREEN"),
        "{}",
        ran.stderr
    );
    assert_eq!(read("value/v1alpha/b.proto"), taken.replace("farName", "far_name"));
    assert_eq!(read("far/v1alpha/a.proto"), far.replace("farName", "far_name"));
    assert_eq!(read("shared/v1alpha/a.proto"), shared.replace("nearName", "near_name"));
    let notes: Vec<&str> = ran.stderr.lines().filter(|it| it.contains("did not")).collect();
    assert_eq!(notes.len(), 3, "{}", ran.stderr);
    for (element, why) in [
        ("`acme.twice.v1alpha.A.userName`", "user_name"),
        ("`acme.value.v1alpha.a_red`", "A_RED"),
        ("`acme.shared.v1alpha.Shared.farName`", "vendored.proto` would have to change"),
    ] {
        let note = notes.iter().find(|it| it.contains(element));
        assert!(note.is_some_and(|it| it.contains(why)), "{element}: {}", ran.stderr);
    }
}

#[test]
fn what_only_an_import_path_declares_is_imported() {
    let folder = TempDir::new().unwrap();
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\n\nmessage User {\n  corp.type.Money money = 1 [(corp.type.mark) = true];\n}\n";
    let money = "syntax = \"proto3\";\npackage corp.type;\nmessage Money {}\n";
    let mark = "syntax = \"proto2\";\npackage corp.type;\nimport \"google/protobuf/descriptor.proto\";\nextend google.protobuf.FieldOptions { optional bool mark = 50000; }\n";
    // It cannot be linked itself, so nothing is imported from it.
    let broken =
        "syntax = \"proto3\";\npackage corp.type;\nimport \"corp/gone.proto\";\nmessage Money {}\n";
    put(
        folder.path(),
        &[
            ("tree/acme/user/v1/user.proto", text),
            ("deps/corp/type/broken.proto", broken),
            ("deps/corp/type/marks.proto", mark),
            ("deps/corp/type/money.proto", money),
        ],
    );
    let tree = folder.path().join("tree");
    let ran = abide(&tree, &["lint", "-I", "../deps"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for file in ["money", "marks"] {
        let advice = format!("help: add `import \"corp/type/{file}.proto\";`");
        assert!(ran.text().contains(&advice), "{}", ran.text());
    }
    assert!(!ran.text().contains("broken"), "{}", ran.text());
    let ran = abide(&tree, &["lint", "-I", "../deps", "--fix"]);
    assert_eq!(ran.status, 0, "{}{}", ran.text(), ran.stderr);
    let imports = "package acme.user.v1;\n\nimport \"corp/type/marks.proto\";\nimport \"corp/type/money.proto\";\n";
    let made = fs::read_to_string(tree.join("acme/user/v1/user.proto")).unwrap();
    assert_eq!(made, text.replace("package acme.user.v1;\n", imports));
}
