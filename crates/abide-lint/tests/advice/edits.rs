//! The edits of an example that advice asks for.

use std::collections::BTreeSet;

use abide_lint::{Finding, Origin};
use abide_syntax::Span;

use super::super::{Block, Case, Judged};

/// One way to obey advice: the texts that stand for the `*` of its pattern are given.
pub(super) type Act = for<'a> fn(&Subject<'a>, &[&str]) -> Subject<'a>;

/// A case that is mended.
#[derive(Clone)]
pub(super) struct Subject<'a> {
    pub(super) case: Case,
    pub(super) finding: &'a Finding,
    judged: &'a Judged,
    before: &'a Case,
}

/// The text that a place of the judged trees lies in.
pub(super) fn text_at<'c>(case: &'c mut Case, judged: &Judged, origin: Origin) -> &'c mut String {
    let (path, is_old) = match origin {
        Origin::Tree(file) => (judged.new.file(file).decl().display.to_string(), false),
        Origin::Old(file) => {
            let old = judged.old.as_ref().expect("a finding of the old tree");
            (old.file(file).decl().display.to_string(), true)
        }
        Origin::Config => return &mut case.config,
        Origin::Accepted => return case.accepted.as_mut().expect("the case has accepted findings"),
        Origin::Features(_) => {
            return &mut case.features.as_mut().expect("the case has a list of features").text;
        }
        Origin::Instance(index) => return &mut case.instances[index as usize],
    };
    let mut files = case.files.iter_mut();
    let block = files.find(|it| it.old == is_old && it.path() == path);
    &mut block.expect("the place is in a file of the case").text
}

