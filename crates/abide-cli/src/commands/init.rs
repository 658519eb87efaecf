//! `abide init`.

mod annotations;
mod api_linter;
mod buf;
mod conversion;
mod dependency_search;
mod detect;
mod includes;
mod layout;
mod mentions;
mod policy;
mod protolock;
mod relaxations;
mod rule_names;
mod sibling_configs;
mod yaml;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use abide_lint::{ConfigError, Preset};
use abide_source::write::OpenFolder;
use abide_source::{
    CONFIG, DefaultBranch, LOCK, default_branch, has_long_history, join, read_settings,
};

use super::outcome::CommandOutcome;
use crate::args::Global;
use crate::error::Error;
use crate::render::{TextFile, render_config_errors};
use crate::settings::find_preset;
use crate::terminal::{eprint_line, use_error_color};

pub(super) use annotations::write_annotations;
use buf::{BufConfig, BufModule, DroppedSetting, default_module, read_work_folders};
use dependency_search::NeededDependencies;
use detect::FirstLook;
use policy::ForeignPolicy;
use relaxations::Relaxations;

/// The file in which git is told how to merge others.
const ATTRIBUTES: &str = ".gitattributes";

pub(super) fn init(
    global: &Global,
    dir: Option<&Path>,
    from: Option<&Path>,
    strict: bool,
) -> Result<CommandOutcome, Error> {
    let folder = dir.unwrap_or(Path::new("."));
    let path = folder.join(CONFIG);
    if path.exists() {
        return Err(Error::Usage(format!(
            "`{}` already exists: edit it, or remove it first",
            path.display()
        )));
    }
    // What buf was told holds, unless another policy is asked for.
    let found = ["buf.work.yaml", "buf.yaml"].iter().map(|name| folder.join(name));
    let found = found.into_iter().find(|it| global.preset.is_none() && it.is_file());
    let is_asked = from.is_some();
    if is_asked && global.preset.is_some() {
        let message = "`--from` chooses the preset: leave `--preset` out";
        return Err(Error::Usage(message.to_owned()));
    }
    let from = from.map(Path::to_owned).or(found);
    let mut notes = Vec::new();
    let branch = default_branch(if folder.exists() { folder } else { Path::new(".") });
    let mut next = "`abide check`";
    let text = match from {
        Some(from) => {
            if !is_asked {
                notes.push(format!("took over the settings of {}", from.display()));
            }
            match read_other_tool(&from)? {
                Some(policy) => {
                    let look = FirstLook::examine(global, folder)?;
                    notes.extend(look.describe_choices(&branch));
                    next = look.describe_next_step();
                    render_taken_over(policy, &from, &look, &branch, &mut notes)
                }
                None => convert_buf(global, folder, &from, &branch)?,
            }
        }
        None => {
            let preset = match &global.preset {
                Some(name) => find_preset(name)?,
                None => Preset::default(),
            };
            let look = FirstLook::examine(global, folder)?;
            notes.extend(look.describe_choices(&branch));
            next = look.describe_next_step();
            let draft = render_suggestion(preset, &look, &branch, &Relaxations::default());
            let relaxed = match strict || !look.has_files() {
                true => Relaxations::default(),
                false => look.find_relaxations(global, folder, &draft),
            };
            notes.extend(relaxed.describe());
            render_suggestion(preset, &look, &branch, &relaxed)
        }
    };
    let made = OpenFolder::make(folder).map_err(fail_to("write", &path))?;
    made.replace(CONFIG.as_ref(), text.as_bytes()).map_err(fail_to("write", &path))?;
    let has_driver = !matches!(branch, DefaultBranch::NoRepository)
        && add_merge_driver(&made).map_err(fail_to("write", &folder.join(ATTRIBUTES)))?;
    if !global.quiet {
        notes.iter().for_each(|note| eprint_line(&format!("note: {note}")));
    }
    let mut next = format_next_step(next, &branch);
    if has_long_history(folder) && !folder.join(LOCK).exists() {
        next.push_str(
            "\nthen: `abide bump --write --from-history` records the versions that the commits so far \
             add up to",
        );
    }
    let attributes = match has_driver {
        true => format!(
            "wrote {}: git merges what two branches record in {LOCK}\n",
            folder.join(ATTRIBUTES).display()
        ),
        false => String::new(),
    };
    Ok(CommandOutcome::of(format!("wrote {}\n{attributes}{next}\n", path.display())))
}

