//! Recursive descent from tokens to the tree, with recovery.
//!
//! The grammar is the union of what protoc's parser accepts in proto2, proto3
//! and the editions; what only one of them allows is judged when the file's
//! edition is known, by the linker. After an error the parser goes on at the
//! next statement, so one file can have several good errors.

use std::num::NonZeroU32;

use crate::ast::{
    Ast, Decl, DeclId, DeclKind, FieldLabel, FieldNode, ImportKind, KeyForm, MapId, MapNode,
    MethodId, MethodNode, NamePart, OptionId, OptionNode, RangeEnd, RangeNode, Slice, ValueId,
    ValueKind, ValueNode, Visibility,
};
use crate::foreign::detect_foreign_text;
use crate::lexer::{Lexer, Token, TokenKind, skip_byte_order_mark};
use crate::span::Span;

/// Messages and groups may nest this deep, as in protoc's parser.
pub const MAX_MESSAGE_NESTING: u32 = 31;
/// Braces and brackets inside the value of an option may nest this deep: the
/// default limit of the protobuf runtimes when they read it back.
pub const MAX_VALUE_NESTING: u32 = 100;
/// After this many errors the rest of the file is skipped.
pub const MAX_ERRORS: usize = 50;

/// Something in the text that the grammar does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Its place.
    pub span: Span,
    /// One lower-case phrase, names in backticks.
    pub message: String,
    /// Another place that explains it, such as the brace left open.
    pub related: Option<(Span, &'static str)>,
    /// Advice on how to mend it.
    pub help: Option<&'static str>,
}

/// Reads a file. Whatever the bytes are, this returns: a tree of what could be
/// understood and the errors in the order of the text.
pub fn parse(text: &[u8]) -> (Ast, Vec<SyntaxError>) {
    let mut parser = Parser::new(text);
    // Few files are denser. Rounded sizes let the allocator reuse blocks.
    parser.ast.decls.reserve((text.len() / 128).next_power_of_two());
    let options = (text.len() / 256).next_power_of_two();
    parser.ast.options.reserve(options);
    parser.ast.name_parts.reserve(options);
    parser.ast.values.reserve(options);
    parser.advance();
    parser.last = Span::at(parser.gap);
    parser.parse_file();
    let (ast, errors) = parser.finish();
    let explained = if errors.is_empty() { None } else { detect_foreign_text(text) };
    (ast, explained.unwrap_or(errors))
}

/// Reads the fields of a message in text format, with the grammar of the
/// aggregate values of options. The first value of the tree is a
/// [`ValueKind::Message`] that holds them. A malformed field is left out, and
/// reading goes on behind it.
///
/// Comments from `#` on and an `f` behind a number are not known here.
pub fn parse_fields(text: &[u8]) -> (Ast, Vec<SyntaxError>) {
    let mut parser = Parser::new(text);
    parser.recovers = true;
    parser.advance();
    parser.parse_value_fields();
    parser.finish()
}

/// An error was recorded and the statement cannot go on.
struct ParseFailure;
type Parsed<T> = Result<T, ParseFailure>;

struct Parser<'t> {
    text: &'t [u8],
    lexer: Lexer<'t>,
    /// The current token.
    token: Token,
    /// The token before it.
    last: Span,
    /// The end of the token or garbage before it.
    gap: u32,
    /// The number of `{` that are open before it.
    braces: u32,
    ast: Ast,
    errors: Vec<SyntaxError>,
    /// True if the error at the end of the file is recorded.
    end_reported: bool,
    nesting: u32,
    /// True if a malformed field of a value is passed over, not the whole
    /// statement.
    recovers: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum StatementScope {
    File,
    Message,
    Enum,
    Service,
    Extend,
    Oneof,
    Method,
}

impl StatementScope {
    fn expected(self) -> &'static str {
        match self {
            StatementScope::File => {
                "`message`, `enum`, `service`, `extend`, `import`, `package` or `option`"
            }
            StatementScope::Message => "a field or another declaration of a message",
            StatementScope::Enum => "an enum value",
            StatementScope::Service => "`rpc` or `option`",
            StatementScope::Extend | StatementScope::Oneof => "a field",
            StatementScope::Method => "`option`",
        }
    }

    /// The keywords to suggest for a misspelt word, where a name is not allowed.
    fn keywords(self) -> &'static [Keyword] {
        match self {
            StatementScope::File => FILE_KEYWORDS,
            StatementScope::Service => SERVICE_KEYWORDS,
            StatementScope::Method => &SERVICE_KEYWORDS[..1],
            StatementScope::Message
            | StatementScope::Enum
            | StatementScope::Extend
            | StatementScope::Oneof => &[],
        }
    }
}

/// A keyword, and the help for a misspelling of it.
struct Keyword {
    word: &'static str,
    help: &'static str,
}

macro_rules! keywords {
    ($($word:literal)*) => {
        &[$(Keyword { word: $word, help: concat!("did you mean `", $word, "`?") },)*]
    };
}

const BLOCK_KEYWORDS: &[Keyword] = keywords!("message" "enum" "extend" "oneof");
const SERVICE_KEYWORDS: &[Keyword] = keywords!("option" "rpc");
const FILE_KEYWORDS: &[Keyword] = keywords!(
    "message" "enum" "service" "extend" "import" "package" "option" "syntax" "edition"
);

