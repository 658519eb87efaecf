//! Server reflection: what the services and types of this server are, for programs such as `grpcurl`.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use abide_schema::{Element, FileDecl, FileId, SourceFile, Tree, encode_file, set_files};
use abide_transport::reflection::{
    Answer, ErrorResponse, ExtensionNumberResponse, FileDescriptorResponse, ListServiceResponse,
    PATHS, Question, ServerReflectionRequest, ServerReflectionResponse, ServiceResponse,
};
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tonic::{Code, Status};

use super::conversation::answer_each;
use super::services::{ServedMethod, ServiceMethods, services};
use crate::clients::{ServerState, StreamPermit};
use crate::listeners::DrainSignal;
use crate::resources::Apis;
use abide_transport::{EncodedMessage, RequestStream};

/// Declarations that no API has to have, in both versions that clients ask for.
const FILES: [(&str, &str); 3] = [
    (MESSAGES, include_str!("reflection/discovery.proto")),
    ("grpc/health/v1/health.proto", include_str!("reflection/health.proto")),
    ("grpc/reflection/v1/reflection.proto", REFLECTION),
];

/// The first version of reflection, of which the alpha differs in its package alone.
const REFLECTION: &str = include_str!("reflection/reflection_v1.proto");

/// The messages of services that the API does not declare.
const MESSAGES: &str = "abide/xds/v1/discovery.proto";

/// The services that the API does not declare, and what every server of gRPC has.
fn link_own(apis: &Apis) -> Tree {
    let fixed = FILES.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let alpha =
        REFLECTION.replace("package grpc.reflection.v1;", "package grpc.reflection.v1alpha;");
    let alpha = ("grpc/reflection/v1alpha/reflection.proto".to_owned(), alpha);
    let undeclared = services(apis).into_iter().filter(|(name, methods)| {
        *methods != ServiceMethods::Declared && apis.newest.element_named(name).is_none()
    });
    let declared = undeclared.map(|(name, methods)| {
        (format!("abide/xds/v1/services/{name}.proto"), declare(name, &methods.list()))
    });
    let parse = |(path, text): (String, String)| {
        let (path, text): (Arc<str>, _) = (path.into(), text.into_bytes().into());
        let display = Arc::clone(&path);
        Arc::new(FileDecl::parse(SourceFile { path, display, root: 0, imported: false, text }))
    };
    Tree::link(fixed.into_iter().chain([alpha]).chain(declared).map(parse).collect())
}

/// The text of a file that declares a service.
fn declare(service: &str, methods: &[ServedMethod]) -> String {
    let (package, name) = service.rsplit_once('.').unwrap_or(("", service));
    let side = |(message, is_stream): (&str, bool)| {
        format!("({}.abide.xds.v1.{message})", if is_stream { "stream " } else { "" })
    };
    let method = |it: &ServedMethod| {
        format!("  rpc {}{} returns {};\n", it.name, side(it.request), side(it.response))
    };
    let methods: String = methods.iter().map(method).collect();
    format!(
        "syntax = \"proto3\";\npackage {package};\nimport \"{MESSAGES}\";\nservice {name} {{\n{methods}}}\n"
    )
}

/// Returns true if the reflection service has its stream at a path.
pub(super) fn is_reflection(path: &str) -> bool {
    PATHS.contains(&path)
}

/// Answers one client until either side ends the stream. A file is sent with all that it imports, and
/// once. `own` has what is declared beside the API, as soon as a client asked.
pub(super) async fn converse(
    fleet: &ServerState,
    own: &OnceLock<Tree>,
    _admission: StreamPermit,
    incoming: RequestStream<Incoming, ServerReflectionRequest>,
    outgoing: &mpsc::Sender<Result<EncodedMessage, Status>>,
    leave: Option<DrainSignal>,
) -> Result<(), Status> {
    let mut sent = BTreeSet::new();
    answer_each(usize::MAX, incoming, outgoing, leave, |request| {
        let own = own.get_or_init(|| link_own(&fleet.apis));
        let failed = |status: Status| {
            let (error_code, error_message) = (status.code().into(), status.message().to_owned());
            Answer::Error(ErrorResponse { error_code, error_message })
        };
        let answered = answer((&fleet.apis, own), &request, &mut sent);
        Ok(ServerReflectionResponse {
            valid_host: request.host.clone(),
            original_request: Some(request),
            answer: Some(answered.unwrap_or_else(failed)),
        })
    })
    .await
}

