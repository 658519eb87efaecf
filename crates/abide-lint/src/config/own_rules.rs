//! `[[rule]]`: rules that `abide.toml` declares.

use abide_syntax::Span;
use abide_validate::cel::CelError;
use toml_edit::{Item, TableLike};

use super::toml_reader::{TomlReader, entries, span};
use super::toml_strings::find_in_source;
use crate::finding::Severity;
use crate::own_rules::{OwnRuleExample, OwnRuleId, OwnRuleText, RuleSubject};
use crate::rule::{declare_rule, declared_rule};
use crate::rules::RULES;
use crate::wording::suggest;

/// The most rules that a configuration can declare.
const MAX_RULES: usize = 1_000;

/// A text of a rule, with its place.
type Placed = (String, Span);

impl TomlReader<'_> {
    /// Reads all rules, and lets other keys name them.
    pub(super) fn declared_rules(&mut self, item: &Item) -> Vec<OwnRuleId> {
        let tables = self.tables(item);
        if let Some((_, at)) = tables.get(MAX_RULES) {
            self.error(*at, format!("there are more than {MAX_RULES} rules"), None);
            return Vec::new();
        }
        let mut ids = Vec::new();
        for (table, at) in tables {
            let Some(id) = self.declared_rule(table, at) else { continue };
            self.own_rules.push(declared_rule(id));
            ids.push(id);
        }
        ids
    }

    fn declared_rule(&mut self, table: &dyn TableLike, at: Span) -> Option<OwnRuleId> {
        const KEYS: &[&str] = &["id", "on", "when", "message", "help", "severity", "example"];
        let before = self.errors.len();
        let (mut id, mut on, mut severity) = (None, None, Some(Severity::Error));
        let (mut when, mut message, mut help) = (None, None, None);
        let mut examples = Vec::new();
        for entry in entries(table) {
            let item = entry.item;
            match entry.key {
                "id" => id = self.rule_id(item),
                "on" => on = self.rule_subject(item),
                "when" => when = self.placed(item),
                "message" => message = self.placed(item),
                "help" => help = self.placed(item),
                "severity" => severity = self.rule_severity(item).unwrap_or(severity),
                "example" | "examples" => examples = self.rule_examples(item),
                _ => self.unknown_key(&entry, "`[[rule]]`", KEYS),
            }
        }
        let missing = [
            ("id", id.is_none()),
            ("on", on.is_none()),
            ("when", when.is_none()),
            ("message", message.is_none()),
        ];
        for (key, _) in missing.iter().filter(|(key, it)| *it && table.get(key).is_none()) {
            let help = "a rule has `id`, `on`, `when` and `message`; see `abide explain own`";
            self.error(at, format!("the rule lacks `{key}`"), Some(help.to_owned()));
        }
        let ((when, when_span), (message, message_span)) = (when?, message?);
        let help_span = help.as_ref().map_or(at, |it: &Placed| it.1);
        let text = OwnRuleText {
            id: id?,
            on: on?,
            when,
            message,
            help: help.map(|it| it.0),
            severity,
            examples,
            span: at,
            when_span,
        };
        self.check_examples(&text);
        match declare_rule(text) {
            Ok(id) => (self.errors.len() == before).then_some(id),
            Err(errors) => {
                for it in errors {
                    let span = match it.key {
                        "when" => when_span,
                        "message" => message_span,
                        _ => help_span,
                    };
                    self.expression_error(it.key, &it.error, span);
                }
                None
            }
        }
    }

    fn placed(&mut self, item: &Item) -> Option<Placed> {
        let text = self.string(item)?;
        if text.trim().is_empty() {
            self.error(span(item), "the text is empty", None);
            return None;
        }
        Some((text, span(item)))
    }

    /// The id of a rule: its first word is that of no rule of ours, so that no later version of
    /// Abide can have one with the same id.
    fn rule_id(&mut self, item: &Item) -> Option<String> {
        let id = self.string(item)?;
        let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        let prefix = id.split(['-', '/']).next().unwrap_or_default();
        let parts: Vec<&str> = id.split('/').collect();
        let is_word = |it: &&str| {
            it.starts_with(|it: char| it.is_ascii_lowercase())
                && it.chars().all(is_plain)
                && !it.ends_with('-')
        };
        let message = if !parts.iter().all(is_word) || parts.len() > 2 || id.len() > 100 {
            format!("`{id}` is not the id of a rule")
        } else if prefix.len() == id.len() {
            format!("the id `{id}` has no prefix")
        } else if let Some(rule) = RULES.iter().find(|it| first_word(it.id) == prefix) {
            format!("the prefix `{prefix}` is one of Abide's own, as in `{}`", rule.id)
        } else if self.own_rules.iter().any(|it| it.id == id) {
            format!("two rules have the id `{id}`")
        } else {
            return Some(id);
        };
        let help = "use lower-case words with a prefix of your own, such as `acme-owner-missing`";
        self.error(span(item), message, Some(help.to_owned()));
        None
    }

    fn rule_subject(&mut self, item: &Item) -> Option<RuleSubject> {
        let text = self.string(item)?;
        let normal = text.replace('_', "-");
        let found = RuleSubject::iter_all().find(|it| it.word() == normal);
        if found.is_none() {
            let words: Vec<String> = RuleSubject::iter_all().map(RuleSubject::word).collect();
            let help = suggest(&text, words.iter().map(String::as_str)).unwrap_or_else(|| {
                let elements: Vec<&str> = words.iter().take(10).map(String::as_str).collect();
                format!("it is `{}`, or `change-of-` one of them", elements.join("`, `"))
            });
            self.error(span(item), format!("`{text}` is not a kind of element"), Some(help));
        }
        found
    }

    pub(super) fn rule_severity(&mut self, item: &Item) -> Option<Option<Severity>> {
        let words = [
            ("error", Some(Severity::Error)),
            ("warning", Some(Severity::Warning)),
            ("note", Some(Severity::Note)),
            ("off", None),
        ];
        self.word_of(item, &words)
    }

    fn rule_examples(&mut self, item: &Item) -> Vec<OwnRuleExample> {
        const KEYS: &[&str] = &["proto", "old", "reports"];
        let mut examples = Vec::new();
        for (table, at) in self.tables(item) {
            let (mut proto, mut old, mut reports) = (None, None, Vec::new());
            for entry in entries(table) {
                match entry.key {
                    "proto" => proto = self.string(entry.item),
                    "old" => old = self.string(entry.item),
                    "reports" => reports = self.texts(entry.item),
                    _ => self.unknown_key(&entry, "`[[rule.example]]`", KEYS),
                }
            }
            match proto {
                Some(proto) => examples.push(OwnRuleExample { proto, old, reports, span: at }),
                None if table.get("proto").is_none() => {
                    let help = "write a whole file; without `syntax` and `package` it gets them";
                    self.error(at, "the example lacks `proto`", Some(help.to_owned()));
                }
                None => {}
            }
        }
        examples
    }

    fn check_examples(&mut self, text: &OwnRuleText) {
        for example in &text.examples {
            let message = match (text.on.is_change, &example.old) {
                (true, None) => "an example of a rule about changes needs `old`, the file before",
                (false, Some(_)) => "`old` is for rules about changes, such as `change-of-field`",
                _ => continue,
            };
            self.error(example.span, message, None);
        }
    }

    /// Reports what is wrong with an expression, at its place in the string that holds it.
    fn expression_error(&mut self, key: &str, error: &CelError, string: Span) {
        let at = find_in_source(self.text, string, error.span.clone());
        let help = error.unknown.as_ref().and_then(|it| {
            let near = suggest(&it.name, it.known.iter().map(String::as_str));
            near.or_else(|| {
                let mut known: Vec<&str> = it.known.iter().map(String::as_str).collect();
                known.sort_unstable();
                known.dedup();
                (known.len() <= 40).then(|| format!("there are `{}`", known.join("`, `")))
            })
        });
        self.error(at, format!("in `{key}`: {}", error.message), help);
    }
}

fn first_word(id: &str) -> &str {
    id.split('-').next().unwrap_or_default()
}
