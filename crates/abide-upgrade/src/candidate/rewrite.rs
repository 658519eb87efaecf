//! Rewrites one file into its candidate.

mod annotation_names;
mod any_values;
mod bodies;
mod import_lines;
mod kept_options;
mod previous_type;
mod promoted_fields;
mod references;
mod reservation;
mod rewriter;

use abide_schema::{
    Element, Enum, File, Message, MessageKind, Method, Node, PackageVersion, PackageVersionStatus,
    value,
};
use abide_syntax::{DeclId, DeclKind, Span, skip_byte_order_mark};

use self::annotation_names::ANCESTRIES;
use self::bodies::EditedBody;
use self::rewriter::{FileRewriter, ImportNeeds, RewriteMode, ScopeChange, find_option_value};
use super::comment_links::CommentLinks;
use super::shortest_name::VisibleNames;
use super::versions_in_names;
use crate::edit::{
    Edit, FILE_POLICY, RECORDED_FIELDS, apply_to_proto, build_record_edits, read_recorded_facts,
};
use crate::layout::{format_canonically, has_windows_line_ends, to_windows_line_ends};
use crate::plan::{
    CandidateLayout, ImportOrder, NextVersion, ReleaseStage, UpgradePlan, UpgradeRefusal,
    build_status_edit, find_field_type, find_generated_mark, format_generated_mark, is_deprecated,
    is_removed, is_removed_with_parent, refuse_overlap, resolve_next_name,
};

/// The new text of a file.
#[derive(Debug, Default)]
pub(crate) struct RewrittenText {
    pub(crate) text: Vec<u8>,
    /// The places where the source uses types that the next version does not have.
    pub(crate) dangling: Vec<Span>,
}

/// The candidate of a file that was read from source.
pub(crate) fn rewrite<'t>(
    plan: &UpgradePlan<'t>,
    links: &CommentLinks<'_, 't>,
    file: File<'t>,
    next: &NextVersion,
) -> Result<RewrittenText, UpgradeRefusal> {
    rewrite_in_mode(plan, links, file, next, RewriteMode::Upgrade)
}

/// The new text of a file that stays, with its references updated.
pub(crate) fn rewrite_references<'t>(
    plan: &UpgradePlan<'t>,
    links: &CommentLinks<'_, 't>,
    file: File<'t>,
) -> Result<RewrittenText, UpgradeRefusal> {
    let (package, path) = (file.package().full_name(), file.path().to_owned());
    rewrite_in_mode(
        plan,
        links,
        file,
        &NextVersion { package, path },
        RewriteMode::UpdateReferences,
    )
}

/// The text of a file of an alpha or a beta that becomes stable as it is.
pub(crate) fn rewrite_as_stable<'t>(
    plan: &UpgradePlan<'t>,
    links: &CommentLinks<'_, 't>,
    file: File<'t>,
    next: &NextVersion,
) -> Result<RewrittenText, UpgradeRefusal> {
    rewrite_in_mode(plan, links, file, next, RewriteMode::Stabilize)
}

