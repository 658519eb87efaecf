//! The settings of a run: the nearest `abide.toml` upward, and what the command line adds.

mod bases;
mod dependency_mounts;

use std::io;
use std::path::{Component, Path, PathBuf};

use abide_lint::{Accepted, Config, ConfigError, ConfigTexts, Lock, Preset, find_nearest};
use abide_source::{
    ACCEPTED, CONFIG, LOCK, LinkLimits, Source, SourceError, SourceOptions, Timeline, is_committed,
    is_config, is_packed, list_config_paths, list_old_trees, read_limited,
};
use abide_syntax::Span;

use crate::args::{Global, HistoryArgs, JudgeArgs, TreeArgs};
use crate::error::Error;
use crate::render::{TextFile, render_config_errors};
use bases::BaseReading;
use bases::read_with_bases;
pub(crate) use bases::read_with_pinned_bases;

/// The configuration of a run, and where its tree is.
pub(crate) struct Settings {
    /// The configuration, over the defaults of its preset.
    pub(crate) config: Config,
    /// The text of `abide.toml`, if there is one.
    pub(crate) file: Option<TextFile>,
    /// That text, and those that it builds on.
    pub(crate) texts: Option<ConfigTexts>,
    /// The folder of the tree: that of `abide.toml`, else SOURCE, else the current folder.
    pub(crate) folder: PathBuf,
    /// What an archive holds of the settings, if the tree is in one.
    packed: Option<PackedSettings>,
    /// If SOURCE is a part of the tree, or several are: the parts, relative to `folder`. An empty
    /// path is the whole tree.
    focus: Vec<String>,
    /// If SOURCE is a tree of its own, outside the configured one: the folder its paths count from.
    own: Option<PathBuf>,
    /// If SOURCE is one file outside a configured tree: that file, relative to `own`, else to
    /// `folder`.
    alone: Option<String>,
    /// The folders that links may lead into besides the tree.
    links: Vec<PathBuf>,
    /// The current folder of the process.
    current: PathBuf,
    /// Where `abide.toml` was looked for before it was found.
    pub(crate) passed: Vec<PathBuf>,
    /// Whether errors in the configuration are coloured.
    color: bool,
}

impl Settings {
    /// Reads the configuration for a tree. `color` says whether errors in it are coloured.
    pub(crate) fn read(
        global: &Global,
        source: Option<&str>,
        color: bool,
    ) -> Result<Settings, Error> {
        Settings::read_for(global, source, false, color, BaseReading::Pinned)
    }

    /// Reads the configuration for a command that brings or pins what it builds on.
    pub(crate) fn read_unpinned(global: &Global, color: bool) -> Result<Settings, Error> {
        Settings::read_for(global, None, false, color, BaseReading::AsFound)
    }

    /// Reads the configuration for some files and folders of one tree.
    pub(crate) fn read_for_parts(
        global: &Global,
        judge: &JudgeArgs,
        color: bool,
    ) -> Result<Settings, Error> {
        let parts = judge.parts();
        let is_typed = judge.stdin_filepath.is_some();
        let mut settings = Settings::read_for(
            global,
            parts.first().copied(),
            is_typed,
            color,
            BaseReading::Pinned,
        )?;
        if parts.len() > 1 || is_typed {
            settings.focus_on_parts(&parts)?;
        }
        Ok(settings)
    }

    /// Judges only these files and folders of the tree.
    fn focus_on_parts(&mut self, parts: &[&str]) -> Result<(), Error> {
        if self.file.is_none() {
            // They are parts of the current folder, if all of them are below it.
            let paths: Vec<PathBuf> = parts.iter().map(|it| self.current.join(it)).collect();
            let is_below = |path: &PathBuf| find_path_below(&self.current, path).is_some();
            if let (false, [path]) = (paths.iter().all(is_below), &paths[..]) {
                self.folder = path.parent().unwrap_or(&self.current).to_owned();
            } else {
                self.folder.clone_from(&self.current);
            }
            self.own = None;
        }
        self.alone = None;
        let place = |part: &&str| {
            let path = self.current.join(part);
            // Without roots, the folder itself is the only one.
            let below = || {
                let is_part = self.config.roots.is_empty() && (path.is_dir() || is_proto(&path));
                find_path_below(&self.folder, &path).filter(|_| is_part)
            };
            self.focus_on(&path).or_else(below).ok_or_else(|| {
                Error::Usage(format!(
                    "`{part}` is not a `.proto` file or a folder of the tree in `{}`: name parts of \
                     one tree",
                    format_from(&self.folder, &self.current)
                ))
            })
        };
        self.focus = parts.iter().map(place).collect::<Result<_, _>>()?;
        if self.focus.iter().any(String::is_empty) {
            self.focus = vec![String::new()];
        }
        Ok(())
    }

