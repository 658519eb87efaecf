//! Rules that `abide.toml` declares: the page about them is true, what is wrong is said at its
//! place, and no expression hangs or panics.
#![allow(clippy::disallowed_methods)] // Tests read the book.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abide_lint::{
    Check, Config, ConfigError, Finding, Options, RuleSubject, check, list_fact_types, rules_of,
};
use abide_schema::{FileDecl, SourceFile, Tree, find_missing_imports, find_well_known};
use jiff::civil::date;

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../abide-cli/book")
}

fn parse(path: &str, text: &str, imported: bool) -> Arc<FileDecl> {
    let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
    let display = Arc::clone(&path);
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
}

/// A tree of one file. Without `syntax` and `package` it gets some, on its first line.
fn link(text: &str) -> Tree {
    let head = match text.contains("syntax = ") || text.contains("edition = ") {
        true => "",
        false => "syntax = \"proto3\"; package example.v1; ",
    };
    let mut files = vec![parse("example.proto", &format!("{head}{text}"), false)];
    loop {
        let missing = find_missing_imports(&files);
        let known = missing.iter().filter_map(|it| Some((it, find_well_known(it)?)));
        let found: Vec<_> = known.map(|(path, text)| parse(path, text, true)).collect();
        if found.is_empty() {
            return Tree::link(files);
        }
        files.extend(found);
    }
}

/// The findings of the declared rules.
fn judge(config: &Config, tree: &Tree, old: Option<&Tree>) -> Vec<Finding> {
    let options = Options { baseline: old, changes: true, ..Options::on(date(2026, 11, 27)) };
    let own: Vec<&str> = rules_of(&config.policy)
        .filter(|it| matches!(it.check, Check::Own(_)))
        .map(|it| it.id)
        .collect();
    let findings = check(tree, &config.policy, options).findings;
    findings
        .into_iter()
        .filter(|it| own.contains(&it.rule) || it.rule == "own-rule-failed")
        .collect()
}

/// The fenced blocks of a page with their languages.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// The lines that a file of the page marks, from 1.
fn marked(text: &str) -> Vec<u32> {
    let marked = (1..).zip(text.lines()).filter(|(_, line)| line.ends_with("// reported"));
    marked.map(|(line, _)| line).collect()
}

#[test]
fn every_wish_of_the_page_is_granted_in_at_most_six_lines() {
    let page = std::fs::read_to_string(book().join("own-rules.md")).expect("the page exists");
    let wishes = page.split_once("## Twenty-two wishes").expect("the page has them").1;
    let wishes = wishes.split("\n## ").next().unwrap_or_default();
    let mut count = 0;
    for wish in wishes.split("\n### ").skip(1) {
        count += 1;
        let blocks = blocks(wish);
        let title = wish.lines().next().unwrap_or_default();
        let [(_, toml), files @ ..] = blocks.as_slice() else { panic!("`{title}` has no rule") };
        assert!(toml.lines().count() <= 6, "the rule of `{title}` is longer");
        let config = Config::parse(toml, None).unwrap_or_else(|it| panic!("`{title}`: {it:?}"));
        let (old, new) = match files {
            [(_, new)] => (None, new),
            [(_, old), (_, new)] => (Some(link(old)), new),
            _ => panic!("`{title}` has one file, or one before and one after"),
        };
        let tree = link(new);
        let errors: Vec<_> = tree.problems().iter().filter(|it| it.kind.is_error()).collect();
        assert!(errors.is_empty(), "`{title}`: {errors:?}");
        let found = judge(&config, &tree, old.as_ref());
        let line = |it: &Finding| {
            let place = it.location.place().expect("it is in the tree");
            tree.file(place.file).decl().line_range(place.span).expect("it has a text").0.line
        };
        let mut lines: Vec<u32> = found.iter().map(line).collect();
        lines.sort_unstable();
        assert_eq!(lines, marked(new), "`{title}`: {found:#?}");
    }
    assert_eq!(count, 22, "the heading says how many there are");
}

