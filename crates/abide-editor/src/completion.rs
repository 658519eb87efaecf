//! Completions at a position.

use std::collections::BTreeSet;

use abide_schema::{
    Edition, Element, EnumValue, Field, FileDecl, FileKey, Message, Scalar, Tree, Type,
};
use abide_syntax::Span;

use crate::analysis::TreeAnalysis;
use crate::member_numbers::{next_field_number, next_value_number};
use crate::project::Project;
use crate::syntax_at::{EnclosingBlock, ExpectedSyntax, OptionTarget, SyntaxPosition};
use crate::text_edit::{TextEdit, add_import};

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after what it completes")]
pub enum CompletionKind {
    Message,
    Enum,
    EnumValue,
    Scalar,
    Keyword,
    Snippet,
    File,
    Number,
    Option,
    Value,
}

/// Something that can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorCompletion {
    /// The kind.
    pub kind: CompletionKind,
    /// The label in the list.
    pub label: String,
    /// The detail beside the label.
    pub detail: String,
    /// The inserted text; of a snippet with `$1` and `$0` where the user goes on.
    pub text: String,
    /// The replaced span.
    pub span: Span,
    /// A change elsewhere in the file: a type of another file is imported.
    pub import: Option<TextEdit>,
    /// Lists are sorted by this, then by the label.
    pub rank: u8,
}

/// The number of completions offered; the user goes on typing for the others.
const MAX_COMPLETIONS: usize = 200;

/// The message whose fields are the features of protobuf itself.
const FEATURE_SET: &str = "google.protobuf.FeatureSet";

/// Where an option is written.
#[derive(Clone, Copy)]
struct OptionPlace {
    on: OptionTarget,
    edition: Edition,
}

impl OptionPlace {
    /// Returns true if an option, or a field of its value, may be set here.
    fn allows(self, field: Field<'_>) -> bool {
        let targets = field.targets();
        let is_features = field.name() == "features" && !field.is_extension();
        field.name() != "uninterpreted_option"
            && (self.edition.is_edition() || !is_features)
            && (targets.is_empty() || targets.contains(&self.on.number()))
            && field.exists_in(self.edition)
    }
}

const SNIPPETS: &[(&str, &str, &str)] = &[
    ("file", "message", "message ${1:Name} {\n  $0\n}"),
    ("file", "enum", "enum ${1:Name} {\n  ${2:NAME}_UNSPECIFIED = 0;\n  $0\n}"),
    ("file", "service", "service ${1:Name} {\n  $0\n}"),
    ("file", "import", "import \"$0\";"),
    ("message", "map", "map<${1:string}, ${2:string}> ${3:name} = ${4:1};$0"),
    ("message", "oneof", "oneof ${1:name} {\n  $0\n}"),
    ("message", "reserved", "reserved ${1:1};$0"),
    ("service", "rpc", "rpc ${1:Name}(${2:Request}) returns (${3:Response});$0"),
];

const KEYWORDS: &[(&str, &[&str])] = &[
    (
        "file",
        &[
            "syntax", "edition", "package", "import", "option", "message", "enum", "service",
            "extend", "export", "local",
        ],
    ),
    (
        "message",
        &[
            "optional",
            "repeated",
            "required",
            "oneof",
            "map",
            "reserved",
            "extensions",
            "option",
            "message",
            "enum",
            "extend",
            "export",
            "local",
        ],
    ),
    ("enum", &["option", "reserved"]),
    ("service", &["rpc", "option"]),
    ("method", &["option"]),
    ("oneof", &["option"]),
    ("extend", &["optional", "repeated"]),
];

impl Project {
    /// Completes at an offset of a file; also returns whether there are more than it offers.
    pub fn complete_at(&mut self, key: &FileKey, offset: u32) -> (Vec<EditorCompletion>, bool) {
        self.analyze();
        let found = self.last_analysis().and_then(|analysis| {
            let decl = self.file(key)?;
            let text = decl.source_text()?;
            let at = SyntaxPosition::find(text, offset)?;
            Some(self.complete(analysis, decl, &at))
        });
        let mut found = found.unwrap_or_default();
        found.sort_by(|a, b| {
            (a.rank, a.label.len(), &a.label).cmp(&(b.rank, b.label.len(), &b.label))
        });
        found.dedup_by(|a, b| (a.kind, &a.label) == (b.kind, &b.label));
        let is_cut = found.len() > MAX_COMPLETIONS;
        found.truncate(MAX_COMPLETIONS);
        (found, is_cut)
    }

