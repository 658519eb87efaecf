//! Renaming, as far as nobody breaks by it.

use std::collections::BTreeMap;
use std::sync::Arc;

use abide_lint::{Finding, Group, Severity, backtick, find_rule};
use abide_schema::{
    Element, File, FileDecl, FileKey, Mention, MentionTarget, Node, ProblemKind, Tree,
};
use abide_syntax::{Lexer, Span, TokenKind};

use crate::navigation::NameIdentity;
use crate::project::{Project, get_key};
use crate::text_edit::{FileEdits, TextEdit};

/// The element that can be renamed at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameTarget {
    /// The part of the name that changes.
    pub span: Span,
    /// The name that it has.
    pub name: String,
}

/// The reason for a refused rename, as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameRefusal(pub String);

impl Project {
    /// Finds the element that can be renamed at an offset of a file.
    pub fn find_rename_target(
        &mut self,
        file: &FileKey,
        offset: u32,
    ) -> Result<RenameTarget, RenameRefusal> {
        let text = self.file(file).and_then(|it| it.source_text()).map(<[u8]>::to_vec);
        let text = text.unwrap_or_default();
        let refuse = |why: &str| Err(RenameRefusal(why.to_owned()));
        match self.analyze().find_meaning(file, offset) {
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
            Some((MentionTarget::Element(it), _)) if is_undeclared(it) => {
                refuse("The key and the value of a map have the same names in every map.")
            }
            Some((MentionTarget::Element(Element::Field(it)), _)) if it.is_group() => {
                refuse("A group has the name of its type; rename the type.")
            }
            Some((_, span)) => Ok(RenameTarget { span, name: span.str(&text).to_owned() }),
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
        let old = self.find_rename_target(file, offset)?;
        if !is_identifier(name) {
            return Err(RenameRefusal(format!(
                "`{name}` is not a name: use letters, digits and `_`, and begin with a letter or `_`."
            )));
        }
        if old.name == name {
            return Ok(Vec::new());
        }
        let Some((meaning, _)) = self.analyze().find_meaning(file, offset) else {
            return Ok(Vec::new());
        };
        let identity = NameIdentity::from_meaning(meaning);
        let using = self.find_files_with_words(&identity.collect_words());
        let is_broken = |it: &&Arc<FileDecl>| {
            it.problems.iter().any(|problem| problem.kind == ProblemKind::Syntax)
                && it.source_text().is_some_and(|text| has_word(text, &identity.collect_words()))
        };
        if let Some(decl) = using.iter().filter_map(|it| self.file(it)).find(is_broken) {
            return Err(RenameRefusal(format!(
                "Not renamed: `{}` has syntax errors, so it is not known what it uses.",
                decl.display
            )));
        }
        // A text that has the new name may mean something else by it afterwards.
        let mut words = identity.collect_words();
        words.push(name.to_owned());
        let keys = self.find_files_with_words(&words);
        let tree = self.link_tree(keys.iter().cloned());
        let Some(element) = identity.find_element(&tree) else { return Ok(Vec::new()) };
        let rename = ElementRename::of(element, name);
        let edits = match self.build_edits(&tree, &rename, &keys) {
            Ok(edits) => edits,
            Err(why) => {
                // That the new name is taken says more than what it would mean.
                self.refuse_if_broken(&collect_edits(&rename.edits), &rename, &keys)?;
                return Err(why);
            }
        };
        self.refuse_if_broken(&edits, &rename, &keys)?;
        Ok(edits)
    }

    /// The edits of a rename after which each name of these files means what it meant: one that
    /// would mean something else, or nothing, is written in full.
    fn build_edits(
        &self,
        tree: &Tree,
        rename: &ElementRename<'_>,
        keys: &[FileKey],
    ) -> Result<Vec<FileEdits>, RenameRefusal> {
        let mut edits = rename.edits.clone();
        loop {
            let listed = collect_edits(&edits);
            let after =
                self.with_texts(self.apply_to_texts(&listed)).link_tree(keys.iter().cloned());
            let astray = find_changed_mentions(tree, &after, &edits);
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
                    describe_meaning(mention.means)
                )));
            }
        }
    }

    fn apply_to_texts(&self, edits: &[FileEdits]) -> Vec<(FileKey, Vec<u8>)> {
        let texts = edits.iter().filter_map(|it| {
            let text = self.file(&it.file)?.source_text()?;
            Some((it.file.clone(), abide_upgrade::apply(text, it.edits.clone()).ok()?))
        });
        texts.collect()
    }

    /// Refuses edits after which there are errors in these files that were not there before, but
    /// for those of style, which an editor shows and which break nobody.
    fn refuse_if_broken(
        &self,
        edits: &[FileEdits],
        rename: &ElementRename<'_>,
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
        let mut after = self.with_texts(self.apply_to_texts(edits));
        after.open(keys.iter().cloned().collect());
        let mut known: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for it in iter_breaking_errors(&before.analyze().findings) {
            *known.entry((it.rule, rename.resolve_name(&it.element))).or_default() += 1;
        }
        let is_new = |it: &&Finding| match known.get_mut(&(it.rule, it.element.clone())) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        match iter_breaking_errors(&after.analyze().findings).find(is_new) {
            None => Ok(()),
            Some(finding) => Err(rename.build_refusal(finding)),
        }
    }
}

/// Edits of each file, by where they begin.
type Edits = BTreeMap<FileKey, BTreeMap<u32, TextEdit>>;

/// An element of a tree that gets another name.
struct ElementRename<'t> {
    element: Element<'t>,
    old: String,
    new: String,
    edits: Edits,
}

