//! Laws of the comparison: equal trees do not differ, nothing but the meaning
//! of the trees counts, and the sides may be swapped.

#![allow(clippy::disallowed_methods, reason = "the tests read fixtures and a clock")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abide::{Config, Options, RuleScope, check};
use abide_change::{Change, Diff};
use abide_schema::{Element, FileDecl, SourceFile, Tree};
use jiff::civil::date;

type Files = BTreeMap<String, String>;

fn link<'a>(files: impl Iterator<Item = (&'a String, &'a String)>) -> Tree {
    let parse = |(path, text): (&String, &String)| {
        let path: Arc<str> = path.as_str().into();
        let (display, text) = (Arc::clone(&path), text.as_bytes().into());
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(files.map(parse).collect())
}

fn tree(files: &Files) -> Tree {
    link(files.iter())
}

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
    let changes = report.findings.iter().filter(|it| it.change.is_some());
    changes.map(|it| format!("{}: {} {:?}", it.rule, it.message, it.effects())).collect()
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }
}

const WORDS: [&str; 12] = [
    "User", "Order", "Shop", "Till", "Request", "Reply", "Address", "Place", "Name", "Empty",
    "Log", "Route",
];
const TYPES: [&str; 6] = ["string", "int32", "bytes", "bool", "double", "fixed64"];

/// A tree of packages in which many names and shapes come twice.
fn generated(seed: u64) -> Files {
    let mut numbers = Numbers(seed);
    let mut files = Files::new();
    for package in 0..2 + numbers.below(4) {
        let name = format!("acme.p{package}.v1");
        for file in 0..1 + numbers.below(3) {
            let mut text = format!("syntax = \"proto3\";\npackage {name};\n");
            for word in WORDS.iter().skip(file as usize).step_by(3) {
                if numbers.one_in(3) {
                    continue;
                }
                body(&mut text, word, 2, &mut numbers);
                if numbers.one_in(4) {
                    let _ = writeln!(
                        text,
                        "service {word}s {{ rpc Get({word}) returns ({word}); rpc Put({word}) \
                         returns (stream {word}); }}"
                    );
                }
            }
            files.insert(format!("acme/p{package}/v1/f{file}.proto"), text);
        }
    }
    files
}

fn body(text: &mut String, word: &str, depth: u32, numbers: &mut Numbers) {
    let _ = writeln!(text, "message {word} {{");
    let count = numbers.below(5);
    for number in 1..=count {
        let ty = TYPES[numbers.below(6) as usize];
        let name = WORDS[numbers.below(12) as usize].to_lowercase();
        let _ = match numbers.below(6) {
            0 => writeln!(text, "repeated {ty} {name}_{number} = {number};"),
            1 => writeln!(text, "map<string, {ty}> {name}_{number} = {number};"),
            2 => writeln!(text, "oneof of_{number} {{ {ty} {name}_{number} = {number}; }}"),
            _ => writeln!(text, "{ty} {name}_{number} = {number};"),
        };
    }
    if numbers.one_in(3) {
        let _ = writeln!(text, "reserved 100 to 10{};", numbers.below(10));
    }
    if depth > 0 && numbers.one_in(3) {
        body(text, "Inner", depth - 1, numbers);
        let _ = writeln!(text, "enum Kind {{ KIND_A = 0; KIND_{} = 1; }}", numbers.below(3));
    }
    text.push_str("}\n");
}

/// The fixtures that protoc takes, each a file of one tree.
fn fixtures() -> Files {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/protoc");
    let entries = std::fs::read_dir(&folder).expect("the folder is readable");
    let paths = entries.map(|entry| entry.expect("the folder is readable").path());
    let mut files = Files::new();
    for path in paths.filter(|path| path.extension().is_some_and(|it| it == "proto")) {
        let name = path.file_name().expect("it is a file").to_string_lossy().into_owned();
        // What is not UTF-8 is no law of its own here.
        if let Ok(text) = std::fs::read_to_string(&path) {
            files.insert(name, text);
        }
    }
    assert!(files.len() > 30, "the fixtures are gone");
    files
}

fn trees() -> Vec<Files> {
    (0..40).map(generated).chain([fixtures()]).collect()
}

