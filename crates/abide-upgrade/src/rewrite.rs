//! One file to its candidate.

use abide_schema::{
    Element, Enum, EnumValue, Field, File, FileId, Message, MessageKind, Node,
    PackageVersionStatus, Tree, value,
};
use abide_syntax::{
    Ast, DeclId, DeclKind, Lexer, OptionNode, Slice, Span, TokenKind, dotted_name, text_start,
};
use rustc_hash::FxHashMap;

use crate::annotation::record_edits;
use crate::edit::{Edit, apply};
use crate::imports::{MIGRATIONS, Needs};
use crate::layout::{WIDTH, canonical_layout, is_windows, windows};
use crate::links::{Links, name_after};
use crate::plan::{Next, Plan, Stage};
use crate::record::{FILE_POLICY, RECORD, cuts, names, recorded};
use crate::refusal::{Refusal, overlap};
use crate::removal::{deprecated, gone, removed};
use crate::scope::{Names, Reference, rewritten};
use crate::settings::{ImportOrder, Layout};
use crate::{standing, versioned};

/// An annotation that names the type a message was made from: the option, the
/// field of its value, the file that declares it.
type Ancestry = (&'static str, &'static str, &'static str);

/// By the annotation that holds the status of a file: a tree speaks one
/// vocabulary.
const ANCESTRIES: &[(&str, Ancestry)] = &[
    (
        "abide.annotations.v1.file_policy",
        (
            "abide.annotations.v1.message_policy",
            "previous_type",
            "abide/annotations/v1/lifecycle.proto",
        ),
    ),
    (
        "udpa.annotations.file_status",
        (
            "udpa.annotations.versioning",
            "previous_message_type",
            "udpa/annotations/versioning.proto",
        ),
    ),
    (
        "xds.annotations.v3.file_status",
        (
            "xds.annotations.v3.versioning",
            "previous_message_type",
            "xds/annotations/v3/versioning.proto",
        ),
    ),
];

/// Options whose value names a type: the option and the field of its value.
const TYPE_NAMES: &[(&str, &str)] = &[
    ("envoy.annotations.resource", "type"),
    ("google.longrunning.operation_info", "metadata_type"),
    ("google.longrunning.operation_info", "response_type"),
];

/// Our own annotations, which say more than what an upgrade does.
const POLICIES: &[&str] = &[
    "abide.annotations.v1.enum_policy",
    "abide.annotations.v1.enum_value_policy",
    "abide.annotations.v1.field_policy",
    "abide.annotations.v1.file_policy",
    "abide.annotations.v1.message_policy",
    "abide.annotations.v1.method_policy",
    "abide.annotations.v1.oneof_policy",
    "abide.annotations.v1.service_policy",
];

/// What of them does.
const MIGRATION_FIELDS: &[&str] = &["migration", "move_to_package"];

pub(crate) struct Rewriter<'p, 't> {
    pub(crate) plan: &'p Plan<'t>,
    pub(crate) links: &'p Links<'p, 't>,
    pub(crate) file: File<'t>,
    next: &'p Next,
    pub(crate) ast: &'t Ast,
    pub(crate) text: &'t [u8],
    elements: FxHashMap<DeclId, Element<'t>>,
    ancestry: Option<Ancestry>,
    /// Whether the file stays, and only what it names changes.
    pub(crate) follows: bool,
    /// What the candidate records about itself, where it is there already.
    recorded: Vec<(&'static str, String)>,
    pub(crate) edits: Vec<Edit>,
    pub(crate) needs: Needs,
    /// What the file sees.
    names: Names,
    /// Types and extensions where they are named; how they are written depends
    /// on what is imported in the end.
    references: Vec<Pending>,
    /// Where types are named that the next version does not have.
    pub(crate) dangling: Vec<Span>,
}

/// A type or an extension where it is named.
struct Pending {
    span: Span,
    old: String,
    new: String,
    old_scope: String,
    new_scope: String,
}

/// The full name of what encloses a reference, before and after.
type Scope<'s> = (&'s str, &'s str);

/// What becomes of a file.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    pub(crate) text: Vec<u8>,
    /// Where the source names types that the next version does not have.
    pub(crate) dangling: Vec<Span>,
}

/// What becomes of a file that was read from source.
pub(crate) fn rewrite<'t>(
    plan: &Plan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
    next: &Next,
) -> Result<Rewritten, Refusal> {
    edited(plan, links, file, next, false)
}

