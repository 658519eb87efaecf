//! Syntax that could be written at an offset of a text, by the tokens before it. The text need not
//! be well-formed there: it is being written.

use abide_syntax::{Lexer, Span, Token, TokenKind, find_comments};

/// The block that encloses a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EnclosingBlock {
    Message(String),
    Enum(String),
    Service,
    Extend,
    Oneof,
    Method,
    /// The value of an option or of a key in one, and the key.
    Value(String),
}

/// The element that an option is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionTarget {
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

impl OptionTarget {
    /// Its number in `google.protobuf.FieldOptions.OptionTargetType`.
    pub(crate) const fn number(self) -> i64 {
        match self {
            OptionTarget::File => 1,
            OptionTarget::ExtensionRange => 2,
            OptionTarget::Message => 3,
            OptionTarget::Field => 4,
            OptionTarget::Oneof => 5,
            OptionTarget::Enum => 6,
            OptionTarget::EnumValue => 7,
            OptionTarget::Service => 8,
            OptionTarget::Method => 9,
        }
    }

    /// The message of descriptor.proto that holds its options.
    pub(crate) fn get_message(self) -> &'static str {
        match self {
            OptionTarget::File => "google.protobuf.FileOptions",
            OptionTarget::Message => "google.protobuf.MessageOptions",
            OptionTarget::Field => "google.protobuf.FieldOptions",
            OptionTarget::Oneof => "google.protobuf.OneofOptions",
            OptionTarget::Enum => "google.protobuf.EnumOptions",
            OptionTarget::EnumValue => "google.protobuf.EnumValueOptions",
            OptionTarget::Service => "google.protobuf.ServiceOptions",
            OptionTarget::Method => "google.protobuf.MethodOptions",
            OptionTarget::ExtensionRange => "google.protobuf.ExtensionRangeOptions",
        }
    }
}

/// The syntax that could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedSyntax {
    /// The path of an import.
    Import,
    /// The value of `edition`.
    Edition,
    /// The value of `syntax`.
    Syntax,
    /// A statement of the file or of a block; in a message also a type.
    Statement,
    /// A type; of a method a message.
    Type { only_messages: bool },
    /// The key type of a map.
    MapKey,
    /// The number of a field or enum value.
    Number,
    /// The name of an option.
    OptionName(OptionTarget),
    /// The value of an option with this name, or of keys in its value.
    OptionValue(OptionTarget, Vec<String>),
    /// A key in the value of an option, below these keys.
    OptionKey(OptionTarget, Vec<String>),
}

/// A place in a text, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxPosition {
    pub(crate) expected: ExpectedSyntax,
    /// The blocks around it, the innermost last.
    pub(crate) blocks: Vec<EnclosingBlock>,
    /// The word before the offset, all components of a dotted name included.
    pub(crate) word: Span,
}

impl SyntaxPosition {
    /// Finds the syntax that could be written at an offset; nothing in a comment or in most
    /// strings.
    pub(crate) fn find(text: &[u8], offset: u32) -> Option<SyntaxPosition> {
        let (tokens, in_string) = read_tokens_before(text, offset)?;
        let word = match in_string {
            Some(string) => Span::new((string.start + 1).min(offset), offset),
            None => find_word_before(text, &tokens, offset),
        };
        let tokens: Vec<Token> =
            tokens.into_iter().filter(|it| it.span.start < word.start).collect();
        let mut places = SyntaxReader::default();
        for token in &tokens {
            places.read_token(text, *token);
        }
        let SyntaxReader { blocks, statement } = places;
        let expected = decide_expected(text, &blocks, &statement, in_string.is_some())?;
        Some(SyntaxPosition { expected, blocks, word })
    }
}

