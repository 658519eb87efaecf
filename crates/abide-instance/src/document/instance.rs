//! A text with instances: its notation, its documents, their types and values.

use abide_schema::value::{
    Codec, JsonKind, JsonNode, Message, ReadError, ReadErrorKind, Reading, UndeclaredPolicy,
    parse_json, text_comments,
};
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;

use super::document_type::{DocumentType, detect_document_type, read_header_type, read_named_type};
use super::embedded::{EmbeddedText, find_values_at};
use super::typed_struct::open_structs;
use crate::readers::yaml;
use crate::readers::{Dialect, Notation, add_yaml_hints};

/// The way to read a text, where the text itself does not say.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// The notation.
    pub notation: Notation,
    /// The type of each document; `None`: each says it, or is recognised.
    pub ty: Option<MessageId>,
    /// The dialect of a reader; `None`: that of the type.
    pub dialect: Option<Dialect>,
}

/// A text with instances, read.
#[derive(Debug, Default)]
pub struct Instance {
    /// Its documents, in their order.
    pub documents: Vec<Document>,
    /// Its comments, in their order, with the sign that begins them. Of text
    /// format and YAML.
    pub comments: Vec<Span>,
    /// The errors that hold whatever the types are.
    pub errors: Vec<ReadError>,
    /// Values that only the reader of these types takes: no errors, but other readers refuse them.
    pub leniencies: Vec<ReadError>,
}

/// One instance of a text.
#[derive(Debug)]
pub struct Document {
    /// The span.
    pub span: Span,
    /// The knowledge about its type.
    pub kind: DocumentType,
    /// Its value and what is wrong with it; nothing if its type is not known.
    pub reading: Option<Reading>,
    /// The dialect of the reader.
    pub dialect: Dialect,
}

impl Instance {
    /// Reads a text. Names that the tree does not declare are in the readings and
    /// are no errors.
    pub fn read(tree: &Tree, text: &[u8], options: ReadOptions) -> Instance {
        Instance::read_at(tree, text, "", options)
    }

    /// Reads what stands at a path in each document of a text in YAML or JSON: keys, numbers of
    /// elements and `*` for all of them, with dots between them, as in `spec.config`. A text that
    /// stands there is read as YAML, which JSON is as well. Documents without the path are passed.
    ///
    /// In text format the path names fields, and messages stand there. Bytes have no paths; of them
    /// the whole is read.
    pub fn read_at(tree: &Tree, text: &[u8], path: &str, options: ReadOptions) -> Instance {
        if text.len() > u32::MAX as usize {
            let message = "texts over four gigabytes are not supported";
            return Instance::new_malformed(Span::default(), message);
        }
        match options.notation {
            Notation::Yaml => match std::str::from_utf8(text) {
                Ok(text) => Instance::read_yaml(tree, text, path, options),
                Err(error) => {
                    let place = Span::at(error.valid_up_to() as u32);
                    Instance::new_malformed(place, "the text is not valid UTF-8")
                }
            },
            Notation::Json => Instance::read_json(tree, text, path, options),
            Notation::Text => Instance::read_text(tree, text, path, options),
            Notation::Binary => Instance::read_binary(tree, text, options),
        }
    }

    fn new_malformed(span: Span, message: impl Into<String>) -> Instance {
        let errors = vec![ReadError::new(ReadErrorKind::Syntax, span, message)];
        Instance { errors, ..Instance::default() }
    }