/// What becomes of a file that stays what it is, and names what others become.
pub(crate) fn repointed<'t>(
    plan: &Plan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
) -> Result<Rewritten, Refusal> {
    let (package, path) = (file.package().full_name(), file.path().to_owned());
    edited(plan, links, file, &Next { package, path }, true)
}

fn edited<'t>(
    plan: &Plan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
    next: &Next,
    follows: bool,
) -> Result<Rewritten, Refusal> {
    let (Some(text), Some(ast)) = (file.decl().source_text(), file.decl().ast()) else {
        return Ok(Rewritten::default());
    };
    // The fields of a map's entry stand where the map does, the message of a
    // group where its field does.
    let elements = file.elements().filter(|it| match it {
        Element::Message(message) => message.decl().kind == MessageKind::Plain,
        Element::Field(field) => !field.parent().is_some_and(Message::is_map_entry),
        _ => it.node() != Node::NONE,
    });
    let ancestry = ANCESTRIES
        .iter()
        .find(|(status, _)| extension(file.options(), file.tree, status).is_some());
    let mut rewriter = Rewriter {
        plan,
        links,
        file,
        next,
        ast,
        text,
        elements: elements.map(|element| (element.node().0, element)).collect(),
        ancestry: ancestry.map(|(_, ancestry)| *ancestry),
        follows,
        recorded: plan.candidate(&next.path).map(recorded).unwrap_or_default(),
        edits: Vec::new(),
        needs: Needs::default(),
        names: Names::before(file),
        references: Vec::new(),
        dangling: Vec::new(),
    };
    rewriter.file();
    let imported = rewriter.imports();
    rewriter.spell(imported);
    let (mut edits, dangling) = (rewriter.edits, rewriter.dangling);
    edits.extend(links.edits(text));
    let mut made = apply(text, edits).map_err(|it| overlap(file, &it))?;
    if is_windows(text) {
        made = windows(&made);
    }
    if plan.policy.layout == Layout::Canonical && !follows {
        made = canonical_layout(&made).unwrap_or(made);
    }
    Ok(Rewritten { text: made, dangling })
}

/// The value of an option, by its full name.
fn extension<'t>(
    options: Option<&'t value::Message>,
    tree: &Tree,
    name: &str,
) -> Option<&'t value::Message> {
    options?.extension(tree, name)?.value.as_message()
}

/// The edit that gives a file another status than it has.
pub(crate) fn status_edit(file: File<'_>, status: PackageVersionStatus) -> Option<Edit> {
    let (own, place) = file.package_version_status().filter(|(own, _)| *own != status)?;
    let written = place.span.str(file.decl().source_text()?);
    let before = written.strip_suffix(own.name())?;
    let start = place.span.start + before.len() as u32;
    Some(Edit::replace(Span::new(start, place.span.end), status.name()))
}

