//! The checks that protoc makes beyond grammar and names.
//!
//! `lower/check.rs` looks at one file and knows its edition; these look at the
//! linked tree. The source of each check is protobuf's parser.cc
//! and descriptor.cc, in what they refuse and in what they warn about.

mod check;
mod editions;
mod enums;
mod extensions;
mod fields;
mod imports;
mod json;
mod lifetimes;
mod limits;
mod names;
mod numbers;
mod style;

use rayon::prelude::*;

use crate::decl::MessageKind;
use crate::ids::FileId;
use crate::link::resolve::NameResolver;
use crate::link::{CheckScope, ReusedFiles};
use crate::problem::Problem;
use crate::tree::{Element, Message, Tree};
use check::{FileCheck, FileProblems, SeenHashes};

/// Checks every file of a tree whose names, features and options are resolved.
/// The problems come in the order of files.
pub(crate) fn validate(
    tree: &Tree,
    resolver: &NameResolver<'_>,
    kept: &ReusedFiles,
    checked: CheckScope,
) -> Vec<Problem> {
    let mut broken = vec![false; tree.files.len()];
    for problem in tree.problems.iter().filter(|problem| problem.kind.is_error()) {
        broken[problem.place.file.0 as usize] = true;
    }
    let found: Vec<FileProblems> = (0..tree.files.len())
        .into_par_iter()
        .map_init(SeenHashes::new, |seen, index| {
            let id = FileId(index as u32);
            let linked = tree.linked(id);
            let is_asked = checked == CheckScope::All || !linked.decl.imported;
            if kept.get(index).is_some() || !is_asked || !linked.decl.edition.is_known() {
                let extensions = extensions::collect_extensions(tree.file(id));
                return FileProblems { problems: Vec::new(), extensions };
            }
            let check = FileCheck {
                tree,
                file: tree.file(id),
                decl: &linked.decl,
                linked,
                seen,
                extensions: Vec::new(),
                problems: Vec::new(),
                next_free: None,
            };
            check.run(broken[index])
        })
        .collect();
    let mut problems = names::check_across_files(tree, resolver);
    let mut extensions = Vec::new();
    for file in found {
        problems.extend(file.problems);
        extensions.extend(file.extensions);
    }
    extensions::check_numbers(tree, extensions, &mut problems);
    problems
}

impl<'a> FileCheck<'a> {
    fn run(mut self, broken: bool) -> FileProblems {
        self.check_edition();
        self.check_imports();
        self.check_package();
        let mut limited = lifetimes::Limited::default();
        if let Some(options) = self.file.options() {
            self.check_lifetimes(None, options, &mut limited);
        }
        // Related checks run together, while their data is in the cache.
        for message in self.file.all_messages() {
            self.check_message(message, &mut limited);
        }
        for field in self.file.extensions() {
            self.check_field(field, &mut limited);
        }
        for item in self.file.all_enums() {
            self.check_enum(item);
            self.check_enum_limits(item);
            self.check_options(Element::Enum(item), &mut limited);
            for value in item.values() {
                self.check_options(Element::EnumValue(value), &mut limited);
            }
        }
        for service in self.file.services() {
            self.check_method_names(service);
            self.check_methods(service);
            self.check_options(Element::Service(service), &mut limited);
            for method in service.methods() {
                self.check_options(Element::Method(method), &mut limited);
            }
        }
        self.check_style();
        let is_error = |problem: &Problem| problem.kind.is_error();
        if !broken && !self.problems.iter().any(is_error) {
            self.check_unused_imports();
        }
        FileProblems { problems: self.problems, extensions: self.extensions }
    }

    fn check_message(&mut self, message: Message<'a>, limited: &mut lifetimes::Limited) {
        if message.decl().kind == MessageKind::MapEntry {
            // A map entry is generated; only its types can be wrong.
            message.fields().for_each(|field| self.check_field(field, limited));
            return;
        }
        let alike = self.check_json_names(message);
        let decl = message.decl();
        let others = [decl.extensions, decl.oneofs, decl.messages, decl.enums];
        if alike || others.iter().any(|slice| slice.start < slice.end) {
            self.check_message_names(message);
        }
        self.check_message_numbers(message);
        self.check_message_limits(message);
        self.check_message_set(message);
        let element = Element::Message(message);
        self.check_options(element, limited);
        let ranges = &self.linked.ranges[message.decl().extension_ranges.range()];
        for options in ranges.iter().flatten() {
            self.check_lifetimes(Some(element), options, limited);
        }
        for oneof in message.oneofs() {
            self.check_options(Element::Oneof(oneof), limited);
        }
        for field in message.fields().chain(message.extensions()) {
            self.check_field(field, limited);
        }
    }
}
