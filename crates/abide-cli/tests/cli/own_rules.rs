//! Rules that `abide.toml` declares, as a user meets them in every command and format.

use tempfile::TempDir;

use crate::run::{abide, put};

const CONFIG: &str = r#"
[[rule]]
id = "acme-id-is-string"
on = "field"
when = 'this.name.endsWith("_id") && this.type != "string"'
message = "`{this.name}` is an id, but `{this.type}`"
help = "make it a `string`"
severity = "warning"

[[rule.example]]
proto = "message User { int64 account_id = 1; string team_id = 2; }"
reports = ["User.account_id"]

[[rule]]
id = "acme-removed-at-once"
on = "change-of-field"
when = 'new == null && !old.deprecated'
message = "`{old.name}` was removed and never deprecated"
"#;

const USER: &str = r#"syntax = "proto3";
package acme.user.v1;
message User {
  int64 account_id = 1;
  // abide:allow(acme-id-is-string): from before the rule
  int64 team_id = 2;
}
"#;

/// A tree with one file and these settings.
fn world(config: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), &[("abide.toml", config), ("acme/user/v1/user.proto", USER)]);
    folder
}

#[test]
fn a_declared_rule_is_reported_waived_and_selected_like_ours() {
    let world = world(CONFIG);
    let ran = abide(world.path(), &["lint", "--format", "json", "--waived"]);
    assert_eq!(ran.status, 0, "{}", ran.text());
    let lines = ran.json();
    let of_rule = |kind: &str| lines.iter().find(|it| it["kind"] == kind).cloned().unwrap();
    let finding = of_rule("finding");
    assert_eq!(finding["rule"], "acme-id-is-string");
    assert_eq!(finding["severity"], "warning");
    assert_eq!(finding["message"], "`account_id` is an id, but `int64`");
    assert_eq!(finding["help"], "make it a `string`");
    assert_eq!(finding["element"], "acme.user.v1.User.account_id");
    assert_eq!(finding["start"]["line"], 4);
    assert_eq!(of_rule("waived")["reason"], "from before the rule");
    let ran = abide(world.path(), &["lint", "--ignore", "acme-id-is-string", "--format", "json"]);
    assert!(ran.rules().is_empty(), "{}", ran.text());
    let ran = abide(world.path(), &["lint", "--select", "own", "--format", "json"]);
    assert_eq!(ran.rules(), ["acme-id-is-string"]);
    let ran = abide(world.path(), &["lint", "--statistics"]);
    assert!(ran.text().contains("acme-id-is-string"), "{}", ran.text());
    // The report in Markdown is about changes and errors.
    for format in ["human", "sarif", "junit", "github", "gitlab", "html"] {
        let ran = abide(world.path(), &["lint", "--format", format]);
        assert!(ran.text().contains("acme-id-is-string"), "{format}: {}", ran.text());
    }
    let sarif = abide(world.path(), &["lint", "--format", "sarif"]).text();
    assert!(sarif.contains("this.name.endsWith"), "the page of the rule is in SARIF: {sarif}");
}

#[test]
fn settings_overrides_and_waivers_name_a_declared_rule() {
    let severity = |more: &str| {
        let world = world(&format!("{CONFIG}{more}"));
        let ran = abide(world.path(), &["lint", "--format", "json"]);
        assert_ne!(ran.status, 2, "{}", ran.stderr);
        let lines = ran.json();
        let finding = lines.into_iter().find(|it| it["rule"] == "acme-id-is-string");
        finding.map(|it| it["severity"].as_str().unwrap().to_owned())
    };
    let error = Some("error".to_owned());
    assert_eq!(severity(""), Some("warning".to_owned()));
    assert_eq!(severity("[rules]\nacme-id-is-string = \"error\"\n"), error);
    assert_eq!(severity("[rules]\nown = \"error\"\n"), error);
    assert_eq!(severity("[rules]\nacme-id-is-string = \"off\"\n"), None);
    let part =
        "[[override]]\npackages = [\"acme.**\"]\nrules = { acme-id-is-string = \"error\" }\n";
    assert_eq!(severity(part), error);
    let waiver = "[[waiver]]\nrule = \"acme-id-is-string\"\nelement = \"acme.user.v1.User\"\n\
                  reason = \"old\"\n";
    assert_eq!(severity(waiver), None);
}

#[test]
fn a_rule_about_changes_judges_a_comparison_and_not_the_bump() {
    let world = world(CONFIG);
    let new = TempDir::new().unwrap();
    let text =
        USER.replace("  int64 account_id = 1;\n", "  reserved 1;\n  reserved \"account_id\";\n");
    put(new.path(), &[("abide.toml", CONFIG), ("acme/user/v1/user.proto", &text)]);
    let against = world.path().to_str().unwrap();
    for command in ["breaking", "check"] {
        let ran = abide(new.path(), &[command, "--against", against, "--format", "json"]);
        let lines = ran.json();
        let own: Vec<_> = lines.iter().filter(|it| it["rule"] == "acme-removed-at-once").collect();
        let [finding] = own.as_slice() else { panic!("{command}: {}", ran.text()) };
        assert_eq!(finding["severity"], "error", "{finding}");
        assert_eq!(finding["message"], "`account_id` was removed and never deprecated");
        assert_eq!(finding["old"]["start"]["line"], 4, "{finding}");
        assert_eq!(ran.status, 1);
    }
    let ran = abide(new.path(), &["lint", "--format", "json"]);
    assert!(!ran.rules().contains(&"acme-removed-at-once".to_owned()), "{}", ran.text());
}

#[test]
fn examples_are_run_and_rules_have_pages() {
    let folder = world(CONFIG);
    let ran = abide(folder.path(), &["rules", "test"]);
    assert_eq!((ran.status, ran.text().trim()), (0, "1 example, 0 failed"));
    assert!(ran.stderr.contains("`acme-removed-at-once`"), "it has no example: {}", ran.stderr);
    let ran = abide(folder.path(), &["explain", "acme-id-is-string"]);
    assert!(ran.text().contains("this.name.endsWith"), "{}", ran.text());
    let ran = abide(folder.path(), &["rules", "--format", "json"]);
    let rule = ran.json().into_iter().find(|it| it["id"] == "acme-id-is-string").unwrap();
    assert_eq!((&rule["group"], &rule["severity"]), (&"own".into(), &"warning".into()));

    let wrong = CONFIG.replace("reports = [\"User.account_id\"]", "reports = [\"User.team_id\"]");
    let folder = world(&wrong);
    let ran = abide(folder.path(), &["rules", "test"]);
    assert_eq!(ran.status, 1);
    let text = ran.text();
    assert!(text.contains("abide.toml:10:1: example 1 of `acme-id-is-string` fails"), "{text}");
    assert!(text.contains("it should report `User.team_id`, and does not"), "{text}");
    assert!(text.contains("it should not report `example.v1.User.account_id`"), "{text}");
    let ran = abide(folder.path(), &["rules", "test", "--format", "json"]);
    assert_eq!((ran.status, &ran.json()[0]["passed"]), (1, &false.into()));

    let folder = world(&CONFIG.replace("this.type !=", "this.tpye !="));
    let ran = abide(folder.path(), &["lint"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("abide.toml:5:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `type`?"), "{}", ran.stderr);
}
