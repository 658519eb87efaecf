//! A text with its syntax tree, in words and comments.

use abide_syntax::{Ast, CommentBlock, Lexer, Span, TokenKind, find_comments};

/// A text that is laid out, and its syntax tree.
#[derive(Clone, Copy)]
pub(super) struct SourceText<'t> {
    pub(super) text: &'t str,
    pub(super) ast: &'t Ast,
}

impl SourceText<'_> {
    /// The tokens of a part of a declaration, as words that are never broken.
    pub(super) fn split_words(&self, span: Span) -> Vec<String> {
        let text = self.text.as_bytes();
        let mut words: Vec<String> = Vec::new();
        let mut lexer = Lexer::new(text, span.start);
        let (mut first, mut before) = ("", "");
        loop {
            let token = lexer.next_token();
            if token.kind == TokenKind::End || token.span.start >= span.end {
                return words;
            }
            let own = token.span.str(text);
            let glued = match own {
                _ if matches!(before, "(" | "<" | "." | "-" | "/" | "[") => true,
                ")" | ">" | "," | "<" | "/" | "]" | ";" => true,
                // A leading dot begins a name.
                "." => {
                    let label = ["extend", "optional", "repeated", "required"].contains(&before);
                    let streams = first == "rpc" && before == "stream";
                    !(before == "," || streams || label && words.len() == 1)
                }
                "(" => !(before == "returns" || before == "=" || first == "option"),
                _ => false,
            };
            match words.last_mut().filter(|_| glued) {
                Some(word) => word.push_str(own),
                None => words.push(own.to_owned()),
            }
            if first.is_empty() {
                first = own;
            }
            before = own;
        }
    }

    /// Every comment between the tokens of a part of the text.
    pub(super) fn find_comments(&self, span: Span) -> Vec<Span> {
        let text = self.text.as_bytes();
        let mut found = Vec::new();
        let mut lexer = Lexer::new(text, span.start);
        let mut at = span.start;
        while at < span.end {
            let token = lexer.next_token();
            let gap = Span::new(at, token.span.start.min(span.end));
            found.extend(find_comments(text, gap).map(|it| it.span));
            if token.kind == TokenKind::End {
                break;
            }
            at = token.span.end;
        }
        found
    }

    /// Returns true if a trailing comment needs its own lines.
    pub(super) fn is_tall(&self, run: CommentBlock) -> bool {
        run.span.str(self.text.as_bytes()).contains('\n')
    }
}
