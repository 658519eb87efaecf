//! Statements that the grammar allows but an edition does not.
//!
//! The parser accepts the union of all editions. These checks are those of
//! protobuf's own parser (parser.cc) that depend on the edition or on what
//! encloses a statement. They look at one file alone.

use abide_syntax::{
    Ast, Decl, DeclId, DeclKind, FieldLabel, FieldNode, ImportKind, RangeEnd, RangeNode, Span,
    unescape_all,
};

use crate::decl::{FileDecl, FileText, LocalProblem};
use crate::problem::ProblemKind;
use crate::protobuf::Edition;

/// Checks the statements of a file and adds what it finds to its problems.
pub(crate) fn check(decl: &mut FileDecl) {
    let Some(ast) = decl.ast() else { return };
    let text = decl.strings.text();
    let mut check = SyntaxRules { ast, text, edition: decl.edition, problems: Vec::new() };
    if decl.syntax.is_none() && !decl.imported {
        let message = "no `syntax` or `edition`; read as proto2";
        let help = "start the file with `syntax = \"proto2\";`";
        let place = Span::new(ast.span.start, ast.span.start);
        check.report(ProblemKind::Warning, place, message).help = Some(help.to_owned());
    }
    check.walk();
    let found = check.problems;
    decl.problems.extend(found);
}

#[derive(Clone, Copy, PartialEq)]
enum EnclosingScope {
    File,
    Message,
    Enum,
    Oneof,
    Extend,
    Other,
}

struct SyntaxRules<'a> {
    ast: &'a Ast,
    text: &'a FileText,
    edition: Edition,
    problems: Vec<LocalProblem>,
}

impl<'a> SyntaxRules<'a> {
    fn report(
        &mut self,
        kind: ProblemKind,
        span: Span,
        message: impl Into<String>,
    ) -> &mut LocalProblem {
        let (labels, help) = (Vec::new(), None);
        self.problems.push(LocalProblem { kind, span, message: message.into(), labels, help });
        self.problems.last_mut().expect("a problem was just pushed")
    }

    fn is_editions(&self) -> bool {
        self.edition.is_edition()
    }

    fn walk(&mut self) {
        let ast = self.ast;
        let mut blocks: Vec<(DeclId, EnclosingScope)> = Vec::new();
        let mut option_import = None;
        for (id, decl) in (0..).zip(&ast.decls) {
            while blocks.last().is_some_and(|&(end, _)| end <= id) {
                blocks.pop();
            }
            let inside = blocks.last().map_or(EnclosingScope::File, |&(_, inside)| inside);
            let opens = match decl.kind {
                DeclKind::Field(field) => {
                    self.check_field(decl, field, inside);
                    EnclosingScope::Message
                }
                DeclKind::MapField(map) => {
                    let map = ast.maps[map as usize];
                    self.map_field(map.label.map(|label| label.span(decl)), map.ty, inside);
                    EnclosingScope::Other
                }
                DeclKind::Message { visibility, name, .. } => {
                    self.check_visibility(visibility.map(|(_, span)| span), name);
                    EnclosingScope::Message
                }
                DeclKind::Enum { visibility, name, .. } => {
                    self.check_visibility(visibility.map(|(_, span)| span), name);
                    EnclosingScope::Enum
                }
                DeclKind::Oneof { name, .. } => {
                    self.check_not_empty(id, decl, ProblemKind::OneofInvalid, name, "oneof");
                    EnclosingScope::Oneof
                }
                DeclKind::Extend { extendee, .. } => {
                    self.check_not_empty(
                        id,
                        decl,
                        ProblemKind::ExtensionInvalid,
                        extendee,
                        "extend",
                    );
                    EnclosingScope::Extend
                }
                DeclKind::Import { kind, modifier, .. } => {
                    self.import(decl, kind, modifier, &mut option_import);
                    EnclosingScope::Other
                }
                DeclKind::ReservedNames { names, quoted } => {
                    self.check_reserved_names(&ast.ranges[names.range()], quoted);
                    EnclosingScope::Other
                }
                DeclKind::ReservedNumbers { ranges } if inside == EnclosingScope::Message => {
                    self.check_positive(&ast.ranges[ranges.range()]);
                    EnclosingScope::Other
                }
                DeclKind::Extensions { ranges, .. } => {
                    self.check_positive(&ast.ranges[ranges.range()]);
                    EnclosingScope::Other
                }
                DeclKind::Option(option) => {
                    let option = &ast.options[option as usize];
                    if inside == EnclosingScope::Message
                        && option.name.of(self.text) == b"map_entry"
                    {
                        let message = "`map_entry` cannot be set";
                        self.report(ProblemKind::OptionInvalid, option.name, message).help =
                            Some("declare a field of type `map<…, …>`".to_owned());
                    }
                    if inside == EnclosingScope::Extend {
                        let message = "`extend` cannot have options";
                        self.report(ProblemKind::Syntax, decl.span, message);
                    }
                    EnclosingScope::Other
                }
                DeclKind::Empty
                    if matches!(inside, EnclosingScope::Oneof | EnclosingScope::Extend) =>
                {
                    let message = "expected a field, found `;`";
                    self.report(ProblemKind::Syntax, decl.span, message);
                    EnclosingScope::Other
                }
                _ => EnclosingScope::Other,
            };
            if decl.end > id + 1 {
                blocks.push((decl.end, opens));
            }
        }
    }

