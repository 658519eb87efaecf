//! A parser by recursive descent.
//!
//! The crate `cel` is no help here: its syntax trees have no places, it expands
//! macros while it parses, and its parser overflows the stack on 20,000 parentheses.

use std::ops::Range;

use super::CelError;
use super::ast::{Expr, ExprKind};
use super::lexer::{Token, TokenKind, split_tokens};
use super::literal;

/// The depth to which brackets may nest: the limit of the implementation in Rust. That in Go has
/// 250, that in C++ 32.
const MAX_NESTING: u32 = 96;

/// The most levels of a syntax tree. Chains such as `a + b + c` are deep without brackets.
const MAX_DEPTH: u32 = 250;

/// The most bytes of an expression: the limit of cel-go, in characters.
const MAX_LENGTH: usize = 100_000;

/// Names that the language keeps for itself.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// The binary operators with their functions and how tight they bind.
const BINARY: &[(&str, &str, u8)] = &[
    ("||", "_||_", 0),
    ("&&", "_&&_", 1),
    ("==", "_==_", 2),
    ("!=", "_!=_", 2),
    ("<=", "_<=_", 2),
    (">=", "_>=_", 2),
    ("<", "_<_", 2),
    (">", "_>_", 2),
    ("in", "@in", 2),
    ("+", "_+_", 3),
    ("-", "_-_", 3),
    ("*", "_*_", 4),
    ("/", "_/_", 4),
    ("%", "_%_", 4),
];

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Expr, CelError> {
    if text.chars().count() > MAX_LENGTH {
        let message = format!("it has more than {MAX_LENGTH} characters");
        return Err(CelError::new(0..text.len(), message));
    }
    let tokens = split_tokens(text)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, depth: 0 };
    let expr = parser.parse_expr()?;
    match parser.peek().kind {
        TokenKind::End => Ok(expr),
        _ => Err(parser.report_unexpected("the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    /// The depth to which the parser has recursed.
    depth: u32,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        const END: &Token = &Token { kind: TokenKind::End, span: 0..0 };
        self.tokens.get(self.at).or(self.tokens.last()).unwrap_or(END)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Sign(it) if *it == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<Range<usize>, CelError> {
        if self.is(sign) {
            return Ok(self.next().span);
        }
        Err(self.report_unexpected(&format!("`{sign}`")))
    }

    fn report_unexpected(&self, wanted: &str) -> CelError {
        let token = self.peek();
        let message = match token.kind {
            TokenKind::End => format!("it ends where {wanted} is expected"),
            _ => format!("expected {wanted}"),
        };
        CelError::new(token.span.clone(), message)
    }

    /// An expression of parts, unless they nest too deep.
    fn build_node(
        &self,
        kind: ExprKind,
        span: Range<usize>,
        parts: impl IntoIterator<Item = u32>,
    ) -> Result<Expr, CelError> {
        let depth = parts.into_iter().max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return Err(too_deep(span, MAX_DEPTH));
        }
        Ok(Expr { kind, span, depth })
    }

    fn call(
        &self,
        function: &str,
        target: Option<Expr>,
        arguments: Vec<Expr>,
        span: Range<usize>,
    ) -> Result<Expr, CelError> {
        let depths: Vec<u32> = target.iter().chain(&arguments).map(|it| it.depth).collect();
        let (function, target) = (function.to_owned(), target.map(Box::new));
        self.build_node(ExprKind::Call { function, target, arguments }, span, depths)
    }

    fn parse_expr(&mut self) -> Result<Expr, CelError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(too_deep(self.peek().span.clone(), MAX_NESTING));
        }
        let mut expr = self.parse_binary(0)?;
        if self.eat("?") {
            let yes = self.parse_binary(0)?;
            self.expect(":")?;
            let no = self.parse_expr()?;
            let span = expr.span.start..no.span.end;
            expr = self.call("_?_:_", None, vec![expr, yes, no], span)?;
        }
        self.depth -= 1;
        Ok(expr)
    }

    /// Operands and operators that bind at least this tight.
    fn parse_binary(&mut self, loosest: u8) -> Result<Expr, CelError> {
        let mut left = self.parse_unary()?;
        while let Some((function, tightness)) = self.find_operator().filter(|it| it.1 >= loosest) {
            self.at += 1;
            let right = self.parse_binary(tightness + 1)?;
            left = self.combine(function, left, right)?;
        }
        Ok(left)
    }

    /// The function of the operator that is next, and how tight it binds.
    fn find_operator(&self) -> Option<(&'static str, u8)> {
        let text = match &self.peek().kind {
            TokenKind::Sign(sign) => sign,
            TokenKind::Name(name) => name.as_str(),
            _ => return None,
        };
        let found = BINARY.iter().find(|(sign, ..)| *sign == text);
        found.map(|(_, function, tightness)| (*function, *tightness))
    }

    /// A chain of `&&` or `||` is one call, so that it does not nest.
    fn combine(&self, name: &str, mut left: Expr, right: Expr) -> Result<Expr, CelError> {
        let span = left.span.start..right.span.end;
        if let ("_&&_" | "_||_", ExprKind::Call { function, arguments, .. }) =
            (name, &mut left.kind)
            && function == name
        {
            left.depth = left.depth.max(right.depth + 1);
            left.span = span;
            arguments.push(right);
            return Ok(left);
        }
        self.call(name, None, vec![left, right], span)
    }

    fn parse_unary(&mut self) -> Result<Expr, CelError> {
        let start = self.peek().span.start;
        let function = if self.is("!") {
            "!_"
        } else if self.is("-") {
            "-_"
        } else {
            return self.parse_member();
        };
        let sign = if function == "!_" { "!" } else { "-" };
        let mut is_odd = false;
        while self.eat(sign) {
            is_odd = !is_odd;
        }
        let operand = self.parse_member()?;
        let span = start..operand.span.end;
        let once = self.call(function, None, vec![operand], span.clone())?;
        // A pair of them is nothing to the value, but has a type.
        if is_odd { Ok(once) } else { self.call(function, None, vec![once], span) }
    }

    fn parse_member(&mut self) -> Result<Expr, CelError> {
        let mut expr = self.parse_primary()?;
        loop {
            let start = expr.span.start;
            if self.eat(".") {
                let (field, end) = self.parse_selector()?;
                expr = if self.eat("(") {
                    let (arguments, end) = self.parse_list(")")?;
                    self.call(&field, Some(expr), arguments, start..end)?
                } else {
                    let depth = expr.depth;
                    let kind = ExprKind::Select { operand: Box::new(expr), field };
                    self.build_node(kind, start..end, [depth])?
                };
            } else if self.eat("[") {
                let index = self.parse_expr()?;
                let end = self.expect("]")?.end;
                expr = self.call("_[_]", None, vec![expr, index], start..end)?;
            } else if self.is("{") {
                let Some(name) = expr.qualified_name() else { return Ok(expr) };
                expr = self.parse_fields(name, start)?;
            } else {
                return Ok(expr);
            }
        }
    }

    /// The name behind a dot.
    fn parse_selector(&mut self) -> Result<(String, usize), CelError> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Name(name) if !matches!(name.as_str(), "in" | "true" | "false" | "null") => {
                self.at += 1;
                Ok((name, token.span.end))
            }
            TokenKind::Quoted(name) => {
                self.at += 1;
                Ok((name, token.span.end))
            }
            _ => Err(self.report_unexpected("a name")),
        }
    }

    fn parse_primary(&mut self) -> Result<Expr, CelError> {
        let Token { kind, span } = self.peek().clone();
        let written = self.text.get(span.clone()).unwrap_or_default();
        let literal = match kind {
            TokenKind::Int => ExprKind::Int(literal::parse_integer(written) as i64),
            TokenKind::Uint => ExprKind::Uint(literal::parse_integer(written)),
            TokenKind::Double => ExprKind::Double(written.parse().unwrap_or_default()),
            TokenKind::String => {
                let bytes = literal::unescape(written);
                ExprKind::String(String::from_utf8_lossy(&bytes).into())
            }
            TokenKind::Bytes => ExprKind::Bytes(literal::unescape(written).into()),
            TokenKind::Name(name) => match name.as_str() {
                "true" | "false" => ExprKind::Bool(name == "true"),
                "null" => ExprKind::Null,
                _ => return self.parse_name(name, span.start, false),
            },
            TokenKind::Sign(".") => {
                self.at += 1;
                let TokenKind::Name(name) = self.peek().kind.clone() else {
                    return Err(self.report_unexpected("a name"));
                };
                return self.parse_name(name, span.start, true);
            }
            TokenKind::Sign("(") => {
                self.at += 1;
                let inner = self.parse_expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            TokenKind::Sign("[") => return self.parse_items(),
            TokenKind::Sign("{") => return self.map(),
            TokenKind::Quoted(_) | TokenKind::Sign(_) | TokenKind::End => {
                return Err(self.report_unexpected("an expression"));
            }
        };
        self.at += 1;
        self.build_node(literal, span, [])
    }

    /// A variable or a call of a function.
    fn parse_name(&mut self, name: String, start: usize, rooted: bool) -> Result<Expr, CelError> {
        let span = self.next().span;
        if RESERVED.contains(&name.as_str()) {
            return Err(CelError::new(span, format!("`{name}` is reserved")));
        }
        if self.eat("(") {
            let (arguments, end) = self.parse_list(")")?;
            return self.call(&name, None, arguments, start..end);
        }
        self.build_node(ExprKind::Ident { name, rooted }, start..span.end, [])
    }

    /// Expressions up to a closing bracket, which only lists may have a comma before.
    fn parse_list(&mut self, closing: &str) -> Result<(Vec<Expr>, usize), CelError> {
        let mut items = Vec::new();
        while !self.is(closing) {
            items.push(self.parse_expr()?);
            if !self.eat(",") {
                break;
            }
            if closing == ")" && self.is(closing) {
                return Err(self.report_unexpected("an expression"));
            }
        }
        let end = self.expect(closing)?.end;
        Ok((items, end))
    }

    fn parse_items(&mut self) -> Result<Expr, CelError> {
        let start = self.expect("[")?.start;
        let (items, end) = self.parse_list("]")?;
        let depths: Vec<u32> = items.iter().map(|it| it.depth).collect();
        self.build_node(ExprKind::List(items), start..end, depths)
    }

    fn map(&mut self) -> Result<Expr, CelError> {
        let start = self.expect("{")?.start;
        let mut entries = Vec::new();
        while !self.is("}") {
            let key = self.parse_expr()?;
            self.expect(":")?;
            entries.push((key, self.parse_expr()?));
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("}")?.end;
        let depths: Vec<u32> = entries.iter().flat_map(|(a, b)| [a.depth, b.depth]).collect();
        self.build_node(ExprKind::Map(entries), start..end, depths)
    }

    fn parse_fields(&mut self, name: String, start: usize) -> Result<Expr, CelError> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.is("}") {
            let at = self.peek().span.start;
            let (field, end) = self.parse_selector()?;
            self.expect(":")?;
            fields.push((field, at..end, self.parse_expr()?));
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("}")?.end;
        let depths: Vec<u32> = fields.iter().map(|(.., value)| value.depth).collect();
        self.build_node(ExprKind::Struct { name, fields }, start..end, depths)
    }
}

fn too_deep(span: Range<usize>, levels: u32) -> CelError {
    CelError::new(span, format!("it nests deeper than {levels} levels"))
}
