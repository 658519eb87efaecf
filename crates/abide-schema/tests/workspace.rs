//! A workspace knows which files a change concerns: over random edits, all
//! others are linked and refused as before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use abide_schema::value::Codec;
use abide_schema::{
    Element, File, FileDecl, FileKey, Place, Problem, ProblemKind, SourceFile, Tree, Type,
    Workspace,
};

fn parse((root, path): &FileKey, text: &str) -> Arc<FileDecl> {
    Arc::new(FileDecl::parse(SourceFile {
        path: Arc::clone(path),
        display: format!("{root}/{path}").into(),
        root: *root,
        imported: false,
        text: text.as_bytes().into(),
    }))
}

fn key(root: u32, path: &str) -> FileKey {
    (root, path.into())
}

/// What is known of a file once it is linked, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
struct Linked {
    links: String,
    /// Each with its kind and its place, and then its words.
    problems: Vec<((ProblemKind, u32, u32), String)>,
}

fn place(tree: &Tree, place: Place) -> String {
    let file = tree.file(place.file);
    format!("{}/{}:{:?}", file.decl().root, file.path(), place.span)
}

fn words(tree: &Tree, problem: &Problem) -> String {
    let labels = problem.labels.iter().map(|(at, text)| (place(tree, *at), text));
    format!(
        "{} | {:?} | {:?} | {:?}",
        problem.message,
        problem.element,
        labels.collect::<Vec<_>>(),
        problem.help
    )
}

fn linked(file: File<'_>) -> Linked {
    let tree = file.tree;
    let name = |file: File<'_>| format!("{}/{}", file.decl().root, file.path());
    let mut links = String::new();
    for import in file.imports() {
        let _ = writeln!(links, "import {:?} {}", import.file.map(name), import.used);
    }
    let mut options = |what: String, options: Option<&abide_schema::value::Message>| {
        let text = options.map(|it| Codec::new(tree).to_text(it));
        let _ = writeln!(links, "{what} {text:?}");
    };
    options(format!("file {:?}", file.features()), file.options());
    for element in file.elements() {
        let mut what = element.full_name();
        if let Element::Field(field) = element {
            let ty = match field.ty() {
                Type::Message(id) => tree.message(id).full_name() + &name(tree.message(id).file()),
                Type::Enum(id) => {
                    tree.enumeration(id).full_name() + &name(tree.enumeration(id).file())
                }
                ty => format!("{ty:?}"),
            };
            let extendee = field.extendee().map(|it| it.full_name() + &name(it.file()));
            let _ = write!(what, " {ty} {extendee:?} {:?}", field.features());
        }
        options(what, element.options());
    }
    let own = tree.problems().iter().filter(|it| it.place.file == file.id);
    let problems =
        own.map(|it| ((it.kind, it.place.span.start, it.place.span.end), words(tree, it)));
    Linked { links, problems: problems.collect() }
}

/// Without what needs the whole tree: a circle is reported at the first of its
/// files, and there no import counts as unused.
fn without_circles(mut linked: Linked, in_circle: bool) -> Linked {
    linked.problems.retain(|((kind, ..), _)| match kind {
        ProblemKind::ImportCycle => false,
        ProblemKind::ImportUnused => !in_circle,
        _ => true,
    });
    linked
}

fn all_linked(tree: &Tree) -> BTreeMap<FileKey, Linked> {
    let own = tree.files().filter(|file| file.decl().root != u32::MAX);
    own.map(|file| (key(file.decl().root, file.path()), linked(file))).collect()
}

/// A small generator of the same numbers in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const PATHS: [&str; 7] =
    ["a/one.proto", "a/two.proto", "b/one.proto", "b/two.proto", "c.proto", "d.proto", "x/c.proto"];
const PACKAGES: [&str; 5] = ["a", "a.b", "b", "c", "a.M"];
const NAMES: [&str; 6] = ["M", "N", "E", "b", "Inner", "M2"];

