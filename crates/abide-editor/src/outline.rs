//! The shape of a file: what it declares, what can be folded, and where its imports lead.

use abide_schema::{File, FileDecl, FileKey, MentionTarget};
use abide_syntax::{Ast, Comment, DeclKind, Span, find_comments};

use crate::analysis::TreeAnalysis;
use crate::project::{Project, get_key};

/// A declaration, with those inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineItem {
    /// Its name.
    pub name: String,
    /// The keyword: `message`, `field`, …
    pub noun: &'static str,
    /// Further detail: the type and number of a field.
    pub detail: String,
    /// The whole declaration.
    pub span: Span,
    /// Its name.
    pub name_span: Span,
    /// The elements declared in it.
    pub children: Vec<OutlineItem>,
}

/// Lines that can be folded away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldableRange {
    /// A range that can be folded.
    pub span: Span,
    /// True if it is a comment.
    pub is_comment: bool,
    /// True if it is a run of imports.
    pub is_imports: bool,
}

/// An import, and the file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportLink {
    /// The path, with its quotes.
    pub span: Span,
    /// The file.
    pub file: FileKey,
}

/// A declaration somewhere in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceSymbol {
    /// Its file.
    pub file: FileKey,
    /// Its name.
    pub name: String,
    /// The kind.
    pub noun: &'static str,
    /// The container: a package or a type.
    pub container: String,
    /// Its name in the file.
    pub span: Span,
}

impl Project {
    /// Collects the declarations of a file. The result depends on the text of that file alone.
    pub fn collect_outline(&self, file: &FileKey) -> Vec<OutlineItem> {
        self.file(file).map(|it| collect_items(it, None)).unwrap_or_default()
    }

    /// Collects the folding ranges of a file.
    pub fn collect_folds(&self, file: &FileKey) -> Vec<FoldableRange> {
        self.file(file).and_then(|it| folds(it)).unwrap_or_default()
    }

    /// The declarations in the tree whose names have the letters of a query, in their order; those
    /// that begin with the query come first.
    pub fn search_symbols(&self, query: &str, limit: usize) -> Vec<WorkspaceSymbol> {
        let query = query.to_lowercase();
        let wanted = query.rsplit('.').next().unwrap_or(&query);
        let mut found: Vec<(u8, WorkspaceSymbol)> = Vec::new();
        for decl in self.files() {
            let mut add = |item: OutlineItem, container: &str| {
                let rank = compute_rank(&item.name.to_lowercase(), wanted);
                let full = || format!("{container}.{}", item.name).to_lowercase();
                let Some(rank) = rank.filter(|_| !query.contains('.') || full().contains(&query))
                else {
                    return;
                };
                let symbol = WorkspaceSymbol {
                    file: get_key(decl),
                    name: item.name,
                    noun: item.noun,
                    container: container.to_owned(),
                    span: item.name_span,
                };
                found.push((rank, symbol));
            };
            let is_near = |name: &str| compute_rank(&name.to_lowercase(), wanted).is_some();
            if iter_declared_names(decl).any(is_near) {
                walk_outline(collect_items(decl, None), decl.package_name(), &mut add);
            }
        }
        found.sort_by(|a, b| {
            (a.0, a.1.name.len(), &a.1.name, &a.1.file).cmp(&(
                b.0,
                b.1.name.len(),
                &b.1.name,
                &b.1.file,
            ))
        });
        found.into_iter().map(|(_, it)| it).take(limit).collect()
    }
}

impl TreeAnalysis {
    /// The imports of a file that were found.
    pub fn collect_links(&self, file: &FileKey) -> Vec<ImportLink> {
        let names = self.find_file(file).into_iter().flat_map(File::mentions);
        let links = names.filter_map(|it| match it.means {
            MentionTarget::File(target) => {
                Some(ImportLink { span: it.span, file: get_key(target.decl()) })
            }
            MentionTarget::Element(_) | MentionTarget::Package(_) => None,
        });
        links.collect()
    }
}

fn iter_declared_names(decl: &FileDecl) -> impl Iterator<Item = &str> {
    let messages = decl.messages.iter().map(|it| it.name);
    let enums = decl.enums.iter().map(|it| it.name);
    let services = decl.services.iter().map(|it| it.name);
    let members = decl.fields.iter().map(|it| it.name).chain(decl.values.iter().map(|it| it.name));
    let methods = decl.methods.iter().map(|it| it.name);
    let all = messages.chain(enums).chain(services).chain(members).chain(methods);
    all.map(|it| decl.str(it))
}

/// Computes the distance between a name and a query; less is nearer.
fn compute_rank(name: &str, query: &str) -> Option<u8> {
    if name == query {
        return Some(0);
    }
    if name.starts_with(query) {
        return Some(1);
    }
    if name.contains(query) {
        return Some(2);
    }
    let mut letters = name.chars();
    query.chars().all(|it| letters.any(|letter| letter == it)).then_some(3)
}

