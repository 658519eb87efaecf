//! The plugin of protoc.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Finding, Report, RuleScope, Severity};
use abide_schema::value::Message;
use abide_schema::{Edition, FileDecl, Tree};
use abide_source::{Progress, Source, SourceOptions, load};
use serde_json::{Value, json};

use super::messages::ProtocolMessages;
use super::policy::{PluginOptions, PluginPolicy, read_file_descriptor};
use crate::error::Error;
use crate::render::{REPORTS, RenderContext, ReportFormat};

const REQUEST: &str = "google.protobuf.compiler.CodeGeneratorRequest";
const RESPONSE: &str = "google.protobuf.compiler.CodeGeneratorResponse";

/// `FEATURE_PROTO3_OPTIONAL` and `FEATURE_SUPPORTS_EDITIONS`.
const FEATURES: u64 = 1 | 2;

/// The result of a run, for protoc and for people.
pub(super) struct ProtocAnswer {
    /// The serialised response.
    pub(super) response: Vec<u8>,
    /// Findings that do not fail the run, a line for each.
    pub(super) warnings: Vec<String>,
}

/// Answers a serialised request. Whatever is wrong is in the response: protoc shows it and fails.
pub(super) fn run(input: &[u8]) -> ProtocAnswer {
    let messages = ProtocolMessages::new();
    let judged = messages.decode(REQUEST, input).and_then(|request| {
        check_files(messages.tree(), &request).map_err(|error| error.to_string())
    });
    let JudgedFiles { error, warnings, report } =
        judged.unwrap_or_else(|error| JudgedFiles { error: Some(error), ..JudgedFiles::default() });
    let mut response = json!({
        "supported_features": FEATURES.to_string(),
        "minimum_edition": Edition::Proto2.number(),
        "maximum_edition": Edition::NEWEST.number(),
    });
    match (error, report) {
        (Some(error), _) => response["error"] = error.trim_end().into(),
        (None, Some(report)) => response["file"] = json!([report]),
        (None, None) => {}
    }
    ProtocAnswer { response: messages.serialise(RESPONSE, &response), warnings }
}

/// The findings of a run, as lines.
#[derive(Default)]
struct JudgedFiles {
    /// The reason why the run fails.
    error: Option<String>,
    warnings: Vec<String>,
    /// The report, as a file that protoc writes.
    report: Option<Value>,
}

/// The options in the parameter, `--abide_opt=KEY=VALUE`.
struct ProtocOptions {
    terms: PluginOptions,
    /// The old tree.
    against: Option<String>,
    /// The name of a report to write.
    report: Option<String>,
    /// The format of that report.
    format: &'static ReportFormat,
    /// True if findings at error level fail the run.
    fails: bool,
}

impl ProtocOptions {
    fn parse(parameter: &str) -> Result<ProtocOptions, Error> {
        let mut options = ProtocOptions {
            terms: PluginOptions::default(),
            against: None,
            report: None,
            format: format("json")?,
            fails: true,
        };
        for option in parameter.split(',').filter(|it| !it.is_empty()) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            match (key, value) {
                (_, "") => return Err(Error::Usage(format!("the option `{key}` needs a value"))),
                ("against", _) => options.against = Some(value.to_owned()),
                ("report", _) => options.report = Some(value.to_owned()),
                ("format", _) => options.format = format(value)?,
                ("fail", "error") => options.fails = true,
                ("fail", "never") => options.fails = false,
                ("fail", _) => {
                    return Err(Error::Usage(format!("`{option}`: pass `error` or `never`")));
                }
                _ => options.terms.set(key, value).ok_or_else(|| {
                    Error::Usage(format!(
                        "unknown option `{key}`; the options are `against`, `report`, `format`, \
                         `fail`, {}",
                        PluginOptions::NAMES
                    ))
                })?,
            }
        }
        Ok(options)
    }
}

fn format(name: &str) -> Result<&'static ReportFormat, Error> {
    REPORTS.iter().find(|it| it.name == name).ok_or_else(|| {
        let names: Vec<&str> = REPORTS.iter().map(|it| it.name).collect();
        Error::Usage(format!("unknown format `{name}`; the formats are `{}`", names.join("`, `")))
    })
}

