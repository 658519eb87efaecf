//! The pages of the book: those that links lead to, and where each goes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use abide_harness::Result;

use super::text::{self, Link, Targets};

/// The pages of rules.
const RULES: &str = "crates/abide-lint/src/rules";

/// Where files of the repository go in the book: the first that fits, the rest of its path kept.
const PLACES: &[(&str, &str)] = &[
    ("README.md", "index.md"),
    (".github/", ""),
    ("crates/README.md", "architecture.md"),
    ("crates/abide-cli/CHANGELOG.md", "changelog.md"),
    ("crates/abide-cli/book/README.md", "contents.md"),
    ("crates/abide-cli/book/", ""),
    ("crates/abide-hash/src/hash.md", "hash-specification.md"),
    ("crates/abide-lint/src/presets/README.md", "configuration.md"),
    ("crates/abide-lint/src/rules/README.md", "rules.md"),
    ("crates/abide-lint/src/rules/", "rules/"),
    ("", "files/"),
];

/// A page of the book.
pub(super) struct Page {
    /// Where it is in the book.
    pub(super) place: String,
    /// Its first heading.
    pub(super) title: String,
    /// Its text, with links as they are in the book.
    pub(super) text: String,
    /// The pages that it links to, in order.
    links: Vec<Linked>,
}

/// A link from one page to another.
struct Linked {
    /// The heading of the second level above it.
    below: Option<String>,
    words: String,
    /// The path of the other page in the repository.
    to: String,
}

/// A page as the list of chapters names it.
pub(super) struct Chapter<'a> {
    pub(super) title: &'a str,
    pub(super) page: &'a Page,
}

/// All pages, and the other files that they link to.
pub(super) struct Pages {
    root: PathBuf,
    contents: String,
    /// By path in the repository.
    pages: BTreeMap<String, Page>,
    files: BTreeSet<String>,
}

impl Pages {
    /// Reads `contents` and everything that its links lead to.
    pub(super) fn linked_from(root: &Path, contents: &str) -> Result<Pages> {
        let mut pages = BTreeMap::new();
        let mut files = BTreeSet::new();
        let mut waiting = vec![contents.to_owned()];
        while let Some(path) = waiting.pop() {
            if pages.contains_key(&path) {
                continue;
            }
            let written = fs::read_to_string(root.join(&path))?;
            let mut read =
                Reading { root, path: &path, links: Vec::new(), files: &mut files, broken: None };
            let text = text::rewrite_links(&written, &mut read);
            let Reading { links, broken, .. } = read;
            if let Some(broken) = broken {
                return Err(broken.into());
            }
            let place = place_page(&path);
            waiting.extend(links.iter().map(|link| link.to.clone()));
            let title =
                text::find_title(&written).ok_or_else(|| format!("{path} has no heading"))?;
            pages.insert(path, Page { place, title, text, links });
        }
        Ok(Pages { root: root.to_owned(), contents: contents.to_owned(), pages, files })
    }

    /// All pages.
    pub(super) fn all(&self) -> impl Iterator<Item = &Page> {
        self.pages.values()
    }

    /// The files that are no pages, and their places in the book.
    pub(super) fn files(&self) -> impl Iterator<Item = (PathBuf, String)> {
        self.files.iter().map(|path| (self.root.join(path), place_page(path)))
    }

    /// What comes before the first part: what is linked above its heading, and the contents.
    pub(super) fn before_parts(&self) -> impl Iterator<Item = &Page> {
        let links = self.contents().iter().filter(|link| link.below.is_none());
        links.filter_map(|link| self.pages.get(&link.to)).chain(self.pages.get(&self.contents))
    }