/// Has git keep the lines of both sides where two branches record versions, unless the attributes
/// say something about the lock already. Returns true if they changed.
fn add_merge_driver(folder: &OpenFolder) -> std::io::Result<bool> {
    let old = folder.read(ATTRIBUTES.as_ref())?.unwrap_or_default();
    if old.windows(LOCK.len()).any(|it| it == LOCK.as_bytes()) {
        return Ok(false);
    }
    let gap = if old.is_empty() || old.ends_with(b"\n") { "" } else { "\n" };
    let line = format!("{gap}{LOCK} merge=union\n");
    folder.replace(ATTRIBUTES.as_ref(), &[old.as_slice(), line.as_bytes()].concat())?;
    Ok(true)
}

fn format_next_step(next: &str, branch: &DefaultBranch) -> String {
    match branch {
        DefaultBranch::Named(branch) => {
            format!("next: {next} checks the tree and compares it with `{branch}`")
        }
        _ => format!("next: {next} checks the tree"),
    }
}

fn render_suggestion(
    preset: Preset,
    look: &FirstLook,
    branch: &DefaultBranch,
    relaxed: &Relaxations,
) -> String {
    let tree = look.render_toml(preset, branch, relaxed);
    let (rules, overrides) = (relaxed.render_rules(), relaxed.render_overrides());
    format!(
        "# The policy of this proto tree. `abide rules` lists the rules, `abide explain RULE`\n\
         # prints the page of one.\n\
         preset = \"{}\"\n\
         \n\
         {tree}\n\
         # Severities: \"error\", \"warning\", \"note\" or \"off\".\n\
         {rules}{overrides}\n\
         # The days, each year, on which clients and the API are released. The phases of a\n\
         # deprecation are counted in client releases. A new major version may only appear in\n\
         # the weeks before an API release.\n\
         # [calendar]\n\
         # client-releases = [\"03-31\", \"06-30\", \"09-30\", \"12-31\"]\n\
         # api-releases = [\"06-30\"]\n\
         # previous-major-months = 12\n\
         \n\
         # Versions are recorded in abide.lock.\n\
         {}",
        preset.name(),
        look.render_dependencies()
    )
}

/// A text of the settings of another tool.
fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_settings(path)?).map_err(std::io::Error::other)
}

/// The policy that a file of another tool than buf holds; `None` if it is of buf.
fn read_other_tool(from: &Path) -> Result<Option<ForeignPolicy>, Error> {
    let name = from.display().to_string();
    let text = read_text(from)
        .map_err(|error| Error::File { what: format!("cannot read `{name}`"), error })?;
    if let Some(what) = sibling_configs::describe_other_kind(from) {
        return Err(Error::Usage(format!("`{name}` {what}")));
    }
    let policy = protolock::parse_policy(&text)
        .map_or_else(|| api_linter::parse_policy(&text), |it| Ok(Some(it)));
    // What is no YAML is refused with its place as a buf.yaml.
    Ok(policy.unwrap_or_default())
}

/// The text of the `abide.toml` with the policy of another tool.
fn render_taken_over(
    policy: ForeignPolicy,
    from: &Path,
    look: &FirstLook,
    branch: &DefaultBranch,
    notes: &mut Vec<String>,
) -> String {
    let name = from.display();
    notes.extend(policy.notes.iter().map(|note| format!("{name}: {note}")));
    format!(
        "# Converted from {}. `abide rules` lists what Abide can check besides.\n\
         preset = \"{}\"\n\n{}{}{}",
        policy.of,
        policy.preset.name(),
        look.render_toml(policy.preset, branch, &Relaxations::default()),
        policy.tables,
        look.render_dependencies()
    )
}