fn suggest_keyword(word: &[u8], keywords: &[Keyword]) -> Option<&'static str> {
    keywords.iter().find(|keyword| is_typo(word, keyword.word)).map(|keyword| keyword.help)
}

/// Returns true if a word is one typo away from a keyword: one byte added, removed or replaced, or
/// two neighbours swapped. Case does not count.
fn is_typo(word: &[u8], keyword: &str) -> bool {
    let keyword = keyword.as_bytes();
    let same = word.iter().zip(keyword).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let (word, keyword) = (&word[same..], &keyword[same..]);
    let equal = |a: Option<&[u8]>, b: Option<&[u8]>| a.is_some() && a == b;
    (word.is_empty() && keyword.is_empty())
        || equal(word.get(1..), Some(keyword))
        || equal(Some(word), keyword.get(1..))
        || equal(word.get(1..), keyword.get(1..))
        || (word.len() > 1 && keyword.len() > 1 && word[0] == keyword[1] && word[1] == keyword[0])
            && word[2..] == keyword[2..]
}

/// The beginning of a token, for a message.
fn abbreviate(token: &[u8]) -> String {
    const MOST: usize = 40;
    if token.len() <= MOST {
        return String::from_utf8_lossy(token).into_owned();
    }
    let valid = token[..MOST].utf8_chunks().next().map_or("", |chunk| chunk.valid());
    format!("{valid}…")
}

