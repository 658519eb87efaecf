//! Rewrites one file into its candidate.

mod ancestry;
mod any_values;
mod bodies;
mod carried_options;
mod import_lines;
mod promoted_fields;
mod references;
mod reservation;
mod rewriter;
mod vocabulary;

use abide_schema::{
    Element, Enum, File, Message, MessageKind, Method, Node, PackageVersion, PackageVersionStatus,
    value,
};
use abide_syntax::{DeclId, DeclKind, Span, skip_byte_order_mark};

use self::rewriter::{ImportNeeds, Mode, Rewriter, ScopeChange, extension};
use self::vocabulary::ANCESTRIES;
use super::comment_links::Links;
use super::shortest_name::VisibleNames;
use super::versions_in_names;
use crate::edit::{Edit, FILE_POLICY, RECORD, apply_to_proto, record_edits, recorded};
use crate::layout::{canonical_layout, is_windows, windows};
use crate::plan::{
    CandidateLayout, ImportOrder, Next, Refusal, Stage, UpgradePlan, deprecated, field_target,
    gone, mark, mark_of, name_after, overlap, removed, status_edit,
};

/// The new text of a file.
#[derive(Debug, Default)]
pub(crate) struct RewrittenText {
    pub(crate) text: Vec<u8>,
    /// Where the source uses types that the next version does not have.
    pub(crate) dangling: Vec<Span>,
}

/// The candidate of a file that was read from source.
pub(crate) fn rewrite<'t>(
    plan: &UpgradePlan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
    next: &Next,
) -> Result<RewrittenText, Refusal> {
    edited(plan, links, file, next, Mode::Upgrade)
}

/// The new text of a file that stays, with its references updated.
pub(crate) fn repointed<'t>(
    plan: &UpgradePlan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
) -> Result<RewrittenText, Refusal> {
    let (package, path) = (file.package().full_name(), file.path().to_owned());
    edited(plan, links, file, &Next { package, path }, Mode::Follow)
}

/// The text of a file of an alpha or a beta that becomes stable as it is.
pub(crate) fn stabilised<'t>(
    plan: &UpgradePlan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
    next: &Next,
) -> Result<RewrittenText, Refusal> {
    edited(plan, links, file, next, Mode::Rise)
}

fn edited<'t>(
    plan: &UpgradePlan<'t>,
    links: &Links<'_, 't>,
    file: File<'t>,
    next: &Next,
    mode: Mode,
) -> Result<RewrittenText, Refusal> {
    let (Some(text), Some(ast)) = (file.decl().source_text(), file.decl().ast()) else {
        return Ok(RewrittenText::default());
    };
    // The fields of a map entry have the place of the map, and the message of a
    // group has the place of its field.
    let elements = file.elements().filter(|it| match it {
        Element::Message(message) => message.decl().kind == MessageKind::Plain,
        Element::Field(field) => !field.parent().is_some_and(Message::is_map_entry),
        _ => it.node() != Node::NONE,
    });
    // A record of its version alone does not make a file one with annotations.
    let says_more = |value: &value::Message| {
        value.entries.iter().any(|it| !RECORD.contains(&file.tree.field(it.field).name()))
    };
    let ancestry = ANCESTRIES
        .iter()
        .find(|(status, _)| extension(file.options(), file.tree, status).is_some_and(says_more));
    let mut rewriter = Rewriter {
        plan,
        links,
        file,
        next,
        ast,
        text,
        elements: elements.map(|element| (element.node().0, element)).collect(),
        ancestry: ancestry.map(|(_, ancestry)| *ancestry),
        mode,
        recorded: plan.candidate(file, &next.path).map(recorded).unwrap_or_default(),
        edits: Vec::new(),
        needs: ImportNeeds::default(),
        names: VisibleNames::before(file),
        references: Vec::new(),
        dangling: Vec::new(),
    };
    rewriter.file();
    let imported = rewriter.imports();
    rewriter.spell(imported);
    let (mut edits, dangling) = (rewriter.edits, rewriter.dangling);
    edits.extend(links.edits(text));
    let mut made = apply_to_proto(text, edits).map_err(|it| overlap(file, &it))?;
    if is_windows(text) {
        made = windows(&made);
    }
    if plan.policy.layout == CandidateLayout::Canonical && mode == Mode::Upgrade {
        made = canonical_layout(&made).unwrap_or(made);
    }
    Ok(RewrittenText { text: made, dangling })
}

