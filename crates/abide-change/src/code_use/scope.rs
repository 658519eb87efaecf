//! What the names of one source file mean: its imports, namespaces and aliases.

use rustc_hash::FxHashMap;

use super::index::NameIndex;
use super::tokens::Token;
use crate::symbols::Language;

/// The names that a source file can write for units and for what they hold.
#[derive(Default)]
pub(super) struct Scope {
    /// What a local name stands for: a unit, a type, or something else of a unit.
    local: FxHashMap<String, String>,
    /// The units whose names may be written alone, in the order of the file.
    open: Vec<String>,
    /// True if it imports any unit of the tree.
    pub(super) sees_units: bool,
}

impl Scope {
    /// Reads the imports of a file.
    pub(super) fn of(index: &NameIndex<'_>, tokens: &[Token<'_>]) -> Scope {
        let mut scope = Scope::default();
        match index.language {
            Language::Go => scope.read_go(index, tokens),
            Language::Java => scope.read_java(index, tokens),
            Language::Python => scope.read_python(index, tokens),
            Language::Cpp => scope.read_cpp(tokens),
        }
        scope
    }

    /// Returns the full name that a path of names begins with, and how many of them it has.
    pub(super) fn resolve(&self, index: &NameIndex<'_>, path: &[&str]) -> Option<(String, usize)> {
        let mut candidates: Vec<String> = Vec::new();
        candidates.extend(path.first().and_then(|it| self.local.get(*it)).cloned());
        let is_local = !candidates.is_empty();
        for (count, start) in candidates.iter().map(|it| (1, it.as_str())) {
            if let Some(found) = find_longest(index, start, path, count) {
                return Some(found);
            }
        }
        if is_local {
            return None;
        }
        let open = self.open.iter().rev().map(String::as_str).chain([""]);
        open.filter_map(|unit| find_longest(index, unit, path, 0)).next()
    }

    /// Reads `import "path"` and `import name "path"`, alone and in brackets.
    fn read_go(&mut self, index: &NameIndex<'_>, tokens: &[Token<'_>]) {
        if let Some([_, package]) = tokens.get(..2) {
            // A file of a package may write its names alone; which one it is, only its folder says.
            let own = index.units.iter().filter(|(_, prefix)| *prefix == package.text);
            let mut own: Vec<&String> = own.map(|it| it.0).collect();
            own.sort_unstable();
            self.open.extend(own.into_iter().cloned());
        }
        let mut is_import = false;
        for (at, token) in tokens.iter().enumerate() {
            if token.is_name() && matches!(token.text, "func" | "type" | "var" | "const") {
                break;
            }
            is_import |= token.is_name() && token.text == "import";
            let Some(prefix) = index.units.get(token.text).filter(|_| is_import) else { continue };
            let before = at.checked_sub(1).map(|it| tokens[it]);
            let alias = before.filter(|it| it.is_name() && it.text != "import");
            let name = alias.map_or(prefix.as_str(), |it| it.text);
            self.sees_units = true;
            if before.is_some_and(|it| it.is_join()) {
                self.open.push(token.text.to_owned());
            }
            self.local.insert(name.to_owned(), token.text.to_owned());
        }
    }

    /// Reads `package`, and imports of classes, of whole packages, and of static members.
    fn read_java(&mut self, index: &NameIndex<'_>, tokens: &[Token<'_>]) {
        let mut at = 0;
        while at < tokens.len() {
            let keyword = tokens[at].text;
            if !tokens[at].is_name() || !matches!(keyword, "import" | "package") {
                at += 1;
                continue;
            }
            let is_static = tokens.get(at + 1).is_some_and(|it| it.text == "static");
            let (path, end) = read_path(tokens, at + 1 + usize::from(is_static));
            let full = path.join(".");
            let is_whole = tokens.get(end + 1).is_some_and(|it| it.is("*"));
            match path.last() {
                _ if keyword == "package" || is_whole => self.open.push(full),
                Some(last) => {
                    self.sees_units |= index.is_type(&full) || index.names.contains_key(&full);
                    self.local.insert((*last).to_owned(), full);
                }
                None => {}
            }
            at = end.max(at + 1);
        }
        let is_inside = |name: &&String| {
            self.open
                .iter()
                .any(|it| name.strip_prefix(it.as_str()).is_some_and(|it| it.starts_with('.')))
        };
        self.sees_units |= index.members.keys().any(|it| is_inside(&it));
        self.sees_units |= index
            .members
            .keys()
            .any(|it| self.local.values().any(|outer| it.starts_with(&format!("{outer}."))));
    }

    /// Reads `import a.b as c` and `from a.b import c as d, e`.
    fn read_python(&mut self, index: &NameIndex<'_>, tokens: &[Token<'_>]) {
        let mut at = 0;
        while at < tokens.len() {
            let start = at == 0 || tokens[at - 1].line < tokens[at].line || tokens[at - 1].is(";");
            let keyword = tokens[at].text;
            if !start || !tokens[at].is_name() || !matches!(keyword, "import" | "from") {
                at += 1;
                continue;
            }
            let (module, mut end) = read_path(tokens, at + 1);
            let module = module.join(".");
            if keyword == "import" {
                let alias = find_alias(tokens, end);
                self.local.insert(alias.map_or(module.clone(), str::to_owned), module.clone());
                self.sees_units |= index.units.contains_key(&module);
                at = end.max(at + 1);
                continue;
            }
            let line = tokens[at].line;
            let is_open = tokens.get(end + 1).is_some_and(|it| it.is("("));
            end += 1;
            while let Some(token) = tokens.get(end).filter(|it| is_open || it.line == line) {
                if token.is(")") {
                    break;
                }
                if token.is_name() && !tokens[end - 1].text.eq("as") && token.text != "as" {
                    let full = format!("{module}.{}", token.text);
                    let alias = find_alias(tokens, end + 1).unwrap_or(token.text);
                    self.sees_units |=
                        index.units.contains_key(&full) || index.units.contains_key(&module);
                    self.local.insert(alias.to_owned(), full);
                }
                end += 1;
            }
            at = end.max(at + 1);
        }
    }

    /// Reads headers, namespaces, `using` and aliases.
    fn read_cpp(&mut self, tokens: &[Token<'_>]) {
        for at in 0..tokens.len() {
            match tokens[at].text {
                "include" if at > 0 && tokens[at - 1].is("#") => {
                    self.sees_units |=
                        tokens.get(at + 1).is_some_and(|it| it.text.ends_with(".pb.h"));
                    // `#include <a/b.pb.h>` has no quotes.
                    let rest = tokens[at + 1..].iter().take_while(|it| it.line == tokens[at].line);
                    self.sees_units |= rest.filter(|it| it.is_name()).any(|it| it.text == "pb");
                }
                "namespace" if tokens.get(at + 2).is_some_and(|it| it.is("=")) => {
                    let (path, _) = read_path(tokens, at + 3);
                    self.local.insert(tokens[at + 1].text.to_owned(), path.join("."));
                }
                "namespace" => {
                    let (path, _) = read_path(tokens, at + 1);
                    self.open_namespace(&path);
                }
                "using" if tokens.get(at + 2).is_some_and(|it| it.is("=")) => {
                    let (path, _) = read_path(tokens, at + 3);
                    self.local.insert(tokens[at + 1].text.to_owned(), path.join("."));
                }
                "using" => {
                    let (path, _) = read_path(tokens, at + 1);
                    if let Some(last) = path.last() {
                        self.local.insert((*last).to_owned(), path.join("."));
                    }
                }
                _ => {}
            }
        }
    }

    /// Opens a namespace: alone, and inside those that are open already.
    fn open_namespace(&mut self, path: &[&str]) {
        let name = path.join(".");
        if name.is_empty() {
            return;
        }
        let mut inner: Vec<String> = self.open.iter().map(|it| format!("{it}.{name}")).collect();
        // A file has few of them; more are not worth the time.
        inner.truncate(16);
        for end in 1..=path.len() {
            self.open.push(path[..end].join("."));
        }
        self.open.extend(inner);
    }
}