    /// The path of a part in the tree.
    pub(crate) fn find_place(&self, part: &str) -> Option<String> {
        find_path_below(&self.folder, &self.current.join(part))
    }

    fn read_for(
        global: &Global,
        source: Option<&str>,
        is_typed: bool,
        color: bool,
        reading: BaseReading,
    ) -> Result<Settings, Error> {
        let current = std::env::current_dir().map_err(|error| Error::File {
            what: "cannot find the current folder".into(),
            error,
        })?;
        let links: Vec<PathBuf> = global.follow_links.iter().map(|it| current.join(it)).collect();
        let named = source.map(|spec| current.join(spec));
        // A text that is typed may be of a file that is still to be written.
        let is_new = |path: &Path| is_proto(path) && path.parent().is_some_and(Path::is_dir);
        let present = named.filter(|path| path.exists() || is_typed && is_new(path));
        let tree = match &present {
            Some(path) if path.is_dir() => path.clone(),
            Some(path) => path.parent().map_or_else(|| current.clone(), Path::to_owned),
            None => current.clone(),
        };
        let on_disk = present.clone().filter(|path| path.exists());
        // What lies beside a packed tree is no part of it: its folder may be one for temporary files.
        let options = SourceOptions { links: &links, ..SourceOptions::new(&current) };
        let packed = source.filter(|spec| is_packed(spec, &options));
        let tree = if packed.is_some() { current.clone() } else { tree };
        let packed = match packed {
            Some(spec) if global.config.is_none() => PackedSettings::open(spec, &options)?,
            _ => None,
        };
        let mut passed = Vec::new();
        let path = match &global.config {
            Some(path) => Some(current.join(path)),
            None if packed.is_some() => None,
            // With `..` in it, the ancestors of a path would lead down again.
            None => {
                let tree = tree.canonicalize().unwrap_or_else(|_| tree.clone());
                passed.extend(list_config_paths(&tree));
                let found = passed.iter().position(|path| is_config(path));
                found.map(|at| passed.drain(at..).next()).unwrap_or_default()
            }
        };
        let preset = global.preset.as_deref().map(find_preset).transpose()?;
        if let Some(file) = packed.as_ref().and_then(|it| it.config.clone()) {
            let config = parse_config(&file, preset, color)?;
            let mut settings = Settings {
                config: restrict_to_archive(config)?,
                file: Some(file),
                texts: None,
                folder: current.clone(),
                packed,
                focus: Vec::new(),
                own: None,
                alone: None,
                links,
                current,
                passed,
                color,
            };
            settings.set_roots(&global.root)?;
            return Ok(settings);
        }
        let Some(path) = path else {
            let config = Config::of_preset(preset.unwrap_or_default());
            // What lies below a root of the current folder is a part of the tree there.
            let rooted = present.as_ref().and_then(|path| {
                let is_below =
                    |root: &PathBuf| find_path_below(&current.join(root), path).is_some();
                let place =
                    find_path_below(&current, path).filter(|_| global.root.iter().any(is_below));
                place.filter(|_| path.is_dir() || is_proto(path))
            });
            let alone = || on_disk.as_ref().and_then(|path| find_single_file(&current, path));
            let (folder, alone) = match rooted.is_none().then(alone).flatten() {
                Some((folder, file)) => (folder, Some(file)),
                None if rooted.is_some() => (current.clone(), None),
                None => (tree, None),
            };
            let mut settings = Settings {
                config,
                file: None,
                texts: None,
                folder,
                packed,
                focus: rooted.into_iter().collect(),
                own: None,
                alone,
                links,
                current,
                passed,
                color,
            };
            settings.set_roots(&global.root)?;
            return Ok(settings);
        };
        // What the user names is read wherever it leads; what lies in the tree is not.
        let reach = match (&global.config, path.parent()) {
            (None, Some(folder)) => Some(LinkLimits::around(folder, &links)),
            _ => None,
        };
        let text = read_text(&path, &format_from(&path, &current), reach.as_ref())?;
        let file = TextFile { name: format_from(&path, &current), text };
        let folder = path.parent().map_or_else(|| current.clone(), Path::to_owned);
        let reach = LinkLimits::around(&folder, &links);
        let (config, texts) = read_with_bases(&file, &folder, &reach, preset, reading, color)?;
        // Findings are the same whatever the current folder is.
        let file = TextFile { name: CONFIG.to_owned(), ..file };
        let mut settings = Settings {
            config,
            file: Some(file),
            texts: Some(texts),
            folder,
            packed: None,
            focus: Vec::new(),
            own: None,
            alone: None,
            links,
            current,
            passed,
            color,
        };
        settings.set_roots(&global.root)?;
        settings.focus = on_disk.iter().filter_map(|path| settings.focus_on(path)).collect();
        if let Some(path) = on_disk.filter(|_| settings.focus.is_empty()) {
            (settings.own, settings.alone) = match find_single_file(&settings.current, &path) {
                Some((folder, file)) => (Some(folder), Some(file)),
                None => (path.is_dir().then_some(path), None),
            };
        }
        Ok(settings)
    }

