//! What somebody sees who runs the tool for the first time: imports that are not there, unknown
//! names, the page of a rule, and reports of trees with many findings.

use tempfile::TempDir;

use crate::run::{abide, put};

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), files);
    folder
}

const VALIDATED: &str = "\
syntax = \"proto3\";
package acme.user.v1;
import \"validate/validate.proto\";
import \"acme/group/v1/group.proto\";
message NAME {
  option (validate.disabled) = true;
  string mail = 1 [(validate.rules).string.email = true];
  map<string, string> tags = 2 [(validate.rules).map.min_pairs = 1];
  acme.group.v1.Group group = 3;
}
service NAMEs {
  rpc Get(acme.group.v1.Group) returns (NAME);
}
";

#[test]
fn a_missing_import_is_one_finding_whatever_uses_it() {
    let (user, admin) = (VALIDATED.replace("NAME", "User"), VALIDATED.replace("NAME", "Admin"));
    let folder = tree(&[("acme/user/v1/user.proto", &user), ("acme/user/v1/admin.proto", &admin)]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.rules(), ["import-not-found", "import-not-found"], "{}", ran.text());
    let findings = ran.json();
    let said = |at: usize, key: &str| findings[at][key].as_str().unwrap_or_default().to_owned();
    assert_eq!(said(0, "message"), "the import `validate/validate.proto` of 2 files was not found");
    assert_eq!(said(0, "at"), "6 uses of names are unknown without it");
    assert!(
        said(0, "help").contains("protoc-gen-validate") && said(0, "help").contains("`-I DIR`")
    );
    assert_eq!(said(1, "at"), "4 uses of names are unknown without it");
    assert!(said(1, "help").starts_with("pass its folder with `-I DIR`"), "{}", said(1, "help"));
    // Every other command says the same, and no more.
    for args in [["hash"].as_slice(), &["upgrade", "--diff"], &["graph"]] {
        let ran = abide(folder.path(), args);
        assert!(!ran.stderr.contains("name-not-found"), "{args:?}: {}", ran.stderr);
    }
    // What is supplied ends it.
    let group = "syntax = \"proto3\";\npackage acme.group.v1;\nmessage Group {}\n";
    put(folder.path(), &[("acme/group/v1/group.proto", group)]);
    assert_eq!(abide(folder.path(), &["check", "--format", "json"]).rules(), ["import-not-found"]);
}

/// A message cannot be in two files, so no missing file has what it lacks.
#[test]
fn a_name_that_no_missing_file_can_have_is_reported() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"gone.proto\";\n\
                message User { message Name {}\n User.Nme name = 1; }\n";
    let folder = tree(&[("acme/user/v1/user.proto", text)]);
    let ran = abide(folder.path(), &["check", "--format", "json"]);
    assert_eq!(ran.rules(), ["import-not-found", "name-not-found"], "{}", ran.text());
}

#[test]
fn no_unknown_names_of_either_side_become_changes() {
    let user = VALIDATED.replace("NAME", "User");
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    put(old.path(), &[("acme/user/v1/user.proto", &user)]);
    put(new.path(), &[("acme/user/v1/user.proto", &user)]);
    let rules = "syntax = \"proto3\";\npackage validate;\n\
                 import \"google/protobuf/descriptor.proto\";\n\
                 message Rules { S string = 1; M map = 2; }\n\
                 message S { bool email = 1; }\nmessage M { int32 min_pairs = 1; }\n\
                 extend google.protobuf.FieldOptions { Rules rules = 1071; }\n\
                 extend google.protobuf.MessageOptions { bool disabled = 1071; }\n";
    let group = "syntax = \"proto3\";\npackage acme.group.v1;\nmessage Group {}\n";
    let imports = TempDir::new().unwrap();
    put(
        imports.path(),
        &[("validate/validate.proto", rules), ("acme/group/v1/group.proto", group)],
    );
    let old = old.path().display().to_string();
    let ran = abide(new.path(), &["breaking", "--changes", "--against", &old, "--format", "json"]);
    assert_eq!(ran.rules(), ["import-not-found", "import-not-found"], "{}", ran.text());
    // One side that knows the options is no change of them.
    let set = imports.path().join("old.binpb").display().to_string();
    let (old_tree, folder) = (old.clone(), imports.path().display().to_string());
    let built = ["build", &old_tree, "-I", &folder, "-o", &set].map(str::to_owned);
    assert_eq!(abide(new.path(), &built.each_ref().map(String::as_str)).status, 0);
    let ran = abide(new.path(), &["breaking", "--changes", "--against", &set, "--format", "json"]);
    assert!(!ran.text().contains("constraint") && !ran.text().contains("option"), "{}", ran.text());
    // With the imports there is nothing to report.
    let imports = imports.path().display().to_string();
    let args = ["breaking", "--against", &old, "-I", &imports, "--format", "json"];
    assert_eq!(abide(new.path(), &args).rules(), [""; 0]);
}

