//! The walk: every rule over everything that it subscribes to.

use abide_change::{Comparison, OptionOwner};
use abide_schema::{Element, File, Package};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::own_rules::run_own_rules;
use crate::finding::Finding;
use crate::rule::{ChangeCheck, Check, Context, Rule, Sink};
use crate::rules;

/// Runs every rule except those of the linker. Files are checked in parallel,
/// each by all rules, so that its declarations stay in the cache. What a rule finds
/// in a file or a package it reports there, so it only runs where that counts.
pub(super) fn run_rules<'t>(context: &Context<'t>, rules: &[&'static Rule]) -> Vec<Finding> {
    let whole_tree = || -> Vec<Finding> {
        let each = rules.par_iter().map(|rule| {
            let mut sink = Sink::of(rule);
            match rule.check {
                Check::Tree(check) => check(context, &mut sink),
                Check::Baseline(check) => {
                    if let Some(old) = context.baseline {
                        check(context, old, &mut sink);
                    }
                }
                Check::Package(check) => {
                    let counts = |it: &Package<'_>| it.is_judged() && context.reports_in(*it);
                    for package in context.tree.packages().filter(counts) {
                        check(context, package, &mut sink);
                    }
                }
                Check::Linker
                | Check::Engine
                | Check::Change(_)
                | Check::File(_)
                | Check::Element(_)
                | Check::Annotated(_)
                | Check::Instance(_)
                | Check::Own(_)
                | Check::Plugin => {}
            }
            sink.into_findings()
        });
        let mut findings: Vec<Finding> = each.flatten().collect();
        if let Some(diff) = context.diff() {
            findings.extend(check_changes(context, diff, rules, false));
        }
        findings
    };
    let file_rules: Vec<&'static Rule> = rules
        .iter()
        .copied()
        .filter(|rule| {
            matches!(rule.check, Check::File(_) | Check::Element(_) | Check::Annotated(_))
        })
        .collect();
    let counts = |it: &File<'_>| it.is_judged() && context.reports_in(it.package());
    let files: Vec<File<'t>> = context.tree.files().filter(counts).collect();
    let by_file = || -> Vec<Finding> {
        files
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(|&file| check_file(context, &file_rules, file))
            .collect()
    };
    let (mut findings, more) = rayon::join(whole_tree, by_file);
    findings.extend(more);
    findings.extend(run_own_rules(context, rules));
    findings
}

