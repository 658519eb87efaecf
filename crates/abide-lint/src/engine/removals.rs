//! What was removed, as a fact: accepting one removal does not accept that of another element with
//! the same name.

use std::cell::LazyCell;

use abide_hash::TreeHashes;
use abide_schema::{Element, Field, File, FileId, Message, Method, Tree, Type};

use super::old_elements::OldElements;
use crate::finding::{Finding, digest};
use crate::rule::Context;
use crate::rules;

/// Adds to each removal a digest of all that was removed.
pub(super) fn add_removal_digests(context: &Context<'_>, findings: &mut [Finding]) {
    let Some(old) = context.baseline else { return };
    let mut elements = OldElements::of(old);
    let files = find_files_of_removals(old, findings);
    let hashes = LazyCell::new(|| TreeHashes::reaching(old, &files));
    let definitions = DefinitionDigests { hashes: &|| &hashes };
    for finding in findings {
        let Some(change) = &finding.change else { continue };
        let what = match finding.rule {
            rule if rule == rules::FILE_REMOVED.id => definitions.file(&finding.element),
            rule if rule == rules::PACKAGE_REMOVED.id => definitions.package(&finding.element),
            _ => {
                let place = change.old.and_then(|it| it.old_place());
                let place = place.filter(|_| change.gone.is_some());
                place.and_then(|it| elements.at(it)).map(|it| definitions.element(it))
            }
        };
        finding.facts.extend(what.map(|it| digest(&it)));
    }
}

/// The old files that removals are about.
fn find_files_of_removals(old: &Tree, findings: &[Finding]) -> Vec<FileId> {
    let of_finding = |finding: &Finding| -> Vec<FileId> {
        let Some(change) = &finding.change else { return Vec::new() };
        let named = |it: &File<'_>| match finding.rule {
            rule if rule == rules::FILE_REMOVED.id => *it.decl().display == *finding.element,
            rule if rule == rules::PACKAGE_REMOVED.id => it.package().name() == finding.element,
            _ => false,
        };
        let of_whole = [rules::FILE_REMOVED.id, rules::PACKAGE_REMOVED.id].contains(&finding.rule);
        let place = change.old.and_then(|it| it.old_place()).filter(|_| change.gone.is_some());
        match place {
            _ if of_whole => old.files().filter(named).map(|it| it.id).collect(),
            place => place.map(|it| it.file).into_iter().collect(),
        }
    };
    findings.iter().flat_map(of_finding).collect()
}

/// What elements of a tree mean, with all that they reach, as texts to compare.
struct DefinitionDigests<'a> {
    hashes: &'a dyn Fn() -> &'a TreeHashes,
}

impl DefinitionDigests<'_> {
    fn file(&self, path: &str) -> Option<String> {
        (self.hashes)().file(path).map(|it| it.closure.to_string())
    }

    fn package(&self, name: &str) -> Option<String> {
        (self.hashes)().package(name).map(|it| it.closure.to_string())
    }

    fn element(&self, element: Element<'_>) -> String {
        match element {
            Element::Message(message) => self.message(Some(message)),
            Element::Enum(it) => self.named(&it.full_name()),
            Element::Field(field) => self.field(field),
            Element::Oneof(oneof) => {
                oneof.fields().map(|it| format!("{} {}\n", it.number(), self.field(it))).collect()
            }
            // Its number and its name are facts of their own.
            Element::EnumValue(value) => value.number().to_string(),
            Element::Method(method) => self.method(method),
            Element::Service(service) => {
                service.methods().map(|it| format!("{} {}\n", it.name(), self.method(it))).collect()
            }
        }
    }

    fn field(&self, field: Field<'_>) -> String {
        let ty = match (field.ty(), field.message_type(), field.enum_type()) {
            (_, Some(message), _) => self.message(Some(message)),
            (_, _, Some(it)) => self.named(&it.full_name()),
            (Type::Scalar(scalar), ..) => scalar.keyword().to_owned(),
            _ => "?".to_owned(),
        };
        let extendee = field.extendee().map(Message::full_name).unwrap_or_default();
        format!("{:?} {:?} {ty} {extendee}", field.cardinality(), field.presence())
    }

    fn method(&self, method: Method<'_>) -> String {
        let (input, output) = (self.message(method.input()), self.message(method.output()));
        let decl = method.decl();
        let streams = [decl.client_streaming, decl.server_streaming];
        format!("{input} {output} {streams:?}")
    }

    fn message(&self, message: Option<Message<'_>>) -> String {
        message.map_or_else(|| "?".to_owned(), |it| self.named(&it.full_name()))
    }

    fn named(&self, full_name: &str) -> String {
        let hashes = (self.hashes)().of_type(full_name);
        hashes.map_or_else(|| full_name.to_owned(), |it| it.closure.to_string())
    }
}