impl<'t> Rewriter<'_, 't> {
    /// The element that a statement declares.
    pub(crate) fn element(&self, id: DeclId) -> Option<Element<'t>> {
        self.elements.get(&id).copied()
    }

    fn file(&mut self) {
        let file = self.file;
        let (old, new) = (file.package().name(), self.next.package.as_str());
        if !self.follows {
            self.file_options(old, new);
        }
        self.option_files(file.options());
        self.body(None, (old, new));
        if self.plan.policy.imports == ImportOrder::Computed {
            // What the generator did: types of what it removed count as used.
            let hidden = file.all_messages().filter(|it| gone(Element::Message(*it)));
            let fields =
                hidden.flat_map(Message::fields).filter(|it| !deprecated(Element::Field(*it)));
            let targets: Vec<Element<'t>> = fields.filter_map(field_target).collect();
            self.needs.types.extend(targets.iter().map(|it| it.file().id));
        }
    }

    fn file_options(&mut self, old: &str, new: &str) {
        let file = self.file;
        for option in versioned::LANGUAGE_PACKAGES {
            let Some(entry) = file.options().and_then(|it| it.get(file.tree, option)) else {
                continue;
            };
            // Without its quotes.
            let inner = Span::new(entry.span.start + 1, entry.span.end.saturating_sub(1));
            let written = inner.str(self.text);
            let next = versioned::language_package(written, old, new);
            if next != written {
                self.edits.push(Edit::replace(inner, next));
            }
        }
        if self.plan.stage == Stage::Stable {
            // An interrupted release has frozen the source already.
            self.edits.extend(status_edit(file, PackageVersionStatus::Active));
            return;
        }
        if extension(file.options(), file.tree, FILE_POLICY).is_some() {
            self.edits.extend(record_edits(file, &self.recorded));
        }
        self.edits.extend(status_edit(file, PackageVersionStatus::NextMajorVersionCandidate));
        if self.ancestry.is_none() {
            // A byte order mark stands at the beginning or nowhere.
            let start = text_start(self.text);
            self.edits.push(Edit::replace(Span::new(0, start), standing::mark(file.path())));
        }
    }

    /// The statements between the braces of a declaration, or of the file.
    fn body(&mut self, parent: Option<DeclId>, scope: Scope<'_>) {
        let children: Vec<DeclId> = self.ast.children(parent).collect();
        if self.follows {
            return children.into_iter().for_each(|id| self.statement(id, scope));
        }
        let element = parent.and_then(|id| self.element(id));
        let mut gone: Vec<bool> = children.iter().map(|id| self.goes(*id)).collect();
        if let Some(Element::Enum(it)) = element
            && !has_aliases(it)
        {
            // protoc refuses the option where no alias is left.
            for (id, gone) in children.iter().zip(&mut gone) {
                *gone |= self.sets(*id, "allow_alias");
            }
        }
        let body = parent.and_then(|id| self.body_of(id));
        let head = parent.map_or(0, |id| self.head_end(id));
        let mut blocks = Vec::new();
        match (element, body) {
            (Some(Element::Message(message)), Some(_)) => {
                blocks.extend(self.previous_type(message, &children));
                blocks.extend(self.reserved_of_message(message, &children));
                self.promote(&children, &gone);
            }
            (Some(Element::Field(field)), Some(_)) => {
                if let Some(message) = field.message_type() {
                    blocks.extend(self.previous_type(message, &children));
                    blocks.extend(self.reserved_of_message(message, &children));
                    self.promote(&children, &gone);
                }
            }
            (Some(Element::Enum(it)), Some(_)) => {
                blocks.extend(self.reserved_of_enum(it, &children));
            }
            _ => {}
        }
        let regions = self.take_out(head, &children, &gone, blocks.is_empty());
        if let (Some(parent), Some(body)) = (parent, body) {
            self.put_in(parent, body, head, &children, &gone, &regions, blocks);
        }
        for (id, _) in children.iter().zip(&gone).filter(|(_, gone)| !**gone) {
            self.statement(*id, scope);
        }
    }

    fn statement(&mut self, id: DeclId, scope: Scope<'_>) {
        let element = self.element(id);
        if let Some(element) = element {
            self.option_files(element.options());
            self.type_names(element);
        }
        let follows = self.follows;
        let inner = |name: Span, text: &[u8]| {
            let join = |scope: &str, name: &str| match scope {
                "" => name.to_owned(),
                scope => format!("{scope}.{name}"),
            };
            let old = name.str(text);
            let renamed = element.filter(|it| it.name() == old && !follows);
            let new = renamed.map_or(old, name_after);
            (join(scope.0, old), join(scope.1, new))
        };
        match self.ast.decls[id as usize].kind {
            DeclKind::Option(option) => {
                let option = &self.ast.options[option as usize];
                self.option_name(option, scope);
                self.payloads(option);
                self.strip(option);
            }
            DeclKind::Package { name } => self.edits.push(Edit::replace(name, scope.1)),
            DeclKind::Message { name, .. }
            | DeclKind::Enum { name, .. }
            | DeclKind::Service { name, .. } => {
                let (old, new) = inner(name, self.text);
                self.rename(element, name);
                self.body(Some(id), (&old, &new));
            }
            DeclKind::Extend { extendee, .. } => {
                let target = self.ast.children(Some(id)).find_map(|child| {
                    let Element::Field(field) = self.elements.get(&child)? else { return None };
                    field.extendee()
                });
                self.reference(extendee, target.map(Element::Message), scope);
                self.body(Some(id), scope);
            }
            DeclKind::Oneof { name, .. } => {
                self.rename(element, name);
                self.body(Some(id), scope);
            }
            DeclKind::Field(node) => {
                let Some(Element::Field(field)) = element else { return };
                self.bracket(node.options, node.number.end, scope);
                self.rename(element, node.name);
                self.default(field, node.options);
                if node.group.is_some() {
                    let (old, new) = inner(node.name, self.text);
                    self.body(Some(id), (&old, &new));
                } else {
                    self.reference(node.ty, field_target(field), scope);
                }
            }
            DeclKind::MapField(map) => {
                let Some(Element::Field(field)) = element else { return };
                let node = self.ast.maps[map as usize];
                self.bracket(node.options, node.number.end, scope);
                self.rename(element, node.name);
                let value = field.message_type().and_then(|it| it.field_numbered(2));
                self.reference(node.value, value.and_then(field_target), scope);
            }
            DeclKind::EnumValue { name, number, options } => {
                self.bracket(options, number.end, scope);
                self.rename(element, name);
            }
            DeclKind::Method(method) => {
                let Some(Element::Method(view)) = element else { return };
                let node = self.ast.methods[method as usize];
                self.rename(element, node.name);
                self.reference(node.input, view.input().map(Element::Message), scope);
                self.reference(node.output, view.output().map(Element::Message), scope);
                let (old, new) = (self.file.package().name(), self.next.package.as_str());
                let bindings = if self.follows { Vec::new() } else { view.http_bindings() };
                for binding in bindings {
                    let span = binding.place.span;
                    let major = self.plan.policy.http_major;
                    let route = versioned::route(&binding, span.str(self.text), old, new, major);
                    self.edits.extend(route.map(|route| Edit::replace(span, route)));
                }
                self.body(Some(id), scope);
            }
            _ => {}
        }
    }

    /// A type where it is named.
    fn reference(&mut self, span: Span, target: Option<Element<'t>>, (old, new): Scope<'_>) {
        let Some(target) = target else { return };
        self.needs.types.insert(target.file().id);
        if gone(target) && self.plan.next(target.file().id).is_some() {
            self.dangling.push(span);
        }
        let (was, is) = (target.full_name(), self.plan.name_after(target));
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        self.references.push(Pending { span, old: was, new: is, old_scope, new_scope });
    }

    /// The extension that an option begins with, which keeps its full name.
    fn option_name(&mut self, option: &OptionNode, (old, new): Scope<'_>) {
        let Some(part) = self.ast.parts(option).first().filter(|it| it.extension) else { return };
        let written = part.name.str(self.text);
        let Some(name) = self.names.resolve(old, written) else { return };
        let (old_scope, new_scope) = (old.to_owned(), new.to_owned());
        let span = part.name;
        self.references.push(Pending { span, new: name.clone(), old: name, old_scope, new_scope });
    }

    /// Writes the names of types, for a candidate that imports these files.
    fn spell(&mut self, imported: Vec<FileId>) {
        let after = Names::after(self.plan, self.file, imported.into_iter());
        for pending in &self.references {
            let Pending { span, old, new, old_scope, new_scope } = pending;
            let joined = dotted_name(self.text, *span);
            let written = joined.as_deref().unwrap_or_else(|| span.str(self.text));
            let next = rewritten(
                written,
                (&self.names, Reference { scope: old_scope, target: old }),
                (&after, Reference { scope: new_scope, target: new }),
            );
            if next != written {
                self.edits.push(Edit::replace(*span, next));
            }
        }
    }

    fn rename(&mut self, element: Option<Element<'t>>, name: Span) {
        if let Some(element) = element.filter(|_| !self.follows)
            && name_after(element) != element.name()
        {
            self.edits.push(Edit::replace(name, name_after(element)));
        }
    }

    /// A default that is an enum value with another name.
    fn default(&mut self, field: Field<'t>, options: Slice) {
        let Some(it) = field.enum_type() else { return };
        for option in &self.ast.options[options.range()] {
            let value = &self.ast.values[option.value as usize];
            if option.name.str(self.text) != "default" {
                continue;
            }
            let name = value.span.str(self.text);
            let Some(value_of) = it.values().find(|it| it.name() == name) else { continue };
            if self.plan.next(it.file().id).is_some() {
                let next = name_after(Element::EnumValue(value_of));
                self.edits.push(Edit::replace(value.span, next));
            }
        }
    }

    /// Types that options name in strings.
    fn type_names(&mut self, element: Element<'t>) {
        for (option, field) in TYPE_NAMES {
            let tree = self.file.tree;
            let Some(value) = extension(element.options(), tree, option) else { continue };
            let Some(entry) = value.get(tree, field) else { continue };
            let Some(name) = entry.value.as_str() else { continue };
            if let Some(next) = self.links.next_type(name) {
                self.edits.push(Edit::replace(entry.span, format!("\"{next}\"")));
            }
        }
    }

    /// Notes which files declare the options that are set here and stay.
    fn option_files(&mut self, options: Option<&'t value::Message>) {
        let tree = self.file.tree;
        let mut open: Vec<&value::Message> = options.into_iter().collect();
        while let Some(message) = open.pop() {
            for entry in &message.entries {
                let field = tree.field(entry.field);
                if field.is_extension() {
                    if !self.follows && MIGRATIONS.contains(&field.full_name().as_str()) {
                        continue;
                    }
                    self.needs.options.insert(field.file().id);
                }
                open.extend(entry.value.as_message());
            }
        }
    }

    /// Whether a statement sets this option.
    fn sets(&self, id: DeclId, name: &str) -> bool {
        let DeclKind::Option(option) = self.ast.decls[id as usize].kind else { return false };
        self.ast.options[option as usize].name.str(self.text) == name
    }

    /// Whether a statement is not part of the candidate.
    fn goes(&self, id: DeclId) -> bool {
        if let DeclKind::Option(option) = self.ast.decls[id as usize].kind {
            return self.option_goes(&self.ast.options[option as usize]);
        }
        if let DeclKind::Extend { .. } = self.ast.decls[id as usize].kind {
            // Nothing may be extended by nothing.
            let mut members = self.ast.children(Some(id)).filter_map(|it| self.element(it));
            return members.all(removed);
        }
        self.element(id).is_some_and(removed)
    }

    /// Whether an option says what this upgrade does, or does not come along.
    fn option_goes(&self, option: &OptionNode) -> bool {
        let parts = self.ast.parts(option);
        let Some(first) = parts.first() else { return false };
        let name = first.name.str(self.text);
        let second = parts.get(1).map_or("", |part| part.name.str(self.text));
        if !first.extension {
            return self.plan.policy.dropped_options.iter().any(|it| it == name);
        }
        let is = |full: &str| names(full, name);
        if MIGRATIONS.iter().any(|full| is(full)) {
            return true;
        }
        if second == "work_in_progress" && ANCESTRIES.iter().any(|(status, _)| is(status)) {
            return !self.next.package.ends_with("alpha");
        }
        POLICIES.iter().any(|full| is(full))
            && (self.stays_behind(second)
                || cuts(self.ast, self.text, option, |it| self.stays_behind(it)).is_none())
    }

    /// Whether a field of our own annotations says what this upgrade does, or
    /// something about the source that does not hold for what is made of it.
    fn stays_behind(&self, field: &str) -> bool {
        MIGRATION_FIELDS.contains(&field)
            || RECORD.contains(&field) && !self.recorded.iter().any(|(name, _)| *name == field)
    }

    /// Takes what stays behind out of an aggregate that says more.
    fn strip(&mut self, option: &OptionNode) {
        let name = self.ast.parts(option).first().map_or("", |part| part.name.str(self.text));
        if self.follows || !POLICIES.iter().any(|full| names(full, name)) {
            return;
        }
        let cuts = cuts(self.ast, self.text, option, |it| self.stays_behind(it));
        self.edits.extend(cuts.into_iter().flatten().map(Edit::delete));
    }

    /// The options in brackets behind `before`.
    fn bracket(&mut self, options: Slice, before: u32, scope: Scope<'_>) {
        let options = &self.ast.options[options.range()];
        for option in options {
            self.option_name(option, scope);
            self.payloads(option);
        }
        if self.follows {
            return;
        }
        let stays: Vec<&OptionNode> = options.iter().filter(|it| !self.option_goes(it)).collect();
        for option in &stays {
            self.strip(option);
        }
        let (Some(last), false) = (options.last(), stays.len() == options.len()) else { return };
        let Some(close) = self.next_symbol(last.span.end, b']') else { return };
        let Some((first, last)) = stays.first().zip(stays.last()) else {
            return self.edits.push(Edit::delete(Span::new(before, close)));
        };
        if stays.len() == 1 {
            let width = |from: u32, to: u32| (to - from) as usize;
            let text = first.span.of(self.text);
            let line = memchr::memchr(b'\n', text).unwrap_or(text.len() + "];".len());
            let fits = width(self.line_start(before), before) + " [".len() + line <= WIDTH;
            let (indent, own) = (self.indent(before), self.indent(first.span.start));
            let open = if fits { " [".to_owned() } else { format!("\n{indent}    [") };
            // The lines of a value move along with its first one.
            let deeper = own.len().saturating_sub(indent.len());
            if fits
                && deeper > 0
                && width(self.line_start(first.span.start), first.span.start) == own.len()
            {
                for at in memchr::memchr_iter(b'\n', text) {
                    let start = first.span.start + at as u32 + 1;
                    let space = Span::new(start, start + deeper as u32);
                    if space.of(self.text).iter().all(|it| *it == b' ') {
                        self.edits.push(Edit::delete(space));
                    }
                }
            }
            self.edits.push(Edit::replace(Span::new(before, first.span.start), open));
            self.edits.push(Edit::replace(Span::new(last.span.end, close), "]"));
            return;
        }
        // Each goes with the comma before it; the first ones with that behind.
        let mut end = None;
        for (at, option) in options.iter().enumerate() {
            if !self.option_goes(option) {
                end = Some(option.span.end);
                continue;
            }
            let span = match (end, options.get(at + 1)) {
                (Some(end), _) => Span::new(end, option.span.end),
                (None, Some(following)) => Span::new(option.span.start, following.span.start),
                (None, None) => continue,
            };
            end = end.map(|_| option.span.end);
            self.edits.push(Edit::delete(span));
        }
    }

    /// The annotation that names the type a message was made from: edits one
    /// that is there, gives the statement that is to be added.
    fn previous_type(&mut self, message: Message<'t>, children: &[DeclId]) -> Option<Block> {
        let tree = self.file.tree;
        let name = message.full_name();
        for (_, (option, field, _)) in ANCESTRIES {
            let value = extension(message.options(), tree, option);
            if let Some(entry) = value.and_then(|it| it.get(tree, field)) {
                let statement =
                    self.ast.options.iter().find(|it| {
                        it.span.start <= entry.span.start && entry.span.end <= it.span.end
                    });
                let value = format!("\"{name}\"");
                // The whole statement, so that it may be laid out anew.
                match statement.filter(|it| it.span.of(self.text).starts_with(b"option")) {
                    Some(it) if self.ast.values[it.value as usize].span == entry.span => {
                        let name = it.name.str(self.text);
                        let indent = self.indent(it.span.start);
                        let text = option_statement(&indent, name, &value);
                        self.edits.push(Edit::replace(it.span, text));
                    }
                    _ => self.edits.push(Edit::replace(entry.span, value)),
                }
                return None;
            }
        }
        let (option, field, path) = self.ancestry?;
        self.needs.added.insert(path.to_owned());
        let is_option =
            |id: &&DeclId| matches!(self.ast.decls[**id as usize].kind, DeclKind::Option(_));
        let options = children.iter().take_while(is_option).count();
        Some(Block::Option(options, format!("({option}).{field}"), format!("\"{name}\"")))
    }

    fn reserved_of_message(&mut self, message: Message<'t>, children: &[DeclId]) -> Vec<Block> {
        let gone: Vec<Field<'t>> =
            message.fields().filter(|it| removed(Element::Field(*it))).collect();
        let numbers: Vec<String> = gone.iter().map(|it| it.number().to_string()).collect();
        let names: Vec<&str> = gone.iter().map(|it| it.name()).collect();
        self.reserve(&numbers, &names, children)
    }

    fn reserved_of_enum(&mut self, it: Enum<'t>, children: &[DeclId]) -> Vec<Block> {
        let is_gone = |value: &EnumValue<'t>| removed(Element::EnumValue(*value));
        let gone: Vec<_> = it.values().filter(is_gone).collect();
        let live = |number: i32| it.values().any(|it| !is_gone(&it) && it.number() == number);
        let mut numbers: Vec<String> = Vec::new();
        for number in gone.iter().map(|it| it.number()).filter(|number| !live(*number)) {
            let number = number.to_string();
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let names: Vec<&str> = gone.iter().map(|it| it.name()).collect();
        self.reserve(&numbers, &names, children)
    }

    /// Reserves numbers and names: at the end of the statements there are, or
    /// in new ones before the first member.
    fn reserve(&mut self, numbers: &[String], names: &[&str], children: &[DeclId]) -> Vec<Block> {
        let decls = &self.ast.decls;
        let kind = |id: &DeclId| decls[*id as usize].kind;
        let mut last_number = None;
        let mut last_name = None;
        let mut first_names = None;
        for id in children {
            match kind(id) {
                DeclKind::ReservedNumbers { ranges } => {
                    last_number = self.ast.ranges[ranges.range()].last().map(|it| it.span.end);
                }
                DeclKind::ReservedNames { names, .. } => {
                    first_names = first_names.or(Some(decls[*id as usize].span.start));
                    last_name = self.ast.ranges[names.range()].last().map(|it| it.span.end);
                }
                _ => {}
            }
        }
        let member = |id: &DeclId| {
            matches!(
                kind(id),
                DeclKind::Field(_)
                    | DeclKind::MapField(_)
                    | DeclKind::Oneof { .. }
                    | DeclKind::EnumValue { .. }
            )
        };
        let before = children.iter().position(member).unwrap_or(children.len());
        let bare = self.file.decl().edition.is_edition();
        let names: Vec<String> = names
            .iter()
            .map(|name| if bare { (*name).to_owned() } else { format!("\"{name}\"") })
            .collect();
        let mut blocks = Vec::new();
        if !numbers.is_empty() {
            let numbers = numbers.join(", ");
            match (last_number, first_names) {
                (Some(end), _) => self.edits.push(Edit::insert(end, format!(", {numbers}"))),
                (None, Some(start)) => {
                    let indent = self.indent(start);
                    let text = format!("reserved {numbers};\n\n{indent}");
                    self.edits.push(Edit::insert(start, text));
                }
                (None, None) => blocks.push(Block::Reserved(before, numbers)),
            }
        }
        if !names.is_empty() {
            let names = names.join(", ");
            match (last_name, last_number) {
                (Some(end), _) => self.edits.push(Edit::insert(end, format!(", {names}"))),
                (None, Some(end)) => {
                    let end = self.next_symbol(end, b';').unwrap_or(end);
                    let text = format!("\n\n{}reserved {names};", self.indent(end));
                    self.edits.push(Edit::insert(end, text));
                }
                (None, None) => blocks.push(Block::Reserved(before, names)),
            }
        }
        blocks
    }

    /// Takes statements out of a body, each with its comments and the white
    /// space before it, and gives the spans that went.
    fn take_out(
        &mut self,
        head: u32,
        children: &[DeclId],
        gone: &[bool],
        nothing_comes: bool,
    ) -> Vec<Span> {
        let mut regions: Vec<Span> = Vec::new();
        let mut end = head;
        let mut at_head = true;
        for (id, gone) in children.iter().zip(gone) {
            let tail = self.tail(*id);
            if !gone {
                (end, at_head) = (tail, false);
                continue;
            }
            let mut span = Span::new(end, tail);
            if !self.plan.policy.drop_detached_comments {
                let detached = self.file.decl().comments(Node(*id)).detached;
                if let Some(last) = detached.last() {
                    span.start = last.span.end.max(end);
                    at_head = false;
                }
            }
            let space = |from: u32| {
                let rest = self.text.get(from as usize..).unwrap_or_default();
                let length = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
                Span::new(from, from + length as u32)
            };
            let lines = |space: Span| memchr::memchr_iter(b'\n', space.of(self.text)).count();
            let (before, after) = (space(span.start), space(tail));
            let closes = self.text.get(after.end as usize).is_none_or(|it| *it == b'}');
            if at_head && nothing_comes && head > 0 {
                // What follows moves up to the brace.
                let line = memchr::memrchr(b'\n', after.of(self.text));
                span.end = after.start + line.unwrap_or(0) as u32;
            } else if !at_head && !closes && lines(before) > lines(after) {
                // The blank line before it stays, for none follows.
                span = Span::new(before.end, after.end);
            }
            self.edits.push(Edit::delete(span));
            regions.push(span);
            end = span.end;
        }
        regions
    }

    /// Puts statements into a body.
    #[expect(clippy::too_many_arguments, reason = "they are what is known of one body")]
    fn put_in(
        &mut self,
        parent: DeclId,
        body: Span,
        head: u32,
        children: &[DeclId],
        gone: &[bool],
        regions: &[Span],
        blocks: Vec<Block>,
    ) {
        let outer = self.indent(self.ast.decls[parent as usize].span.start);
        let indent = format!("{outer}  ");
        let mut at = 0;
        while let Some(block) = blocks.get(at) {
            let place = block.place();
            let count = blocks[at..].iter().take_while(|it| it.place() == place).count();
            let previous = place.checked_sub(1).and_then(|before| children.get(before));
            let position = previous.map_or(head, |id| self.tail(*id));
            let follows =
                |id: &DeclId| matches!(self.ast.decls[*id as usize].kind, DeclKind::Option(_));
            let kept = (0..place).rev().find(|before| !gone[*before]);
            let mut text = match (kept, block) {
                // A comment behind the brace stays apart from what comes in.
                (None, _) if position == head && head > body.start + 1 => "\n".to_owned(),
                (None, _) => String::new(),
                (Some(before), Block::Option(..)) if follows(&children[before]) => String::new(),
                // Earlier blocks that stand here already part from each other.
                (Some(_), _) => "\n".to_owned(),
            };
            let lines: Vec<String> = blocks[at..at + count]
                .iter()
                .map(|block| match block {
                    Block::Option(_, name, value) => {
                        let statement = option_statement(&indent, name, value);
                        format!("\n{indent}{statement}")
                    }
                    Block::Reserved(_, what) => format!("\n{indent}reserved {what};"),
                })
                .collect();
            if kept.is_none() && at > 0 {
                text.push('\n');
            }
            text.push_str(&lines.join("\n"));
            let mut follow = position;
            while let Some(region) = regions.iter().find(|it| it.start == follow && !it.is_empty())
            {
                follow = region.end;
            }
            let rest = Span::new(follow, body.end).of(self.text);
            let space: &[u8] =
                &rest[..rest.iter().take_while(|it| it.is_ascii_whitespace()).count()];
            let lines = space.iter().filter(|it| **it == b'\n').count();
            match (rest.get(space.len()), lines) {
                (Some(b'}'), 0) => {
                    let space = Span::new(follow, follow + space.len() as u32);
                    self.edits.push(Edit::delete(space));
                    text.push_str(&format!("\n{outer}"));
                }
                (Some(b'}'), _) => {}
                (_, 0) => text.push_str(&format!("\n\n{indent}")),
                (_, 1) => text.push('\n'),
                _ => {}
            }
            self.edits.push(Edit::insert(position, text));
            at += count;
        }
    }

    /// From `{` to `}`, where a declaration has them.
    pub(crate) fn body_of(&self, id: DeclId) -> Option<Span> {
        self.ast.body(&self.ast.decls[id as usize])
    }

    /// The end of what belongs to the `{` of a declaration: its comment too.
    pub(crate) fn head_end(&self, id: DeclId) -> u32 {
        let Some(body) = self.body_of(id) else { return self.tail(id) };
        let trailing = self.file.decl().comments(Node(id)).trailing;
        trailing.map_or(body.start + 1, |comment| comment.span.end)
    }

    /// The end of a statement: its comment too, unless it ends with `}`.
    pub(crate) fn tail(&self, id: DeclId) -> u32 {
        let end = self.ast.decls[id as usize].span.end;
        if self.body_of(id).is_some() {
            return end;
        }
        let trailing = self.file.decl().comments(Node(id)).trailing;
        trailing.map_or(end, |comment| comment.span.end)
    }

    /// The end of what stands before an offset, white space aside.
    pub(crate) fn end_before(&self, offset: u32) -> u32 {
        let before = Span::new(0, offset).of(self.text);
        before.iter().rposition(|it| !it.is_ascii_whitespace()).map_or(0, |at| at as u32 + 1)
    }

    /// The end of the next token, if that is this symbol.
    fn next_symbol(&self, from: u32, symbol: u8) -> Option<u32> {
        let token = Lexer::new(self.text, from).next_token();
        (token.kind == TokenKind::Symbol(symbol)).then_some(token.span.end)
    }

    fn line_start(&self, offset: u32) -> u32 {
        let before = Span::new(0, offset).of(self.text);
        memchr::memrchr(b'\n', before).map_or(0, |at| at as u32 + 1)
    }

    /// The white space that the line of an offset begins with.
    pub(crate) fn indent(&self, offset: u32) -> String {
        let line = &self.text[self.line_start(offset) as usize..];
        line.iter().take_while(|it| matches!(it, b' ' | b'\t')).map(|it| *it as char).collect()
    }
}

