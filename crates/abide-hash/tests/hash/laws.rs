//! Laws over generated schemas: however one is written, its hashes are the
//! same; whatever of it is changed, those of exactly what is concerned change.

use std::collections::{BTreeMap, BTreeSet};

use abide_hash::{CanonicalFile, Hashes, IncrementalHashes, TreeHashes};

use super::model::{Cardinality, Element, Enum, Message, Rules, Schema, Type, generated, written};
use super::{Files, Numbers, errors, through_descriptors, tree};

/// How many schemas are tried.
const SCHEMAS: u64 = 24;

fn hashes(files: &Files) -> TreeHashes {
    let tree = tree(files);
    let errors = errors(&tree);
    assert!(errors.is_empty(), "{errors:#?}\n{}", shown(files));
    TreeHashes::of(&tree)
}

fn shown(files: &Files) -> String {
    files.iter().map(|(path, text)| format!("// === {path}\n{text}\n")).collect()
}

/// What a schema means: the hashes of its packages and messages.
fn meant(hashes: &TreeHashes) -> BTreeMap<String, Hashes> {
    let packages = hashes.packages().map(|(name, it)| (format!("package {name}"), it));
    packages.chain(hashes.messages().map(|(name, it)| (name.to_owned(), it))).collect()
}

#[test]
fn how_a_schema_is_written_changes_no_hash() {
    for seed in 0..SCHEMAS {
        let schema = generated(seed);
        let first = written(&schema, seed);
        let wanted = meant(&hashes(&first));
        for other in 1..5 {
            let files = written(&schema, seed + other * 1000);
            let found = meant(&hashes(&files));
            for (name, wanted) in &wanted {
                assert_eq!(
                    found.get(name),
                    Some(wanted),
                    "{name} of seed {seed}:\n{}\n\nand\n\n{}",
                    shown(&first),
                    shown(&files)
                );
            }
        }
    }
}

#[test]
fn a_descriptor_set_has_the_hashes_of_its_sources() {
    for seed in 0..SCHEMAS {
        let source = tree(&written(&generated(seed), seed));
        let (ours, theirs) = (TreeHashes::of(&source), {
            let tree = through_descriptors(&source);
            assert!(errors(&tree).is_empty(), "{:?}", errors(&tree));
            TreeHashes::of(&tree)
        });
        assert_eq!(meant(&ours), meant(&theirs), "seed {seed}");
        assert_eq!(ours.files().collect::<Vec<_>>(), theirs.files().collect::<Vec<_>>());
    }
}

/// A type of a schema, and what the closure of a hash follows from it.
#[derive(Debug, Default)]
struct Node {
    package: usize,
    is_message: bool,
    /// The messages that enclose it, by full name.
    around: Vec<String>,
    references: BTreeSet<String>,
}

/// Every type of a schema by its full name, and what the services of each
/// package refer to.
fn types(schema: &Schema) -> (BTreeMap<String, Node>, Vec<BTreeSet<String>>) {
    let mut nodes = BTreeMap::new();
    let mut services = vec![BTreeSet::new(); schema.packages.len()];
    for (at, package) in schema.packages.iter().enumerate() {
        for element in &package.elements {
            match element {
                Element::Message(it) => add_message(&mut nodes, at, &package.name, &[], it),
                Element::Enum(it) => add_enum(&mut nodes, at, &package.name, &[], it),
                Element::Service(it) => services[at]
                    .extend(it.methods.iter().flat_map(|it| [it.input.clone(), it.output.clone()])),
            }
        }
    }
    (nodes, services)
}

