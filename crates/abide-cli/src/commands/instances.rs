//! Instances with the APIs that judge them: those of the command line and those of `abide.toml`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use abide_instance::runtime::{
    DeclaredLayers, DiskReading, LayerSource, Runtime, get_known_bootstrap,
};
use abide_instance::{Dialect, DocumentType, Instance, Notation, ReadOptions};
use abide_lint::{
    Accepted, ApiRelease, ConfigApi, ConfigInstances, InstanceFile, InstanceOptions, Overrides,
    Report, declared_layers, find_nearest, join_releases, pluralize,
};
use abide_schema::value::ReadErrorKind;
use abide_schema::{MessageId, Tree};
use abide_source::NamedFile;
use abide_source::runtime_disk::{read_layers, read_layers_below, read_layers_within};
use abide_source::{LinkLimits, LoadedTree, Progress, load, load_beside};
use jiff::civil::Date;
use rayon::prelude::*;

use super::instance_files::text_for_report;
use super::outputs::check_report_path;
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::matching_files::list_matching;
use crate::render::TextFile;
use crate::settings::Settings;
use crate::terminal::eprint_line;

/// An API, by a name for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Api {
    pub(super) name: String,
    /// A SOURCE; `None` is the configured tree.
    pub(super) source: Option<String>,
    pub(super) import_path: Vec<String>,
    pub(super) reader: Option<Dialect>,
}

/// Files that are read in the same way.
#[derive(Debug)]
pub(super) struct InstanceSubject {
    pub(super) files: Vec<NamedFile>,
    pub(super) ty: Option<String>,
    pub(super) at: Option<String>,
    pub(super) apis: Vec<Api>,
    /// With `--changed`, whether each file changed; `None`: all of them are judged.
    pub(super) changed: Option<Vec<bool>>,
    /// True if `abide.toml` names them: then what they name is read within the tree alone.
    pub(super) is_of_tree: bool,
}

impl InstanceSubject {
    /// Fails if the report would replace one of the files, whose names count from `abide.toml`.
    pub(super) fn check_report_path(
        &self,
        global: &Global,
        settings: &Settings,
    ) -> Result<(), Error> {
        let files: Vec<PathBuf> =
            self.files.iter().map(|it| settings.folder.join(&it.name)).collect();
        check_report_path(global.output.as_deref(), files.iter().map(PathBuf::as_path))
    }
}

/// Files with what was read from them, for each API that judges them.
struct PreparedFiles {
    files: Vec<NamedFile>,
    /// By API that judges them.
    read: Vec<ReadFiles>,
    /// For each file, true if it is judged; others only say what names mean.
    are_judged: Vec<bool>,
}

/// Instances that were read from files as values of one API.
struct ReadFiles {
    /// The number of the API among those that are loaded.
    api: usize,
    instances: Vec<Instance>,
    /// By file, the contents of the disk for the layers of runtime that it declares there.
    disk: Vec<Vec<DiskReading>>,
}

/// Instances that are read, with the APIs that judge them.
pub(super) struct Instances {
    subjects: Vec<PreparedFiles>,
    apis: Vec<(Api, LoadedTree)>,
    /// Layers of runtime, with the files that they are in.
    runtime: RuntimeLayers,
}

/// Layers of runtime from files and folders.
#[derive(Default)]
pub(super) struct RuntimeLayers {
    overrides: Overrides,
    files: Vec<NamedFile>,
    /// The uppermost folder of a copy of the disk that bootstraps have layers on; `None`: this
    /// disk.
    root: Option<PathBuf>,
}

impl Api {
    /// A configured API. Its folders count from that of `abide.toml`.
    pub(super) fn configured(settings: &Settings, api: &ConfigApi) -> Result<Api, Error> {
        let import_paths =
            api.import_paths.iter().map(|it| find_in_folder(settings, api, it, "import-paths"));
        let import_paths: Result<Vec<Option<String>>, Error> = import_paths.collect();
        let source = find_in_folder(settings, api, &api.source, "source")?;
        Ok(Api {
            name: api.name.clone(),
            source: source.or_else(|| Some(api.source.clone())),
            import_path: import_paths?.into_iter().flatten().collect(),
            reader: api.reader,
        })
    }