#[test]
fn a_suggested_name_resolves_where_it_is_written() {
    // `.group.Group` is nowhere, so a leading dot is no help.
    let inner = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                 message User { message group {}\n group.Group group_of = 1; }\n";
    let folder = tree(&[("acme/user/v1/user.proto", inner)]);
    let ran = abide(folder.path(), &["check"]);
    assert!(ran.text().contains("`group.Group` was not found: `group` is"), "{}", ran.text());
    assert!(!ran.text().contains(".group.Group`"), "{}", ran.text());
    // A file that has it is named.
    let group = "syntax = \"proto3\";\npackage group;\nmessage Group {}\n";
    put(folder.path(), &[("group/group.proto", group)]);
    let ran = abide(folder.path(), &["check"]);
    let help = "add `import \"group/group.proto\";` and write `.group.Group`";
    assert!(ran.text().contains(help), "{}", ran.text());
    let mended = inner
        .replace("group.Group group_of", ".group.Group group_of")
        .replace("package acme.user.v1;", "package acme.user.v1;\nimport \"group/group.proto\";");
    put(folder.path(), &[("acme/user/v1/user.proto", &mended)]);
    let rules = abide(folder.path(), &["check", "--format", "json"]).rules();
    assert!(!rules.contains(&"name-not-found".to_owned()), "{rules:?}");
}

#[test]
fn a_hidden_type_is_suggested_by_its_full_name() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage Get {}\n\
                service Users { rpc Get(WRITTEN) returns (.acme.user.v1.Get); }\n";
    let folder = tree(&[("acme/user/v1/user.proto", &text.replace("WRITTEN", "Get"))]);
    let ran = abide(folder.path(), &["check"]);
    assert!(ran.text().contains("leading dot: `.acme.user.v1.Get`"), "{}", ran.text());
    put(
        folder.path(),
        &[("acme/user/v1/user.proto", &text.replace("WRITTEN", ".acme.user.v1.Get"))],
    );
    assert!(!abide(folder.path(), &["check"]).text().contains("leading dot"));
}

