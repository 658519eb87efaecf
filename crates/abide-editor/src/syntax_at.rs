//! What could be written at an offset of a text, by the tokens before it. The text need not be
//! well-formed there: it is being written.

use abide_syntax::{Lexer, Span, Token, TokenKind, find_comments};

/// What encloses a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Message(String),
    Enum(String),
    Service,
    Extend,
    Oneof,
    Method,
    /// The value of an option or of a key in one, and the key.
    Value(String),
}

/// What an option is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optioned {
    File,
    Message,
    Field,
    Oneof,
    Enum,
    EnumValue,
    Service,
    Method,
    ExtensionRange,
}

impl Optioned {
    /// The message of descriptor.proto that holds its options.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Optioned::File => "google.protobuf.FileOptions",
            Optioned::Message => "google.protobuf.MessageOptions",
            Optioned::Field => "google.protobuf.FieldOptions",
            Optioned::Oneof => "google.protobuf.OneofOptions",
            Optioned::Enum => "google.protobuf.EnumOptions",
            Optioned::EnumValue => "google.protobuf.EnumValueOptions",
            Optioned::Service => "google.protobuf.ServiceOptions",
            Optioned::Method => "google.protobuf.MethodOptions",
            Optioned::ExtensionRange => "google.protobuf.ExtensionRangeOptions",
        }
    }
}

/// What could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The path of an import.
    Import,
    /// A statement of the file or of a block; in a message also a type.
    Statement,
    /// A type; of a method a message.
    Type { only_messages: bool },
    /// The key type of a map.
    MapKey,
    /// The number of a field or enum value.
    Number,
    /// The name of an option.
    OptionName(Optioned),
    /// The value of an option with this name, or of keys in its value.
    OptionValue(Optioned, Vec<String>),
    /// A key in the value of an option, below these keys.
    OptionKey(Optioned, Vec<String>),
}

/// A place in a text, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxAt {
    pub(crate) wanted: Wanted,
    /// The blocks around it, the innermost last.
    pub(crate) blocks: Vec<Block>,
    /// The word before the offset, all components of a dotted name included.
    pub(crate) word: Span,
}

impl SyntaxAt {
    /// What could be written at an offset; nothing in a comment or in most strings.
    pub(crate) fn of(text: &[u8], offset: u32) -> Option<SyntaxAt> {
        let (tokens, in_string) = tokens_before(text, offset)?;
        let word = match in_string {
            Some(string) => Span::new((string.start + 1).min(offset), offset),
            None => word_before(text, &tokens, offset),
        };
        let tokens: Vec<Token> =
            tokens.into_iter().filter(|it| it.span.start < word.start).collect();
        let mut places = Places::default();
        for token in &tokens {
            places.read(text, *token);
        }
        let Places { blocks, statement } = places;
        let wanted = wanted(text, &blocks, &statement, in_string.is_some())?;
        Some(SyntaxAt { wanted, blocks, word })
    }
}

/// The tokens that begin before an offset, and the string that it is in.
fn tokens_before(text: &[u8], offset: u32) -> Option<(Vec<Token>, Option<Span>)> {
    let mut lexer = Lexer::new(text, abide_syntax::skip_byte_order_mark(text));
    let (mut tokens, mut end) = (Vec::new(), 0);
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End || token.span.start >= offset {
            let gap = Span::new(end, token.span.start.max(end));
            let is_in = |it: &Span| it.start < offset && offset <= it.end;
            let in_comment = find_comments(text, gap).any(|it| is_in(&it.span));
            return (!in_comment).then_some((tokens, None));
        }
        let is_string = matches!(token.kind, TokenKind::String | TokenKind::UnterminatedString);
        let is_closed = token.kind == TokenKind::String;
        if is_string && offset < token.span.end + u32::from(!is_closed) {
            return Some((tokens, Some(token.span)));
        }
        end = token.span.end;
        tokens.push(token);
    }
}

