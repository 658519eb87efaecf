//! Translated values as edits of the text that they were read from, so that comments, order and
//! layout of what did not change stay as they are.

mod alias_expansion;
mod anchors;
mod edit_plan;
mod flow;
mod lines;
mod nodes;
mod text;
mod writer;
mod yaml_blocks;

use std::collections::{HashMap, HashSet};

use abide_schema::value::{
    Codec, JsonKind, JsonMapping, JsonNode, Message, UndeclaredPolicy, parse_json,
};
use abide_schema::{MessageId, Tree};
use abide_syntax::Span;
use abide_upgrade::{Edit, apply};

use crate::document::{normalize_structs, read_named_type};
use crate::readers::yaml::{self, YamlText};
use crate::readers::{Dialect, Notation};
use alias_expansion::expand_changed_aliases;
use anchors::AnchorNames;
use edit_plan::{EditPlan, Planner};
use lines::TextLines;
use nodes::{NodeIndex, get_members};
use text::TextWriter;
use writer::{PlanWriter, collect_staying_keys};

/// A document of a text, and the value that it is to have.
pub(crate) struct RewrittenDocument<'m> {
    /// The span of the document.
    pub(crate) span: Span,
    /// The value so far.
    pub(crate) old: &'m Message,
    /// The value: with the places of what the text says already.
    pub(crate) new: &'m Message,
}

/// A text after a rewrite.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RewrittenText {
    pub(crate) text: Vec<u8>,
    /// Notes about positions of the text, as lower-case phrases.
    pub(crate) notes: Vec<(Span, String)>,
}

/// How YAML is parsed: with or without what its reader passes over.
type ParseYaml = fn(&str, Dialect) -> YamlText<'_>;

/// The documents of a text, and its comments.
type ReadRoots<'n> = (Vec<JsonNode<'n>>, Vec<Span>);

/// A text, and how it is read.
#[derive(Clone, Copy)]
pub(crate) struct RewriteSource<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) text: &'a [u8],
    pub(crate) notation: Notation,
    pub(crate) dialect: Dialect,
    /// The versions of a type, the oldest first.
    pub(crate) versions: &'a dyn Fn(MessageId) -> Vec<MessageId>,
}

