//! Renaming, as far as nobody breaks by it.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_lint::{Finding, Group, Severity, backtick, find_rule};
use abide_schema::{
    Element, File, FileDecl, FileKey, Mention, MentionTarget, Node, ProblemKind, Tree,
};
use abide_syntax::{Lexer, Span, TokenKind};

use crate::navigation::Identity;
use crate::project::{Project, key_of};
use crate::text_edit::{FileEdits, TextEdit};

/// What can be renamed at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// The part of the name that changes.
    pub span: Span,
    /// The name that it has.
    pub name: String,
}

/// Why something is not renamed, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameRefusal(pub String);

impl Project {
    /// What can be renamed at an offset of a file.
    pub fn renamable(&mut self, file: &FileKey, offset: u32) -> Result<Renamable, RenameRefusal> {
        let text = self.file(file).and_then(|it| it.source_text()).map(<[u8]>::to_vec);
        let text = text.unwrap_or_default();
        let refuse = |why: &str| Err(RenameRefusal(why.to_owned()));
        match self.analysis().meaning_at(file, offset) {
            None => refuse("There is no name to rename here."),
            Some((MentionTarget::File(_), _)) => {
                refuse("Rename the file itself; Abide renames what is declared in it.")
            }
            Some((MentionTarget::Package(name), _)) => refuse(&format!(
                "`{name}` is a package: move its files, and write its new name in each of them."
            )),
            Some((MentionTarget::Element(it), _)) if it.file().is_imported() => refuse(&format!(
                "`{}` is declared in `{}`, which is only imported and not part of this tree.",
                it.full_name(),
                it.file().path()
            )),
            Some((MentionTarget::Element(it), _)) if stands_nowhere(it) => {
                refuse("The key and the value of a map have the same names in every map.")
            }
            Some((MentionTarget::Element(Element::Field(it)), _)) if it.is_group() => {
                refuse("A group has the name of its type; rename the type.")
            }
            Some((_, span)) => Ok(Renamable { span, name: span.str(&text).to_owned() }),
        }
    }

    /// The edits that rename what an offset of a file names, in all files that use it. Refused if
    /// somebody breaks by it who is not in the tree: then the reason says who.
    pub fn rename(
        &mut self,
        file: &FileKey,
        offset: u32,
        name: &str,
    ) -> Result<Vec<FileEdits>, RenameRefusal> {
        let old = self.renamable(file, offset)?;
        if !is_identifier(name) {
            return Err(RenameRefusal(format!(
                "`{name}` is not a name: use letters, digits and `_`, and begin with a letter or `_`."
            )));
        }
        if old.name == name {
            return Ok(Vec::new());
        }
        let Some((meaning, _)) = self.analysis().meaning_at(file, offset) else {
            return Ok(Vec::new());
        };
        let identity = Identity::of(meaning);
        let using = self.mentioning(&identity.words());
        let is_broken = |it: &&Arc<FileDecl>| {
            it.problems.iter().any(|problem| problem.kind == ProblemKind::Syntax)
                && it.source_text().is_some_and(|text| has_word(text, &identity.words()))
        };
        if let Some(decl) = using.iter().filter_map(|it| self.file(it)).find(is_broken) {
            return Err(RenameRefusal(format!(
                "Not renamed: `{}` has syntax errors, so it is not known what it uses.",
                decl.display
            )));
        }
        // A text that has the new name may mean something else by it afterwards.
        let mut words = identity.words();
        words.push(name.to_owned());
        let keys = self.mentioning(&words);
        let tree = self.tree_of(keys.iter().cloned());
        let Some(element) = identity.element(&tree) else { return Ok(Vec::new()) };
        let rename = Rename::of(element, name);
        let edits = match self.edits_that_keep_meanings(&tree, &rename, &keys) {
            Ok(edits) => edits,
            Err(why) => {
                // That the new name is taken says more than what it would mean.
                self.refuse_if_broken(&listed(&rename.edits), &rename, &keys)?;
                return Err(why);
            }
        };
        self.refuse_if_broken(&edits, &rename, &keys)?;
        Ok(edits)
    }

    /// The edits of a rename after which each name of these files means what it meant: one that
    /// would mean something else, or nothing, is written in full.
    fn edits_that_keep_meanings(
        &self,
        tree: &Tree,
        rename: &Rename<'_>,
        keys: &[FileKey],
    ) -> Result<Vec<FileEdits>, RenameRefusal> {
        let mut edits = rename.edits.clone();
        loop {
            let listed = listed(&edits);
            let after = self.with_texts(self.texts_after(&listed)).tree_of(keys.iter().cloned());
            let astray = astray(tree, &after, &edits);
            let Some((file, mention)) = astray.first() else { return Ok(listed) };
            // What follows an extension that is not found is found once that is.
            let in_full =
                astray.iter().map(|(file, it)| rename.write_in_full(*file, *it, &mut edits));
            if in_full.filter(|is_new| *is_new).count() == 0 {
                let decl = file.decl();
                return Err(RenameRefusal(format!(
                    "Not renamed: {} in line {} of `{}` would not mean {} any more.",
                    backtick(mention.whole.str(decl.source_text().unwrap_or_default())),
                    decl.line_index().line(mention.whole.start) + 1,
                    decl.display,
                    meant(mention.means)
                )));
            }
        }
    }

