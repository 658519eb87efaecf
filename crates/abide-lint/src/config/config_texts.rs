//! The texts that a configuration is read from: that of a tree, and what it builds on.

use abide_syntax::Span;

/// The texts that a configuration is read from, with one offset for each place in all of them: the
/// text of the tree is first, so its places are what they are without the others.
#[derive(Clone, Debug)]
pub struct ConfigTexts {
    files: Vec<ConfigText>,
}

/// One text of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigText {
    /// Its name for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where it begins among all texts.
    start: u32,
    /// The numbers of the files that it builds on, in their order.
    bases: Vec<usize>,
    /// True if it is read without what it builds on.
    may_lack_bases: bool,
}

impl ConfigTexts {
    /// The text of a tree that builds on nothing yet.
    pub fn new(name: &str, text: &str) -> ConfigTexts {
        let mut files = ConfigTexts { files: Vec::new() };
        files.add(name, text);
        files
    }

    /// Adds a text. Returns its number.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        let end = |last: &ConfigText| last.start as usize + last.text.len() + 1;
        // Files of this kind are limited to a few megabytes, and their number, too.
        let start = u32::try_from(self.files.last().map_or(0, end)).unwrap_or(u32::MAX);
        let (name, text) = (name.to_owned(), text.to_owned());
        self.files.push(ConfigText { name, text, start, bases: Vec::new(), may_lack_bases: false });
        self.files.len() - 1
    }

    /// Says that a file builds on another one, after those that were said before.
    pub fn add_base(&mut self, file: usize, base: usize) {
        self.files[file].bases.push(base);
    }

    /// Reads all files without the bases that were not added.
    pub fn allow_missing_bases(&mut self) {
        self.files.iter_mut().for_each(|it| it.may_lack_bases = true);
    }

    /// The file with a number; 0 is that of the tree.
    pub fn file(&self, number: usize) -> &ConfigText {
        &self.files[number]
    }

    /// The file that a place is in, and the place in that file.
    pub fn locate(&self, span: Span) -> (&ConfigText, Span) {
        let file = self.files.iter().rev().find(|it| it.start <= span.start);
        let file = file.unwrap_or(&self.files[0]);
        (file, Span::new(span.start - file.start, span.end.max(span.start) - file.start))
    }

    /// The name of the file that a place is in, and the line there.
    pub fn find_line(&self, span: Span) -> (&str, usize) {
        let (file, span) = self.locate(span);
        let before = file.text.get(..span.start as usize).unwrap_or(&file.text);
        (&file.name, before.matches('\n').count() + 1)
    }

    /// The numbers of all files in the order in which they are read: a file after what it builds on.
    pub(super) fn list_in_order(&self) -> Vec<usize> {
        let (mut order, mut open) = (Vec::new(), vec![(0, 0)]);
        while let Some((file, next)) = open.pop() {
            match self.files[file].bases.get(next) {
                Some(base) => open.extend([(file, next + 1), (*base, 0)]),
                None => {
                    order.retain(|it| *it != file);
                    order.push(file);
                }
            }
        }
        order
    }
}

impl ConfigText {
    /// Its text behind as many spaces as stand before it among all texts, so that a parser counts
    /// its places from there.
    pub(super) fn pad(&self) -> String {
        " ".repeat(self.start as usize) + &self.text
    }

    /// Returns true if it is that of the tree.
    pub(super) fn is_own(&self) -> bool {
        self.start == 0
    }

    /// Returns true if what it builds on is there, or may be missing.
    pub(super) fn has_bases(&self) -> bool {
        self.may_lack_bases || !self.bases.is_empty()
    }
}
