//! Small files in Envoy's own notation, read by Envoy (`--mode validate`) and by our readers: the
//! same verdict, about the same element, and the same value where Envoy shows it.

mod cases;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::{Envoy, envoys};
use abide_harness::programs::output;
use abide_instance::{Dialect, Instance, Notation, ReadOptions};
use abide_schema::value::{Codec, ReadErrorKind, UndeclaredPolicy, UnknownName};
use abide_schema::{EmbeddedFiles, FileDecl, MessageId, Tree};

use self::cases::{CASES, DIFFERENT};
use super::facts::render_facts;

/// What a reader makes of a file.
#[derive(Debug, PartialEq)]
enum Verdict {
    /// It is read; the facts of the value if they are known.
    Read(Option<String>),
    /// It is refused, because of these elements or names, if it says which.
    Refused(Vec<String>),
    /// It is malformed whatever the types are.
    Malformed,
}

/// Compares verdicts; true if each difference has a reason.
pub(super) fn run(show: usize) -> Result<bool> {
    let newest = envoys()?.into_iter().next().ok_or("there is no Envoy")?;
    let tree = load_carried_api(&newest)?;
    let bootstrap = tree.message_named("envoy.config.bootstrap.v3.Bootstrap");
    let bootstrap = bootstrap.ok_or("this Envoy carries no descriptors")?.id;
    let folder = corpora::stage()?.join("reading");
    fs::create_dir_all(&folder)?;

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut different = Vec::new();
    let mut used = vec![false; DIFFERENT.len()];
    for (template, values) in CASES {
        for value in *values {
            let text = template.replace("%", value);
            // Only JSON begins so in these files.
            let (notation, name) = match template.starts_with("{\"") {
                true => (Notation::Json, "case.json"),
                false => (Notation::Yaml, "case.yaml"),
            };
            let path = folder.join(name);
            fs::write(&path, &text)?;
            let mut command = Command::new(&newest.program);
            command.args(["--mode", "validate", "--log-level", "error", "--disable-hot-restart"]);
            let said = output(command.arg("-c").arg(&path))?;
            let said = [said.stdout, said.stderr].concat();
            let theirs = parse_envoy_verdict(&tree, bootstrap, &String::from_utf8_lossy(&said))?;
            let ours = read_with_abide(&tree, bootstrap, notation, &text);
            let outcome = match (&ours, &theirs) {
                (Verdict::Read(Some(ours)), Verdict::Read(Some(theirs))) if ours == theirs => {
                    "read, the same value"
                }
                (Verdict::Read(_), Verdict::Read(None)) => "read",
                (Verdict::Malformed, Verdict::Malformed | Verdict::Refused(_)) => {
                    "refused as malformed"
                }
                (Verdict::Refused(ours), Verdict::Refused(theirs))
                    if theirs.is_empty() || theirs.iter().any(|it| ours.contains(it)) =>
                {
                    match theirs.is_empty() {
                        true => "refused",
                        false => "refused, the same element",
                    }
                }
                _ => match DIFFERENT.iter().position(|(part, _)| text.contains(part)) {
                    Some(at) => {
                        used[at] = true;
                        "explained"
                    }
                    None => {
                        different.push(format!(
                            "{text}\n      ours   {ours:?}\n      theirs {theirs:?}"
                        ));
                        "different"
                    }
                },
            };
            *counts.entry(outcome).or_default() += 1;
        }
    }
    println!("reading: Envoy {}", newest.version);
    for (outcome, count) in &counts {
        println!("  {outcome}: {count}");
    }
    different.iter().take(show).for_each(|it| println!("    {it}"));
    for ((part, why), used) in DIFFERENT.iter().zip(&used) {
        println!("  {part:?} {}: {why}", if *used { "explained" } else { "agrees now" });
    }
    let enough = ["read, the same value", "refused, the same element"];
    let is_whole = enough.iter().all(|it| counts.get(it).is_some_and(|count| *count > 50));
    Ok(different.is_empty() && is_whole && used.iter().all(|it| *it))
}

/// The API of a release, which its program carries.
fn load_carried_api(envoy: &Envoy) -> Result<Tree> {
    let mut files = EmbeddedFiles::default();
    files.scan(&fs::read(&envoy.program)?);
    let (_, set) = files.finish();
    let decls = FileDecl::from_descriptor_set(&set.into())?;
    Ok(Tree::link(decls.into_iter().map(Arc::new).collect()))
}

