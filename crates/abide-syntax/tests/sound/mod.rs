//! What must hold for the tree of any text, understood or not.

use abide_syntax::{
    Ast, Decl, DeclKind, Lexer, Slice, Span, SyntaxError, TokenKind, ValueKind, find_comments,
    parse, unescape_all,
};

/// Parses a text and panics where the tree does not describe it.
pub(crate) fn check(text: &[u8]) -> (Ast, Vec<SyntaxError>) {
    let ends = token_ends(text);
    let (ast, errors) = parse(text);
    check_decls(text, &ast, &ends);
    check_options(text, &ast);
    check_values(text, &ast);
    check_errors(text, &errors);
    (ast, errors)
}

/// Between two tokens stand white space and comments and nothing else; the
/// ends of all tokens, in order.
fn token_ends(text: &[u8]) -> Vec<u32> {
    let mut lexer = Lexer::new(text, 0);
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut ends = vec![mark];
    let mut last = mark;
    loop {
        let token = lexer.next_token();
        assert!(token.span.start >= last, "{token:?} begins before {last}");
        let mut at = last;
        let gap = Span::new(last, token.span.start);
        for comment in find_comments(text, gap) {
            assert!(comment.span.end <= gap.end, "{comment:?} leaves the gap {gap:?}");
            assert_blank(text, Span::new(at, comment.span.start));
            at = comment.span.end;
        }
        assert_blank(text, Span::new(at, gap.end));
        last = token.span.end;
        if token.kind == TokenKind::End {
            assert_eq!(last as usize, text.len(), "the end is not the end of the text");
            assert_eq!(lexer.next_token(), token, "there is a token behind the end");
            return ends;
        }
        assert!(!token.span.is_empty(), "{token:?} is empty");
        ends.push(last);
    }
}

fn assert_blank(text: &[u8], span: Span) {
    let rest = span.of(text);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c);
    assert!(rest.iter().all(blank), "{span:?} is neither a token nor a comment: {rest:?}");
}

fn assert_inside(inner: Span, outer: Span) {
    let inside = outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end;
    assert!(inside, "{inner:?} is not inside of {outer:?}");
}

fn check_decls(text: &[u8], ast: &Ast, ends: &[u32]) {
    let whole = Span::new(0, text.len() as u32);
    assert_inside(ast.span, whole);
    assert!(ast.end as usize <= text.len() && ast.span.end <= ast.end);
    let count = ast.decls.len() as u32;
    let mut open: Vec<(u32, Span)> = Vec::new();
    let mut last = 0;
    for (id, decl) in (0..).zip(&ast.decls) {
        while open.last().is_some_and(|(end, _)| *end <= id) {
            last = open.pop().map_or(last, |(_, span)| span.end);
        }
        let (parent_end, outer) = open.last().copied().unwrap_or((count, whole));
        assert!(id < decl.end && decl.end <= parent_end, "{decl:?} has descendants of others");
        assert_inside(decl.span, outer);
        assert!(!decl.span.is_empty(), "{decl:?} is empty");
        assert!(last <= decl.span.start, "{decl:?} begins before {last}");
        assert!(decl.gap <= decl.span.start);
        let before = ends.partition_point(|&end| end <= decl.span.start) - 1;
        assert_eq!(decl.gap, ends[before], "the gap of {decl:?} is not the end of a token");
        for part in parts(ast, decl) {
            assert_inside(part, decl.span);
        }
        let options = options(ast, &decl.kind);
        assert_inside(Span::new(options.start, options.end), all(&ast.options));
        for option in &ast.options[options.range()] {
            assert_inside(option.span, decl.span);
        }
        match decl.kind {
            DeclKind::Option(id) => assert_inside(ast.options[id as usize].span, decl.span),
            DeclKind::Extensions { ranges: slice, .. }
            | DeclKind::ReservedNumbers { ranges: slice }
            | DeclKind::ReservedNames { names: slice, .. } => {
                check_ranges(ast, slice, decl.span);
            }
            _ => {}
        }
        last = decl.span.start;
        open.push((decl.end, decl.span));
    }
}

fn all<T>(arena: &[T]) -> Span {
    Span::new(0, arena.len() as u32)
}