    /// The place of a folder or file in the configured tree, if it belongs to that tree.
    fn focus_on(&self, path: &Path) -> Option<String> {
        if !path.is_dir() && !is_proto(path) {
            return None;
        }
        let top = self.folder.canonicalize().ok()?;
        let path = canonicalize_file(path)?;
        let focus = path.strip_prefix(&top).ok()?;
        let under = |folders: &[String], both: bool| {
            let there = folders.iter().filter_map(|folder| top.join(folder).canonicalize().ok());
            there.into_iter().any(|it| path.starts_with(&it) || both && it.starts_with(&path))
        };
        // A folder beside the roots is a tree of its own. Without roots, every folder is.
        let inside = focus.as_os_str().is_empty()
            || under(&self.config.roots, true) && !under(&self.config.import_paths, false);
        inside.then(|| format_with_slashes(focus))?
    }

    /// Opens the tree that is judged.
    pub(crate) fn open_source(&self, tree: &TreeArgs) -> Result<Source, Error> {
        if tree.source.is_none() || !self.focus.is_empty() {
            self.check_roots()?;
        }
        let named = self.resolve_named_imports(&tree.import_path);
        self.check_import_paths(&named)?;
        let import_paths = |base: &Path| self.import_paths(base, &tree.import_path, None);
        self.open(tree.source.as_deref(), import_paths, &named, &self.focus, None)
    }

    /// The folders of `-I`, in full.
    fn resolve_named_imports(&self, import_paths: &[String]) -> Vec<PathBuf> {
        import_paths.iter().map(|it| self.current.join(it)).collect()
    }