impl RewriteSource<'_> {
    /// Writes documents anew and proves that the text says what it should: it is read again.
    ///
    /// # Errors
    /// What the text would say wrongly: one lower-case phrase. That is an error of Abide.
    pub(crate) fn rewrite(
        self,
        documents: &[RewrittenDocument<'_>],
    ) -> Result<RewrittenText, String> {
        let rewritten = match self.notation {
            Notation::Yaml | Notation::Json => self.rewrite_nodes(documents)?,
            Notation::Text => self.rewrite_text(documents)?,
            Notation::Binary => {
                let codec = Codec::new(self.tree);
                let text = documents.iter().flat_map(|it| codec.encode(it.new)).collect();
                RewrittenText { text, notes: Vec::new() }
            }
        };
        self.check_rewritten(documents, &rewritten.text)?;
        Ok(rewritten)
    }

    fn rewrite_text(self, documents: &[RewrittenDocument<'_>]) -> Result<RewrittenText, String> {
        let text = std::str::from_utf8(self.text).map_err(|_| "the text is not valid UTF-8")?;
        let mut writer = TextWriter { tree: self.tree, lines: TextLines(text), edits: Vec::new() };
        for document in documents {
            writer.write_message(document.old, document.new, document.span);
            let (old, new) =
                (self.get_type_name(document.old.ty), self.get_type_name(document.new.ty));
            let header = text.lines().take_while(|it| it.trim().is_empty() || it.starts_with('#'));
            let named = { header }.find(|it| read_named_type(it.as_bytes()) == Some(old.as_str()));
            if let Some(line) = named.filter(|_| old != new) {
                let start = line.as_ptr() as usize - text.as_ptr() as usize;
                let start = (start + line.rfind(old.as_str()).unwrap_or_default()) as u32;
                let span = Span { start, end: start + old.len() as u32 };
                writer.edits.push(Edit::replace(span, new));
            }
        }
        Ok(RewrittenText { text: apply_edits(self.text, writer.edits)?, notes: Vec::new() })
    }

    fn read_roots<'n>(self, text: &'n [u8], parse: ParseYaml) -> Result<ReadRoots<'n>, String> {
        if self.notation == Notation::Json {
            let (node, errors) = parse_json(text, JsonMapping::Lenient);
            return match errors.into_iter().next() {
                Some(error) => Err(error.message),
                None => Ok((node.into_iter().collect(), Vec::new())),
            };
        }
        let text = std::str::from_utf8(text).map_err(|_| "the text is not valid UTF-8")?;
        let parsed = parse(text, self.dialect);
        match parsed.errors.into_iter().next() {
            Some(error) => Err(error.message),
            None => {
                let documents = parsed.documents.into_iter();
                let is_some = |it: &JsonNode<'_>| !matches!(it.kind, JsonKind::Null);
                let documents: Vec<JsonNode<'_>> = documents.filter(is_some).collect();
                Ok((documents, parsed.comments))
            }
        }
    }

    fn rewrite_nodes(self, documents: &[RewrittenDocument<'_>]) -> Result<RewrittenText, String> {
        let (mut roots, comments) = self.read_roots(self.text, yaml::parse_whole)?;
        let text = std::str::from_utf8(self.text).map_err(|_| "the text is not valid UTF-8")?;
        let is_json = self.notation == Notation::Json;
        let mut moved_lists = HashMap::new();
        if !is_json {
            roots.iter_mut().for_each(|it| move_lists_to_dashes(it, text, &mut moved_lists));
        }
        let anchors = if is_json { AnchorNames::default() } else { AnchorNames::find(text) };
        let (mut edits, mut notes) = (Vec::new(), Vec::new());
        for document in documents {
            let span = moved_lists.get(&document.span).unwrap_or(&document.span);
            let root = roots.iter().find(|it| it.span == *span);
            let root = root.ok_or("a document is not where it was")?;
            edits.extend(self.rewrite_header(document, text, &comments, root));
            let nodes = NodeIndex::index(root);
            let mut drafter = Planner {
                tree: self.tree,
                nodes: &nodes,
                moved_lists: &moved_lists,
                keeps_repeated: !is_json && self.dialect == Dialect::Envoy,
                versions: self.versions,
                claimed_keys: HashSet::new(),
            };
            let has_type = get_members(root).iter().any(|it| it.key == "@type");
            let mut draft = match has_type {
                true => drafter.plan_typed_object(None, document.new, root.span),
                false => drafter.plan_message(document.new, root.span),
            };
            let claimed = drafter.claimed_keys;
            let aliases = expand_changed_aliases(&mut draft, &nodes, &anchors);
            for alias in aliases.written_out.keys() {
                let name = text.get(alias.range()).unwrap_or_default();
                notes.push((
                    *alias,
                    format!("the alias `{name}` is written out, because its places differ now"),
                ));
            }
            let mut stays = HashSet::new();
            collect_staying_keys(&draft, &mut stays);
            let lines = TextLines(text);
            let mut writer = PlanWriter {
                lines,
                nodes: &nodes,
                anchors: &anchors,
                comments: &comments,
                is_json,
                step: 2,
                list_step: 0,
                pads: false,
                staying: stays,
                claimed_keys: claimed,
                written: HashSet::new(),
                edits: Vec::new(),
            };
            (writer.step, writer.list_step, writer.pads) = detect_style(&writer, root);
            if writer.can_edit_in_place(&draft, root) {
                writer.edit_in_place(&draft, root);
            } else if draft != EditPlan::Kept(root.span) {
                let is_flow = writer.is_flow(root);
                let text = match is_flow {
                    true => writer.format_flow(&draft, 0, lines.is_multi(root.span)),
                    false => {
                        let text = writer.format_block(&draft, 0, yaml_blocks::WrittenAfter::Dash);
                        yaml_blocks::shift_lines(text.trim_start(), 2, 0)
                    }
                };
                let end = writer.find_end(root);
                edits.push(Edit::replace(Span { start: root.span.start, end }, text));
            }
            edits.append(&mut writer.edits);
        }
        let rewritten = apply_edits(self.text, edits)?;
        let (_, left) = self.read_roots(&rewritten, yaml::parse_whole)?;
        if left.len() < comments.len() {
            let new = std::str::from_utf8(&rewritten).unwrap_or_default();
            let mut kept: Vec<&str> = left.iter().map(|it| TextLines(new).slice(*it)).collect();
            // Those that name the type of a document name another one now.
            let is_header =
                |it: &&Span| read_named_type(TextLines(text).slice(**it).as_bytes()).is_some();
            for comment in comments.iter().filter(|it| !is_header(it)) {
                match kept.iter().position(|it| *it == TextLines(text).slice(*comment)) {
                    Some(at) => drop(kept.swap_remove(at)),
                    None => notes.push((*comment, "this comment has no place any more".to_owned())),
                }
            }
        }
        Ok(RewrittenText { text: rewritten, notes })
    }

    /// The edit of the comment that names the type of a document.
    fn rewrite_header(
        self,
        document: &RewrittenDocument<'_>,
        text: &str,
        comments: &[Span],
        root: &JsonNode<'_>,
    ) -> Option<Edit> {
        let (old, new) = (self.get_type_name(document.old.ty), self.get_type_name(document.new.ty));
        let mut above = comments.iter().rev().filter(|it| it.start < root.span.start);
        let (comment, said) = above.find_map(|it| {
            let said = read_named_type(text.get(it.range())?.as_bytes())?;
            Some((it, said))
        })?;
        let is_old = said.rsplit('/').next() == Some(old.as_str()) && old != new;
        let at = text.get(comment.range())?.rfind(old.as_str()).filter(|_| is_old)? as u32;
        let start = comment.start + at;
        Some(Edit::replace(Span { start, end: start + old.len() as u32 }, new))
    }

    fn get_type_name(self, ty: MessageId) -> String {
        self.tree.message(ty).full_name()
    }

    /// Reads the text again.
    fn check_rewritten(
        self,
        documents: &[RewrittenDocument<'_>],
        text: &[u8],
    ) -> Result<(), String> {
        let codec = Codec::new(self.tree);
        let wrong = |why: &str| format!("the new text does not say the new value: {why}");
        let shown = |message: &Message| codec.to_json(message).map_err(|it| it.message);
        let compare = |read: &Message, new: &Message| {
            let settled = |it| normalize_structs(self.tree, self.dialect, it);
            let (read, new) = (settled(read), settled(new));
            let is_same = match (shown(&read), shown(&new)) {
                (Ok(a), Ok(b)) => a == b,
                _ => codec.encode(&read) == codec.encode(&new),
            };
            is_same.then_some(()).ok_or_else(|| {
                let name = self.get_type_name(new.ty);
                wrong(&format!("a `{name}` differs"))
            })
        };
        match self.notation {
            Notation::Yaml | Notation::Json => {
                let (roots, _) = self.read_roots(text, yaml::parse).map_err(|why| wrong(&why))?;
                if roots.len() < documents.len() {
                    return Err(wrong("a document is missing"));
                }
                let (old, _) = self.read_roots(self.text, yaml::parse)?;
                for document in documents {
                    let at = old.iter().position(|it| it.span == document.span);
                    let root = at.and_then(|at| roots.get(at)).ok_or("a document is missing")?;
                    let bare = remove_type_key(codec, root, document.new.ty);
                    // What stays as it was written is read as it was read.
                    let reading = codec.read_json_node_as(
                        self.dialect.mapping(),
                        document.new.ty,
                        &bare,
                        UndeclaredPolicy::Refuse,
                    );
                    if let Some(error) = reading.errors.first() {
                        return Err(wrong(&error.message));
                    }
                    compare(&reading.message, document.new)?;
                }
            }
            Notation::Text | Notation::Binary => {
                for document in documents {
                    let ty = document.new.ty;
                    let read = match self.notation {
                        Notation::Binary => codec.decode(ty, text).map_err(|it| it.message),
                        _ => codec
                            .read_text(ty, text, UndeclaredPolicy::Refuse)
                            .into_result()
                            .map_err(|it| it.message),
                    };
                    compare(&read.map_err(|why| wrong(&why))?, document.new)?;
                }
            }
        }
        Ok(())
    }
}

/// A text after all its edits.
fn apply_edits(text: &[u8], edits: Vec<Edit>) -> Result<Vec<u8>, String> {
    apply(text, edits)
        .map_err(|overlap| format!("two edits claim the bytes from {} on", overlap.0.span.start))
}

/// Lets lists in block style begin at their first dash: at the same place as its first element, a
/// list could not be told from it. Notes where they began.
fn move_lists_to_dashes(node: &mut JsonNode<'_>, text: &str, moved: &mut HashMap<Span, Span>) {
    let old = node.span;
    match &mut node.kind {
        JsonKind::Object(members) => {
            members.iter_mut().for_each(|it| move_lists_to_dashes(&mut it.value, text, moved));
        }
        JsonKind::Array(elements) => {
            let behind = text.get(node.span.start as usize..).unwrap_or_default();
            let first = elements.first().map(|it| it.span).filter(|it| !it.is_empty());
            // What an alias repeats stands elsewhere.
            let is_alias = behind.starts_with('*') && first.is_none_or(|it| it.start != old.start);
            let first = first.filter(|_| !behind.starts_with('[') && !is_alias);
            if let Some(first) = first {
                let before = text.get(..first.start as usize).unwrap_or_default();
                let dash = before.rmatch_indices('-').map(|it| it.0).find(|at| {
                    before[at + 1..].starts_with(char::is_whitespace)
                        && lines::is_element_start(before, *at)
                });
                node.span.start = dash.map_or(node.span.start, |at| at as u32);
                moved.entry(old).or_insert(node.span);
            }
            elements.iter_mut().for_each(|it| move_lists_to_dashes(it, text, moved));
        }
        _ => {}
    }
}

/// A document without the key that says its type.
fn remove_type_key<'n>(codec: Codec<'_>, root: &JsonNode<'n>, ty: MessageId) -> JsonNode<'n> {
    let mut root = root.clone();
    if let JsonKind::Object(members) = &mut root.kind {
        let before = members.len();
        members.retain(|it| it.key != "@type");
        let value = members.iter().position(|it| it.key == "value");
        if let Some(at) = value.filter(|_| members.len() < before && codec.has_own_json(ty)) {
            return members.swap_remove(at).value;
        }
    }
    root
}

/// By how many spaces a text indents mappings, and lists below their keys; and whether it has
/// spaces inside of brackets.
fn detect_style(writer: &PlanWriter<'_, '_>, root: &JsonNode<'_>) -> (usize, usize, bool) {
    let (mut step, mut list_step, mut pads) = (None, None, None);
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match &node.kind {
            JsonKind::Object(members) => {
                let text = writer.lines.slice(node.span);
                if writer.is_flow(node) && !members.is_empty() {
                    pads = Some(text.starts_with("{ "));
                }
                for member in members.iter().rev() {
                    let key = member.key_span.start;
                    let outer = writer.lines.column(key);
                    let is_block = !writer.is_flow(&member.value);
                    let inner = writer.lines.column(member.value.span.start);
                    let below = writer.lines.is_first(member.value.span.start);
                    match &member.value.kind {
                        _ if !below && is_block => {}
                        JsonKind::Array(_) if is_block => {
                            list_step = inner.checked_sub(outer).or(list_step);
                        }
                        JsonKind::Object(_) if is_block => {
                            step = inner.checked_sub(outer).filter(|it| *it > 0).or(step);
                        }
                        JsonKind::Object(inside) if writer.is_json => {
                            let first = inside.first().map(|it| it.key_span.start);
                            let first = first.filter(|it| writer.lines.is_first(*it));
                            let inner = first.map(|it| writer.lines.indent(it));
                            let outer = writer.lines.indent(key);
                            step = inner
                                .and_then(|it| it.checked_sub(outer))
                                .filter(|it| *it > 0)
                                .or(step);
                        }
                        _ => {}
                    }
                    open.push(&member.value);
                }
            }
            JsonKind::Array(elements) => open.extend(elements.iter().rev()),
            _ => {}
        }
    }
    (step.unwrap_or(2), list_step.unwrap_or(0), pads.unwrap_or(false))
}