/// The folder that a help names.
pub(super) fn folder(shown: &str) -> String {
    if shown == "the root" { String::new() } else { shown.trim_matches('`').to_owned() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A text in which a whole word is another one.
fn with_word(text: &str, word: &str, by: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = &found[word.len()..];
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        out += before;
        out += if is_whole { by } else { word };
        rest = after;
    }
    out + rest
}

impl<'a> Subject<'a> {
    pub(super) fn new(case: &'a Case, finding: &'a Finding, judged: &'a Judged) -> Subject<'a> {
        Subject { case: case.clone(), finding, judged, before: case }
    }

    /// The full name in the message of the finding.
    fn old_name(&self) -> String {
        self.finding.message.split('`').nth(1).expect("the message names it").to_owned()
    }

    fn origin(&self) -> Origin {
        self.finding.location.origin
    }

    fn span(&self) -> Span {
        self.finding.location.span
    }

    /// The text of the finding, as it was.
    fn original(&self) -> String {
        text_at(&mut self.before.clone(), self.judged, self.origin()).clone()
    }

    /// What the finding marks.
    pub(super) fn word(&self) -> String {
        self.original()[self.span().range()].to_owned()
    }

    /// The line in which the finding begins, and where it is.
    fn line(&self) -> (String, std::ops::Range<usize>) {
        let text = self.original();
        let start = text[..self.span().start as usize].rfind('\n').map_or(0, |it| it + 1);
        let end = text[start..].find('\n').map_or(text.len(), |it| start + it + 1);
        (text[start..end].to_owned(), start..end)
    }

    fn put(&self, range: std::ops::Range<usize>, by: &str) -> Subject<'a> {
        let mut it = self.clone();
        text_at(&mut it.case, self.judged, self.origin()).replace_range(range, by);
        it
    }

    /// Something else for what the finding marks.
    pub(super) fn at_span(&self, by: &str) -> Subject<'a> {
        self.put(self.span().range(), by)
    }

    /// Another word, in the quotes that it has.
    pub(super) fn at_word(&self, by: &str) -> Subject<'a> {
        let word = self.word();
        match word.split_once(':') {
            _ if word.contains('"') => self.at_string(by),
            Some((key, _)) => self.at_span(&word.replacen(key, by, 1)),
            None => self.at_span(by),
        }
    }

    /// Another text for the string in what the finding marks.
    pub(super) fn at_string(&self, by: &str) -> Subject<'a> {
        let word = self.word();
        let (open, close) = (word.find('"').expect("a string"), word.rfind('"').expect("a string"));
        self.at_span(&format!("{}\"{by}\"{}", &word[..open], &word[close + 1..]))
    }

    /// Another part in the line of the finding.
    pub(super) fn at_line(&self, from: &str, to: &str) -> Subject<'a> {
        let (line, range) = self.line();
        assert!(line.contains(from), "`{from}` is not in {line}");
        self.put(range, &line.replace(from, to))
    }

    /// The line of the finding behind one like it, with the old name.
    pub(super) fn after_its_old_name(&self, old: &str, new: &str) -> Subject<'a> {
        let (line, range) = self.line();
        self.put(range, &(line.replace(new, old) + &line))
    }

    /// The same for the first place.
    pub(super) fn in_line(&self, from: &str, to: &str) -> Subject<'a> {
        let (line, range) = self.line();
        self.put(range, &line.replacen(from, to, 1))
    }

    pub(super) fn before_line(&self, text: &str) -> Subject<'a> {
        let (_, range) = self.line();
        self.put(range.start..range.start, text)
    }

    /// A line below that of the finding.
    pub(super) fn after_line(&self, text: &str) -> Subject<'a> {
        let (_, range) = self.line();
        self.put(range.end..range.end, &format!("{text}\n"))
    }

    pub(super) fn after_line_of(&self, word: &str, text: &str) -> Subject<'a> {
        let whole = self.original();
        let at = whole.find(word).expect("the word is there");
        let end = whole[at..].find('\n').map_or(whole.len(), |it| at + it + 1);
        self.put(end..end, &format!("{text}\n"))
    }

    pub(super) fn at_top(&self, text: &str) -> Subject<'a> {
        self.put(0..0, text)
    }

    pub(super) fn appending(&self, text: &str) -> Subject<'a> {
        let mut it = self.clone();
        text_at(&mut it.case, self.judged, self.origin()).push_str(text);
        it
    }

    /// Another text for the comment in the line above.
    pub(super) fn comment_above(&self, comment: &str) -> Subject<'a> {
        let (_, range) = self.line();
        let text = self.original();
        let above = text[..range.start - 1].rfind('\n').map_or(0, |it| it + 1);
        self.put(above..range.start, &format!("  // {comment}\n"))
    }

    /// Another part in the whole text of the finding.
    pub(super) fn text(&self, from: &str, to: &str) -> Subject<'a> {
        let mut it = self.clone();
        let text = text_at(&mut it.case, self.judged, self.origin());
        assert!(text.contains(from), "`{from}` is not in {text}");
        *text = text.replacen(from, to, 1);
        it
    }

    pub(super) fn text_all(&self, from: &str, to: &str) -> Subject<'a> {
        let mut it = self.clone();
        let text = text_at(&mut it.case, self.judged, self.origin());
        *text = text.replace(from, to);
        it
    }

    /// What the old side reserves.
    pub(super) fn reserved_as_before(&self) -> Subject<'a> {
        let mut it = self.clone();
        let old = self.before.files.iter().filter(|it| it.old).flat_map(|it| it.text.lines());
        let reserved: Vec<String> = old
            .filter(|it| it.trim_start().starts_with("reserved"))
            .map(|it| format!("{it}\n"))
            .collect();
        let text = text_at(&mut it.case, self.judged, self.origin());
        let at = text.find("  reserved").expect("it reserves something");
        let kept = text.split_inclusive('\n').filter(|it| !it.trim_start().starts_with("reserved"));
        let mut mended: String = kept.collect();
        mended.insert_str(at, &reserved.concat());
        *text = mended;
        it
    }

    /// The old line of the finding, after its line.
    pub(super) fn with_old_line(&self) -> Subject<'a> {
        let mut it = self.clone();
        let old = self.old_lines();
        let text = text_at(&mut it.case, self.judged, self.origin());
        let end = text.rfind('}').expect("a message ends");
        text.insert_str(end, &old);
        it
    }

    /// The old declaration of a field, at the end of the text.
    pub(super) fn with_declaration(&self, name: &str) -> Subject<'a> {
        let mut old = self.before.files.iter().filter(|it| it.old).flat_map(|it| it.text.lines());
        let is_of = |line: &&str| line.contains(&format!(" {name} ="));
        let line = old.find(is_of).expect("the old side declares it").to_owned();
        let mut it = self.clone();
        let text = text_at(&mut it.case, self.judged, self.origin());
        let end = text.rfind('}').expect("a message ends");
        text.insert_str(end, &format!("{line}\n"));
        it
    }

    pub(super) fn all_in_folders_of_packages(&self) -> Subject<'a> {
        let mut it = self.clone();
        for block in &mut it.case.files {
            let path = block.path();
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            block.file = None;
            let folder = block.path();
            block.file = folder.rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}"));
        }
        it
    }

    fn block(&mut self) -> &mut Block {
        let Origin::Tree(file) = self.origin() else { panic!("the finding is in a file") };
        let path = self.judged.new.file(file).decl().display.to_string();
        let mut files = self.case.files.iter_mut();
        files.find(|it| !it.old && it.path() == path).expect("the file is there")
    }

    pub(super) fn text_of(&self, path: &str, from: &str, to: &str) -> Subject<'a> {
        let mut it = self.clone();
        for block in it.case.files.iter_mut().filter(|it| it.path() == path) {
            block.text = block.text.replace(from, to);
        }
        it
    }

    /// What the finding marks, by another name wherever it stands.
    pub(super) fn renamed(&self, to: &str) -> Subject<'a> {
        let (mut it, from) = (self.clone(), self.word());
        for block in it.case.files.iter_mut().filter(|it| !it.old) {
            block.text = with_word(&block.text, &from, to);
        }
        it
    }

    /// The package of the finding with another version as its last component.
    pub(super) fn version(&self, version: &str) -> Subject<'a> {
        let package = self.finding.package.clone();
        let (api, _) = package.rsplit_once('.').expect("the package has a version");
        let to = format!("{api}.{version}");
        let mut it = self.clone();
        for block in it.case.files.iter_mut().filter(|it| !it.old) {
            block.text = with_word(&block.text, &package, &to);
            let path = |it: &str| it.replace('.', "/");
            block.file = block.file.take().map(|it| it.replace(&path(&package), &path(&to)));
        }
        it
    }

    /// The file of the finding at another path.
    pub(super) fn moved_to(&self, path: &str) -> Subject<'a> {
        let mut it = self.clone();
        let was = it.block().path();
        it.block().file = Some(path.to_owned());
        for block in it.case.files.iter_mut().filter(|it| !it.old) {
            block.text = block.text.replace(&format!("\"{was}\""), &format!("\"{path}\""));
        }
        it
    }

    pub(super) fn moved_into(&self, folder: &str) -> Subject<'a> {
        let path = self.clone().block().path();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let folder = folder.trim_matches('`');
        self.moved_to(&if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
    }

    /// A file in the old place that passes on the moved one.
    pub(super) fn forwarded(&self) -> Subject<'a> {
        let mut it = self.clone();
        let Origin::Tree(file) = self.origin() else { panic!("the finding is in a file") };
        let old = self.judged.new.file(file).decl().display.to_string();
        let was =
            |it: &&Block| !it.old && self.before.files.iter().all(|was| was.path() != it.path());
        let new = it.case.files.iter().find(was).expect("the file was moved").clone();
        let text = format!("syntax = \"proto3\";\nimport public \"{}\";\n", new.path());
        it.case.files.push(Block { file: Some(old), text, ..new });
        it
    }

    pub(super) fn all_moved(&self, from: &str, to: &str) -> Subject<'a> {
        let mut it = self.clone();
        for block in it.case.files.iter_mut().filter(|it| !it.old) {
            let path = block.path();
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            if folder == from {
                block.file = Some(format!("{to}/{name}"));
            }
        }
        it
    }

    /// Paths that count from a folder.
    pub(super) fn counted_from(&self, folder: &str) -> Subject<'a> {
        let mut it = self.clone();
        for block in &mut it.case.files {
            let path = block.path();
            block.file =
                path.strip_prefix(&format!("{folder}/")).map(str::to_owned).or(block.file.take());
        }
        it
    }

    /// Another item of a list in `abide.toml`.
    pub(super) fn listed(&self, table: &str, key: &str, item: &str) -> Subject<'a> {
        let mut it = self.clone();
        let head = format!("[{table}]\n");
        if !it.case.config.contains(&head) {
            it.case.config += &head;
        }
        it.case.config = it.case.config.replace(&head, &format!("{head}{key} = [\"{item}\"]\n"));
        it
    }

    pub(super) fn importing(&self, path: &str) -> Subject<'a> {
        let mut it = self.clone();
        let text = text_at(&mut it.case, self.judged, self.origin());
        if !text.contains(path) {
            let package = text.find("package ").expect("it declares a package");
            let end = text[package..].find('\n').map_or(text.len(), |it| package + it + 1);
            text.insert_str(end, &format!("import \"{path}\";\n"));
        }
        it
    }

    pub(super) fn without_import(&self, path: &str) -> Subject<'a> {
        self.text(&format!("import \"{path}\";\n"), "")
    }

    /// An option of the file.
    pub(super) fn with_file_policy(&self, setting: &str) -> Subject<'a> {
        let statement = format!("option (abide.annotations.v1.file_policy).{setting};");
        self.after_line_of("package ", &statement).importing("abide/annotations/v1/status.proto")
    }

    /// Another option beside those of the line.
    pub(super) fn with_option(&self, option: &str) -> Subject<'a> {
        self.in_line("];", &format!(", {option}];"))
            .importing("abide/annotations/v1/lifecycle.proto")
    }

    pub(super) fn in_message(&self, name: &str, text: &str) -> Subject<'a> {
        let head = format!("message {name} {{\n");
        self.text(&head, &format!("{head}{text}"))
    }

    /// A statement at the top of what encloses the finding, or of what it marks.
    pub(super) fn in_container(&self, text: &str) -> Subject<'a> {
        let whole = self.original();
        let line_end = self.line().1.end;
        let head = match whole[..line_end].trim_end().ends_with('{') {
            true => line_end,
            false => whole[..self.span().start as usize].rfind("{\n").map_or(0, |it| it + 2),
        };
        self.put(head..head, text)
    }

    /// A statement at the end of what the finding marks.
    fn at_end_of_container(&self, text: &str) -> Subject<'a> {
        let (line, range) = self.line();
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        let whole = self.original();
        let end = whole[range.end..].find(&format!("\n{indent}}}\n")).expect("it ends");
        let end = range.end + end + 1;
        self.put(end..end, text)
    }

    /// A waiver in a comment above the finding.
    pub(super) fn waived(&self) -> Subject<'a> {
        let mut it = self.clone();
        let (line, _) = self.line();
        let text = text_at(&mut it.case, self.judged, self.origin());
        let at = text.find(&line).expect("the line stayed");
        let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
        text.insert_str(at, &format!("{indent}// abide:allow({}): agreed\n", self.finding.rule));
        it
    }

    /// The statement around the finding, gone.
    pub(super) fn without_statement(&self) -> Subject<'a> {
        let text = self.original();
        let at = self.span().start as usize;
        let start = text[..at].rfind([';', '{']).map_or(0, |it| it + 1);
        let end = text[at..].find(";\n").map_or(text.len(), |it| at + it + 1);
        self.put(start..end, "")
    }

    /// The line that declares a name, and where it is.
    fn declaration(&self, name: &str) -> (String, std::ops::Range<usize>) {
        let text = self.original();
        let is_of = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.windows(2).any(|it| it == [name, "="])
        };
        let line = text.split_inclusive('\n').find(is_of).expect("the name is declared");
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        (line.to_owned(), start..start + line.len())
    }

    pub(super) fn moved_above(&self, name: &str) -> Subject<'a> {
        let (line, range) = self.line();
        let place = self.declaration(name).1.start;
        self.put(range, "").put(place..place, &line)
    }

    /// A line above another one.
    pub(super) fn swapped(&self, second: &str, first: &str) -> Subject<'a> {
        let (line, range) = self.declaration(first);
        let place = self.declaration(second).1.start;
        self.put(range, "").put(place..place, &line)
    }

    /// The field that a list lacks.
    pub(super) fn typed_field(&self) -> &'static str {
        match self.finding.message.contains("page_size") {
            true => "int32 page_size",
            false => "string next_page_token",
        }
    }

    /// Another first value of the enum of the finding.
    pub(super) fn renumbered_enum(&self, first: &str) -> Subject<'a> {
        self.at_line("RED = 0;", &format!("{first} = 0;\n  RED = 2;"))
    }

    /// Another type for a method, declared as well.
    pub(super) fn named_type(&self, name: &str) -> Subject<'a> {
        let it = self.at_span(name);
        let declared = format!("message {name} {{");
        match self.original().contains(&declared) {
            true => it,
            false => it.appending(&format!("{declared}}}\n")),
        }
    }

    pub(super) fn sorted(&self) -> Subject<'a> {
        let mut it = self.clone();
        let text = text_at(&mut it.case, self.judged, self.origin());
        let lines: BTreeSet<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
        *text = lines.into_iter().map(|it| format!("{it}\n")).collect();
        it
    }

    /// The number that a help takes out of `extensions` is the first one there.
    fn as_extensions_allow(&self) -> Subject<'a> {
        let help = self.finding.help.as_deref().unwrap_or_default();
        let is_taken = help.contains("out of `extensions`");
        if is_taken { self.text("extensions 100 to", "extensions 101 to") } else { self.clone() }
    }

    /// The old lines of what changed.
    fn old_lines(&self) -> String {
        let old = self
            .finding
            .change
            .as_ref()
            .and_then(|it| it.old)
            .expect("the finding has an old side");
        let text = text_at(&mut self.before.clone(), self.judged, old.origin).clone();
        let start = text[..old.span.start as usize].rfind('\n').map_or(0, |it| it + 1);
        let end = old.span.end as usize;
        let end = text[end..].find('\n').map_or(text.len(), |it| end + it + 1);
        text[start..end].to_owned()
    }
}

