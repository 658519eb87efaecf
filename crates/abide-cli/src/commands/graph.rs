//! `abide graph`.

use std::path::Path;

use abide_lint::{Check, GraphView, Rule, Severity};
use abide_source::{Progress, load};

use super::outcome::CommandOutcome;
use super::preconditions::{read_errors, render_findings};
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::render::{GRAPHS, GraphFormat};
use crate::settings::{Settings, today};
use crate::terminal::{eprint_block, eprint_line, use_error_color};

pub(super) fn graph(
    global: &Global,
    tree: &TreeArgs,
    format: Option<&'static GraphFormat>,
    imports: bool,
) -> Result<CommandOutcome, Error> {
    let format = match format {
        Some(format) => format,
        None => format_of(global.output.as_deref())?,
    };
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, tree.source.as_deref(), use_error_color(global))?;
    let loaded = load(&settings.open_source(tree)?, &progress)?;
    progress.begin_step("judging");
    let as_of = global.as_of.unwrap_or_else(today);
    let options = abide_lint::Options::on(as_of);
    let judged = abide_lint::check(&loaded.tree, &settings.config.policy, options);
    progress.finish();
    let mut errors = judged.clone();
    errors.retain(|finding| {
        finding.severity == Severity::Error
            && abide_lint::find_rule(finding.rule)
                .is_some_and(|rule: &Rule| matches!(rule.check, Check::Linker))
    });
    if errors.errors > 0 {
        eprint_block(&render_findings(global, &loaded.tree, &errors));
        eprint_line("note: the tree is not valid, so the graph may be incomplete");
    }
    for note in loaded.notes.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    let view = GraphView { imported: imports, findings: &judged.findings };
    let text = (format.write)(view, &loaded.tree.build_graph());
    let failed = errors.errors > 0;
    Ok(CommandOutcome { failed, troubles: read_errors(&loaded), ..CommandOutcome::of(text) })
}

/// The format that the name of the output asks for; the first one if it has no extension.
fn format_of(output: Option<&Path>) -> Result<&'static GraphFormat, Error> {
    let Some(extension) = output.and_then(Path::extension) else { return Ok(&GRAPHS[0]) };
    let extension = extension.to_string_lossy();
    let name = match &*extension {
        "gv" => "dot",
        "mmd" => "mermaid",
        "htm" => "html",
        name => name,
    };
    GRAPHS.iter().find(|it| it.name == name).ok_or_else(|| {
        let known: Vec<&str> = GRAPHS.iter().map(|it| it.name).collect();
        Error::Usage(format!(
            "a graph has no format `{extension}`: choose one of `{}` by the end of the name or \
             `--format`",
            known.join("`, `")
        ))
    })
}