#[test]
fn the_page_of_facts_has_every_fact() {
    let mut page = "# Facts about elements\n\n\
        What the expressions of [your own rules](own-rules.md) can ask of an element. This page is \
        generated from the code: `SNAPSHOTS=overwrite cargo test -p abide-lint --test own_rules` \
        writes it.\n\n\
        `list(field)` is a list of fields, and `map(string, dyn)` a map whose values have a type of \
        their own. An element may be null where its sentence says so. An `extension` has the facts of \
        a `field`.\n"
        .to_owned();
    for ty in list_fact_types() {
        page.push_str(&format!("\n## {}\n\n| fact | type | is |\n|---|---|---|\n", ty.name));
        for fact in ty.facts {
            page.push_str(&format!("| `{}` | `{}` | {} |\n", fact.name, fact.ty, fact.summary));
        }
    }
    let path = book().join("own-rule-facts.md");
    if std::env::var_os("SNAPSHOTS").is_some_and(|it| it == "overwrite") {
        std::fs::write(&path, &page).expect("the book can be written");
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        is == page,
        "`SNAPSHOTS=overwrite cargo test -p abide-lint --test own_rules` writes it"
    );
}

/// A tree with every kind of element, comments, options and uses.
const EVERYTHING: &str = r#"edition = "2023";
package everything.v1;
import "google/protobuf/descriptor.proto";
import "google/protobuf/any.proto";
option java_package = "com.everything";
extend google.protobuf.MessageOptions { Owner owner = 50000; repeated string tags = 50001; }
// An owner.
message Owner { string team = 1; map<string, int32> levels = 2; Level level = 3; }
enum Level { LEVEL_UNSPECIFIED = 0; LEVEL_HIGH = 1; reserved 5 to 7; reserved OLD; }
// A user.
message User {
  option (owner) = { team: "a" level: LEVEL_HIGH };
  option (tags) = "x";
  option (tags) = "y";
  message Inner { optional string name = 1 [default = "n"]; }
  oneof kind { Inner inner = 1; google.protobuf.Any any = 2; }
  repeated Level levels = 3 [deprecated = true];
  map<string, Inner> by_name = 4;  // Behind it.
  extensions 100 to 200;
  reserved 50;
  reserved gone;
}
service Users {
  rpc Get(User) returns (stream Owner) { option idempotency_level = NO_SIDE_EFFECTS; }
}
"#;

/// A configuration with one rule.
fn rule(on: &str, when: &str) -> String {
    format!("[[rule]]\nid = \"acme-x\"\non = \"{on}\"\nwhen = '''{when}'''\nmessage = \"m\"\n")
}

#[test]
fn every_fact_has_a_value_of_its_type_for_every_element() {
    let tree = link(EVERYTHING);
    let mut count = 0;
    for ty in list_fact_types() {
        for fact in ty.facts {
            let kinds = match ty.name {
                "field" => vec!["field", "extension"],
                name => vec![name],
            };
            for kind in kinds {
                count += 1;
                // Nothing is reported, and nothing fails.
                let when = format!("this.{0} == this.{0} && has(this.{0}) && false", fact.name);
                let config = Config::parse(&rule(kind, &when), None).expect("it is a rule");
                let found = judge(&config, &tree, None);
                assert!(found.is_empty(), "{kind} {}: {found:#?}", fact.name);
                // A value has the type that the page says.
                let wanted = match fact.ty.split('(').next() {
                    Some(scalar @ ("string" | "int" | "bool" | "list" | "map")) => scalar,
                    _ => continue,
                };
                let when = format!("type(dyn(this.{})) != {wanted}", fact.name);
                let config = Config::parse(&rule(kind, &when), None).expect("it is a rule");
                let found = judge(&config, &tree, None);
                assert!(found.is_empty(), "{kind} {}: {found:#?}", fact.name);
            }
        }
    }
    assert!(count > 100, "{count} facts");
}

#[test]
fn options_are_read_by_their_names() {
    let tree = link(EVERYTHING);
    let holds = |on: &str, when: &str| {
        let config = Config::parse(&rule(on, when), None).expect("it is a rule");
        let found = judge(&config, &tree, None);
        let elements: Vec<String> = found.into_iter().map(|it| it.element).collect();
        elements.join(" ")
    };
    let owner = "\"everything.v1.owner\" in this.options && this.options[\"everything.v1.owner\"]";
    assert_eq!(holds("message", &format!("{owner}.team == \"a\"")), "everything.v1.User");
    assert_eq!(holds("message", &format!("{owner}.level == \"LEVEL_HIGH\"")), "everything.v1.User");
    assert_eq!(holds("message", &format!("{owner}.levels.size() == 0")), "everything.v1.User");
    let tags = "\"everything.v1.tags\" in this.options && this.options[\"everything.v1.tags\"]";
    assert_eq!(holds("message", &format!("{tags} == [\"x\", \"y\"]")), "everything.v1.User");
    assert_eq!(
        holds("file", "this.options[\"java_package\"] == \"com.everything\""),
        "example.proto"
    );
    assert_eq!(holds("field", "this.deprecated"), "everything.v1.User.levels");
    assert_eq!(holds("enum", "this.reserved_numbers == [\"5 to 7\"]"), "everything.v1.Level");
    assert_eq!(holds("message", "this.reserved_numbers == [\"50\"]"), "everything.v1.User");
    assert_eq!(
        holds("message", "this.used_by_fields.exists(f, f.name == \"by_name\")"),
        "everything.v1.User.Inner"
    );
    assert_eq!(
        holds("field", "this.trailing_comment == \"Behind it.\""),
        "everything.v1.User.by_name"
    );
}