fn walk_outline(items: Vec<OutlineItem>, container: &str, add: &mut impl FnMut(OutlineItem, &str)) {
    let mut open: Vec<(OutlineItem, String)> =
        items.into_iter().rev().map(|it| (it, container.to_owned())).collect();
    while let Some((mut item, container)) = open.pop() {
        let inner = std::mem::take(&mut item.children);
        let name = match container.as_str() {
            "" => item.name.clone(),
            container => format!("{container}.{}", item.name),
        };
        open.extend(inner.into_iter().rev().map(|it| (it, name.clone())));
        add(item, &container);
    }
}

/// The declarations below one. The parser limits how deep they nest.
fn collect_items(decl: &FileDecl, parent: Option<u32>) -> Vec<OutlineItem> {
    let (Some(ast), Some(text)) = (decl.ast(), decl.source_text()) else { return Vec::new() };
    let inner = ast.children_of(parent).filter_map(|id| {
        let node = ast.decls.get(id as usize)?;
        let str = |span: Span| span.str(text).to_owned();
        let numbered = |ty: Span, number: Span| format!("{} = {}", str(ty), str(number));
        let (noun, name, detail) = match node.kind {
            DeclKind::Package { name } => ("package", name, String::new()),
            DeclKind::Message { name, .. } => ("message", name, String::new()),
            DeclKind::Enum { name, .. } => ("enum", name, String::new()),
            DeclKind::Service { name, .. } => ("service", name, String::new()),
            DeclKind::Oneof { name, .. } => ("oneof", name, String::new()),
            DeclKind::Extend { extendee, .. } => ("extend", extendee, "extend".to_owned()),
            DeclKind::Field(it) => ("field", it.name, numbered(it.ty, it.number)),
            DeclKind::MapField(id) => {
                let map = ast.maps.get(id as usize)?;
                ("field", map.name, numbered(map.ty, map.number))
            }
            DeclKind::EnumValue { name, number, .. } => {
                ("enum value", name, format!("= {}", str(number)))
            }
            DeclKind::Method(id) => {
                let method = ast.methods.get(id as usize)?;
                let detail = format!("{} → {}", str(method.input), str(method.output));
                ("method", method.name, detail)
            }
            DeclKind::Syntax { .. }
            | DeclKind::Import { .. }
            | DeclKind::Option(_)
            | DeclKind::Extensions { .. }
            | DeclKind::ReservedNumbers { .. }
            | DeclKind::ReservedNames { .. }
            | DeclKind::Empty
            | DeclKind::Error => return None,
        };
        let (name_span, name) = (name, str(name));
        if name.is_empty() {
            return None;
        }
        let children = collect_items(decl, Some(id));
        Some(OutlineItem { name, noun, detail, span: node.span, name_span, children })
    });
    inner.collect()
}

fn folds(decl: &FileDecl) -> Option<Vec<FoldableRange>> {
    let (ast, text) = (decl.ast()?, decl.source_text()?);
    let fold = |span| FoldableRange { span, is_comment: false, is_imports: false };
    let bodies = ast.decls.iter().filter_map(|it| ast.body_of(it));
    let aggregates = ast.values.iter().filter(|it| {
        matches!(it.kind, abide_syntax::ValueKind::Message | abide_syntax::ValueKind::List)
    });
    let mut folds: Vec<FoldableRange> =
        bodies.chain(aggregates.map(|it| it.span)).map(fold).collect();
    folds.extend(
        find_import_block(ast).map(|span| FoldableRange { is_imports: true, ..fold(span) }),
    );
    folds.extend(
        collect_comment_blocks(ast, text)
            .map(|span| FoldableRange { is_comment: true, ..fold(span) }),
    );
    let is_long = |it: &FoldableRange| memchr::memchr(b'\n', it.span.of(text)).is_some();
    folds.retain(is_long);
    folds.sort_by_key(|it| (it.span.start, it.span.end));
    Some(folds)
}

fn find_import_block(ast: &Ast) -> impl Iterator<Item = Span> {
    let imports = ast.decls.iter().filter(|it| matches!(it.kind, DeclKind::Import { .. }));
    imports.map(|it| it.span).reduce(Span::to).into_iter()
}

/// Block comments, and line comments on consecutive lines, before declarations.
fn collect_comment_blocks(ast: &Ast, text: &[u8]) -> impl Iterator<Item = Span> {
    let gaps = ast.decls.iter().map(|it| Span::new(it.gap, it.span.start));
    let gaps = gaps.chain([Span::new(ast.span.end, ast.end)]);
    let gaps = gaps.filter(|it| it.start < it.end);
    let mut runs: Vec<Span> = Vec::new();
    for Comment { span, .. } in gaps.flat_map(|gap| find_comments(text, gap)) {
        let joins = |last: &Span| {
            let between = Span::new(last.end, span.start).of(text);
            last.end <= span.start
                && between.iter().filter(|it| **it == b'\n').count() <= 1
                && between.iter().all(u8::is_ascii_whitespace)
        };
        match runs.last_mut().filter(|it| joins(it)) {
            Some(last) => *last = last.to(span),
            None => runs.push(span),
        }
    }
    runs.into_iter()
}