    fn complete(
        &self,
        analysis: &TreeAnalysis,
        decl: &FileDecl,
        at: &SyntaxPosition,
    ) -> Vec<EditorCompletion> {
        let word = at.word.str(decl.source_text().unwrap_or_default());
        match &at.expected {
            ExpectedSyntax::Import => self.complete_import(decl, word, at.word),
            ExpectedSyntax::Edition | ExpectedSyntax::Syntax => Edition::iter_known()
                .filter(|it| it.is_edition() == (at.expected == ExpectedSyntax::Edition))
                .filter(|it| it.word().starts_with(word))
                .map(|it| new_completion(CompletionKind::Value, it.word(), "", at.word))
                .collect(),
            ExpectedSyntax::Statement => {
                let mut found = complete_statement(at, word, decl.edition);
                let takes_types = matches!(
                    at.blocks.last(),
                    Some(
                        EnclosingBlock::Message(_) | EnclosingBlock::Oneof | EnclosingBlock::Extend
                    )
                );
                if takes_types {
                    found.extend(complete_scalar(word, at.word, |_| true));
                    found.extend(self.complete_type(decl, word, at, false));
                }
                found
            }
            ExpectedSyntax::Type { only_messages } => {
                let mut found = self.complete_type(decl, word, at, *only_messages);
                if !only_messages {
                    found.extend(complete_scalar(word, at.word, |_| true));
                }
                found
            }
            ExpectedSyntax::MapKey => complete_scalar(word, at.word, |it| {
                !matches!(it, Scalar::Double | Scalar::Float | Scalar::Bytes)
            })
            .collect(),
            ExpectedSyntax::Number => complete_number(analysis, decl, at).into_iter().collect(),
            ExpectedSyntax::OptionName(on) => {
                let place = OptionPlace { on: *on, edition: decl.edition };
                complete_option_name(analysis.get_readable(), place, word, at.word)
            }
            ExpectedSyntax::OptionValue(on, path) => {
                let place = OptionPlace { on: *on, edition: decl.edition };
                complete_option_value(analysis.get_readable(), place, path, word, at.word)
            }
            ExpectedSyntax::OptionKey(on, path) => {
                let place = OptionPlace { on: *on, edition: decl.edition };
                let message = resolve_option_message(analysis.get_readable(), *on, path);
                let fields = message.into_iter();
                fields.flat_map(|it| complete_field(it, place, "", word, at.word)).collect()
            }
        }
    }

    /// The paths of all files, but for those that are imported and the file itself.
    fn complete_import(&self, decl: &FileDecl, word: &str, span: Span) -> Vec<EditorCompletion> {
        let imported: BTreeSet<&str> = decl.imports.iter().map(|it| &*it.path).collect();
        let mut paths: Vec<&str> = self.files().map(|it| &*it.path).collect();
        for path in abide_schema::built_in_paths() {
            paths.push(path);
        }
        let is_new = |it: &&str| {
            (!imported.contains(it) || *it == word) && *it != &*decl.path && it.contains(word)
        };
        let completion = |path: &str| EditorCompletion {
            rank: u8::from(!path.starts_with(word)),
            ..new_completion(CompletionKind::File, path, "", span)
        };
        paths.into_iter().filter(is_new).map(completion).collect()
    }

