//! Runs the examples of rules that `abide.toml` declares.

use std::collections::BTreeSet;
use std::sync::Arc;

use abide_schema::{FileDecl, SourceFile, Tree, find_missing_imports, find_well_known};
use abide_syntax::Span;
use jiff::civil::Date;

use super::own_rules::run_own_rules;
use crate::inputs::Options;
use crate::own_rules::{OwnRule, OwnRuleExample};
use crate::policy::Policy;
use crate::rule::{Check, Context, Rule};
use crate::rules::rules_of;

/// What an example of a rule showed.
#[derive(Clone, Debug)]
pub struct ExampleResult {
    /// The rule.
    pub rule: &'static Rule,
    /// The number of the example among those of the rule, from 1.
    pub number: usize,
    /// Where it stands in `abide.toml`.
    pub span: Span,
    /// What is wrong with its text: it is not compared then.
    pub errors: Vec<String>,
    /// The elements at which it should have reported, and did not.
    pub missing: Vec<String>,
    /// The elements at which it reported, and should not have.
    pub unexpected: Vec<String>,
}

impl ExampleResult {
    /// Returns true if the rule does what the example says.
    pub fn passed(&self) -> bool {
        self.errors.is_empty() && self.missing.is_empty() && self.unexpected.is_empty()
    }
}

/// Runs every example of every declared rule. `find_import` finds the files that examples import.
pub fn run_rule_examples(
    policy: &Policy,
    find_import: &dyn Fn(&str) -> Option<Arc<FileDecl>>,
) -> Vec<ExampleResult> {
    let mut results = Vec::new();
    for rule in rules_of(policy) {
        let Check::Own(own) = rule.check else { continue };
        let examples = own.examples.iter().zip(1..);
        results.extend(examples.map(|(example, number)| {
            run_example(policy, (rule, own), example, number, find_import)
        }));
    }
    results
}

fn run_example(
    policy: &Policy,
    (rule, own): (&'static Rule, &OwnRule),
    example: &OwnRuleExample,
    number: usize,
    find_import: &dyn Fn(&str) -> Option<Arc<FileDecl>>,
) -> ExampleResult {
    let tree = link_example(&example.proto, find_import);
    let old = example.old.as_ref().map(|it| link_example(it, find_import));
    let mut errors = collect_errors(&tree);
    errors.extend(old.iter().flat_map(collect_errors));
    let (mut missing, mut unexpected) = (Vec::new(), Vec::new());
    if errors.is_empty() {
        let options = Options { baseline: old.as_ref(), ..Options::on(Date::constant(2000, 1, 1)) };
        let context = Context::new(&tree, policy, options);
        let findings = run_own_rules(&context, &[rule]);
        let failed = findings.iter().filter(|it| it.rule != rule.id);
        errors.extend(failed.map(|it| it.message.clone()));
        let found = findings.iter().filter(|it| it.rule == rule.id).map(|it| it.element.clone());
        let found: BTreeSet<String> = found.collect();
        let is = |element: &String, wanted: &String| {
            element == wanted || element.ends_with(&format!(".{wanted}"))
        };
        let wanted = || example.reports.iter();
        missing.extend(wanted().filter(|it| !found.iter().any(|of| is(of, it))).cloned());
        unexpected.extend(found.iter().filter(|of| !wanted().any(|it| is(of, it))).cloned());
    }
    debug_assert_eq!(rule.id, own.id, "the rule is that of the example");
    ExampleResult { rule, number, span: example.span, errors, missing, unexpected }
}

/// The name of the file of an example.
const PATH: &str = "example.proto";

/// Links an example. Without `syntax` and `package` it gets some, so that it can be short.
fn link_example(text: &str, find_import: &dyn Fn(&str) -> Option<Arc<FileDecl>>) -> Tree {
    let statement = |word: &str| text.lines().any(|it| it.trim_start().starts_with(word));
    let mut whole = String::new();
    if !statement("syntax") && !statement("edition") {
        whole.push_str("syntax = \"proto3\"; ");
    }
    if !statement("package") {
        whole.push_str("package example.v1; ");
    }
    whole.push_str(text);
    let mut files = vec![parse(PATH, whole.as_bytes(), false)];
    loop {
        let missing = find_missing_imports(&files);
        let known = |path: &str| {
            let text = find_well_known(path)?;
            Some(parse(path, text.as_bytes(), true))
        };
        let found: Vec<_> =
            missing.iter().filter_map(|it| known(it).or_else(|| find_import(it))).collect();
        if found.is_empty() {
            return Tree::link(files);
        }
        files.extend(found);
    }
}

fn parse(path: &str, text: &[u8], imported: bool) -> Arc<FileDecl> {
    let path: Arc<str> = path.into();
    let display = Arc::clone(&path);
    Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text: text.into() }))
}

fn collect_errors(tree: &Tree) -> Vec<String> {
    let errors = tree.problems().iter().filter(|it| it.kind.is_error());
    errors.map(|it| it.message.clone()).collect()
}
