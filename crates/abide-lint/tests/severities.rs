//! What severities a change has: by what it breaks, and by what `abide.toml` says.

use std::sync::Arc;

use abide_lint::{Config, Options, RuleScope, check};
use abide_schema::{FileDecl, SourceFile, Tree};
use jiff::civil::date;

/// A tree of one file.
fn tree(package: &str, message: &str) -> Tree {
    let text = format!("syntax = \"proto2\";\npackage {package};\nmessage User {{ {message} }}\n");
    let path: Arc<str> = format!("{}/user.proto", package.replace('.', "/")).into();
    let display = Arc::clone(&path);
    let text = text.into_bytes().into();
    let file = SourceFile { path, display, root: 0, imported: false, text };
    Tree::link(vec![Arc::new(FileDecl::parse(file))])
}

/// The severities of what changed in a message, by rule.
fn severities(config: &str, package: &str, old: &str, new: &str) -> String {
    let policy = Config::parse(config, None).unwrap_or_else(|it| panic!("{it:?}")).policy;
    let (old, new) = (tree(package, old), tree(package, new));
    let options = Options {
        baseline: Some(&old),
        changes: true,
        scope: RuleScope::Changes,
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(&new, &policy, options);
    let line = |it: &abide_lint::Finding| format!("{} {}", it.severity.word(), it.rule);
    report.findings.iter().map(line).collect::<Vec<_>>().join(", ")
}

const NAMED: &str = "optional string name = 1;";
const RENAMED: &str = "optional string title = 1;";
const STABLE: &str = "acme.user.v1";
const ALPHA: &str = "acme.user.v1alpha";

fn of_rename(config: &str, package: &str) -> String {
    let severities = severities(config, package, NAMED, RENAMED);
    severities.strip_suffix(" field-renamed").expect("nothing else changed").to_owned()
}

#[test]
fn a_rule_named_by_abide_toml_has_that_severity_wherever_it_reports() {
    assert_eq!(of_rename("", STABLE), "error");
    assert_eq!(of_rename("", ALPHA), "note");
    for key in ["field-renamed", "\"buf:FIELD_SAME_NAME\"", "\"protolock:NoChangingFieldNames\""] {
        for level in ["error", "warning", "note"] {
            let config = format!("[rules]\n{key} = \"{level}\"\n");
            assert_eq!(of_rename(&config, STABLE), level, "{config}");
            assert_eq!(of_rename(&config, ALPHA), level, "{config}");
            // Neither of these tables has anything to say about it then.
            for more in
                ["lightest = \"clients\"", "directions = []", "aliases = [\"buf:RPC_NO_DELETE\"]"]
            {
                let config = format!("{config}[breaking]\n{more}\n");
                assert_eq!(of_rename(&config, STABLE), level, "{config}");
            }
        }
    }
    // A group says what its breaks are worth, not what breaks.
    assert_eq!(of_rename("[rules]\ncompatibility = \"error\"\n", ALPHA), "note");
    let part = "[[override]]\nstability = [\"alpha\"]\nrules = { field-renamed = \"error\" }\n";
    assert_eq!(of_rename(part, ALPHA), "error");
}

#[test]
fn what_breaks_nobody_backward_is_an_error_if_its_rule_is() {
    let added = |config: &str| {
        severities(config, STABLE, NAMED, &(NAMED.to_owned() + "optional string nick = 2;"))
    };
    assert_eq!(added(""), "note field-added");
    assert_eq!(added("[rules]\nfield-added = \"error\"\n"), "error field-added");
    assert_eq!(added("[rules]\ncompatibility = \"error\"\n"), "note field-added");
}

#[test]
fn directions_say_which_breaks_count() {
    let demanded = NAMED.replace("optional", "required");
    let of = |directions: &str| {
        let config = format!("[breaking]\ndirections = [{directions}]\n");
        severities(&config, STABLE, &demanded, NAMED)
    };
    // Old readers refuse what new writers leave out.
    let in_both = severities("", STABLE, &demanded, NAMED);
    assert_eq!(of("\"backward\""), in_both);
    assert_eq!(of(""), "note field-presence-changed");
    assert_eq!(of("\"forward\""), "error field-presence-changed");
}

#[test]
fn a_change_that_another_tool_refuses_is_an_error_whomever_it_breaks() {
    let in_js = |config: &str, package: &str| {
        let old = "optional int64 id = 1;";
        severities(config, package, old, "optional int64 id = 1 [jstype = JS_STRING];")
    };
    assert_eq!(in_js("", STABLE), "warning field-jstype-changed");
    for preset in ["buf-file", "buf-package"] {
        let preset = format!("preset = \"{preset}\"\n");
        assert_eq!(in_js(&preset, ALPHA), "error field-jstype-changed", "{preset}");
        // What the user says still counts.
        let off = format!("{preset}[rules]\n\"buf:FIELD_SAME_JSTYPE\" = \"off\"\n");
        assert_eq!(in_js(&off, STABLE), "note field-jstype-changed", "{preset}");
        let less = format!("{preset}[rules]\ncompatibility = \"warning\"\n");
        assert_eq!(in_js(&less, STABLE), "warning field-jstype-changed", "{preset}");
        let parts = "[[override]]\nstability = [\"alpha\"]\nrules = { compatibility = \"note\" }\n";
        assert_eq!(
            in_js(&(preset.clone() + parts), ALPHA),
            "note field-jstype-changed",
            "{preset}"
        );
        assert_eq!(in_js(&(preset + parts), STABLE), "error field-jstype-changed");
    }
    assert_eq!(in_js("preset = \"buf-wire\"\n", STABLE), "note field-jstype-changed");
    // A rename breaks values in JSON and code, not on the wire.
    assert_eq!(of_rename("[breaking]\nsurfaces = [\"json\"]\n", STABLE), "error");
    assert_eq!(of_rename("[breaking]\nsurfaces = [\"wire\"]\n", STABLE), "note");
    let both = "[breaking]\naliases = [\"buf:FIELD_SAME_JSTYPE\"]\nsurfaces = [\"wire\"]\n";
    assert_eq!(in_js(both, STABLE), "note field-jstype-changed");
}