/// Offers every change to every rule that subscribes to its kind, one kind after
/// the other, since large trees have many of each. `settled` selects the settled
/// elements, which find nothing, or all others.
fn check_changes<'t>(
    context: &Context<'t>,
    diff: &Comparison<'t>,
    rules: &[&'static Rule],
    settled: bool,
) -> Vec<Finding> {
    let subscribed: Vec<(&'static Rule, ChangeCheck)> = rules
        .iter()
        .filter_map(|rule| match rule.check {
            Check::Change(check) => Some((*rule, check)),
            _ => None,
        })
        .collect();
    let mut findings = Vec::new();
    macro_rules! offer {
        ($changes:expr, $($kind:ident as $view:expr),*) => {{
            let found = $changes.into_par_iter().with_min_len(64).flat_map_iter(|change| {
                let mut findings = Vec::new();
                for (rule, check) in &subscribed {
                    let mut sink = Sink::of(rule);
                    match check {
                        $(ChangeCheck::$kind(check) => {
                            check(context, diff, change.map($view), &mut sink);
                        })*
                        _ => {}
                    }
                    findings.extend(sink.into_findings());
                }
                findings
            });
            findings.par_extend(found);
        }};
    }
    macro_rules! offer_elements {
        ($kind:ident, $changes:expr) => {
            offer!(
                $changes,
                $kind as std::convert::identity,
                Element as Element::$kind,
                Holder as |it| OptionOwner::Element(Element::$kind(it))
            )
        };
    }
    if !settled {
        offer!(diff.package_changes(), Package as std::convert::identity);
        offer!(diff.file_changes(), File as std::convert::identity, Holder as OptionOwner::File);
    }
    offer_elements!(Message, diff.messages_that_are(settled));
    offer_elements!(Field, diff.fields_that_are(settled));
    offer_elements!(Oneof, diff.oneofs_that_are(settled));
    offer_elements!(Enum, diff.enums_that_are(settled));
    offer_elements!(EnumValue, diff.values_that_are(settled));
    offer_elements!(Service, diff.services_that_are(settled));
    offer_elements!(Method, diff.methods_that_are(settled));
    dedup_findings(&mut findings);
    findings
}

/// Joins the findings about a replaced field into one, and those about a field that got another
/// number: that is one defect, however many properties of the two fields differ.
fn dedup_findings(findings: &mut Vec<Finding>) {
    let is_whole =
        |it: &Finding| [rules::REPLACED.id, rules::FIELD_NUMBER_CHANGED.id].contains(&it.rule);
    let (mut whole, parts): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(findings).into_iter().partition(is_whole);
    let at: FxHashMap<String, usize> =
        whole.iter().enumerate().map(|(at, it)| (it.element.clone(), at)).collect();
    for part in parts {
        // A finding that does not compare the two fields is reported on its own.
        let compares = part.change.as_ref().is_some_and(|it| it.old.is_some() && it.gone.is_none());
        match at.get(&part.element).filter(|_| compares).map(|&at| &mut whole[at]) {
            Some(whole) if whole.rule == rules::REPLACED.id => whole.absorb(part),
            Some(whole) if rules::FIELD_SHAPE_RULES.iter().any(|it| it.id == part.rule) => {
                whole.join(part);
            }
            _ => findings.push(part),
        }
    }
    findings.append(&mut whole);
}

fn check_file<'t>(context: &Context<'t>, rules: &[&'static Rule], file: File<'t>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let elements: Vec<Element<'t>> = file.elements().collect();
    let annotated: Vec<Element<'t>> =
        elements.iter().copied().filter(|it| it.options().is_some()).collect();
    for rule in rules {
        let mut sink = Sink::of(rule);
        match rule.check {
            Check::File(check) => check(context, file, &mut sink),
            Check::Element(check) => {
                for &element in &elements {
                    check(context, element, &mut sink);
                }
            }
            Check::Annotated(check) => {
                for &element in &annotated {
                    check(context, element, &mut sink);
                }
            }
            Check::Linker
            | Check::Engine
            | Check::Tree(_)
            | Check::Package(_)
            | Check::Baseline(_)
            | Check::Change(_)
            | Check::Instance(_)
            | Check::Own(_)
            | Check::Plugin => {}
        }
        findings.extend(sink.into_findings());
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use abide_schema::{FileDecl, SourceFile, Tree};
    use jiff::civil::date;

    use super::check_changes;
    use crate::config::Config;
    use crate::inputs::{Options, RuleScope};
    use crate::protos::protos;
    use crate::rule::Context;
    use crate::rules::RULES;

    fn file(path: &str, text: &str, imported: bool) -> Arc<FileDecl> {
        let (path, text): (Arc<str>, _) = (path.into(), text.as_bytes().into());
        let display = Arc::clone(&path);
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported, text }))
    }

    /// The examples on the pages of the rules.
    fn examples() -> Vec<String> {
        let mut examples = Vec::new();
        for rule in RULES {
            for block in rule.page.split("\n```").filter(|it| it.starts_with("proto")) {
                let text = block.split_once('\n').map_or("", |(_, text)| text);
                examples.push(format!("{text}\n"));
            }
        }
        examples
    }

    /// What examples have too little of.
    const SHAPES: &str = r#"