    /// Reports the import paths of `abide.toml` that lead out of the tree by way of a link.
    fn check_import_paths(&self, named_imports: &[PathBuf]) -> Result<(), Error> {
        let Some(file) = &self.file else { return Ok(()) };
        let reach = LinkLimits::around(&self.folder, &[&self.links, named_imports].concat());
        let named = self.config.import_paths.iter().zip(&self.config.import_path_spans);
        let error = |(path, span): (&String, &Span)| {
            let reason = reach.describe_refusal(&self.folder, path)?;
            let message = format!("the import path `{path}` is not read");
            Some(ConfigError { message, span: *span, help: Some(reason) })
        };
        let errors: Vec<ConfigError> = named.filter_map(error).collect();
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Error::Config(render_config_errors(&errors, file, self.color))),
        }
    }

    /// Refuses a folder or file that a key of `abide.toml` names, if it leads out of the tree by way
    /// of a link.
    pub(crate) fn check_inside(&self, key: &str, path: &str) -> Result<(), Error> {
        match self.links(&self.folder).describe_refusal(&self.folder, path) {
            Some(reason) => {
                Err(Error::Usage(format!("cannot read `{path}`, which `{key}` names: {reason}")))
            }
            None => Ok(()),
        }
    }

    /// Reports the roots of `abide.toml` that are no folders.
    fn check_roots(&self) -> Result<(), Error> {
        let Some(file) = &self.file else { return Ok(()) };
        let roots = self.config.roots.iter().zip(&self.config.root_spans);
        let errors: Vec<ConfigError> =
            roots.filter_map(|(root, span)| self.check_root(root, *span)).collect();
        match errors.is_empty() {
            true => Ok(()),
            false => Err(Error::Config(render_config_errors(&errors, file, self.color))),
        }
    }

    fn check_root(&self, root: &str, span: Span) -> Option<ConfigError> {
        let error =
            |message: String, help: String| Some(ConfigError { message, span, help: Some(help) });
        let is_inside = |it| matches!(it, Component::Normal(_) | Component::CurDir);
        if !Path::new(root).components().all(is_inside) {
            let message = format!("the root `{root}` is not inside the folder of {CONFIG}");
            return error(message, "folders outside can be `import-paths`".to_owned());
        }
        if let Some(reason) = self.links(&self.folder).describe_refusal(&self.folder, root) {
            return error(format!("the root `{root}` is not read"), reason);
        }
        if self.folder.join(root).is_dir() || is_committed(&self.folder, root) {
            return None;
        }
        let folders = list_folders(&self.folder);
        let help = match find_nearest(root, folders.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "create the folder, or remove it from `roots`".to_owned(),
        };
        error(format!("the root `{root}` does not exist"), help)
    }

    /// Makes these folders the roots, if there are any. They count from the current folder.
    fn set_roots(&mut self, roots: &[PathBuf]) -> Result<(), Error> {
        if roots.is_empty() {
            return Ok(());
        }
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let top = full(&self.folder);
        let below = |root: &PathBuf| {
            let path = full(&self.current.join(root));
            path.strip_prefix(&top).ok().and_then(format_with_slashes).ok_or_else(|| {
                let (root, top) = (root.display(), format_from(&self.folder, &self.current));
                Error::Usage(format!("the root `{root}` is not inside the folder `{top}`"))
            })
        };
        self.config.roots = roots.iter().map(below).collect::<Result<_, _>>()?;
        self.config.root_spans.clear();
        Ok(())
    }

    /// Opens the tree to compare with. If only a part of the configured tree is judged, the same
    /// part of the old tree is compared; otherwise all the rest would look removed.
    pub(crate) fn open_baseline(&self, spec: &str, tree: &TreeArgs) -> Result<Source, Error> {
        self.open_old_tree(spec, tree).map_err(|error| self.without_baseline(spec, error))
    }

    /// The same, or `None` and a note if `abide.toml` names it and there is no commit yet: nothing can
    /// break before the first one.
    pub(crate) fn open_baseline_if_any(
        &self,
        spec: &str,
        tree: &TreeArgs,
        notes: &mut Vec<String>,
    ) -> Result<Option<Source>, Error> {
        let is_configured = self.find_key(spec).is_some();
        match self.open_old_tree(spec, tree) {
            Err(Error::Source(SourceError::NoCommitYet { .. })) if is_configured => {
                notes.push(format!("there is no commit yet, so nothing is compared with {spec}"));
                Ok(None)
            }
            source => source.map(Some).map_err(|error| self.without_baseline(spec, error)),
        }
    }

    /// Opens the tree of a commit, as [`open_baseline`](Settings::open_baseline) does; `None` if there is no
    /// commit yet.
    pub(crate) fn open_commit(&self, spec: &str, tree: &TreeArgs) -> Result<Option<Source>, Error> {
        match self.open_old_tree(spec, tree) {
            Err(Error::Source(
                SourceError::UnknownRevision { may_come: true, .. }
                | SourceError::NoCommitYet { .. },
            )) => Ok(None),
            source => source.map(Some),
        }
    }

    fn open_old_tree(&self, spec: &str, tree: &TreeArgs) -> Result<Source, Error> {
        let judged = tree.source.as_deref().and_then(|spec| spec.strip_prefix("git:"));
        if let Some(key) = self.find_key(spec).filter(|_| !spec.starts_with("git:")) {
            self.check_inside(key, spec)?;
        }
        let named = self.resolve_named_imports(&tree.import_path);
        self.check_import_paths(&named)?;
        let copy = self.current.join(spec);
        let import_paths = |base: &Path| self.import_paths(base, &tree.import_path, Some(&copy));
        let source = self.open(Some(spec), import_paths, &named, &[], judged)?;
        let parts: Vec<&String> = self.focus.iter().chain(&self.alone).collect();
        let roots: &[String] = if self.own.is_some() { &[] } else { &self.config.roots };
        Ok(match parts.iter().all(|part| part.is_empty()) {
            false => source.compare_parts(&parts, roots),
            true => source,
        })
    }

    /// Adds to an error what to do while the tree to compare with does not exist yet: before the
    /// first commit, or before the first release.
    fn without_baseline(&self, spec: &str, error: Error) -> Error {
        let Error::Source(
            SourceError::UnknownRevision { may_come: true, .. } | SourceError::NoCommitYet { .. },
        ) = &error
        else {
            return error;
        };
        let way_out = match self.find_key(spec) {
            Some(key) => format!("remove `{key}` from {CONFIG}"),
            None => "run `abide check` or `abide bump` without it".to_owned(),
        };
        Error::Usage(format!("{error}; until it exists, {way_out}"))
    }

    /// The key of `abide.toml` that names an old tree.
    fn find_key(&self, spec: &str) -> Option<&'static str> {
        let Config { against, bump_against, .. } = &self.config;
        if bump_against.as_deref() == Some(spec) {
            return Some("bump-against");
        }
        against.iter().any(|it| it == spec).then_some("against")
    }

    /// Lists the old trees that these sources name, else those of `abide.toml`; the newest last.
    pub(crate) fn list_old_trees(&self, named: &[String]) -> Vec<String> {
        let specs = if named.is_empty() { &self.config.against } else { named };
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        list_old_trees(&specs, self.own.as_ref().unwrap_or(&self.folder))
    }

    /// The last release, as `abide.toml` names it.
    pub(crate) fn find_last_release(&self) -> Option<String> {
        self.config.bump_against.clone().or_else(|| self.list_old_trees(&[]).pop())
    }

    /// Whether only a part of the configured tree is judged.
    pub(crate) fn is_partial(&self) -> bool {
        self.focus.iter().any(|focus| !focus.is_empty())
    }

    /// Whether less than a whole tree is judged, with or without a configuration.
    pub(crate) fn is_part(&self) -> bool {
        self.is_partial() || self.alone.is_some()
    }

    fn open(
        &self,
        spec: Option<&str>,
        import_paths: impl Fn(&Path) -> Vec<String>,
        named_imports: &[PathBuf],
        focus: &[String],
        merge_with: Option<&str>,
    ) -> Result<Source, Error> {
        let git = spec.and_then(|spec| spec.strip_prefix("git:"));
        let configured = spec.is_none() || git.is_some() || !focus.is_empty();
        // Another copy of the configured tree has the same roots.
        let holds_roots =
            |folder: &Path| self.config.roots.iter().all(|root| folder.join(root).is_dir());
        let copy = spec.is_some_and(|spec| holds_roots(&self.current.join(spec)));
        // A revision of SOURCE is one of its own folder, whatever is configured above it.
        let beside = self.own.as_ref().filter(|_| git.is_some());
        // With SUBDIR, the folder of the revision is a tree of its own, unless it is the folder of
        // `abide.toml`.
        let own = git.and_then(abide_source::get_subdir).is_some_and(|subdir| {
            let top = self.folder.ancestors().find(|dir| dir.join(".git").exists());
            top.is_none_or(|top| !is_same_folder(&top.join(subdir), &self.folder))
        });
        let rooted = match beside {
            Some(folder) => !own && holds_roots(folder),
            None if configured => !own,
            None => copy,
        };
        let roots: &[String] = if rooted { &self.config.roots } else { &[] };
        let base = match beside {
            Some(folder) => folder,
            None if configured => &self.folder,
            None => &self.current,
        };
        let import_paths = import_paths(base);
        let mounts = self.mount_dependencies(spec)?;
        let import_prefix = if rooted { &*self.config.import_prefix } else { "" };
        let options = SourceOptions {
            import_paths: &import_paths,
            mounts: &mounts,
            import_prefix,
            roots,
            copied_roots: &self.config.roots,
            merge_with,
            links: &self.links,
            named_imports,
            ..SourceOptions::new(base)
        };
        match (focus, spec) {
            ([], spec) => Ok(Source::open(spec, &options)?),
            ([whole], _) if whole.is_empty() => Ok(Source::open(None, &options)?),
            ([_], Some(spec)) => Ok(Source::open(None, &options)?.judge_only(focus, spec)),
            _ => Ok(Source::open(None, &options)?.judge_only(focus, &focus.join(", "))),
        }
    }

    /// Opens the commits of the tree to show, with the part of it to show if there is one.
    pub(crate) fn open_timeline(
        &self,
        args: &HistoryArgs,
    ) -> Result<(Timeline, Option<String>), Error> {
        let path = args.path.as_deref();
        let gone = path.filter(|path| !self.current.join(path).exists());
        // A folder that no longer exists may have been a part of the configured tree.
        let part = match gone {
            Some(path) if self.file.is_some() => self.find_former_part(path),
            _ if self.own.is_some() => None,
            _ => self.focus.first().or(self.alone.as_ref()).cloned(),
        };
        let own = path.filter(|_| part.is_none() && (gone.is_some() || self.file.is_some()));
        let base = if own.is_some() { &self.current } else { &self.folder };
        let roots: &[String] = if own.is_some() { &[] } else { &self.config.roots };
        self.check_import_paths(&self.resolve_named_imports(&args.import_path))?;
        let import_paths = self.import_paths(base, &args.import_path, None);
        let (import_paths, links) = (&import_paths[..], &self.links[..]);
        let mounts = self.mount_dependencies(None)?;
        let mounts = &mounts[..];
        let options =
            SourceOptions { import_paths, mounts, roots, links, ..SourceOptions::new(base) };
        let timeline = Timeline::open(&options, own, args.since.as_deref())?;
        Ok((timeline, part.filter(|part| !part.is_empty())))
    }

    /// The place that a folder which is not on disk would have in the configured tree.
    fn find_former_part(&self, path: &str) -> Option<String> {
        let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = full(&self.current).join(path);
        let below = format_with_slashes(path.strip_prefix(full(&self.folder)).ok()?)?;
        let names: Vec<&str> = below.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let below = names.join("/");
        let under = |root: &String| Path::new(&below).starts_with(root);
        let inside = self.config.roots.is_empty() || self.config.roots.iter().any(under);
        (inside && !names.contains(&"..")).then_some(below)
    }

    /// The import paths, relative to `base`. Those of `abide.toml` are first looked for in the
    /// other copy of the tree: a folder that is not judged in one is not judged in the other.
    fn import_paths(&self, base: &Path, given: &[String], copy: Option<&Path>) -> Vec<String> {
        let given = given.iter().map(|path| (path, self.current.as_path()));
        let named = self.config.import_paths.iter().map(|path| {
            let copy = copy.filter(|copy| copy.join(path).is_dir());
            (path, copy.unwrap_or(&self.folder))
        });
        given.chain(named).map(|(path, from)| format_relative_to(base, path, from)).collect()
    }

    /// The accepted findings, if the file exists.
    pub(crate) fn read_accepted(&self, color: bool) -> Result<Option<(Accepted, TextFile)>, Error> {
        let path = self.accepted_path();
        let file = match &self.packed {
            Some(PackedSettings { accepted: Some(file), .. }) => file.clone(),
            Some(_) => return Ok(None),
            None if !path.exists() => return Ok(None),
            None => {
                let name = format_from(&path, &self.current);
                let reach = self.links(&self.folder);
                TextFile { text: read_text(&path, &name, Some(&reach))?, name }
            }
        };
        let accepted = Accepted::parse(&file.text)
            .map_err(|errors| Error::Config(render_config_errors(&errors, &file, color)))?;
        Ok(Some((accepted, TextFile { name: ACCEPTED.to_owned(), ..file })))
    }

    /// Where accepted findings are recorded: beside `abide.toml`, else in the tree's folder.
    pub(crate) fn accepted_path(&self) -> PathBuf {
        self.folder.join(ACCEPTED)
    }

    /// The folder that the paths of the tree count from, if it is on disk.
    pub(crate) fn find_tree_folder(&self, tree: &TreeArgs) -> Option<PathBuf> {
        let folder = match &tree.source {
            Some(spec) if self.focus.is_empty() => self.current.join(spec),
            _ => self.folder.clone(),
        };
        folder.is_dir().then_some(folder)
    }

    /// The folder that the paths of its files count from, if it is on disk: that of the tree, or the
    /// one around a SOURCE that is a file alone.
    pub(crate) fn find_file_folder(&self, tree: &TreeArgs) -> Option<PathBuf> {
        let alone = self.alone.as_ref().map(|_| self.own.as_ref().unwrap_or(&self.folder));
        alone.cloned().or_else(|| self.find_tree_folder(tree))
    }

    /// A path of a folder as a user in the current folder would write it.
    pub(crate) fn format_from_here(&self, path: &str, folder: &Path) -> String {
        format_relative_to(&self.current, path, folder)
    }

    /// The prefix that makes a path of the tree relative to the top of its repository, or without
    /// one to the current folder.
    pub(crate) fn prefix(&self, tree: &TreeArgs) -> String {
        self.find_file_folder(tree).map_or(String::new(), |folder| self.compute_prefix(&folder))
    }

    /// The same prefix for `abide.toml` and the files beside it.
    pub(crate) fn config_prefix(&self) -> String {
        self.compute_prefix(&self.folder)
    }

    /// The bytes of a file that settings are read from; `None` if there is none to read.
    pub(crate) fn read_bytes(&self, path: &Path) -> Option<Vec<u8>> {
        self.links(&self.folder).read(path).ok()
    }

    /// How far links may lead in a folder of the tree or above it.
    pub(crate) fn links(&self, folder: &Path) -> LinkLimits {
        LinkLimits::around(folder, &self.links)
    }

    /// The top of the repository that the tree is in, or without one the current folder.
    pub(crate) fn find_top(&self) -> PathBuf {
        self.find_top_around(self.own.as_ref().unwrap_or(&self.folder))
    }

    fn find_top_around(&self, folder: &Path) -> PathBuf {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let top = folder.ancestors().find(|dir| dir.join(".git").exists());
        let current = || self.current.canonicalize().unwrap_or_else(|_| self.current.clone());
        top.map_or_else(current, Path::to_owned)
    }

    fn compute_prefix(&self, folder: &Path) -> String {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let from = self.find_top_around(&folder);
        match folder.strip_prefix(&from).ok().and_then(format_with_slashes) {
            Some(path) if path.is_empty() => path,
            Some(path) => format!("{path}/"),
            None => format!("{}/", folder.display()),
        }
    }
}