fn add_message(
    nodes: &mut BTreeMap<String, Node>,
    package: usize,
    scope: &str,
    around: &[String],
    message: &Message,
) {
    let full = format!("{scope}.{}", message.name);
    let inner = [around, std::slice::from_ref(&full)].concat();
    let mut references: BTreeSet<String> = message
        .fields
        .iter()
        .filter_map(|field| match &field.ty {
            Type::Scalar(_) => None,
            Type::Message(name) | Type::Enum(name) | Type::Group(name) => Some(name.clone()),
        })
        .collect();
    for nested in &message.messages {
        references.insert(format!("{full}.{}", nested.name));
        add_message(nodes, package, &full, &inner, nested);
    }
    for nested in &message.enums {
        references.insert(format!("{full}.{}", nested.name));
        add_enum(nodes, package, &full, &inner, nested);
    }
    let node = Node { package, is_message: true, around: around.to_vec(), references };
    nodes.insert(full, node);
}

fn add_enum(
    nodes: &mut BTreeMap<String, Node>,
    package: usize,
    scope: &str,
    around: &[String],
    item: &Enum,
) {
    let node = Node { package, around: around.to_vec(), ..Node::default() };
    nodes.insert(format!("{scope}.{}", item.name), node);
}

/// Everything that can be reached from some types, themselves included.
fn reached(nodes: &BTreeMap<String, Node>, from: &BTreeSet<String>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&String> = from.iter().collect();
    while let Some(name) = open.pop() {
        if reached.insert(name.clone()) {
            open.extend(nodes.get(name).iter().flat_map(|node| &node.references));
        }
    }
    reached
}

/// What was changed: the full name of a type, or the package of a service or of
/// the options of its files.
#[derive(Debug)]
enum Changed {
    Type(String),
    Package(usize),
}

/// Changes the meaning of one thing of the schema, and nothing else; says what
/// in words, and where. None where there is no such thing.
fn change(schema: &mut Schema, kind: usize, numbers: &mut Numbers) -> Option<(String, Changed)> {
    let at = numbers.below(schema.packages.len());
    let package = &mut schema.packages[at];
    if kind == 0 {
        package.go_package.push_str("/other");
        return Some(("go_package".to_owned(), Changed::Package(at)));
    }
    let index = numbers.below(package.elements.len());
    let scope = package.name.clone();
    match &mut package.elements[index] {
        Element::Service(service) => {
            let method = &mut service.methods[0];
            let what = match kind % 5 {
                0 => {
                    method.streams = !method.streams;
                    "streaming"
                }
                1 => {
                    method.name.push_str("Renamed");
                    "the name of a method"
                }
                2 => {
                    method.options.deprecated = !method.options.deprecated;
                    "deprecation of a method"
                }
                3 => {
                    service.options.tags.push("z".to_owned());
                    "a custom option of a service"
                }
                _ => {
                    service.methods.remove(0);
                    "a method less"
                }
            };
            Some((what.to_owned(), Changed::Package(at)))
        }
        Element::Enum(item) => {
            let name = format!("{scope}.{}", item.name);
            Some((change_enum(item, kind)?, Changed::Type(name)))
        }
        Element::Message(message) => {
            // Down to a nested one, by chance.
            let mut message = message;
            let mut name = format!("{scope}.{}", message.name);
            while numbers.one_in(2) && !message.messages.is_empty() {
                message = &mut message.messages[0];
                name = format!("{name}.{}", message.name);
            }
            if numbers.one_in(3)
                && let Some(item) = message.enums.first_mut()
            {
                let name = format!("{name}.{}", item.name);
                return Some((change_enum(item, kind)?, Changed::Type(name)));
            }
            Some((change_message(message, kind, numbers)?, Changed::Type(name)))
        }
    }
}

fn change_enum(item: &mut Enum, kind: usize) -> Option<String> {
    let zeros: Vec<usize> = (0..item.values.len()).filter(|&at| item.values[at].1 == 0).collect();
    let what = match kind % 8 {
        0 => {
            item.values.push((format!("{}_ADDED", item.name), 40, Default::default()));
            "a value more"
        }
        1 if item.values.len() > 1 => {
            item.values[1].0.push_str("_RENAMED");
            "the name of a value"
        }
        2 if item.values.len() > 1 => {
            item.values[1].1 = 41;
            "the number of a value"
        }
        3 if zeros.len() > 1 => {
            item.values.swap(zeros[0], zeros[1]);
            "the order of aliases"
        }
        4 => {
            item.values[0].2.deprecated = !item.values[0].2.deprecated;
            "deprecation of a value"
        }
        5 => {
            item.reserved.insert(60);
            "a reserved number"
        }
        6 => {
            item.options.tags.push("z".to_owned());
            "a custom option of an enum"
        }
        7 if item.values.len() > 2 => {
            item.values.pop();
            "a value less"
        }
        _ => return None,
    };
    Some(what.to_owned())
}

