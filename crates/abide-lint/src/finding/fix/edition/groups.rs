//! Groups, which editions write as a message and a field of it.

use abide_schema::Node;
use abide_syntax::{DeclId, DeclKind, FieldLabel, FieldNode, Span, find_comments};
use abide_upgrade::{Edit, apply};

use super::brackets::{FieldOptionEdits, with_blanks};
use super::edition_move::EditionMove;
use super::obstacle::{EditionObstacle, EditionObstacleReason};

/// Replaces groups. `edits` has those of everything else, also inside of the groups.
pub(super) fn edit_groups(
    moved: EditionMove<'_>,
    fields: &FieldOptionEdits,
    edits: &mut Vec<Edit>,
    obstacles: &mut Vec<EditionObstacle>,
) {
    // The inner ones come first: an outer one may move them.
    for (&id, options) in fields.of_groups.iter().rev() {
        let decl = &moved.source.ast.decls[id as usize];
        let DeclKind::Field(node) = decl.kind else { continue };
        let Some(body) = node.body(decl) else { continue };
        let group = Group { moved, id, node, body, options };
        if let Some(comment) = group.find_comment() {
            let reason = EditionObstacleReason::CommentInGroup(group.name().to_owned());
            obstacles.push(EditionObstacle { place: moved.place(comment), reason });
            continue;
        }
        match group.find_block() {
            None => group.split_in_place(edits),
            Some(block) => {
                if !group.move_message(block, edits) {
                    let reason = EditionObstacleReason::Entangled;
                    obstacles.push(EditionObstacle { place: moved.place(decl.span), reason });
                }
            }
        }
    }
}

/// A group.
struct Group<'t> {
    moved: EditionMove<'t>,
    id: DeclId,
    node: FieldNode,
    body: Span,
    options: &'t [String],
}

impl Group<'_> {
    fn name(&self) -> &str {
        self.node.name.str(self.moved.source.text)
    }

    fn start(&self) -> u32 {
        self.moved.source.ast.decls[self.id as usize].span.start
    }

    /// The first comment in its head.
    fn find_comment(&self) -> Option<Span> {
        let head = Span::new(self.start(), self.body.start);
        find_comments(self.moved.source.text, head).next().map(|it| it.span)
    }

    /// The oneof or `extend` block around it, in which no message may stand.
    fn find_block(&self) -> Option<DeclId> {
        let decls = &self.moved.source.ast.decls;
        let before = (0..self.id).rev();
        let around = before.into_iter().find(|id| decls[*id as usize].end > self.id)?;
        let is_block =
            matches!(decls[around as usize].kind, DeclKind::Oneof { .. } | DeclKind::Extend { .. });
        is_block.then_some(around)
    }

    /// The field: `repeated Item item = 1 [features.message_encoding = DELIMITED];`
    fn format_field(&self) -> String {
        let name = self.name();
        let label = match self.node.label {
            Some(FieldLabel::Repeated) => "repeated ",
            _ => "",
        };
        let number = self.node.number.str(self.moved.source.text);
        let options = match self.options {
            [] => String::new(),
            options => format!(" [{}]", options.join(", ")),
        };
        format!("{label}{name} {} = {number}{options};", name.to_ascii_lowercase())
    }

    /// Makes it a message, with the field behind it.
    fn split_in_place(&self, edits: &mut Vec<Edit>) {
        let source = self.moved.source;
        if let Some(label) = self.node.label {
            let decl = &source.ast.decls[self.id as usize];
            edits.push(Edit::delete(with_blanks(self.moved, label.span(decl))));
        }
        edits.push(Edit::replace(self.node.ty, "message"));
        edits.push(Edit::replace(Span::new(self.node.name.end, self.body.start), " "));
        let gap = match source.begins_line(self.start()) {
            true => format!("{}{}", source.newline(), source.indent(self.start())),
            false => " ".to_owned(),
        };
        edits.push(Edit::insert(self.body.end, format!("{gap}{}", self.format_field())));
    }

    /// Puts the message before the block, and the field in its place. False if edits overlap.
    fn move_message(&self, block: DeclId, edits: &mut Vec<Edit>) -> bool {
        let source = self.moved.source;
        let is_inside =
            |it: &mut Edit| self.body.start <= it.span.start && it.span.end <= self.body.end;
        let inner: Vec<Edit> = edits.extract_if(.., is_inside).collect();
        let shift = |it: Edit| {
            let span = Span::new(it.span.start - self.body.start, it.span.end - self.body.start);
            Edit::replace(span, it.text)
        };
        let inner = inner.into_iter().map(shift).collect();
        let Ok(body) = apply(self.body.of(source.text), inner) else { return false };
        let Ok(body) = String::from_utf8(body) else { return false };
        let block_start = source.ast.decls[block as usize].span.start;
        let (own, outer) = (source.indent(self.start()), source.indent(block_start));
        let body = match own.is_empty() {
            true => body,
            false => body.replace(&format!("\n{own}"), &format!("\n{outer}")),
        };
        let leading = source.file.decl().comments(Node(block)).leading;
        let at = leading.map_or(block_start, |it| it.span.start);
        let gap = match source.begins_line(at) {
            true => format!("{}{outer}", source.newline()),
            false => " ".to_owned(),
        };
        // Before those of the groups behind it, so that messages keep their order.
        edits.insert(0, Edit::insert(at, format!("message {} {body}{gap}", self.name())));
        let whole = Span::new(self.start(), self.body.end);
        edits.push(Edit::replace(whole, self.format_field()));
        true
    }
}