    /// The API that a name of `--release` means.
    pub(super) fn named(settings: &Settings, name: &str) -> Result<Api, Error> {
        let apis = &settings.config.apis;
        if let Some(api) = apis.iter().find(|it| it.name == name) {
            return Api::configured(settings, api);
        }
        let help = match find_nearest(name, apis.iter().map(|it| &*it.name)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!(": add `[api.{name}]` to abide.toml"),
        };
        Err(Error::Usage(format!("no API is named `{name}`{help}")))
    }

    /// The API of who names none: the only one that is configured, else the configured tree.
    pub(super) fn default(settings: &Settings) -> Result<Api, Error> {
        match settings.config.apis.as_slice() {
            [only] => Api::configured(settings, only),
            _ => Ok(Api {
                name: "the tree".to_owned(),
                source: None,
                import_path: Vec::new(),
                reader: None,
            }),
        }
    }
}

/// The instances that `abide.toml` names. Their names count from its folder.
pub(super) fn collect_configured(
    settings: &Settings,
    releases: &[Api],
) -> Result<Vec<InstanceSubject>, Error> {
    let instances = settings.config.instances.iter();
    instances.map(|it| build_subject(settings, it, releases)).collect()
}

/// The files of one `[[instances]]`, with the APIs that judge them.
fn build_subject(
    settings: &Settings,
    it: &ConfigInstances,
    releases: &[Api],
) -> Result<InstanceSubject, Error> {
    let api = match &it.api {
        Some(name) => Api::named(settings, name)?,
        None => Api::default(settings)?,
    };
    let apis = if releases.is_empty() { vec![api] } else { releases.to_vec() };
    let files = read_matching(&settings.folder, &it.files, &settings.links(&settings.folder))?;
    Ok(InstanceSubject {
        files,
        ty: it.ty.clone(),
        at: it.at.clone(),
        apis,
        changed: None,
        is_of_tree: true,
    })
}

/// The path of a folder or file that `[api.NAME]` names; `None` if it is not on disk.
fn find_in_folder(
    settings: &Settings,
    api: &ConfigApi,
    path: &str,
    key: &str,
) -> Result<Option<String>, Error> {
    let full = settings.folder.join(path);
    if !full.exists() {
        return Ok(None);
    }
    settings.check_inside(&format!("[api.{}] {key}", api.name), path)?;
    Ok(Some(full.display().to_string()))
}

/// The files in a folder whose paths match one of the patterns.
fn read_matching(
    folder: &Path,
    patterns: &[String],
    links: &LinkLimits,
) -> Result<Vec<NamedFile>, Error> {
    let mut names = list_matching(folder, patterns, links, "[[instances]] files")?;
    names.retain(|it| Notation::from_path(it).is_some());
    if names.is_empty() {
        let message = format!("`[[instances]] files` matches no file: {}", patterns.join(", "));
        return Err(Error::Usage(message));
    }
    names.iter().map(|name| Ok(NamedFile::read_below(folder, name)?)).collect()
}

impl RuntimeLayers {
    /// The layers that the command line names, the first of them the lowest: a folder is one on
    /// disk, a file one with its keys.
    pub(super) fn read_subject(
        names: &[String],
        root: Option<PathBuf>,
    ) -> Result<RuntimeLayers, Error> {
        if let Some(root) = root.as_deref().filter(|it| !it.is_dir()) {
            let message =
                format!("`--disk-root` names `{}`, which is not a folder", root.display());
            return Err(Error::Usage(message));
        }
        let mut all = RuntimeLayers { root, ..RuntimeLayers::default() };
        for name in names {
            if Path::new(name).is_dir() {
                let root = if name.ends_with('/') { name.clone() } else { format!("{name}/") };
                let layers = DeclaredLayers::from_folder(&root);
                let readings = read_layers(&layers, Path::new("."));
                let runtime = Runtime::new(layers, readings);
                for layer in runtime.snapshot().layers() {
                    all.overrides.push_layer(name, &layer.values, None);
                }
                if let Some((_, Some(failure))) = runtime.iter_left_out().next() {
                    let message = format!("the runtime in `{name}` cannot be read: {failure}");
                    return Err(Error::Usage(message));
                }
                continue;
            }
            let file = NamedFile::open(name, None)?;
            let (tree, _) = get_known_bootstrap();
            let fields = tree.message_named("google.protobuf.Struct").map(|it| it.id);
            let options =
                ReadOptions { notation: file.notation, ty: fields, dialect: Some(Dialect::Envoy) };
            let instance = Instance::read(&tree, &file.bytes, options);
            let document = instance.documents.first().and_then(|it| it.message());
            let (Some(keys), []) = (document, instance.errors.as_slice()) else {
                let message = format!("`{name}` does not hold the keys of a layer of runtime");
                return Err(Error::Usage(message));
            };
            let number = all.files.len() as u32;
            for layer in DeclaredLayers::from_struct(&tree, name, keys).layers() {
                if let LayerSource::Static(values) = &layer.source {
                    all.overrides.push_layer(name, values, Some(number));
                }
            }
            all.files.push(file);
        }
        Ok(all)
    }
}