/// The text at the place of the only error.
fn complaint(toml: &str) -> (String, String) {
    let errors = Config::parse(toml, None).expect_err("something is wrong");
    let [ConfigError { message, span, help }] = errors.as_slice() else { panic!("{errors:#?}") };
    let at = &toml[span.start as usize..span.end as usize];
    (at.to_owned(), format!("{message} ({})", help.as_deref().unwrap_or("no help")))
}

#[test]
fn what_is_wrong_with_a_rule_is_said_at_its_place() {
    let of = |on: &str, when: &str| complaint(&rule(on, when));
    let (at, message) = of("field", "this.nmae == \"x\"");
    assert_eq!(at, "nmae");
    assert_eq!(message, "in `when`: `field` has no fact `nmae` (did you mean `name`?)");
    let (at, message) = of("field", "\n  tihs.name == \"x\"");
    assert_eq!(
        (at.as_str(), message.contains("did you mean `this`?")),
        ("tihs", true),
        "{message}"
    );
    let (at, message) = of("field", "this.name.startWith(\"x\")");
    assert!(at.contains("startWith") && message.contains("`startsWith`"), "{at} {message}");
    let (at, message) = of("field", "this.number == \"x\"");
    assert!(at == "this.number == \"x\"" && message.contains("does not take"), "{at} {message}");
    let (at, message) = of("message", "this.fields");
    assert!(at == "this.fields" && message.contains("a condition is `bool`"), "{at} {message}");
    let (at, message) = of("field", "old.name == \"x\"");
    assert!(at == "old" && message.contains("not declared"), "{at} {message}");
    let (at, message) = of("field", "now > timestamp(0)");
    assert!(at == "now" && message.contains("not declared"), "{at} {message}");
    let (at, message) = of("field", "this.name.matches(\"[a\")");
    assert!(at == "\"[a\"" && message.contains("is not a pattern"), "{at} {message}");
    let (at, message) = of("feild", "true");
    assert!(at == "\"feild\"" && message.contains("did you mean `field`?"), "{at} {message}");
    let toml = rule("field", "true").replace("\"m\"", "\"a {this.nmae}\"");
    assert_eq!(complaint(&toml).0, "nmae");
    let toml = rule("field", "true").replace("\"m\"", "\"a {this.name\"");
    assert_eq!(complaint(&toml).0, "{");
    for (id, word) in [
        ("field-x", "one of Abide's own"),
        ("acme", "no prefix"),
        ("Acme-x", "not the id"),
        ("acme-", "not the id"),
        ("buf:X", "not the id"),
    ] {
        let toml = rule("field", "true").replace("acme-x", id);
        let (at, message) = complaint(&toml);
        assert!(at == format!("\"{id}\"") && message.contains(word), "{at} {message}");
    }
    let (_, message) = complaint(&format!("{0}{0}", rule("field", "true")));
    assert!(message.contains("two rules"), "{message}");
    let (at, message) = complaint("[rules]\nacme-y = \"off\"\n");
    assert!(at == "acme-y" && message.contains("unknown rule"), "{at} {message}");
}

#[test]
fn a_rule_that_cannot_judge_is_never_silent() {
    let tree = link("message A {} message B {} message C {}");
    let config = Config::parse(&rule("message", "this.options[\"x\"] == \"y\""), None);
    let found = judge(&config.expect("it is a rule"), &tree, None);
    let [finding] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(finding.rule, "own-rule-failed");
    assert!(finding.message.contains("nor 2 other elements"), "{}", finding.message);
}

