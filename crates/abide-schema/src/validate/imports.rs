//! Imports: twice, unused, or of files that may not be imported.

use abide_syntax::{ImportKind, KeyForm, ValueKind};

use crate::decl::{FileDecl, Parent, Part, RawOptions};
use crate::ids::FileId;
use crate::problem::ProblemKind;
use crate::symbol::Wanted;
use crate::tree::LinkedFile;

use super::{Check, written};

impl<'a> Check<'a> {
    pub(super) fn imports(&mut self) {
        let file: &'a FileDecl = self.decl;
        let mut sorted: Vec<(&str, usize)> =
            file.imports.iter().enumerate().map(|(at, import)| (&*import.path, at)).collect();
        sorted.sort_unstable();
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let first = &file.imports[group[0].1];
            for &(path, at) in &group[1..] {
                let span = self.span(file.imports[at].node, Part::Whole);
                let label =
                    (self.place(self.span(first.node, Part::Whole)), "the first import".to_owned());
                let text = format!("`{path}` is imported twice");
                let problem = self.report_file(ProblemKind::ImportInvalid, span, text);
                problem.labels.push(label);
                problem.help = Some("remove one of the imports".to_owned());
            }
        }
        if !is_lite(file) {
            self.lite_imports();
        }
    }

    /// Source: `DescriptorBuilder::ValidateOptions` for files.
    fn lite_imports(&mut self) {
        for (import, link) in self.decl.imports.iter().zip(&self.linked.imports) {
            let Some(target) = link.file else { continue };
            if import.kind != ImportKind::Option && is_lite(&self.tree.linked(target).decl) {
                let span = self.span(import.node, Part::Name);
                let text = format!("`{}` is lite and this file is not", import.path);
                self.report_file(ProblemKind::ImportInvalid, span, text).help =
                    Some("set `option optimize_for = LITE_RUNTIME;` in both or none".to_owned());
                return;
            }
        }
    }

    /// Imports that nothing needs, as protoc judges them: a public import and
    /// the import of a file with public imports always count as used. Source:
    /// `unused_dependency_` of protobuf's `DescriptorBuilder`.
    pub(super) fn unused_imports(&mut self) {
        let file: &'a FileDecl = self.decl;
        if file.imported {
            return;
        }
        let linked: &'a LinkedFile = self.linked;
        let has_public = |target: FileId| {
            let target = &self.tree.linked(target).decl;
            target.imports.iter().any(|import| import.kind == ImportKind::Public)
        };
        let candidates: Vec<_> = file
            .imports
            .iter()
            .zip(&linked.imports)
            .filter(|(import, link)| !link.used && import.kind != ImportKind::Public)
            .filter_map(|(import, link)| Some((import, link.file?)))
            .filter(|&(_, target)| !has_public(target))
            .collect();
        if candidates.is_empty() {
            return;
        }
        let used = self.option_uses();
        for (import, target) in candidates {
            if used.binary_search(&target).is_ok() {
                continue;
            }
            let span = self.span(import.node, Part::Whole);
            let text = format!("the import of `{}` is unused", import.path);
            self.report_file(ProblemKind::ImportUnused, span, text).help =
                Some("remove it".to_owned());
        }
    }

    /// The files of the extensions that options of this file name, sorted.
    fn option_uses(&self) -> Vec<FileId> {
        let file: &'a FileDecl = self.decl;
        let Some(ast) = file.ast() else { return Vec::new() };
        let text: &[u8] = file.strings.text();
        let mut used = Vec::new();
        let mut name = |parent: Parent, name: &str| {
            if let Ok(symbol) = self.linker.resolve(self.file.id, parent, name, Wanted::Any) {
                used.extend(symbol.file());
            }
        };
        let mut any = false;
        let mut element = |parent: Parent, options: RawOptions| {
            for (option, parts) in written::options(file, options) {
                any = true;
                for part in parts.iter().filter(|part| part.extension) {
                    name(parent, &abide_syntax::dotted_name(text, part.name));
                }
                let value = option.value as usize;
                for node in &ast.values[value..ast.values[value].end as usize] {
                    if let ValueKind::Field { key, form } = node.kind
                        && form != KeyForm::Field
                    {
                        let key = abide_syntax::dotted_name(text, key);
                        let key = key.trim_matches(['[', ']']);
                        name(parent, key.rsplit('/').next().unwrap_or(key));
                    }
                }
            }
        };
        element(Parent::File, file.options);
        for message in &file.messages {
            element(message.parent, message.options);
            let ranges = &file.ranges[message.extension_ranges.range()];
            ranges.iter().for_each(|range| element(message.parent, range.options));
        }
        file.fields.iter().for_each(|field| element(field.parent, field.options));
        for oneof in &file.oneofs {
            element(Parent::Message(oneof.message), oneof.options);
        }
        file.enums.iter().for_each(|item| element(item.parent, item.options));
        for value in &file.values {
            element(file.enums[value.parent as usize].parent, value.options);
        }
        file.services.iter().for_each(|service| element(Parent::File, service.options));
        file.methods.iter().for_each(|method| element(Parent::File, method.options));
        // Every option needs the file that declares the options.
        if any {
            let descriptor = self.linked.imports.iter().filter_map(|import| import.file);
            used.extend(descriptor.filter(|&target| {
                &*self.tree.linked(target).decl.path == crate::link::DESCRIPTOR_PROTO
            }));
        }
        used.sort_unstable();
        used
    }
}

/// Source: `IsLite` of protobuf's descriptor.cc.
pub(super) fn is_lite(file: &FileDecl) -> bool {
    written::setting(file, file.options, "optimize_for")
        .is_some_and(|setting| setting.value == b"LITE_RUNTIME")
}
