//! Values of `abide.toml` with the types that settings have, and an error with its
//! place for each that has another.

use abide_change::Surface;
use abide_schema::Glob;
use abide_syntax::Span;
use jiff::civil::Date;
use toml_edit::{Item, TableLike, Value};

use super::floors::{LevelEntry, LevelFloor, SectionFloor};
use crate::calendar::parse_date;
use crate::finding::ConfigError;
use crate::policy::{CheckPlugin, ConfigFiles, ConfigPattern};
use crate::rule::Rule;
use crate::rules::{RULES, find_plugin_rule, find_rule};
use crate::wording::suggest;

/// Reads values, and keeps what is wrong with them.
#[derive(Default)]
pub(super) struct TomlReader<'s> {
    /// The text that is read.
    pub(super) text: &'s str,
    pub(super) errors: Vec<ConfigError>,
    /// The severities of the table of rules that was read last.
    pub(super) level_entries: Vec<LevelEntry>,
    /// What the files before this one do not let it lower.
    pub(super) level_floors: Vec<LevelFloor>,
    pub(super) section_floors: Vec<SectionFloor>,
    /// The patterns that name packages of the tree.
    pub(super) package_patterns: Vec<ConfigPattern>,
    /// The patterns that are meant to match elements of the tree.
    pub(super) element_patterns: Vec<ConfigPattern>,
    /// The options that `[options]` names.
    pub(super) option_keys: Vec<(String, Span)>,
    /// The plugins that the text names.
    pub(super) plugins: Vec<CheckPlugin>,
    /// The rules that the text declares.
    pub(super) own_rules: Vec<&'static Rule>,
    /// The lists of files and folders.
    pub(super) file_lists: Vec<ConfigFiles>,
}

/// A key of a table, with its value.
pub(super) struct TableEntry<'d> {
    pub(super) key: &'d str,
    pub(super) key_span: Span,
    pub(super) item: &'d Item,
}

pub(super) fn entries(table: &dyn TableLike) -> Vec<TableEntry<'_>> {
    let entry = |(key, item)| {
        let key_span = table.key(key).and_then(|key| key.span());
        let key_span = to_span(key_span);
        TableEntry { key, key_span, item }
    };
    table.iter().map(entry).collect()
}

/// Files of 4 GiB and more are refused before they get here.
pub(super) fn to_span(range: Option<std::ops::Range<usize>>) -> Span {
    range.map_or_else(Span::default, |it| Span::new(it.start as u32, it.end as u32))
}

pub(super) fn span(item: &Item) -> Span {
    to_span(item.span())
}

/// Returns true if a source is a server, by its spelling.
pub fn is_server(source: &str) -> bool {
    source.split_once("://").is_some_and(|(scheme, _)| {
        ["grpc", "grpcs"].iter().any(|it| it.eq_ignore_ascii_case(scheme))
    })
}

