//! Patterns of full names.

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobMatcher};
use rustc_hash::FxHashMap;

/// A glob over dotted names. `*` stands for any characters, dots included, `?`
/// for one, `[ab]` for one of several, `{a,b}` for alternatives.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    matcher: NamePattern,
}

#[derive(Clone, Debug)]
enum NamePattern {
    /// Globs of which one must match, with no special characters but stars. The
    /// library's matcher takes longer to build than a small tree takes to check.
    Stars(Vec<String>),
    Library(GlobMatcher),
}

impl Glob {
    /// Reads a glob; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<Glob, String> {
        let glob = GlobBuilder::new(text)
            .literal_separator(false)
            .build()
            .map_err(|error| error.kind().to_string())?;
        let matcher = match expand_braces(text) {
            Some(globs) => NamePattern::Stars(globs),
            None => NamePattern::Library(glob.compile_matcher()),
        };
        Ok(Glob { text: text.to_owned(), matcher })
    }

    /// Returns true if the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.matcher {
            NamePattern::Stars(globs) => globs.iter().any(|glob| matches_stars(glob, name)),
            NamePattern::Library(matcher) => matcher.is_match(name),
        }
    }

    /// Returns true if the name, or a container of it, matches.
    pub fn matches_container(&self, name: &str) -> bool {
        let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
        ends.into_iter().any(|end| self.matches(&name[..end]))
    }

    /// The glob as written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Finds the globs, of many, that could match a name.
#[derive(Clone, Debug, Default)]
pub struct GlobIndex {
    /// By the text that a glob begins with: the globs.
    by_start: FxHashMap<String, Vec<usize>>,
    /// The lengths of these texts.
    lengths: BTreeSet<usize>,
}

impl GlobIndex {
    /// Adds a glob under a number.
    pub fn insert(&mut self, glob: &Glob, number: usize) {
        let start = glob.text.find(['*', '?', '[', '{', '\\', '/']);
        self.insert_at(&glob.text[..start.unwrap_or(glob.text.len())], number);
    }

    /// Adds what matches every name.
    pub fn insert_any(&mut self, number: usize) {
        self.insert_at("", number);
    }

    fn insert_at(&mut self, start: &str, number: usize) {
        self.by_start.entry(start.to_owned()).or_default().push(number);
        self.lengths.insert(start.len());
    }

    /// The numbers, in order, of all globs that match the name or a container of it, and few
    /// others.
    pub fn find_candidates(&self, name: &str) -> Vec<usize> {
        let starts = self.lengths.iter().map_while(|&length| {
            (length <= name.len()).then(|| name.get(..length).unwrap_or_default())
        });
        let found = starts.filter_map(|start| self.by_start.get(start)).flatten();
        let mut found: Vec<usize> = found.copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The equivalent globs with stars only, if there are few of them.
fn expand_braces(glob: &str) -> Option<Vec<String>> {
    /// More alternatives are left to the library.
    const MOST: usize = 16;
    if glob.contains(['?', '[', '\\', '/']) {
        return None;
    }
    let globs = match glob.split_once('{') {
        None => vec![glob.to_owned()],
        Some((before, rest)) => {
            let (inside, behind) = rest.split_once('}')?;
            let tails = expand_braces(behind)?;
            // As in the library, an empty alternative does not count.
            let inside = inside.split(',').filter(|it| !it.is_empty());
            let all = |it| tails.iter().map(move |tail| format!("{before}{it}{tail}"));
            inside.flat_map(all).take(MOST + 1).collect()
        }
    };
    let is_plain = |glob: &String| !glob.contains("**") && !glob.contains(['{', '}']);
    ((1..=MOST).contains(&globs.len()) && globs.iter().all(is_plain)).then_some(globs)
}

/// Returns true if a name consists of the parts between the stars, in order, with any
/// text for each star.
fn matches_stars(glob: &str, name: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let Some(before) = rest.strip_suffix(last) else { return false };
    rest = before;
    parts.all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of up to `length` of these letters.
    fn texts(letters: &str, length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..length {
            last = last
                .iter()
                .flat_map(|text| letters.chars().map(move |letter| format!("{text}{letter}")))
                .collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    fn assert_matches_as_the_library(text: &str, names: &[String]) -> bool {
        let Ok(library) = GlobBuilder::new(text).literal_separator(false).build() else {
            return false;
        };
        let glob = Glob::new(text).expect("it is a glob");
        let library = library.compile_matcher();
        for name in names {
            assert_eq!(glob.matches(name), library.is_match(name), "`{text}` on `{name}`");
        }
        matches!(glob.matcher, NamePattern::Stars(_))
    }

    #[test]
    fn stars_match_as_the_library_has_it() {
        let names = texts("a.", 5);
        for text in texts("a.*", 5).iter().filter(|it| !it.contains("**")) {
            assert!(assert_matches_as_the_library(text, &names), "`{text}` holds only stars");
        }
    }

    #[test]
    fn alternatives_match_as_the_library_has_it() {
        let names = texts("a,", 4);
        let globs = texts("a*,{}", 6);
        let own = globs.iter().filter(|it| assert_matches_as_the_library(it, &names));
        let with_braces = own.filter(|it| it.contains('{')).count();
        assert!(with_braces > 100, "{with_braces} globs were told apart without the library");
        assert!(assert_matches_as_the_library("{envoy,udpa,xds}.*.v3", &names));
    }

    #[test]
    fn an_index_leaves_out_no_glob_that_matches() {
        let globs: Vec<Glob> =
            texts("a.*{,}?", 4).iter().filter_map(|it| Glob::new(it).ok()).collect();
        let mut index = GlobIndex::default();
        for (number, glob) in globs.iter().enumerate() {
            index.insert(glob, number);
        }
        for name in texts("ab.", 5) {
            let candidates = index.find_candidates(&name);
            let matching = (0..).zip(&globs).filter(|(_, glob)| glob.matches_container(&name));
            let missing: Vec<&str> = matching
                .filter(|(number, _)| candidates.binary_search(number).is_err())
                .map(|(_, glob)| glob.text())
                .collect();
            assert!(missing.is_empty(), "{missing:?} match `{name}`");
        }
    }

    #[test]
    fn an_index_asks_few_of_many_globs() {
        let mut index = GlobIndex::default();
        for number in 0..1000 {
            let glob = Glob::new(&format!("acme.p{number:03}.*")).expect("it is a glob");
            index.insert(&glob, number);
        }
        assert_eq!(index.find_candidates("acme.p007.v1"), [7]);
    }
}