impl<'t> Parser<'t> {
    fn new(text: &'t [u8]) -> Parser<'t> {
        Parser {
            text,
            lexer: Lexer::new(text, 0),
            token: Token { kind: TokenKind::End, span: Span::default() },
            last: Span::default(),
            gap: skip_byte_order_mark(text),
            braces: 0,
            ast: Ast::default(),
            errors: Vec::new(),
            end_reported: false,
            nesting: 0,
            recovers: false,
        }
    }

    fn finish(mut self) -> (Ast, Vec<SyntaxError>) {
        // A bad token is reported before what is missing in front of it.
        self.errors.sort_by_key(|error| error.span.start);
        (self.ast, self.errors)
    }

    fn report_error(&mut self, span: Span, message: impl Into<String>) {
        self.report(SyntaxError { span, message: message.into(), related: None, help: None });
    }

    /// Records an error, unless it only follows from another: one is enough
    /// for each place, and for the end of the file.
    fn report(&mut self, error: SyntaxError) {
        let at_end = self.token.kind == TokenKind::End && !self.has_stopped();
        let same = self.errors.iter().rev().take(2).any(|it| it.span.start == error.span.start);
        if self.has_stopped() || same || self.is_after_bad_token() || (at_end && self.end_reported)
        {
            return;
        }
        self.end_reported |= at_end && error.span.start >= self.token.span.start;
        self.errors.push(error);
    }

    /// Returns true if the token before this one was reported. What is missing after
    /// it may be inside it, such as the `;` in a string that was left open.
    fn is_after_bad_token(&self) -> bool {
        self.errors.last().is_some_and(|error| error.span == self.last && !self.last.is_empty())
    }

    fn has_stopped(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Moves to the next token and reports the malformed ones on the way.
    fn advance(&mut self) {
        match self.token.kind {
            TokenKind::End => {}
            kind => {
                self.last = self.token.span;
                self.gap = self.last.end;
                match kind {
                    TokenKind::Symbol(b'{') => self.braces += 1,
                    TokenKind::Symbol(b'}') => self.braces = self.braces.saturating_sub(1),
                    _ => {}
                }
            }
        }
        loop {
            if self.has_stopped() {
                let end = Span::at(self.text.len() as u32);
                self.token = Token { kind: TokenKind::End, span: end };
                return;
            }
            self.token = self.lexer.next_token();
            if !self.token.kind.is_malformed() || self.insert_missing_semicolon() {
                return;
            }
        }
    }

    /// Reports the current token, which is malformed, and takes it for what it was meant to be.
    /// Returns false if it is to be passed over.
    #[cold]
    #[inline(never)]
    fn insert_missing_semicolon(&mut self) -> bool {
        let span = self.token.span;
        match self.token.kind {
            TokenKind::Garbage => {
                self.report_garbage(span);
                self.gap = span.end;
                return false;
            }
            TokenKind::BadNumber => {
                let error = self.describe_bad_number(span);
                self.token.kind = TokenKind::Int;
                self.report(error);
            }
            TokenKind::NumberTouchesIdent => {
                self.token.kind = TokenKind::Int;
                self.report_error(span, "a space is needed between a number and a name");
            }
            TokenKind::UnterminatedString => {
                self.token.kind = TokenKind::String;
                self.report_error(span, "the string has no closing quote on this line");
            }
            TokenKind::NulInString => {
                self.token.kind = TokenKind::String;
                let nul = memchr::memchr(0, span.of(self.text)).unwrap_or_default() as u32;
                self.report_nul_byte(span.start + nul, Some("write `\\0`"));
            }
            TokenKind::NulInComment => {
                self.report_nul_byte(span.start, None);
                self.gap = span.end;
                return false;
            }
            TokenKind::NestedComment => {
                let inner = Span::new(span.start, span.start + 2);
                self.report_error(inner, "a block comment begins inside another one");
                self.gap = span.end;
                return false;
            }
            TokenKind::UnterminatedComment => {
                let opening = Span::new(span.start, span.start + 2);
                self.token = Token { kind: TokenKind::End, span: Span::at(span.end) };
                self.report_error(opening, "the comment is never closed");
                self.end_reported = true;
            }
            TokenKind::Ident
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::String
            | TokenKind::Symbol(_)
            | TokenKind::End => {}
        }
        true
    }

    fn report_nul_byte(&mut self, at: u32, help: Option<&'static str>) {
        let message = "a NUL byte is not allowed, not even in comments and strings".to_owned();
        self.report(SyntaxError { span: Span::new(at, at + 1), message, related: None, help });
    }

    fn report_garbage(&mut self, span: Span) {
        let mut help = None;
        let message = match std::str::from_utf8(span.of(self.text)) {
            Ok(text) if text.contains('\0') => {
                "a NUL byte is not allowed, not even in comments and strings".to_owned()
            }
            Ok(text) if text.chars().all(char::is_control) => {
                "control characters are not allowed outside of comments".to_owned()
            }
            Ok(text) => {
                if text.contains(['\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}']) {
                    help = Some("quote strings with `\"` or `'`");
                }
                let shown: String = text.chars().take(20).collect();
                format!("`{shown}` is not allowed outside of strings and comments")
            }
            Err(_) => "these bytes are not valid UTF-8".to_owned(),
        };
        self.report(SyntaxError { span, message, related: None, help });
    }

    fn describe_bad_number(&self, span: Span) -> SyntaxError {
        let number = span.of(self.text);
        let octal = number.len() > 1 && number[0] == b'0' && number[1].is_ascii_digit();
        let help = octal.then_some("a number that starts with `0` is octal: use the digits 0 to 7");
        let message = format!("`{}` is not a valid number", abbreviate(number));
        SyntaxError { span, message, related: None, help }
    }

    fn is_at_symbol(&self, symbol: u8) -> bool {
        self.token.kind == TokenKind::Symbol(symbol)
    }

    fn word(&self) -> &'t [u8] {
        match self.token.kind {
            TokenKind::Ident => self.token.span.of(self.text),
            _ => b"",
        }
    }

    fn is_at_word(&self, word: &str) -> bool {
        self.word() == word.as_bytes()
    }

    fn peek(&self) -> Token {
        self.lexer.clone().next_token()
    }

    fn eat_symbol(&mut self, symbol: u8) -> Option<Span> {
        self.is_at_symbol(symbol).then(|| self.take())
    }

    fn eat_word(&mut self, word: &str) -> Option<Span> {
        self.is_at_word(word).then(|| self.take())
    }

    fn take(&mut self) -> Span {
        let span = self.token.span;
        self.advance();
        span
    }

    /// The current token in words, for "found …".
    fn describe_token(&self) -> String {
        match self.token.kind {
            TokenKind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", abbreviate(self.token.span.of(self.text))),
        }
    }

    fn fail_expected<T>(&mut self, what: &str) -> Parsed<T> {
        self.fail_expected_with(what, None)
    }

    fn fail_expected_with<T>(&mut self, what: &str, help: Option<&'static str>) -> Parsed<T> {
        self.report_unexpected(what, help);
        Err(ParseFailure)
    }

    fn report_unexpected(&mut self, what: &str, help: Option<&'static str>) {
        let span = self.token.span;
        let message = format!("expected {what}, found {}", self.describe_token());
        let help = help.or(self.is_at_symbol(b'#').then_some("a comment begins with `//`"));
        self.report(SyntaxError { span, message, related: None, help });
    }

    /// Reports the end of the file inside a block that `opening` began.
    fn report_unclosed(&mut self, closing: u8, opening: Span) {
        self.report(SyntaxError {
            span: self.token.span,
            message: format!("expected `{}`, found the end of the file", closing as char),
            related: Some((opening, "opened here")),
            help: None,
        });
    }

    fn expect_symbol(&mut self, symbol: u8) -> Parsed<Span> {
        match self.eat_symbol(symbol) {
            Some(span) => Ok(span),
            None => self.fail_expected(&format!("`{}`", symbol as char)),
        }
    }

    fn expect_ident(&mut self, what: &str) -> Parsed<Span> {
        if self.token.kind == TokenKind::Ident { Ok(self.take()) } else { self.fail_expected(what) }
    }

    fn expect_string(&mut self, what: &str) -> Parsed<Span> {
        if self.token.kind != TokenKind::String {
            return self.fail_expected(what);
        }
        let mut span = self.take();
        while self.token.kind == TokenKind::String {
            span = span.to(self.take());
        }
        Ok(span)
    }

    /// A string whose quotes are easily forgotten.
    fn expect_quoted(&mut self, what: &str) -> Parsed<Span> {
        if self.token.kind == TokenKind::Ident {
            return self.fail_expected_with(what, Some("put it in quotes"));
        }
        self.expect_string(what)
    }

    /// Returns true if the token is the first of its line, or the end of the file.
    fn is_at_line_start(&self) -> bool {
        let gap = Span::new(self.last.end, self.token.span.start).of(self.text);
        self.token.kind == TokenKind::End || gap.contains(&b'\n')
    }

    /// `;` at the end of a statement. Where it is missing at the end of a
    /// line, the next line is taken for the next statement.
    fn expect_semicolon(&mut self) -> Parsed<()> {
        if self.eat_symbol(b';').is_some() {
            return Ok(());
        }
        if self.is_at_symbol(b',') {
            self.report_unexpected("`;`", Some("a statement ends with `;`"));
            self.advance();
            return Ok(());
        }
        if !self.is_at_line_start() && !self.is_at_symbol(b'}') {
            return self.fail_expected("`;`");
        }
        self.report_error(Span::at(self.last.end), "a `;` is missing");
        Ok(())
    }

    /// Returns true if a statement with a keyword begins here, on a line of its own, or
    /// the statement before it lost its end.
    fn is_at_statement_start(&self) -> bool {
        let keywords = BLOCK_KEYWORDS.iter().chain(FILE_KEYWORDS).chain(SERVICE_KEYWORDS);
        if !self.is_at_line_start() {
            return false;
        }
        self.is_after_bad_token()
            || keywords.map(|keyword| keyword.word).any(|word| self.is_at_word(word))
                && matches!(
                    self.peek().kind,
                    TokenKind::Ident | TokenKind::String | TokenKind::Symbol(b'(')
                )
    }

    /// Skips the rest of a broken statement that began at `start`, inside so
    /// many open braces. Stops after its `;` or block, or before a `}` that
    /// closes an outer block, or before what must be another statement.
    fn skip_statement(&mut self, start: u32, braces: u32) {
        loop {
            let inside = self.braces > braces;
            let moved = self.token.span.start > start;
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Ident if !inside && moved && self.is_at_statement_start() => return,
                TokenKind::Symbol(b'}') if !inside => return,
                TokenKind::Symbol(b';') if !inside => return self.advance(),
                TokenKind::Symbol(b'}') => {
                    self.advance();
                    let goes_on = matches!(self.token.kind, TokenKind::Symbol(b']' | b',' | b';'));
                    if self.braces <= braces && !goes_on {
                        return;
                    }
                }
                _ => self.advance(),
            }
        }
    }