#[test]
fn a_rule_is_explained_by_any_of_its_names() {
    let folder = TempDir::new().unwrap();
    let page = abide(folder.path(), &["explain", "field-removed"]).text();
    assert!(page.starts_with("# field-removed\n"), "{page}");
    for name in ["buf:FIELD_NO_DELETE", "FIELD_NO_DELETE"] {
        let text = abide(folder.path(), &["explain", name]).text();
        assert!(text.starts_with(&format!("2 rules report what `{name}` does.")), "{text}");
        assert!(text.contains("- `field-number-changed`:") && text.ends_with(&page), "{text}");
    }
    assert!(!page.contains("old file=") && !page.contains("// <-") && !page.contains("^ error"));
    // On a terminal it has no marks of Markdown.
    let shown = abide(folder.path(), &["explain", "field-removed", "--color", "always"]).text();
    assert!(shown.starts_with("\u{1b}[1mfield-removed\u{1b}[0m\n"), "{shown}");
    assert!(!shown.contains("```") && !shown.contains("## "), "{shown}");
    assert!(shown.lines().all(|line| line.starts_with("    ") || line.len() <= 140), "{shown}");
    let ran = abide(folder.path(), &["explain", "FIELD_NO_DELET"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("did you mean `FIELD_NO_DELETE`?"), "{}", ran.stderr);
}

#[test]
fn the_list_of_rules_says_what_sets_each_severity() {
    let config = "[rules]\nimport-unused = \"error\"\n\
                  [[override]]\npackages = [\"acme.old.**\"]\nrules = { import-unused = \"off\" }\n";
    let folder = tree(&[("abide.toml", config)]);
    let text = abide(folder.path(), &["rules"]).text();
    let (at, row) = text.lines().enumerate().find(|it| it.1.starts_with("import-unused ")).unwrap();
    assert!(row.contains("  error    "), "{row}");
    assert!(row.ends_with("(by `[rules] import-unused` in `abide.toml`, line 2)"), "{row}");
    let part = text.lines().nth(at + 1).unwrap();
    let by = "off      by the `[[override]]` for `acme.old.**` in `abide.toml`";
    assert!(part.trim_start().starts_with(by), "{part}");
    let lines = abide(folder.path(), &["rules", "--format", "json"]).json();
    let line = lines.iter().find(|line| line["id"] == "import-unused").unwrap();
    assert_eq!(line["severity"], "warning");
    assert_eq!(line["effective_severity"], "error");
    assert_eq!(line["overrides"][0]["severity"], "off");
    // Without settings there is only the default.
    let nowhere = TempDir::new().unwrap();
    let text = abide(nowhere.path(), &["rules"]).text();
    assert!(
        text.lines()
            .any(|it| it.starts_with("import-unused ") && it.ends_with("nothing uses [--fix]"))
    );
}

#[test]
fn the_list_of_rules_has_every_name_of_other_tools() {
    let nowhere = TempDir::new().unwrap();
    let lines = abide(nowhere.path(), &["rules", "--format", "json"]).json();
    for rule in abide_lint::RULES {
        let line = lines.iter().find(|line| line["id"] == rule.id).unwrap();
        let listed: Vec<&str> =
            line["aliases"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
        let missing: Vec<_> = rule.all_aliases().filter(|it| !listed.contains(it)).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", rule.id);
        assert!(listed.is_sorted_by(|a, b| a < b), "{}: {listed:?}", rule.id);
    }
}

#[test]
fn lists_do_not_say_what_is_not_known() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                message User { string name = 1 [deprecated = true]; }\n";
    let folder = tree(&[("abide.toml", ""), ("acme/user/v1/user.proto", text)]);
    // Nothing says since when anything exists.
    let human = abide(folder.path(), &["hash", "--fields"]).text();
    assert_eq!(human, "acme.user.v1\n  message User\n  field User.name = 1  deprecated\n");
    let lines = abide(folder.path(), &["hash", "--fields", "--format", "json"]).json();
    assert!(lines.iter().all(|line| line.get("appeared").is_none()), "{lines:?}");
    let deprecated: Vec<bool> = lines.iter().map(|it| it.get("deprecated").is_some()).collect();
    assert_eq!(deprecated, [false, true]);
    // Nothing says whether anything replaces it.
    let lines = abide(folder.path(), &["deprecations", "--format", "json"]).json();
    assert_eq!(lines[0]["element"], "acme.user.v1.User.name");
    assert_eq!(lines[0].get("replacement"), None);
    for (comment, replacement) in [("Use `title` instead.", "equivalent"), ("", "nothing")] {
        let config = "[deprecation]\ndropped = [\"acme.user.v1.User.name\"]\n";
        let config = if comment.is_empty() { config } else { "" };
        let text = text.replace("string", &format!("\n// {comment}\nstring"));
        put(folder.path(), &[("abide.toml", config), ("acme/user/v1/user.proto", &text)]);
        let lines = abide(folder.path(), &["deprecations", "--format", "json"]).json();
        assert_eq!(lines[0]["replacement"], replacement);
    }
}

const MANY: &str = "\
syntax = \"proto3\";
package acme.user;
import \"google/protobuf/any.proto\";
message User {
  string name = 1 [deprecated = true];
}
";

#[test]
fn a_long_report_is_cut_down() {
    let folder = tree(&[("acme/user/user.proto", MANY)]);
    let check = |args: &[&str]| abide(folder.path(), &[&["check"], args].concat());
    let all = check(&["--format", "json"]);
    let rules = all.rules();
    assert!(rules.contains(&"import-unused".to_owned()), "{rules:?}");
    assert!(rules.contains(&"package-version-missing".to_owned()), "{rules:?}");
    // What is not selected does not count. A rule has the names that it has in other tools.
    for name in ["import-unused", "buf:IMPORT_USED", "IMPORT_USED"] {
        let ran = check(&["--select", name, "--format", "json"]);
        assert_eq!((ran.status, ran.rules()), (0, vec!["import-unused".to_owned()]), "{name}");
        let summary = ran.json().pop().unwrap();
        assert_eq!((&summary["errors"], &summary["warnings"]), (&0.into(), &1.into()));
    }
    let group = check(&["--select", "language", "--format", "json"]).rules();
    assert!(group.contains(&"import-unused".to_owned()), "{group:?}");
    assert!(!group.contains(&"package-version-missing".to_owned()), "{group:?}");
    assert_eq!(check(&["--select", "no-such-rule"]).status, 2);
    assert_eq!(check(&["--select", "import-unused", "--accept"]).status, 2);
    // What is not shown still counts.
    let ran = check(&["--limit", "1", "--format", "json"]);
    assert_eq!((ran.status, ran.rules().len()), (all.status, 1));
    assert_eq!(ran.json().pop(), all.json().pop());
    assert_eq!(ran.json()[0]["severity"], "error");
    let more = rules.len() - 1;
    assert!(ran.stderr.contains(&format!("{more} more finding")), "{}", ran.stderr);
    let ran = check(&["--statistics", "--format", "json"]);
    let lines = ran.json();
    let counted: u64 = lines.iter().filter_map(|line| line["findings"].as_u64()).sum();
    assert_eq!(counted as usize, rules.len(), "{}", ran.text());
    assert_eq!(lines[0]["severity"], "error");
    assert!(check(&["--statistics"]).text().contains("  warning  import-unused\n"));
    assert_eq!(check(&["--statistics", "--format", "sarif"]).status, 2);
}

#[test]
fn markdown_without_an_old_tree_is_a_report_of_findings() {
    let folder = tree(&[("acme/user/user.proto", MANY)]);
    let text = abide(folder.path(), &["check", "--format", "markdown"]).text();
    assert!(text.starts_with("# API findings\n\n1 file in 1 package: "), "{text}");
    assert!(text.contains("\n### Errors\n") && text.contains("\n### Warnings\n"), "{text}");
    let against = ["check", "--format", "markdown", "--against", "."];
    let text = abide(folder.path(), &against).text();
    assert!(text.starts_with("# API changes\n"), "{text}");
}

#[test]
fn the_name_of_the_output_chooses_the_format_of_a_graph() {
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/a/v1alpha/a.proto\";\n\
                message U { acme.a.v1alpha.A a = 1; }\n";
    let a = "syntax = \"proto3\";\npackage acme.a.v1alpha;\nmessage A {}\n";
    let folder = tree(&[("acme/user/v1/user.proto", user), ("acme/a/v1alpha/a.proto", a)]);
    let drawn = |name: &str| {
        let ran = abide(folder.path(), &["graph", "--output", name]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        std::fs::read_to_string(folder.path().join(name)).unwrap()
    };
    for (name, start) in [
        ("g.svg", "<svg "),
        ("g.html", "<!doctype html>"),
        ("g.json", "{\"packages\":["),
        ("g.mmd", "flowchart "),
        ("g.gv", "digraph "),
        ("g", "digraph "),
    ] {
        assert!(drawn(name).starts_with(start), "{name}");
    }
    // The edge that breaks the policy says why.
    let reason = "stable package `acme.user.v1` depends on alpha package `acme.a.v1alpha`";
    let page = drawn("g.html");
    assert!(page.contains(&format!("breaks the policy: {reason}")), "{page}");
    assert!(page.contains("class=\"broken\"") && page.contains("data-name=\"acme.user.v1\""));
    assert!(
        !page.contains("http://") || page.matches("http://").count() == 1,
        "only the namespace"
    );
    assert!(drawn("g.svg").contains(&format!("breaks the policy: {reason}")));
    assert!(drawn("g.json").contains("\"breaks_policy\":[\"stable package"));
    let ran = abide(folder.path(), &["graph", "--output", "g.svg", "--format", "mermaid"]);
    assert_eq!(ran.status, 0);
    assert!(std::fs::read_to_string(folder.path().join("g.svg")).unwrap().starts_with("flowchart"));
}

#[test]
fn a_break_says_which_packages_it_reaches() {
    let shop = |body: &str| {
        format!("syntax = \"proto3\";\npackage acme.money.v1;\nmessage Money {{ {body} }}\n")
    };
    let order = "syntax = \"proto3\";\npackage acme.order.v1;\nimport \"acme/money/v1/m.proto\";\n\
                 message Order { map<string, acme.money.v1.Money> totals = 1; }\n";
    let cart = "syntax = \"proto3\";\npackage acme.cart.v1;\nimport \"acme/order/v1/o.proto\";\n\
                service Carts { rpc Buy(acme.order.v1.Order) returns (acme.order.v1.Order); }\n";
    let other = "syntax = \"proto3\";\npackage acme.other.v1;\nimport \"acme/money/v1/m.proto\";\n\
                 message Other {}\n";
    let files = |money: &str| {
        tree(&[
            ("acme/money/v1/m.proto", &shop(money)),
            ("acme/order/v1/o.proto", order),
            ("acme/cart/v1/c.proto", cart),
            ("acme/other/v1/o.proto", other),
        ])
    };
    let (old, new) = (files("int64 units = 1; int32 nanos = 2;"), files("int64 units = 1;"));
    let old = old.path().display().to_string();
    let ran = abide(new.path(), &["breaking", "--against", &old, "--format", "json"]);
    let reached = serde_json::json!([
        { "package": "acme.order.v1", "path": ["acme.order.v1.Order", "acme.money.v1.Money"] },
        {
            "package": "acme.cart.v1",
            "path": ["acme.cart.v1.Carts", "acme.order.v1.Order", "acme.money.v1.Money"],
        },
    ]);
    assert_eq!(ran.json()[0]["dependents"], reached, "{}", ran.text());
    let text = abide(new.path(), &["breaking", "--against", &old]).text();
    assert!(text.contains("= reaches: `acme.order.v1` (`acme.order.v1.Order` → "), "{text}");
    // What breaks nobody reaches nobody.
    let ran = abide(new.path(), &["breaking", "--against", ".", "--changes", "--format", "json"]);
    assert!(!ran.text().contains("dependents"));
}

/// Packs a folder as `git archive` does, with a prefix for every path.
fn packed(files: &[(&str, &str)], prefix: &str) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("{prefix}{path}"), text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn an_archive_of_a_release_is_the_same_tree() {
    const USER: &str = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                        message User { string name = 1; string mail = 2; }\n";
    let now = USER.replace(" string mail = 2;", "");
    for (root, config) in [("proto/", "roots = [\"proto\"]\n"), ("", "")] {
        let path = format!("{root}acme/user/v1/user.proto");
        let folder = tree(&[("abide.toml", config), (&path, &now)]);
        for prefix in ["", "api-1.4/"] {
            let bytes = packed(&[(&path, USER), ("abide.lock", "abide-lock 1\n")], prefix);
            std::fs::write(folder.path().join("old.tar"), bytes).unwrap();
            let args = ["breaking", "--against", "old.tar", "--format", "json"];
            let ran = abide(folder.path(), &args);
            assert_eq!(ran.rules(), ["field-removed"], "{root} {prefix}: {}", ran.stderr);
            assert_eq!(ran.json()[0]["old"]["path"], path, "{prefix}");
        }
        // A folder of the archive can be named.
        let bytes = packed(&[(&path, USER)], "deep/api-1.4/");
        std::fs::write(folder.path().join("old.tar"), bytes).unwrap();
        let against = format!("old.tar:deep/api-1.4/{root}");
        let ran = abide(folder.path(), &["breaking", "--against", &against, "--format", "json"]);
        assert_eq!(ran.rules(), ["field-removed"], "{against}: {}", ran.stderr);
    }
}

fn git(folder: &std::path::Path, args: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    assert!(git.args(args).current_dir(folder).output().unwrap().status.success());
}

#[test]
fn a_revision_without_its_prefix_is_answered_with_the_source_that_was_meant() {
    let folder = tree(&[(
        "proto/acme/user/v1/user.proto",
        "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n",
    )]);
    let git = |args: &[&str]| git(folder.path(), args);
    git(&["init", "-q", "."]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    for (written, meant) in [
        ("main", "git:main"),
        ("HEAD", "git:HEAD"),
        (".git#branch=main", "git:main"),
        (".git#branch=main,subdir=proto", "git:main:proto"),
        (".git#ref=HEAD", "git:HEAD"),
    ] {
        let ran = abide(folder.path(), &["breaking", "--against", written]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(&format!("did you mean `{meant}`?")), "{}", ran.stderr);
        assert_ne!(abide(folder.path(), &["breaking", "--against", meant]).status, 2, "{meant}");
    }
    let ran = abide(folder.path(), &["breaking", "--against", "nowhere"]);
    assert!(ran.status == 2 && !ran.stderr.contains("did you mean"), "{}", ran.stderr);
}

#[test]
fn a_source_on_another_machine_is_answered_with_what_to_run() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {}\n";
    let folder = tree(&[("acme/user/v1/user.proto", text)]);
    let other = tree(&[("acme/user/v1/user.proto", text)]);
    for folder in [&folder, &other] {
        git(folder.path(), &["init", "-q", "."]);
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "first"]);
    }
    let refspec = "HEAD:refs/remotes/baseline/HEAD";
    let url = "https://example.com/acme/api.git";
    let fetch = format!("run `git fetch {url} {refspec}` and name `git:baseline/HEAD`");
    let archive = "https://example.com/v1.tar.gz";
    let download = format!("run `curl -fL -o v1.tar.gz {archive}` and name `v1.tar.gz`");
    for (written, advice) in [(url, fetch), (archive, download)] {
        let ran = abide(folder.path(), &["breaking", "--against", written]);
        assert!(ran.status == 2 && ran.stderr.contains(&advice), "{}", ran.stderr);
    }
    // What is fetched in this way can be named.
    let against = ["breaking", "--against", "git:baseline/HEAD"];
    assert_eq!(abide(folder.path(), &against).status, 2);
    git(folder.path(), &["fetch", "-q", &other.path().display().to_string(), refspec]);
    let ran = abide(folder.path(), &against);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

#[test]
fn an_upgrade_makes_what_can_be_made_and_names_the_rest() {
    let file = |name: &str, body: &str| {
        let text = format!(
            "syntax = \"proto3\";\npackage acme.{name}.v1;\n{body}\
             message M {{ string gone = 1 [deprecated = true]; string id = 2; }}\n"
        );
        (format!("acme/{name}/v1/{name}.proto"), text)
    };
    let uses = |name: &str| {
        format!(
            "import \"acme/{name}/v1/{name}.proto\";\nmessage Uses {{ acme.{name}.v1.M m = 1; }}\n"
        )
    };
    let files = [
        file("free", ""),
        file("broken", "message B { Gone gone = 1; }\n"),
        file("user", &uses("broken")),
        file("far", &uses("user")),
    ];
    let folder = tree(&files.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    let candidate = |name: &str| folder.path().join(format!("acme/{name}/v2alpha/{name}.proto"));
    let made = || ["free", "broken", "user", "far"].map(|name| candidate(name).exists());
    let diff = abide(folder.path(), &["upgrade", "--diff"]);
    assert_eq!(diff.status, 1);
    assert!(diff.text().contains("acme/free/v2alpha/free.proto"), "{}", diff.text());
    assert!(!diff.text().contains("acme/user/v2alpha"), "{}", diff.text());
    let ran = abide(folder.path(), &["upgrade", "--write"]);
    assert_eq!((ran.status, made()), (1, [true, false, false, false]), "{}", ran.stderr);
    for said in [
        "error[name-not-found]",
        "error: `acme.broken.v1` was not upgraded: see its errors above",
        "error: `acme.user.v1` was not upgraded: it uses `acme.broken.v1`, which was not upgraded",
        "error: `acme.far.v1` was not upgraded: it uses `acme.user.v1`, which was not upgraded",
        "note: generated 1 candidate in 1 package",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    // What is made is up to date; the rest still fails.
    let check = abide(folder.path(), &["upgrade", "--check"]);
    assert_eq!((check.status, check.text().as_str()), (1, ""), "{}", check.stderr);
    // A mapping is of the whole upgrade, or not at all.
    let ran = abide(folder.path(), &["upgrade", "--mapping", "m.json"]);
    assert!(ran.status == 1 && !folder.path().join("m.json").exists(), "{}", ran.stderr);
    let (path, text) = file("broken", "message B { M gone = 1; }\n");
    put(folder.path(), &[(&path, &text)]);
    let ran = abide(folder.path(), &["upgrade", "--write"]);
    assert_eq!((ran.status, made()), (0, [true; 4]), "{}", ran.stderr);
}

/// The first block of shell commands below a heading of the README.
fn readme_commands(heading: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(crate::run::repository().join("README.md")).unwrap();
    let part = readme.split_once(&format!("\n## {heading}\n")).expect("it has this heading").1;
    let part = part.split("\n## ").next().unwrap_or_default();
    let blocks = part.split("```sh\n").skip(1).filter_map(|it| it.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn the_quick_start_of_the_readme_does_what_it_says() {
    let user = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string name = 1;\n  \
                string mail = 2;\n}\n";
    let folder = tree(&[("proto/acme/user/v1/user.proto", user)]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let shell = |command: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(folder.path()).env("PATH", &path);
        let ran = shell.output().unwrap();
        let said = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        (ran.status.code(), said.concat())
    };
    let git = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main";
    let begin = format!("{git} init -q . && git add . && {git} commit -qm first");
    assert_eq!(shell(&begin).0, Some(0));
    let mut ran = Vec::new();
    for command in readme_commands("Quick start") {
        let (status, said) = shell(&command);
        ran.push((command, status, said));
    }
    let (checks, others): (Vec<_>, Vec<_>) =
        ran.iter().partition(|it| it.0.starts_with("abide check"));
    let [clean, broken] = checks[..] else { panic!("{ran:?}") };
    let (configs, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|it| it.0.starts_with("abide config check"));
    let [typo, mended] = configs[..] else { panic!("{ran:?}") };
    assert_eq!(typo.1, Some(1), "{}", typo.2);
    assert!(typo.2.contains("did you mean `mail`?"), "{}", typo.2);
    for (command, status, said) in others.into_iter().chain([clean, mended]) {
        assert_eq!(*status, Some(0), "{command}: {said}");
    }
    let (command, status, said) = broken;
    assert_eq!(*status, Some(1), "{command}: {said}");
    assert!(said.contains("error[field-removed]: field `User.mail` was removed"), "{said}");
    assert_eq!(shell("abide check").0, Some(0));
}

#[test]
fn first_versions_are_those_that_the_history_counts() {
    let path = "acme/user/v1/user.proto";
    let user = |body: &str| {
        format!("syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {{{body}\n}}\n")
    };
    let folder = tree(&[(path, &user("\n  string a = 1;"))]);
    let commit = |subject: &str| {
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", subject]);
    };
    git(folder.path(), &["init", "-q", "."]);
    commit("first");
    put(folder.path(), &[(path, &user("\n  string a = 1;\n  string b = 2;"))]);
    commit("second");
    put(
        folder.path(),
        &[("acme/late/v3/late.proto", "syntax = \"proto3\";\npackage acme.late.v3;\n")],
    );
    commit("third");
    let bump = |args: &[&str]| {
        let ran = abide(folder.path(), &[&["bump", "--format", "json"], args].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let versions = ran.json().into_iter().filter(|it| it["kind"] == "package");
        versions.map(|it| it["to"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(bump(&[]), ["3.0.0", "1.0.0"]);
    assert_eq!(bump(&["--from-history"]), ["3.0.0", "1.1.0"]);
    // What is not committed yet is one more change.
    let more = user("\n  string a = 1;\n  string b = 2;\n  string c = 3;");
    put(folder.path(), &[(path, &more)]);
    assert_eq!(bump(&["--write", "--from-history"]), ["3.0.0", "1.2.0"]);
    // What is recorded stays.
    assert_eq!(bump(&["--from-history"]), ["3.0.0", "1.2.0"]);
}

#[test]
fn a_group_and_a_category_are_explained_by_their_rules() {
    let folder = TempDir::new().unwrap();
    let explained = |name: &str| {
        let ran = abide(folder.path(), &["explain", name]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.text()
    };
    let dependencies = explained("dependencies");
    assert!(dependencies.starts_with("# dependencies\n"), "{dependencies}");
    let listed = |it: &&str| it.starts_with("- `");
    let lines: Vec<&str> = dependencies.lines().filter(listed).collect();
    let rules = abide(folder.path(), &["rules", "--format", "json"]).json();
    let group: Vec<_> = rules.iter().filter(|it| it["group"] == "dependencies").collect();
    assert_eq!(lines.len(), group.len());
    for (line, rule) in lines.iter().zip(group) {
        let [id, severity, summary] =
            ["id", "severity", "summary"].map(|it| rule[it].as_str().unwrap());
        assert_eq!(*line, format!("- `{id}` ({severity}): {summary}"));
    }
    assert_eq!(explained("COMMENTS"), explained("buf:COMMENTS"));
    assert!(explained("COMMENTS").contains("- `comment-missing` (off): "));
    let unknown = abide(folder.path(), &["explain", "dependncies"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.stderr.contains("did you mean `dependencies`?"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("`lifecycle`"), "{}", unknown.stderr);
}

#[test]
fn a_graph_is_only_written_in_a_format_that_it_has() {
    let tree = TempDir::new().unwrap();
    put(tree.path(), &[("a/v1/a.proto", "syntax = \"proto3\";\npackage a.v1;\n")]);
    let graph = |args: &[&str]| abide(tree.path(), &[&["graph"], args].concat());
    let refused = graph(&["--output", "graph.pdf"]);
    assert_eq!(refused.status, 2);
    for format in ["`dot`", "`mermaid`", "`json`", "`svg`", "`html`", "`--format`"] {
        assert!(refused.stderr.contains(format), "{}", refused.stderr);
    }
    assert!(!tree.path().join("graph.pdf").exists());
    let text = |name: &str| std::fs::read_to_string(tree.path().join(name)).unwrap();
    assert_eq!(graph(&["--output", "graph.txt", "--format", "dot"]).status, 0);
    assert_eq!(graph(&["--output", "graph"]).status, 0);
    assert_eq!(text("graph"), text("graph.txt"));
    assert_eq!(graph(&["--output", "graph.svg"]).status, 0);
    assert!(text("graph.svg").starts_with("<svg"));
}

/// What people wrote into the file of accepted findings stays with the line that it is about.
#[test]
fn comments_of_accepted_findings_stay() {
    let tree = TempDir::new().unwrap();
    let missing = |name: &str| {
        let text = format!("syntax = \"proto3\";\npackage a.v1;\nmessage {name} {{}}\n");
        (format!("a/v1/{name}.proto"), text)
    };
    let files = [missing("One"), missing("Two")];
    put(tree.path(), &[("abide.toml", "rules.comment-missing = \"error\"\n")]);
    files.iter().for_each(|(path, text)| put(tree.path(), &[(path, text)]));
    let accept = || assert_eq!(abide(tree.path(), &["check", "--accept"]).status, 0);
    let path = tree.path().join("abide.accepted");
    let read = || std::fs::read_to_string(&path).unwrap();
    accept();
    let first = read();
    let lines: Vec<&str> = first.lines().filter(|it| !it.starts_with('#')).collect();
    assert_eq!(lines.len(), 2, "{first}");
    let commented = |kept: &[&str]| {
        let head: String = first.lines().take(3).map(|it| format!("{it}\n")).collect();
        let notes = "# Ask the team.\n# Twice.\n";
        let (one, rest) = kept.split_first().unwrap();
        format!(
            "{head}{notes}{one}\n{}# The end.\n",
            rest.iter().map(|it| format!("{it}\n")).collect::<String>()
        )
    };
    std::fs::write(&path, commented(&lines)).unwrap();
    accept();
    assert_eq!(read(), commented(&lines), "nothing changed");
    std::fs::write(
        tree.path().join(&files[0].0),
        files[0].1.replace("message", "// One.\nmessage"),
    )
    .unwrap();
    accept();
    let left: Vec<&str> = lines.iter().copied().filter(|it| !it.contains("a.v1.One")).collect();
    assert_eq!(left.len(), 1, "{first}");
    assert_eq!(read(), commented(&left), "it stands above the next line");
}

/// Every finding that a waiver can cover ends with it, and it does what it says.
#[test]
fn a_finding_ends_with_the_waiver_that_covers_it() {
    let folder = tree(&[
        ("abide.toml", "preset = \"standard\"\n"),
        (
            "acme/user/v1/user.proto",
            "syntax = \"proto3\";\npackage acme.user.v1;\nimport \"acme/a/v1/a.proto\";\nmessage User {\n  int64 id = 1;\n}\n",
        ),
        ("acme/a/v1/a.proto", "syntax = \"proto3\";\npackage acme.a.v1;\nmessage A {}\n"),
    ]);
    let old = "syntax = \"proto3\";\npackage acme.user.v1;\nmessage User {\n  string id = 1;\n  string mail = 2;\n}\n";
    let old = tree(&[
        ("acme/user/v1/user.proto", old),
        (
            "acme/gone/v1/gone.proto",
            "syntax = \"proto3\";\npackage acme.gone.v1;\nmessage Gone {}\n",
        ),
    ]);
    let against = old.path().to_string_lossy().into_owned();
    let args = ["check", "--against", &against];
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let ran = abide(folder.path(), &args);
        let text = ran.text();
        let Some(at) = text.find("= waive: ") else {
            assert_eq!(ran.status, 0, "{text}");
            break;
        };
        // Its place is that of the finding before it.
        let block = text[..at].rfind("\n\n").unwrap_or_default();
        let place = block + text[block..at].find("┌─ ").expect("a finding has a place");
        let place = text[place + "┌─ ".len()..].lines().next().unwrap().to_owned();
        let waiver = text[at + "= waive: ".len()..].lines().next().unwrap();
        assert!(
            seen.insert(text[at..].lines().take(4).collect::<String>()),
            "it is not waived: {text}"
        );
        let (path, line) = if waiver.starts_with("in abide.toml:") {
            ("abide.toml".to_owned(), usize::MAX)
        } else {
            let mut parts = place.split(':');
            (parts.next().unwrap().to_owned(), parts.next().unwrap().parse::<usize>().unwrap() - 1)
        };
        let whole = std::fs::read_to_string(folder.path().join(&path)).unwrap();
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let added: Vec<String> = match path.as_str() {
            "abide.toml" => {
                text[at..].lines().skip(1).take(4).map(|it| it.trim().to_owned()).collect()
            }
            _ => vec![waiver.to_owned()],
        };
        let line = line.min(lines.len());
        lines.splice(line..line, added);
        put(folder.path(), &[(&path, &(lines.join("\n") + "\n"))]);
    }
    assert!(seen.len() >= 4, "{seen:?}");
    assert!(seen.iter().any(|it| it.contains("[[waiver]]")), "{seen:?}");
    // What the compiler refuses has none.
    let broken = tree(&[("a.proto", "syntax = \"proto3\";\nmessage A { Gone gone = 1; }\n")]);
    let text = abide(broken.path(), &["check", "--select", "name-not-found"]).text();
    assert!(text.contains("error[name-not-found]") && !text.contains("waive:"), "{text}");
    let page = abide(broken.path(), &["explain", "waivers"]).text();
    assert!(page.starts_with("# waivers\n") && page.contains("abide:allow("), "{page}");
}

#[test]
fn all_pages_are_explained_at_once_and_for_programs() {
    let folder = TempDir::new().unwrap();
    let lines = abide(folder.path(), &["explain", "--all", "--format", "json"]).json();
    let rules = abide(folder.path(), &["rules", "--format", "json"]).json();
    let ids = |lines: &[serde_json::Value]| -> Vec<String> {
        lines.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&lines), ids(&rules));
    for line in &lines {
        let id = line["id"].as_str().unwrap();
        assert!(line["page"].as_str().unwrap().starts_with(&format!("# {id}\n")), "{id}");
    }
    let whole = abide(folder.path(), &["explain", "--all"]).text();
    assert!(whole.contains("# field-removed\n") && whole.contains("# waiver-unused\n"));
    let index = abide(folder.path(), &["explain"]).text();
    assert!(index.contains("- `waivers`: ") && index.contains("- `lifecycle`: "), "{index}");
    assert_eq!(abide(folder.path(), &["explain", "a", "--all"]).status, 2);
}

#[test]
fn one_run_writes_several_reports() {
    let text = "syntax = \"proto3\";\npackage acme.user;\nmessage User {}\n";
    let folder = tree(&[("acme/user/user.proto", text)]);
    let alone = |format: &str| abide(folder.path(), &["lint", "--format", format]).text();
    let formats = ["json", "sarif", "junit", "github", "gitlab", "html", "markdown", "comment"];
    let args: Vec<String> = formats.iter().map(|it| format!("--report={it}=report.{it}")).collect();
    let args: Vec<&str> = ["lint"].into_iter().chain(args.iter().map(String::as_str)).collect();
    let ran = abide(folder.path(), &args);
    assert_eq!((ran.status, ran.text()), (1, alone("human")));
    for format in formats {
        let file = std::fs::read_to_string(folder.path().join(format!("report.{format}"))).unwrap();
        assert_eq!(file, alone(format), "{format}");
    }
    for (report, said) in [
        ("sarf=a", "did you mean `sarif`?"),
        ("sarif", "write it as FORMAT=FILE"),
        ("json=acme/user/user.proto", "names a source"),
    ] {
        let ran = abide(folder.path(), &["lint", "--report", report]);
        assert!(ran.status == 2 && ran.stderr.contains(said), "{report}: {}", ran.stderr);
    }
    let ran = abide(folder.path(), &["lint", "--report", "json=a", "--report", "sarif=a"]);
    assert!(
        ran.status == 2 && ran.stderr.contains("two reports would go to `a`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_annotations_are_built_in_and_written_for_protoc() {
    let text = "syntax = \"proto3\";\npackage acme.user.v1;\n\
                import \"abide/annotations/v1/lifecycle.proto\";\nimport \"abide/annotations/v1/status.proto\";\n\
                option (abide.annotations.v1.file_policy).introduced = \"2025-01-01\";\nmessage User {\n  \
                string mail = 1 [(abide.annotations.v1.field_policy).work_in_progress = true];\n}\n";
    let folder = tree(&[("acme/user/v1/user.proto", text)]);
    let checked = abide(folder.path(), &["check"]);
    assert_eq!((checked.status, checked.text()), (0, String::new()), "{}", checked.stderr);
    let ran = abide(folder.path(), &["init", "--annotations", "third_party"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.text().contains("-I third_party"), "{}", ran.text());
    for name in ["lifecycle", "status"] {
        let path = format!("abide/annotations/v1/{name}.proto");
        let made = std::fs::read(folder.path().join("third_party").join(&path)).unwrap();
        assert_eq!(made, std::fs::read(crate::run::repository().join("api").join(&path)).unwrap());
    }
    // The files mean the same as what is built in.
    let ran = abide(folder.path(), &["hash", "--format", "json", "acme"]);
    let with = abide(folder.path(), &["hash", "--format", "json", "acme", "-I", "third_party"]);
    assert_eq!((ran.status, ran.text()), (with.status, with.text()));
    assert!(!folder.path().join("abide.toml").exists());
}