pub(super) fn remove<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    s.at_span("")
}

pub(super) fn remove_line<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (_, range) = s.line();
    s.put(range, "")
}

/// The option that the finding marks, gone with its comma or its brackets.
pub(super) fn drop_option<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let text = s.original();
    let at = s.span().start as usize;
    // The option begins with its name, and the finding marks where it ends.
    let open = text[..at].rfind(['[', ',']).expect("options are in brackets");
    let end = s.span().end as usize;
    match &text[open..=open] {
        "," => s.put(open..end, ""),
        _ if text[end..].trim_start().starts_with(']') => {
            let close = end + text[end..].find(']').expect("it is closed") + 1;
            s.put(open..close, "")
        }
        _ => {
            let comma = end + text[end..].find(',').expect("another option follows") + 1;
            s.put(open + 1..comma, "")
        }
    }
}

pub(super) fn deprecate_with_comment<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    s.in_line("];", ", deprecated = true];").before_line("  // Use `name`.\n")
}

pub(super) fn reserve_and_waive<'a>(s: &Subject<'a>, holes: &[&str]) -> Subject<'a> {
    let statements =
        holes.iter().find(|it| it.starts_with("reserved ")).expect("it says what to reserve");
    s.in_container(&format!("  {statements}\n")).waived().as_extensions_allow()
}

