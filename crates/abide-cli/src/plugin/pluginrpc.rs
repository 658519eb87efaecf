//! PluginRPC version 1: the host names a procedure in the arguments, writes the request to standard
//! input and reads the response from standard output.

use abide_schema::value::Message;
use serde_json::{Value, json};

use super::messages::{Messages, serialised_json};

const REQUEST: &str = "pluginrpc.v1.Request";
const RESPONSE: &str = "pluginrpc.v1.Response";
const SPEC: &str = "pluginrpc.v1.Spec";

/// The prefix of the type URL of an `Any`.
const TYPE_URL: &str = "type.googleapis.com/";

/// A procedure of a plugin.
pub(super) struct Procedure {
    /// The path that the host knows it by.
    pub(super) path: &'static str,
    /// The argument that calls it.
    pub(super) name: &'static str,
    /// The type of its request.
    pub(super) request: &'static str,
    /// The type of its response.
    pub(super) response: &'static str,
    /// Answers a request, or says what is wrong with it.
    pub(super) answer: fn(&Messages, &Message) -> Result<Value, String>,
}

/// The encoding of messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Binary,
    Json,
}

/// Does what the arguments ask for: what goes to standard output, or why the call is wrong.
///
/// `input` reads standard input, which only a procedure does.
pub(super) fn run(
    procedures: &[Procedure],
    args: &[String],
    input: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let call = Call::parse(args)?;
    match call.words[..] {
        _ if call.protocol => Ok(b"1\n".to_vec()),
        _ if call.spec => {
            let procedures =
                procedures.iter().map(|it| json!({"path": it.path, "args": [it.name]}));
            let spec = json!({"procedures": procedures.collect::<Vec<_>>()});
            Ok(written(&Messages::new(), SPEC, &spec, call.notation))
        }
        [word] => match procedures.iter().find(|it| [it.name, it.path].contains(&word)) {
            Some(procedure) => Ok(response(procedure, &input()?, call.notation)),
            None => Err(format!("there is no procedure `{word}`: {}", usage(procedures))),
        },
        _ => Err(format!("a call names one procedure: {}", usage(procedures))),
    }
}

fn usage(procedures: &[Procedure]) -> String {
    let names: Vec<String> = procedures.iter().map(|it| format!("`{}`", it.name)).collect();
    format!("pass {}, `--spec` or `--protocol`", names.join(", "))
}

/// The arguments of a call.
struct Call<'a> {
    protocol: bool,
    spec: bool,
    notation: Notation,
    words: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn parse(args: &'a [String]) -> Result<Call<'a>, String> {
        let notation = Notation::Binary;
        let mut call = Call { protocol: false, spec: false, notation, words: Vec::new() };
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            let format = match arg {
                "--protocol" => {
                    call.protocol = true;
                    continue;
                }
                "--spec" => {
                    call.spec = true;
                    continue;
                }
                "--format" => args.next(),
                _ => arg.strip_prefix("--format="),
            };
            call.notation = match format {
                Some("binary") => Notation::Binary,
                Some("json") => Notation::Json,
                Some(other) => {
                    return Err(format!("unknown format `{other}`: pass `binary` or `json`"));
                }
                None if arg == "--format" => {
                    return Err("`--format` needs `binary` or `json`".to_owned());
                }
                None if arg.starts_with('-') => return Err(format!("unknown option `{arg}`")),
                None => {
                    call.words.push(arg);
                    continue;
                }
            };
        }
        Ok(call)
    }
}

/// Builds the response of a procedure: a value, or an error that the host shows.
fn response(procedure: &Procedure, input: &[u8], notation: Notation) -> Vec<u8> {
    let messages = Messages::new();
    let answer = request(&messages, procedure, input, notation)
        .and_then(|request| (procedure.answer)(&messages, &request));
    let response = match answer {
        Ok(Value::Object(mut fields)) => {
            fields.insert("@type".to_owned(), format!("{TYPE_URL}{}", procedure.response).into());
            json!({ "value": fields })
        }
        Ok(_) => unreachable!("a message is an object"),
        Err(message) => json!({"error": {"code": "CODE_INVALID_ARGUMENT", "message": message}}),
    };
    written(&messages, RESPONSE, &response, notation)
}

/// Reads the message of a request; nothing at all is one without fields.
fn request(
    messages: &Messages,
    procedure: &Procedure,
    input: &[u8],
    notation: Notation,
) -> Result<Message, String> {
    let input = match notation {
        Notation::Json if !input.is_empty() => serialised_json(REQUEST, input)?,
        _ => input.to_vec(),
    };
    let request = messages.decode(REQUEST, &input)?;
    let tree = messages.tree();
    let Some(any) = request.message(tree, "value") else {
        return messages.decode(procedure.request, &[]);
    };
    let url = any.str(tree, "type_url").unwrap_or_default();
    if url.rsplit('/').next() != Some(procedure.request) {
        return Err(format!("`{}` takes a {}, not `{url}`", procedure.name, procedure.request));
    }
    let value = any.get(tree, "value").and_then(|it| it.value.as_bytes());
    messages.decode(procedure.request, value.unwrap_or_default())
}

/// A message as the host asked to have it; JSON keeps the names of fields.
fn written(messages: &Messages, ty: &str, message: &Value, notation: Notation) -> Vec<u8> {
    match notation {
        Notation::Binary => messages.serialise(ty, message),
        Notation::Json => message.to_string().into_bytes(),
    }
}