    /// The parts, each with its chapters.
    pub(super) fn parts(&self) -> Vec<(&str, Vec<Chapter<'_>>)> {
        let mut parts: Vec<(&str, Vec<Chapter<'_>>)> = Vec::new();
        for link in self.contents() {
            let (Some(part), Some(page)) = (link.below.as_deref(), self.pages.get(&link.to)) else {
                continue;
            };
            let chapter = Chapter { title: &link.words, page };
            match parts.last_mut() {
                Some((last, chapters)) if *last == part => chapters.push(chapter),
                _ => parts.push((part, vec![chapter])),
            }
        }
        parts
    }

    /// The pages of the folder that is called like a page.
    pub(super) fn below<'a>(&'a self, page: &Page) -> impl Iterator<Item = Chapter<'a>> {
        let folder = page.place.replace(".md", "/");
        let pages = self.all().filter(move |it| it.place.starts_with(&folder));
        pages.map(|page| Chapter { title: &page.title, page })
    }

    /// The pages that are no chapter and below none.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Page> {
        let mut named: BTreeSet<&str> =
            self.before_parts().map(|page| page.place.as_str()).collect();
        for chapter in self.parts().iter().flat_map(|(_, chapters)| chapters) {
            named.insert(&chapter.page.place);
            named.extend(self.below(chapter.page).map(|it| it.page.place.as_str()));
        }
        self.all().filter(move |page| !named.contains(page.place.as_str()))
    }

    fn contents(&self) -> &[Linked] {
        self.pages.get(&self.contents).map_or(&[], |page| &page.links)
    }
}

/// A page whose links are followed.
struct Reading<'a> {
    root: &'a Path,
    path: &'a str,
    links: Vec<Linked>,
    files: &'a mut BTreeSet<String>,
    /// A link that leads nowhere.
    broken: Option<String>,
}

impl Targets for Reading<'_> {
    fn of_link(&mut self, link: &Link<'_>) -> Option<String> {
        let (to, anchor) = link.url.split_once('#').unwrap_or((link.url, ""));
        if to.is_empty() || to.contains("://") {
            return None;
        }
        let to = resolve_target(self.root, self.path, to);
        if !self.root.join(&to).is_file() {
            self.broken = Some(format!("{}: `{}` leads nowhere", self.path, link.url));
        }
        let url = make_relative(&place_page(self.path), &place_page(&to));
        if to.ends_with(".md") {
            let below = link.below.map(str::to_owned);
            self.links.push(Linked { below, words: link.words.clone(), to });
        } else {
            self.files.insert(to);
        }
        Some(if anchor.is_empty() { url } else { format!("{url}#{anchor}") })
    }

    /// The page of a rule.
    fn of_name(&self, name: &str) -> Option<String> {
        let is_id =
            !name.is_empty() && name.bytes().all(|it| it.is_ascii_lowercase() || it == b'-');
        let to = format!("{RULES}/{name}.md");
        let is_other = is_id && self.path != to && self.root.join(&to).is_file();
        is_other.then(|| make_relative(&place_page(self.path), &place_page(&to)))
    }
}

/// What a link of the page at `from` leads to, by its path in the repository. A folder stands for
/// its README.md.
fn resolve_target(root: &Path, from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    if root.join(parts.join("/")).is_dir() {
        parts.push("README.md");
    }
    parts.join("/")
}

/// Where a file of the repository is in the book.
fn place_page(path: &str) -> String {
    let fits = |(from, to): &(&str, &str)| {
        let rest = path.strip_prefix(from)?;
        // A whole path, or what is in a folder.
        let is_whole = from.is_empty() || from.ends_with('/') || rest.is_empty();
        is_whole.then(|| format!("{to}{rest}"))
    };
    let place = PLACES.iter().find_map(fits).unwrap_or_else(|| path.to_owned());
    // mdBook calls a README.md another name, but not in links to it.
    let place = place.replace("/README.md", ".md");
    // Browsers show what they know as a text.
    match place.rsplit_once('.') {
        Some((_, "md" | "txt")) => place,
        _ => place + ".txt",
    }
}

/// A link from one place of the book to another.
fn make_relative(from: &str, to: &str) -> String {
    let ups = from.matches('/').count();
    "../".repeat(ups) + to
}