/// What was removed, deprecated, with a comment on what to use instead.
pub(super) fn put_back<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let lines = s.old_lines();
    let indent: String = lines.chars().take_while(|c| *c == ' ').collect();
    let deprecated =
        if lines.contains("deprecated = true") || lines.trim_start().starts_with("oneof") {
            lines
        } else if let Some(head) = lines.trim_end().strip_suffix(';') {
            match (head.trim_start().starts_with("rpc "), head.strip_suffix(']')) {
                (true, _) => format!("{head} {{ option deprecated = true; }}\n"),
                (_, Some(head)) => format!("{head}, deprecated = true];\n"),
                (_, None) => format!("{head} [deprecated = true];\n"),
            }
        } else if let Some(head) = lines.trim_end().strip_suffix("{}") {
            format!("{head}{{ option deprecated = true; }}\n")
        } else {
            lines.replacen("{\n", &format!("{{\n{indent}  option deprecated = true;\n"), 1)
        };
    let text = format!("{indent}// Use `name`.\n{deprecated}");
    let mut it = match indent.is_empty() {
        true => s.appending(&text),
        false if s.finding.message.starts_with("extension") => {
            s.appending(&format!("extend User {{\n{text}}}\n"))
        }
        false => s.at_end_of_container(&text),
    };
    let help = s.finding.help.as_deref().unwrap_or_default();
    if help.starts_with("take it out of `reserved`") {
        let mended = text_at(&mut it.case, s.judged, s.origin());
        let lines = mended.split_inclusive('\n');
        *mended = lines.filter(|it| !it.trim_start().starts_with("reserved")).collect();
    }
    it.as_extensions_allow()
}