/// The longest name of the index that begins with a start and goes on with names of a path.
fn find_longest(
    index: &NameIndex<'_>,
    start: &str,
    path: &[&str],
    from: usize,
) -> Option<(String, usize)> {
    let is_known = |name: &str| index.names.contains_key(name) || index.is_type(name);
    let mut name = start.to_owned();
    let mut found = is_known(&name).then(|| (name.clone(), from));
    for (at, part) in path.iter().enumerate().skip(from) {
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(part);
        // A member is looked up in its type, which knows what it gives.
        let is_member = found.as_ref().is_some_and(|(owner, _)| {
            index.members.get(owner).is_some_and(|it| it.contains_key(*part))
                && !index.is_type(&name)
        });
        if is_member {
            break;
        }
        if is_known(&name) {
            found = Some((name.clone(), at + 1));
        }
    }
    found.filter(|(_, count)| *count > 0)
}

/// The names of a path such as `a.b.c`, and the place behind it.
pub(super) fn read_path<'c>(tokens: &[Token<'c>], mut at: usize) -> (Vec<&'c str>, usize) {
    let mut path = Vec::new();
    if tokens.get(at).is_some_and(|it| it.is_join()) {
        at += 1;
    }
    while let Some(token) = tokens.get(at).filter(|it| it.is_name()) {
        path.push(token.text);
        at += 1;
        let goes_on = tokens.get(at).is_some_and(|it| it.is_join())
            && tokens.get(at + 1).is_some_and(|it| it.is_name());
        if !goes_on {
            break;
        }
        at += 1;
    }
    (path, at)
}

/// The name behind `as`.
fn find_alias<'c>(tokens: &[Token<'c>], at: usize) -> Option<&'c str> {
    tokens.get(at).filter(|it| it.text == "as")?;
    tokens.get(at + 1).map(|it| it.text)
}