syntax = "proto3";
package shapes.v1;
import "buf/validate/validate.proto";
message User {
  string name = 1 [(buf.validate.field).string.max_len = 9];
  map<string, string> labels = 2;
  map<int32, string> titles = 3;
  State state = 4 [(buf.validate.field).enum.defined_only = true];
  oneof kind {
    string a = 5;
    GetRequest b = 6;
  }
}
message GetRequest {
  string name = 1;
}
enum State {
  STATE_UNSPECIFIED = 0;
  STATE_ON = 1;
}
service Users {
  rpc Get(GetRequest) returns (User);
  rpc Put(User) returns (User);
  rpc Watch(User) returns (stream GetRequest);
}
"#;

    fn imports() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = ["../../testdata/imports", "../../api"];
        folders.iter().flat_map(|it| protos(&root.join(it))).collect()
    }

    /// A few edits of lines and words, most of which still are protobuf.
    fn edited(text: &str, others: &[String], random: &mut fastrand::Rng) -> String {
        const WORDS: &[&[&str]] = &[
            &["optional ", "repeated ", "required ", ""],
            &["string ", "bytes ", "int32 ", "sint64 ", "double "],
            &["true", "false"],
            &["proto2", "proto3"],
            &[" = 1", " = 2", " = 3", " = 7"],
            &["(stream ", "("],
            &["(User)", "(GetRequest)", "(Order)"],
            &["map<string, string>", "map<string, bytes>", "map<int32, string>"],
            &["deprecated", "debug_redact"],
            &["max_len", "min_len"],
        ];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..random.usize(1..4) {
            if lines.is_empty() {
                break;
            }
            let (at, to) = (random.usize(..lines.len()), random.usize(..lines.len()));
            match random.u8(..9) {
                0 => drop(lines.remove(at)),
                1 => lines.swap(at, to),
                2 => lines.insert(at, lines[to].clone()),
                3 => {
                    let other: Vec<&str> = others[random.usize(..others.len())].lines().collect();
                    if !other.is_empty() {
                        lines[at] = other[random.usize(..other.len())].to_owned();
                    }
                }
                4 => lines[at] = lines[at].replacen(" = ", "_new = ", 1),
                5 if lines[at].contains(" = ") => {
                    lines[at] = format!("oneof o {{ {} }}", lines[at])
                }
                _ => {
                    let words = WORDS[random.usize(..WORDS.len())];
                    let from = |line: &str| words.iter().find(|it| line.contains(**it)).copied();
                    let having = (0..lines.len()).filter(|at| from(&lines[*at]).is_some());
                    let having: Vec<usize> = having.collect();
                    if !having.is_empty() {
                        let line = &mut lines[having[random.usize(..having.len())]];
                        let from = from(line).unwrap_or_default();
                        *line = line.replacen(from, words[random.usize(..words.len())], 1);
                    }
                }
            }
        }
        lines.join("\n") + "\n"
    }

    /// What is left out is what no rule would say anything about, whatever was
    /// edited: the file, the options that it uses, or what it is compared with.
    #[test]
    fn rules_say_nothing_of_what_is_settled() {
        let policy = Config::parse("", None).expect("it is empty").policy;
        let (examples, imports) = (examples(), imports());
        let parsed: Vec<_> = imports.iter().map(|(path, text)| file(path, text, true)).collect();
        let mut random = fastrand::Rng::with_seed(5);
        let mut settled = 0;
        for _ in 0..1000 {
            let texts = (0..2).map(|_| examples[random.usize(..examples.len())].clone());
            let old: Vec<String> = texts.chain([SHAPES.to_owned()]).collect();
            let mut side = |edits: bool| {
                let mut files = parsed.clone();
                if edits && random.u8(..4) == 0 {
                    let at = random.usize(..imports.len());
                    let (path, text) = &imports[at];
                    files[at] = file(path, &edited(text, &examples, &mut random), true);
                }
                for (at, text) in old.iter().enumerate() {
                    let edits = edits && random.u8(..3) > 0;
                    let text = match edits {
                        true => edited(text, &examples, &mut random),
                        false => format!("{text} message OfOneSide {{}}\n"),
                    };
                    files.push(file(&format!("{at}.proto"), &text, false));
                }
                Tree::link(files)
            };
            let (old, new) = (side(false), side(true));
            let options = Options {
                scope: RuleScope::Changes,
                baseline: Some(&old),
                ..Options::on(date(2026, 1, 15))
            };
            let context = Context::new(&new, &policy, options);
            let diff = context.diff().expect("there is a baseline");
            settled += diff.fields_that_are(true).len();
            let found = check_changes(&context, diff, RULES, true);
            assert!(found.is_empty(), "{found:#?}");
        }
        assert!(settled > 400, "{settled} fields are settled");
    }
}