#[test]
fn a_tree_does_not_differ_from_itself() {
    for files in trees() {
        let (old, new) = (tree(&files), tree(&files));
        assert_eq!(found(&old, &new), Vec::<String>::new());
        let diff = Diff::of(&old, &new);
        assert!(diff.file_changes().is_empty() && diff.field_changes().is_empty());
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
        assert!(Diff::of(&old, &new).file_changes().is_empty());
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
}

#[test]
fn elements_that_are_compared_do_not_differ_from_themselves() {
    // A statement that means nothing: the files are compared.
    let touched = |text: &str| format!("{text}\n;\n");
    for files in trees() {
        let (old, new) = (tree(&files), tree(&changed(&files, touched)));
        assert_eq!(Diff::of(&old, &new).file_changes().len(), files.len());
        assert_eq!(found(&old, &new), Vec::<String>::new());
    }
    for seed in 0..40 {
        let files = generated(seed);
        let other = changed(&files, |text| touched(&flat(text)));
        assert_eq!(found(&tree(&files), &tree(&other)), Vec::<String>::new());
    }
}

/// The same files with another text each.
fn changed(files: &Files, text: impl Fn(&str) -> String) -> Files {
    files.iter().map(|(path, it)| (path.clone(), text(it))).collect()
}

/// The same on one line, with more space.
fn flat(text: &str) -> String {
    text.replace('\n', " ").replace(' ', "\t ").replace(';', " ;")
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

/// Every pair of elements, the old one first.
fn pairs(diff: &Diff<'_>) -> Vec<(String, String)> {
    let elements = diff.old.files().filter(|it| it.is_judged()).flat_map(|it| it.elements());
    let pair = |old: Element<'_>| {
        let new = diff.new_element(old)?;
        Some((shown(old), shown(new)))
    };
    let files = diff
        .old
        .files()
        .filter_map(|old| Some((old.path().to_owned(), diff.new_file(old)?.path().to_owned())));
    let packages = diff
        .old
        .packages()
        .filter_map(|old| Some((old.full_name(), diff.new_package(old)?.full_name())));
    let mut pairs: Vec<_> = elements.filter_map(pair).chain(files).chain(packages).collect();
    pairs.sort();
    pairs
}

fn shown(element: Element<'_>) -> String {
    format!("{} {} {}", element.noun(), element.full_name(), element.file().path())
}

#[test]
fn swapped_sides_give_the_same_pairs() {
    for seed in 0..200 {
        // Trees that share something, and names that moved.
        let mut after = generated(seed);
        let mut numbers = Numbers(seed);
        let (from, to) = (WORDS[numbers.below(12) as usize], ["Thing", "Order", "Log"]);
        for text in after.values_mut() {
            if numbers.one_in(2) {
                *text = text.replace(from, to[numbers.below(3) as usize]);
            }
            if numbers.one_in(3) {
                *text = text.replacen("p1.v1", "q1.v1", 1).replacen("_1 = 1", "_9 = 1", 1);
            }
        }
        if numbers.one_in(2) {
            after = after.into_iter().map(|(k, it)| (k.replace("f1", "g1"), it)).collect();
        }
        let (old, new) = (tree(&generated(seed)), tree(&after));
        let there = pairs(&Diff::of(&old, &new));
        let mut back: Vec<(String, String)> =
            pairs(&Diff::of(&new, &old)).into_iter().map(|(new, old)| (old, new)).collect();
        back.sort();
        assert_eq!(there, back, "seed {seed}");
        assert!(!there.is_empty());
    }
}

#[test]
fn a_tree_of_renamed_packages_is_paired_in_full() {
    for seed in 0..100 {
        let mut files = generated(seed);
        // Packages that nothing but their names tells apart, more than a few.
        for twin in 0..50 {
            let text = format!(
                "syntax = \"proto3\";\npackage acme.twin{twin}.v1;\n\
                 message Empty {{}}\nmessage One {{ string name = 1; }}\n"
            );
            files.insert(format!("acme/twin{twin}/v1/f.proto"), text);
        }
        let renamed: Files = files
            .iter()
            .map(|(path, text)| (path.replace("acme/", "zeta/"), text.replace("acme.", "zeta.")))
            .collect();
        let (old, new) = (tree(&files), tree(&renamed));
        let diff = Diff::of(&old, &new);
        for element in old.files().filter(|it| it.is_judged()).flat_map(|it| it.elements()) {
            let twin = diff.new_element(element).map(Element::full_name);
            let expected = element.full_name().replacen("acme", "zeta", 1);
            assert_eq!(twin, Some(expected), "seed {seed}");
        }
        for file in old.files().filter(|it| it.is_judged()) {
            let twin = diff.new_file(file).map(|it| it.path().to_owned());
            assert_eq!(twin, Some(file.path().replace("acme/", "zeta/")));
        }
        let rules: Vec<String> = found(&old, &new)
            .iter()
            .filter_map(|it| it.split(':').next().map(str::to_owned))
            .filter(|it| it != "package-renamed")
            .collect();
        assert_eq!(rules, Vec::<String>::new(), "each package is told once");
    }
}

/// A file of many messages whose names begin with a word.
fn many(word: &str, count: usize) -> Files {
    let mut text = format!("syntax = \"proto3\";\npackage {}.v1;\n", word.to_lowercase());
    for index in 0..count {
        let _ = writeln!(
            text,
            "message {word}{index} {{ string name = 1; int32 {word}_{index} = 2; {word}{} next = 3; }}",
            (index + 1) % count
        );
    }
    Files::from([(format!("{}/v1/many.proto", word.to_lowercase()), text)])
}

#[test]
fn trees_with_nothing_in_common_take_no_longer_than_others() {
    let (old, new) = (tree(&many("Alpha", 20_000)), tree(&many("Beta", 20_000)));
    let begin = Instant::now();
    let diff = Diff::of(&old, &new);
    let messages = diff.message_changes();
    let removed = messages.iter().filter(|it| matches!(it, Change::Removed(_))).count();
    let added = messages.iter().filter(|it| matches!(it, Change::Added(_))).count();
    assert_eq!((removed, added, messages.len()), (20_000, 20_000, 40_000));
    let rules: Vec<String> =
        found(&old, &new).iter().filter_map(|it| Some(it.split_once(':')?.0.to_owned())).collect();
    assert_eq!(rules, ["package-removed", "package-added"]);
    // Work for each pair of messages would take an hour.
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}

#[test]
fn equal_texts_differ_where_their_names_lead_elsewhere() {
    let user = "syntax = \"proto3\";\npackage acme.v1;\nimport \"inner.proto\";\n\
                message User { name.Name name = 1; }\n";
    let near = "syntax = \"proto3\";\npackage acme.v1.name;\nmessage Name { string first = 1; }\n";
    let far = "syntax = \"proto3\";\npackage name;\nmessage Name { repeated int64 id = 1; }\n";
    let with = |inner: &str| {
        let files = [("user.proto", user), ("inner.proto", inner)];
        tree(&files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect())
    };
    let (old, new) = (with(near), with(far));
    let diff = Diff::of(&old, &new);
    let files: Vec<&str> =
        diff.file_changes().iter().filter_map(|it| Some(it.both()?.1.path())).collect();
    assert!(files.contains(&"user.proto"), "{files:?}");
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
