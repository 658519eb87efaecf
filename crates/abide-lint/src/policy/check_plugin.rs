//! `[[plugin]]`: programs that check as plugins of buf do.

use abide_syntax::Span;

use crate::finding::Severity;

/// A check plugin that `abide.toml` names.
#[derive(Clone, Debug)]
pub struct CheckPlugin {
    /// What the ids of its rules begin with, before `/`.
    pub name: String,
    /// The program and its first arguments. A path with a `/` counts from the folder of
    /// `abide.toml`.
    pub command: Vec<String>,
    /// Its options.
    pub options: Vec<(String, PluginValue)>,
    /// The rules and categories that are asked for; if empty, its own default.
    pub rules: Vec<String>,
    /// The rules and categories that are left out.
    pub except: Vec<String>,
    /// The severity of what it finds, where no setting says anything; `None` is off.
    pub severity: Option<Severity>,
    /// Where it stands in `abide.toml`.
    pub span: Span,
}

/// The value of an option of a plugin.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is named after the type it holds")]
pub enum PluginValue {
    Bool(bool),
    Int(i64),
    Double(f64),
    String(String),
    List(Vec<PluginValue>),
}

impl CheckPlugin {
    /// Returns true if an id is that of a rule of this plugin.
    pub fn has_rule(&self, id: &str) -> bool {
        let rest = id.strip_prefix(&self.name).and_then(|it| it.strip_prefix('/'));
        rest.is_some_and(is_rule_name)
    }
}

/// Returns true if a plugin can call a rule or a category so: `RPC_SUFFIX`.
fn is_rule_name(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    (1..=64).contains(&name.len()) && name.chars().all(is_letter)
}