/// The settings that an archive holds.
struct PackedSettings {
    config: Option<TextFile>,
    accepted: Option<TextFile>,
}

impl PackedSettings {
    /// Those of a source; `None` if it is no archive, or cannot be opened, which is told where it is
    /// read.
    fn open(spec: &str, options: &SourceOptions<'_>) -> Result<Option<PackedSettings>, Error> {
        let Ok(source) = Source::open(Some(spec), options) else { return Ok(None) };
        if !source.is_archive() {
            return Ok(None);
        }
        let text = |name: &str| {
            let Some(text) = source.packed_settings(name) else { return Ok(None) };
            match String::from_utf8(text.to_vec()) {
                Ok(text) => Ok(Some(TextFile { name: name.to_owned(), text })),
                Err(error) => Err(Error::File {
                    what: format!("cannot read `{name}` of `{spec}`"),
                    error: io::Error::other(error),
                }),
            }
        };
        Ok(Some(PackedSettings { config: text(CONFIG)?, accepted: text(ACCEPTED)? }))
    }
}

/// The configuration that a file has.
fn parse_config(file: &TextFile, preset: Option<Preset>, color: bool) -> Result<Config, Error> {
    let parsed = Config::parse(&file.text, preset);
    parsed.map_err(|errors| Error::Config(render_config_errors(&errors, file, color)))
}