fn rewrite_in_mode<'t>(
    plan: &UpgradePlan<'t>,
    links: &CommentLinks<'_, 't>,
    file: File<'t>,
    next: &NextVersion,
    mode: RewriteMode,
) -> Result<RewrittenText, UpgradeRefusal> {
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
        value.entries.iter().any(|it| !RECORDED_FIELDS.contains(&file.tree.field(it.field).name()))
    };
    let ancestry = ANCESTRIES.iter().find(|(status, _)| {
        find_option_value(file.options(), file.tree, status).is_some_and(says_more)
    });
    let mut rewriter = FileRewriter {
        plan,
        links,
        file,
        next,
        ast,
        text,
        elements: elements.map(|element| (element.node().0, element)).collect(),
        ancestry: ancestry.map(|(_, ancestry)| *ancestry),
        mode,
        recorded: plan
            .find_candidate(file, &next.path)
            .map(read_recorded_facts)
            .unwrap_or_default(),
        edits: Vec::new(),
        needs: ImportNeeds::default(),
        names: VisibleNames::from_file(file),
        references: Vec::new(),
        dangling: Vec::new(),
    };
    rewriter.rewrite_file();
    let imported = rewriter.rewrite_imports();
    rewriter.write_references(imported);
    let (mut edits, dangling) = (rewriter.edits, rewriter.dangling);
    edits.extend(links.collect_edits(text));
    let mut made = apply_to_proto(text, edits).map_err(|it| refuse_overlap(file, &it))?;
    // Blank lines in front of what went at the end.
    if !text.ends_with(b"\n\n") && made.ends_with(b"\n\n") {
        made.truncate(made.trim_ascii_end().len() + 1);
    }
    if has_windows_line_ends(text) {
        made = to_windows_line_ends(&made);
    }
    if plan.policy.layout == CandidateLayout::Canonical && mode == RewriteMode::Upgrade {
        made = format_canonically(&made).unwrap_or(made);
    }
    Ok(RewrittenText { text: made, dangling })
}

