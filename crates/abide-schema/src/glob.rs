//! Patterns of full names.

use globset::{GlobBuilder, GlobMatcher};

/// A glob over dotted names. `*` stands for any characters, dots included, `?`
/// for one, `[ab]` for one of several, `{a,b}` for alternatives.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
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
        let matcher = match alternatives(text) {
            Some(globs) => Matcher::Stars(globs),
            None => Matcher::Library(glob.compile_matcher()),
        };
        Ok(Glob { text: text.to_owned(), matcher })
    }

    /// Whether the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        match &self.matcher {
            Matcher::Stars(globs) => globs.iter().any(|glob| matches_stars(glob, name)),
            Matcher::Library(matcher) => matcher.is_match(name),
        }
    }

    /// Whether the name, or a container of it, matches.
    pub fn covers(&self, name: &str) -> bool {
        let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
        ends.into_iter().any(|end| self.matches(&name[..end]))
    }

    /// The glob as written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The equivalent globs with stars only, if there are few of them.
fn alternatives(glob: &str) -> Option<Vec<String>> {
    /// More alternatives are left to the library.
    const MOST: usize = 16;
    if glob.contains(['?', '[', '\\', '/']) {
        return None;
    }
    let globs = match glob.split_once('{') {
        None => vec![glob.to_owned()],
        Some((before, rest)) => {
            let (inside, behind) = rest.split_once('}')?;
            let tails = alternatives(behind)?;
            // As in the library, an empty alternative does not count.
            let inside = inside.split(',').filter(|it| !it.is_empty());
            let all = |it| tails.iter().map(move |tail| format!("{before}{it}{tail}"));
            inside.flat_map(all).take(MOST + 1).collect()
        }
    };
    let is_plain = |glob: &String| !glob.contains("**") && !glob.contains(['{', '}']);
    ((1..=MOST).contains(&globs.len()) && globs.iter().all(is_plain)).then_some(globs)
}

/// Whether a name consists of the parts between the stars, in order, with any
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
        matches!(glob.matcher, Matcher::Stars(_))
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
}