/// Converts a `buf.yaml` to an `abide.toml` in `folder`.
fn convert_buf(
    global: &Global,
    folder: &Path,
    from: &Path,
    branch: &DefaultBranch,
) -> Result<String, Error> {
    let name = from.display();
    let text = read_text(from).map_err(fail_to("read", from))?;
    let folder = folder.canonicalize().map_err(fail_to("read", folder))?;
    let full = from.canonicalize().map_err(fail_to("read", from))?;
    let home = full.parent().map_or_else(PathBuf::new, Path::to_owned);
    let Some(below) = home.strip_prefix(&folder).ok().and_then(Path::to_str) else {
        return Err(Error::Usage(format!(
            "`{name}` is not below the folder of {CONFIG}: choose a folder that contains it, as in \
             `abide init DIR --from {name}`"
        )));
    };
    let shown = name.to_string();
    let folders =
        read_work_folders(&text).map_err(|errors| config_error(global, errors, &shown, &text))?;
    // By file: what was dropped.
    let mut told: Vec<String> = Vec::new();
    let mut buf = match folders {
        None => parse_buf(global, &text, below, &shown)?,
        Some(folders) => {
            let mut all = BufConfig::default();
            for folder in folders {
                let file = from.with_file_name(&folder).join("buf.yaml");
                let (at, shown) = (join(below, &folder), file.display().to_string());
                match read_text(&file) {
                    Ok(text) => {
                        let one = parse_buf(global, &text, &at, &shown)?;
                        all.modules.extend(one.modules);
                        all.dependencies.extend(one.dependencies);
                        told.extend(render_dropped_notes(&shown, one.notes));
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        all.modules.push(default_module(&at));
                    }
                    Err(error) => return Err(fail_to("read", &file)(error)),
                }
            }
            all
        }
    };
    let whole: Vec<String> = buf.modules.iter().map(|it| it.root.clone()).collect();
    for module in &mut buf.modules {
        includes::exclude_not_included(module, &folder, &whole, &mut told);
        exclude_only_folders(module, &folder, from, &mut told);
    }
    let imports = detect::collect_imports(global, &folder)?;
    let imported = find_imports_of_excluded(&imports, &folder, &buf.modules);
    let roots: Vec<String> = buf.modules.iter().map(|it| it.root.clone()).collect();
    let needed = find_needed(imports, &folder, &roots, &buf.dependencies);
    let text = buf.render_toml(branch, &imported) + &needed.render();
    told.extend(needed.describe().map(|it| format!("note: {it}")));
    told.extend(render_dropped_notes(&shown, buf.notes));
    told.extend(sibling_configs::describe_sibling_configs(from));
    if !global.quiet {
        told.iter().for_each(|note| eprint_line(note));
    }
    Ok(text)
}

/// Finds the dependencies of modules with these roots: those that `deps` names, and what imports
/// need besides.
fn find_needed(
    imports: BTreeSet<String>,
    folder: &Path,
    roots: &[String],
    modules: &[String],
) -> NeededDependencies {
    let is_own = |path: &str| {
        let mut roots = roots.iter().map(|it| if it == "." { "" } else { it });
        roots.any(|root| folder.join(join(root, path)).is_file())
    };
    let missing = imports.into_iter().filter(|it| !is_own(it));
    NeededDependencies::find(folder, roots, missing, modules, &is_own)
}

/// Drops the excludes of a module that are not folders.
fn exclude_only_folders(
    module: &mut BufModule,
    folder: &Path,
    from: &Path,
    told: &mut Vec<String>,
) {
    let name = from.display();
    module.excludes.retain(|it| {
        let is_folder = folder.join(it).is_dir();
        if !is_folder {
            told.push(format!(
                "note: {name}: `{it}` of `excludes` is not a folder, and was dropped"
            ));
        }
        is_folder
    });
}

/// Parses a `buf.yaml` in the folder `base`.
fn parse_buf(global: &Global, text: &str, base: &str, name: &str) -> Result<BufConfig, Error> {
    BufConfig::parse(text, base).map_err(|errors| config_error(global, errors, name, text))
}

/// The error of a file with these errors.
fn config_error(global: &Global, errors: Vec<ConfigError>, name: &str, text: &str) -> Error {
    let file = TextFile { name: name.to_owned(), text: text.to_owned() };
    Error::Config(render_config_errors(&errors, &file, use_error_color(global)))
}

/// The error of what was tried with a file or folder.
fn fail_to(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let what = format!("cannot {verb} `{}`", path.display());
    move |error| Error::File { what, error }
}

/// The roots that imports find files of excluded folders from. As import paths, too, they let files
/// be imported that are not checked.
fn find_imports_of_excluded(
    imports: &BTreeSet<String>,
    folder: &Path,
    modules: &[BufModule],
) -> Vec<String> {
    let modules = modules.iter().filter(|it| !it.excludes.is_empty());
    let importing = modules.filter(|it| is_importing_excluded(it, imports, folder));
    importing.map(|it| it.root.clone()).collect()
}

/// Returns true if one of these imports, counted from a module, is an excluded file of it.
fn is_importing_excluded(module: &BufModule, imports: &BTreeSet<String>, folder: &Path) -> bool {
    let root = if module.root == "." { "" } else { module.root.as_str() };
    imports.iter().map(|import| join(root, import)).any(|path| {
        let mut excludes = module.excludes.iter();
        excludes.any(|it| Path::new(&path).starts_with(it)) && folder.join(&path).is_file()
    })
}

/// Notes about the dropped settings of a file, in the order of its text.
fn render_dropped_notes(file: &str, mut notes: Vec<DroppedSetting>) -> Vec<String> {
    notes.sort_by_key(|it| it.line);
    notes.into_iter().map(|it| format!("note: {file}: line {}: {}", it.line, it.text)).collect()
}