    // Declarations.

    fn parse_file(&mut self) {
        let start = self.token.span;
        if self.is_at_word("syntax") || self.is_at_word("edition") {
            self.parse_statement(Self::parse_syntax);
        }
        while self.token.kind != TokenKind::End && !self.has_stopped() {
            if self.is_at_symbol(b'}') {
                self.report_error(self.token.span, "this `}` closes nothing");
                self.advance();
                continue;
            }
            self.parse_declaration(StatementScope::File);
        }
        if start.end > start.start {
            self.ast.span = start.to(self.last);
        }
        self.ast.end = self.token.span.end;
    }

    /// Reserves a node, so that its children come after it.
    fn open(&mut self) -> DeclId {
        let id = self.ast.decls.len() as DeclId;
        let span = self.token.span;
        let gap = self.gap;
        self.ast.decls.push(Decl { kind: DeclKind::Error, span, gap, end: id + 1 });
        id
    }

    fn close(&mut self, id: DeclId, kind: DeclKind) {
        let end = self.ast.decls.len() as DeclId;
        let decl = &mut self.ast.decls[id as usize];
        decl.kind = kind;
        decl.end = end;
        decl.span.end = self.last.end.max(decl.span.end);
    }

    fn parse_statement(&mut self, parse: fn(&mut Self) -> Parsed<DeclKind>) {
        let id = self.open();
        let (start, braces) = (self.token.span.start, self.braces);
        match parse(self) {
            Ok(kind) => self.close(id, kind),
            Err(ParseFailure) => {
                self.skip_statement(start, braces);
                self.close(id, DeclKind::Error);
            }
        }
    }

    fn parse_declaration(&mut self, scope: StatementScope) {
        if self.is_at_symbol(b';') {
            return self.parse_statement(|parser| {
                parser.advance();
                Ok(DeclKind::Empty)
            });
        }
        let word = self.word();
        let parse: fn(&mut Self) -> Parsed<DeclKind> = match (scope, word) {
            (_, b"option") => Self::parse_option_statement,
            (StatementScope::File | StatementScope::Message, b"message") => Self::parse_message,
            (StatementScope::File | StatementScope::Message, b"enum") => Self::parse_enum,
            (StatementScope::File | StatementScope::Message, b"extend") => Self::extend,
            (StatementScope::File | StatementScope::Message, b"export" | b"local")
                if self.is_at_visibility() =>
            {
                Self::with_visibility
            }
            (StatementScope::File, b"service") => Self::parse_service,
            (StatementScope::File, b"import") => Self::import,
            (StatementScope::File, b"package") => Self::parse_package,
            (StatementScope::File, b"syntax" | b"edition") => Self::parse_late_syntax,
            (StatementScope::Message, b"extensions") => Self::parse_extensions,
            (StatementScope::Message | StatementScope::Enum, b"reserved") => Self::parse_reserved,
            (StatementScope::Message, b"oneof") => Self::parse_oneof,
            (StatementScope::Message | StatementScope::Extend | StatementScope::Oneof, [_, ..]) => {
                Self::parse_field
            }
            (StatementScope::Message | StatementScope::Extend | StatementScope::Oneof, _)
                if self.is_at_symbol(b'.') =>
            {
                Self::parse_field
            }
            (StatementScope::Enum, [_, ..]) => Self::parse_enum_value,
            (StatementScope::Service, b"rpc") => Self::parse_method,
            _ => {
                self.report_unexpected(scope.expected(), suggest_keyword(word, scope.keywords()));
                return self.parse_statement(|parser| {
                    if !parser.is_at_symbol(b'{') {
                        parser.advance();
                    }
                    Err(ParseFailure)
                });
            }
        };
        self.parse_statement(parse);
    }

