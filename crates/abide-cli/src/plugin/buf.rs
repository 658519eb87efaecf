//! The check plugin of buf.

use std::collections::HashMap;
use std::sync::Arc;

use abide_lint::{Finding, Origin, Report, RuleScope, Severity};
use abide_schema::value::Message;
use abide_schema::{Edition, File, FileDecl, Tree};
use abide_syntax::Span;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::buf_rules::{BufRule, categories, rules};
use super::messages::Messages;
use super::pluginrpc::Procedure;
use super::terms::{TermOptions, Terms, declarations};

/// The procedures that buf can call.
pub(super) const PROCEDURES: &[Procedure] = &[
    Procedure {
        path: "/buf.plugin.check.v1.CheckService/Check",
        name: "check",
        request: "buf.plugin.check.v1.CheckRequest",
        response: "buf.plugin.check.v1.CheckResponse",
        answer: check,
    },
    Procedure {
        path: "/buf.plugin.check.v1.CheckService/ListRules",
        name: "list-rules",
        request: "buf.plugin.check.v1.ListRulesRequest",
        response: "buf.plugin.check.v1.ListRulesResponse",
        answer: |messages, request| {
            let rules = rules().into_iter().map(|it| (it.id.clone(), it.listed()));
            page(messages.tree(), request, "rules", rules.collect())
        },
    },
    Procedure {
        path: "/buf.plugin.check.v1.CheckService/ListCategories",
        name: "list-categories",
        request: "buf.plugin.check.v1.ListCategoriesRequest",
        response: "buf.plugin.check.v1.ListCategoriesResponse",
        answer: |messages, request| {
            page(messages.tree(), request, "categories", categories(&rules()))
        },
    },
    Procedure {
        path: "/buf.plugin.info.v1.PluginInfoService/GetPluginInfo",
        name: "info",
        request: "buf.plugin.info.v1.GetPluginInfoRequest",
        response: "buf.plugin.info.v1.GetPluginInfoResponse",
        answer: |_, _| Ok(info()),
    },
];

/// The length of a page of a list, unless the request says so.
const PAGE: usize = 250;

/// The page of a list that a request asks for: each item is found by its id, which is the token.
fn page(
    tree: &Tree,
    request: &Message,
    field: &str,
    items: Vec<(String, Value)>,
) -> Result<Value, String> {
    let size = match request.i64(tree, "page_size").unwrap_or_default() {
        size @ 1.. => size as usize,
        _ => PAGE,
    };
    let start = match request.str(tree, "page_token").unwrap_or_default() {
        "" => 0,
        token => items
            .iter()
            .position(|(id, _)| id == token)
            .ok_or_else(|| format!("unknown page token `{token}`"))?,
    };
    let mut rest = items.into_iter().skip(start);
    let listed: Vec<Value> = rest.by_ref().take(size).map(|(_, item)| item).collect();
    let next = rest.next().map(|(id, _)| id).unwrap_or_default();
    Ok(json!({"next_page_token": next, field: listed}))
}

fn info() -> Value {
    json!({"plugin_info": {
        "license": {
            "spdx_license_id": "Apache-2.0",
            "url": "https://www.apache.org/licenses/LICENSE-2.0",
        },
        "doc": {
            "short": env!("CARGO_PKG_DESCRIPTION"),
            "long": "Reports breaking changes with whom they break, and what keeps an API from \
                     staying stable.",
        },
        "maximum_edition": Edition::NEWEST.number(),
    }})
}

/// Judges the files of a request by the rules that it names.
fn check(messages: &Messages, request: &Message) -> Result<Value, String> {
    let tree = messages.tree();
    let options = options(tree, request)?;
    let mut terms = Terms::read(&options).map_err(|error| error.to_string())?;
    let rules = asked(tree, request)?;
    // What runs is for buf to say; how much it matters is for the policy.
    let lint = rules.iter().filter(|it| !it.is_breaking);
    terms.config.policy.turn_on(lint.filter(|it| !it.is_default).map(|it| it.rule.defaults()));

    let files = files(tree, request, "file_descriptors")?;
    let compares = rules.iter().any(|it| it.is_breaking);
    let against = match compares {
        true => files_or_none(tree, request)?,
        false => None,
    };
    let (new, old) = match against {
        Some(against) => {
            let (new, old) = Tree::link_both(files, against);
            (new, Some(old))
        }
        None => (Tree::link(files), None),
    };
    let lints = rules.iter().any(|it| !it.is_breaking);
    let scope = if lints { RuleScope::Everything } else { RuleScope::Changes };
    let report = terms.judge(&new, old.as_ref(), scope);
    let places = Places { new: &new, old: old.as_ref() };
    Ok(json!({"annotations": annotations(&report, &rules, &places)}))
}