/// Answers one question, from the API and from what is declared beside it. `sent` has the files that
/// the stream was sent.
fn answer(
    (apis, own): (&Apis, &Tree),
    request: &ServerReflectionRequest,
    sent: &mut BTreeSet<String>,
) -> Result<Answer, Status> {
    let question = request.question.as_ref();
    let question = question.ok_or_else(|| Status::invalid_argument("there is no question"))?;
    match question {
        Question::ListServices(_) => {
            let service = services(apis).into_keys();
            let service = service.map(|name| ServiceResponse { name: name.to_owned() }).collect();
            Ok(Answer::Services(ListServiceResponse { service }))
        }
        Question::FileByFilename(path) => {
            let file = [apis.newest, own].into_iter().find_map(|tree| {
                let file = tree.files().find(|it| it.path() == path)?;
                Some((tree, file.id))
            });
            let (tree, file) = file.ok_or_else(|| not_found("file", path))?;
            Ok(encode(tree, file, sent))
        }
        Question::FileContainingSymbol(name) => {
            let file = [apis.newest, own]
                .into_iter()
                .find_map(|tree| Some((tree, file_of_symbol(tree, name)?)));
            let (tree, file) = file.ok_or_else(|| not_found("element", name))?;
            Ok(encode(tree, file, sent))
        }
        Question::FileContainingExtension(it) => {
            let number = it.extension_number;
            let found = apis.newest.files().find(|file| {
                extensions(*file, &it.containing_type).any(|extension| extension == number)
            });
            let name = format!("{} {number}", it.containing_type);
            let file = found.ok_or_else(|| not_found("extension", &name))?;
            Ok(encode(apis.newest, file.id, sent))
        }
        Question::AllExtensionNumbersOfType(name) => {
            if ![apis.newest, own].iter().any(|tree| tree.message_named(name).is_some()) {
                return Err(not_found("message", name));
            }
            let files = apis.newest.files();
            let numbers: BTreeSet<i32> = files.flat_map(|it| extensions(it, name)).collect();
            Ok(Answer::ExtensionNumbers(ExtensionNumberResponse {
                base_type_name: name.clone(),
                extension_number: numbers.into_iter().collect(),
            }))
        }
    }
}

fn not_found(what: &str, name: &str) -> Status {
    Status::new(Code::NotFound, format!("the API that is served has no {what} `{name}`"))
}

/// The file that declares an element, which may be a method or a value of an enum.
fn file_of_symbol(tree: &Tree, name: &str) -> Option<FileId> {
    tree.element_named(name).map(|it: Element<'_>| it.file().id)
}

/// The numbers of the extensions of a message that a file declares, at any depth.
fn extensions<'f>(
    file: abide_schema::File<'f>,
    message: &'f str,
) -> impl Iterator<Item = i32> + use<'f> {
    let all = file.all_fields().filter(|it| it.is_extension());
    all.filter(move |it| it.extendee().is_some_and(|it| it.full_name() == message))
        .map(|it| it.number())
}

/// A file with all that it imports, without what was sent before.
fn encode(tree: &Tree, file: FileId, sent: &mut BTreeSet<String>) -> Answer {
    let mut files = set_files(tree, &[file], true);
    // Clients take the first for what they asked for.
    files.reverse();
    let is_new = |id: &FileId| *id == file || !sent.contains(tree.file(*id).path());
    let chosen: Vec<FileId> = files.into_iter().filter(is_new).collect();
    sent.extend(chosen.iter().map(|id| tree.file(*id).path().to_owned()));
    let encoded = chosen.into_iter().map(|id| encode_file(tree, id, false));
    Answer::Files(FileDescriptorResponse { file_descriptor_proto: encoded.collect() })
}