/// A file that names what others may declare, and often does not import it.
fn generate(numbers: &mut Numbers) -> String {
    let mut text = match numbers.below(5) {
        0 => "syntax = \"proto2\";\n".to_owned(),
        1 => "edition = \"2023\";\n".to_owned(),
        _ => "syntax = \"proto3\";\n".to_owned(),
    };
    let old = text.contains("proto2");
    let label = if old { "optional " } else { "" };
    let _ = writeln!(text, "package {};", numbers.pick(&PACKAGES));
    let mut imported = BTreeSet::from(["google/protobuf/descriptor.proto"]);
    for _ in 0..numbers.below(4) {
        imported.insert(numbers.pick(&PATHS));
    }
    if numbers.below(12) == 0 {
        imported.insert("gone/one.proto");
    }
    for path in imported {
        let kind = if numbers.below(4) == 0 { "public " } else { "" };
        let _ = writeln!(text, "import {kind}\"{path}\";");
    }
    let mut declared = BTreeSet::new();
    for _ in 0..1 + numbers.below(3) {
        let name = numbers.pick(&NAMES);
        if !declared.insert(name) {
            continue;
        }
        if numbers.below(4) == 0 {
            let prefix = numbers.pick(&["A", "B"]);
            let _ = writeln!(text, "enum {name} {{ {prefix}_ZERO = 0; {prefix}_ONE = 1; }}");
            continue;
        }
        let _ = writeln!(text, "message {name} {{");
        if numbers.below(3) == 0 {
            let _ = writeln!(text, "  message Inner {{ }}");
        }
        if numbers.below(3) == 0 && !text.contains("proto3") {
            let _ = writeln!(text, "  extensions 100 to 110;");
        }
        for number in 1..=numbers.below(4) {
            let ty = match numbers.below(4) {
                0 => "int32".to_owned(),
                1 => format!("{}.{}", numbers.pick(&PACKAGES), numbers.pick(&NAMES)),
                2 => format!("{}.Inner", numbers.pick(&NAMES)),
                _ => numbers.pick(&NAMES).to_owned(),
            };
            let option = match numbers.below(6) {
                0 => format!(" [({}.opt) = {}]", numbers.pick(&PACKAGES), numbers.below(3)),
                1 => " [(opt) = 1]".to_owned(),
                _ => String::new(),
            };
            let _ = writeln!(text, "  {label}{ty} f{number} = {number}{option};");
        }
        let _ = writeln!(text, "}}");
    }
    if numbers.below(3) == 0 {
        let ty = numbers.pick(&["int32", "string"]);
        let number = 50_000 + numbers.below(3);
        let _ =
            writeln!(text, "extend google.protobuf.FieldOptions {{ {label}{ty} opt = {number}; }}");
    }
    if numbers.below(3) == 0 {
        let extendee = format!("{}.{}", numbers.pick(&PACKAGES), numbers.pick(&NAMES));
        let number = 100 + numbers.below(4);
        let _ = writeln!(text, "extend {extendee} {{ {label}int32 ext{number} = {number}; }}");
    }
    text
}