/// The old declaration in the place of the one that changed.
pub(super) fn old_line<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (_, range) = s.line();
    s.put(range, &s.old_lines())
}

pub(super) fn old_reserved<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let old = s.old_lines();
    let fix = s.finding.fixes.first().expect("it has a fix");
    assert!(!old.is_empty());
    let mut it = s.clone();
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|it| std::cmp::Reverse(it.location.span.start));
    for edit in edits {
        let text = text_at(&mut it.case, s.judged, edit.location.origin);
        text.replace_range(edit.location.span.range(), &edit.text);
    }
    it
}

/// The numbers that the fields had.
pub(super) fn old_numbers<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let mut it = s.clone();
    let old = s.before.files.iter().filter(|it| it.old).flat_map(|it| it.text.lines());
    let number = |line: &str| {
        let (head, rest) = line.split_once(" = ")?;
        let name = head.split_whitespace().next_back()?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!number.is_empty()).then(|| (name.to_owned(), number))
    };
    let known: Vec<(String, String)> = old.filter_map(number).collect();
    for block in it.case.files.iter_mut().filter(|it| !it.old) {
        let lines = block.text.lines().map(|line| {
            let Some((name, is)) = number(line) else { return format!("{line}\n") };
            let was = known.iter().find(|(it, _)| *it == name);
            // A field that the old side did not have gives way.
            let was = was.map_or_else(|| format!("9{is}"), |(_, number)| number.clone());
            format!("{}\n", line.replacen(&format!("= {is}"), &format!("= {was}"), 1))
        });
        block.text = lines.collect();
    }
    it
}