impl<'t> ElementRename<'t> {
    fn of(element: Element<'t>, name: &str) -> ElementRename<'t> {
        let old = element.full_name();
        let scope = old.strip_suffix(element.name()).unwrap_or_default();
        let mut edits = Edits::new();
        for (file, span, text) in element.collect_renames(name) {
            let edits = edits.entry(get_key(file.decl())).or_default();
            edits.insert(span.start, TextEdit::replace(span, text));
        }
        ElementRename { element, new: format!("{scope}{name}"), old, edits }
    }

    /// The full name that an element has afterwards.
    fn resolve_name(&self, full_name: &str) -> String {
        match full_name.strip_prefix(&self.old) {
            Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{}{rest}", self.new),
            _ => full_name.to_owned(),
        }
    }

    /// Writes a name in full, if it may be a dotted one and is not yet. Whether it did.
    fn write_in_full(&self, file: File<'_>, mention: Mention<'_>, edits: &mut Edits) -> bool {
        let Some(written) = self.build_full_name(file, mention) else { return false };
        let whole = mention.whole;
        let edits = edits.entry(get_key(file.decl())).or_default();
        edits.retain(|at, it| it.span.end <= whole.start || whole.end <= *at || it.span == whole);
        let edit = TextEdit::replace(whole, written);
        edits.insert(whole.start, edit.clone()) != Some(edit)
    }

    /// The full name that is written for a name afterwards, if it may be a dotted one.
    fn build_full_name(&self, file: File<'_>, mention: Mention<'_>) -> Option<String> {
        let MentionTarget::Element(element) = mention.means else { return None };
        let can_be_dotted = match element {
            Element::Message(_) | Element::Enum(_) => true,
            Element::Field(it) => it.is_extension(),
            _ => false,
        };
        let text = file.decl().source_text()?;
        let is_url = mention.whole.str(text).contains('/');
        let full_name = self.resolve_name(&element.full_name());
        let before = text.get(..mention.whole.start as usize)?.trim_ascii_end();
        match before.last() {
            _ if !can_be_dotted || is_url => None,
            // A key of a value: there is no dot before it.
            Some(b'[') => Some(full_name),
            _ => Some(format!(".{full_name}")),
        }
    }

    /// Says what breaks, and who uses it in the tree.
    fn build_refusal(&self, finding: &Finding) -> RenameRefusal {
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
fn find_changed_mentions<'t>(
    tree: &'t Tree,
    after: &Tree,
    edits: &Edits,
) -> Vec<(File<'t>, Mention<'t>)> {
    let nothing = BTreeMap::new();
    let mut astray = Vec::new();
    for (file, file_after) in tree.files().zip(after.files()) {
        debug_assert_eq!(file.path(), file_after.path(), "a rename neither adds nor removes files");
        if file.is_linked_as(file_after) {
            continue;
        }
        let mut known: BTreeMap<u32, Vec<MeaningKey<'_>>> = BTreeMap::new();
        for it in file_after.mentions().filter(|it| !it.is_qualifier()) {
            known.entry(it.span.end).or_default().push(MeaningKey::of(it.means));
        }
        let edits = edits.get(&get_key(file.decl())).unwrap_or(&nothing);
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
            let stays = |it: &Mention<'_>| now.contains(&MeaningKey::of(it.means));
            // A key that names a field by its type names it by its own name afterwards.
            if let Some(first) = mentions.first().filter(|_| !mentions.iter().any(stays)) {
                astray.push((file, *first));
            }
        }
    }
    astray
}

/// The meaning of a name, whatever it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MeaningKey<'t> {
    Element(FileKey, &'static str, Node),
    File(FileKey),
    Package(&'t str),
}

impl<'t> MeaningKey<'t> {
    fn of(meaning: MentionTarget<'t>) -> MeaningKey<'t> {
        match meaning {
            MentionTarget::Element(it) => {
                MeaningKey::Element(get_key(it.file().decl()), it.noun(), it.node())
            }
            MentionTarget::File(it) => MeaningKey::File(get_key(it.decl())),
            MentionTarget::Package(name) => MeaningKey::Package(name),
        }
    }
}

fn describe_meaning(meaning: MentionTarget<'_>) -> String {
    match meaning {
        MentionTarget::Element(it) => format!("the {} {}", it.noun(), backtick(it.full_name())),
        MentionTarget::File(it) => backtick(it.path()),
        MentionTarget::Package(name) => format!("the package {}", backtick(name)),
    }
}

/// Returns true if an element has no declaration of its own: the entry of a map, and what is in it.
fn is_undeclared(element: Element<'_>) -> bool {
    let is_entry = |it: Element<'_>| matches!(it, Element::Message(it) if it.is_map_entry());
    element.node() == Node::NONE || element.parent().is_some_and(is_entry)
}

fn collect_edits(edits: &Edits) -> Vec<FileEdits> {
    let of_file = |(file, edits): (&FileKey, &BTreeMap<u32, TextEdit>)| FileEdits {
        file: file.clone(),
        edits: edits.values().cloned().collect(),
    };
    edits.iter().map(of_file).collect()
}

fn iter_breaking_errors(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    let breaks_nobody = |it: &Finding| {
        // Of a rule that a configuration declares, nothing here knows more.
        let group = find_rule(it.rule).map_or(Group::Own, |it| it.group);
        matches!(group, Group::Layout | Group::Style | Group::Aip | Group::Conventions | Group::Own)
    };
    findings.iter().filter(move |it| it.severity == Severity::Error && !breaks_nobody(it))
}

/// Returns true if one of these words stands in a text on its own, and not in a comment or a
/// string.
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