#[test]
fn what_does_not_depend_on_a_change_stays_as_it_is() {
    let (mut refused, mut kept) = (0, 0);
    for seed in (1..=12_u64).chain([42]) {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut workspace = Workspace::new();
        let mut texts: BTreeMap<FileKey, String> = BTreeMap::new();
        let mut before: BTreeMap<FileKey, Linked> = BTreeMap::new();
        let mut before_circles: BTreeSet<FileKey> = BTreeSet::new();
        for step in 0..12 {
            for _ in 0..if step == 0 { 8 } else { 1 + numbers.below(2) } {
                let root = u32::from(numbers.below(4) == 0);
                let at = key(root, PATHS[numbers.below(PATHS.len())]);
                if numbers.below(5) == 0 {
                    workspace.remove(&at);
                    texts.remove(&at);
                } else {
                    let text = generate(&mut numbers);
                    workspace.set(parse(&at, &text));
                    texts.insert(at, text);
                }
            }
            let whole = Tree::link(texts.iter().map(|(at, text)| parse(at, text)).collect());
            let now = all_linked(&whole);
            let circles: BTreeSet<FileKey> = texts
                .keys()
                .filter(|it| !workspace.collect_import_cycle(it).is_empty())
                .cloned()
                .collect();
            let settle = |found: BTreeMap<FileKey, Linked>| -> BTreeMap<FileKey, Linked> {
                let settled = found.into_iter().map(|(at, linked)| {
                    let in_circle = circles.contains(&at);
                    (at, without_circles(linked, in_circle))
                });
                settled.collect()
            };
            let now = settle(now);
            refused += now.values().filter(|it| !it.problems.is_empty()).count();
            let changes = workspace.take_changes();
            let dependants = workspace.find_dependants(&changes);
            for (at, was) in before.iter().filter(|(at, _)| !dependants.contains(*at)) {
                let is = &now[at];
                let was = &without_circles(was.clone(), circles.contains(at));
                if circles.contains(at) != before_circles.contains(at) {
                    continue;
                }
                assert_eq!(was.links, is.links, "seed {seed}, step {step}, {at:?}\n{texts:#?}");
                let kinds = |it: &Linked| it.problems.iter().map(|it| it.0).collect::<Vec<_>>();
                assert_eq!(kinds(was), kinds(is), "seed {seed}, step {step}, {at:?}\n{texts:#?}");
                kept += 1;
            }
            before = now;
            before_circles = circles;
        }
    }
    assert!(refused > 100 && kept > 100, "{refused} {kept}");
}

/// What a tree shares with another is what linking it alone would make: names, options, problems
/// and their words.
#[test]
fn a_tree_beside_another_is_what_its_files_make_alone() {
    let (mut shared, mut refused, mut apart) = (0, 0, 0);
    for seed in 1..=300_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut files: BTreeMap<FileKey, Arc<FileDecl>> = BTreeMap::new();
        let mut other = Tree::link(Vec::new());
        for step in 0..8 {
            for _ in 0..if step == 0 { 8 } else { 1 } {
                let root = u32::from(numbers.below(4) == 0);
                // What declares options is a file like others.
                let descriptor = numbers.below(40) == 0;
                let path = PATHS[numbers.below(PATHS.len())];
                let at =
                    key(root, if descriptor { "google/protobuf/descriptor.proto" } else { path });
                if step > 0 && numbers.below(9) == 0 {
                    files.remove(&at);
                } else {
                    // Some files are without fault: others are never shared.
                    let text = match numbers.below(2) {
                        0 => format!("syntax = \"proto3\"; package p{root}; // {step}\n"),
                        _ => generate(&mut numbers),
                    };
                    files.insert(at.clone(), parse(&at, &text));
                }
            }
            let all = || files.values().cloned().collect::<Vec<_>>();
            let beside = Tree::link_beside(all(), &other);
            let alone = Tree::link(all());
            assert_eq!(format!("{beside:?}"), format!("{alone:?}"), "seed {seed}, step {step}");
            refused += alone.problems().iter().filter(|it| it.kind.is_error()).count();
            let pairs = beside.files().zip(other.files());
            let (same, differ): (Vec<_>, Vec<_>) = pairs.partition(|(a, b)| a.is_linked_as(*b));
            (shared, apart) = (shared + same.len(), apart + differ.len());
            other = beside;
        }
    }
    assert!(shared > 1000 && refused > 1000 && apart > 1000, "{shared} {refused} {apart}");
}