    fn check_field(&mut self, decl: &Decl, field: FieldNode, inside: EnclosingScope) {
        let name = self.text.str(field.name);
        let is_group = field.group.is_some();
        match field.label.map(|label| (label, label.span(decl))) {
            Some((_, span)) if inside == EnclosingScope::Oneof => {
                let message = format!("the field `{name}` of a oneof cannot have a label");
                self.report(ProblemKind::FieldInvalid, span, message).help =
                    Some("remove the label".to_owned());
            }
            None if self.edition == Edition::Proto2 && inside != EnclosingScope::Oneof => {
                let message = format!("the field `{name}` has no label");
                self.report(ProblemKind::FieldInvalid, field.ty.to(field.name), message).help =
                    Some("write `optional`, `repeated` or `required` before its type".to_owned());
            }
            Some((FieldLabel::Required, span)) if self.edition == Edition::Proto3 => {
                let message = "`required` does not exist in proto3";
                self.report(ProblemKind::FieldInvalid, span, message).help =
                    Some("remove it".to_owned());
            }
            Some((FieldLabel::Required, span)) if self.is_editions() => {
                let message = "`required` does not exist in editions";
                self.report(ProblemKind::FieldInvalid, span, message).help =
                    Some("set `features.field_presence = LEGACY_REQUIRED`".to_owned());
            }
            Some((FieldLabel::Optional, span)) if self.is_editions() => {
                let message = "`optional` does not exist in editions";
                self.report(ProblemKind::FieldInvalid, span, message).help = Some(
                    "remove it: singular fields have presence unless \
                     `features.field_presence` says otherwise"
                        .to_owned(),
                );
            }
            _ => {}
        }
        if field.ty.of(self.text) != b"group" {
            return;
        }
        if self.is_editions() {
            let message = "groups do not exist in editions";
            self.report(ProblemKind::FieldInvalid, field.ty, message).help =
                Some("declare a message and set `features.message_encoding = DELIMITED`".into());
        } else if self.edition == Edition::Proto3 {
            let message = "groups do not exist in proto3";
            self.report(ProblemKind::FieldInvalid, field.ty, message).help =
                Some("declare a message and a field of its type".to_owned());
        }
        if !is_group {
            let message = format!("the group `{name}` has no `{{ … }}`");
            self.report(ProblemKind::Syntax, Span::at(decl.span.end), message);
        }
        if !field.name.of(self.text).first().is_some_and(u8::is_ascii_uppercase) {
            let message = format!("the group `{name}` does not begin with a capital letter");
            self.report(ProblemKind::FieldInvalid, field.name, message).help =
                Some("capitalize it: it also names the message of the group".to_owned());
        }
    }

    fn map_field(&mut self, label: Option<Span>, ty: Span, inside: EnclosingScope) {
        let (span, message, help) = match (inside, label) {
            (EnclosingScope::Oneof, _) => {
                (ty, "a map cannot be a member of a oneof", "put it into a message")
            }
            (_, Some(label)) => (label, "a map field cannot have a label", "remove the label"),
            (EnclosingScope::Extend, _) => {
                (ty, "a map cannot be an extension", "put it into a message and use that instead")
            }
            _ => return,
        };
        self.report(ProblemKind::FieldInvalid, span, message).help = Some(help.to_owned());
    }

