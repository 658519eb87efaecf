//! The plugin of protoc.

use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::compiler::CodeGeneratorResponse;

use crate::run::{Ran, abide, abide_with};
use crate::{checked, data, recorded};

fn run(request: &[u8]) -> (CodeGeneratorResponse, Ran) {
    let ran = abide_with(&data(), &["plugin", "protoc"], request);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (CodeGeneratorResponse::decode(&*ran.stdout).unwrap(), ran)
}

/// A field of a request: a text, or a file.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    prost_reflect::prost::encode_length_delimiter(bytes.len(), &mut field).unwrap();
    [field, bytes.to_vec()].concat()
}

/// A request about files of the new tree.
fn request(files: &[&str], parameter: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set.binpb");
    let ran = abide(&data(), &["build", "new", "-o", out.to_str().unwrap()]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let set = std::fs::read(out).unwrap();
    let mut request: Vec<u8> = files.iter().flat_map(|it| field(1, it.as_bytes())).collect();
    request.extend(field(2, parameter.as_bytes()));
    let mut set = &set[..];
    // The files of a set are its field 1, and field 15 of a request.
    while let Some((0x0a, mut rest)) = set.split_first() {
        let length = prost_reflect::prost::decode_length_delimiter(&mut rest).unwrap();
        let (file, behind) = rest.split_at(length);
        request.extend(field(15, file));
        set = behind;
    }
    request
}

const ORDER: &str = "acme/shop/v1/order.proto";
const LEGACY: &str = "acme/shop/v1/legacy.proto";

/// What `abide check` has to say of these files.
fn checked_in(files: &[&str]) -> Vec<String> {
    let mut all = checked(&["check", "new", "--against", "old"]);
    all.retain(|it| files.iter().any(|file| it.starts_with(file)));
    all
}

/// The findings of an error: `PATH:LINE:COLUMN rule`, as `checked` has them.
fn places(error: &str) -> Vec<String> {
    let line = |line: &str| {
        let (place, rest) = line.split_once(": ").unwrap();
        let (_, rule) = rest.rsplit_once(" [").unwrap();
        format!("{place} {}", rule.strip_suffix(']').unwrap())
    };
    let mut places: Vec<String> = error.lines().skip(1).map(line).collect();
    places.sort();
    places
}

#[test]
fn the_files_of_a_target_are_judged_where_abide_check_judges_them() {
    for files in [&[ORDER, LEGACY][..], &[ORDER], &[LEGACY]] {
        let (response, ran) = run(&request(files, "against=old.binpb"));
        let wanted = checked_in(files);
        assert!(!wanted.is_empty());
        let error = response.error.unwrap();
        assert_eq!(places(&error), wanted);
        let count =
            if wanted.len() == 1 { "1 error".into() } else { format!("{} errors", wanted.len()) };
        assert_eq!(error.lines().next(), Some(&*count));
        assert!(response.file.is_empty() && ran.stderr.is_empty(), "{}", ran.stderr);
    }
    // What it imports was judged with its own target.
    let (response, _) = run(&request(&["acme/type/v1/money.proto"], "against=old.binpb"));
    assert_eq!(response.error, None);
}

/// A folder is an old tree as well: a plugin reads whatever source is named.
#[test]
fn a_recorded_request_is_answered() {
    let request = recorded("protoc.request.binpb");
    let (response, _) = run(&request);
    assert_eq!(places(response.error()), checked_in(&[ORDER, LEGACY]));
    // Of a field that is sent twice, the last counts.
    let of_folder = [request, field(2, b"against=old")].concat();
    assert_eq!(run(&of_folder).0.error, response.error);
}

#[test]
fn what_protoc_must_know_is_in_every_answer() {
    for parameter in ["", "nonsense=1"] {
        let request = request(&[LEGACY], parameter);
        let ran = abide_with(&data(), &["plugin", "protoc"], &request);
        // Field 2 is `supported_features`: proto3 optional and editions. Fields 3 and 4 are the
        // editions, from proto2 to 2026.
        for field in [&[0x10, 3][..], &[0x18, 0xe6, 0x07], &[0x20, 0xea, 0x07]] {
            assert!(ran.stdout.windows(field.len()).any(|it| it == field), "{:x?}", ran.stdout);
        }
    }
}

#[test]
fn a_report_is_a_generated_file() {
    let parameter = "against=old.binpb,fail=never,report=shop/abide.json";
    let (response, ran) = run(&request(&[ORDER], parameter));
    assert_eq!(response.error, None);
    let [report] = &response.file[..] else { panic!("{response:?}") };
    assert_eq!(report.name(), "shop/abide.json");
    let lines: Vec<&str> = report.content().lines().collect();
    let wanted = checked_in(&[ORDER]);
    assert_eq!(lines.len(), wanted.len() + 1, "a line for each, and the summary");
    assert_eq!(ran.stderr.lines().count(), wanted.len(), "they are shown: {}", ran.stderr);

    let parameter = "against=old.binpb,fail=never,report=abide.xml,format=junit";
    let (response, _) = run(&request(&[ORDER], parameter));
    assert!(response.file[0].content().starts_with("<?xml"), "{response:?}");
    // An empty report is a stamp.
    let (response, ran) = run(&request(&["acme/type/v1/money.proto"], "report=stamp.json"));
    assert_eq!((response.error, response.file.len(), &*ran.stderr), (None, 1, ""));
}

#[test]
fn what_is_wrong_is_in_the_response() {
    for (parameter, why) in [
        ("agianst=old.binpb", "unknown option `agianst`; the options are `against`"),
        ("against", "the option `against` needs a value"),
        ("against=nowhere.binpb", "cannot read `nowhere.binpb`"),
        ("preset=nope", "unknown preset `nope`"),
        ("format=nope", "unknown format `nope`"),
        ("fail=maybe", "`fail=maybe`: pass `error` or `never`"),
    ] {
        let (response, _) = run(&request(&[ORDER], parameter));
        assert!(response.error().contains(why), "{}", response.error());
    }
    let ran = abide_with(&data(), &["plugin", "protoc"], b"nonsense");
    let response = CodeGeneratorResponse::decode(&*ran.stdout).unwrap();
    assert!(response.error().starts_with("not a google.protobuf.compiler.CodeGeneratorRequest"));
    let ran = abide_with(&data(), &["plugin", "protoc", "--out"], b"");
    assert_eq!(ran.status, 2);
}