    fn texts_after(&self, edits: &[FileEdits]) -> Vec<(FileKey, Vec<u8>)> {
        let texts = edits.iter().filter_map(|it| {
            let text = self.file(&it.file)?.source_text()?;
            Some((it.file.clone(), abide_upgrade::apply(text, it.edits.clone()).ok()?))
        });
        texts.collect()
    }

    /// Refuses edits after which there are errors in these files that were not there before, but for
    /// those of style, which an editor shows and which break nobody.
    fn refuse_if_broken(
        &self,
        edits: &[FileEdits],
        rename: &Rename<'_>,
        keys: &[FileKey],
    ) -> Result<(), RenameRefusal> {
        for it in edits {
            if let Some(decl) = self.file(&it.file).filter(|it| it.imported) {
                return Err(RenameRefusal(format!(
                    "Not renamed: `{}` uses it, which is only imported and not part of this tree.",
                    decl.path
                )));
            }
        }
        let mut before = self.with_texts(Vec::new());
        before.open(keys.iter().cloned().collect());
        let mut after = self.with_texts(self.texts_after(edits));
        after.open(keys.iter().cloned().collect());
        let mut known: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for it in errors(&before.analysis().findings) {
            *known.entry((it.rule, rename.name_after(&it.element))).or_default() += 1;
        }
        let is_new = |it: &&Finding| match known.get_mut(&(it.rule, it.element.clone())) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        match errors(&after.analysis().findings).find(is_new) {
            None => Ok(()),
            Some(finding) => Err(rename.refusal(finding)),
        }
    }
}

/// Edits of each file, by where they begin.
type Edits = BTreeMap<FileKey, BTreeMap<u32, TextEdit>>;

/// An element of a tree that gets another name.
struct Rename<'t> {
    element: Element<'t>,
    old: String,
    new: String,
    edits: Edits,
}