    /// `{ … }` full of declarations; returns the span of the block. If `{` is
    /// missing at the end of a line, the block begins there anyway.
    fn parse_block(&mut self, scope: StatementScope) -> Parsed<Span> {
        let opening = match self.eat_symbol(b'{') {
            Some(span) => span,
            None if self.is_at_line_start() && self.token.kind == TokenKind::Ident => {
                self.report_error(Span::at(self.last.end), "a `{` is missing");
                self.braces += 1;
                Span::at(self.last.end)
            }
            None => return self.fail_expected("`{`"),
        };
        loop {
            if let Some(closing) = self.eat_symbol(b'}') {
                return Ok(opening.to(closing));
            }
            if self.token.kind == TokenKind::End {
                self.report_unclosed(b'}', opening);
                return Ok(opening.to(self.last));
            }
            self.parse_declaration(scope);
        }
    }

    fn check_nesting(&mut self) -> Parsed<()> {
        if self.nesting < MAX_MESSAGE_NESTING {
            return Ok(());
        }
        let message = format!("messages nest deeper than {MAX_MESSAGE_NESTING} levels");
        self.report_error(self.token.span, message);
        Err(ParseFailure)
    }

    /// The block of a message or group; their nesting is limited.
    fn parse_message_block(&mut self) -> Parsed<Span> {
        self.check_nesting()?;
        self.nesting += 1;
        let block = self.parse_block(StatementScope::Message);
        self.nesting -= 1;
        block
    }

    fn parse_syntax(&mut self) -> Parsed<DeclKind> {
        let edition = self.is_at_word("edition");
        self.advance();
        self.expect_symbol(b'=')?;
        let what =
            if edition { "an edition such as `\"2023\"`" } else { "`\"proto2\"` or `\"proto3\"`" };
        let value = self.expect_quoted(what)?;
        self.expect_semicolon()?;
        Ok(DeclKind::Syntax { edition, value })
    }

    fn parse_late_syntax(&mut self) -> Parsed<DeclKind> {
        let message = format!("`{}` must be the first statement", self.token.span.str(self.text));
        self.report_error(self.token.span, message);
        Err(ParseFailure)
    }

    fn parse_package(&mut self) -> Parsed<DeclKind> {
        self.advance();
        if self.token.kind == TokenKind::String {
            return self.fail_expected_with("a package name", Some("remove the quotes"));
        }
        let start = self.expect_ident("a package name")?;
        let mut name = start;
        while self.eat_symbol(b'.').is_some() {
            name = name.to(self.expect_ident("a name after `.`")?);
        }
        self.expect_semicolon()?;
        Ok(DeclKind::Package { name })
    }

    fn import(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let modifier = self.token.span;
        let kind = match self.word() {
            b"public" => ImportKind::Public,
            b"weak" => ImportKind::Weak,
            b"option" => ImportKind::Option,
            _ => ImportKind::Plain,
        };
        if kind != ImportKind::Plain {
            self.advance();
        }
        let path = self.expect_quoted("the path of a file in quotes")?;
        self.expect_semicolon()?;
        let modifier = if kind == ImportKind::Plain { Span::default() } else { modifier };
        Ok(DeclKind::Import { kind, modifier, path })
    }

    /// `export` and `local` are also names that a type may have.
    fn is_at_visibility(&self) -> bool {
        let mut lexer = self.lexer.clone();
        let keyword = lexer.next_token();
        keyword.kind == TokenKind::Ident
            && matches!(keyword.span.of(self.text), b"message" | b"enum")
            && lexer.next_token().kind == TokenKind::Ident
    }

    fn with_visibility(&mut self) -> Parsed<DeclKind> {
        let which = if self.is_at_word("export") { Visibility::Export } else { Visibility::Local };
        let span = self.take();
        let kind =
            if self.is_at_word("message") { self.parse_message()? } else { self.parse_enum()? };
        let visibility = Some((which, span));
        Ok(match kind {
            DeclKind::Message { name, body, .. } => DeclKind::Message { name, visibility, body },
            DeclKind::Enum { name, body, .. } => DeclKind::Enum { name, visibility, body },
            other => other,
        })
    }

    fn parse_message(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let name = self.expect_ident("the name of the message")?;
        let body = self.parse_message_block()?;
        Ok(DeclKind::Message { name, visibility: None, body })
    }

    fn parse_enum(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let name = self.expect_ident("the name of the enum")?;
        let body = self.parse_block(StatementScope::Enum)?;
        Ok(DeclKind::Enum { name, visibility: None, body })
    }

    fn parse_service(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let name = self.expect_ident("the name of the service")?;
        let body = self.parse_block(StatementScope::Service)?;
        Ok(DeclKind::Service { name, body })
    }

    fn extend(&mut self) -> Parsed<DeclKind> {
        // The statement that is parsed is the last one that was opened.
        self.ast.extends.push(self.ast.decls.len() as DeclId - 1);
        self.advance();
        let extendee = self.parse_type_name()?;
        let body = self.parse_block(StatementScope::Extend)?;
        Ok(DeclKind::Extend { extendee, body })
    }