    fn read_yaml(tree: &Tree, text: &str, path: &str, options: ReadOptions) -> Instance {
        // What plain words mean depends on the types, which may have to be found in the text.
        let said = options.dialect.or_else(|| Some(get_dialect(tree, options.ty?)));
        let guess = || if has_envoy_types(tree) { Dialect::Envoy } else { Dialect::Protobuf };
        let mut dialect = said.unwrap_or_else(guess);
        let mut nodes = read_yaml_nodes(tree, text, path, dialect);
        if said.is_none() {
            let mut types = nodes.found.iter().filter_map(|it| it.detect_type(tree).ty());
            let found = match types.any(|ty| get_dialect(tree, ty) == Dialect::Envoy) {
                true => Dialect::Envoy,
                false => Dialect::Protobuf,
            };
            if found != dialect {
                dialect = found;
                nodes = read_yaml_nodes(tree, text, path, dialect);
            }
        }
        let YamlNodes { mut parsed, mut found } = nodes;
        if path.is_empty() && dialect == Dialect::Envoy {
            keep_first_document(tree, text, &mut parsed, &mut found, options);
        }
        // A document that is empty holds nothing to judge.
        found.retain(|it| !matches!(it.node.kind, JsonKind::Null));
        if found.is_empty() && said == Some(Dialect::Envoy) && path.is_empty() {
            let text = "the document is empty, which Envoy refuses";
            if parsed.errors.is_empty() {
                return Instance::new_malformed(Span::default(), text);
            }
        }
        let mut instance = Instance {
            documents: Vec::new(),
            comments: parsed.comments,
            errors: parsed.errors,
            leniencies: parsed.liberties,
        };
        for FoundValue { node, said } in found {
            match &node.kind {
                JsonKind::String(inner) if !path.is_empty() => {
                    instance.read_inner(tree, text, node.span, inner, options);
                }
                _ => instance.documents.push(Document::of(tree, text, node, said, options)),
            }
        }
        instance
    }

    fn read_json(tree: &Tree, text: &[u8], path: &str, options: ReadOptions) -> Instance {
        let values = |dialect: Dialect| {
            let (node, errors) = parse_json(text, dialect.mapping());
            let found = node.map_or_else(Vec::new, |node| find_values_at(node, path));
            let is_liberty = |it: &ReadError| it.kind == ReadErrorKind::Leniency;
            let (liberties, errors) = errors.into_iter().partition(is_liberty);
            (found, errors, liberties)
        };
        // The mapping depends on the type, which may have to be found in the text.
        let said = options.dialect.or_else(|| Some(get_dialect(tree, options.ty?)));
        let (mut found, mut errors, mut liberties) = values(said.unwrap_or(Dialect::Envoy));
        if said.is_none() {
            let types = found.iter().filter_map(|node| detect_document_type(tree, node).ty());
            if !{ types }.any(|ty| get_dialect(tree, ty) == Dialect::Envoy) {
                (found, errors, liberties) = values(Dialect::Protobuf);
            }
        }
        let mut instance = Instance { errors, leniencies: liberties, ..Instance::default() };
        let text = std::str::from_utf8(text).unwrap_or_default();
        for node in found {
            match &node.kind {
                JsonKind::String(inner) if !path.is_empty() => {
                    instance.read_inner(tree, text, node.span, inner, options);
                }
                _ => instance.documents.push(Document::of(tree, text, node, None, options)),
            }
        }
        instance
    }

    /// Reads a text that stands inside of another one.
    fn read_inner(
        &mut self,
        tree: &Tree,
        outer: &str,
        span: Span,
        inner: &str,
        options: ReadOptions,
    ) {
        let places = EmbeddedText::new(outer, span, inner);
        let place = |span: Span| places.to_outer(span);
        let options = ReadOptions { notation: Notation::Yaml, ..options };
        let mut instance = Instance::read_yaml(tree, inner, "", options);
        for document in &mut instance.documents {
            document.span = place(document.span);
            if let Some(reading) = &mut document.reading {
                reading.move_spans(&place);
            }
        }
        for error in instance.errors.iter_mut().chain(&mut instance.leniencies) {
            error.move_spans(&place);
        }
        self.documents.append(&mut instance.documents);
        self.errors.append(&mut instance.errors);
        self.leniencies.append(&mut instance.leniencies);
        self.comments.extend(instance.comments.into_iter().map(place));
        self.comments.sort_by_key(|it| it.start);
    }