    /// The types of the tree. One of a file that is not imported brings its import.
    fn complete_type(
        &self,
        decl: &FileDecl,
        word: &str,
        at: &SyntaxPosition,
        only_messages: bool,
    ) -> Vec<EditorCompletion> {
        let seen = self.find_visible(decl);
        let mut found = Vec::new();
        let well_known = abide_schema::well_known_paths().filter_map(|path| {
            let file = abide_schema::SourceFile {
                path: path.into(),
                display: path.into(),
                root: u32::MAX,
                imported: true,
                text: abide_schema::FileText::from(abide_schema::find_well_known(path)?.as_bytes()),
            };
            // Only of those that the user may mean, since each is parsed.
            word.starts_with("google").then(|| FileDecl::parse(file))
        });
        let well_known: Vec<FileDecl> = well_known.collect();
        for other in self.files().map(|it| &**it).chain(&well_known) {
            let is_visible = seen.contains(&other.path);
            for (name, kind) in iter_declared_types(other) {
                if only_messages && kind == CompletionKind::Enum || !can_complete(&name, word) {
                    continue;
                }
                let package = other.package_name();
                let is_own = package == decl.package_name();
                let local = name.strip_prefix(package).map(|it| it.trim_start_matches('.'));
                let text = local.filter(|_| is_own && !word.contains('.')).unwrap_or(&name);
                let import = if is_visible { None } else { add_import(decl, &other.path) };
                let rank = match (is_own, is_visible) {
                    (true, true) => 1,
                    (true, false) | (false, true) => 2,
                    (false, false) => 3,
                };
                let detail =
                    if is_visible { String::new() } else { format!("import \"{}\"", other.path) };
                found.push(EditorCompletion {
                    import,
                    rank,
                    ..new_completion(kind, text, &detail, at.word)
                });
            }
        }
        found
    }

    /// The paths of the files whose types a file sees: its own, its imports, and what these import
    /// publicly.
    fn find_visible(&self, decl: &FileDecl) -> BTreeSet<std::sync::Arc<str>> {
        let mut seen = BTreeSet::from([std::sync::Arc::clone(&decl.path)]);
        let mut open: Vec<String> = decl.imports.iter().map(|it| it.path.to_string()).collect();
        while let Some(path) = open.pop() {
            if !seen.insert(path.as_str().into()) {
                continue;
            }
            let passed_on = self.find_files(&path).flat_map(|it| &it.imports);
            let passed_on = passed_on.filter(|it| it.kind == abide_syntax::ImportKind::Public);
            open.extend(passed_on.map(|it| it.path.to_string()));
        }
        seen
    }
}

fn new_completion(kind: CompletionKind, text: &str, detail: &str, span: Span) -> EditorCompletion {
    EditorCompletion {
        kind,
        label: text.to_owned(),
        detail: detail.to_owned(),
        text: text.to_owned(),
        span,
        import: None,
        rank: 1,
    }
}

/// Returns true if a full name is one that a word may begin: from its start, or from its last
/// component.
fn can_complete(name: &str, word: &str) -> bool {
    let begins = |it: &str| it.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
    begins(name) || name.match_indices('.').any(|(at, _)| name.get(at + 1..).is_some_and(begins))
}

/// The messages and enums of a file by their full names, without entries of maps.
pub(crate) fn iter_declared_types(
    decl: &FileDecl,
) -> impl Iterator<Item = (String, CompletionKind)> {
    let full = |mut parent: abide_schema::Parent, name: abide_schema::Name| {
        let mut names = vec![decl.str(name)];
        while let abide_schema::Parent::Message(index) = parent {
            let Some(message) = decl.messages.get(index as usize) else { break };
            names.push(decl.str(message.name));
            parent = message.parent;
        }
        names.push(decl.package_name());
        names.reverse();
        names.retain(|it| !it.is_empty());
        names.join(".")
    };
    let is_written = |it: &&abide_schema::MessageDecl| {
        it.kind != abide_schema::MessageKind::MapEntry && !decl.str(it.name).is_empty()
    };
    let messages = decl.messages.iter().filter(is_written);
    let messages = messages.map(move |it| (full(it.parent, it.name), CompletionKind::Message));
    let enums = decl.enums.iter().filter(|it| !decl.str(it.name).is_empty());
    messages.chain(enums.map(move |it| (full(it.parent, it.name), CompletionKind::Enum)))
}