/// The configuration of a tree that is in an archive: what it names is there, or nowhere.
fn restrict_to_archive(mut config: Config) -> Result<Config, Error> {
    let is_inside = |path: &&String| {
        let is_below = |it| matches!(it, Component::Normal(_) | Component::CurDir);
        Path::new(path).components().all(is_below)
    };
    if let Some(path) = config.import_paths.iter().find(|it| !is_inside(it)) {
        return Err(Error::Usage(format!(
            "the import path `{path}` of {CONFIG} is outside of the archive: name a folder on disk \
             with `-I`, and a configuration with `--config`"
        )));
    }
    // A path counts from the folder of the configuration, and that is not on disk.
    config.against.retain(|it| it.starts_with("git:"));
    config.bump_against = config.bump_against.take().filter(|it| it.starts_with("git:"));
    Ok(config)
}

/// Reads the `abide.lock` of a source, if it has one. Messages add `whose` to its name, to tell the
/// locks of two sources apart.
pub(crate) fn read_lock(source: &Source, whose: &str, color: bool) -> Result<Option<Lock>, Error> {
    let Some(text) = source.lock()? else { return Ok(None) };
    let text = String::from_utf8_lossy(&text).into_owned();
    let lock = Lock::parse(&text);
    let file = TextFile { name: format!("{LOCK}{whose}"), text };
    lock.map(Some).map_err(|errors| Error::Config(render_config_errors(&errors, &file, color)))
}

