//! Edits of JSON, and of YAML in flow style.

use abide_schema::value::{JsonKind, JsonNode};
use abide_syntax::Span;
use abide_upgrade::Edit;

use super::edit_plan::{Draft, Member};
use super::nodes::members_of;
use super::writer::Writer;
use super::yaml::shifted;

impl<'n> Writer<'_, 'n> {
    /// Changes the members of an object.
    pub(super) fn flow_object(&mut self, members: &[Member], node: &'n JsonNode<'n>) {
        let own = members_of(node);
        let is_multi = own.first().is_some_and(|it| self.lines.is_first(it.key_span.start));
        let indent = own.first().map_or(0, |it| self.lines.indent(it.key_span.start));
        let stays = |key: Span| members.iter().find(|it| it.in_place && it.key == Some(key));
        let parts: Vec<(Span, bool)> = own
            .iter()
            .map(|it| {
                let span = Span { start: it.key_span.start, end: self.member_tail(it) };
                (span, stays(it.key_span).is_some())
            })
            .collect();
        self.delete_parts(&parts);
        for written in own {
            let Some(member) = stays(written.key_span) else { continue };
            if member.is_renamed {
                let text = self.key_text(&member.name, Some(written.key_span));
                self.edits.push(Edit::replace(written.key_span, text));
            }
            if self.fits_in_place(&member.value, &written.value) {
                self.in_place(&member.value, &written.value);
            } else {
                let region = Span { start: written.key_span.end, end: self.member_tail(written) };
                let value = self.flow(&member.value, indent, is_multi);
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
            let text = self.flow_member(member, indent, is_multi);
            match previous {
                Some(previous) => {
                    let at = self.member_tail(previous);
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
    pub(super) fn flow_list(&mut self, elements: &[Draft], node: &'n JsonNode<'n>) {
        let JsonKind::Array(written) = &node.kind else { return };
        let is_multi = self.lines.is_multi(node.span);
        let drafts: Vec<Option<&Draft>> = written
            .iter()
            .map(|old| elements.iter().find(|it| it.origin() == Some(old.span)))
            .collect();
        let parts: Vec<(Span, bool)> = written
            .iter()
            .zip(&drafts)
            .map(|(old, draft)| {
                (Span { start: old.span.start, end: self.tail(old) }, draft.is_some())
            })
            .collect();
        self.delete_parts(&parts);
        for (old, draft) in written.iter().zip(drafts) {
            match draft {
                Some(draft) if self.fits_in_place(draft, old) => self.in_place(draft, old),
                Some(draft) => {
                    let indent = self.lines.indent(old.span.start);
                    let text = self.flow(draft, indent, is_multi);
                    let region = Span { start: old.span.start, end: self.tail(old) };
                    self.edits.push(Edit::replace(region, text));
                }
                None => {}
            }
        }
    }

    fn flow_member(&mut self, member: &Member, indent: usize, is_multi: bool) -> String {
        let key = self.key_text(&member.name, member.key);
        format!("{key}: {}", self.flow(&member.value, indent, is_multi))
    }

    /// A value in brackets; with lines of its own for each part if `is_multi`.
    pub(super) fn flow(&mut self, draft: &Draft, indent: usize, is_multi: bool) -> String {
        let inner = indent + self.step;
        let is_multi = is_multi && self.is_json;
        let (open, parts, close) = match draft {
            Draft::Scalar(json) => return self.scalar_text(json, None),
            Draft::Kept(span) => return self.flow_kept(*span, indent, is_multi),
            Draft::List(_, elements) => {
                let parts = elements.iter().map(|it| self.flow(it, inner, is_multi));
                ('[', parts.collect::<Vec<_>>(), ']')
            }
            Draft::Object(_, members) => {
                let parts = members.iter().map(|it| self.flow_member(it, inner, is_multi));
                ('{', parts.collect::<Vec<_>>(), '}')
            }
        };
        match is_multi && !parts.is_empty() {
            true => {
                let line = format!("\n{}", " ".repeat(inner));
                let parts = parts.join(&format!(",{line}"));
                format!("{open}{line}{parts}\n{}{close}", " ".repeat(indent))
            }
            false if self.pads && open == '{' && !parts.is_empty() => {
                format!("{{ {} }}", parts.join(", "))
            }
            false => format!("{open}{}{close}", parts.join(", ")),
        }
    }

    fn flow_kept(&mut self, span: Span, indent: usize, is_multi: bool) -> String {
        let Some(node) = self.nodes.value(span) else { return "null".to_owned() };
        if self.is_flow(node) {
            let text = self.lines.slice(Span { start: span.start, end: self.tail(node) });
            return shifted(text, self.lines.indent(span.start), indent);
        }
        // A block has no place in brackets.
        let parts = match &node.kind {
            JsonKind::Array(elements) => {
                Draft::List(None, elements.iter().map(|it| Draft::Kept(it.span)).collect())
            }
            _ => Draft::Object(
                None,
                members_of(node)
                    .iter()
                    .map(|it| Member {
                        key: Some(it.key_span),
                        in_place: false,
                        name: it.key.clone().into_owned(),
                        order: 0,
                        is_renamed: false,
                        value: Draft::Kept(it.value.span),
                    })
                    .collect(),
            ),
        };
        self.flow(&parts, indent, is_multi)
    }
}
