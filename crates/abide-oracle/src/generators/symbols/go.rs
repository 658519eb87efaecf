//! Finds declarations in generated Go, which `gofmt` puts on separate lines.

use std::collections::BTreeMap;
use std::path::Path;

use abide_change::GeneratedSymbol;
use abide_harness::Result;
use abide_schema::File;

use super::declared::{Declared, read};

/// Go is compared file by file: names get the file's path as a prefix, since
/// packages with different paths may have the same name.
pub(super) fn normal(symbol: &GeneratedSymbol, file: File<'_>) -> Option<(String, String)> {
    if matches!(&*symbol.signature, "import" | "package") {
        return None;
    }
    // The model has no package name for files in the topmost folder.
    let has_package = file.go_package().is_some() || file.path().contains('/');
    let name = match has_package {
        true => symbol.name.split_once('.')?.1,
        false => &symbol.name,
    };
    Some((format!("{}: {name}", file.path()), strip_qualifiers(&symbol.signature)))
}

/// Families that every message, enum or service has, which its own symbol covers,
/// and everything for the runtime.
pub(super) fn is_left_out(symbol: &str, signature: &str) -> bool {
    const EVERYWHERE: &[&str] = &[
        "Reset",
        "String",
        "ProtoMessage",
        "ProtoReflect",
        "Descriptor",
        "Enum",
        "Type",
        "Number",
        "EnumDescriptor",
        "ExtensionRangeArray",
    ];
    let name = symbol.split_once(": ").map_or(symbol, |(_, name)| name);
    let (scope, simple) = name.rsplit_once('.').unwrap_or(("", name));
    let is_method = !scope.is_empty();
    // Streams of gRPC are modelled as the generic types of later releases.
    let is_stream = scope.contains('_')
        && matches!(simple, "Send" | "Recv" | "CloseAndRecv" | "SendAndClose")
        || !is_method && scope.is_empty() && is_stream_type(simple);
    // Symbols of a public import are claimed by their outermost types.
    signature.starts_with('=')
        || is_method && EVERYWHERE.contains(&simple)
        || is_stream
        || is_method && scope.starts_with("Unimplemented")
        || !is_method && simple.starts_with("Unsafe") && simple.ends_with("Server")
}

fn is_stream_type(name: &str) -> bool {
    name.contains('_') && (name.ends_with("Client") || name.ends_with("Server"))
}

/// A signature without the names of packages.
fn strip_qualifiers(signature: &str) -> String {
    let mut out = String::new();
    let mut word_at = 0;
    for character in signature.chars() {
        if character == '.' && out.len() > word_at {
            out.truncate(word_at);
            continue;
        }
        out.push(character);
        if !character.is_alphanumeric() && character != '_' {
            word_at = out.len();
        }
    }
    out
}