impl Instances {
    /// Loads the APIs and reads the files.
    pub(super) fn load(
        settings: &Settings,
        subjects: Vec<InstanceSubject>,
        runtime: RuntimeLayers,
        progress: &Progress,
    ) -> Result<Instances, Error> {
        let mut all = Instances { subjects: Vec::new(), apis: Vec::new(), runtime };
        for subject in subjects {
            let mut read = Vec::new();
            for api in &subject.apis {
                let number = all.load_api(settings, api, progress)?;
                let mut instances = all.read(number, &subject);
                let is_whole = instances.as_ref().is_ok_and(|it| is_fully_typed(it));
                if !api.import_path.is_empty() && !is_whole {
                    // What nothing imports may be the type of an instance, or of what it holds.
                    let folders = api
                        .import_path
                        .iter()
                        .map(|folder: &String| settings.open_source(&tree_of(Some(folder), api)));
                    let folders = folders.collect::<Result<Vec<_>, _>>()?;
                    let source = settings.open_source(&tree_of(api.source.as_ref(), api))?;
                    all.apis[number].1 = load_beside(&source, &folders, progress)?;
                    instances = all.read(number, &subject);
                }
                let instances = instances?;
                let reach = subject.is_of_tree.then(|| settings.links(&settings.folder));
                let disk =
                    all.read_disk_layers(&all.apis[number].1.tree, &instances, reach.as_ref());
                read.push(ReadFiles { api: number, instances, disk });
            }
            let are_judged = match &subject.changed {
                Some(changed) if !all.has_bootstrap(&read, changed) => changed.clone(),
                _ => vec![true; subject.files.len()],
            };
            all.subjects.push(PreparedFiles { files: subject.files, read, are_judged });
        }
        Ok(all)
    }

    /// Reads the runtime layers that bootstraps declare on disk, file by file.
    fn read_disk_layers(
        &self,
        tree: &Tree,
        instances: &[Instance],
        reach: Option<&LinkLimits>,
    ) -> Vec<Vec<DiskReading>> {
        instances
            .iter()
            .map(|instance: &Instance| {
                match (declared_layers(tree, instance), &self.runtime.root) {
                    (None, _) => Vec::new(),
                    (Some(layers), None) => match reach {
                        Some(reach) => read_layers_within(&layers, reach),
                        None => read_layers(&layers, Path::new("")),
                    },
                    (Some(layers), Some(top)) => read_layers_below(&layers, top),
                }
            })
            .collect()
    }

    /// Returns true if one of these files holds a bootstrap, whose runtime may be that of the
    /// others.
    fn has_bootstrap(&self, read: &[ReadFiles], of: &[bool]) -> bool {
        read.iter().any(|read| {
            let tree = &self.apis[read.api].1.tree;
            let files = read.instances.iter().zip(of).filter(|(_, is_one)| **is_one);
            { files }.any(|(instance, _)| declared_layers(tree, instance).is_some())
        })
    }