/// A note about a lock with a merge conflict.
pub(crate) fn describe_conflict(lock: Option<&Lock>) -> Option<String> {
    lock.filter(|it| it.is_unresolved()).map(|_| {
        format!(
            "{LOCK} has a merge conflict; both sides count until `abide bump --write` resolves it"
        )
    })
}

/// The preset with this name.
pub(crate) fn find_preset(name: &str) -> Result<Preset, Error> {
    Preset::find(name).ok_or_else(|| {
        let known: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        Error::Usage(format!("unknown preset `{name}`; the presets are `{}`", known.join("`, `")))
    })
}

/// Reads a text of the settings, which the tree has if there is a `reach`.
fn read_text(path: &Path, name: &str, reach: Option<&LinkLimits>) -> Result<String, Error> {
    let bytes = reach.map_or_else(|| read_limited(path), |links| links.read(path));
    let text = bytes.and_then(|it| String::from_utf8(it).map_err(io::Error::other));
    text.map_err(|error| Error::File { what: format!("cannot read `{name}`"), error })
}

fn is_proto(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "proto")
}

/// A path without links, also of a file that is still to be written.
fn canonicalize_file(path: &Path) -> Option<PathBuf> {
    let new = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new)
}

/// The path of a file or folder from a folder that holds it.
fn find_path_below(folder: &Path, path: &Path) -> Option<String> {
    format_with_slashes(canonicalize_file(path)?.strip_prefix(folder.canonicalize().ok()?).ok()?)
}