fn check_ranges(ast: &Ast, slice: Slice, outer: Span) {
    assert!(slice.start < slice.end, "a statement without ranges");
    let mut last = outer.start;
    for range in &ast.ranges[slice.range()] {
        assert_inside(range.span, outer);
        assert_inside(range.start, range.span);
        assert!(last <= range.span.start, "{range:?} begins before {last}");
        last = range.span.end;
    }
}

/// The spans of the parts that a declaration always has or may have.
fn parts(ast: &Ast, decl: &Decl) -> Vec<Span> {
    match decl.kind {
        DeclKind::Syntax { value, .. } => vec![value],
        DeclKind::Package { name } => vec![name],
        DeclKind::Import { path, modifier, .. } => {
            if modifier.is_empty() {
                vec![path]
            } else {
                vec![modifier, path]
            }
        }
        DeclKind::Message { name, visibility, body }
        | DeclKind::Enum { name, visibility, body } => {
            visibility.map(|it| it.1).into_iter().chain([name, body]).collect()
        }
        DeclKind::Service { name, body }
        | DeclKind::Extend { extendee: name, body }
        | DeclKind::Oneof { name, body } => vec![name, body],
        DeclKind::Field(it) => {
            let label = it.label.map(|label| label.span(decl));
            label.into_iter().chain([it.ty, it.name, it.number]).chain(it.body(decl)).collect()
        }
        DeclKind::MapField(id) => {
            let it = ast.maps[id as usize];
            let label = it.label.map(|label| label.span(decl));
            label.into_iter().chain([it.ty, it.key, it.value, it.name, it.number]).collect()
        }
        DeclKind::EnumValue { name, number, .. } => vec![name, number],
        DeclKind::Method(id) => {
            let it = ast.methods[id as usize];
            let streaming = it.client_streaming.into_iter().chain(it.server_streaming);
            streaming.chain([it.name, it.input, it.output]).chain(it.body).collect()
        }
        DeclKind::Option(_)
        | DeclKind::Extensions { .. }
        | DeclKind::ReservedNumbers { .. }
        | DeclKind::ReservedNames { .. }
        | DeclKind::Empty
        | DeclKind::Error => vec![],
    }
}

/// The options in the brackets of a declaration.
fn options(ast: &Ast, kind: &DeclKind) -> Slice {
    match *kind {
        DeclKind::Field(field) => field.options,
        DeclKind::MapField(id) => ast.maps[id as usize].options,
        DeclKind::EnumValue { options, .. } | DeclKind::Extensions { options, .. } => options,
        _ => Slice::default(),
    }
}

fn check_options(text: &[u8], ast: &Ast) {
    for option in &ast.options {
        assert_inside(option.span, Span::new(0, text.len() as u32));
        assert_inside(option.name, option.span);
        let parts = ast.name_parts(option);
        assert!(!parts.is_empty(), "{option:?} has no name");
        for part in parts {
            assert_inside(part.span, option.name);
            assert_inside(part.name, part.span);
        }
        assert_inside(ast.values[option.value as usize].span, option.span);
    }
}

fn check_values(text: &[u8], ast: &Ast) {
    for (id, value) in (0..).zip(&ast.values) {
        assert_inside(value.span, Span::new(0, text.len() as u32));
        assert!(id < value.end && value.end as usize <= ast.values.len());
        let mut last = value.span.start;
        for child in ast.value_children(id) {
            let child = &ast.values[child as usize];
            assert_inside(child.span, value.span);
            assert!(last <= child.span.start, "{child:?} begins before {last}");
            last = child.span.end;
        }
        match value.kind {
            ValueKind::Field { key, .. } => assert_inside(key, value.span),
            ValueKind::Ident { word: part, .. }
            | ValueKind::Int { digits: part, .. }
            | ValueKind::Float { digits: part, .. } => assert_inside(part, value.span),
            ValueKind::String => {
                if let Err(error) = unescape_all(text, value.span) {
                    assert_inside(error.span, value.span);
                }
            }
            ValueKind::Message | ValueKind::List | ValueKind::Error => {}
        }
    }
}

fn check_errors(text: &[u8], errors: &[SyntaxError]) {
    assert!(errors.len() <= abide_syntax::MAX_ERRORS, "{} errors", errors.len());
    assert!(errors.is_sorted_by_key(|error| error.span.start), "unordered: {errors:?}");
    for error in errors {
        for span in [Some(error.span), error.related.map(|it| it.0)].into_iter().flatten() {
            assert_inside(span, Span::new(0, text.len() as u32));
        }
        assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
    }
}