fn complete_scalar(
    word: &str,
    span: Span,
    is_allowed: impl Fn(Scalar) -> bool,
) -> impl Iterator<Item = EditorCompletion> {
    let names = [
        "string", "bytes", "bool", "int32", "int64", "uint32", "uint64", "sint32", "sint64",
        "fixed32", "fixed64", "sfixed32", "sfixed64", "float", "double",
    ];
    let word = word.to_owned();
    let scalars = names.into_iter().filter_map(Scalar::from_keyword);
    scalars.filter(move |it| is_allowed(*it) && it.keyword().starts_with(&word)).map(move |it| {
        EditorCompletion {
            rank: 0,
            ..new_completion(CompletionKind::Scalar, it.keyword(), "", span)
        }
    })
}

fn complete_statement(at: &SyntaxPosition, word: &str, edition: Edition) -> Vec<EditorCompletion> {
    let place = match at.blocks.last() {
        None => "file",
        Some(EnclosingBlock::Message(_)) => "message",
        Some(EnclosingBlock::Enum(_)) => "enum",
        Some(EnclosingBlock::Service) => "service",
        Some(EnclosingBlock::Method) => "method",
        Some(EnclosingBlock::Oneof) => "oneof",
        Some(EnclosingBlock::Extend) => "extend",
        Some(EnclosingBlock::Value(_)) => return Vec::new(),
    };
    let keywords = KEYWORDS.iter().filter(|it| it.0 == place).flat_map(|it| it.1);
    let keywords = keywords.filter(|it| it.starts_with(word) && has_keyword(edition, it));
    let keywords = keywords.map(|it| new_completion(CompletionKind::Keyword, it, "", at.word));
    let snippets = SNIPPETS.iter().filter(|it| it.0 == place && it.1.starts_with(word));
    let snippets = snippets.map(|(_, label, text)| EditorCompletion {
        text: (*text).to_owned(),
        label: format!("{label} …"),
        ..new_completion(CompletionKind::Snippet, label, "snippet", at.word)
    });
    keywords.chain(snippets).collect()
}

/// Returns true if an edition has a keyword.
fn has_keyword(edition: Edition, keyword: &str) -> bool {
    match keyword {
        "optional" => !edition.is_edition(),
        "required" => edition == Edition::Proto2,
        "export" | "local" => edition >= Edition::Edition2024,
        _ => true,
    }
}

/// The next free number, for a field or an enum value.
fn complete_number(
    analysis: &TreeAnalysis,
    decl: &FileDecl,
    at: &SyntaxPosition,
) -> Option<EditorCompletion> {
    let mut names: Vec<&str> = vec![decl.package_name()];
    names.extend(at.blocks.iter().filter_map(|it| match it {
        EnclosingBlock::Message(name) | EnclosingBlock::Enum(name) => Some(name.as_str()),
        _ => None,
    }));
    names.retain(|it| !it.is_empty());
    let (tree, old, name) = (analysis.get_readable(), analysis.old.as_ref(), names.join("."));
    let next = match at.blocks.iter().rev().find(|it| !matches!(it, EnclosingBlock::Oneof))? {
        EnclosingBlock::Message(_) => next_field_number(tree, old, &name),
        EnclosingBlock::Enum(_) => next_value_number(tree, old, &name),
        _ => None,
    }?;
    Some(new_completion(CompletionKind::Number, &next.to_string(), "the next free number", at.word))
}

/// The names of options, below a path that is already written.
fn complete_option_name(
    tree: &Tree,
    place: OptionPlace,
    word: &str,
    span: Span,
) -> Vec<EditorCompletion> {
    let on = place.on;
    let Some(options) = tree.message_named(on.get_message()) else { return Vec::new() };
    let (path, last) = word.rsplit_once('.').unwrap_or(("", word));
    let inner = match path {
        "" => Some(options),
        path => resolve_option_message(tree, on, &[path.to_owned()]),
    };
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    let mut found: Vec<EditorCompletion> =
        inner.into_iter().flat_map(|it| complete_field(it, place, &prefix, last, span)).collect();
    let extensions = tree.files().flat_map(|it| it.all_fields());
    let extensions = extensions.filter(|it| it.extendee() == Some(options));
    found.extend(extensions.filter(|it| can_complete(&it.full_name(), word)).map(|it| {
        let name = format!("({})", it.full_name());
        new_completion(CompletionKind::Option, &name, &crate::hover::format_type_name(it), span)
    }));
    found
}

