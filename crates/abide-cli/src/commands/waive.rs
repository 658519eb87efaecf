//! `abide waive`.

use std::path::PathBuf;

use abide_lint::{Finding, Report, backtick, is_waivable, pluralize, waive_in_comment};
use abide_schema::Tree;
use abide_source::printable::escape_unprintable;
use abide_source::write::FileStep;
use abide_source::{CONFIG, load_changed};
use abide_upgrade::{Edit, FileRole, FileRoles, apply};

use super::check::read_settings;
use super::explain::find_rules;
use super::file_changes::{convert_write_error, expect_folder, open_folder};
use super::folder_lock::lock_exclusively;
use super::outcome::CommandOutcome;
use super::session::{CheckAction, CheckInputs, CheckMode, CheckRequest};
use crate::args::{Global, JudgeArgs, WaiveArgs};
use crate::diff::render_unified;
use crate::error::Error;
use crate::terminal::eprint_line;

/// The number of findings that are listed where several may be meant.
const LISTED: usize = 10;

/// A file with a waiver in it.
struct WaivedFile {
    /// The folder that its path counts from.
    folder: PathBuf,
    path: String,
    /// Its path in patches.
    shown: String,
    old: Vec<u8>,
    new: Vec<u8>,
}

pub(super) fn waive(global: &Global, args: &WaiveArgs) -> Result<CommandOutcome, Error> {
    let reason = args.reason.trim();
    if reason.is_empty() || reason.contains(char::is_control) {
        return Err(Error::Usage("`--reason` needs a reason of one line".to_owned()));
    }
    let judge = JudgeArgs::of_configured_tree(&args.import_path);
    let settings = read_settings(global, &judge, &args.compare)?;
    let _guard = match args.target.write {
        true => lock_exclusively(&settings.folder, global)?,
        false => None,
    };
    let what = (CheckMode::Everything, CheckAction::Report);
    let request = CheckRequest::compare(global, &judge, &args.compare, &settings, what);
    let mut inputs = CheckInputs::open(&request)?;
    let report = inputs.judge_enough()?;
    inputs.progress.finish();
    let Some(finding) = find_finding(&inputs, &report, args)? else {
        if !global.quiet {
            eprint_line("note: it is waived or accepted already");
        }
        return Ok(CommandOutcome::nothing(false));
    };
    if !is_waivable(finding) {
        return Err(Error::Usage(format!(
            "{} cannot be waived: mend what it reports",
            backtick(finding.rule)
        )));
    }
    if args.target.check {
        let place = describe_place(&inputs.trees.loaded.tree, finding);
        let text = format!("{place}: {} is not waived\n", finding.rule);
        return Ok(CommandOutcome { failed: true, ..CommandOutcome::of(text) });
    }
    let waived = match write_comment(&mut inputs, finding, args)? {
        Some(file) => file,
        None => write_table(&inputs, finding, args)?,
    };
    if args.target.diff {
        let patch = render_unified(&waived.shown, Some(&waived.old), Some(&waived.new));
        return Ok(CommandOutcome::verbatim(patch));
    }
    let folder = open_folder(&waived.folder)?;
    let path = waived.path.as_ref();
    let step = FileStep { path, old: Some(&waived.old), new: Some(&waived.new) };
    folder.apply(&[step]).map_err(|why| convert_write_error(&folder, why))?;
    if !global.quiet {
        let path = escape_unprintable(&waived.path);
        eprint_line(&format!("note: {} is waived in `{path}`", finding.rule));
        if finding.change.is_some() {
            eprint_line("next: commit the waiver with the change; remove it once that is released");
        }
    }
    Ok(CommandOutcome::nothing(false))
}

/// Finds the finding that is meant; `None` if it is under an exception already.
fn find_finding<'r>(
    inputs: &CheckInputs<'_>,
    report: &'r Report,
    args: &WaiveArgs,
) -> Result<Option<&'r Finding>, Error> {
    let tree = &inputs.trees.loaded.tree;
    let wanted = &args.finding;
    let is_print = |it: &Finding| it.fingerprint() == *wanted;
    let mut all = report.findings.iter().chain(&report.exempted);
    let is_fingerprint = all.any(is_print);
    let looks_like_one = wanted.len() == 16 && wanted.bytes().all(|it| it.is_ascii_hexdigit());
    if looks_like_one && !is_fingerprint {
        return Err(Error::Usage(format!(
            "no finding has the fingerprint {}{}: `abide check -v` shows fingerprints",
            backtick(wanted),
            describe_comparison(inputs)
        )));
    }
    let rules = match is_fingerprint {
        true => Vec::new(),
        false => find_rules(&inputs.request.settings.config.policy, wanted)?,
    };
    let is_meant = |it: &&Finding| {
        let is_named =
            if is_fingerprint { is_print(it) } else { rules.iter().any(|r| r.id == it.rule) };
        is_named && args.at.as_ref().is_none_or(|at| is_at(tree, it, at))
    };
    let found: Vec<&Finding> = report.findings.iter().filter(is_meant).collect();
    match found.as_slice() {
        [one] => Ok(Some(one)),
        [] if report.exempted.iter().any(|it| is_meant(&it)) => Ok(None),
        [] => {
            let at = args.at.as_ref().map(|it| format!(" at {}", backtick(it))).unwrap_or_default();
            Err(Error::Usage(format!(
                "{} reports nothing{at}{}",
                backtick(wanted),
                describe_comparison(inputs)
            )))
        }
        several => Err(Error::Usage(describe_several(tree, several))),
    }
}

