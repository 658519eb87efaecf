//! The clauses of Google's guide, as the book maps them to rules.

use super::verdicts::{changes, released};
use crate::run::{abide, put, repository};

/// The rows of the tables of Google's guide in the book: each clause with its text.
fn clauses() -> Vec<(String, String)> {
    let path = repository().join("crates/abide-cli/book/google-compatibility.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows = page.lines().filter_map(|it| it.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.filter_map(|it| it.split_once(" | ")).filter(|it| it.0 != "clause");
    rows.map(|(clause, text)| (clause.to_owned(), text.to_owned())).collect()
}

#[test]
fn each_clause_of_googles_guide_has_a_rule_or_a_reason() {
    let book = repository().join("crates/abide-cli/book");
    let clauses = clauses();
    assert!(clauses.len() > 20, "{clauses:#?}");
    for (clause, text) in &clauses {
        let links: Vec<&str> =
            text.split("](").skip(1).filter_map(|it| it.split(')').next()).collect();
        let says_why = text.contains("none: ") || text.contains("`[breaking]`");
        assert!(!links.is_empty() || says_why, "{clause}: {text}");
        for link in links {
            assert!(book.join(link).is_file(), "{clause}: {link}");
            let id = link.rsplit('/').next().unwrap().trim_end_matches(".md");
            assert_eq!(abide(&book, &["explain", id]).status, 0, "{clause}: {id}");
        }
    }
}

#[test]
fn the_rule_of_each_clause_of_googles_guide_reports_a_violation() {
    let imports = repository().join("testdata/imports").display().to_string();
    let config = format!("preset = \"google\"\nimport-paths = [{imports:?}]\n");
    let clauses = clauses();
    let head = "syntax = \"proto3\";\npackage acme.shop.v1;\nimport \
                \"google/api/field_behavior.proto\";\n";
    let cases = [
        ("New interfaces", "message A {}", "message A { string a = 1; }", "field-added", 0),
        (
            "No new required",
            "message A {}",
            "message A { string a = 1 [(google.api.field_behavior) = REQUIRED]; }",
            "field-behavior-changed",
            1,
        ),
        (
            "Components are not removed",
            "message A { string a = 1; }",
            "message A {}",
            "field-removed",
            1,
        ),
        (
            "Components are not renamed",
            "message A { string a = 1; }",
            "message A { string b = 1; }",
            "field-renamed",
            1,
        ),
        (
            "Fields do not move",
            "message A { string a = 1; string b = 2; }",
            "message A { oneof o { string a = 1; string b = 2; } }",
            "field-oneof-changed",
            1,
        ),
        (
            "Fields keep their types",
            "message A { int32 a = 1; }",
            "message A { int64 a = 1; }",
            "field-type-changed",
            1,
        ),
        (
            "Methods keep",
            "message A {} message B {} service S { rpc M(A) returns (A); }",
            "message A {} message B {} service S { rpc M(B) returns (A); }",
            "method-request-type-changed",
            1,
        ),
        (
            "Default values stay",
            "enum E { E_A = 0; E_B = 1; } message A { E e = 1; }",
            "enum E { E_B = 0; E_A = 1; } message A { E e = 1; }",
            "enum-value-number-changed",
            1,
        ),
        (
            "A default is serialised",
            "message A { string a = 1; }",
            "message A { optional string a = 1; }",
            "field-presence-changed",
            1,
        ),
    ];
    for (clause, old, new, rule, status) in cases {
        let (_, text) = clauses.iter().find(|it| it.0.starts_with(clause)).expect(clause);
        assert!(text.contains(&format!("[{rule}]")), "{clause} names {rule}");
        let path = "acme/shop/v1/shop.proto";
        let file = |body: &str| format!("{head}{body}\n");
        let folder = released(&[("abide.toml", &config), (path, &file(old))]);
        put(folder.path(), &[(path, &file(new))]);
        let ran = changes(folder.path());
        assert_eq!(ran.status, status, "{clause}: {}", ran.text());
        assert!(ran.rules().iter().any(|it| it == rule), "{clause}: {}", ran.text());
    }
}
