//! Options and their values.

use abide_syntax::{OptionId, Slice, TokenKind, ValueId, ValueKind, ValueNode};

use crate::printer::{EntryEnd, LinesBefore, Printer};

impl Printer<'_> {
    /// Writes an option from its name to its value.
    pub(crate) fn option(&mut self, id: OptionId, space: bool) {
        let option = &self.ast.options[id as usize];
        self.word(space, option.name.end);
        self.token(true);
        self.value(option.value, true);
    }

    /// Writes options in brackets: one behind the statement, several on lines of their own.
    pub(crate) fn write_options(&mut self, options: Slice) {
        if self.next().kind != TokenKind::Symbol(b'[') {
            return;
        }
        self.token(true);
        let mut ids = options.start..options.end;
        let first = ids.clone().next().map(|id| self.ast.options[id as usize].span);
        let spread = ids.len() > 1 || first.is_some_and(|it| self.is_commented(it.start));
        if spread {
            self.write_trailing_of_bracket();
            let last = options.end - 1;
            self.write_entries(ids, b']', EntryEnd::Whole, |it, id| {
                it.option(id, false);
                it.comma(id != last);
            });
        } else {
            if let Some(id) = ids.next() {
                self.option(id, false);
            }
            self.token(false);
        }
    }

    /// Writes the comma behind an entry that is not the last.
    fn comma(&mut self, more: bool) {
        if more {
            self.token(false);
        }
    }

    /// Writes a value.
    fn value(&mut self, id: ValueId, space: bool) {
        let value = &self.ast.values[id as usize];
        match value.kind {
            ValueKind::Message => self.message(id, space),
            ValueKind::List => self.list(id, space),
            ValueKind::String if self.is_joined(value) => self.strings(value, space),
            _ => self.word(space, value.span.end),
        }
    }

    /// Returns true if a string has several parts.
    fn is_joined(&self, value: &ValueNode) -> bool {
        let first = Printer::from(self.text, self.ast, value.span.start).next();
        first.span.end < value.span.end
    }

    /// Returns true if a value stands on one line with what is around it.
    fn is_plain(&self, id: ValueId) -> bool {
        let value = &self.ast.values[id as usize];
        match value.kind {
            ValueKind::Message | ValueKind::List => false,
            ValueKind::String => !self.is_joined(value),
            _ => true,
        }
    }

    /// Writes the parts of a string, each on a line of its own: below what they are the value of,
    /// or as the lines of an entry.
    fn strings(&mut self, value: &ValueNode, below: bool) {
        let parts = |it: &mut Self, mut first: bool| {
            while it.at < value.span.end {
                if !std::mem::take(&mut first) {
                    it.begin_entry(LinesBefore::Nothing);
                }
                it.token(false);
                if it.at < value.span.end {
                    it.write_trailing(EntryEnd::Whole);
                }
            }
        };
        if below {
            self.deeper(|it| parts(it, false));
        } else {
            parts(self, true);
        }
    }

    fn message(&mut self, id: ValueId, space: bool) {
        let value = &self.ast.values[id as usize];
        let fields: Vec<_> = self.ast.value_children(id).collect();
        self.bracket(b"{", space);
        if let [field] = fields[..]
            && self.is_plain(field + 1)
            && !self.is_commented(value.span.end)
        {
            self.write_field(field);
            self.push(b"}");
            self.at = value.span.end;
        } else {
            self.write_entries(fields, b'}', EntryEnd::Separated, Self::write_field);
        }
    }

    /// Writes an opening bracket for the one in the text.
    fn bracket(&mut self, bracket: &[u8], space: bool) {
        let from = self.token_as(bracket, space);
        debug_assert!(matches!(from.kind, TokenKind::Symbol(b'{' | b'<' | b'[')));
    }

    /// Writes a field of a message; a colon stands before each value.
    fn write_field(&mut self, id: ValueId) {
        let ValueKind::Field { key, .. } = self.ast.values[id as usize].kind else { return };
        self.word(false, key.end);
        if self.next().kind == TokenKind::Symbol(b':') {
            self.token(false);
        } else {
            self.push(b":");
        }
        self.value(id + 1, true);
    }

    fn list(&mut self, id: ValueId, space: bool) {
        let value = &self.ast.values[id as usize];
        let elements: Vec<_> = self.ast.value_children(id).collect();
        self.bracket(b"[", space);
        if let [element] = elements[..]
            && self.is_plain(element)
            && !self.is_commented(value.span.end)
        {
            self.value(element, false);
            self.token(false);
        } else {
            let last = elements.last().copied();
            if last.is_some() {
                self.write_trailing_of_bracket();
            }
            self.write_entries(elements, b']', EntryEnd::Whole, |it, element| {
                it.value(element, false);
                it.comma(Some(element) != last);
            });
        }
    }
}