    fn parse_oneof(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let name = self.expect_ident("the name of the oneof")?;
        let body = self.parse_block(StatementScope::Oneof)?;
        Ok(DeclKind::Oneof { name, body })
    }

    fn parse_type_name(&mut self) -> Parsed<Span> {
        let dot = self.eat_symbol(b'.');
        let first = self.expect_ident("a type")?;
        let mut name = dot.map_or(first, |dot| dot.to(first));
        while self.eat_symbol(b'.').is_some() {
            name = name.to(self.expect_ident("a name after `.`")?);
        }
        Ok(name)
    }

    fn parse_field(&mut self) -> Parsed<DeclKind> {
        let label = match self.word() {
            b"optional" => Some(FieldLabel::Optional),
            b"required" => Some(FieldLabel::Required),
            b"repeated" => Some(FieldLabel::Repeated),
            _ => None,
        };
        if label.is_some() {
            self.advance();
        }
        if self.is_at_word("map") && self.peek().kind == TokenKind::Symbol(b'<') {
            return self.map_field(label);
        }
        let is_group = self.is_at_word("group");
        let ty = self.parse_type_name()?;
        let name = self.expect_ident("the name of the field")?;
        if self.is_at_symbol(b'{') {
            let word = ty.of(self.text);
            let help = match word {
                b"service" => Some("declare services at the top level; is a `}` missing above?"),
                _ => suggest_keyword(word, BLOCK_KEYWORDS),
            };
            return self.fail_expected_with("`=` and the number of the field", help);
        }
        let number = self.parse_field_number()?;
        let options = self.parse_option_list()?;
        let group = if is_group && self.is_at_symbol(b'{') {
            NonZeroU32::new(self.parse_message_block()?.start)
        } else {
            self.expect_semicolon()?;
            None
        };
        Ok(DeclKind::Field(FieldNode { label, ty, name, number, options, group }))
    }

    fn parse_field_number(&mut self) -> Parsed<Span> {
        if self.eat_symbol(b'=').is_none() {
            let help = self.is_at_symbol(b';').then_some("every field needs a number: `= 1;`");
            return self.fail_expected_with("`=` and the number of the field", help);
        }
        if self.token.kind == TokenKind::String {
            let help = "write a default after the number, in brackets: `[default = …]`";
            return self.fail_expected_with("the number of the field", Some(help));
        }
        self.parse_integer("the number of the field")
    }

    fn parse_integer(&mut self, what: &str) -> Parsed<Span> {
        if self.token.kind == TokenKind::Int { Ok(self.take()) } else { self.fail_expected(what) }
    }

    fn parse_signed_integer(&mut self, what: &str) -> Parsed<Span> {
        let sign = self.eat_symbol(b'-');
        let digits = self.parse_integer(what)?;
        Ok(sign.map_or(digits, |sign| sign.to(digits)))
    }

    fn map_field(&mut self, label: Option<FieldLabel>) -> Parsed<DeclKind> {
        // Its entry is a message as well.
        self.check_nesting()?;
        let start = self.take();
        self.expect_symbol(b'<')?;
        let key = self.parse_type_name()?;
        self.expect_symbol(b',')?;
        let value = self.parse_type_name()?;
        let ty = start.to(self.expect_symbol(b'>')?);
        let name = self.expect_ident("the name of the field")?;
        let number = self.parse_field_number()?;
        let options = self.parse_option_list()?;
        self.expect_semicolon()?;
        let id = self.ast.maps.len() as MapId;
        self.ast.maps.push(MapNode { label, ty, key, value, name, number, options });
        Ok(DeclKind::MapField(id))
    }

    fn parse_enum_value(&mut self) -> Parsed<DeclKind> {
        let name = self.expect_ident("an enum value")?;
        if self.eat_symbol(b'=').is_none() {
            return self.fail_expected("`=` and the number of the value");
        }
        let number = self.parse_signed_integer("the number of the value")?;
        let options = self.parse_option_list()?;
        self.expect_semicolon()?;
        Ok(DeclKind::EnumValue { name, number, options })
    }

    fn parse_method(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let name = self.expect_ident("the name of the method")?;
        let (client_streaming, input) = self.parse_method_type()?;
        if self.eat_word("returns").is_none() {
            let help = match self.is_at_symbol(b';') {
                true => Some("every method needs a response type: `returns (Type)`"),
                false => suggest_keyword(self.word(), keywords!("returns")),
            };
            return self.fail_expected_with("`returns`", help);
        }
        let (server_streaming, output) = self.parse_method_type()?;
        let body = if self.is_at_symbol(b'{') {
            Some(self.parse_block(StatementScope::Method)?)
        } else {
            self.expect_semicolon()?;
            None
        };
        let id = self.ast.methods.len() as MethodId;
        let node = MethodNode { name, input, output, client_streaming, server_streaming, body };
        self.ast.methods.push(node);
        Ok(DeclKind::Method(id))
    }

    fn parse_method_type(&mut self) -> Parsed<(Option<Span>, Span)> {
        self.expect_symbol(b'(')?;
        let streaming = self.eat_word("stream");
        let name = self.parse_type_name()?;
        self.expect_symbol(b')')?;
        Ok((streaming, name))
    }