/// A statement that is put into a body, before the child with this index.
enum Block {
    Option(usize, String, String),
    Reserved(usize, String),
}

impl Block {
    fn place(&self) -> usize {
        match self {
            Block::Option(at, ..) | Block::Reserved(at, _) => *at,
        }
    }
}

/// Whether two values of an enum that stay have one number.
fn has_aliases(it: Enum<'_>) -> bool {
    let mut numbers: Vec<i32> = it
        .values()
        .filter(|value| !removed(Element::EnumValue(*value)))
        .map(|value| value.number())
        .collect();
    numbers.sort_unstable();
    numbers.windows(2).any(|pair| pair[0] == pair[1])
}

/// The type that a field names.
fn field_target(field: Field<'_>) -> Option<Element<'_>> {
    let field = match field.message_type().filter(|_| field.is_map()) {
        Some(entry) => entry.field_numbered(2)?,
        None => field,
    };
    let message = field.message_type().map(Element::Message);
    message.or(field.enum_type().map(Element::Enum))
}

/// `option name = value;`, on two lines where one is too short.
fn option_statement(indent: &str, name: &str, value: &str) -> String {
    let line = format!("option {name} = {value};");
    if indent.len() + line.len() <= WIDTH {
        return line;
    }
    format!("option {name} =\n{indent}    {value};")
}