fn change_message(message: &mut Message, kind: usize, numbers: &mut Numbers) -> Option<String> {
    let names: BTreeSet<String> =
        message.messages.iter().map(|it| it.name.to_lowercase()).collect();
    let at = numbers.below(message.fields.len());
    let is_group = matches!(message.fields[at].ty, Type::Group(_));
    assert!(!is_group || names.contains(&message.fields[at].name));
    let field = &mut message.fields[at];
    let what = match kind % 16 {
        0 => {
            field.number += 1000;
            "the number of a field"
        }
        1 if !is_group => {
            field.name.push_str("_renamed");
            "the name of a field"
        }
        2 if matches!(field.ty, Type::Scalar(_)) => {
            field.ty =
                Type::Scalar(if field.ty == Type::Scalar("sint64") { "int32" } else { "sint64" });
            "the type of a field"
        }
        3 if field.oneof.is_none() && field.cardinality != Cardinality::Map => {
            field.cardinality = match field.cardinality {
                Cardinality::Repeated => Cardinality::Explicit,
                _ => Cardinality::Repeated,
            };
            "the cardinality of a field"
        }
        4 if field.cardinality == Cardinality::Implicit => {
            field.cardinality = Cardinality::Explicit;
            "the presence of a field"
        }
        5 => {
            field.json_name = Some("another".to_owned());
            "the JSON name of a field"
        }
        6 => {
            field.options.deprecated = !field.options.deprecated;
            "deprecation of a field"
        }
        7 => {
            match &mut field.options.rules {
                Some(rules) => rules.count += 7,
                rules => *rules = Some(Rules::default()),
            }
            "a custom option of a field"
        }
        8 => {
            let rules = field.options.rules.get_or_insert_default();
            rules.list.push(9);
            "a list in a custom option"
        }
        9 if field.oneof.is_none() && field.cardinality == Cardinality::Explicit && !is_group => {
            field.oneof = Some("joined".to_owned());
            "a field joins a oneof"
        }
        10 => {
            message.reserved.insert(120);
            "a reserved number"
        }
        11 => {
            message.reserved_names.insert("older".to_owned());
            "a reserved name"
        }
        12 => {
            let mut added = field.clone();
            (added.number, added.name, added.json_name) = (2000, "added".to_owned(), None);
            if is_group {
                return None;
            }
            message.fields.push(added);
            "a field more"
        }
        13 if message.fields.len() > 1 && matches!(message.fields[at].ty, Type::Scalar(_)) => {
            message.fields.remove(at);
            "a field less"
        }
        14 => {
            message.options.tags.insert(0, "z".to_owned());
            "a custom option of a message"
        }
        15 => {
            message.options.rules.get_or_insert_default().inner = Some((0.25, true));
            "a message in a custom option"
        }
        _ => return None,
    };
    Some(what.to_owned())
}

/// What differs between two writings of the same names.
fn differing(
    old: &BTreeMap<String, Hashes>,
    new: &BTreeMap<String, Hashes>,
    hash: fn(&Hashes) -> abide_hash::SemanticHash,
) -> BTreeSet<String> {
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    old.keys().filter(|name| hash(&old[*name]) != hash(&new[*name])).cloned().collect()
}