impl TomlReader<'_> {
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.errors.push(ConfigError { message: message.into(), span, help });
    }

    pub(super) fn unknown_key(&mut self, entry: &TableEntry<'_>, place: &str, known: &[&str]) {
        let help = suggest(entry.key, known.iter().copied()).unwrap_or_else(|| match known {
            [] => "it has no keys".to_owned(),
            _ => format!("the keys are {}", listed(known, "and")),
        });
        let message = format!("unknown key `{}` in {place}", entry.key);
        self.error(entry.key_span, message, Some(help));
    }

    pub(super) fn wrong_type<T>(&mut self, item: &Item, wanted: &str) -> Option<T> {
        let message = format!("expected {wanted}, found {}", type_name(item));
        self.error(span(item), message, None);
        None
    }

    pub(super) fn string(&mut self, item: &Item) -> Option<String> {
        match item.as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.wrong_type(item, "a string"),
        }
    }

    /// An array of strings, or one string alone; each with its place.
    pub(super) fn strings(&mut self, item: &Item) -> Vec<(String, Span)> {
        if let Some(text) = item.as_str() {
            return vec![(text.to_owned(), span(item))];
        }
        let Some(array) = item.as_array() else {
            self.wrong_type::<()>(item, "a string or an array of strings");
            return Vec::new();
        };
        let mut strings = Vec::new();
        for value in array {
            let span = to_span(value.span());
            match value.as_str() {
                Some(text) => strings.push((text.to_owned(), span)),
                None => {
                    let message = format!("expected a string, found {}", value_type(value));
                    self.error(span, message, None);
                }
            }
        }
        strings
    }

    pub(super) fn texts(&mut self, item: &Item) -> Vec<String> {
        self.strings(item).into_iter().map(|(text, _)| text).collect()
    }

    /// The sources of old trees.
    pub(super) fn old_trees(&mut self, item: &Item) -> Vec<String> {
        let named = self.strings(item);
        named.into_iter().filter_map(|(text, span)| self.refuse_server(text, span)).collect()
    }

    /// The source of one old tree.
    pub(super) fn old_tree(&mut self, item: &Item) -> Option<String> {
        let named = self.string(item)?;
        self.refuse_server(named, span(item))
    }

    /// Refuses a server as a source: whoever changes the file, such as the author of a pull request,
    /// would choose whom a check speaks with, and who gets the tokens of who checks.
    fn refuse_server(&mut self, source: String, span: Span) -> Option<String> {
        if !is_server(&source) {
            return Some(source);
        }
        let help = format!("name it on the command line: `--against {source}`");
        self.error(span, format!("a file may not name the server `{source}`"), Some(help));
        None
    }

    pub(super) fn count(&mut self, item: &Item) -> Option<u32> {
        match item.as_integer().map(u32::try_from) {
            Some(Ok(number)) if number > 0 => Some(number),
            Some(_) => {
                self.error(span(item), "expected a number of at least 1", None);
                None
            }
            None => self.wrong_type(item, "a number"),
        }
    }

    pub(super) fn glob(&mut self, text: &str, span: Span) -> Option<Glob> {
        match Glob::new(text) {
            Ok(glob) => Some(glob),
            Err(error) => {
                self.error(span, format!("`{text}` is not a valid glob: {error}"), None);
                None
            }
        }
    }

    /// Patterns that are meant to match packages of the tree.
    pub(super) fn package_globs(&mut self, item: &Item) -> Vec<Glob> {
        let patterns = self.patterns(item);
        self.package_patterns.extend(patterns.iter().cloned());
        patterns.into_iter().map(|it| it.glob).collect()
    }

    /// Patterns that are meant to match elements of the tree.
    pub(super) fn element_globs(&mut self, item: &Item) -> Vec<Glob> {
        let patterns = self.patterns(item);
        self.element_patterns.extend(patterns.iter().cloned());
        patterns.into_iter().map(|it| it.glob).collect()
    }

    /// Patterns of what may come later.
    pub(super) fn globs(&mut self, item: &Item) -> Vec<Glob> {
        self.patterns(item).into_iter().map(|it| it.glob).collect()
    }

    /// Files and folders of the tree.
    pub(super) fn tree_paths(&mut self, item: &Item) -> Vec<String> {
        let paths = self.texts(item);
        self.file_lists.push(ConfigFiles { paths: paths.clone(), span: span(item) });
        paths
    }

    fn patterns(&mut self, item: &Item) -> Vec<ConfigPattern> {
        let strings = self.strings(item).into_iter();
        let pattern =
            |(text, span): (String, _)| Some(ConfigPattern { glob: self.glob(&text, span)?, span });
        strings.filter_map(pattern).collect()
    }

    pub(super) fn date(&mut self, item: &Item) -> Option<Date> {
        let text = match item.as_value() {
            Some(Value::Datetime(date)) => date.value().to_string(),
            Some(Value::String(text)) => text.value().clone(),
            _ => return self.wrong_type(item, "a date"),
        };
        let date = parse_date(&text);
        if date.is_none() {
            let help = Some("write it as `2027-06-30`".to_owned());
            self.error(span(item), format!("`{text}` is not a date"), help);
        }
        date
    }

    pub(super) fn table<'d>(&mut self, item: &'d Item) -> Option<&'d dyn TableLike> {
        match item.as_table_like() {
            Some(table) => Some(table),
            None => self.wrong_type(item, "a table"),
        }
    }

    /// `[[name]]`, or an array of inline tables; each with its place.
    pub(super) fn tables<'d>(&mut self, item: &'d Item) -> Vec<(&'d dyn TableLike, Span)> {
        if let Some(tables) = item.as_array_of_tables() {
            return tables
                .iter()
                .map(|table| (table as &dyn TableLike, to_span(table.span())))
                .collect();
        }
        let tables: Option<Vec<_>> = item.as_array().and_then(|array| {
            let table = |value: &'d Value| {
                let table = value.as_inline_table()?;
                Some((table as &dyn TableLike, to_span(table.span())))
            };
            array.iter().map(table).collect()
        });
        match tables {
            Some(tables) => tables,
            None => {
                self.wrong_type::<()>(item, "an array of tables");
                Vec::new()
            }
        }
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&mut self, text: &str, at: Span, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let message = format!("unknown value `{text}`, expected {}", listed(&known, "or"));
            self.error(at, message, suggest(text, known.iter().copied()));
        }
        found
    }

    pub(super) fn word_of<T: Copy>(&mut self, item: &Item, words: &[(&str, T)]) -> Option<T> {
        let text = self.string(item)?;
        self.word(&text, span(item), words)
    }

    /// The rule with this id. For an unknown id, the help also considers `others`.
    pub(super) fn rule(
        &mut self,
        id: &str,
        at: Span,
        others: impl Iterator<Item = &'static str>,
    ) -> Option<&'static Rule> {
        let own = self.own_rules.iter().copied();
        let of_plugin = || find_plugin_rule(&self.plugins, id);
        let rule = find_rule(id).or_else(|| own.clone().find(|it| it.id == id)).or_else(of_plugin);
        if rule.is_none() {
            let help =
                suggest(id, RULES.iter().copied().chain(own).map(|rule| rule.id).chain(others))
                    .unwrap_or_else(|| "`abide rules` lists every rule".to_owned());
            self.error(at, format!("unknown rule `{id}`"), Some(help));
        }
        rule
    }

    pub(super) fn surfaces(&mut self, item: &Item) -> Vec<Surface> {
        let words: Vec<_> = Surface::ALL.iter().map(|it| (it.name(), *it)).collect();
        let texts = self.strings(item);
        texts.iter().filter_map(|(text, span)| self.word(text, *span, &words)).collect()
    }
}

/// Words for a sentence: "`a`, `b` or `c`".
fn listed(words: &[&str], conjunction: &str) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|word| format!("`{word}`")).collect();
            format!("{} {conjunction} `{last}`", most.join(", "))
        }
    }
}

fn type_name(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Value(value) => value_type(value),
        Item::Table(_) => "a table",
        Item::ArrayOfTables(_) => "an array of tables",
    }
}

fn value_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::InlineTable(_) => "a table",
    }
}
