//! Compares what our readers make of values in YAML, JSON, text and binary with what other
//! programs make of them: the Python runtime of protobuf, and Envoy.

mod envoy;
mod facts;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Arc;

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::programs::{Protoc, stdout};
use abide_instance::{Dialect, Instance, Notation, ReadOptions};
use abide_schema::value::{Codec, Message, UndeclaredPolicy};
use abide_schema::{FileDecl, MessageId, Tree};

use self::facts::render_facts;

/// Known differences from the Python runtime, with their reasons. Where the specification leaves a
/// choice, our readers take that of the C++ runtime.
const EXPLAINED: &[Explained] = &[
    Explained("json", Refused("expected an integer in its range"), PYTHON_NUMBERS),
    Explained("json", Refused("expected a number"), PYTHON_NUMBERS),
    Explained("json", Refused("is not a valid key"), PYTHON_NUMBERS),
    Explained("json", Refused("has no value with that number"), PYTHON_NUMBERS),
    Explained("json", Refused("has no value `"), "Python takes numbers of enums in quotes"),
    Explained("json", Refused("the name of an enum value"), "`True` is a number in Python"),
    Explained("json", Refused("expected base64"), "Python's base64 passes over foreign characters"),
    Explained("json", Refused("expected a duration"), PYTHON_NUMBERS),
    Explained("json", Refused("expected a timestamp"), "Python reads the parts with `strptime`"),
    Explained("json", Refused("expected a JSON value"), "Python's JSON has the word `NaN`"),
    Explained("json", Refused("not a known message type"), "Python wants no host in a type URL"),
    Explained("json", Refused("expected only one `value`"), "Python reads no other keys there"),
    Explained("json", Refused("are members of the oneof"), "a null is no value there in Python"),
    Explained("json", Refused("is set twice"), "Python knows the two names of a field as two keys"),
    Explained("json", Refused("expected an object"), "an empty list or text has no keys in Python"),
    Explained("json", Taken("-0}"), "`-0` is the integer 0 in Python"),
    Explained("json", Taken("google.protobuf.Empty"), "Go writes `value` for an Empty, too"),
    Explained("json", Taken("3.4028235e+38"), "Python compares with the largest float as a double"),
    Explained("json", Taken("reading.Strict"), "a required field that is missing is a finding"),
    Explained("text", Refused("the host of"), "C++ finds types below two hosts only"),
    Explained("text", Refused("/reading.Inner` is not"), "C++ takes one slash there"),
    Explained("text", Refused("expected `]`"), "Python passes over spaces in type URLs"),
    Explained("text", Refused("unknown escape"), "Python keeps escapes that it does not know"),
    Explained("text", Refused("found `+`"), "Python takes a plus sign"),
    Explained("text", Refused("takes an integer without a sign"), "Python takes `-0`"),
    Explained("text", Refused("`inff`"), "Python takes an `f` behind `inf`"),
    Explained("text", Refused("a space is needed between"), "Python's numbers have underscores"),
    Explained("text", Refused("`type_url` is set twice"), "Python takes a second value in an Any"),
    Explained("text", Refused("is not allowed outside of"), "Python passes over spaces of Unicode"),
    Explained("text", Refused("deeper than 100 levels"), "Python's text format has no limit"),
    Explained("text", Taken(": -"), "Python takes no space behind the sign"),
    Explained("text", Taken(": 0"), "C++ takes bools and enum values in all notations of integers"),
    Explained(
        "text",
        Taken("[01]"),
        "C++ takes bools and enum values in all notations of integers",
    ),
    Explained("text", Taken("\\"), "Python lacks some escapes, and decodes strings as it reads"),
    Explained("text", Taken("\u{feff}"), "Python takes no byte order mark"),
    Explained(
        "text",
        Taken("\u{fffd}"),
        "a file that is no UTF-8 can still be read; proto2 has such strings",
    ),
];

const PYTHON_NUMBERS: &str = "Python reads with `int` and `float`: spaces, signs, underscores, \
                              leading zeros, all digits of Unicode, overflow";

use Ours::{Refused, Taken};