#[test]
fn a_change_of_meaning_changes_exactly_what_it_concerns() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..SCHEMAS {
        let schema = generated(seed);
        let before = meant(&hashes(&written(&schema, seed)));
        let (nodes, services) = types(&schema);
        for kind in 0..17 {
            let mut other = schema.clone();
            let mut numbers = Numbers(seed * 100 + kind);
            let Some((what, changed)) = change(&mut other, kind as usize, &mut numbers) else {
                continue;
            };
            // Written in another way as well.
            let files = written(&other, seed + kind);
            let after = meant(&hashes(&files));
            let context = || format!("{what}: {changed:?} of seed {seed}\n{}", shown(&files));
            let name = |package: usize| format!("package {}", schema.packages[package].name);
            // Whose own elements changed.
            let (mut own, types) = match &changed {
                Changed::Package(at) => (BTreeSet::from([name(*at)]), BTreeSet::new()),
                Changed::Type(ty) => {
                    let node = &nodes[ty];
                    let mut types = BTreeSet::from([ty.clone()]);
                    types.extend(node.around.iter().cloned());
                    (BTreeSet::from([name(node.package)]), types)
                }
            };
            own.extend(types.iter().filter(|it| nodes[*it].is_message).cloned());
            assert_eq!(differing(&before, &after, |it| it.own), own, "own, {}", context());
            // Who reaches them.
            let mut closure = own.clone();
            let reaches = |from: &BTreeSet<String>| !reached(&nodes, from).is_disjoint(&types);
            for (full, node) in &nodes {
                if reaches(&BTreeSet::from([full.clone()])) {
                    closure.insert(name(node.package));
                    closure.extend(node.is_message.then(|| full.clone()));
                }
            }
            for (package, services) in services.iter().enumerate() {
                closure.extend(reaches(services).then(|| name(package)));
            }
            let found = differing(&before, &after, |it| it.closure);
            assert_eq!(found, closure, "closure, {}", context());
            *seen.entry(what).or_default() += 1;
        }
    }
    assert!(seen.len() > 20 && seen.values().all(|count| *count > 1), "{seen:#?}");
}

#[test]
fn a_file_changes_with_what_it_declares() {
    for seed in 0..SCHEMAS {
        let schema = generated(seed);
        let before = hashes(&written(&schema, seed));
        for kind in 1..17 {
            let mut other = schema.clone();
            let mut numbers = Numbers(seed * 100 + kind);
            if change(&mut other, kind as usize, &mut numbers).is_none() {
                continue;
            }
            let after = hashes(&written(&other, seed));
            let pairs: Vec<_> = before.files().zip(after.files()).collect();
            assert!(pairs.iter().all(|(old, new)| old.0 == new.0));
            let own = pairs.iter().filter(|(old, new)| old.1.own != new.1.own).count();
            assert_eq!(own, 1, "seed {seed}, change {kind}");
            let both = pairs
                .iter()
                .all(|(old, new)| old.1.own == new.1.own || old.1.closure != new.1.closure);
            assert!(both, "seed {seed}, change {kind}");
        }
    }
}

#[test]
fn hashes_set_file_by_file_in_any_order_are_those_of_the_tree() {
    for seed in 0..SCHEMAS {
        let tree = tree(&written(&generated(seed), seed));
        let files: Vec<_> = tree.files().map(|it| (it.path(), CanonicalFile::of(it))).collect();
        let wanted: Vec<_> = TreeHashes::of(&tree).packages().map(|(_, it)| Some(it)).collect();
        let rolled = |files: &mut dyn Iterator<Item = &(&str, CanonicalFile)>, at_once: bool| {
            let mut rolling = IncrementalHashes::default();
            for (path, meaning) in files {
                rolling.set(path, Some(meaning.clone()));
                if !at_once {
                    rolling.update();
                }
            }
            rolling.update();
            tree.packages().map(|it| rolling.package(it.name())).collect::<Vec<_>>()
        };
        for at_once in [true, false] {
            assert_eq!(rolled(&mut files.iter(), at_once), wanted, "seed {seed}");
            assert_eq!(rolled(&mut files.iter().rev(), at_once), wanted, "seed {seed}, backwards");
        }
    }
}
