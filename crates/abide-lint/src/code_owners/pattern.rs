//! Patterns of paths, as `.gitignore` has them.

use super::Forge;

/// A pattern of paths from the top of a repository.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    segments: Vec<Segment>,
    /// True if a folder that it matches stands for the files in it.
    enters: bool,
    /// True if it matches folders only.
    of_folders: bool,
}

#[derive(Clone, Debug)]
enum Segment {
    /// `**`: any number of folders.
    AnyDepth,
    /// A name, in which `*` is any text and `?` any character.
    Name(Vec<Letter>),
}

/// A character of a name in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Is(char),
    AnyOne,
    AnyText,
}

impl Pattern {
    pub(super) fn new(text: &str, forge: Forge) -> Pattern {
        let body = text.trim_end_matches('/');
        let mut of_folders = body.len() < text.len();
        let begins_at_top = text.starts_with('/');
        let names: Vec<&str> = body.split('/').filter(|it| !it.is_empty()).collect();
        // In `.gitignore`, any other slash counts from the top, too.
        let is_anchored = begins_at_top || forge == Forge::GitHub && names.len() > 1;
        let mut segments: Vec<Segment> = Vec::new();
        if !is_anchored {
            segments.push(Segment::AnyDepth);
        }
        segments.extend(names.iter().map(|name| match *name {
            "**" => Segment::AnyDepth,
            name => Segment::Name(letters(name)),
        }));
        // `docs/*` is the files of the folder, without those of the folders in it.
        let enters = names.len() == 1 && !begins_at_top || names.last() != Some(&"*");
        if names.len() > 1 && names.last() == Some(&"**") {
            segments.pop();
            of_folders = true;
        }
        Pattern { segments, enters: enters || of_folders, of_folders }
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        // The numbers of names that the segments so far can match.
        let mut ends = vec![false; names.len() + 1];
        ends[0] = true;
        for segment in &self.segments {
            let mut next = vec![false; names.len() + 1];
            for at in (0..ends.len()).filter(|at| ends[*at]) {
                match segment {
                    Segment::AnyDepth => next[at..].fill(true),
                    Segment::Name(letters) => {
                        if names.get(at).is_some_and(|name| matches_name(letters, name)) {
                            next[at + 1] = true;
                        }
                    }
                }
            }
            ends = next;
        }
        let (whole, folders) = (ends[names.len()], &ends[..names.len()]);
        whole && !self.of_folders || self.enters && folders.contains(&true)
    }
}

fn letters(name: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' if letters.last() == Some(&Letter::AnyText) => {}
            '*' => letters.push(Letter::AnyText),
            '?' => letters.push(Letter::AnyOne),
            '\\' => letters.extend(chars.next().map(Letter::Is)),
            c => letters.push(Letter::Is(c)),
        }
    }
    letters
}

/// Returns true if a whole name matches. Only the last `*` is ever tried again, so the
/// time is at most the product of the lengths.
fn matches_name(letters: &[Letter], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut letter) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while at < name.len() {
        match letters.get(letter) {
            Some(Letter::AnyText) => {
                again = Some((at, letter));
                letter += 1;
            }
            Some(Letter::AnyOne) => (at, letter) = (at + 1, letter + 1),
            Some(Letter::Is(c)) if *c == name[at] => (at, letter) = (at + 1, letter + 1),
            _ => match again {
                Some((from, star)) => {
                    again = Some((from + 1, star));
                    (at, letter) = (from + 1, star + 1);
                }
                None => return false,
            },
        }
    }
    letters[letter..].iter().all(|it| *it == Letter::AnyText)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of GitHub's and of GitLab's documentation, and the edges of them.
    #[test]
    fn patterns_match_as_the_forges_document() {
        let file = "proto/acme/user/v1/user.proto";
        for (pattern, path, github, gitlab) in [
            ("*", file, true, true),
            ("*.proto", file, true, true),
            ("*.js", file, false, false),
            ("/*", file, false, false),
            ("/*", "a.proto", true, true),
            ("acme/", file, true, true),
            ("acme", file, true, true),
            ("/acme/", file, false, false),
            ("/proto/", file, true, true),
            ("/proto", file, true, true),
            ("proto/acme", file, true, true),
            ("acme/user", file, false, true),
            ("acme/user/*", file, false, false),
            ("proto/acme/user/v1/*", file, true, true),
            ("proto/acme/*", file, false, false),
            ("proto/acme/**", file, true, true),
            ("proto/**/user.proto", file, true, true),
            ("**/v1", file, true, true),
            ("**/v2", file, false, false),
            ("**", file, true, true),
            ("user.proto/", file, false, false),
            ("user.prot?", file, true, true),
            ("u*r*.p*o", file, true, true),
            ("User.proto", file, false, false),
            ("a\\ b.proto", "x/a b.proto", true, true),
            ("proto/**", "proto", false, false),
            ("a{b}.proto", "a{b}.proto", true, true),
        ] {
            let matches = |forge| Pattern::new(pattern, forge).matches(path);
            assert_eq!(matches(Forge::GitHub), github, "{pattern} {path} on GitHub");
            assert_eq!(matches(Forge::GitLab), gitlab, "{pattern} {path} on GitLab");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let pattern = Pattern::new(&"*a".repeat(200), Forge::GitHub);
        assert!(!pattern.matches(&"a".repeat(4000).replace("aaaa", "aaab")));
    }
}