#[test]
fn additions_and_removals_are_what_a_null_side_says() {
    let (old, new) = (
        link("message A { int32 a = 1; int32 b = 2; }"),
        link("message A { int32 a = 1; int32 c = 3; }"),
    );
    let found = |when: &str| {
        let config = Config::parse(&rule("change-of-field", when), None).expect("it is a rule");
        let found = judge(&config, &new, Some(&old));
        found.into_iter().map(|it| it.element).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("old == null"), "example.v1.A.c");
    assert_eq!(found("new == null"), "example.v1.A.b");
    assert_eq!(found("old.name == new.name"), "example.v1.A.a");
    assert_eq!(found("this.name != \"a\""), "example.v1.A.b example.v1.A.c");
}

/// Parts of hostile expressions: each can stand where `%` stands in another.
const PARTS: &[&str] = &[
    "%.map(x, [x, x])",
    "%.map(x, %)",
    "%.exists(x, %)",
    "%.all(x, x == x)",
    "%.filter(x, true).map(x, x)",
    "[%, %]",
    "{\"a\": %, \"b\": %}",
    "(% == %)",
    "(% + %)",
    "(%).size()",
    "string(%)",
    "%.join(\",\")",
    "lists.range(2147483647)",
    "lists.range(1000)",
    "[1, 2, 3]",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "\"%s%s%s%s\".format([%, %, %, %])",
    "\"a\".replace(\"\", \"aaaaaaaaaaaaaaaaaaaa\")",
    "this.name.matches(\"(a*)*(b|a+)+$\")",
    "this.name.matches(\"(((a{30}){30}){30})\")",
    "this.package.files",
    "this.file.all_messages",
    "this.fields",
    "this.parent.parent.parent",
    "this.options",
    "this.options[%]",
    "cel.bind(y, %, [y, y])",
    "-9223372036854775808",
    "9223372036854775807 + 1",
    "1 / 0",
    "\"\\u0000\"",
    "!!!!!!!!!!!!%",
    "((((((((((%))))))))))",
    "%[%]",
    "%.flatten().distinct().sort()",
    "sets.equivalent(%, %)",
    "math.greatest(%)",
    "%.split(\"\").map(z, z + z)",
    "(% ? % : %)",
    "this.fields.map(f, f.message_type.fields.map(g, g.parent.fields))",
    "type(%)",
    "has(this.name)",
    "%.slice(0, 99)",
    "\"é\\n{\"",
];

/// Builds an expression of some parts.
fn build(random: &mut fastrand::Rng, depth: usize) -> String {
    let part = PARTS[random.usize(..PARTS.len())];
    let mut out = String::new();
    for (at, piece) in part.split('%').enumerate() {
        if at > 0 {
            // The formats of `format` are no holes.
            match piece.starts_with('s') && part.contains("format") {
                true => out.push('%'),
                false if depth == 0 => out.push_str("[1]"),
                false => out.push_str(&build(random, depth - 1)),
            }
        }
        out.push_str(piece);
    }
    out
}

#[test]
fn no_hostile_expression_hangs_or_panics() {
    let tree = link(EVERYTHING);
    let mut random = fastrand::Rng::with_seed(37);
    let subjects: Vec<String> = RuleSubject::iter_all().map(RuleSubject::word).collect();
    let (mut compiled, mut refused) = (0, 0);
    for number in 0..1_500 {
        let depth = random.usize(1..5);
        let mut when = build(&mut random, depth);
        match number % 5 {
            0 => when = format!("({when}) == ({when})"),
            1 => when = format!("dyn({when}) != null"),
            // Cut anywhere.
            2 => {
                let ends: Vec<usize> = when.char_indices().map(|(at, _)| at).collect();
                when.truncate(ends[random.usize(..ends.len())]);
            }
            3 => when = format!("size(dyn({when})) > 0"),
            _ => when = format!("dyn({when})"),
        }
        let on = &subjects[random.usize(..subjects.len())];
        match Config::parse(&rule(on, &when), None) {
            Ok(config) => {
                compiled += 1;
                judge(&config, &tree, Some(&tree));
            }
            Err(errors) => {
                refused += 1;
                assert!(!errors.is_empty(), "{when}");
            }
        }
    }
    assert!(compiled > 200 && refused > 200, "{compiled} compiled, {refused} refused");
}

#[test]
fn values_that_share_their_parts_are_compared_within_the_budget() {
    let tree = link("message A {}");
    let doubled = ".map(x, [x, x])".repeat(60);
    let config = Config::parse(&rule("message", &format!("[1]{doubled} == [1]{doubled}")), None);
    let found = judge(&config.expect("it is a rule"), &tree, None);
    assert!(found.iter().any(|it| it.message.contains("takes too long")), "{found:#?}");
}