/// The old field beside the one that took its number.
pub(super) fn put_both<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (line, range) = s.line();
    let (head, rest) = line.split_once(" = ").expect("it has a number");
    let end = rest.find(|c: char| !c.is_ascii_digit()).expect("the statement ends");
    s.put(range, &format!("{}{head} = 99{}", s.old_lines(), &rest[end..]))
}

/// A member with a name and a number that nothing had.
pub(super) fn fresh_member<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (line, range) = s.line();
    let (head, _) = line.split_once(" = ").expect("it has a number");
    let (head, name) = head.rsplit_once(' ').expect("it has a name");
    let is_upper = name.chars().all(|c| !c.is_lowercase());
    let name = if is_upper { "COLOR_UNHEARD_OF" } else { "unheard_of" };
    s.put(range, &format!("{head} {name} = 150;\n"))
}

pub(super) fn optional<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (line, range) = s.line();
    let line = line
        .replace("required ", "optional ")
        .replace(" [features.field_presence = LEGACY_REQUIRED]", "");
    s.put(range, &line)
}

/// The old JSON name, written out.
pub(super) fn json_name<'a>(s: &Subject<'a>, holes: &[&str]) -> Subject<'a> {
    let (line, range) = s.line();
    let head = line.split([';', '[']).next().expect("a part").trim_end().to_owned();
    s.put(range, &format!("{head} {};\n", holes[0]))
}