/// Says that nothing was compared, if so: findings about changes are missing then.
fn describe_comparison(inputs: &CheckInputs<'_>) -> &'static str {
    match inputs.request.against {
        Some(_) => "",
        None => ", compared with no old tree (`--against SOURCE` names one)",
    }
}

/// Returns true if a finding is at an element, at a file, or at a line of one.
fn is_at(tree: &Tree, finding: &Finding, at: &str) -> bool {
    let element = finding.element.as_str();
    if element == at || element.strip_suffix(at).is_some_and(|it| it.ends_with('.')) {
        return true;
    }
    let Some(place) = finding.location.place() else { return false };
    let decl = tree.file(place.file).decl();
    let is_path = |it: &str| {
        [&*decl.display, &*decl.path]
            .iter()
            .any(|path| *path == it || path.strip_suffix(it).is_some_and(|it| it.ends_with('/')))
    };
    let line = decl.line_range(place.span).map(|it| it.0.line.to_string());
    is_path(at)
        || at.rsplit_once(':').is_some_and(|(path, l)| is_path(path) && line.as_deref() == Some(l))
}

fn describe_several(tree: &Tree, findings: &[&Finding]) -> String {
    let lines = findings.iter().take(LISTED).map(|it| {
        let place = describe_place(tree, it);
        format!("\n  {}  {place}: {}", it.fingerprint(), it.message)
    });
    let lines: String = lines.collect();
    let more = match findings.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    let count = pluralize(findings.len(), "finding");
    format!(
        "{count} may be meant: name one by its fingerprint, element, FILE or FILE:LINE{lines}{more}"
    )
}

fn describe_place(tree: &Tree, finding: &Finding) -> String {
    let Some(place) = finding.location.place() else { return finding.element.clone() };
    let decl = tree.file(place.file).decl();
    let line = decl.line_range(place.span).map(|it| format!(":{}", it.0.line));
    format!("{}{}", decl.display, line.unwrap_or_default())
}

/// Writes the waiver as a comment; `None` where no comment covers the finding.
fn write_comment(
    inputs: &mut CheckInputs<'_>,
    finding: &Finding,
    args: &WaiveArgs,
) -> Result<Option<WaivedFile>, Error> {
    let Some(place) = finding.location.place() else { return Ok(None) };
    let settings = inputs.request.settings;
    let tree = &inputs.trees.loaded.tree;
    let file = tree.file(place.file);
    let roles = FileRoles::from_tree(tree, &settings.config.policy.upgrade);
    if !file.is_judged() || roles.get(file) == FileRole::Candidate {
        return Ok(None);
    }
    let fix = waive_in_comment(file, finding, args.until, args.reason.trim());
    let old = file.decl().source_text().map(<[u8]>::to_vec);
    let (Some(fix), Some(old)) = (fix, old) else { return Ok(None) };
    let edits = fix.edits.into_iter().map(|it| Edit::replace(it.location.span, it.text));
    let Ok(new) = apply(&old, edits.collect()) else { return Ok(None) };
    let path = file.decl().display.to_string();
    let changed = [(path.as_str(), Some(new.as_slice()))].into_iter();
    inputs.trees.loaded = load_changed(&inputs.sources.new, tree, changed, &inputs.progress)?;
    let waived = inputs.judge();
    inputs.progress.finish();
    if waived.findings.iter().any(|it| it.fingerprint() == finding.fingerprint()) {
        return Ok(None);
    }
    let folder = expect_folder(inputs.sources.new.folder())?.to_owned();
    let shown = format!("{}{path}", settings.prefix(&inputs.request.judge.tree));
    Ok(Some(WaivedFile { folder, path, shown, old, new }))
}

/// Writes the waiver as a table of `abide.toml`, for this finding alone.
fn write_table(
    inputs: &CheckInputs<'_>,
    finding: &Finding,
    args: &WaiveArgs,
) -> Result<WaivedFile, Error> {
    let settings = inputs.request.settings;
    let Some(file) = &settings.file else {
        return Err(Error::Usage(format!(
            "no comment covers the finding, and there is no {CONFIG} for its waiver: `abide init` \
             writes one"
        )));
    };
    let named = inputs.request.global.config.clone();
    let path = named.unwrap_or_else(|| settings.folder.join(CONFIG));
    let (folder, name) = match (path.parent(), path.file_name().and_then(|it| it.to_str())) {
        (Some(folder), Some(name)) => (folder.to_owned(), name.to_owned()),
        _ => return Err(Error::Usage(format!("{} names no file", backtick(&file.name)))),
    };
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let mut text = file.text.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let quote = |it: &str| format!("\"{}\"", it.replace('\\', "\\\\").replace('"', "\\\""));
    let until = args.until.map(|it| format!("until = \"{it}\"\n")).unwrap_or_default();
    text.push_str(&format!(
        "\n[[waiver]]\nrule = \"{}\"\nfingerprint = \"{}\"\nreason = {}\n{until}",
        finding.rule,
        finding.fingerprint(),
        quote(args.reason.trim())
    ));
    let shown = format!("{}{name}", settings.config_prefix());
    let old = file.text.clone().into_bytes();
    Ok(WaivedFile { folder, path: name, shown, old, new: text.into_bytes() })
}