    /// Says which layers on disk could not be read, unless layers of the command line take their
    /// place.
    pub(super) fn report_missing_layers(&self) {
        if !self.runtime.overrides.is_empty() {
            return;
        }
        for subject in &self.subjects {
            let Some(read) = subject.read.first() else { continue };
            let tree = &self.apis[read.api].1.tree;
            for ((file, instance), disk) in
                subject.files.iter().zip(&read.instances).zip(&read.disk)
            {
                let Some(layers) = declared_layers(tree, instance) else { continue };
                let runtime = Runtime::new(layers, disk.clone());
                for (layer, failure) in runtime.iter_left_out() {
                    let LayerSource::Disk(place) = &layer.source else { continue };
                    let why = match failure {
                        Some(failure) => failure.to_string(),
                        None => format!(
                            "there is no folder `{}/{}`",
                            place.symlink_root.trim_end_matches('/'),
                            place.folder.trim_matches('/')
                        ),
                    };
                    eprint_line(&format!(
                        "note: `{}` is judged without its runtime layer `{}`: {why}; name a copy \
                         with `--runtime`, or with `--disk-root` the folder that such paths begin in",
                        file.name, layer.name
                    ));
                }
            }
        }
    }

    /// The number of an API among those that are loaded.
    fn load_api(
        &mut self,
        settings: &Settings,
        api: &Api,
        progress: &Progress,
    ) -> Result<usize, Error> {
        if let Some(known) = self.apis.iter().position(|(known, _)| known == api) {
            return Ok(known);
        }
        let source = settings.open_source(&tree_of(api.source.as_ref(), api))?;
        self.apis.push((api.clone(), load(&source, progress)?));
        Ok(self.apis.len() - 1)
    }

    fn read(&self, api: usize, subject: &InstanceSubject) -> Result<Vec<Instance>, Error> {
        let (api, loaded) = &self.apis[api];
        let ty = subject.ty.as_deref().map(|name| find_message(&loaded.tree, name)).transpose()?;
        let path = subject.at.as_deref().unwrap_or_default();
        Ok(subject
            .files
            .par_iter()
            .map(|file: &NamedFile| {
                let options = ReadOptions { notation: file.notation, ty, dialect: api.reader };
                Instance::read_at(&loaded.tree, &file.bytes, path, options)
            })
            .collect())
    }