pub(super) fn scan(out: &Path, files: &[File<'_>]) -> Result<Declared> {
    let mut declared = Declared::new();
    for file in files {
        let stem = file.path().strip_suffix(".proto").unwrap_or(file.path());
        let mut found = BTreeMap::new();
        for suffix in [".pb.go", "_grpc.pb.go"] {
            let path = out.join(format!("{stem}{suffix}"));
            if path.exists() {
                read_declarations(&read(&path)?, &mut found);
            }
        }
        let streams = streams(&found);
        for (name, signature) in &found {
            let mut signature = signature.clone();
            for (stream, generic) in &streams {
                if let Some(at) = signature.find(stream.as_str()) {
                    let ends = signature[at + stream.len()..].starts_with([',', ')']);
                    if ends {
                        signature.replace_range(at..at + stream.len(), generic);
                    }
                }
            }
            declared.insert((format!("{}: {name}", file.path()), signature));
        }
    }
    Ok(declared)
}

fn read_declarations(code: &str, found: &mut BTreeMap<String, String>) {
    // The scope of the line: a type, or a block of constants or variables.
    let mut scope = String::new();
    let mut extensions: Vec<String> = Vec::new();
    let mut extendee = String::new();
    let mut numbers: Vec<(String, usize)> = Vec::new();
    for line in code.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(inner) = line.strip_prefix('\t') {
            if let Some(rest) = inner.trim_start().strip_prefix("ExtendedType:") {
                extendee = nil_type(rest);
            } else if let Some(rest) = inner.trim_start().strip_prefix("ExtensionType:") {
                extensions.push(format!("extension of {extendee}: {}", extension_type(rest)));
            }
            if !inner.starts_with(|it: char| it.is_uppercase()) || scope.is_empty() {
                continue;
            }
            match (scope.as_str(), &words[..]) {
                ("const" | "var", [name, "=", value, ..]) => {
                    let index = value
                        .split_once("extTypes[")
                        .and_then(|(_, rest)| rest.trim_end_matches(']').parse::<usize>().ok());
                    if let Some(index) = index {
                        numbers.push(((*name).to_owned(), index));
                    } else {
                        let ty = value.split(['(', '{']).next().unwrap_or_default();
                        found.insert((*name).to_owned(), strip_qualifiers(ty));
                    }
                }
                ("const" | "var", [name, ty, "=", ..]) => {
                    found.insert((*name).to_owned(), strip_qualifiers(ty));
                }
                (_, [first, ..]) if first.contains('(') => {
                    let name = first.split('(').next().unwrap_or_default();
                    let signature = function(&inner[name.len()..]);
                    found.insert(format!("{scope}.{name}"), signature);
                }
                (_, [name, ty, tag @ ..]) => {
                    let is_oneof =
                        tag.first().is_some_and(|tag| tag.starts_with("`protobuf_oneof"));
                    let ty = if is_oneof { "oneof".to_owned() } else { strip_qualifiers(ty) };
                    found.insert(format!("{scope}.{name}"), ty);
                }
                _ => {}
            }
            continue;
        }
        match words[..] {
            ["type", name, kind, ..] => {
                let kind = if kind == "=" {
                    format!("= {}", strip_qualifiers(words.get(3).copied().unwrap_or_default()))
                } else {
                    kind.to_owned()
                };
                scope = if line.ends_with('{') { name.to_owned() } else { String::new() };
                if is_public(name) {
                    found.insert(name.to_owned(), kind);
                } else {
                    scope = String::new();
                }
            }
            [kind @ ("const" | "var"), "("] => scope = kind.to_owned(),
            ["var" | "const", name, ty, ..] if is_public(name) => {
                found.insert(name.to_owned(), strip_qualifiers(ty));
            }
            ["func", ..] => {
                let rest = &line["func ".len()..];
                let (receiver, rest) = match rest.strip_prefix('(') {
                    Some(rest) => {
                        let (receiver, rest) = rest.split_once(") ").unwrap_or((rest, ""));
                        let ty = receiver.split_whitespace().last().unwrap_or_default();
                        (ty.trim_start_matches('*'), rest)
                    }
                    None => ("", rest),
                };
                let name = rest.split('(').next().unwrap_or_default();
                let signature = function(rest[name.len()..].trim_end_matches(" {"));
                if is_public(name) && (receiver.is_empty() || is_public(receiver)) {
                    let (name, signature) = if receiver.is_empty() {
                        let known = name.starts_with("Register");
                        (name.to_owned(), if known { "func".to_owned() } else { signature })
                    } else {
                        let is_oneof = signature.starts_with("func() is");
                        let oneof = "func() oneof".to_owned();
                        (format!("{receiver}.{name}"), if is_oneof { oneof } else { signature })
                    };
                    found.insert(name, signature);
                }
            }
            [")" | "}"] => scope = String::new(),
            _ => {}
        }
    }
    // The default of an enum field is one of its values.
    let defaults: Vec<_> = found
        .iter()
        .filter(|(name, _)| name.starts_with("Default_"))
        .filter_map(|(name, value)| Some((name.clone(), found.get(value)?.clone())))
        .collect();
    found.extend(defaults);
    for (name, index) in numbers {
        if let Some(signature) = extensions.get(index) {
            found.insert(name, signature.clone());
        }
    }
}

fn is_public(name: &str) -> bool {
    name.starts_with(|it: char| it.is_uppercase())
}

/// `(*T)(nil)` is a nil of type `*T`.
fn nil_type(value: &str) -> String {
    let ty = value.trim().trim_end_matches(',').trim_end_matches("(nil)");
    strip_qualifiers(ty.trim_start_matches("(*").trim_end_matches(')'))
}

fn extension_type(value: &str) -> String {
    let value = value.trim().trim_end_matches(',').trim_end_matches("(nil)");
    strip_qualifiers(value.trim_start_matches('(').trim_end_matches(')'))
}

/// The signature of a function, starting with its parameters, without their names.
fn function(rest: &str) -> String {
    let end = rest.find(')').unwrap_or(rest.len());
    let parameters: Vec<&str> = rest[1..end]
        .split(", ")
        .map(|parameter| parameter.split_once(' ').map_or(parameter, |(_, ty)| ty))
        .collect();
    let result = rest.get(end + 1..).unwrap_or_default().trim();
    let result = if result == "{}" { "" } else { result };
    strip_qualifiers(format!("func({}) {result}", parameters.join(", ")).trim_end())
}

/// The streams of gRPC as the generic types that later releases use.
fn streams(found: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let between = |signature: &str| {
        let start = signature.find('*')? + 1;
        let end = signature[start..].find([',', ')'])?;
        Some(signature[start..start + end].to_owned())
    };
    let mut streams = Vec::new();
    for name in found.keys().filter(|name| is_stream_type(name)) {
        let of = |method: &str| between(found.get(&format!("{name}.{method}"))?);
        let generic = match (of("Send"), of("Recv"), of("CloseAndRecv"), of("SendAndClose")) {
            (Some(sent), Some(got), None, None) if name.ends_with("Client") => {
                format!("BidiStreamingClient[{sent}, {got}]")
            }
            (Some(sent), Some(got), None, None) => format!("BidiStreamingServer[{got}, {sent}]"),
            (None, Some(got), None, None) => format!("ServerStreamingClient[{got}]"),
            (Some(sent), None, None, None) => format!("ServerStreamingServer[{sent}]"),
            (Some(sent), None, Some(got), None) => format!("ClientStreamingClient[{sent}, {got}]"),
            (None, Some(got), None, Some(sent)) => format!("ClientStreamingServer[{got}, {sent}]"),
            _ => continue,
        };
        streams.push((name.clone(), generic));
    }
    streams
}