impl<'t> FileRewriter<'_, 't> {
    fn rewrite_file(&mut self) {
        let file = self.file;
        let (old, new) = (file.package().name(), self.next.package.as_str());
        if self.mode != RewriteMode::UpdateReferences {
            self.rewrite_file_options(old, new);
        }
        self.record_option_files(file.options());
        self.rewrite_body(None, (old, new));
        let is_candidate =
            self.mode == RewriteMode::Upgrade && self.plan.stage == ReleaseStage::Candidate;
        if is_candidate && self.plan.policy.imports == ImportOrder::Computed {
            // As Envoy's generator did: types of removed elements count as used.
            let hidden =
                file.all_messages().filter(|it| is_removed_with_parent(Element::Message(*it)));
            let fields =
                hidden.flat_map(Message::fields).filter(|it| !is_deprecated(Element::Field(*it)));
            let targets: Vec<Element<'t>> = fields.filter_map(find_field_type).collect();
            self.needs.types.extend(targets.iter().map(|it| it.file().id));
        }
    }

    fn rewrite_file_options(&mut self, old: &str, new: &str) {
        let file = self.file;
        for language in versions_in_names::LANGUAGE_PACKAGES {
            let Some(entry) = language.find_value(file) else { continue };
            // Without its quotes.
            let inner = Span::new(entry.span.start + 1, entry.span.end.saturating_sub(1));
            let written = inner.str(self.text);
            let next = language.update_value(written, old, new);
            if next != written {
                self.edits.push(Edit::replace(inner, next));
            }
        }
        if self.mode == RewriteMode::Stabilize {
            self.edits.extend(find_generated_mark(file).map(Edit::delete));
        }
        if self.plan.stage == ReleaseStage::Stable {
            // An interrupted release has already frozen the source.
            self.edits.extend(build_status_edit(file, PackageVersionStatus::Active));
            return;
        }
        if find_option_value(file.options(), file.tree, FILE_POLICY).is_some() {
            self.edits.extend(build_record_edits(file, &self.recorded));
        }
        self.edits.extend(build_status_edit(file, PackageVersionStatus::NextMajorVersionCandidate));
        let has_status = file.package().files().any(|it| it.package_version_status().is_some());
        if self.ancestry.is_none() || !has_status {
            // A byte order mark may only be at the start.
            let start = skip_byte_order_mark(self.text);
            self.edits.push(Edit::replace(Span::new(0, start), format_generated_mark(file.path())));
        }
    }

    /// The statements between the braces of a declaration, or of the file.
    fn rewrite_body(&mut self, parent: Option<DeclId>, scope: ScopeChange<'_>) {
        let children: Vec<DeclId> = self.ast.children_of(parent).collect();
        if self.mode == RewriteMode::UpdateReferences {
            return children.into_iter().for_each(|id| self.rewrite_statement(id, scope));
        }
        let element = parent.and_then(|id| self.find_element(id));
        let mut gone: Vec<bool> = children.iter().map(|id| self.is_dropped(*id)).collect();
        if let Some(Element::Enum(it)) = element
            && self.mode == RewriteMode::Upgrade
            && !has_aliases(it)
        {
            // protoc refuses the option if no alias is left.
            for (id, gone) in children.iter().zip(&mut gone) {
                *gone |= self.is_option_named(*id, "allow_alias");
            }
        }
        let body = parent.and_then(|id| self.find_body(id));
        let head = parent.map_or(0, |id| self.find_head_end(id));
        let mut blocks = Vec::new();
        match (element, body) {
            _ if self.mode == RewriteMode::Stabilize => {}
            (Some(Element::Message(message)), Some(_)) => {
                blocks.extend(self.update_previous_type(message, &children));
                blocks.extend(self.reserve_removed_fields(message, &children));
                self.enclose_promoted_fields(&children, &gone);
            }
            (Some(Element::Field(field)), Some(_)) => {
                if let Some(message) = field.message_type() {
                    blocks.extend(self.update_previous_type(message, &children));
                    blocks.extend(self.reserve_removed_fields(message, &children));
                    self.enclose_promoted_fields(&children, &gone);
                }
            }
            (Some(Element::Enum(it)), Some(_)) => {
                blocks.extend(self.reserve_removed_values(it, &children));
            }
            _ => {}
        }
        let regions = self.remove_statements(head, &children, &gone, blocks.is_empty());
        if let (Some(parent), Some(span)) = (parent, body) {
            let (children, removed, regions) = (&children, &gone, &regions);
            let body = EditedBody { parent, span, head, children, removed, regions };
            self.insert_statements(&body, blocks);
        }
        for (id, _) in children.iter().zip(&gone).filter(|(_, gone)| !**gone) {
            self.rewrite_statement(*id, scope);
        }
    }

    fn rewrite_statement(&mut self, id: DeclId, scope: ScopeChange<'_>) {
        let element = self.find_element(id);
        if let Some(element) = element {
            self.record_option_files(element.options());
            self.update_type_names(element);
        }
        let migrates = self.mode == RewriteMode::Upgrade;
        let inner = |name: Span, text: &[u8]| {
            let join = |scope: &str, name: &str| match scope {
                "" => name.to_owned(),
                scope => format!("{scope}.{name}"),
            };
            let old = name.str(text);
            let renamed = element.filter(|it| it.name() == old && migrates);
            let new = renamed.map_or(old, resolve_next_name);
            (join(scope.0, old), join(scope.1, new))
        };
        match self.ast.decls[id as usize].kind {
            DeclKind::Option(option) => {
                let option = &self.ast.options[option as usize];
                self.record_option_name(option, scope);
                self.rewrite_any_values(option);
                self.strip_annotation_fields(option);
            }
            DeclKind::Package { name } => self.edits.push(Edit::replace(name, scope.1)),
            DeclKind::Message { name, .. }
            | DeclKind::Enum { name, .. }
            | DeclKind::Service { name, .. } => {
                let (old, new) = inner(name, self.text);
                self.rename(element, name);
                self.rewrite_body(Some(id), (&old, &new));
            }
            DeclKind::Extend { extendee, .. } => {
                let target = self.ast.children_of(Some(id)).find_map(|child| {
                    let Element::Field(field) = self.elements.get(&child)? else { return None };
                    field.extendee()
                });
                self.record_reference(extendee, target.map(Element::Message), scope);
                self.rewrite_body(Some(id), scope);
            }
            DeclKind::Oneof { name, .. } => {
                self.rename(element, name);
                self.rewrite_body(Some(id), scope);
            }
            DeclKind::Field(node) => {
                let Some(Element::Field(field)) = element else { return };
                self.rewrite_bracket_options(node.options, node.number.end, scope);
                self.rename(element, node.name);
                self.update_default(field, node.options);
                if node.group.is_some() {
                    let (old, new) = inner(node.name, self.text);
                    self.rewrite_body(Some(id), (&old, &new));
                } else {
                    self.record_reference(node.ty, find_field_type(field), scope);
                }
            }
            DeclKind::MapField(map) => {
                let Some(Element::Field(field)) = element else { return };
                let node = self.ast.maps[map as usize];
                self.rewrite_bracket_options(node.options, node.number.end, scope);
                self.rename(element, node.name);
                let value = field.message_type().and_then(|it| it.field_numbered(2));
                self.record_reference(node.value, value.and_then(find_field_type), scope);
            }
            DeclKind::EnumValue { name, number, options } => {
                self.rewrite_bracket_options(options, number.end, scope);
                self.rename(element, name);
            }
            DeclKind::Method(method) => {
                let Some(Element::Method(view)) = element else { return };
                let node = self.ast.methods[method as usize];
                self.rename(element, node.name);
                self.record_reference(node.input, view.input().map(Element::Message), scope);
                self.record_reference(node.output, view.output().map(Element::Message), scope);
                self.rewrite_routes(view);
                self.rewrite_body(Some(id), scope);
            }
            _ => {}
        }
    }

    /// Updates the HTTP routes of a method. A policy may keep those of candidates, but
    /// two stable majors never answer at the same route.
    fn rewrite_routes(&mut self, method: Method<'t>) {
        let (old, new) =
            (self.file.package().version(), PackageVersion::from_package(&self.next.package));
        let (Some(old), Some(new), true) = (old, new, self.mode != RewriteMode::UpdateReferences)
        else {
            return;
        };
        let http_major = self.plan.policy.http_major;
        let kept = http_major.filter(|_| self.plan.stage == ReleaseStage::Candidate);
        // Candidates may keep the routes of their source.
        let is_kept =
            http_major.is_some() && self.plan.find_candidate(self.file, self.file.path()).is_some();
        let kept_major = new.major.checked_sub(1).filter(|_| is_kept);
        for binding in method.http_bindings() {
            let span = binding.place.span;
            let written = span.str(self.text);
            let route = match kept {
                Some(major) => versions_in_names::update_route_of_major(&binding, written, major),
                None => versions_in_names::update_route(written, &new.text, |it| {
                    it.major == old.major || Some(it.major) == kept_major
                }),
            };
            self.edits.extend(route.map(|route| Edit::replace(span, route)));
        }
    }

    /// Returns true if a statement sets this option.
    fn is_option_named(&self, id: DeclId, name: &str) -> bool {
        let DeclKind::Option(option) = self.ast.decls[id as usize].kind else { return false };
        self.ast.options[option as usize].name.str(self.text) == name
    }

    /// Returns true if a statement is not part of the candidate.
    fn is_dropped(&self, id: DeclId) -> bool {
        if let DeclKind::Option(option) = self.ast.decls[id as usize].kind {
            return self.is_option_dropped(&self.ast.options[option as usize]);
        }
        if let DeclKind::Extend { .. } = self.ast.decls[id as usize].kind {
            // An `extend` block must not be empty.
            let mut members = self.ast.children_of(Some(id)).filter_map(|it| self.find_element(it));
            return members.all(|it| self.plan.is_removed(it));
        }
        self.find_element(id).is_some_and(|it| self.plan.is_removed(it))
    }
}

/// Returns true if two remaining values of an enum have the same number.
fn has_aliases(it: Enum<'_>) -> bool {
    let mut numbers: Vec<i32> = it
        .values()
        .filter(|value| !is_removed(Element::EnumValue(*value)))
        .map(|value| value.number())
        .collect();
    numbers.sort_unstable();
    numbers.windows(2).any(|pair| pair[0] == pair[1])
}