#[test]
fn changes_are_what_became_of_each_file() {
    let mut workspace = Workspace::new();
    let (one, two) = (key(0, "one.proto"), key(0, "two.proto"));
    workspace.set_all(vec![
        parse(&one, "syntax = \"proto3\"; package a; import \"two.proto\";"),
        parse(&two, "syntax = \"proto3\"; package b;"),
    ]);
    let changes = workspace.take_changes();
    assert_eq!(changes.files().filter(|it| it.1.is_none() && it.2.is_some()).count(), 2);
    assert!(workspace.take_changes().is_empty());
    workspace.set(parse(&two, "syntax = \"proto3\"; package c;"));
    workspace.set(parse(&two, "syntax = \"proto3\"; package d; import \"one.proto\";"));
    workspace.set(parse(&key(1, "three.proto"), ""));
    workspace.remove(&key(1, "three.proto"));
    let changes = workspace.take_changes();
    let found: Vec<_> = changes
        .files()
        .map(|(at, old, new)| {
            (at.clone(), old.unwrap().package_name(), new.unwrap().package_name())
        })
        .collect();
    assert_eq!(found, [(two.clone(), "b", "d")]);
    // The other imports it, and uses nothing of it.
    assert_eq!(workspace.find_dependants(&changes), BTreeSet::from([two.clone()]));
    assert_eq!(workspace.collect_import_cycle(&one), BTreeSet::from([one.clone(), two.clone()]));
    assert_eq!(workspace.find_importers("two.proto").collect::<Vec<_>>(), [&one]);
    assert_eq!(workspace.files_of_package("d").collect::<Vec<_>>(), [&two]);
    let sides = workspace.split_sides(&changes, &BTreeSet::from([two]), |_| false);
    let paths = |side: &[Arc<FileDecl>]| {
        let own = side.iter().filter(|it| it.root == 0);
        own.map(|it| it.package_name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (paths(&sides.before), paths(&sides.after)),
        (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned(), "d".to_owned()],)
    );
}

/// What sets an option is read again if the option's type may have changed, and else not.
#[test]
fn options_are_read_again_where_they_are_mentioned() {
    let file = |package: &str, imports: &[&str], rest: &str| {
        let imports = imports.iter().map(|it| format!("import \"{it}.proto\";\n"));
        let imports: String = imports.collect();
        format!("syntax = \"proto3\";\npackage {package};\n{imports}{rest}\n")
    };
    let extend = "extend google.protobuf.FieldOptions { Rule rule = 50001; }\n\
                  extend google.protobuf.FieldOptions { string plain = 50002; }";
    let kind = "message Kind { string name = 1; }\nmessage Other { }";
    let base = [
        ("kind", file("o", &[], kind)),
        ("rule", file("o", &["kind"], "message Rule { Kind kind = 1; }")),
        ("options", file("o", &["google/protobuf/descriptor", "rule"], extend)),
        (
            "user",
            file("u", &["options"], "message M { int32 a = 1 [(o.rule).kind.name = \"a\"]; }"),
        ),
        ("plain", file("u", &["options"], "message P { int32 a = 1 [(o.plain) = \"a\"]; }")),
        ("none", file("u", &["options"], "message N { int32 a = 1; }")),
    ];
    let path = |name: &str| key(0, &format!("{name}.proto"));
    let all = ["kind", "none", "options", "plain", "rule", "user"];
    for (name, text, expected) in [
        ("kind", file("o", &[], &format!("// More.\n{kind}")), &["kind"][..]),
        ("kind", file("o", &[], &format!("{kind}\nmessage More {{ }}")), &["kind"]),
        (
            "kind",
            file("o", &[], &kind.replace("name = 1", "name = 2")),
            &["kind", "options", "rule", "user"],
        ),
        ("kind", file("o", &[], &format!("option java_package = \"o\";\n{kind}")), &all),
        ("kind", file("p", &[], kind), &all),
        (
            "options",
            file("o", &["google/protobuf/descriptor", "rule"], &extend.replace("50002", "50003")),
            &["options", "plain"],
        ),
        (
            "options",
            file("o", &["google/protobuf/descriptor", "rule"], &extend.replace("plain", "lone")),
            &["options", "plain"],
        ),
    ] {
        let mut workspace = Workspace::new();
        workspace.set_all(base.iter().map(|(name, text)| parse(&path(name), text)).collect());
        workspace.take_changes();
        workspace.set(parse(&path(name), &text));
        let changes = workspace.take_changes();
        let found = workspace.find_dependants(&changes);
        let found: Vec<String> = found.into_iter().map(|(_, path)| path.to_string()).collect();
        let expected: Vec<String> = expected.iter().map(|it| format!("{it}.proto")).collect();
        assert_eq!(found, expected, "{text}");
    }
}
