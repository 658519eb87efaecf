//! Compiles the texts of a rule.

use std::sync::OnceLock;

use abide_schema::Tree;
use abide_syntax::Span;
use abide_validate::cel::{CelError, CelType, PatternCache, Program};

use super::definition::{OwnRule, OwnRuleExample, RuleSubject};
use super::template::Template;
use crate::finding::Severity;

/// The texts of a rule, before they are compiled.
#[derive(Clone, Debug)]
pub(crate) struct OwnRuleText {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub on: RuleSubject,
    /// Its condition.
    pub when: String,
    /// Its message.
    pub message: String,
    /// Its help.
    pub help: Option<String>,
    /// Its severity; `None` if it is off.
    pub severity: Option<Severity>,
    /// Its examples.
    pub examples: Vec<OwnRuleExample>,
    /// Where it stands.
    pub span: Span,
    /// Where its condition stands.
    pub when_span: Span,
}

/// What is wrong with a text of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnRuleError {
    /// The key of the text: `when`, `message` or `help`.
    pub key: &'static str,
    /// What is wrong, at a place in the text.
    pub error: CelError,
}

impl OwnRuleText {
    /// One phrase for lists: the message, with the expressions in it as they are written.
    fn summary(&self) -> String {
        self.message.lines().next().unwrap_or_default().trim().to_owned()
    }
}

/// The tree that expressions of rules are compiled against: they name no type of any.
pub(super) fn empty_tree() -> &'static Tree {
    static EMPTY: OnceLock<Tree> = OnceLock::new();
    EMPTY.get_or_init(|| Tree::link(Vec::new()))
}

impl OwnRule {
    /// Compiles a rule. Every text is checked, not only the first one that is wrong.
    pub(crate) fn compile(text: OwnRuleText) -> Result<OwnRule, Vec<OwnRuleError>> {
        let mut errors = Vec::new();
        let mut keep =
            |key: &'static str, error: CelError| errors.push(OwnRuleError { key, error });
        let variables = text.on.variables();
        let condition = compile_condition(&text.when, &variables);
        let condition = condition.map_err(|it| keep("when", it)).ok();
        let template = |written: &String| Template::parse(empty_tree(), written, &variables);
        let message = template(&text.message).map_err(|it| keep("message", it)).ok();
        let help = text.help.as_ref().map(template).transpose();
        let help = help.map_err(|it| keep("help", it)).ok();
        let (Some(condition), Some(message_template), Some(help_template)) =
            (condition, message, help)
        else {
            return Err(errors);
        };
        Ok(OwnRule {
            summary: text.summary(),
            id: text.id,
            on: text.on,
            severity: text.severity,
            when: text.when,
            message: text.message,
            help: text.help,
            examples: text.examples,
            span: text.span,
            when_span: text.when_span,
            condition,
            message_template,
            help_template,
            patterns: PatternCache::default(),
        })
    }
}

fn compile_condition(text: &str, variables: &[(&str, CelType)]) -> Result<Program, CelError> {
    let program = Program::compile_rule(empty_tree(), text, variables)?;
    if program.ty().may_be_bool() {
        return Ok(program);
    }
    let message = format!("a condition is `bool`, not `{}`", program.ty());
    Err(CelError::new(0..text.len(), message))
}