impl<'t> Rename<'t> {
    fn of(element: Element<'t>, name: &str) -> Rename<'t> {
        let old = element.full_name();
        let scope = old.strip_suffix(element.name()).unwrap_or_default();
        let mut edits = Edits::new();
        for (file, span, text) in element.collect_renames(name) {
            let edits = edits.entry(key_of(file.decl())).or_default();
            edits.insert(span.start, TextEdit::replace(span, text));
        }
        Rename { element, new: format!("{scope}{name}"), old, edits }
    }

    /// The full name that an element has afterwards.
    fn name_after(&self, full_name: &str) -> String {
        match full_name.strip_prefix(&self.old) {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{}{rest}", self.new),
            _ => full_name.to_owned(),
        }
    }

    /// Writes a name in full, if it may be a dotted one and is not yet. Whether it did.
    fn write_in_full(&self, file: File<'_>, mention: Mention<'_>, edits: &mut Edits) -> bool {
        let Some(written) = self.in_full(file, mention) else { return false };
        let whole = mention.whole;
        let edits = edits.entry(key_of(file.decl())).or_default();
        edits.retain(|at, it| it.span.end <= whole.start || whole.end <= *at || it.span == whole);
        let edit = TextEdit::replace(whole, written);
        edits.insert(whole.start, edit.clone()) != Some(edit)
    }

    /// The full name that is written for a name afterwards, if it may be a dotted one.
    fn in_full(&self, file: File<'_>, mention: Mention<'_>) -> Option<String> {
        let MentionTarget::Element(element) = mention.means else { return None };
        let can_be_dotted = match element {
            Element::Message(_) | Element::Enum(_) => true,
            Element::Field(it) => it.is_extension(),
            _ => false,
        };
        let text = file.decl().source_text()?;
        let is_url = mention.whole.str(text).contains('/');
        let full_name = self.name_after(&element.full_name());
        let before = text.get(..mention.whole.start as usize)?.trim_ascii_end();
        match before.last() {
            _ if !can_be_dotted || is_url => None,
            // A key of a value: there is no dot before it.
            Some(b'[') => Some(full_name),
            _ => Some(format!(".{full_name}")),
        }
    }

    /// Says what breaks, and who uses it in the tree.
    fn refusal(&self, finding: &Finding) -> RenameRefusal {
        let mut why = format!("Not renamed: {} [{}]", finding.message, finding.rule);
        if let Some(reason) = &finding.severity_reason {
            why.push_str(&format!(" ({reason})"));
        }
        let effects = finding.effects();
        if !effects.is_empty() {
            why.push_str(&format!("; it breaks {effects}"));
            let own = self.element.package();
            let of = match self.element {
                Element::Field(_) | Element::EnumValue(_) | Element::Oneof(_) => {
                    self.element.parent().unwrap_or(self.element)
                }
                it => it,
            };
            let users = of.mentions().map(|(file, _)| file.package());
            let mut users: Vec<String> =
                users.filter(|it| *it != own).map(|it| backtick(it.name())).collect();
            users.dedup();
            if !users.is_empty() {
                let verb = if users.len() == 1 { "uses" } else { "use" };
                why.push_str(&format!("; {} {verb} it", users.join(", ")));
            }
        }
        RenameRefusal(why)
    }
}

/// The dotted names, by their last components, that do not mean after these edits what they mean in
/// the tree.
fn astray<'t>(tree: &'t Tree, after: &Tree, edits: &Edits) -> Vec<(File<'t>, Mention<'t>)> {
    let nothing = BTreeMap::new();
    let mut astray = Vec::new();
    for (file, file_after) in tree.files().zip(after.files()) {
        debug_assert_eq!(file.path(), file_after.path(), "a rename neither adds nor removes files");
        if file.is_linked_as(file_after) {
            continue;
        }
        let mut known: BTreeMap<u32, Vec<Stand<'_>>> = BTreeMap::new();
        for it in file_after.mentions().filter(|it| !it.is_qualifier()) {
            known.entry(it.span.end).or_default().push(Stand::of(it.means));
        }
        let edits = edits.get(&key_of(file.decl())).unwrap_or(&nothing);
        let moved = |end: u32| {
            let before = edits.values().filter(|it| it.span.end <= end);
            let grown: i64 = before
                .map(|it| it.text.len() as i64 - i64::from(it.span.end - it.span.start))
                .sum();
            (i64::from(end) + grown) as u32
        };
        let mut meant: BTreeMap<u32, Vec<Mention<'t>>> = BTreeMap::new();
        for it in file.mentions().filter(|it| !it.is_qualifier()) {
            meant.entry(it.span.end).or_default().push(it);
        }
        for (end, mentions) in meant {
            let now = known.get(&moved(end)).map(Vec::as_slice).unwrap_or_default();
            let stays = |it: &Mention<'_>| now.contains(&Stand::of(it.means));
            // A key that names a field by its type names it by its own name afterwards.
            if let Some(first) = mentions.first().filter(|_| !mentions.iter().any(stays)) {
                astray.push((file, *first));
            }
        }
    }
    astray
}

/// What a name means, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stand<'t> {
    Element(FileKey, &'static str, Node),
    File(FileKey),
    Package(&'t str),
}

impl<'t> Stand<'t> {
    fn of(meaning: MentionTarget<'t>) -> Stand<'t> {
        match meaning {
            MentionTarget::Element(it) => {
                Stand::Element(key_of(it.file().decl()), it.noun(), it.node())
            }
            MentionTarget::File(it) => Stand::File(key_of(it.decl())),
            MentionTarget::Package(name) => Stand::Package(name),
        }
    }
}

fn meant(meaning: MentionTarget<'_>) -> String {
    match meaning {
        MentionTarget::Element(it) => format!("the {} {}", it.noun(), backtick(it.full_name())),
        MentionTarget::File(it) => backtick(it.path()),
        MentionTarget::Package(name) => format!("the package {}", backtick(name)),
    }
}

/// Whether an element has no declaration of its own: the entry of a map, and what is in it.
fn stands_nowhere(element: Element<'_>) -> bool {
    let is_entry = |it: Element<'_>| matches!(it, Element::Message(it) if it.is_map_entry());
    element.node() == Node::NONE || element.parent().is_some_and(is_entry)
}

fn listed(edits: &Edits) -> Vec<FileEdits> {
    let of_file = |(file, edits): (&FileKey, &BTreeMap<u32, TextEdit>)| FileEdits {
        file: file.clone(),
        edits: edits.values().cloned().collect(),
    };
    edits.iter().map(of_file).collect()
}

fn errors(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    let breaks_nobody = |it: &Finding| {
        let group = find_rule(it.rule).map(|it| it.group);
        matches!(group, Some(Group::Layout | Group::Style | Group::Aip | Group::Conventions))
    };
    findings.iter().filter(move |it| it.severity == Severity::Error && !breaks_nobody(it))
}

/// Whether one of these words stands in a text on its own, and not in a comment or a string.
fn has_word(text: &[u8], words: &[String]) -> bool {
    let mut lexer = Lexer::new(text, abide_syntax::skip_byte_order_mark(text));
    loop {
        let token = lexer.next_token();
        match token.kind {
            TokenKind::End => return false,
            TokenKind::Ident if words.iter().any(|it| it == token.span.str(text)) => return true,
            _ => {}
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