pub(super) fn change_type<'a>(s: &Subject<'a>, holes: &[&str]) -> Subject<'a> {
    let it = s.at_span(holes[0]);
    match holes[0].strip_prefix("google.protobuf.") {
        Some(name) => it.importing(&format!("google/protobuf/{}.proto", name.to_lowercase())),
        None => it,
    }
}

/// The old route beside the new one.
pub(super) fn old_binding<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let message = &s.finding.message;
    let (_, route) = message.split_once("`GET ").expect("the message names the route");
    let (path, _) = route.split_once('`').expect("the route ends");
    s.after_line(&format!("      additional_bindings {{ get: \"{path}\" }}"))
}

/// The names that the numbers had.
pub(super) fn old_names<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let mut it = s.clone();
    let parts = |line: &str| {
        let (head, rest) = line.split_once(" = ")?;
        let name = head.split_whitespace().next_back()?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!number.is_empty()).then(|| (name.to_owned(), number))
    };
    let old = s.before.files.iter().filter(|it| it.old).flat_map(|it| it.text.lines());
    let known: Vec<(String, String)> = old.filter_map(parts).collect();
    for block in it.case.files.iter_mut().filter(|it| !it.old) {
        let lines = block.text.lines().map(|line| {
            let Some((is, number)) = parts(line) else { return format!("{line}\n") };
            let (was, _) =
                known.iter().find(|(_, it)| *it == number).expect("the number was there");
            format!("{}\n", line.replacen(&format!(" {is} ="), &format!(" {was} ="), 1))
        });
        block.text = lines.collect();
    }
    it
}

/// Another element, in an instance.
pub(super) fn use_instead<'a>(s: &Subject<'a>, holes: &[&str]) -> Subject<'a> {
    let name = |full: &str| full.rsplit('.').next().unwrap_or(full).to_owned();
    let (old, new) = (s.old_name(), holes[0]);
    if s.finding.rule.ends_with("enum-value-used") {
        return s.at_span(&name(new));
    }
    match name(new).starts_with(char::is_lowercase) {
        true => s.at_line(&format!("{}:", name(&old)), &format!("{}:", name(new))),
        false => s.text(&old, new),
    }
}

fn without_file<'a>(s: &Subject<'a>, is_gone: impl Fn(&Block) -> bool) -> Subject<'a> {
    let mut it = s.clone();
    it.case.files.retain(|it| it.old || !is_gone(it));
    it
}

pub(super) fn delete_file<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let path = s.clone().block().path();
    without_file(s, |it| it.path() == path)
}

pub(super) fn delete_package<'a>(s: &Subject<'a>, holes: &[&str]) -> Subject<'a> {
    let statement = format!("package {};", holes[0]);
    without_file(s, |it| it.text.contains(&statement))
}

/// The file that is in the way of a candidate, gone.
pub(super) fn delete_taken<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let message = s.finding.message.clone();
    let own = s.clone().block().path();
    without_file(s, |it| it.path() != own && message.contains(&format!("`{}`", it.path())))
}

pub(super) fn by_hand_in_file<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    s.with_file_policy("by_hand = true")
}

pub(super) fn by_hand_in_config<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    s.listed("upgrade", "by-hand", &s.finding.package)
}

pub(super) fn freeze<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    match s.original().contains("_FROZEN") {
        true => s.clone(),
        false => s.with_file_policy("package_version_status = PACKAGE_VERSION_STATUS_FROZEN"),
    }
}

/// The comment or the table of a waiver, gone.
pub(super) fn delete_waiver<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    match s.origin() {
        Origin::Config => {
            let mut it = s.clone();
            it.case.config.clear();
            it
        }
        _ => remove_line(s, &[]),
    }
}

/// Types of its own for the method of the finding.
pub(super) fn own_types<'a>(s: &Subject<'a>, _: &[&str]) -> Subject<'a> {
    let (line, _) = s.line();
    match line.contains("(Echo)") {
        true => s.at_line("returns (Echo)", "returns (Said)").appending("message Said {}\n"),
        false => {
            let own = if line.contains("rpc Get") { "GetRequest" } else { "PutRequest" };
            s.at_line("(UserRequest)", &format!("({own})"))
                .appending(&format!("message {own} {{}}\n"))
        }
    }
}
