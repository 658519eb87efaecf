//! `CODEOWNERS`: who owns which file of a repository, as GitHub and GitLab read
//! it.

pub(crate) mod packages;
mod pattern;

use abide_syntax::Span;

use crate::finding::ConfigError;

use pattern::Pattern;

/// Whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forge {
    /// GitHub: the last line that matches a file decides. Patterns are those of
    /// `.gitignore`, without `!` and `[ab]`.
    GitHub,
    /// GitLab: the last line of each section decides. A pattern counts from any
    /// folder unless it begins with `/`.
    GitLab,
}

/// A `CODEOWNERS` file.
#[derive(Clone, Debug)]
pub struct CodeOwners {
    /// Whose rules apply.
    pub forge: Forge,
    sections: Vec<Vec<OwnerLine>>,
    /// Lines that the forge skips, and why.
    pub problems: Vec<ConfigError>,
}

/// A line that names the owners of the files that it matches.
#[derive(Clone, Debug)]
struct OwnerLine {
    pattern: Pattern,
    owners: Vec<String>,
    /// Its number, from 1.
    number: u32,
    /// True if its files have no owner in this section, whatever later lines say.
    excludes: bool,
}

/// What a `CODEOWNERS` file says of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// The owners, in the order of their lines.
    pub owners: Vec<String>,
    /// The numbers of the lines that decide.
    pub lines: Vec<u32>,
}

impl CodeOwners {
    /// Reads a file. The rules of GitLab apply if `forge` says so, and to a file
    /// with sections, which GitHub does not know.
    pub fn parse(text: &str, forge: Option<Forge>) -> CodeOwners {
        let has_sections = || text.lines().any(|line| header(line.trim()).is_some());
        let forge = forge.unwrap_or_else(|| match has_sections() {
            true => Forge::GitLab,
            false => Forge::GitHub,
        });
        let mut file = CodeOwners { forge, sections: vec![Vec::new()], problems: Vec::new() };
        let mut default_owners = Vec::new();
        let mut at = 0;
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let begin = at;
            at += whole.len();
            let line = whole.trim_end();
            let unmarked = line.trim_start_matches('\u{feff}').trim_start();
            let begin = begin + line.len() - unmarked.len();
            let section = header(unmarked).filter(|_| forge == Forge::GitLab);
            if let Some(rest) = section {
                let words = words(rest, begin + unmarked.len() - rest.len());
                default_owners = words.into_iter().map(|(word, _)| word).collect();
                file.sections.push(Vec::new());
            } else if !unmarked.is_empty() && !unmarked.starts_with('#') {
                file.line(unmarked, begin, index as u32 + 1, &default_owners);
            }
        }
        file
    }

    fn line(&mut self, line: &str, begin: usize, number: u32, default_owners: &[String]) {
        let mut words = words(line, begin).into_iter();
        let Some((written, span)) = words.next() else { return };
        let excluded = match self.forge {
            Forge::GitLab => written.strip_prefix('!'),
            Forge::GitHub => None,
        };
        let pattern = excluded.unwrap_or(&written);
        let fault = match self.forge {
            Forge::GitHub if pattern.starts_with('!') => Some("`!` has no meaning in it"),
            Forge::GitHub if pattern.contains(['[', ']']) => Some("`[ab]` has no meaning in it"),
            _ => None,
        };
        if let Some(fault) = fault {
            let message = format!("GitHub skips the pattern `{written}`: {fault}");
            let help = Some("write a line for each pattern".to_owned());
            self.problems.push(ConfigError { message, span, help });
            return;
        }
        let mut owners = Vec::new();
        for (word, span) in words {
            if !is_owner(&word, self.forge) {
                let message = format!("`{word}` is not an owner");
                let help = "write `@user`, `@group/team` or a mail address".to_owned();
                self.problems.push(ConfigError { message, span, help: Some(help) });
                if self.forge == Forge::GitHub {
                    return;
                }
                continue;
            }
            owners.push(word);
        }
        if owners.is_empty() {
            owners = default_owners.to_vec();
        }
        let pattern = Pattern::new(pattern, self.forge);
        let line = OwnerLine { pattern, owners, number, excludes: excluded.is_some() };
        self.sections.last_mut().expect("there is one from the start").push(line);
    }

    /// Returns what it says of a file, by its path from the top of the repository.
    pub fn ownership(&self, path: &str) -> Ownership {
        let mut ownership = Ownership::default();
        for section in &self.sections {
            let mut matching = section.iter().filter(|line| line.pattern.matches(path));
            let excluded = section.iter().any(|it| it.excludes && it.pattern.matches(path));
            let Some(line) = matching.next_back().filter(|_| !excluded) else { continue };
            ownership.lines.push(line.number);
            for owner in &line.owners {
                if !ownership.owners.contains(owner) {
                    ownership.owners.push(owner.clone());
                }
            }
        }
        ownership
    }
}

/// Returns what follows the header of a section, such as `[Name]` or `^[Name][2]`: its
/// default owners. `None` if the line is none.
fn header(line: &str) -> Option<&str> {
    let line = line.strip_prefix('^').unwrap_or(line);
    let (name, mut rest) = line.strip_prefix('[')?.split_once(']')?;
    if let Some((count, behind)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
        let is_number = !count.is_empty() && count.bytes().all(|it| it.is_ascii_digit());
        rest = if is_number { behind } else { rest };
    }
    let ends = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (!name.trim().is_empty() && ends).then_some(rest)
}

/// The words of a line with their places, up to a comment. A backslash keeps the
/// character after it in its word.
fn words(line: &str, begin: usize) -> Vec<(String, Span)> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut word: Option<(usize, usize)> = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match word {
            None if c == '#' => break,
            None if c.is_whitespace() => {}
            None => word = Some((at, at + c.len_utf8())),
            Some(_) if c.is_whitespace() && !escaped => places.extend(word.take()),
            Some((from, _)) => word = Some((from, at + c.len_utf8())),
        }
        escaped = c == '\\' && !escaped;
    }
    places.extend(word);
    let word = |(from, to): (usize, usize)| {
        let span = Span::new((begin + from) as u32, (begin + to) as u32);
        (line[from..to].to_owned(), span)
    };
    places.into_iter().map(word).collect()
}

/// Returns true if a word names an owner: a user, a group, a role or a mail address.
fn is_owner(word: &str, forge: Forge) -> bool {
    let name = |text: &str| {
        let is_part = |part: &str| {
            let ok = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
            !part.is_empty() && part.chars().all(ok)
        };
        text.split('/').all(is_part)
    };
    match word.strip_prefix('@') {
        Some(rest) => match rest.strip_prefix('@') {
            Some(role) => forge == Forge::GitLab && name(role),
            None => name(rest),
        },
        None => word.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty() && !host.contains('@') && host.contains('.') && !host.ends_with('.')
        }),
    }
}
