//! Floors: values of a base that a tree may make stricter, and not laxer.

use std::collections::BTreeSet;

use abide_schema::Glob;
use abide_syntax::Span;
use toml_edit::{Item, Value};

use super::toml_reader::{TomlReader, entries, span, to_span};
use crate::finding::{Group, Severity};
use crate::policy::Override;
use crate::rules::RULES;

/// A severity that a key of `[rules]` sets.
#[derive(Clone, Debug)]
pub(super) struct LevelEntry {
    pub(super) target: LevelTarget,
    pub(super) level: Option<Severity>,
    pub(super) span: Span,
    pub(super) is_floor: bool,
}

/// The findings that a key of `[rules]` is about.
#[derive(Clone, Debug)]
pub(super) enum LevelTarget {
    Rule(&'static str),
    Group(Group),
    Alias(&'static str),
    Category(&'static str, Vec<&'static str>),
}

impl LevelTarget {
    /// The key.
    pub(super) fn key(&self) -> &'static str {
        match self {
            LevelTarget::Rule(id) => id,
            LevelTarget::Group(group) => group.name(),
            LevelTarget::Alias(alias) => alias,
            LevelTarget::Category(name, _) => name,
        }
    }

    /// The rules that it is about, and the rules of other tools.
    fn covered(&self, without: &[&'static str]) -> BTreeSet<&'static str> {
        let rules = |is_of: &dyn Fn(&crate::rule::Rule) -> bool| -> BTreeSet<&'static str> {
            let rules = RULES.iter().filter(|rule| is_of(rule) && !without.contains(&rule.id));
            rules.flat_map(|rule| rule.all_aliases().chain([rule.id])).collect()
        };
        match self {
            LevelTarget::Rule(id) => rules(&|rule| rule.id == *id),
            LevelTarget::Group(group) => rules(&|rule| rule.group == *group),
            LevelTarget::Alias(alias) => [*alias].into(),
            LevelTarget::Category(_, aliases) => aliases.iter().copied().collect(),
        }
    }
}

/// A severity that nothing that builds on it may lower.
pub(super) struct LevelFloor {
    entry: LevelEntry,
    /// The part of the tree that it holds for; its severities do not count.
    scope: Override,
    /// The file and line that set it.
    origin: String,
}

/// The value of a section that nothing that builds on it may make laxer.
pub(super) struct SectionFloor {
    section: String,
    key: String,
    item: Item,
    /// Its text without white space.
    shown: String,
    origin: String,
}

/// How a value may be changed.
enum Strictness {
    /// The list may lose entries.
    Fewer,
    /// The list may get entries; without any it is for all.
    More,
    /// The number may fall.
    Lower,
    /// The number may rise.
    Higher,
    /// It may become this.
    Becomes(bool),
    /// Nothing says which value is stricter.
    Same,
}

impl Strictness {
    fn of(section: &str, key: &str) -> Strictness {
        match (section, key) {
            ("packages", "stabilities" | "versions" | "unversioned" | "folder-prefix")
            | ("packages", "path-prefix")
            | ("dependencies", "allow")
            | ("deprecation", "without-equivalent" | "dropped") => Strictness::Fewer,
            ("dependencies", "deny")
            | ("breaking", "stabilities" | "surfaces" | "directions" | "aliases") => {
                Strictness::More
            }
            ("packages", "plain-from" | "max-majors")
            | ("dependencies", "max-depth")
            | ("calendar", "alpha-max-months" | "alpha-max-releases" | "major-window-days") => {
                Strictness::Lower
            }
            ("deprecation", "window-months") | ("calendar", "previous-major-months") => {
                Strictness::Higher
            }
            ("breaking", "strict-annotations") => Strictness::Becomes(true),
            ("lint", key) if key.starts_with("allow-") || key.ends_with("-comments") => {
                Strictness::Becomes(false)
            }
            _ => Strictness::Same,
        }
    }

    /// Returns true if a later value is at least as strict as the one of the floor.
    fn allows(&self, floor: &Item, later: &Item) -> bool {
        let is_subset = |a: &[String], b: &[String]| a.iter().all(|it| b.contains(it));
        match self {
            Strictness::Fewer => {
                let (floor, later) = (texts(floor), texts(later));
                is_subset(&later, &floor) && (!later.is_empty() || floor.is_empty())
            }
            Strictness::More => {
                let (floor, later) = (texts(floor), texts(later));
                is_subset(&floor, &later) && (!floor.is_empty() || later.is_empty())
            }
            Strictness::Lower => later.as_integer() <= floor.as_integer(),
            Strictness::Higher => later.as_integer() >= floor.as_integer(),
            Strictness::Becomes(strict) => {
                later.as_bool() == Some(*strict) || later.as_bool() == floor.as_bool()
            }
            // Compared by their texts.
            Strictness::Same => false,
        }
    }
}

/// The texts of a list, or the one text.
fn texts(item: &Item) -> Vec<String> {
    if let Some(text) = item.as_str() {
        return vec![text.to_owned()];
    }
    let values = item.as_array().into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl TomlReader<'_> {
    /// Checks the severities of a table against the floors before it, and adds its own floors.
    /// `scope` is the part of the tree that the table is for.
    pub(super) fn keep_floors(&mut self, scope: &Override, all_floors: bool, origin: &str) {
        let entries = std::mem::take(&mut self.level_entries);
        let explicit: Vec<&'static str> = entries
            .iter()
            .filter_map(|it| match it.target {
                LevelTarget::Rule(id) => Some(id),
                _ => None,
            })
            .collect();
        let mut errors = Vec::new();
        for entry in &entries {
            let without: &[&str] = match entry.target {
                LevelTarget::Rule(_) => &[],
                _ => &explicit,
            };
            let covered = entry.target.covered(without);
            let broken = self.level_floors.iter().find(|floor| {
                entry.level < floor.entry.level
                    && may_overlap(scope, &floor.scope)
                    && !floor.entry.target.covered(&[]).is_disjoint(&covered)
            });
            if let Some(floor) = broken {
                let key = floor.entry.target.key();
                let level = floor.entry.level.map_or("off", Severity::word);
                let message = format!(
                    "`{}` is laxer than {} allows, where `{key}` is at least `{level}`",
                    entry.target.key(),
                    floor.origin
                );
                let help = format!("make it `{level}` or stricter, or remove it");
                errors.push((entry.span, message, help));
            }
        }
        for (span, message, help) in errors {
            self.error(span, message, Some(help));
        }
        for entry in entries.into_iter().filter(|it| it.is_floor || all_floors) {
            let line = self.find_line(entry.span);
            let origin = format!("`{origin}`, line {line},");
            let scope = Override { levels: Default::default(), ..scope.clone() };
            self.level_floors.push(LevelFloor { entry, scope, origin });
        }
    }

    /// Checks the values of a section against the floors before it, and adds its own floors.
    /// Returns the section without the word that makes it one.
    pub(super) fn keep_section_floors(
        &mut self,
        section: &str,
        item: &Item,
        origin: &str,
    ) -> Option<Item> {
        let table = item.as_table_like()?;
        let mut errors = Vec::new();
        for entry in entries(table) {
            let floor =
                self.section_floors.iter().find(|it| it.section == section && it.key == entry.key);
            let Some(floor) = floor else { continue };
            let is_same = floor.shown == self.show(entry.item);
            if !is_same && !Strictness::of(section, entry.key).allows(&floor.item, entry.item) {
                errors.push((
                    span(entry.item),
                    format!("`{}` is laxer than {} allows", entry.key, floor.origin),
                    format!("the floor there is `{}`", floor.shown),
                ));
            }
        }
        for (span, message, help) in errors {
            self.error(span, message, Some(help));
        }
        let floor = table.get("floor")?;
        let is_floor = floor.as_bool();
        if is_floor.is_none() {
            self.wrong_type::<()>(floor, "a boolean");
        }
        if is_floor == Some(true) {
            for entry in entries(table).into_iter().filter(|it| it.key != "floor") {
                let line = self.find_line(entry.key_span);
                self.section_floors.push(SectionFloor {
                    section: section.to_owned(),
                    key: entry.key.to_owned(),
                    item: entry.item.clone(),
                    shown: self.show(entry.item),
                    origin: format!("`{origin}`, line {line},"),
                });
            }
        }
        let mut item = item.clone();
        item.as_table_like_mut()?.remove("floor");
        Some(item)
    }

    /// The text of a value without white space.
    fn show(&self, item: &Item) -> String {
        let text = item.span().and_then(|it| self.text.get(it)).unwrap_or_default();
        text.split_whitespace().collect()
    }

    /// The line of a place in the text that is read.
    fn find_line(&self, span: Span) -> usize {
        let before = self.text.get(..span.start as usize).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    /// A severity: a word, or a table with `level` and `floor`.
    pub(super) fn level(
        &mut self,
        item: &Item,
        words: &[(&str, Option<Severity>)],
    ) -> (Option<Option<Severity>>, bool) {
        let Some(table) = item.as_table_like() else { return (self.word_of(item, words), false) };
        let (mut level, mut is_floor) = (None, false);
        for entry in entries(table) {
            match entry.key {
                "level" => level = self.word_of(entry.item, words),
                "floor" => match entry.item.as_bool() {
                    Some(it) => is_floor = it,
                    None => drop(self.wrong_type::<()>(entry.item, "a boolean")),
                },
                _ => self.unknown_key(&entry, "a severity", &["level", "floor"]),
            }
        }
        if table.get("level").is_none() {
            let help = "write `{ level = \"error\", floor = true }`".to_owned();
            self.error(to_span(item.span()), "a severity needs `level`", Some(help));
        }
        (level, is_floor)
    }
}

/// Returns true if two parts of a tree may have anything in common, as far as their patterns say.
fn may_overlap(a: &Override, b: &Override) -> bool {
    fn meet<T: PartialEq>(a: &[T], b: &[T]) -> bool {
        a.is_empty() || b.is_empty() || a.iter().any(|it| b.contains(it))
    }
    let heads = |a: &[Glob], b: &[Glob]| {
        let begins = |it: &Glob| it.text().split(['*', '?', '[', '{']).next().unwrap_or("").len();
        let may_meet = |a: &Glob, b: &Glob| {
            let shared = begins(a).min(begins(b));
            a.text().as_bytes().get(..shared) == b.text().as_bytes().get(..shared)
        };
        a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().any(|b| may_meet(a, b)))
    };
    meet(&a.stabilities, &b.stabilities)
        && meet(&a.surfaces, &b.surfaces)
        && meet(&a.directions, &b.directions)
        && heads(&a.packages, &b.packages)
}