/// The tokens that begin before an offset, and the string that it is in.
fn read_tokens_before(text: &[u8], offset: u32) -> Option<(Vec<Token>, Option<Span>)> {
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
fn find_word_before(text: &[u8], tokens: &[Token], offset: u32) -> Span {
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
struct SyntaxReader {
    blocks: Vec<EnclosingBlock>,
    statement: Vec<Token>,
}

impl SyntaxReader {
    fn read_token(&mut self, text: &[u8], token: Token) {
        let in_value = matches!(self.blocks.last(), Some(EnclosingBlock::Value(_)));
        match token.kind {
            TokenKind::Symbol(b'{') => {
                let block = self.detect_block(text, in_value);
                // A value does not end the statement that it is in.
                if !matches!(block, EnclosingBlock::Value(_)) {
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

    fn detect_block(&self, text: &[u8], in_value: bool) -> EnclosingBlock {
        let words = || iter_words(text, &self.statement);
        let first = words().find(|it| !matches!(*it, "export" | "local"));
        let second = || words().skip_while(|it| matches!(*it, "export" | "local")).nth(1);
        let name = || second().unwrap_or_default().to_owned();
        let is_options = || self.statement.iter().any(|it| it.kind == TokenKind::Symbol(b'['));
        match first {
            _ if in_value || is_options() => {
                EnclosingBlock::Value(find_key_before(text, &self.statement))
            }
            Some("message") => EnclosingBlock::Message(name()),
            Some("enum") => EnclosingBlock::Enum(name()),
            Some("service") => EnclosingBlock::Service,
            Some("extend") => EnclosingBlock::Extend,
            Some("oneof") => EnclosingBlock::Oneof,
            Some("rpc") => EnclosingBlock::Method,
            Some("option") => EnclosingBlock::Value(String::new()),
            // A group: its name is the word before the number.
            _ => {
                let name = words().skip_while(|it| *it != "group").nth(1);
                EnclosingBlock::Message(name.unwrap_or_default().to_owned())
            }
        }
    }
}

fn iter_words<'t>(text: &'t [u8], tokens: &'t [Token]) -> impl Iterator<Item = &'t str> {
    tokens.iter().filter(|it| it.kind == TokenKind::Ident).map(|it| it.span.str(text))
}

/// The key that a value belongs to: the last word, before `:`, `=` or nothing.
fn find_key_before(text: &[u8], statement: &[Token]) -> String {
    match statement {
        [.., token] if token.kind == TokenKind::Symbol(b'=') => String::new(),
        tokens => {
            let last = tokens.iter().rev().find(|it| it.kind == TokenKind::Ident);
            last.map(|it| it.span.str(text).to_owned()).unwrap_or_default()
        }
    }
}

fn decide_expected(
    text: &[u8],
    blocks: &[EnclosingBlock],
    statement: &[Token],
    in_string: bool,
) -> Option<ExpectedSyntax> {
    let symbol = |it: Option<&Token>| match it?.kind {
        TokenKind::Symbol(symbol) => Some(symbol),
        _ => None,
    };
    let last = symbol(statement.last());
    let first = iter_words(text, statement).next();
    if in_string {
        return match first {
            Some("import") => Some(ExpectedSyntax::Import),
            Some("edition") => Some(ExpectedSyntax::Edition),
            Some("syntax") => Some(ExpectedSyntax::Syntax),
            _ => None,
        };
    }
    let around = blocks.iter().rposition(|it| !matches!(it, EnclosingBlock::Value(_)));
    let around = around.and_then(|at| blocks.get(at));
    let open = statement.iter().rposition(|it| it.kind == TokenKind::Symbol(b'['));
    let bracket = open.filter(|at| {
        let closed = |it: &Token| it.kind == TokenKind::Symbol(b']');
        !statement.get(*at..).unwrap_or_default().iter().any(closed)
    });
    let optioned = match (bracket, around, first) {
        (Some(_), _, Some("extensions")) => OptionTarget::ExtensionRange,
        (Some(_), Some(EnclosingBlock::Enum(_)), _) => OptionTarget::EnumValue,
        (Some(_), _, _) => OptionTarget::Field,
        (None, None, _) => OptionTarget::File,
        (None, Some(EnclosingBlock::Message(_) | EnclosingBlock::Extend), _) => {
            OptionTarget::Message
        }
        (None, Some(EnclosingBlock::Enum(_)), _) => OptionTarget::Enum,
        (None, Some(EnclosingBlock::Service), _) => OptionTarget::Service,
        (None, Some(EnclosingBlock::Oneof), _) => OptionTarget::Oneof,
        (None, Some(EnclosingBlock::Method | EnclosingBlock::Value(_)), _) => OptionTarget::Method,
    };
    let keys: Vec<String> = blocks
        .iter()
        .filter_map(|it| match it {
            EnclosingBlock::Value(key) => Some(key.clone()),
            _ => None,
        })
        .collect();
    let is_option = first == Some("option") || bracket.is_some();
    if is_option {
        return decide_expected_in_option(text, statement, bracket, optioned, keys);
    }
    let before: Vec<&str> = iter_words(text, statement).collect();
    match (around, first) {
        (Some(EnclosingBlock::Method), None) => Some(ExpectedSyntax::Statement),
        (_, None) => Some(ExpectedSyntax::Statement),
        (_, Some("extend")) if before.len() == 1 => {
            Some(ExpectedSyntax::Type { only_messages: true })
        }
        (Some(EnclosingBlock::Service), Some("rpc")) => matches!(last, Some(b'('))
            .then_some(ExpectedSyntax::Type { only_messages: true })
            .or_else(|| {
                (before.last() == Some(&"stream"))
                    .then_some(ExpectedSyntax::Type { only_messages: true })
            }),
        (
            Some(EnclosingBlock::Message(_) | EnclosingBlock::Oneof | EnclosingBlock::Extend),
            Some("map"),
        ) => match last {
            Some(b'<') => Some(ExpectedSyntax::MapKey),
            Some(b',') => Some(ExpectedSyntax::Type { only_messages: false }),
            Some(b'=') => Some(ExpectedSyntax::Number),
            _ => None,
        },
        (
            Some(EnclosingBlock::Message(_) | EnclosingBlock::Oneof | EnclosingBlock::Extend),
            Some(label),
        ) => match last {
            Some(b'=') => Some(ExpectedSyntax::Number),
            None if before.len() == 1 && matches!(label, "optional" | "required" | "repeated") => {
                Some(ExpectedSyntax::Type { only_messages: false })
            }
            _ => None,
        },
        (Some(EnclosingBlock::Enum(_)), Some(_)) if last == Some(b'=') => {
            Some(ExpectedSyntax::Number)
        }
        _ => None,
    }
}

/// Decides the expected syntax in an option: its name, its value, or a key in its value.
fn decide_expected_in_option(
    text: &[u8],
    statement: &[Token],
    bracket: Option<usize>,
    optioned: OptionTarget,
    keys: Vec<String>,
) -> Option<ExpectedSyntax> {
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
    let Some(equals) = equals else { return Some(ExpectedSyntax::OptionName(optioned)) };
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
        (true, TokenKind::Symbol(b'=')) => Some(ExpectedSyntax::OptionValue(optioned, path)),
        (true, _) => None,
        (false, TokenKind::Symbol(b':')) => {
            path.push(key()?);
            Some(ExpectedSyntax::OptionValue(optioned, path))
        }
        (false, _) => Some(ExpectedSyntax::OptionKey(optioned, path)),
    }
}
