//! The host of check plugins of buf: the other side of what `buf.rs` answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use abide_lint::{CheckPlugin, DescriptorPlace, PluginAnnotation, PluginValue};
use abide_schema::value::Message;
use abide_schema::{Tree, encode_file};
use abide_source::{CallError, CallLimits, call_program};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::messages::ProtocolMessages;

const CHECK: &str = "/buf.plugin.check.v1.CheckService/Check";
const LIST_RULES: &str = "/buf.plugin.check.v1.CheckService/ListRules";
/// The most pages of rules.
const MAX_PAGES: usize = 100;
/// The limits of one call. Programs in Go reserve much more memory than they use.
const LIMITS: CallLimits =
    CallLimits { time: Duration::from_secs(120), answer: 64 << 20, memory: Some(8 << 30) };

/// What is wrong with a plugin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginError {
    #[error(transparent)]
    Process(#[from] CallError),
    #[error("it does not speak PluginRPC version 1: {0}")]
    Protocol(String),
    #[error("it has no procedure `{0}`")]
    NoProcedure(&'static str),
    #[error("it answers with an error: {0}")]
    Refused(String),
    #[error("it has no rule or category `{name}`; it has {known}")]
    UnknownRule { name: String, known: String },
    #[error("it reports `{0}`, which it was not asked for")]
    NotAsked(String),
}

/// A rule of a plugin.
struct PluginRule {
    id: String,
    categories: Vec<String>,
    is_default: bool,
    is_breaking: bool,
}

/// Runs a plugin over a tree. Rules about changes only run with an old tree.
pub(crate) fn run_plugin(
    folder: &Path,
    plugin: &CheckPlugin,
    tree: &Tree,
    old: Option<&Tree>,
) -> Result<Vec<PluginAnnotation>, PluginError> {
    let host = PluginHost::connect(folder, plugin)?;
    let rules = host.select_rules(old.is_some())?;
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let request = json!({
        "@type": "type.googleapis.com/buf.plugin.check.v1.CheckRequest",
        "file_descriptors": encode_files(tree),
        "against_file_descriptors": old.map(encode_files).unwrap_or_default(),
        "options": plugin.options.iter().map(|(key, value)| {
            json!({ "key": key, "value": encode_value(value) })
        }).collect::<Vec<_>>(),
        "rule_ids": rules,
    });
    let response = host.ask(CHECK, &request, "buf.plugin.check.v1.CheckResponse")?;
    let messages = host.messages.tree();
    let annotations = response.get_all(messages, "annotations");
    let annotations = annotations.filter_map(|it| it.value.as_message());
    let annotations = annotations.map(|it| read_annotation(messages, it));
    annotations
        .map(|it| match rules.contains(&it.rule) {
            true => Ok(it),
            false => Err(PluginError::NotAsked(it.rule)),
        })
        .collect()
}

/// Calls the program of a plugin and returns what it writes to standard output.
fn call(
    folder: &Path,
    command: &[String],
    args: &[&str],
    input: Vec<u8>,
) -> Result<Vec<u8>, CallError> {
    let (program, first) = command.split_first().map_or(("", &[][..]), |(it, rest)| (it, rest));
    // A name alone is looked up in PATH.
    let program = match program.contains('/') {
        true => folder.join(program),
        false => program.into(),
    };
    let mut command = Command::new(program);
    command.args(first).args(args).current_dir(folder);
    Ok(call_program(command, input, &LIMITS)?.stdout)
}

/// A plugin that speaks the protocol.
struct PluginHost<'p> {
    folder: &'p Path,
    plugin: &'p CheckPlugin,
    messages: ProtocolMessages,
    /// The arguments of each procedure, by its path.
    procedures: BTreeMap<String, Vec<String>>,
}