/// What Envoy says: `configuration … OK`, that the text cannot be read, or something about the
/// value that it read, which it then may show.
fn parse_envoy_verdict(tree: &Tree, bootstrap: MessageId, said: &str) -> Result<Verdict> {
    if said.contains("' OK") {
        return Ok(Verdict::Read(None));
    }
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let reasons =
        ["Unable to parse JSON", "has unknown fields", "Unable to convert YAML", "yaml-cpp:"];
    if reasons.iter().any(|it| said.contains(it)) {
        let between = |before, after| Some(said.split_once(before)?.1.split_once(after)?.0);
        let lacked = between("no such field: '", "'").or(between("unknown enum value: '", "'"));
        let element = between(" @ ", ": ").and_then(last_name);
        return Ok(Verdict::Refused(lacked.or(element).map(str::to_owned).into_iter().collect()));
    }
    let Some((_, shown)) = said.split_once("goo.gle/debug") else {
        let error = said.split_once("error initializing").ok_or_else(|| said.clone())?.1;
        return Ok(if error.is_empty() {
            Verdict::Refused(Vec::new())
        } else {
            Verdict::Read(None)
        });
    };
    let value = shown.split_once(' ').and_then(|(_, it)| it.split_once(" : Proto constraint"));
    let Some((value, _)) = value else { return Ok(Verdict::Read(None)) };
    let reading = Codec::new(tree).read_text(bootstrap, value.as_bytes(), UndeclaredPolicy::Refuse);
    // Envoy shows every host of a type URL, and we read those that C++ can read again.
    Ok(Verdict::Read(reading.into_result().ok().map(|value| render_facts(tree, &value))))
}

/// The last field of a path such as `node.metadata.<struct>[0].list_value`.
fn last_name(path: &str) -> Option<&str> {
    let mut names = path.split('.').map(|it| it.split('[').next().unwrap_or(it));
    names.rfind(|it| !it.starts_with('<'))
}

fn read_with_abide(tree: &Tree, bootstrap: MessageId, notation: Notation, text: &str) -> Verdict {
    let options = ReadOptions { notation, ty: Some(bootstrap), dialect: Some(Dialect::Envoy) };
    let instance = Instance::read(tree, text.as_bytes(), options);
    let readings = || instance.documents.iter().filter_map(|it| it.reading.as_ref());
    let errors: Vec<_> =
        instance.errors.iter().chain(readings().flat_map(|it| &it.errors)).collect();
    let undeclared = readings().flat_map(|it| &it.undeclared);
    if instance.errors.iter().any(|it| it.kind == ReadErrorKind::Syntax) {
        return Verdict::Malformed;
    }
    let mut names: Vec<String> = undeclared.map(|it| it.name.clone()).collect();
    if errors.is_empty() && names.is_empty() {
        let message = instance.documents.first().and_then(|it| it.message());
        return Verdict::Read(message.map(|it| render_facts(tree, it)));
    }
    for error in &errors {
        let Some(field) = error.field.map(|field| tree.field(field)) else { continue };
        // Of members of a oneof Envoy names the one that it happens to read last.
        let members = field.oneof().into_iter().flat_map(|oneof| oneof.fields());
        for field in members.chain([field]) {
            names.extend([field.name().to_owned(), field.json_name().to_string()]);
        }
        // Envoy names the field that is of the type, where the type is a notation of its own.
        let ty = field.containing_message().map(|it| it.full_name()).unwrap_or_default();
        if ty.starts_with("google.protobuf.") {
            let around = error.span;
            let outer = readings().flat_map(|it| around_of(&it.message, around));
            names.extend(outer.map(|field| tree.field(field).name().to_owned()));
        }
    }
    for name in readings().flat_map(|it| &it.undeclared) {
        if let UnknownName::Message(message) = name.lacked_by {
            names.push(tree.message(message).name().to_owned());
        }
    }
    Verdict::Refused(names)
}

/// The fields of a value whose values are around a place.
fn around_of(
    message: &abide_schema::value::Message,
    place: abide_syntax::Span,
) -> Vec<abide_schema::FieldId> {
    let is_around =
        |it: &&abide_schema::value::Entry| it.span.start <= place.start && place.end <= it.span.end;
    let mut fields = Vec::new();
    for entry in message.entries.iter().filter(is_around) {
        fields.push(entry.field);
        if let Some(inner) = entry.value.as_message() {
            fields.extend(around_of(inner, place));
        }
    }
    fields
}