/// The dotted name that ends at an offset.
fn word_before(text: &[u8], tokens: &[Token], offset: u32) -> Span {
    let mut start = offset;
    for token in tokens.iter().rev() {
        let is_part = matches!(token.kind, TokenKind::Ident | TokenKind::Symbol(b'.'));
        if !is_part || token.span.end < start {
            break;
        }
        start = token.span.start;
    }
    debug_assert!(start as usize <= text.len(), "tokens lie in the text");
    Span::new(start, offset)
}

/// The blocks and the statement that tokens lead into.
#[derive(Default)]
struct Places {
    blocks: Vec<Block>,
    statement: Vec<Token>,
}

impl Places {
    fn read(&mut self, text: &[u8], token: Token) {
        let in_value = matches!(self.blocks.last(), Some(Block::Value(_)));
        match token.kind {
            TokenKind::Symbol(b'{') => {
                let block = self.block(text, in_value);
                // A value does not end the statement that it is in.
                if !matches!(block, Block::Value(_)) {
                    self.statement.clear();
                }
                self.blocks.push(block);
            }
            TokenKind::Symbol(b'}') => {
                self.blocks.pop();
                if !in_value {
                    self.statement.clear();
                }
            }
            TokenKind::Symbol(b';') if !in_value => self.statement.clear(),
            _ => self.statement.push(token),
        }
    }

    fn block(&self, text: &[u8], in_value: bool) -> Block {
        let words = || words(text, &self.statement);
        let first = words().find(|it| !matches!(*it, "export" | "local"));
        let second = || words().skip_while(|it| matches!(*it, "export" | "local")).nth(1);
        let name = || second().unwrap_or_default().to_owned();
        let is_options = || self.statement.iter().any(|it| it.kind == TokenKind::Symbol(b'['));
        match first {
            _ if in_value || is_options() => Block::Value(key_before(text, &self.statement)),
            Some("message") => Block::Message(name()),
            Some("enum") => Block::Enum(name()),
            Some("service") => Block::Service,
            Some("extend") => Block::Extend,
            Some("oneof") => Block::Oneof,
            Some("rpc") => Block::Method,
            Some("option") => Block::Value(String::new()),
            // A group: its name is the word before the number.
            _ => {
                let name = words().skip_while(|it| *it != "group").nth(1);
                Block::Message(name.unwrap_or_default().to_owned())
            }
        }
    }
}

fn words<'t>(text: &'t [u8], tokens: &'t [Token]) -> impl Iterator<Item = &'t str> {
    tokens.iter().filter(|it| it.kind == TokenKind::Ident).map(|it| it.span.str(text))
}

/// The key that a value belongs to: the last word, before `:`, `=` or nothing.
fn key_before(text: &[u8], statement: &[Token]) -> String {
    match statement {
        [.., token] if token.kind == TokenKind::Symbol(b'=') => String::new(),
        tokens => {
            let last = tokens.iter().rev().find(|it| it.kind == TokenKind::Ident);
            last.map(|it| it.span.str(text).to_owned()).unwrap_or_default()
        }
    }
}

