//! `abide config`.

mod translation;

use std::path::Path;

use abide_instance::{Dialect, Notation};
use abide_lint::{OLDER_MAJOR_USED, OVERRIDE_USED, Severity, pluralize, usable_deprecations};
use abide_source::{LoadedTree, Progress, load};

use self::translation::{ConvertDirection, convert_files};
use super::instance_files::read_named_files;
use super::instances::{Api, InstanceSubject, Instances, RuntimeLayers, collect_configured};
use super::outcome::CommandOutcome;
use super::preconditions::read_errors;
use super::selection::FindingSelection;
use crate::args::{
    ConfigArgs, ConfigCheckArgs, ConfigCommand, ConfigDeprecationsArgs, Global, TreeArgs,
};
use crate::error::Error;
use crate::render::{RenderContext, Style};
use crate::settings::{Settings, today};
use crate::terminal::{eprint_line, report_style, style, use_error_color};

pub(super) fn config(global: &Global, args: &ConfigArgs) -> Result<CommandOutcome, Error> {
    match &args.command {
        ConfigCommand::Check(args) => check(global, args),
        ConfigCommand::Upgrade(args) => convert_files(global, args, ConvertDirection::Up),
        ConfigCommand::Downgrade(args) => convert_files(global, args, ConvertDirection::Down),
        ConfigCommand::Deprecations(args) => list_deprecations(global, args),
        ConfigCommand::Diff(args) => super::instance_diff::config_diff(global, args),
    }
}

fn check(global: &Global, args: &ConfigCheckArgs) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.api.as_deref(), use_error_color(global))?;
    let selection = FindingSelection::from_args(&settings.config.policy, &args.show, args.format)?;
    let progress = Progress::new(global.quiet);
    let subjects = collect_subjects(global, args, &settings)?;
    check_output_path(global, args)?;
    let runtime = RuntimeLayers::read_subject(&args.runtime, args.disk_root.clone())?;
    let mut instances = Instances::load(&settings, subjects, runtime, &progress)?;
    instances.load_others(&settings, &progress)?;
    if let Some(path) = &args.at {
        instances.report_missing_path(global, path)?;
    }
    let texts = instances.texts();
    progress.begin_step(format!("judging {} files", texts.len()));
    let mut report = instances.judge(&settings, global.as_of.unwrap_or_else(today), None);
    if args.deny_overrides {
        report.reweigh(OVERRIDE_USED, "by `--deny-overrides`", |_| Severity::Error);
    }
    if args.allow_previous_major {
        let reason = "by `--allow-previous-major`";
        report.reweigh(OLDER_MAJOR_USED, reason, |it| it.min(Severity::Warning));
    }
    selection.select(&mut report);
    let failed = report.errors > 0;
    let Some(api) = instances.apis().next() else {
        return Err(Error::Usage("there is nothing to check".to_owned()));
    };
    let style = Style {
        shows_exempted: selection.shows_waived,
        ..report_style(global, args.format.is_styled, args.show.limit)
    };
    let context = RenderContext {
        config: settings.file.as_ref(),
        instances: &texts,
        are_only_instances: true,
        ..RenderContext::of_trees(&api.tree, None, style)
    };
    let (text, hidden) = match selection.count_by_rule(&report) {
        Some(counts) => (counts, None),
        None => {
            let hidden = context.limit(&mut report, args.show.limit);
            ((args.format.write)(&report, &context), hidden)
        }
    };
    progress.finish();
    if global.verbose {
        instances.report_recognised_types();
    }
    if !global.quiet {
        instances.report_missing_layers();
    }
    instances.apis().filter(|_| !global.quiet).for_each(print_api_notes);
    for note in hidden.iter().filter(|_| !global.quiet) {
        eprint_line(&format!("note: {note}"));
    }
    Ok(CommandOutcome {
        failed,
        troubles: instances.apis().flat_map(read_errors).collect(),
        ..CommandOutcome::of(text)
    })
}

/// Prints notes about an API that instances are judged by.
fn print_api_notes(loaded: &LoadedTree) {
    // An instance is judged by the part of the API that links.
    let broken = loaded.tree.problems().iter().filter(|it| it.kind.is_error()).count();
    if broken > 0 {
        eprint_line(&format!(
            "note: the API does not link everywhere, so some types may not be known: `abide \
                 lint` shows the {}",
            pluralize(broken, "error")
        ));
    }
    for note in &loaded.notes {
        eprint_line(&format!("note: {note}"));
    }
}

/// The files that are judged, and by what.
fn collect_subjects(
    global: &Global,
    args: &ConfigCheckArgs,
    settings: &Settings,
) -> Result<Vec<InstanceSubject>, Error> {
    let reader = args.reader.as_deref().and_then(Dialect::from_name);
    let apis = match (&args.api, args.releases.as_slice()) {
        (Some(source), _) => vec![Api {
            name: source.clone(),
            source: Some(source.clone()),
            import_path: args.import_path.clone(),
            reader,
        }],
        (None, []) => Vec::new(),
        (None, names) => names
            .iter()
            .map(|name: &String| Api::named(settings, name))
            .collect::<Result<_, _>>()?,
    };
    if args.files.is_empty() {
        if settings.config.instances.is_empty() {
            let message = "nothing to check: name FILE, or set `[[instances]]` in abide.toml";
            return Err(Error::Usage(message.to_owned()));
        }
        let subjects = collect_configured(settings, &apis)?;
        subjects.iter().try_for_each(|it| it.check_report_path(global, settings))?;
        return Ok(subjects);
    }
    let notation = args.notation.as_deref().and_then(Notation::from_name);
    let files = read_named_files(&args.files, notation)?;
    let mut apis = match apis.is_empty() {
        true => vec![Api::default(settings)?],
        false => apis,
    };
    for api in apis.iter_mut().filter(|_| args.api.is_none()) {
        api.import_path.extend(args.import_path.iter().cloned());
    }
    for api in &mut apis {
        api.reader = reader.or(api.reader);
    }
    let (ty, at) = (args.ty.clone(), args.at.clone());
    Ok(vec![InstanceSubject { files, ty, at, apis, changed: None, is_of_tree: false }])
}

/// Refuses to write the report over what it is about.
fn check_output_path(global: &Global, args: &ConfigCheckArgs) -> Result<(), Error> {
    let Some(output) = global.output.as_deref().and_then(|it| it.canonicalize().ok()) else {
        return Ok(());
    };
    match args.files.iter().find(|name: &&String| {
        Path::new(name).canonicalize().is_ok_and(|it| output.starts_with(it))
    }) {
        None => Ok(()),
        Some(name) => Err(Error::Usage(format!(
            "`--output` would overwrite `{}`, and `{name}` is checked",
            output.display()
        ))),
    }
}

fn list_deprecations(
    global: &Global,
    args: &ConfigDeprecationsArgs,
) -> Result<CommandOutcome, Error> {
    let settings = Settings::read(global, args.api.as_deref(), use_error_color(global))?;
    let api = match &args.api {
        Some(_) => TreeArgs { source: args.api.clone(), import_path: args.import_path.clone() },
        None => {
            let api = Api::default(&settings)?;
            TreeArgs { source: api.source, import_path: api.import_path }
        }
    };
    let progress = Progress::new(global.quiet);
    let loaded = load(&settings.open_source(&api)?, &progress)?;
    let list = usable_deprecations(&loaded.tree);
    progress.finish();
    let text = (args.format.write)(&list, style(global, args.format.is_styled));
    Ok(CommandOutcome { troubles: read_errors(&loaded), ..CommandOutcome::of(text) })
}