    fn check_visibility(&mut self, keyword: Option<Span>, name: Span) {
        let Some(span) = keyword else { return };
        if self.edition < Edition::Edition2024 {
            let word = self.text.str(span);
            let message =
                format!("`{word}` before `{}` requires edition 2024", self.text.str(name));
            self.report(ProblemKind::Syntax, span, message).help =
                Some("remove it: everything is visible to importers".to_owned());
        }
    }

    fn check_not_empty(
        &mut self,
        id: DeclId,
        decl: &Decl,
        kind: ProblemKind,
        name: Span,
        what: &str,
    ) {
        let has_field = |child| {
            let kind = self.ast.decls[child as usize].kind;
            matches!(kind, DeclKind::Field(_) | DeclKind::MapField(_) | DeclKind::Error)
        };
        if !self.ast.children_of(Some(id)).any(has_field) {
            let message = format!("`{what} {}` has no fields", self.text.str(name));
            let head = Span::new(decl.span.start, name.end);
            self.report(kind, head, message).help = Some("add a field or remove it".to_owned());
        }
    }

    fn import(
        &mut self,
        decl: &Decl,
        kind: ImportKind,
        modifier: Span,
        option_import: &mut Option<Span>,
    ) {
        match kind {
            ImportKind::Option => {
                if self.edition < Edition::Edition2024 {
                    let message = "`import option` requires edition 2024";
                    self.report(ProblemKind::ImportInvalid, modifier, message).help =
                        Some("write `import`".to_owned());
                }
                option_import.get_or_insert(decl.span);
                return;
            }
            ImportKind::Weak if self.edition >= Edition::Edition2024 => {
                let message = "`import weak` was removed in edition 2024";
                self.report(ProblemKind::ImportInvalid, modifier, message).help =
                    Some("write `import`, or `import option` if only its options are used".into());
            }
            ImportKind::Weak | ImportKind::Plain | ImportKind::Public => {}
        }
        if let Some(first) = *option_import {
            let message = "an import follows an `import option`";
            let problem = self.report(ProblemKind::ImportInvalid, decl.span, message);
            problem.labels.push((first, "the first `import option`".to_owned()));
            problem.help = Some("move it before the first `import option`".to_owned());
        }
    }

    fn check_reserved_names(&mut self, names: &[RangeNode], quoted: bool) {
        let Some(first) = names.first() else { return };
        if quoted && self.is_editions() {
            let message = "reserved names have no quotes in editions";
            self.report(ProblemKind::Syntax, first.span, message).help =
                Some("remove the quotes".to_owned());
        } else if !quoted && !self.is_editions() {
            let message = "reserved names must be in quotes";
            self.report(ProblemKind::Syntax, first.span, message).help =
                Some(format!("write `\"{}\"`", self.text.str(first.span)));
        }
        if !quoted {
            return;
        }
        for name in names {
            let raw = name.span.of(self.text);
            let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
            if is_identifier(inner) {
                continue;
            }
            if let Ok(value) = unescape_all(self.text, name.span)
                && !is_identifier(&value)
            {
                let message = format!(
                    "the reserved name `{}` is not a valid name",
                    String::from_utf8_lossy(&value)
                );
                self.report(ProblemKind::Warning, name.span, message).help =
                    Some("remove it: no element can have this name".to_owned());
            }
        }
    }

    /// Reports negative numbers of fields; those of enum values may be negative.
    fn check_positive(&mut self, ranges: &[RangeNode]) {
        for range in ranges {
            let end = match range.end {
                RangeEnd::Number(span) => span,
                RangeEnd::Single | RangeEnd::Max(_) => range.start,
            };
            if [range.start, end].iter().any(|span| span.of(self.text).starts_with(b"-")) {
                let message = "field numbers must be positive";
                self.report(ProblemKind::NumberInvalid, range.span, message);
            }
        }
    }
}

fn is_identifier(name: &[u8]) -> bool {
    name.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
