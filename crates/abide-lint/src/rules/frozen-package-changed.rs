use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use abide_hash::TreeHashes;
use abide_schema::{File, Package, Part, Place, Tree, encode_file};

use crate::checks::frozen_packages;
use crate::finding::{Severity, digest, package_name, package_place};
use crate::lifecycle::is_frozen;
use crate::rule::{Check, Context, Group, Rule, Sink};

pub(super) static RULE: Rule = Rule {
    id: "frozen-package-changed",
    summary: "a change in a frozen package",
    group: Group::Lifecycle,
    severity: Some(Severity::Error),
    since: "0.1.0",
    aliases: &[],
    aliases_by_case: &[],
    spares_work_in_progress: false,
    page: include_str!("frozen-package-changed.md"),
    check: Check::Baseline(check),
};

fn check<'t>(context: &Context<'t>, old: &'t Tree, sink: &mut Sink) {
    let unchanged = frozen_packages::find_unchanged(context, old);
    let was_frozen = |it: &Package<'_>| is_frozen(*it) || unchanged.contains(it.name());
    let hashes = LazyCell::new(|| [old, context.tree].map(TreeHashes::of));
    // Annotations that say how a package is released, and the order of its statements, are no part
    // of its meaning.
    let means_the_same = |name: &str| {
        let [before, after] = hashes.each_ref().map(|it| it.package(name).map(|it| it.own));
        before == after
    };
    for before in old.packages().filter(was_frozen) {
        // A package that was removed as a whole has no place in this tree.
        let Some(after) = context.tree.package_named(before.name()) else { continue };
        let Some(home) = package_place(after).filter(|_| after.is_judged()) else { continue };
        let name = before.name();
        let mut report = |place: Place, noun: &str, what: &str, how: &str, content: &[u8]| {
            let message = format!("{noun}`{what}` {how} the frozen package `{name}`");
            sink.report(place, name, what, message)
                .fact(digest(content))
                .why("users of a frozen package rely on it never changing")
                .help("undo the change here, and make it in the active major version");
        };
        for file in before.files() {
            match after.files().find(|it| it.path() == file.path()) {
                None => {
                    let content = encode_file(old, file.id, false);
                    report(home, "file ", file.path(), "was removed from", &content);
                }
                Some(new) if new.is_judged() => {
                    let (old_parts, new_parts) =
                        (split_descriptor(old, file), split_descriptor(context.tree, new));
                    // The parts of both sides: those that are new count as changed.
                    let all = old_parts.keys().chain(new_parts.keys());
                    let changed = all.filter(|key| old_parts.get(key) != new_parts.get(key));
                    let changed: BTreeSet<_> = changed.collect();
                    let Some((kind, part)) = changed.first() else { continue };
                    if means_the_same(name) {
                        continue;
                    }
                    let content: Vec<u8> = changed
                        .iter()
                        .filter_map(|key| new_parts.get(key))
                        .flatten()
                        .copied()
                        .collect();
                    let full = format!("{name}.{part}");
                    let element = new.elements().find(|it| it.full_name() == full);
                    match element.filter(|_| *kind != OPTIONS) {
                        Some(it) => report(it.place(Part::Name), "", &full, "changed in", &content),
                        None if *kind == OPTIONS => report(
                            package_name(new),
                            "options of file ",
                            new.path(),
                            "changed in",
                            &content,
                        ),
                        None => report(package_name(new), "", &full, "was removed from", &content),
                    }
                }
                Some(_) => {}
            }
        }
        for new in after.files().filter(|it| it.is_judged()) {
            if before.files().all(|file| file.path() != new.path()) {
                let content = encode_file(context.tree, new.id, false);
                report(package_name(new), "file ", new.path(), "was added to", &content);
            }
        }
    }
}

/// `FileDescriptorProto.options`.
const OPTIONS: u32 = 8;

/// The statements of a file by kind and name, as encoded descriptors: equal bytes mean the same.
/// Imports are left out because they only serve the statements, and so is the status, which may
/// change.
fn split_descriptor(tree: &Tree, file: File<'_>) -> BTreeMap<(u32, String), Vec<u8>> {
    const STATUSES: [&str; 3] = [
        "abide.annotations.v1.file_policy",
        "udpa.annotations.file_status",
        "xds.annotations.v3.file_status",
    ];
    let options = file.options().map_or(&[][..], |options| &options.entries);
    let statuses: Vec<u32> = options
        .iter()
        .map(|entry| tree.field(entry.field))
        .filter(|field| STATUSES.contains(&field.full_name().as_str()))
        .map(|field| field.number() as u32)
        .collect();
    let mut parts: BTreeMap<(u32, String), Vec<u8>> = BTreeMap::new();
    for (number, bytes) in split_records(&encode_file(tree, file.id, false)) {
        match number {
            // Messages, enums, services and extensions begin with their name.
            4..=7 => {
                let name = split_records(bytes).into_iter().find(|(number, _)| *number == 1);
                let name = name.map(|(_, name)| String::from_utf8_lossy(name).into_owned());
                parts.insert((number, name.unwrap_or_default()), bytes.to_vec());
            }
            OPTIONS => {
                for (option, value) in
                    split_records(bytes).into_iter().filter(|(it, _)| !statuses.contains(it))
                {
                    parts.entry((OPTIONS, option.to_string())).or_default().extend(value);
                }
            }
            _ => {}
        }
    }
    parts
}

/// The fields of a message that Abide encoded, without their lengths.
fn split_records(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut records = Vec::new();
    while let Some(tag) = read_varint(&mut bytes) {
        let rest = bytes;
        let length = match tag & 7 {
            0 => read_varint(&mut bytes).map(|_| rest.len() - bytes.len()),
            1 => Some(8),
            2 => read_varint(&mut bytes).map(|length| length as usize),
            5 => Some(4),
            // A group: what follows is compared as one piece.
            _ => Some(bytes.len()),
        };
        let start = if tag & 7 == 0 { rest } else { bytes };
        let Some((value, rest)) = length.and_then(|length| start.split_at_checked(length)) else {
            break;
        };
        records.push(((tag >> 3) as u32, value));
        bytes = rest;
    }
    records
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    *bytes = rest;
    Some(digits.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
}
