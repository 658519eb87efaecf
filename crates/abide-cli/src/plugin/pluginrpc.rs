//! PluginRPC version 1: the host names a procedure in the arguments, writes the request to standard
//! input and reads the response from standard output.

use abide_schema::value::Message;
use serde_json::{Value, json};

use super::messages::{ProtocolMessages, serialize_json};

const REQUEST: &str = "pluginrpc.v1.Request";
const RESPONSE: &str = "pluginrpc.v1.Response";
const SPEC: &str = "pluginrpc.v1.Spec";

/// The prefix of the type URL of an `Any`.
const TYPE_URL: &str = "type.googleapis.com/";

/// A procedure of a plugin.
pub(super) struct RpcProcedure {
    /// The path that the host knows it by.
    pub(super) path: &'static str,
    /// The argument that calls it.
    pub(super) name: &'static str,
    /// The type of its request.
    pub(super) request: &'static str,
    /// The type of its response.
    pub(super) response: &'static str,
    /// Answers a request, or says what is wrong with it.
    pub(super) answer: fn(&ProtocolMessages, &Message) -> Result<Value, String>,
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
    procedures: &[RpcProcedure],
    args: &[String],
    input: impl FnOnce() -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let call = RpcCall::parse(args)?;
    match call.words[..] {
        _ if call.protocol => Ok(b"1\n".to_vec()),
        _ if call.spec => {
            let procedures =
                procedures.iter().map(|it| json!({"path": it.path, "args": [it.name]}));
            let spec = json!({"procedures": procedures.collect::<Vec<_>>()});
            Ok(encode_message(&ProtocolMessages::new(), SPEC, &spec, call.notation))
        }
        [word] => match procedures.iter().find(|it| [it.name, it.path].contains(&word)) {
            Some(procedure) => Ok(build_response(procedure, &input()?, call.notation)),
            None => Err(format!("there is no procedure `{word}`: {}", describe_usage(procedures))),
        },
        _ => Err(format!("a call names one procedure: {}", describe_usage(procedures))),
    }
}

fn describe_usage(procedures: &[RpcProcedure]) -> String {
    let names: Vec<String> = procedures.iter().map(|it| format!("`{}`", it.name)).collect();
    format!("pass {}, `--spec` or `--protocol`", names.join(", "))
}

/// The arguments of a call.
struct RpcCall<'a> {
    protocol: bool,
    spec: bool,
    notation: Notation,
    words: Vec<&'a str>,
}

impl<'a> RpcCall<'a> {
    fn parse(args: &'a [String]) -> Result<RpcCall<'a>, String> {
        let notation = Notation::Binary;
        let mut call = RpcCall { protocol: false, spec: false, notation, words: Vec::new() };
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
fn build_response(procedure: &RpcProcedure, input: &[u8], notation: Notation) -> Vec<u8> {
    let messages = ProtocolMessages::new();
    let answer = read_request(&messages, procedure, input, notation)
        .and_then(|request| (procedure.answer)(&messages, &request));
    let response = match answer {
        Ok(Value::Object(mut fields)) => {
            fields.insert("@type".to_owned(), format!("{TYPE_URL}{}", procedure.response).into());
            json!({ "value": fields })
        }
        Ok(_) => unreachable!("a message is an object"),
        Err(message) => json!({"error": {"code": "CODE_INVALID_ARGUMENT", "message": message}}),
    };
    encode_message(&messages, RESPONSE, &response, notation)
}

/// Reads the message of a request; nothing at all is one without fields.
fn read_request(
    messages: &ProtocolMessages,
    procedure: &RpcProcedure,
    input: &[u8],
    notation: Notation,
) -> Result<Message, String> {
    let input = match notation {
        Notation::Json if !input.is_empty() => serialize_json(REQUEST, input)?,
        _ => input.to_vec(),
    };
    let request = messages.decode(REQUEST, &input)?;
    let tree = messages.tree();
    let Some(any) = request.get_message(tree, "value") else {
        return messages.decode(procedure.request, &[]);
    };
    let url = any.get_str(tree, "type_url").unwrap_or_default();
    if url.rsplit('/').next() != Some(procedure.request) {
        return Err(format!("`{}` takes a {}, not `{url}`", procedure.name, procedure.request));
    }
    let value = any.get(tree, "value").and_then(|it| it.value.as_bytes());
    messages.decode(procedure.request, value.unwrap_or_default())
}

/// A message as the host asked to have it; JSON keeps the names of fields.
fn encode_message(
    messages: &ProtocolMessages,
    ty: &str,
    message: &Value,
    notation: Notation,
) -> Vec<u8> {
    match notation {
        Notation::Binary => messages.serialise(ty, message),
        Notation::Json => message.to_string().into_bytes(),
    }
}