/// Judges the files to generate, and nothing else: what they import was judged with its own target.
fn check_files(tree: &Tree, request: &Message) -> Result<JudgedFiles, Error> {
    let options = ProtocOptions::parse(request.get_str(tree, "parameter").unwrap_or_default())?;
    let terms = PluginPolicy::read(&options.terms)?;
    let files = collect_files(tree, request).map_err(Error::Usage)?;
    let judged: BTreeSet<Arc<str>> =
        files.iter().filter(|it| !it.imported).map(|it| Arc::clone(&it.path)).collect();
    let new = Tree::link(files);
    let old =
        options.against.as_deref().map(|spec| load_old_tree(spec, &new, &judged)).transpose()?;
    let old = old.as_ref();
    let report = terms.check(&new, old, RuleScope::Everything);
    let context = terms.render_context(&new, old);

    let errors = format_lines(&report, Severity::Error, &context);
    let mut warnings = format_lines(&report, Severity::Warning, &context);
    if !options.fails {
        warnings.splice(0..0, errors.iter().cloned());
    }
    let fails = options.fails && !errors.is_empty();
    Ok(JudgedFiles {
        error: fails.then(|| format!("{}\n{}", count_errors(&report), errors.join("\n"))),
        warnings,
        report: options.report.map(|name| {
            let text = (options.format.write)(&report, &context);
            json!({"name": name, "content": String::from_utf8_lossy(&text)})
        }),
    })
}

fn count_errors(report: &Report) -> String {
    abide_lint::pluralize(report.errors, "error")
}

/// The findings with a severity, a line for each.
fn format_lines(report: &Report, severity: Severity, context: &RenderContext<'_>) -> Vec<String> {
    let findings = report.findings.iter().filter(|finding| finding.severity == severity);
    findings.map(|finding| format_line(finding, context)).collect()
}

/// A finding as compilers write it.
fn format_line(finding: &Finding, context: &RenderContext<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => "",
        severity => &format!("{}: ", severity.word()),
    };
    let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let text = format!("{level}{}{help} [{}]", finding.message, finding.rule).replace('\n', " ");
    format!("{}: {text}", context.format_place(&finding.location))
}

/// All files of a request; those that are not to be generated count as imported.
fn collect_files(tree: &Tree, request: &Message) -> Result<Vec<Arc<FileDecl>>, String> {
    let wanted: BTreeSet<&[u8]> = get_texts(tree, request, "file_to_generate").collect();
    // These alone have the options that generated code has no use for.
    let mut in_full: HashMap<Arc<str>, FileDecl> =
        read_files(tree, request, "source_file_descriptors")?
            .into_iter()
            .map(|file| (Arc::clone(&file.path), file))
            .collect();
    let files = read_files(tree, request, "proto_file")?.into_iter().map(|file| {
        let mut file = in_full.remove(&file.path).unwrap_or(file);
        file.imported = !wanted.contains(file.path.as_bytes());
        Arc::new(file)
    });
    Ok(files.collect())
}

/// The texts of a repeated field.
fn get_texts<'m>(
    tree: &'m Tree,
    request: &'m Message,
    field: &'m str,
) -> impl Iterator<Item = &'m [u8]> {
    request.get_all(tree, field).filter_map(|it| it.value.as_bytes())
}

fn read_files(tree: &Tree, request: &Message, field: &str) -> Result<Vec<FileDecl>, String> {
    get_texts(tree, request, field).map(read_file_descriptor).collect()
}

/// The old tree, of which only the files that are judged today are compared: the others belong to
/// other targets.
fn load_old_tree(spec: &str, new: &Tree, judged: &BTreeSet<Arc<str>>) -> Result<Tree, Error> {
    let source = Source::open(Some(spec), &SourceOptions::new(Path::new("")))?;
    let loaded = load(&source, &Progress::new(true))?;
    let files = loaded.tree.files().map(|file| {
        let mut decl = FileDecl::clone(file.shared_decl());
        decl.imported |= !judged.contains(&decl.path);
        Arc::new(decl)
    });
    Ok(Tree::link_beside(files.collect(), new))
}