    fn parse_extensions(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let ranges = self.parse_ranges("the first number of a range")?;
        let options = self.parse_option_list()?;
        self.expect_semicolon()?;
        Ok(DeclKind::Extensions { ranges, options })
    }

    fn parse_reserved(&mut self) -> Parsed<DeclKind> {
        self.advance();
        let quoted = self.token.kind == TokenKind::String;
        if !quoted && self.token.kind != TokenKind::Ident {
            let ranges = self.parse_ranges("a number")?;
            self.expect_semicolon()?;
            return Ok(DeclKind::ReservedNumbers { ranges });
        }
        let start = self.ast.ranges.len() as u32;
        loop {
            let name = if quoted {
                if self.token.kind == TokenKind::Int {
                    let help = "reserve names and numbers in separate statements";
                    return self.fail_expected_with("a name in quotes", Some(help));
                }
                self.expect_string("a name in quotes")?
            } else {
                self.expect_ident("a name")?
            };
            self.ast.ranges.push(RangeNode { span: name, start: name, end: RangeEnd::Single });
            if self.eat_symbol(b',').is_none() {
                break;
            }
        }
        self.expect_semicolon()?;
        let names = Slice { start, end: self.ast.ranges.len() as u32 };
        Ok(DeclKind::ReservedNames { names, quoted })
    }

    fn parse_ranges(&mut self, what: &str) -> Parsed<Slice> {
        let first = self.ast.ranges.len() as u32;
        loop {
            if self.token.kind == TokenKind::String {
                let help = "reserve names and numbers in separate statements";
                return self.fail_expected_with(what, Some(help));
            }
            let start = self.parse_signed_integer(what)?;
            let end = if self.eat_word("to").is_none() {
                RangeEnd::Single
            } else if self.is_at_word("max") {
                RangeEnd::Max(self.take())
            } else {
                RangeEnd::Number(self.parse_signed_integer("a number or `max`")?)
            };
            let span = match end {
                RangeEnd::Single => start,
                RangeEnd::Number(end) | RangeEnd::Max(end) => start.to(end),
            };
            self.ast.ranges.push(RangeNode { span, start, end });
            if self.eat_symbol(b',').is_none() {
                return Ok(Slice { start: first, end: self.ast.ranges.len() as u32 });
            }
        }
    }

    // Options.

    fn parse_option_statement(&mut self) -> Parsed<DeclKind> {
        let start = self.take();
        let id = self.parse_option()?;
        self.expect_semicolon()?;
        let span = start.to(self.last);
        self.ast.options[id as usize].span = span;
        Ok(DeclKind::Option(id))
    }

    fn parse_option_list(&mut self) -> Parsed<Slice> {
        if self.eat_symbol(b'[').is_none() {
            return Ok(Slice::default());
        }
        let start = self.ast.options.len() as u32;
        loop {
            self.parse_option()?;
            if self.eat_symbol(b',').is_none() {
                break;
            }
        }
        if self.eat_symbol(b']').is_none() {
            return self.fail_expected("`,` or `]` after an option");
        }
        Ok(Slice { start, end: self.ast.options.len() as u32 })
    }

    fn parse_option(&mut self) -> Parsed<OptionId> {
        let first = self.ast.name_parts.len() as u32;
        let mut name = self.parse_option_name_part()?;
        while self.eat_symbol(b'.').is_some() {
            name = name.to(self.parse_option_name_part()?);
        }
        let parts = Slice { start: first, end: self.ast.name_parts.len() as u32 };
        if self.eat_symbol(b'=').is_none() {
            return self.fail_expected("`=` and the value of the option");
        }
        let value = self.ast.values.len() as ValueId;
        match self.token.kind {
            TokenKind::Symbol(b'{') => self.parse_value_message(0)?,
            TokenKind::Symbol(b'[' | b'<') => {
                return self.fail_expected("a single value or a message in `{ }`");
            }
            _ => self.parse_scalar()?,
        }
        let id = self.ast.options.len() as OptionId;
        let span = name.to(self.last);
        self.ast.options.push(OptionNode { span, name, parts, value });
        Ok(id)
    }

    fn parse_option_name_part(&mut self) -> Parsed<Span> {
        let part = if let Some(opening) = self.eat_symbol(b'(') {
            let name = self.parse_type_name()?;
            let span = opening.to(self.expect_symbol(b')')?);
            NamePart { span, name, extension: true }
        } else {
            let span = self.expect_ident("the name of an option")?;
            NamePart { span, name: span, extension: false }
        };
        self.ast.name_parts.push(part);
        Ok(part.span)
    }

    fn push_value(&mut self, kind: ValueKind, span: Span) -> ValueId {
        let id = self.ast.values.len() as ValueId;
        self.ast.values.push(ValueNode { kind, span, end: id + 1 });
        id
    }

    fn close_value(&mut self, id: ValueId) {
        let end = self.ast.values.len() as ValueId;
        let value = &mut self.ast.values[id as usize];
        value.end = end;
        value.span.end = self.last.end;
    }