/// The folder that the path of a single proto file counts from, and that path. The folder is the
/// current one if it holds the file, else the file's own.
fn find_single_file(current: &Path, path: &Path) -> Option<(PathBuf, String)> {
    if !path.is_file() || !is_proto(path) {
        return None;
    }
    let file = path.canonicalize().ok()?;
    let below =
        |folder: &Path| format_with_slashes(file.strip_prefix(folder.canonicalize().ok()?).ok()?);
    [current, path.parent()?].into_iter().find_map(|it| Some((it.to_owned(), below(it)?)))
}

/// The names of the folders in a folder.
fn list_folders(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|it| it.path().is_dir());
    let mut names: Vec<String> =
        folders.filter_map(|it| it.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// A relative path with `/` between names, if it is Unicode.
fn format_with_slashes(path: &Path) -> Option<String> {
    let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
    names.map(|names| names.join("/"))
}

/// Makes `path`, which is relative to the folder `from`, relative to the folder `base`.
fn format_relative_to(base: &Path, path: &str, from: &Path) -> String {
    if base == from || Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let full = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (base, path) = (full(base), full(&from.join(path)));
    let names = |path: &Path| -> Vec<String> {
        let normal = path.components().filter(|it| matches!(it, Component::Normal(_)));
        normal.map(|it| it.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (base, names) = (names(&base), names(&path));
    let shared = base.iter().zip(&names).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", base.len() - shared);
    let parts: Vec<&str> = up.chain(names[shared..].iter().map(String::as_str)).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A path as a user in the current folder would write it.
fn format_from(path: &Path, current: &Path) -> String {
    let relative = path.strip_prefix(current).unwrap_or(path);
    if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.display().to_string() }
}

/// Today in UTC, so that the result does not depend on the time zone.
pub(crate) fn today() -> jiff::civil::Date {
    jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date()
}