    fn read_text(tree: &Tree, text: &[u8], path: &str, options: ReadOptions) -> Instance {
        let whole = Span { start: 0, end: text.len() as u32 };
        let codec = Codec::new(tree);
        let header = || match path {
            "" => read_header_type(tree, text),
            _ => DocumentType::Nothing,
        };
        let kind = options.ty.map_or_else(header, DocumentType::Said);
        let read = |ty| codec.read_text_at(ty, text, path, UndeclaredPolicy::Ignore);
        let readings = match kind.ty().map(read) {
            None => vec![(whole, None)],
            Some(found) => found.into_iter().map(|(span, it)| (span, Some(it))).collect(),
        };
        let documents = readings.into_iter().map(|(span, reading)| {
            let span = if path.is_empty() { whole } else { span };
            Document::read(tree, span, kind.clone(), options, |ty, dialect| {
                let mut reading =
                    reading.unwrap_or_else(|| Reading::from_message(Message::new(ty)));
                codec.open_any(&mut reading);
                open_structs(tree, dialect, &mut reading);
                reading
            })
        });
        let documents = documents.collect();
        Instance { documents, comments: text_comments(text), ..Instance::default() }
    }

    fn from_document(document: Document) -> Instance {
        Instance { documents: vec![document], ..Instance::default() }
    }

    fn read_binary(tree: &Tree, bytes: &[u8], options: ReadOptions) -> Instance {
        let span = Span { start: 0, end: bytes.len() as u32 };
        let kind = options.ty.map_or(DocumentType::Nothing, DocumentType::Said);
        let codec = Codec::new(tree);
        let decoded = options.ty.map(|ty| codec.decode(ty, bytes));
        match decoded.transpose() {
            Ok(message) => {
                Instance::from_document(Document::read(tree, span, kind, options, |ty, dialect| {
                    let mut reading =
                        Reading::from_message(message.unwrap_or_else(|| Message::new(ty)));
                    codec.open_any(&mut reading);
                    open_structs(tree, dialect, &mut reading);
                    reading
                }))
            }
            Err(error) => Instance::new_malformed(Span::at(error.offset as u32), error.message),
        }
    }
}

/// A value in a text that is an instance, and what a comment says of its type.
struct FoundValue<'t> {
    node: JsonNode<'t>,
    said: Option<DocumentType>,
}

impl FoundValue<'_> {
    fn detect_type(&self, tree: &Tree) -> DocumentType {
        self.said.clone().unwrap_or_else(|| detect_document_type(tree, &self.node))
    }
}

struct YamlNodes<'t> {
    parsed: yaml::YamlText<'t>,
    found: Vec<FoundValue<'t>>,
}

fn read_yaml_nodes<'t>(tree: &Tree, text: &'t str, path: &str, dialect: Dialect) -> YamlNodes<'t> {
    let mut parsed = yaml::parse(text, dialect);
    let headers = read_headers(tree, text, &parsed);
    let documents = std::mem::take(&mut parsed.documents).into_iter().zip(headers);
    let found = documents.flat_map(|(node, said)| {
        let said = said.filter(|_| path.is_empty());
        find_values_at(node, path)
            .into_iter()
            .map(move |node| FoundValue { node, said: said.clone() })
    });
    YamlNodes { found: found.collect(), parsed }
}