    /// Loads the other APIs of `abide.toml` if one of them may know a name that an instance has and
    /// its API lacks.
    pub(super) fn load_others(
        &mut self,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<(), Error> {
        let read = self.subjects.iter().flat_map(|it| &it.read);
        let instances = read.flat_map(|it| &it.instances);
        let mut readings =
            instances.flat_map(|it| &it.documents).filter_map(|it| it.reading.as_ref());
        if readings.any(|it| !it.undeclared.is_empty()) {
            for api in &settings.config.apis {
                self.load_api(settings, &Api::configured(settings, api)?, progress)?;
            }
        }
        Ok(())
    }

    /// Judges them.
    pub(super) fn judge(
        &self,
        settings: &Settings,
        as_of: Date,
        accepted: Option<&Accepted>,
    ) -> Report {
        let policy = &settings.config.policy;
        let mut all = Report::default();
        let mut before = 0;
        for subject in &self.subjects {
            let mut reports = Vec::new();
            for read in &subject.read {
                let (api, loaded) = &self.apis[read.api];
                let others = self.apis.iter().enumerate().filter(|(at, _)| *at != read.api);
                let releases: Vec<ApiRelease<'_>> = others
                    .map(|(_, (api, loaded))| ApiRelease { name: &api.name, tree: &loaded.tree })
                    .collect();
                let none = Instance::default();
                let layers = self.runtime.files.iter();
                let layers = layers.map(|file| InstanceFile::new(&none, &file.bytes));
                let own = subject.files.iter().zip(&read.instances).zip(&read.disk);
                let own = own.zip(&subject.are_judged);
                let own = own.map(|(((file, instance), disk), &is_judged)| {
                    let text = &file.bytes;
                    InstanceFile { instance, text, disk, is_judged }
                });
                let files: Vec<InstanceFile<'_>> = layers.chain(own).collect();
                let guards = find_guards(settings, api, &files);
                let options = InstanceOptions {
                    overrides: Some(&self.runtime.overrides),
                    releases: &releases,
                    accepted,
                    guards: guards.as_ref(),
                    ..InstanceOptions::on(as_of)
                };
                let mut report = abide_lint::check_instances(&loaded.tree, policy, options, &files);
                report.files -= self.runtime.files.len();
                reports.push((api.name.clone(), report));
            }
            let report = match reports.len() {
                1 => reports.remove(0).1,
                _ => join_releases(reports),
            };
            all.append(report, before);
            before += (self.runtime.files.len() + subject.files.len()) as u32;
        }
        all
    }

    /// The texts of all files, in the order of their numbers.
    pub(super) fn texts(&self) -> Vec<TextFile> {
        let mut texts = Vec::new();
        for subject in &self.subjects {
            texts.extend(self.runtime.files.iter().map(|it| text_for_report(it, &[])));
            for (at, file) in subject.files.iter().enumerate() {
                let mut secrets = Vec::new();
                for read in &subject.read {
                    let tree = &self.apis[read.api].1.tree;
                    let instance = read.instances.get(at);
                    secrets.extend(instance.into_iter().flat_map(|it| it.find_secrets(tree)));
                }
                texts.push(text_for_report(file, &secrets));
            }
        }
        texts
    }

    /// The APIs that judge them.
    pub(super) fn apis(&self) -> impl Iterator<Item = &LoadedTree> {
        self.apis.iter().map(|(_, loaded)| loaded)
    }

    /// Says as which type each document is read that does not name one itself: of the newest
    /// major version that its keys fit.
    pub(super) fn report_recognised_types(&self) {
        for subject in &self.subjects {
            for read in &subject.read {
                let (api, loaded) = &self.apis[read.api];
                for (file, instance) in subject.files.iter().zip(&read.instances) {
                    for document in &instance.documents {
                        let DocumentType::Recognised(ty) = document.kind else { continue };
                        let ty = loaded.tree.message(ty).full_name();
                        let (file, api) = (&file.name, &api.name);
                        eprint_line(&format!(
                            "note: `{file}` is read as `{ty}` of {api}, for which its keys speak: \
                             `--type` names another one"
                        ));
                    }
                }
            }
        }
    }

    /// Says which files have nothing at the path that is asked for: they are no instances.
    pub(super) fn report_missing_path(&self, global: &Global, path: &str) -> Result<(), Error> {
        for subject in &self.subjects {
            let Some(read) = subject.read.first() else { continue };
            let passed = subject
                .files
                .iter()
                .zip(&read.instances)
                .filter(|(_, it)| it.documents.is_empty() && it.errors.is_empty());
            let passed: Vec<&str> = passed.map(|(file, _)| &*file.name).collect();
            if passed.len() == subject.files.len() {
                let message = format!("nothing stands at `{path}`, the path that `--at` names");
                return Err(Error::Usage(message));
            }
            if !passed.is_empty() && !global.quiet {
                let count = pluralize(passed.len(), "file");
                let names = passed.join(", ");
                eprint_line(&format!("note: {count} passed, nothing stands at `{path}`: {names}"));
            }
        }
        Ok(())
    }
}

fn tree_of(source: Option<&String>, api: &Api) -> TreeArgs {
    TreeArgs { source: source.cloned(), import_path: api.import_path.clone() }
}

fn is_fully_typed(instances: &[Instance]) -> bool {
    let mut documents = instances.iter().flat_map(|it| &it.documents);
    documents.all(|document| {
        let mut errors = document.reading.iter().flat_map(|it| &it.errors);
        !matches!(document.kind, DocumentType::Unknown(_))
            && !errors.any(|it| it.kind == ReadErrorKind::TypeNotFound)
    })
}

/// The message with this full name.
pub(super) fn find_message(tree: &Tree, name: &str) -> Result<MessageId, Error> {
    let name = name.trim_start_matches('.');
    if let Some(message) = tree.message_named(name) {
        return Ok(message.id);
    }
    let all: Vec<String> =
        tree.files().flat_map(|file| file.all_messages()).map(|it| it.full_name()).collect();
    let near = find_nearest(name, all.iter().map(String::as_str));
    let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Err(Error::Usage(format!("the API has no message `{name}`{help}")))
}

/// The runtime guards that the program with an API knows, if a file of the run sets any.
fn find_guards(
    settings: &Settings,
    api: &Api,
    files: &[InstanceFile<'_>],
) -> Option<BTreeSet<String>> {
    let names: [&[u8]; 2] = [b"reloadable_features", b"restart_features"];
    let sets_any = |file: &InstanceFile<'_>| {
        names.iter().any(|name| memchr::memmem::find(file.text, name).is_some())
    };
    if !files.iter().any(sets_any) {
        return None;
    }
    settings.open_source(&tree_of(api.source.as_ref(), api)).ok()?.find_guards()
}