/// The old files; `None` where a request has none, as before the first commit.
fn files_or_none(tree: &Tree, request: &Message) -> Result<Option<Vec<Arc<FileDecl>>>, String> {
    let files = files(tree, request, "against_file_descriptors")?;
    Ok((!files.is_empty()).then_some(files))
}

/// The files of a field of the request.
fn files(tree: &Tree, request: &Message, field: &str) -> Result<Vec<Arc<FileDecl>>, String> {
    let files: Vec<&Message> =
        request.get_all(tree, field).filter_map(|it| it.value.as_message()).collect();
    files
        .par_iter()
        .map(|file: &&Message| {
            let bytes = file.get(tree, "file_descriptor_proto").and_then(|it| it.value.as_bytes());
            let mut decl = declarations(bytes.unwrap_or_default())?;
            decl.imported |= file.bool(tree, "is_import").unwrap_or_default();
            if file.bool(tree, "is_syntax_unspecified").unwrap_or_default() {
                decl.syntax = None;
            }
            Ok(Arc::new(decl))
        })
        .collect()
}

/// The options of the plugin in `buf.yaml`.
fn options(tree: &Tree, request: &Message) -> Result<TermOptions, String> {
    let mut options = TermOptions::default();
    for option in request.get_all(tree, "options").filter_map(|it| it.value.as_message()) {
        let key = option.str(tree, "key").unwrap_or_default();
        let value = option.message(tree, "value").and_then(|it| it.str(tree, "string_value"));
        let value = value.ok_or_else(|| format!("the option `{key}` needs a text"))?;
        options.set(key, value).ok_or_else(|| {
            format!("unknown option `{key}`; the options are {}", TermOptions::NAMES)
        })?;
    }
    Ok(options)
}

/// The rules that a request names; without names, those that run by default.
fn asked(tree: &Tree, request: &Message) -> Result<Vec<BufRule>, String> {
    let mut rules = rules();
    let ids: Vec<&str> =
        request.get_all(tree, "rule_ids").filter_map(|it| it.value.as_str()).collect();
    if let Some(id) = ids.iter().find(|id| rules.iter().all(|rule| rule.id != **id)) {
        return Err(format!("unknown rule `{id}`"));
    }
    rules.retain(|rule| match ids.is_empty() {
        true => rule.is_default,
        false => ids.contains(&&*rule.id),
    });
    Ok(rules)
}

/// The findings of these rules that fail. buf knows no warnings: what the policy makes less than an
/// error is silent, unless `use` names a lint rule that would not run by itself.
fn annotations(report: &Report, rules: &[BufRule], places: &Places<'_>) -> Vec<Value> {
    let rules: HashMap<&str, &BufRule> = rules.iter().map(|it| (it.rule.id, it)).collect();
    let annotations = report.findings.iter().filter_map(|finding| {
        let rule = rules.get(finding.rule)?;
        let is_named = !rule.is_breaking && !rule.is_default;
        if finding.severity != Severity::Error && !is_named {
            return None;
        }
        let mut annotation = json!({"rule_id": rule.id, "message": message(finding)});
        let old = finding.change.as_ref().and_then(|it| it.old);
        for place in [Some(finding.location), old].into_iter().flatten() {
            let (key, location) = match place.origin {
                Origin::Tree(_) => ("file_location", places.at(&place)),
                Origin::Old(_) => ("against_file_location", places.at(&place)),
                _ => continue,
            };
            annotation[key] = location?;
        }
        Some(annotation)
    });
    annotations.collect()
}

/// One line: what is wrong, whom it breaks and what to do.
fn message(finding: &Finding) -> String {
    let mut message = finding.message.clone();
    let effects = finding.effects();
    if !effects.is_empty() {
        message.push_str(&format!("; breaks {effects}"));
    }
    if let Some(help) = &finding.help {
        message.push_str(&format!("; {help}"));
    }
    message.replace('\n', " ")
}

/// The trees that places are in.
struct Places<'t> {
    new: &'t Tree,
    old: Option<&'t Tree>,
}

impl Places<'_> {
    /// A place as buf finds it: a file, and a path into its descriptor.
    fn at(&self, place: &abide_lint::Location) -> Option<Value> {
        let file = match place.origin {
            Origin::Tree(file) => self.new.file(file),
            Origin::Old(file) => self.old?.file(file),
            _ => return None,
        };
        Some(json!({"file_name": file.path(), "source_path": path(file, place.span)}))
    }
}

/// The path of the first location of a span.
fn path(file: File<'_>, span: Span) -> Vec<u32> {
    match &file.decl().origin {
        abide_schema::Origin::Descriptor(locations) => locations.path_at(span),
        abide_schema::Origin::Source(_) => Vec::new(),
    }
}
