//! A text whose instances are carried to another version.

use abide_schema::value::Reading;
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;

use super::type_mapping::Direction;
use super::version_converter::{
    ConversionChange, ConversionLoss, ConvertedValue, VersionConverter,
};
use crate::document::DocumentType;
use crate::rewrite::{RewriteSource, RewrittenDocument};
use crate::{Dialect, Instance, Notation, ReadOptions};

/// A text after its instances were carried.
#[derive(Debug)]
pub struct ConvertedText {
    /// The documents as read, in the versions that they are of.
    pub instance: Instance,
    /// The results of the documents that could be read without an error.
    pub documents: Vec<ConvertedDocument>,
    /// The new text. Of a text with errors there is none.
    pub text: Option<Vec<u8>>,
    /// Notes about positions of the text, as lower-case phrases.
    pub notes: Vec<(Span, String)>,
}

/// The result of converting a document.
#[derive(Debug)]
pub struct ConvertedDocument {
    /// The span of the document.
    pub span: Span,
    /// The type that it had.
    pub old: MessageId,
    /// The type that it has.
    pub new: MessageId,
    /// The parts without a counterpart in the new version.
    pub losses: Vec<ConversionLoss>,
    /// The changes.
    pub changes: Vec<ConversionChange>,
}

/// The way of a value: the one that is asked for, else one major down.
fn find_direction(
    translator: &VersionConverter<'_>,
    way: Option<&Direction>,
    ty: MessageId,
) -> Option<Direction> {
    way.cloned().or_else(|| translator.find_previous_major(ty).map(Direction::Down))
}

/// Carries the instances of a text. Without a way, each goes down by one major.
///
/// # Errors
/// An error of Abide itself: the new text would not say what it should, so there is none.
pub fn convert_text(
    tree: &Tree,
    translator: &VersionConverter<'_>,
    text: &[u8],
    options: ReadOptions,
    way: Option<&Direction>,
) -> Result<ConvertedText, String> {
    let instance = read_in_best_versions(tree, translator, text, options, way);
    let is_known = |reading: &Option<Reading>| {
        reading.as_ref().is_some_and(|it| it.errors.is_empty() && it.undeclared.is_empty())
    };
    let is_whole =
        instance.errors.is_empty() && instance.documents.iter().all(|it| is_known(&it.reading));
    let mut carried =
        ConvertedText { instance, documents: Vec::new(), text: None, notes: Vec::new() };
    if !is_whole {
        return Ok(carried);
    }
    let structs_are_json = matches!(options.notation, Notation::Yaml | Notation::Json);
    let mut values: Vec<(Span, MessageId, ConvertedValue)> = Vec::new();
    for document in &carried.instance.documents {
        let Some(value) = document.message() else { continue };
        let translated = match find_direction(translator, way, value.ty) {
            Some(way) => translator.convert(value, &way, structs_are_json),
            None => ConvertedValue { message: value.clone(), losses: vec![], changes: vec![] },
        };
        let is_broken = !translator.is_known(&translated.message) && translator.is_known(value);
        if is_broken && translated.losses.is_empty() {
            let name = tree.message(translated.message.ty).full_name();
            return Err(format!("the new `{name}` holds fields that its type does not have"));
        }
        values.push((document.span, value.ty, translated));
    }
    let old = carried.instance.documents.iter().filter_map(crate::Document::message);
    let rewritten: Vec<RewrittenDocument<'_>> = values
        .iter()
        .zip(old)
        .map(|((span, _, it), old)| RewrittenDocument { span: *span, old, new: &it.message })
        .collect();
    let is_envoy = |document: &crate::Document| document.dialect == Dialect::Envoy;
    let is_envoy = carried.instance.documents.iter().any(is_envoy);
    let dialect = if is_envoy { Dialect::Envoy } else { Dialect::Protobuf };
    let versions = |ty| translator.collect_versions(ty);
    let source =
        RewriteSource { tree, text, notation: options.notation, dialect, versions: &versions };
    if rewritten.iter().all(|it| it.old == it.new) {
        carried.text = Some(text.to_vec());
    } else {
        let written = source.rewrite(&rewritten)?;
        carried.text = Some(written.text);
        carried.notes = written.notes;
    }
    if !matches!(way, Some(Direction::Down(_)) | None) {
        let changes = values.iter().flat_map(|(_, _, it)| &it.changes);
        let left_out = changes.filter(|it| it.new.is_empty() && !it.span.is_empty());
        let note = |it: &ConversionChange| {
            (it.span, format!("`{}` is left out: it means nothing in the newer version", it.old))
        };
        carried.notes.extend(left_out.map(note));
        carried.notes.sort_by_key(|(span, _)| span.start);
    }
    carried.documents = values
        .into_iter()
        .map(|(span, old, it)| ConvertedDocument {
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
fn read_in_best_versions(
    tree: &Tree,
    translator: &VersionConverter<'_>,
    text: &[u8],
    options: ReadOptions,
    way: Option<&Direction>,
) -> Instance {
    let mut instance = Instance::read(tree, text, options);
    if options.ty.is_some() {
        return instance;
    }
    for at in 0..instance.documents.len() {
        let DocumentType::Recognised(ty) = instance.documents[at].kind else { continue };
        // Nobody says the version: it is the one that fits best, and of those that fit the one that
        // has the longest way.
        let mut versions = translator.collect_versions(ty);
        if !matches!(way, Some(Direction::Up(_))) {
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
