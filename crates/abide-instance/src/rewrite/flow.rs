//! Edits of JSON, and of YAML in flow style.

use abide_schema::value::{JsonKind, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::edit_plan::{EditPlan, PlannedMember, quote_text};
use super::nodes::get_members;
use super::writer::PlanWriter;
use super::yaml_blocks::shift_lines;

impl<'n> PlanWriter<'_, 'n> {
    /// Changes the members of an object.
    pub(super) fn edit_flow_object(&mut self, members: &[PlannedMember], node: &'n JsonNode<'n>) {
        let own = get_members(node);
        let is_multi = own.first().is_some_and(|it| self.lines.is_first(it.key_span.start));
        let indent = own.first().map_or(0, |it| self.lines.indent(it.key_span.start));
        let stays = |key: Span| members.iter().find(|it| it.in_place && it.key == Some(key));
        let parts: Vec<(Span, bool)> = own
            .iter()
            .map(|it| {
                let span = Span { start: it.key_span.start, end: self.find_member_end(it) };
                (span, stays(it.key_span).is_some())
            })
            .collect();
        self.delete_parts(&parts);
        for written in own {
            let Some(member) = stays(written.key_span) else { continue };
            if member.is_renamed {
                let text = self.format_key(&member.name, Some(written.key_span));
                self.edits.push(Edit::replace(written.key_span, text));
            }
            if self.can_edit_in_place(&member.value, &written.value) {
                self.edit_in_place(&member.value, &written.value);
            } else {
                let region =
                    Span { start: written.key_span.end, end: self.find_member_end(written) };
                let value = self.format_flow(&member.value, indent, is_multi);
                self.edits.push(Edit::replace(region, format!(": {value}")));
            }
        }
        let separator = if is_multi { format!("\n{}", " ".repeat(indent)) } else { " ".to_owned() };
        let mut previous = None;
        for member in members {
            if member.in_place {
                previous = own.iter().find(|it| Some(it.key_span) == member.key);
                continue;
            }
            let text = self.format_flow_member(member, indent, is_multi);
            match previous {
                Some(previous) => {
                    let at = self.find_member_end(previous);
                    self.edits.push(Edit::insert(at, format!(",{separator}{text}")));
                }
                None => {
                    let at = own.first().map_or(node.span.start + 1, |it| it.key_span.start);
                    self.edits.push(Edit::insert(at, format!("{text},{separator}")));
                }
            }
        }
    }

    /// Takes out what does not stay, with one comma each.
    fn delete_parts(&mut self, parts: &[(Span, bool)]) {
        let mut last_kept: Option<u32> = None;
        for (at, (span, stays)) in parts.iter().enumerate() {
            if *stays {
                last_kept = Some(span.end);
                continue;
            }
            let next = parts[at + 1..].iter().find(|it| it.1);
            let gone = match (next, last_kept) {
                (Some((next, _)), _) => Span { start: span.start, end: next.start },
                (None, Some(start)) => {
                    Span { start, end: parts.last().map_or(span.end, |it| it.0.end) }
                }
                (None, None) => *span,
            };
            self.edits.push(Edit::delete(gone));
        }
    }

    /// Changes the elements of a list, none of which is another one than before.
    pub(super) fn edit_flow_list(&mut self, elements: &[EditPlan], node: &'n JsonNode<'n>) {
        let JsonKind::Array(written) = &node.kind else { return };
        let is_multi = self.lines.is_multi(node.span);
        let drafts: Vec<Option<&EditPlan>> = written
            .iter()
            .map(|old| elements.iter().find(|it| it.origin() == Some(old.span)))
            .collect();
        let parts: Vec<(Span, bool)> = written
            .iter()
            .zip(&drafts)
            .map(|(old, draft)| {
                (Span { start: self.find_start(old), end: self.find_end(old) }, draft.is_some())
            })
            .collect();
        self.delete_parts(&parts);
        for (old, draft) in written.iter().zip(drafts) {
            match draft {
                Some(draft) if self.can_edit_in_place(draft, old) => self.edit_in_place(draft, old),
                Some(draft) => {
                    let indent = self.lines.indent(old.span.start);
                    let text = self.format_flow(draft, indent, is_multi);
                    let region = Span { start: self.find_start(old), end: self.find_end(old) };
                    self.edits.push(Edit::replace(region, text));
                }
                None => {}
            }
        }
    }

    fn format_flow_member(
        &mut self,
        member: &PlannedMember,
        indent: usize,
        is_multi: bool,
    ) -> String {
        let key = self.format_key(&member.name, member.key);
        format!("{key}: {}", self.format_flow(&member.value, indent, is_multi))
    }

    /// A value in brackets; with lines of its own for each part if `is_multi`.
    pub(super) fn format_flow(
        &mut self,
        draft: &EditPlan,
        indent: usize,
        is_multi: bool,
    ) -> String {
        let inner = indent + self.step;
        let is_multi = is_multi && self.is_json;
        let anchor = self.format_anchor(draft);
        let anchor = if anchor.is_empty() { anchor } else { format!("{} ", anchor.trim_start()) };
        let (open, parts, close) = match draft {
            EditPlan::Scalar(json) => return self.format_scalar(json, None),
            EditPlan::Kept(span) => return self.format_flow_kept(*span, indent, is_multi),
            EditPlan::List(_, elements) => {
                let parts = elements.iter().map(|it| self.format_flow(it, inner, is_multi));
                ('[', parts.collect::<Vec<_>>(), ']')
            }
            EditPlan::Object(_, members) => {
                let parts = members.iter().map(|it| self.format_flow_member(it, inner, is_multi));
                ('{', parts.collect::<Vec<_>>(), '}')
            }
        };
        match is_multi && !parts.is_empty() {
            true => {
                let line = format!("\n{}", " ".repeat(inner));
                let parts = parts.join(&format!(",{line}"));
                format!("{anchor}{open}{line}{parts}\n{}{close}", " ".repeat(indent))
            }
            false if self.pads && open == '{' && !parts.is_empty() => {
                format!("{anchor}{{ {} }}", parts.join(", "))
            }
            false => format!("{anchor}{open}{}{close}", parts.join(", ")),
        }
    }

    fn format_flow_kept(&mut self, span: Span, indent: usize, is_multi: bool) -> String {
        let Some(node) = self.nodes.find_value(span) else { return "null".to_owned() };
        let anchor = match self.is_alias(node) {
            true => String::new(),
            false => self.format_anchor(&EditPlan::Kept(span)),
        };
        let anchor = if anchor.is_empty() { anchor } else { format!("{} ", anchor.trim_start()) };
        if let Some(text) = self.find_block_text(node) {
            return format!("{anchor}{}", self.format_scalar(&quote_text(text), None));
        }
        if self.is_flow(node) {
            let text = self.lines.slice(Span { start: span.start, end: self.find_end(node) });
            let text = shift_lines(text, self.lines.indent(span.start), indent);
            return format!("{anchor}{text}");
        }
        // A block has no place in brackets.
        let parts = match &node.kind {
            JsonKind::Array(elements) => {
                let elements = elements.iter().map(|it| EditPlan::Kept(it.span));
                EditPlan::List(Some(span), elements.collect())
            }
            _ => EditPlan::Object(
                Some(span),
                get_members(node)
                    .iter()
                    .map(|it| PlannedMember {
                        key: Some(it.key_span),
                        in_place: false,
                        name: it.key.clone().into_owned(),
                        order: 0,
                        is_renamed: false,
                        value: EditPlan::Kept(it.value.span),
                    })
                    .collect(),
            ),
        };
        self.format_flow(&parts, indent, is_multi)
    }
}
