//! The plugin of protoc.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use abide_lint::{Finding, Report, RuleScope, Severity};
use abide_schema::value::Message;
use abide_schema::{Edition, FileDecl, Tree};
use serde_json::{Value, json};

use super::messages::Messages;
use super::terms::{TermOptions, Terms, declarations};
use crate::error::Error;
use crate::load::load;
use crate::progress::Progress;
use crate::render::{REPORTS, ReportFormat, Scene};
use crate::source::{Source, SourceOptions};

const REQUEST: &str = "google.protobuf.compiler.CodeGeneratorRequest";
const RESPONSE: &str = "google.protobuf.compiler.CodeGeneratorResponse";

/// `FEATURE_PROTO3_OPTIONAL` and `FEATURE_SUPPORTS_EDITIONS`.
const FEATURES: u64 = 1 | 2;

/// The result of a run, for protoc and for people.
pub(super) struct Answer {
    /// The serialised response.
    pub(super) response: Vec<u8>,
    /// Findings that do not fail the run, a line for each.
    pub(super) warnings: Vec<String>,
}

/// Answers a serialised request. Whatever is wrong is in the response: protoc shows it and fails.
pub(super) fn run(input: &[u8]) -> Answer {
    let messages = Messages::new();
    let judged = messages
        .decode(REQUEST, input)
        .and_then(|request| judge(messages.tree(), &request).map_err(|error| error.to_string()));
    let Judged { error, warnings, report } =
        judged.unwrap_or_else(|error| Judged { error: Some(error), ..Judged::default() });
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
    Answer { response: messages.serialise(RESPONSE, &response), warnings }
}

/// The findings of a run, as lines.
#[derive(Default)]
struct Judged {
    /// The reason why the run fails.
    error: Option<String>,
    warnings: Vec<String>,
    /// The report, as a file that protoc writes.
    report: Option<Value>,
}

/// The options in the parameter, `--abide_opt=KEY=VALUE`.
struct ProtocOptions {
    terms: TermOptions,
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
            terms: TermOptions::default(),
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
                        TermOptions::NAMES
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
fn judge(tree: &Tree, request: &Message) -> Result<Judged, Error> {
    let options = ProtocOptions::parse(request.str(tree, "parameter").unwrap_or_default())?;
    let terms = Terms::read(&options.terms)?;
    let files = files(tree, request).map_err(Error::Usage)?;
    let judged: BTreeSet<Arc<str>> =
        files.iter().filter(|it| !it.imported).map(|it| Arc::clone(&it.path)).collect();
    let new = Tree::link(files);
    let old = options.against.as_deref().map(|spec| old_tree(spec, &new, &judged)).transpose()?;
    let old = old.as_ref();
    let report = terms.judge(&new, old, RuleScope::Everything);
    let scene = terms.scene(&new, old);

    let errors = lines_at(&report, Severity::Error, &scene);
    let mut warnings = lines_at(&report, Severity::Warning, &scene);
    if !options.fails {
        warnings.splice(0..0, errors.iter().cloned());
    }
    let fails = options.fails && !errors.is_empty();
    Ok(Judged {
        error: fails.then(|| format!("{}\n{}", counted(&report), errors.join("\n"))),
        warnings,
        report: options.report.map(|name| {
            let text = (options.format.write)(&report, &scene);
            json!({"name": name, "content": String::from_utf8_lossy(&text)})
        }),
    })
}

fn counted(report: &Report) -> String {
    abide_lint::counted(report.errors, "error")
}

/// The findings with a severity, a line for each.
fn lines_at(report: &Report, severity: Severity, scene: &Scene<'_>) -> Vec<String> {
    let findings = report.findings.iter().filter(|finding| finding.severity == severity);
    findings.map(|finding| line(finding, scene)).collect()
}

/// A finding as compilers write it.
fn line(finding: &Finding, scene: &Scene<'_>) -> String {
    let level = match finding.severity {
        Severity::Error => "",
        severity => &format!("{}: ", severity.word()),
    };
    let help = finding.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    let text = format!("{level}{}{help} [{}]", finding.message, finding.rule).replace('\n', " ");
    format!("{}: {text}", scene.place(&finding.location))
}

/// All files of a request; those that are not to be generated count as imported.
fn files(tree: &Tree, request: &Message) -> Result<Vec<Arc<FileDecl>>, String> {
    let wanted: BTreeSet<&[u8]> = texts_of(tree, request, "file_to_generate").collect();
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
fn texts_of<'m>(
    tree: &'m Tree,
    request: &'m Message,
    field: &'m str,
) -> impl Iterator<Item = &'m [u8]> {
    request.get_all(tree, field).filter_map(|it| it.value.as_bytes())
}

fn read_files(tree: &Tree, request: &Message, field: &str) -> Result<Vec<FileDecl>, String> {
    texts_of(tree, request, field).map(declarations).collect()
}

/// The old tree, of which only the files that are judged today are compared: the others belong to
/// other targets.
fn old_tree(spec: &str, new: &Tree, judged: &BTreeSet<Arc<str>>) -> Result<Tree, Error> {
    let source = Source::open(Some(spec), &SourceOptions::new(Path::new("")))?;
    let loaded = load(&source, &Progress::new(true))?;
    let files = loaded.tree.files().map(|file| {
        let mut decl = FileDecl::clone(file.shared_decl());
        decl.imported |= !judged.contains(&decl.path);
        Arc::new(decl)
    });
    Ok(Tree::link_beside(files.collect(), new))
}
