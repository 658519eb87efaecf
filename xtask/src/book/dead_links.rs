//! Whether the links of finished pages lead to pages and headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use abide_harness::Result;

/// The links below a folder that lead nowhere, each with the page that it is on.
pub(super) fn find_dead_links(folder: &Path) -> Result<Vec<String>> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "html") {
                pages.insert(path.clone(), fs::read_to_string(&path)?);
            } else {
                files.insert(path);
            }
        }
    }
    let mut dead = Vec::new();
    for (page, text) in &pages {
        // The page that a server shows for what does not exist counts from the top.
        let is_missing = page.ends_with("404.html");
        for link in
            list_attribute_values(text, "href").filter(|it| !it.contains(':') && !is_missing)
        {
            let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { page.clone() } else { join_link(page, to) };
            let is_there = match pages.get(&to) {
                Some(text) => {
                    anchor.is_empty() || list_attribute_values(text, "id").any(|id| id == anchor)
                }
                None => files.contains(&to),
            };
            if !is_there {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    if pages.len() < 2 {
        return Err(format!("{} has no pages", folder.display()).into());
    }
    Ok(dead)
}

/// The values of an attribute, in order.
fn list_attribute_values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!(" {attribute}=\"");
    let rests =
        text.match_indices(&begin).map(move |(at, begin)| at + begin.len()).collect::<Vec<_>>();
    rests.into_iter().filter_map(move |at| text.get(at..)?.split('"').next())
}

/// The file that a link of a page names.
fn join_link(page: &Path, to: &str) -> PathBuf {
    let mut path = page.to_owned();
    path.pop();
    for part in Path::new(to).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}
