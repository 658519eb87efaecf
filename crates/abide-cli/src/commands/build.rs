//! `abide build`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use abide_schema::value::Codec;
use abide_schema::{FileDecl, FileId, Place, Tree, encode_pieces};
use abide_source::write::write_with;
use abide_source::{DescriptorFormat, Progress, detect_requested_format, load};

use super::outcome::CommandOutcome;
use super::preconditions::refuse_unlinked;
use super::session::leave_to_exit;
use crate::args::{Global, TreeArgs};
use crate::error::Error;
use crate::settings::Settings;
use crate::terminal::{eprint_line, use_error_color};

pub(super) fn build(
    global: &Global,
    args: &TreeArgs,
    out: Option<&Path>,
    exclude_imports: bool,
    exclude_source_info: bool,
) -> Result<CommandOutcome, Error> {
    let progress = Progress::new(global.quiet);
    let settings = Settings::read(global, args.source.as_deref(), use_error_color(global))?;
    let loaded = load(&settings.open_source(args)?, &progress)?;
    let tree = &loaded.tree;
    progress.begin_step("checking the links");
    if let Some(refused) = refuse_unlinked(global, &settings, &loaded, &progress) {
        return Ok(refused);
    }
    progress.begin_step("looking for clashes");
    let judged: Vec<_> = tree.files().filter(|file| file.is_judged()).map(|file| file.id).collect();
    if let Some(clash) = find_clashes(tree, &judged) {
        progress.finish();
        clash.lines().for_each(eprint_line);
        eprint_line("note: nothing was written");
        return Ok(CommandOutcome::nothing(true));
    }
    let files = abide_schema::set_files(tree, &judged, !exclude_imports);
    let target = out.or(global.output.as_deref());
    let name = target.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let (format, compression) = detect_requested_format(&name);
    let set = DescriptorSet { tree, files, source_info: !exclude_source_info };
    let written = match format {
        DescriptorFormat::Binary => {
            progress.begin_step(format!("writing descriptors of {} files", set.files.len()));
            write_with(target, &mut |out| compression.pack(out, |out| set.write(out)))
        }
        DescriptorFormat::Json | DescriptorFormat::Text | DescriptorFormat::Yaml => {
            progress.begin_step(format!("making descriptors of {} files", set.files.len()));
            let text = set.render_text(format)?;
            progress.begin_step("writing them");
            write_with(target, &mut |out| compression.pack(out, |out| out.write_all(&text)))
        }
    };
    progress.finish();
    written.map_err(|error| Error::unwritten(target, error))?;
    let timings = if global.verbose { progress.format_timings() } else { Vec::new() };
    timings.iter().for_each(|timing| eprint_line(&format!("note: {timing}")));
    leave_to_exit(loaded);
    Ok(CommandOutcome::nothing(false))
}

/// The descriptor set to write.
struct DescriptorSet<'t> {
    tree: &'t Tree,
    files: Vec<FileId>,
    source_info: bool,
}

impl DescriptorSet<'_> {
    /// Writes it while it is made.
    fn write(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        encode_pieces(self.tree, &self.files, self.source_info, |piece| out.write_all(piece))
    }

    /// All of it in a format of text. The tree has the types of the custom options in it.
    fn render_text(&self, format: DescriptorFormat) -> Result<Vec<u8>, Error> {
        let tree = self.tree;
        let mut messages = tree.files().flat_map(|file| file.messages());
        let Some(ty) = messages.find(|it| it.full_name() == "google.protobuf.FileDescriptorSet")
        else {
            return Err(refuse_format(
                "the tree's descriptor.proto does not declare FileDescriptorSet",
            ));
        };
        let mut set = Vec::new();
        self.write(&mut set).map_err(refuse_format)?;
        let set = Codec::new(tree).decode(ty.id, &set).map_err(refuse_format)?;
        let text = match format {
            // What is JSON is YAML, too.
            DescriptorFormat::Json | DescriptorFormat::Yaml => {
                Codec::new(tree).to_json(&set).map_err(refuse_format)?
            }
            DescriptorFormat::Binary | DescriptorFormat::Text => Codec::new(tree).to_text(&set),
        };
        Ok(text.into_bytes())
    }
}

/// The error of a set that cannot be written in a format of text.
fn refuse_format(reason: impl std::fmt::Display) -> Error {
    Error::Usage(format!("cannot write the set in this format: {reason}; use `.binpb`"))
}

/// The errors that come up when the files of several roots become one descriptor set. A set has no
/// roots, so paths and names that are distinct in the tree may clash in it.
fn find_clashes(tree: &Tree, judged: &[FileId]) -> Option<String> {
    let files = abide_schema::set_files(tree, judged, true);
    let files: Vec<_> = files.into_iter().map(|id| tree.file(id).shared_decl()).collect();
    if files.iter().map(|file| file.root).collect::<BTreeSet<_>>().len() < 2 {
        return None;
    }
    let mut clashes = Vec::new();
    let mut by_path: BTreeMap<&str, &FileDecl> = BTreeMap::new();
    for &file in &files {
        if let Some(first) = by_path.insert(&file.path, file) {
            let (a, b) = (&first.display, &file.display);
            clashes.push(format!("error: `{a}` and `{b}` are both imported as `{}`", file.path));
        }
    }
    if clashes.is_empty() && tree.repeats_names() {
        let known: HashSet<_> = tree.problems().iter().map(|it| (it.kind, &it.message)).collect();
        let set = Tree::link(
            files
                .iter()
                .map(|file: &&Arc<FileDecl>| {
                    let mut file = FileDecl::clone(file);
                    file.root = 0;
                    Arc::new(file)
                })
                .collect(),
        );
        for problem in set.problems().iter().filter(|it| it.kind.is_error()) {
            if !known.contains(&(problem.kind, &problem.message)) {
                let labels = problem.labels.iter().map(|(place, _)| *place);
                let places: Vec<_> = labels
                    .chain([problem.place])
                    .map(|place: Place| {
                        let file = set.file(place.file).decl();
                        let line = file
                            .line_range(place.span)
                            .map(|(start, _)| format!(":{}", start.line));
                        format!("`{}{}`", file.display, line.unwrap_or_default())
                    })
                    .collect();
                clashes.push(format!("error: {}: {}", problem.message, places.join(" and ")));
            }
        }
    }
    if clashes.is_empty() {
        return None;
    }
    let root = judged.iter().find_map(|id| {
        let file = tree.file(*id).decl();
        file.display.strip_suffix(&*file.path).and_then(|it| it.strip_suffix('/'))
    });
    let example = root.map(|root| format!(", as in `abide build {root}`")).unwrap_or_default();
    let why = "a descriptor set has no roots, so files of several roots can clash in it";
    clashes.push(format!("note: {why}: build one root at a time{example}"));
    Some(clashes.join("\n"))
}
