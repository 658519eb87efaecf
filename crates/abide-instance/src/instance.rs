//! A text with instances: its notation, its documents, their types and values.

use abide_schema::value::{
    Codec, JsonKind, JsonNode, Message, ReadError, ReadErrorKind, Reading, Undeclared, parse_json,
};
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;

use crate::kinds::{Kind, kind_of, named_in, named_in_header};
use crate::notation::{Dialect, Notation};
use crate::text_comments::text_comments;
use crate::yaml;

/// How a text is read, where the text itself does not say.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// The notation.
    pub notation: Notation,
    /// The type of each document; `None`: each says it, or is recognised.
    pub ty: Option<MessageId>,
    /// Whose reading is meant; `None`: that of the type.
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
    /// What is malformed whatever the types are.
    pub errors: Vec<ReadError>,
}

/// One instance of a text.
#[derive(Debug)]
pub struct Document {
    /// Where it stands.
    pub span: Span,
    /// What is known of its type.
    pub kind: Kind,
    /// Its value and what is wrong with it; nothing if its type is not known.
    pub reading: Option<Reading>,
    /// Whose reading it was.
    pub dialect: Dialect,
}

impl Instance {
    /// Reads a text. Names that the tree does not declare are in the readings and
    /// are no errors.
    pub fn read(tree: &Tree, text: &[u8], options: ReadOptions) -> Instance {
        if text.len() > u32::MAX as usize {
            let message = "texts over four gigabytes are not supported";
            return Instance::malformed(Span::default(), message);
        }
        match options.notation {
            Notation::Yaml => Instance::read_yaml(tree, text, options),
            Notation::Json => {
                let (node, errors) = parse_json(text);
                let documents = node.map(|node| Document::of(tree, node, None, options));
                let documents = documents.into_iter().collect();
                Instance { documents, comments: Vec::new(), errors }
            }
            Notation::Text => Instance::read_text(tree, text, options),
            Notation::Binary => Instance::read_binary(tree, text, options),
        }
    }

    fn malformed(span: Span, message: impl Into<String>) -> Instance {
        let errors = vec![ReadError::new(ReadErrorKind::Syntax, span, message)];
        Instance { errors, ..Instance::default() }
    }

    fn read_yaml(tree: &Tree, text: &[u8], options: ReadOptions) -> Instance {
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) => {
                let place = Span::at(error.valid_up_to() as u32);
                return Instance::malformed(place, "the text is not valid UTF-8");
            }
        };
        // What plain words mean depends on the types, which may have to be found in the text.
        let dialect = options.dialect.or_else(|| Some(dialect_of(tree, options.ty?)));
        let mut parsed = yaml::parse(text, dialect.unwrap_or(Dialect::Protobuf));
        if dialect.is_none() {
            let headers = headers(tree, text, &parsed);
            let types = parsed.documents.iter().zip(headers);
            let mut types =
                types.filter_map(|(node, said)| said.unwrap_or_else(|| kind_of(tree, node)).ty());
            if types.any(|ty| dialect_of(tree, ty) == Dialect::Envoy) {
                parsed = yaml::parse(text, Dialect::Envoy);
            }
        }
        let headers = headers(tree, text, &parsed);
        let documents = parsed.documents.into_iter().zip(headers);
        // A document that is empty holds nothing to judge.
        let documents = documents.filter(|(node, _)| !matches!(node.kind, JsonKind::Null));
        let documents = documents.map(|(node, said)| Document::of(tree, node, said, options));
        Instance {
            documents: documents.collect(),
            comments: parsed.comments,
            errors: parsed.errors,
        }
    }

    fn read_text(tree: &Tree, text: &[u8], options: ReadOptions) -> Instance {
        let span = Span { start: 0, end: text.len() as u32 };
        let kind = options.ty.map_or_else(|| named_in_header(tree, text), Kind::Said);
        let read = |ty| Codec::new(tree).read_text(ty, text, Undeclared::Ignore);
        let document = Document::read(tree, span, kind, options, read);
        Instance { comments: text_comments(text), ..Instance::of(document) }
    }

    fn of(document: Document) -> Instance {
        Instance { documents: vec![document], ..Instance::default() }
    }

    fn read_binary(tree: &Tree, bytes: &[u8], options: ReadOptions) -> Instance {
        let span = Span { start: 0, end: bytes.len() as u32 };
        let kind = options.ty.map_or(Kind::Nothing, Kind::Said);
        let decoded = options.ty.map(|ty| Codec::new(tree).decode(ty, bytes));
        match decoded.transpose() {
            Ok(message) => Instance::of(Document::read(tree, span, kind, options, |ty| {
                let message = message.unwrap_or_else(|| Message::new(ty));
                Reading { message, errors: Vec::new(), undeclared: Vec::new() }
            })),
            Err(error) => Instance::malformed(Span::at(error.offset as u32), error.message),
        }
    }
}

/// The types that comments name, document by document: those between it and the one before.
fn headers(tree: &Tree, text: &str, parsed: &yaml::YamlText<'_>) -> Vec<Option<Kind>> {
    let mut comments = parsed.comments.iter().peekable();
    let headers = parsed.documents.iter().map(|node| {
        let mut said = None;
        while let Some(comment) = comments.next_if(|it| it.start < node.span.end) {
            let name = text.get(comment.range()).and_then(|it| named_in(it.as_bytes()));
            if comment.start <= node.span.start {
                said = said.or(name);
            }
        }
        said.map(|name| Kind::said(tree, name))
    });
    headers.collect()
}

impl Document {
    /// A document of a notation with the values of JSON, and what a comment says of its type.
    fn of(
        tree: &Tree,
        mut node: JsonNode<'_>,
        said: Option<Kind>,
        options: ReadOptions,
    ) -> Document {
        let span = node.span;
        let codec = Codec::new(tree);
        let kind = match (options.ty, said) {
            (Some(ty), _) => Kind::Said(ty),
            (None, Some(said)) => said,
            (None, None) => {
                let kind = kind_of(tree, &node);
                if let (Kind::Said(ty), JsonKind::Object(members)) = (&kind, &mut node.kind) {
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
        let read = |ty| codec.read_json_node(ty, &node, Undeclared::Ignore);
        Document::read(tree, span, kind, options, read)
    }

    fn read(
        tree: &Tree,
        span: Span,
        kind: Kind,
        options: ReadOptions,
        read: impl FnOnce(MessageId) -> Reading,
    ) -> Document {
        let ty = kind.ty();
        let of_type = || ty.map_or(Dialect::Protobuf, |ty| dialect_of(tree, ty));
        let dialect = options.dialect.unwrap_or_else(of_type);
        Document { span, kind, reading: ty.map(read), dialect }
    }

    /// Its value, if its type is known.
    pub fn message(&self) -> Option<&Message> {
        self.reading.as_ref().map(|reading| &reading.message)
    }
}

fn dialect_of(tree: &Tree, ty: MessageId) -> Dialect {
    Dialect::of_type(&tree.message(ty).full_name())
}