/// Of a file that Envoy itself loads, only the first document counts.
fn keep_first_document(
    tree: &Tree,
    text: &str,
    parsed: &mut yaml::YamlText<'_>,
    found: &mut Vec<FoundValue<'_>>,
    options: ReadOptions,
) {
    let Some(first) = found.first() else { return };
    let ty = options.ty.or_else(|| first.detect_type(tree).ty());
    let is_file = |ty| ["Bootstrap", "DiscoveryResponse"].contains(&tree.message(ty).name());
    if options.dialect.is_none() && !ty.is_some_and(is_file) {
        return;
    }
    // Where the next document begins: nothing else begins a line so. Errors before it are in the
    // first one.
    let start = first.node.span.start;
    let rest = text.get(start as usize..).unwrap_or_default();
    let Some(next) = rest.find("\n---").map(|at| start + at as u32 + 1) else { return };
    if parsed.errors.iter().any(|error| error.span.start < next) {
        return;
    }
    let is_first = |it: &ReadError| it.span.start < next;
    found.truncate(1);
    parsed.errors.clear();
    parsed.liberties.retain(is_first);
    let text = "Envoy reads only the first document of a file, not this one";
    let place = Span { start: next, end: next + 3 };
    parsed.liberties.push(ReadError::new(ReadErrorKind::Leniency, place, text));
}

/// The types that comments name, document by document: those between it and the one before.
fn read_headers(tree: &Tree, text: &str, parsed: &yaml::YamlText<'_>) -> Vec<Option<DocumentType>> {
    let mut comments = parsed.comments.iter().peekable();
    let headers = parsed.documents.iter().map(|node| {
        let mut said = None;
        while let Some(comment) = comments.next_if(|it| it.start < node.span.end) {
            let name = text.get(comment.range()).and_then(|it| read_named_type(it.as_bytes()));
            if comment.start <= node.span.start {
                said = said.or(name);
            }
        }
        said.map(|name| DocumentType::from_name(tree, name))
    });
    headers.collect()
}

impl Document {
    /// A document of a notation with the values of JSON, and what a comment says of its type.
    fn of(
        tree: &Tree,
        text: &str,
        mut node: JsonNode<'_>,
        said: Option<DocumentType>,
        options: ReadOptions,
    ) -> Document {
        let span = node.span;
        let codec = Codec::new(tree);
        let kind = match (options.ty, said) {
            (Some(ty), _) => DocumentType::Said(ty),
            (None, Some(said)) => said,
            (None, None) => {
                let kind = detect_document_type(tree, &node);
                if let (DocumentType::Said(ty), JsonKind::Object(members)) = (&kind, &mut node.kind)
                {
                    // It says its type as what an Any holds does.
                    members.retain(|member| member.key != "@type");
                    let value = members.iter().position(|member| member.key == "value");
                    if let Some(at) = value.filter(|_| codec.has_own_json(*ty)) {
                        node = members.swap_remove(at).value;
                    }
                }
                kind
            }
        };
        Document::read(tree, span, kind, options, |ty, dialect| {
            let mapping = dialect.mapping();
            let mut reading = codec.read_json_node_as(mapping, ty, &node, UndeclaredPolicy::Ignore);
            open_structs(tree, dialect, &mut reading);
            if options.notation == Notation::Yaml {
                add_yaml_hints(tree, text, dialect, &mut reading.errors);
            }
            reading
        })
    }

    fn read(
        tree: &Tree,
        span: Span,
        kind: DocumentType,
        options: ReadOptions,
        read: impl FnOnce(MessageId, Dialect) -> Reading,
    ) -> Document {
        let ty = kind.ty();
        let of_type = || ty.map_or(Dialect::Protobuf, |ty| get_dialect(tree, ty));
        let dialect = options.dialect.unwrap_or_else(of_type);
        Document { span, kind, reading: ty.map(|ty| read(ty, dialect)), dialect }
    }

    /// Its value, if its type is known.
    pub fn message(&self) -> Option<&Message> {
        self.reading.as_ref().map(|reading| &reading.message)
    }
}

/// Returns true if a tree has types that Envoy reads.
fn has_envoy_types(tree: &Tree) -> bool {
    tree.packages().any(|it| it.name().starts_with("envoy."))
}

fn get_dialect(tree: &Tree, ty: MessageId) -> Dialect {
    Dialect::from_type(&tree.message(ty).full_name())
}