/// What our reader does that the other does not.
enum Ours {
    /// It refuses the input, with these words.
    Refused(&'static str),
    /// It takes an input with this part, or takes it for another value.
    Taken(&'static str),
}

struct Explained(&'static str, Ours, &'static str);

impl Explained {
    fn explains(&self, case: &Case<'_>, ours: &std::result::Result<String, String>) -> bool {
        let is_it = match (&self.1, ours) {
            (Refused(words), Err(error)) => error.contains(words) && case.expected.is_some(),
            (Taken(part), Ok(_)) => String::from_utf8_lossy(&case.input).contains(part),
            _ => false,
        };
        is_it && case.notation == self.0 && case.kind != "value"
    }
}

/// An input, and what the Python runtime says of it.
struct Case<'c> {
    kind: &'c str,
    notation: &'c str,
    ty: MessageId,
    input: Vec<u8>,
    /// The value; nothing if the input is refused.
    expected: Option<Vec<u8>>,
}

/// Compares values; true if each difference has a reason.
pub(crate) fn run(protoc: &Protoc, show: usize) -> Result<bool> {
    Ok(compare_with_python(protoc, show)? & envoy::run(show)?)
}

fn compare_with_python(protoc: &Protoc, show: usize) -> Result<bool> {
    let folder = corpora::stage()?.join("reading");
    fs::create_dir_all(&folder)?;
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/runtimes/reading");
    let own = folder.join("reading.binpb");
    let mut command = protoc.command(&[source.as_ref()]);
    stdout(command.args(["--include_imports", "-o"]).arg(&own).arg("reading.proto"))?;
    let script = format!("{source}/reading.py");
    let mut python = Command::new("python3");
    // Nothing is left in the folder of the script.
    python.arg("-B").arg(script).arg(&own).arg(&folder);
    // The same cases in every run.
    python.env("PYTHONHASHSEED", "0");
    let said = stdout(&mut python)
        .map_err(|error| format!("`pip install protobuf xds-protos pyyaml`: {error}"))?;
    let decls = FileDecl::from_descriptor_set(&fs::read(folder.join("types.binpb"))?.into())?;
    let tree = Tree::link(decls.into_iter().map(Arc::new).collect());

    let text = fs::read_to_string(folder.join("cases.txt"))?;
    let mut counts: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    let mut different: Vec<String> = Vec::new();
    let mut used = vec![0; EXPLAINED.len()];
    for line in text.lines() {
        let case = Case::parse(&tree, line)?;
        let ours = read(&tree, &case);
        let theirs =
            case.expected.as_deref().map(|it| match Codec::new(&tree).decode(case.ty, it) {
                Ok(value) => render_facts(&tree, &value),
                Err(error) => format!("a value that we cannot decode: {error}"),
            });
        let outcome = match (&ours, &theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => "same value",
            (Err(_), None) => "both refuse",
            _ => {
                let known = EXPLAINED.iter().position(|it| it.explains(&case, &ours));
                match known {
                    Some(at) => used[at] += 1,
                    None => different.push(describe_difference(&case, &ours, theirs.as_deref())),
                }
                if known.is_some() { "explained" } else { "different" }
            }
        };
        *counts.entry((case.kind, case.notation, outcome)).or_default() += 1;
    }
    println!("reading: the Python runtime of protobuf {}", said.trim());
    for ((kind, notation, outcome), count) in &counts {
        println!("  {kind} in {notation}: {count} {outcome}");
    }
    different.iter().take(show).for_each(|it| println!("    {it}"));
    for (Explained(notation, ours, why), count) in EXPLAINED.iter().zip(&used) {
        let (Refused(part) | Taken(part)) = ours;
        println!("  {notation}, {part:?}: {count} explained: {why}");
    }
    let has = |kind, notation, outcome| counts.contains_key(&(kind, notation, outcome));
    let is_whole =
        ["binary", "json", "text", "yaml"].iter().all(|it| has("value", it, "same value"))
            && ["binary", "json", "text"].iter().all(|it| has("edit", it, "both refuse"));
    Ok(different.is_empty() && is_whole && used.iter().all(|it| *it > 0))
}

impl<'c> Case<'c> {
    fn parse(tree: &Tree, line: &'c str) -> Result<Case<'c>> {
        let parts: Vec<&str> = line.split(' ').collect();
        let &[kind, notation, ty, input, answer] = parts.as_slice() else {
            return Err(format!("no case: `{line:.80}`").into());
        };
        let ty = tree.message_named(ty).ok_or_else(|| format!("no `{ty}`"))?.id;
        let expected = (answer != "error").then(|| decode_hex(answer)).transpose()?;
        Ok(Case { kind, notation, ty, input: decode_hex(input)?, expected })
    }
}

fn decode_hex(digits: &str) -> Result<Vec<u8>> {
    let digit = |it: u8| char::from(it).to_digit(16).ok_or("no hexadecimal digit");
    digits.as_bytes().chunks(2).map(|it| Ok((digit(it[0])? * 16 + digit(it[1])?) as u8)).collect()
}

/// What our reader makes of the input: the facts of the value, or why it is refused.
fn read(tree: &Tree, case: &Case<'_>) -> std::result::Result<String, String> {
    let codec = Codec::new(tree);
    let read: std::result::Result<Message, _> = match case.notation {
        "json" => codec.read_json(case.ty, &case.input, UndeclaredPolicy::Refuse).into_result(),
        "text" => codec.read_text(case.ty, &case.input, UndeclaredPolicy::Refuse).into_result(),
        "binary" => codec.decode(case.ty, &case.input),
        _ => return read_as_yaml(tree, case),
    };
    let message = read.map_err(|error| error.to_string())?;
    // The runtime of Python writes no value without its required fields.
    match message.find_missing_required(tree) {
        Some(field) => Err(format!("`{}` is missing", field.full_name())),
        None => Ok(render_facts(tree, &message)),
    }
}

fn read_as_yaml(tree: &Tree, case: &Case<'_>) -> std::result::Result<String, String> {
    let options = ReadOptions {
        notation: Notation::Yaml,
        ty: Some(case.ty),
        dialect: Some(Dialect::Protobuf),
    };
    let instance = Instance::read(tree, &case.input, options);
    if let Some(error) = instance.errors.first() {
        return Err(error.message.clone());
    }
    let mut documents = instance.documents.into_iter().filter_map(|it| it.reading);
    let reading = documents.next().ok_or("there is no document")?;
    if let Some(name) = reading.undeclared.first() {
        return Err(format!("`{}` is not declared", name.name));
    }
    let message = reading.into_result().map_err(|error| error.to_string())?;
    Ok(render_facts(tree, &message))
}

fn describe_difference(
    case: &Case<'_>,
    ours: &std::result::Result<String, String>,
    theirs: Option<&str>,
) -> String {
    let cut = |text: &str| text.chars().take(300).collect::<String>();
    let input = cut(&case.input.escape_ascii().to_string());
    let ours = match ours {
        Ok(value) => cut(value),
        Err(error) => format!("refused: {}", cut(error)),
    };
    let theirs = theirs.map_or_else(|| "refused".to_owned(), cut);
    format!(
        "{} in {}: {input}\n      ours   {ours}\n      theirs {theirs}",
        case.kind, case.notation
    )
}
