//! `[[plugin]]`: programs that check as plugins of buf do.

use abide_syntax::Span;
use toml_edit::{Item, TableLike, Value};

use super::toml_reader::{TomlReader, entries, span};
use crate::finding::Severity;
use crate::policy::{CheckPlugin, PluginValue};

impl TomlReader<'_> {
    /// Reads all plugins, and lets other keys name their rules.
    pub(super) fn plugins(&mut self, item: &Item) -> Vec<CheckPlugin> {
        let mut plugins: Vec<CheckPlugin> = Vec::new();
        for (table, at) in self.tables(item) {
            let Some(plugin) = self.plugin(table, at) else { continue };
            if plugins.iter().any(|it| it.name == plugin.name) {
                let message = format!("two plugins have the name `{}`", plugin.name);
                self.error(at, message, Some("give one of them another `name`".to_owned()));
                continue;
            }
            plugins.push(plugin);
        }
        self.plugins.clone_from(&plugins);
        plugins
    }

    fn plugin(&mut self, table: &dyn TableLike, at: Span) -> Option<CheckPlugin> {
        const KEYS: &[&str] =
            &["path", "command", "name", "options", "rules", "except", "severity"];
        let before = self.errors.len();
        let (mut command, mut name) = (Vec::new(), None);
        let mut plugin = CheckPlugin {
            name: String::new(),
            command: Vec::new(),
            options: Vec::new(),
            rules: Vec::new(),
            except: Vec::new(),
            severity: Some(Severity::Error),
            span: at,
        };
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "path" => command = self.string(item).into_iter().collect(),
                "command" => command = self.texts(item),
                "name" => name = self.string(item).map(|it| (it, span(item))),
                "options" => plugin.options = self.plugin_options(item),
                "rules" => plugin.rules = self.texts(item),
                "except" => plugin.except = self.texts(item),
                "severity" => {
                    plugin.severity = self.rule_severity(item).unwrap_or(plugin.severity);
                }
                _ => self.unknown_key(&entry, "`[[plugin]]`", KEYS),
            }
        }
        let has_both = table.get("path").is_some() && table.get("command").is_some();
        if has_both || (command.iter().all(String::is_empty) && self.errors.len() == before) {
            let help = "`path` is a program; `command` is one with its arguments";
            self.error(at, "a plugin has either `path` or `command`", Some(help.to_owned()));
        }
        let (name, name_span) = name.unwrap_or_else(|| (derive_name(&command), at));
        let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        if name.is_empty() || !name.chars().all(is_letter) {
            let help = "`name` is of lower-case letters, digits and `-`, such as `acme-style`";
            self.error(name_span, format!("`{name}` cannot name a plugin"), Some(help.to_owned()));
        }
        (plugin.name, plugin.command) = (name, command);
        (self.errors.len() == before).then_some(plugin)
    }

    fn plugin_options(&mut self, item: &Item) -> Vec<(String, PluginValue)> {
        let Some(table) = self.table(item) else { return Vec::new() };
        let mut options = Vec::new();
        for entry in entries(table) {
            let value = entry.item.as_value().and_then(read_value);
            match value {
                Some(value) => options.push((entry.key.to_owned(), value)),
                None => {
                    let wanted = "a string, a number, a boolean or an array of one of them";
                    self.wrong_type::<()>(entry.item, wanted);
                }
            }
        }
        options
    }
}

fn read_value(value: &Value) -> Option<PluginValue> {
    Some(match value {
        Value::String(text) => PluginValue::String(text.value().clone()),
        Value::Integer(number) => PluginValue::Int(*number.value()),
        Value::Float(number) => PluginValue::Double(*number.value()),
        Value::Boolean(value) => PluginValue::Bool(*value.value()),
        Value::Array(array) => {
            PluginValue::List(array.iter().map(read_value).collect::<Option<_>>()?)
        }
        Value::Datetime(_) | Value::InlineTable(_) => return None,
    })
}

/// The name of a plugin without one: that of its program.
fn derive_name(command: &[String]) -> String {
    let program = command.first().map_or("", String::as_str);
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let stem = stem.strip_prefix("buf-plugin-").unwrap_or(stem);
    stem.to_ascii_lowercase().replace('_', "-")
}