fn wanted(text: &[u8], blocks: &[Block], statement: &[Token], in_string: bool) -> Option<Wanted> {
    let symbol = |it: Option<&Token>| match it?.kind {
        TokenKind::Symbol(symbol) => Some(symbol),
        _ => None,
    };
    let last = symbol(statement.last());
    let first = words(text, statement).next();
    if in_string {
        return (first == Some("import")).then_some(Wanted::Import);
    }
    let around = blocks.iter().rposition(|it| !matches!(it, Block::Value(_)));
    let around = around.and_then(|at| blocks.get(at));
    let open = statement.iter().rposition(|it| it.kind == TokenKind::Symbol(b'['));
    let bracket = open.filter(|at| {
        let closed = |it: &Token| it.kind == TokenKind::Symbol(b']');
        !statement.get(*at..).unwrap_or_default().iter().any(closed)
    });
    let optioned = match (bracket, around, first) {
        (Some(_), _, Some("extensions")) => Optioned::ExtensionRange,
        (Some(_), Some(Block::Enum(_)), _) => Optioned::EnumValue,
        (Some(_), _, _) => Optioned::Field,
        (None, None, _) => Optioned::File,
        (None, Some(Block::Message(_) | Block::Extend), _) => Optioned::Message,
        (None, Some(Block::Enum(_)), _) => Optioned::Enum,
        (None, Some(Block::Service), _) => Optioned::Service,
        (None, Some(Block::Oneof), _) => Optioned::Oneof,
        (None, Some(Block::Method | Block::Value(_)), _) => Optioned::Method,
    };
    let keys: Vec<String> = blocks
        .iter()
        .filter_map(|it| match it {
            Block::Value(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    let is_option = first == Some("option") || bracket.is_some();
    if is_option {
        return option(text, statement, bracket, optioned, keys);
    }
    let before: Vec<&str> = words(text, statement).collect();
    match (around, first) {
        (Some(Block::Method), None) => Some(Wanted::Statement),
        (_, None) => Some(Wanted::Statement),
        (_, Some("extend")) if before.len() == 1 => Some(Wanted::Type { only_messages: true }),
        (Some(Block::Service), Some("rpc")) => matches!(last, Some(b'('))
            .then_some(Wanted::Type { only_messages: true })
            .or_else(|| {
                (before.last() == Some(&"stream")).then_some(Wanted::Type { only_messages: true })
            }),
        (Some(Block::Message(_) | Block::Oneof | Block::Extend), Some("map")) => match last {
            Some(b'<') => Some(Wanted::MapKey),
            Some(b',') => Some(Wanted::Type { only_messages: false }),
            Some(b'=') => Some(Wanted::Number),
            _ => None,
        },
        (Some(Block::Message(_) | Block::Oneof | Block::Extend), Some(label)) => match last {
            Some(b'=') => Some(Wanted::Number),
            None if before.len() == 1 && matches!(label, "optional" | "required" | "repeated") => {
                Some(Wanted::Type { only_messages: false })
            }
            _ => None,
        },
        (Some(Block::Enum(_)), Some(_)) if last == Some(b'=') => Some(Wanted::Number),
        _ => None,
    }
}

/// What is wanted in an option: its name, its value, or a key in its value.
fn option(
    text: &[u8],
    statement: &[Token],
    bracket: Option<usize>,
    optioned: Optioned,
    keys: Vec<String>,
) -> Option<Wanted> {
    let start = match bracket {
        // Of several options in brackets, the last one counts.
        Some(open) if keys.is_empty() => {
            let commas = statement.iter().rposition(|it| it.kind == TokenKind::Symbol(b','));
            commas.filter(|comma| *comma > open).unwrap_or(open) + 1
        }
        Some(open) => open + 1,
        None => 1,
    };
    let tokens = statement.get(start..)?;
    let equals = tokens.iter().position(|it| it.kind == TokenKind::Symbol(b'='));
    let Some(equals) = equals else { return Some(Wanted::OptionName(optioned)) };
    let name = tokens.get(..equals)?;
    let name: String = name.iter().map(|it| it.span.str(text)).collect();
    let mut path = vec![name];
    path.extend(keys.iter().filter(|it| !it.is_empty()).cloned());
    let last = tokens.last()?;
    let key = || {
        let before = tokens.get(..tokens.len() - 1)?.last()?;
        (before.kind == TokenKind::Ident).then(|| before.span.str(text).to_owned())
    };
    match (keys.is_empty(), last.kind) {
        (true, TokenKind::Symbol(b'=')) => Some(Wanted::OptionValue(optioned, path)),
        (true, _) => None,
        (false, TokenKind::Symbol(b':')) => {
            path.push(key()?);
            Some(Wanted::OptionValue(optioned, path))
        }
        (false, _) => Some(Wanted::OptionKey(optioned, path)),
    }
}
