//! The check plugin of buf.

use std::collections::HashMap;
use std::sync::Arc;

use abide_lint::{Finding, Origin, Report, RuleScope, Severity};
use abide_schema::value::Message;
use abide_schema::{Edition, File, FileDecl, Tree};
use abide_syntax::Span;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::buf_rules::{BufRule, collect_categories, collect_rules};
use super::messages::ProtocolMessages;
use super::pluginrpc::RpcProcedure;
use super::policy::{PluginOptions, PluginPolicy, read_file_descriptor};

/// The procedures that buf can call.
pub(super) const PROCEDURES: &[RpcProcedure] = &[
    RpcProcedure {
        path: "/buf.plugin.check.v1.CheckService/Check",
        name: "check",
        request: "buf.plugin.check.v1.CheckRequest",
        response: "buf.plugin.check.v1.CheckResponse",
        answer: check,
    },
    RpcProcedure {
        path: "/buf.plugin.check.v1.CheckService/ListRules",
        name: "list-rules",
        request: "buf.plugin.check.v1.ListRulesRequest",
        response: "buf.plugin.check.v1.ListRulesResponse",
        answer: |messages, request| {
            let rules = collect_rules().into_iter().map(|it| (it.id.clone(), it.describe()));
            build_page(messages.tree(), request, "rules", rules.collect())
        },
    },
    RpcProcedure {
        path: "/buf.plugin.check.v1.CheckService/ListCategories",
        name: "list-categories",
        request: "buf.plugin.check.v1.ListCategoriesRequest",
        response: "buf.plugin.check.v1.ListCategoriesResponse",
        answer: |messages, request| {
            build_page(messages.tree(), request, "categories", collect_categories(&collect_rules()))
        },
    },
    RpcProcedure {
        path: "/buf.plugin.info.v1.PluginInfoService/GetPluginInfo",
        name: "info",
        request: "buf.plugin.info.v1.GetPluginInfoRequest",
        response: "buf.plugin.info.v1.GetPluginInfoResponse",
        answer: |_, _| Ok(describe_plugin()),
    },
];

/// The length of a page of a list, unless the request says so.
const PAGE: usize = 250;

/// The page of a list that a request asks for: each item is found by its id, which is the token.
fn build_page(
    tree: &Tree,
    request: &Message,
    field: &str,
    items: Vec<(String, Value)>,
) -> Result<Value, String> {
    let size = match request.get_i64(tree, "page_size").unwrap_or_default() {
        size @ 1.. => size as usize,
        _ => PAGE,
    };
    let start = match request.get_str(tree, "page_token").unwrap_or_default() {
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

fn describe_plugin() -> Value {
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
fn check(messages: &ProtocolMessages, request: &Message) -> Result<Value, String> {
    let tree = messages.tree();
    let options = read_options(tree, request)?;
    let mut terms = PluginPolicy::read(&options).map_err(|error| error.to_string())?;
    let rules = select_rules(tree, request)?;
    // What runs is for buf to say; how much it matters is for the policy.
    let lint = rules.iter().filter(|it| !it.is_breaking);
    terms.config.policy.turn_on(lint.filter(|it| !it.is_default).map(|it| it.rule.defaults()));

    let files = read_files(tree, request, "file_descriptors")?;
    let compares = rules.iter().any(|it| it.is_breaking);
    let against = match compares {
        true => read_old_files(tree, request)?,
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
    let report = terms.check(&new, old.as_ref(), scope);
    let places = TreePair { new: &new, old: old.as_ref() };
    Ok(json!({"annotations": build_annotations(&report, &rules, &places)}))
}

/// The old files; `None` where a request has none, as before the first commit.
fn read_old_files(tree: &Tree, request: &Message) -> Result<Option<Vec<Arc<FileDecl>>>, String> {
    let files = read_files(tree, request, "against_file_descriptors")?;
    Ok((!files.is_empty()).then_some(files))
}

/// The files of a field of the request.
fn read_files(tree: &Tree, request: &Message, field: &str) -> Result<Vec<Arc<FileDecl>>, String> {
    let files: Vec<&Message> =
        request.get_all(tree, field).filter_map(|it| it.value.as_message()).collect();
    files
        .par_iter()
        .map(|file: &&Message| {
            let bytes = file.get(tree, "file_descriptor_proto").and_then(|it| it.value.as_bytes());
            let mut decl = read_file_descriptor(bytes.unwrap_or_default())?;
            decl.imported |= file.get_bool(tree, "is_import").unwrap_or_default();
            if file.get_bool(tree, "is_syntax_unspecified").unwrap_or_default() {
                decl.syntax = None;
            }
            Ok(Arc::new(decl))
        })
        .collect()
}

/// The options of the plugin in `buf.yaml`.
fn read_options(tree: &Tree, request: &Message) -> Result<PluginOptions, String> {
    let mut options = PluginOptions::default();
    for option in request.get_all(tree, "options").filter_map(|it| it.value.as_message()) {
        let key = option.get_str(tree, "key").unwrap_or_default();
        let value =
            option.get_message(tree, "value").and_then(|it| it.get_str(tree, "string_value"));
        let value = value.ok_or_else(|| format!("the option `{key}` needs a text"))?;
        options.set(key, value).ok_or_else(|| {
            format!("unknown option `{key}`; the options are {}", PluginOptions::NAMES)
        })?;
    }
    Ok(options)
}

/// The rules that a request names; without names, those that run by default.
fn select_rules(tree: &Tree, request: &Message) -> Result<Vec<BufRule>, String> {
    let mut rules = collect_rules();
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
fn build_annotations(report: &Report, rules: &[BufRule], places: &TreePair<'_>) -> Vec<Value> {
    let rules: HashMap<&str, &BufRule> = rules.iter().map(|it| (it.rule.id, it)).collect();
    let annotations = report.findings.iter().filter_map(|finding| {
        let rule = rules.get(finding.rule)?;
        let is_named = !rule.is_breaking && !rule.is_default;
        if finding.severity != Severity::Error && !is_named {
            return None;
        }
        let mut annotation = json!({"rule_id": rule.id, "message": format_message(finding)});
        let old = finding.change.as_ref().and_then(|it| it.old);
        for place in [Some(finding.location), old].into_iter().flatten() {
            let (key, location) = match place.origin {
                Origin::Tree(_) => ("file_location", places.locate(&place)),
                Origin::Old(_) => ("against_file_location", places.locate(&place)),
                _ => continue,
            };
            annotation[key] = location?;
        }
        Some(annotation)
    });
    annotations.collect()
}

/// One line: what is wrong, whom it breaks and what to do.
fn format_message(finding: &Finding) -> String {
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
struct TreePair<'t> {
    new: &'t Tree,
    old: Option<&'t Tree>,
}

impl TreePair<'_> {
    /// A place as buf finds it: a file, and a path into its descriptor.
    fn locate(&self, place: &abide_lint::Location) -> Option<Value> {
        let file = match place.origin {
            Origin::Tree(file) => self.new.file(file),
            Origin::Old(file) => self.old?.file(file),
            _ => return None,
        };
        Some(json!({"file_name": file.path(), "source_path": find_source_path(file, place.span)}))
    }
}

/// The path of the first location of a span.
fn find_source_path(file: File<'_>, span: Span) -> Vec<u32> {
    match &file.decl().origin {
        abide_schema::FileOrigin::Descriptor(locations) => locations.path_at(span),
        abide_schema::FileOrigin::Source(_) => Vec::new(),
    }
}