    fn parse_scalar(&mut self) -> Parsed<()> {
        let sign = self.eat_symbol(b'-');
        let negative = sign.is_some();
        let token = self.token;
        let kind = match token.kind {
            TokenKind::Ident => ValueKind::Ident { negative, word: token.span },
            TokenKind::Int => ValueKind::Int { negative, digits: token.span },
            TokenKind::Float => ValueKind::Float { negative, digits: token.span },
            TokenKind::String if !negative => {
                let span = self.expect_string("a string")?;
                self.push_value(ValueKind::String, span);
                return Ok(());
            }
            _ => return self.fail_expected("a value"),
        };
        self.advance();
        self.push_value(kind, sign.map_or(token.span, |sign| sign.to(token.span)));
        Ok(())
    }

    fn parse_value(&mut self, depth: u32) -> Parsed<()> {
        match self.token.kind {
            TokenKind::Symbol(b'{' | b'<') => self.parse_value_message(depth),
            TokenKind::Symbol(b'[') => self.parse_value_list(depth),
            _ => self.parse_scalar(),
        }
    }

    fn check_depth(&mut self, depth: u32) -> Parsed<()> {
        if depth < MAX_VALUE_NESTING {
            return Ok(());
        }
        self.report_error(
            self.token.span,
            format!("the value nests deeper than {MAX_VALUE_NESTING} levels"),
        );
        Err(ParseFailure)
    }

    fn parse_value_message(&mut self, depth: u32) -> Parsed<()> {
        self.check_depth(depth)?;
        let closing = if self.is_at_symbol(b'<') { b'>' } else { b'}' };
        let id = self.push_value(ValueKind::Message, self.token.span);
        let opening = self.take();
        while self.eat_symbol(closing).is_none() {
            if self.token.kind == TokenKind::End {
                self.report_unclosed(closing, opening);
                if self.recovers {
                    break;
                }
                return Err(ParseFailure);
            }
            let known = self.ast.values.len();
            if self.parse_value_field(depth + 1).is_err() {
                if !self.recovers {
                    return Err(ParseFailure);
                }
                self.ast.values.truncate(known);
                self.skip_field();
                // A brace of the other kind closes it as well.
                if !self.is_at_symbol(closing)
                    && matches!(self.token.kind, TokenKind::Symbol(b'}' | b'>'))
                {
                    self.advance();
                    break;
                }
            }
        }
        self.close_value(id);
        Ok(())
    }

    /// The fields of a message that the whole text is.
    fn parse_value_fields(&mut self) {
        let id = self.push_value(ValueKind::Message, Span::at(self.gap));
        while self.token.kind != TokenKind::End {
            let known = self.ast.values.len();
            if matches!(self.token.kind, TokenKind::Symbol(b'}' | b'>')) {
                self.report_error(self.token.span, "this closing brace has no opening brace");
                self.advance();
            } else if self.parse_value_field(1).is_err() {
                self.ast.values.truncate(known);
                self.skip_field();
            }
        }
        self.close_value(id);
    }

    /// Passes what is left of a malformed field: up to a line that begins with
    /// a key, or to the end of the message around it.
    fn skip_field(&mut self) {
        let mut open = 0_u32;
        loop {
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Symbol(b'{' | b'<') => open += 1,
                TokenKind::Symbol(b'}' | b'>') if open == 0 => return,
                TokenKind::Symbol(b'}' | b'>') => open -= 1,
                TokenKind::Ident | TokenKind::Symbol(b'[')
                    if open == 0 && self.is_at_line_start() =>
                {
                    return;
                }
                TokenKind::Symbol(b',' | b';') if open == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }

    fn parse_value_field(&mut self, depth: u32) -> Parsed<()> {
        let (key, form) = self.parse_key()?;
        let id = self.push_value(ValueKind::Field { key, form }, key);
        let colon = self.eat_symbol(b':');
        if colon.is_none() && !matches!(self.token.kind, TokenKind::Symbol(b'{' | b'<' | b'[')) {
            return self.fail_expected("`:` and a value");
        }
        self.parse_value(depth)?;
        self.close_value(id);
        if self.eat_symbol(b',').is_none() {
            self.eat_symbol(b';');
        }
        Ok(())
    }

    fn parse_key(&mut self) -> Parsed<(Span, KeyForm)> {
        let Some(opening) = self.eat_symbol(b'[') else {
            return Ok((self.expect_ident("the name of a field")?, KeyForm::Field));
        };
        let mut form = KeyForm::Extension;
        loop {
            self.expect_ident("the name of an extension")?;
            // The host of a type URL may hold dashes.
            while self.eat_symbol(b'-').is_some() {
                self.expect_ident("a name after `-`")?;
            }
            if self.eat_symbol(b'/').is_some() {
                form = KeyForm::AnyUrl;
            } else if self.eat_symbol(b'.').is_none() {
                break;
            }
        }
        let closing = self.expect_symbol(b']')?;
        Ok((opening.to(closing), form))
    }

    fn parse_value_list(&mut self, depth: u32) -> Parsed<()> {
        self.check_depth(depth)?;
        let id = self.push_value(ValueKind::List, self.token.span);
        self.advance();
        if self.eat_symbol(b']').is_none() {
            loop {
                if self.is_at_symbol(b'[') {
                    return self.fail_expected("a value that is not a list");
                }
                self.parse_value(depth + 1)?;
                if self.eat_symbol(b',').is_none() {
                    break;
                }
            }
            self.expect_symbol(b']')?;
        }
        self.close_value(id);
        Ok(())
    }
}