impl<'t> Rewriter<'_, 't> {
    fn file(&mut self) {
        let file = self.file;
        let (old, new) = (file.package().name(), self.next.package.as_str());
        if self.mode != Mode::Follow {
            self.file_options(old, new);
        }
        self.option_files(file.options());
        self.body(None, (old, new));
        let is_candidate = self.mode == Mode::Upgrade && self.plan.stage == Stage::Candidate;
        if is_candidate && self.plan.policy.imports == ImportOrder::Computed {
            // As Envoy's generator did: types of removed elements count as used.
            let hidden = file.all_messages().filter(|it| gone(Element::Message(*it)));
            let fields =
                hidden.flat_map(Message::fields).filter(|it| !deprecated(Element::Field(*it)));
            let targets: Vec<Element<'t>> = fields.filter_map(field_target).collect();
            self.needs.types.extend(targets.iter().map(|it| it.file().id));
        }
    }

    fn file_options(&mut self, old: &str, new: &str) {
        let file = self.file;
        for language in versions_in_names::LANGUAGE_PACKAGES {
            let options = file.options();
            let Some(entry) = options.and_then(|it| it.get(file.tree, language.option)) else {
                continue;
            };
            // Without its quotes.
            let inner = Span::new(entry.span.start + 1, entry.span.end.saturating_sub(1));
            let written = inner.str(self.text);
            let next = language.after(written, old, new);
            if next != written {
                self.edits.push(Edit::replace(inner, next));
            }
        }
        if self.mode == Mode::Rise {
            self.edits.extend(mark_of(file).map(Edit::delete));
        }
        if self.plan.stage == Stage::Stable {
            // An interrupted release has already frozen the source.
            self.edits.extend(status_edit(file, PackageVersionStatus::Active));
            return;
        }
        if extension(file.options(), file.tree, FILE_POLICY).is_some() {
            self.edits.extend(record_edits(file, &self.recorded));
        }
        self.edits.extend(status_edit(file, PackageVersionStatus::NextMajorVersionCandidate));
        let has_status = file.package().files().any(|it| it.package_version_status().is_some());
        if self.ancestry.is_none() || !has_status {
            // A byte order mark may only be at the start.
            let start = skip_byte_order_mark(self.text);
            self.edits.push(Edit::replace(Span::new(0, start), mark(file.path())));
        }
    }

    /// The statements between the braces of a declaration, or of the file.
    fn body(&mut self, parent: Option<DeclId>, scope: ScopeChange<'_>) {
        let children: Vec<DeclId> = self.ast.children_of(parent).collect();
        if self.mode == Mode::Follow {
            return children.into_iter().for_each(|id| self.statement(id, scope));
        }
        let element = parent.and_then(|id| self.element(id));
        let mut gone: Vec<bool> = children.iter().map(|id| self.goes(*id)).collect();
        if let Some(Element::Enum(it)) = element
            && self.mode == Mode::Upgrade
            && !has_aliases(it)
        {
            // protoc refuses the option if no alias is left.
            for (id, gone) in children.iter().zip(&mut gone) {
                *gone |= self.sets(*id, "allow_alias");
            }
        }
        let body = parent.and_then(|id| self.body_of(id));
        let head = parent.map_or(0, |id| self.head_end(id));
        let mut blocks = Vec::new();
        match (element, body) {
            _ if self.mode == Mode::Rise => {}
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

    fn statement(&mut self, id: DeclId, scope: ScopeChange<'_>) {
        let element = self.element(id);
        if let Some(element) = element {
            self.option_files(element.options());
            self.type_names(element);
        }
        let migrates = self.mode == Mode::Upgrade;
        let inner = |name: Span, text: &[u8]| {
            let join = |scope: &str, name: &str| match scope {
                "" => name.to_owned(),
                scope => format!("{scope}.{name}"),
            };
            let old = name.str(text);
            let renamed = element.filter(|it| it.name() == old && migrates);
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
                let target = self.ast.children_of(Some(id)).find_map(|child| {
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
                self.routes(view);
                self.body(Some(id), scope);
            }
            _ => {}
        }
    }

    /// Updates the HTTP routes of a method. A policy may keep those of candidates, but
    /// two stable majors never answer at the same route.
    fn routes(&mut self, method: Method<'t>) {
        let (old, new) =
            (self.file.package().version(), PackageVersion::from_package(&self.next.package));
        let (Some(old), Some(new), true) = (old, new, self.mode != Mode::Follow) else { return };
        let http_major = self.plan.policy.http_major;
        let kept = http_major.filter(|_| self.plan.stage == Stage::Candidate);
        // Candidates may keep the routes of their source.
        let is_kept =
            http_major.is_some() && self.plan.candidate(self.file, self.file.path()).is_some();
        let kept_major = new.major.checked_sub(1).filter(|_| is_kept);
        for binding in method.http_bindings() {
            let span = binding.place.span;
            let written = span.str(self.text);
            let route = match kept {
                Some(major) => versions_in_names::route_of_major(&binding, written, major),
                None => versions_in_names::route(written, &new.text, |it| {
                    it.major == old.major || Some(it.major) == kept_major
                }),
            };
            self.edits.extend(route.map(|route| Edit::replace(span, route)));
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
            // An `extend` block must not be empty.
            let mut members = self.ast.children_of(Some(id)).filter_map(|it| self.element(it));
            return members.all(|it| self.plan.removed(it));
        }
        self.element(id).is_some_and(|it| self.plan.removed(it))
    }
}

/// Whether two remaining values of an enum have the same number.
fn has_aliases(it: Enum<'_>) -> bool {
    let mut numbers: Vec<i32> = it
        .values()
        .filter(|value| !removed(Element::EnumValue(*value)))
        .map(|value| value.number())
        .collect();
    numbers.sort_unstable();
    numbers.windows(2).any(|pair| pair[0] == pair[1])
}