impl<'p> PluginHost<'p> {
    /// Asks a plugin what it speaks, and what it can do.
    fn connect(folder: &'p Path, plugin: &'p CheckPlugin) -> Result<PluginHost<'p>, PluginError> {
        let version = call(folder, &plugin.command, &["--protocol"], Vec::new())?;
        let version = String::from_utf8_lossy(&version).trim().to_owned();
        if version != "1" {
            let said: String = version.chars().take(50).collect();
            return Err(PluginError::Protocol(format!("`--protocol` says `{said}`")));
        }
        let messages = ProtocolMessages::new();
        let spec = call(folder, &plugin.command, &["--spec"], Vec::new())?;
        let spec = messages.decode("pluginrpc.v1.Spec", &spec).map_err(PluginError::Protocol)?;
        let tree = messages.tree();
        let mut procedures = BTreeMap::new();
        for procedure in spec.get_all(tree, "procedures").filter_map(|it| it.value.as_message()) {
            let path = procedure.get_str(tree, "path").unwrap_or_default().to_owned();
            let args = procedure.get_all(tree, "args").filter_map(|it| it.value.as_str());
            let mut args: Vec<String> = args.map(str::to_owned).collect();
            if args.is_empty() {
                args.push(path.clone());
            }
            procedures.insert(path, args);
        }
        Ok(PluginHost { folder, plugin, messages, procedures })
    }

    /// Calls a procedure. `request` is its message with its type.
    fn ask(
        &self,
        procedure: &'static str,
        request: &Value,
        answer: &str,
    ) -> Result<Message, PluginError> {
        let args = self.procedures.get(procedure).ok_or(PluginError::NoProcedure(procedure))?;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let input = self.messages.serialise("pluginrpc.v1.Request", &json!({ "value": request }));
        let output = call(self.folder, &self.plugin.command, &args, input)?;
        let decode =
            |ty: &str, bytes: &[u8]| self.messages.decode(ty, bytes).map_err(PluginError::Protocol);
        let response = decode("pluginrpc.v1.Response", &output)?;
        let tree = self.messages.tree();
        if let Some(error) = response.get_message(tree, "error") {
            let message = error.get_str(tree, "message").unwrap_or("no message");
            return Err(PluginError::Refused(message.chars().take(500).collect()));
        }
        let Some(any) = response.get_message(tree, "value") else {
            return decode(answer, &[]);
        };
        let url = any.get_str(tree, "type_url").unwrap_or_default();
        if url.rsplit('/').next() != Some(answer) {
            return Err(PluginError::Protocol(format!("it answers with `{url}`, not {answer}")));
        }
        let value = any.get(tree, "value").and_then(|it| it.value.as_bytes());
        decode(answer, value.unwrap_or_default())
    }

    fn list_rules(&self) -> Result<Vec<PluginRule>, PluginError> {
        let tree = self.messages.tree();
        let (mut rules, mut token) = (Vec::new(), String::new());
        for _ in 0..MAX_PAGES {
            let request = json!({
                "@type": "type.googleapis.com/buf.plugin.check.v1.ListRulesRequest",
                "page_size": 250,
                "page_token": token,
            });
            let page = self.ask(LIST_RULES, &request, "buf.plugin.check.v1.ListRulesResponse")?;
            let listed = page.get_all(tree, "rules").filter_map(|it| it.value.as_message());
            rules.extend(listed.map(|it| read_rule(tree, it)));
            token = page.get_str(tree, "next_page_token").unwrap_or_default().to_owned();
            if token.is_empty() {
                return Ok(rules);
            }
        }
        Err(PluginError::Protocol(format!("its rules fill more than {MAX_PAGES} pages")))
    }

    /// The ids of the rules that `rules` and `except` ask for.
    fn select_rules(&self, has_old: bool) -> Result<Vec<String>, PluginError> {
        let all = self.list_rules()?;
        let is_named =
            |rule: &PluginRule, name: &String| rule.id == *name || rule.categories.contains(name);
        for name in self.plugin.rules.iter().chain(&self.plugin.except) {
            if !all.iter().any(|rule| is_named(rule, name)) {
                let mut known: Vec<&str> = all.iter().map(|it| it.id.as_str()).collect();
                known.extend(all.iter().flat_map(|it| &it.categories).map(String::as_str));
                known.sort_unstable();
                known.dedup();
                let known = known.iter().take(50).map(|it| format!("`{it}`"));
                let known = known.collect::<Vec<_>>().join(", ");
                return Err(PluginError::UnknownRule { name: name.clone(), known });
            }
        }
        let is_asked = |rule: &PluginRule| match self.plugin.rules.is_empty() {
            true => rule.is_default,
            false => self.plugin.rules.iter().any(|name| is_named(rule, name)),
        };
        let is_left = |rule: &PluginRule| {
            !self.plugin.except.iter().any(|name| is_named(rule, name))
                && (has_old || !rule.is_breaking)
        };
        let asked = all.into_iter().filter(|it| is_asked(it) && is_left(it));
        Ok(asked.map(|it| it.id).collect())
    }
}

fn read_rule(tree: &Tree, rule: &Message) -> PluginRule {
    let categories = rule.get_all(tree, "category_ids").filter_map(|it| it.value.as_str());
    PluginRule {
        id: rule.get_str(tree, "id").unwrap_or_default().to_owned(),
        categories: categories.map(str::to_owned).collect(),
        is_default: rule.get_bool(tree, "default").unwrap_or_default(),
        is_breaking: rule.get_i64(tree, "type") == Some(2),
    }
}

fn read_annotation(tree: &Tree, annotation: &Message) -> PluginAnnotation {
    let place = |field: &str| {
        let place = annotation.get_message(tree, field)?;
        let path = place.get_all(tree, "source_path").filter_map(|it| it.value.as_i64());
        Some(DescriptorPlace {
            file: place.get_str(tree, "file_name").unwrap_or_default().to_owned(),
            path: path.filter_map(|it| i32::try_from(it).ok()).collect(),
        })
    };
    let message = annotation.get_str(tree, "message").unwrap_or_default();
    let line = message.chars().map(|it| if it.is_control() { ' ' } else { it });
    PluginAnnotation {
        rule: annotation.get_str(tree, "rule_id").unwrap_or_default().to_owned(),
        message: line.take(1_000).collect(),
        location: place("file_location"),
        against: place("against_file_location"),
    }
}

fn encode_files(tree: &Tree) -> Vec<Value> {
    let encode = |file: abide_schema::File<'_>| {
        json!({
            "file_descriptor_proto": STANDARD.encode(encode_file(tree, file.id, true)),
            "is_import": !file.is_judged(),
            "is_syntax_unspecified": file.decl().syntax.is_none(),
        })
    };
    tree.files().filter(|it| it.parses()).map(encode).collect()
}

fn encode_value(value: &PluginValue) -> Value {
    match value {
        PluginValue::Bool(value) => json!({ "bool_value": value }),
        PluginValue::Int(value) => json!({ "int64_value": value.to_string() }),
        PluginValue::Double(value) => json!({ "double_value": value }),
        PluginValue::String(text) => json!({ "string_value": text }),
        PluginValue::List(items) => {
            json!({ "list_value": { "values": items.iter().map(encode_value).collect::<Vec<_>>() } })
        }
    }
}
