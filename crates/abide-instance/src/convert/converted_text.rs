//! A text whose instances are carried to another version.

use abide_schema::value::Reading;
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;

use super::translator::{Change, Loss, Translated, Translator};
use super::type_mapping::Way;
use crate::document::Kind;
use crate::rewrite::{Rewritten, Source};
use crate::{Dialect, Instance, Notation, ReadOptions};

/// A text after its instances were carried.
#[derive(Debug)]
pub struct Carried {
    /// What was read, in the versions that the documents are of.
    pub instance: Instance,
    /// What became of the documents that could be read without an error.
    pub documents: Vec<CarriedDocument>,
    /// The new text. Of a text with errors there is none.
    pub text: Option<Vec<u8>>,
    /// What people should know about places of the text, as lower-case phrases.
    pub notes: Vec<(Span, String)>,
}

/// What became of a document.
#[derive(Debug)]
pub struct CarriedDocument {
    /// Where it stands.
    pub span: Span,
    /// The type that it had.
    pub old: MessageId,
    /// The type that it has.
    pub new: MessageId,
    /// What has no place in the new version.
    pub losses: Vec<Loss>,
    /// What changed.
    pub changes: Vec<Change>,
}

/// The way of a value: the one that is asked for, else one major down.
fn way_of(translator: &Translator<'_>, way: Option<&Way>, ty: MessageId) -> Option<Way> {
    way.cloned().or_else(|| translator.major_before(ty).map(Way::Down))
}

/// Carries the instances of a text. Without a way, each goes down by one major.
///
/// # Errors
/// An error of Abide itself: the new text would not say what it should, so there is none.
pub fn carry_text(
    tree: &Tree,
    translator: &Translator<'_>,
    text: &[u8],
    options: ReadOptions,
    way: Option<&Way>,
) -> Result<Carried, String> {
    let instance = read(tree, translator, text, options, way);
    let is_known = |reading: &Option<Reading>| {
        reading.as_ref().is_some_and(|it| it.errors.is_empty() && it.undeclared.is_empty())
    };
    let is_whole =
        instance.errors.is_empty() && instance.documents.iter().all(|it| is_known(&it.reading));
    let mut carried = Carried { instance, documents: Vec::new(), text: None, notes: Vec::new() };
    if !is_whole {
        return Ok(carried);
    }
    let structs_are_json = matches!(options.notation, Notation::Yaml | Notation::Json);
    let mut values: Vec<(Span, MessageId, Translated)> = Vec::new();
    for document in &carried.instance.documents {
        let Some(value) = document.message() else { continue };
        let translated = match way_of(translator, way, value.ty) {
            Some(way) => translator.translate(value, &way, structs_are_json),
            None => Translated { message: value.clone(), losses: vec![], changes: vec![] },
        };
        if !translator.is_known(&translated.message) && translated.losses.is_empty() {
            let name = tree.message(translated.message.ty).full_name();
            return Err(format!("the new `{name}` holds fields that its type does not have"));
        }
        values.push((document.span, value.ty, translated));
    }
    let old = carried.instance.documents.iter().filter_map(crate::Document::message);
    let rewritten: Vec<Rewritten<'_>> = values
        .iter()
        .zip(old)
        .map(|((span, _, it), old)| Rewritten { span: *span, old, new: &it.message })
        .collect();
    let is_envoy = |document: &crate::Document| document.dialect == Dialect::Envoy;
    let is_envoy = carried.instance.documents.iter().any(is_envoy);
    let dialect = if is_envoy { Dialect::Envoy } else { Dialect::Protobuf };
    let versions = |ty| translator.versions(ty);
    let source = Source { tree, text, notation: options.notation, dialect, versions: &versions };
    if rewritten.iter().all(|it| it.old == it.new) {
        carried.text = Some(text.to_vec());
    } else {
        let written = source.rewrite(&rewritten)?;
        carried.text = Some(written.text);
        carried.notes = written.notes;
    }
    if !matches!(way, Some(Way::Down(_)) | None) {
        let changes = values.iter().flat_map(|(_, _, it)| &it.changes);
        let left_out = changes.filter(|it| it.new.is_empty() && !it.span.is_empty());
        let note = |it: &Change| {
            (it.span, format!("`{}` is left out: it means nothing in the newer version", it.old))
        };
        carried.notes.extend(left_out.map(note));
        carried.notes.sort_by_key(|(span, _)| span.start);
    }
    carried.documents = values
        .into_iter()
        .map(|(span, old, it)| CarriedDocument {
            span,
            old,
            new: it.message.ty,
            losses: it.losses,
            changes: it.changes,
        })
        .collect();
    Ok(carried)
}

/// Reads a text, each document in the version that it is of.
fn read(
    tree: &Tree,
    translator: &Translator<'_>,
    text: &[u8],
    options: ReadOptions,
    way: Option<&Way>,
) -> Instance {
    let mut instance = Instance::read(tree, text, options);
    if options.ty.is_some() {
        return instance;
    }
    for at in 0..instance.documents.len() {
        let Kind::Recognised(ty) = instance.documents[at].kind else { continue };
        // Nobody says the version: it is the one that fits best, and of those that fit the one that
        // has the longest way.
        let mut versions = translator.versions(ty);
        if !matches!(way, Some(Way::Up(_))) {
            versions.reverse();
        }
        let read = |ty: &MessageId| {
            let options = ReadOptions { ty: Some(*ty), ..options };
            Instance::read(tree, text, options).documents.into_iter().nth(at)
        };
        let faults = |document: &crate::Document| {
            document.reading.as_ref().map_or(usize::MAX, |it| it.errors.len() + it.undeclared.len())
        };
        if let Some(best) = versions.iter().filter_map(read).min_by_key(faults) {
            instance.documents[at] = best;
        }
    }
    instance
}