fn complete_field<'t>(
    message: Message<'t>,
    place: OptionPlace,
    prefix: &str,
    word: &str,
    span: Span,
) -> impl Iterator<Item = EditorCompletion> + use<'t> {
    let (prefix, word) = (prefix.to_owned(), word.to_owned());
    let fields = message.fields();
    let wanted = fields.filter(move |it| it.name().starts_with(&word) && place.allows(*it));
    wanted.map(move |it| {
        let name = format!("{prefix}{}", it.name());
        new_completion(CompletionKind::Option, &name, &crate::hover::format_type_name(it), span)
    })
}

/// The field that a path of keys leads to; the first is the name of an option.
fn resolve_option_field<'t>(
    tree: &'t Tree,
    on: OptionTarget,
    path: &[String],
) -> Option<Field<'t>> {
    let mut message = tree.message_named(on.get_message())?;
    let mut field = None;
    for part in path.iter().flat_map(|it| split(it)) {
        let found = match part.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
            Some(name) => find_extension(tree, message, name.trim_start_matches('.')),
            None => message.fields().find(|it| it.name() == part),
        }?;
        if let Some(inner) = found.message_type() {
            message = inner;
        }
        field = Some(found);
    }
    field
}

/// The extension of a message with this name, which may leave out the package.
fn find_extension<'t>(tree: &'t Tree, message: Message<'t>, name: &str) -> Option<Field<'t>> {
    let is_it = |it: &Field<'_>| it.extendee() == Some(message);
    let mut named = tree.extensions_named(name).filter(is_it);
    let ends = format!(".{name}");
    named.next().or_else(|| {
        let mut all = tree.files().flat_map(|it| it.all_fields()).filter(is_it);
        all.find(|it| it.full_name().ends_with(&ends))
    })
}

/// The parts of an option's name: `(a.b)` is one of them.
fn split(name: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in name.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '.' if depth == 0 => {
                parts.extend(name.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(name.get(start..));
    parts.retain(|it| !it.is_empty());
    parts
}

fn resolve_option_message<'t>(
    tree: &'t Tree,
    on: OptionTarget,
    path: &[String],
) -> Option<Message<'t>> {
    resolve_option_field(tree, on, path)?.message_type()
}

/// The values that an option can have, as far as they are few.
fn complete_option_value(
    tree: &Tree,
    place: OptionPlace,
    path: &[String],
    word: &str,
    span: Span,
) -> Vec<EditorCompletion> {
    let Some(field) = resolve_option_field(tree, place.on, path) else { return Vec::new() };
    let of_feature = field.parent().is_some_and(|it| it.full_name() == FEATURE_SET);
    let values: Vec<(String, CompletionKind)> = match field.ty() {
        Type::Scalar(Scalar::Bool) => {
            ["true", "false"].map(|it| (it.to_owned(), CompletionKind::Value)).into()
        }
        Type::Enum(id) => {
            let values = tree.enumeration(id).values();
            // The value for "unknown" cannot be set.
            let can_be_set = |it: &EnumValue<'_>| {
                it.exists_in(place.edition) && !(of_feature && it.number() == 0)
            };
            values
                .filter(can_be_set)
                .map(|it| (Element::EnumValue(it).name().to_owned(), CompletionKind::EnumValue))
                .collect()
        }
        Type::Message(_) => vec![("{ }".to_owned(), CompletionKind::Value)],
        Type::Scalar(_) | Type::Unresolved => Vec::new(),
    };
    let wanted = values.into_iter().filter(|(it, _)| it.starts_with(word));
    wanted.map(|(it, kind)| new_completion(kind, &it, "", span)).collect()
}
