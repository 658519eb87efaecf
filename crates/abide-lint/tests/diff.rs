//! Laws of what is found between two trees: of equal trees nothing, and nothing
//! but the meaning of trees counts.

#![allow(clippy::disallowed_methods, reason = "the tests read fixtures")]

#[path = "../../abide-change/tests/trees/mod.rs"]
mod trees;
mod witnesses;

use abide_lint::{Config, Options, RuleScope, check};
use abide_schema::Tree;
use jiff::civil::date;

use trees::{changed, flat, generated, link, many, renamed, tree, trees, turned, with_twins};

/// What is found between two trees, in words.
fn found(old: &Tree, new: &Tree) -> Vec<String> {
    let policy = Config::parse("", None).expect("it is well-formed").policy;
    let options = Options {
        baseline: Some(old),
        changes: true,
        scope: RuleScope::Changes,
        ..Options::on(date(2026, 1, 15))
    };
    let report = check(new, &policy, options);
    assert_eq!(witnesses::complaints(old, new, &report.findings), "");
    let changes = report.findings.iter().filter(|it| it.change.is_some());
    changes.map(|it| format!("{}: {} {:?}", it.rule, it.message, it.effects())).collect()
}

#[test]
fn a_tree_does_not_differ_from_itself() {
    for files in trees() {
        let (old, new) = (tree(&files), tree(&files));
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
}

#[test]
fn comments_and_formatting_are_no_change() {
    for files in trees() {
        let commented = |text: &str| format!("{text}\n// The end.\n");
        let (old, new) = (tree(&files), tree(&changed(&files, commented)));
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
    for seed in 0..40 {
        let files = generated(seed);
        let other = |text: &str| format!("// The begin.\n{}\n// The end.\n", flat(text));
        let (old, new) = (tree(&files), tree(&changed(&files, other)));
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
}

#[test]
fn elements_that_are_compared_do_not_differ_from_themselves() {
    // A statement that means nothing: the files are compared.
    let touched = |text: &str| format!("{text}\n;\n");
    for files in trees() {
        let (old, new) = (tree(&files), tree(&changed(&files, touched)));
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
    for seed in 0..40 {
        let files = generated(seed);
        let other = changed(&files, |text| touched(&flat(text)));
        assert_eq!(found(&tree(&files), &tree(&other)), Vec::<String>::new());
    }
}

#[test]
fn the_order_of_files_is_no_change() {
    for seed in 0..40 {
        let (before, after) = (generated(seed), generated(seed + 1));
        let forth = found(&tree(&before), &tree(&after));
        let back = found(&link(before.iter().rev()), &link(after.iter().rev()));
        assert_eq!(forth, back);
        assert!(!forth.is_empty(), "two trees that differ");
    }
}

#[test]
fn renamed_packages_are_told_once() {
    for seed in 0..100 {
        let files = with_twins(generated(seed));
        let (old, new) = (tree(&files), tree(&renamed(&files)));
        let rules: Vec<String> = found(&old, &new)
            .iter()
            .filter_map(|it| it.split(':').next().map(str::to_owned))
            .filter(|it| it != "package-renamed")
            .collect();
        assert_eq!(rules, Vec::<String>::new(), "each package is told once");
    }
}

/// Work for each pair of messages would not end within the hour.
#[test]
fn trees_with_nothing_in_common_take_no_longer_than_others() {
    let (old, new) = (tree(&many("Alpha", 20_000)), tree(&many("Beta", 20_000)));
    let rules: Vec<String> =
        found(&old, &new).iter().filter_map(|it| Some(it.split_once(':')?.0.to_owned())).collect();
    assert_eq!(rules, ["package-removed", "package-added"]);
}

#[test]
fn equal_texts_differ_where_their_names_lead_elsewhere() {
    let (old, new) = turned();
    let text = found(&old, &new);
    assert!(text.iter().any(|it| it.starts_with("field-replaced")), "{text:?}");
}

/// Files of packages `acme.NAME.v1` in their folders, as `NAME/FILE: TEXT`.
fn acme(files: &[(&str, &str)]) -> Tree {
    let file = |(name, text): &(&str, &str)| {
        let (package, file) = name.split_once('/').expect("a package and a file");
        let text = format!("syntax = \"proto2\";\npackage acme.{package}.v1;\n{text}");
        (format!("acme/{package}/v1/{file}.proto"), text)
    };
    tree(&files.iter().map(file).collect())
}

#[test]
fn what_happens_together_is_told_once() {
    let user = "message User { optional string name = 1; optional int32 age = 2;\n\
                message Inner { optional string x = 1; enum Kind { A = 0; } } }\n";
    let shop = "message Shop { optional string sign = 1; extensions 10 to 19; }\n\
                extend Shop { optional int32 till = 10; }\n\
                service Shops { rpc Get(Shop) returns (Shop); }\n";
    let both = format!("{user}{shop}");
    let moved = user.replace("User", "Person");
    let inside = format!("message Outer {{ {user} }}\n");
    let (both, moved, inside) = (both.as_str(), moved.as_str(), inside.as_str());
    let nowhere = &[("base/b", "")][..];
    let told = |old: &[(&str, &str)], new: &[(&str, &str)]| {
        let (old, new) = ([nowhere, old].concat(), [nowhere, new].concat());
        let found = found(&acme(&old), &acme(&new));
        let mut rules: Vec<String> =
            found.iter().filter_map(|it| Some(it.split_once(':')?.0.to_owned())).collect();
        rules.sort();
        rules.join(" ")
    };
    for (old, new, rules) in [
        // With the package.
        (&[("a/u", both)][..], &[][..], "package-removed"),
        (&[("a/u", user), ("a/s", shop)], &[], "package-removed"),
        (&[("a/u", both)], &[("z/u", both)], "package-renamed"),
        (&[("a/u", user), ("a/s", shop)], &[("z/u", user), ("z/s", shop)], "package-renamed"),
        (&[("a/u", both)], &[("z/w", both)], "file-renamed package-renamed"),
        // With the file.
        (&[("a/u", user), ("a/s", shop)], &[("a/u", user)], "file-removed"),
        (&[("a/u", user)], &[("a/w", user)], "file-renamed"),
        (
            &[("a/u", user), ("a/s", shop)],
            &[("a/u", user), ("b/s", shop)],
            "file-package-changed file-renamed package-added",
        ),
        // By themselves.
        (&[("a/u", both)], &[("a/u", user)], "extension-removed message-removed service-removed"),
        (
            &[("a/u", both)],
            &[("a/u", user), ("a/s", shop)],
            "extension-moved file-added message-moved service-moved",
        ),
        (
            &[("a/u", user), ("a/s", shop)],
            &[("a/u", both)],
            "extension-moved file-removed message-moved service-moved",
        ),
        (&[("a/u", user)], &[("a/u", moved)], "message-renamed"),
        (&[("a/u", user)], &[("a/u", inside)], "message-added message-renamed"),
        (&[("a/u", inside)], &[("a/u", user)], "message-removed message-renamed"),
    ] {
        assert_eq!(told(old, new), rules, "{old:?}\n{new:?}");
        // The reverse adds what this removes.
        let turned = |rule: &str| match rule.rsplit_once('-') {
            Some((what, "removed")) => format!("{what}-added"),
            Some((what, "added")) => format!("{what}-removed"),
            _ => rule.to_owned(),
        };
        let mut back: Vec<String> = rules.split(' ').map(turned).collect();
        back.sort();
        assert_eq!(told(new, old), back.join(" "), "{new:?}\n{old:?}");
    }
}

#[test]
fn a_service_is_known_by_its_only_method_where_no_other_could_be_meant() {
    let told = |old: &[&str], new: &[&str]| {
        let with = |services: &[&str]| {
            let each = services.iter().map(|it| format!("service {it} }}\n"));
            acme(&[(
                "a/a",
                &format!("message A {{}}\nmessage B {{}}\n{}", each.collect::<String>()),
            )])
        };
        let found = found(&with(old), &with(new));
        let rules = found.iter().filter_map(|it| it.split_once(':'));
        rules.map(|(rule, _)| rule.to_owned()).collect::<Vec<String>>().join(" ")
    };
    let (old, new) = ("Old { rpc Get(A) returns (B);", "New { rpc Get(A) returns (B);");
    assert_eq!(told(&[old], &[new]), "service-renamed");
    assert_eq!(told(&[new], &[old]), "service-renamed");
    // Another method, or other types.
    assert_eq!(told(&[old], &["New { rpc Put(A) returns (B);"]), "service-removed service-added");
    assert_eq!(told(&[old], &["New { rpc Get(A) returns (A);"]), "service-removed service-added");
    assert_eq!(
        told(&[old], &["New { rpc Get(A) returns (stream B);"]),
        "service-removed service-added"
    );
    // Nobody can tell which.
    let other = "Other { rpc Get(A) returns (B);";
    assert_eq!(told(&[old], &[new, other]), "service-removed service-added service-added");
    assert_eq!(told(&[old, other], &[new]), "service-removed service-removed service-added");
    // One that was there before is none of them.
    assert_eq!(told(&[old, other], &[new, other]), "service-renamed");
}

#[test]
fn a_call_breaks_where_its_types_read_otherwise() {
    let types = "message A { optional string name = 1; }\n\
                 message Like { optional bytes title = 1; optional int32 more = 2; }\n\
                 message Other { optional fixed32 name = 1; }\n\
                 message Strict { required string name = 1; required int32 more = 2; }\n";
    let with = |input: &str, output: &str| {
        let service = format!("service S {{ rpc Get({input}) returns ({output}); }}");
        acme(&[("a/a", &format!("{types}{service}"))])
    };
    let told = |old: (&str, &str), new: (&str, &str)| {
        let found = found(&with(old.0, old.1), &with(new.0, new.1));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        let effects = one.split_once('{').map_or("", |(_, effects)| effects);
        let words = ["rpc backward", "rpc forward"].iter().filter(|it| effects.contains(**it));
        words.copied().collect::<Vec<&str>>().join(", ")
    };
    // No field is read otherwise; what one side alone knows is skipped.
    assert_eq!(told(("A", "A"), ("Like", "A")), "");
    assert_eq!(told(("A", "A"), ("A", "Like")), "");
    assert_eq!(told(("A", "A"), ("Other", "A")), "rpc backward, rpc forward");
    assert_eq!(told(("A", "A"), ("A", "Other")), "rpc backward, rpc forward");
    // A new server refuses the request of an old client, and an old client
    // understands the response of a new server.
    assert_eq!(told(("A", "A"), ("Strict", "A")), "rpc backward");
    assert_eq!(told(("A", "A"), ("A", "Strict")), "rpc forward");
}
