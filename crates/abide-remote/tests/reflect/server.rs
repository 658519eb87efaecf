//! A server of reflection that answers as a test says, on the loopback, while the test runs.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use abide_transport::reflection::{
    Answer, ErrorResponse, FileDescriptorResponse, ListServiceResponse, PATHS, Question,
    ServerReflectionRequest, ServerReflectionResponse, ServiceResponse,
};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use prost_types::{FileDescriptorProto, ServiceDescriptorProto};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::server::StreamingService;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

/// What a server does after a question.
pub(crate) enum Reply {
    Answer(Answer),
    /// A response without an answer.
    Nothing,
    /// The same answer for ever.
    Flood(Answer),
    /// No response, and no end either.
    Silence,
    /// The end of the stream.
    End,
    Status(Status),
}

type Script = dyn Fn(&Question) -> Reply + Send + Sync;

/// The behaviour of a server.
#[derive(Clone)]
pub(crate) struct Behaviour {
    /// The paths of the call that it has.
    pub(crate) paths: Vec<&'static str>,
    pub(crate) script: Arc<Script>,
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

impl Behaviour {
    pub(crate) fn new(script: impl Fn(&Question) -> Reply + Send + Sync + 'static) -> Behaviour {
        Behaviour { paths: PATHS.to_vec(), script: Arc::new(script), tls: None }
    }

    /// Answers from these files as good servers do: of each only the file that was asked for.
    pub(crate) fn of_files(files: Vec<FileDescriptorProto>) -> Behaviour {
        Behaviour::new(move |question| Reply::Answer(answer_from(&files, question)))
    }
}

/// The honest answer to a question.
pub(crate) fn answer_from(files: &[FileDescriptorProto], question: &Question) -> Answer {
    let services = |file: &FileDescriptorProto| {
        let package = file.package().to_owned();
        let names = file.service.iter().map(move |it| format!("{package}.{}", it.name()));
        names.collect::<Vec<String>>()
    };
    let found = match question {
        Question::ListServices(_) => {
            return list_services(files.iter().flat_map(services));
        }
        Question::FileByFilename(path) => files.iter().find(|it| it.name() == path),
        Question::FileContainingSymbol(name) => files.iter().find(|it| services(it).contains(name)),
        _ => None,
    };
    found.map_or_else(not_found, |file| send_files(&[file]))
}

pub(crate) fn not_found() -> Answer {
    Answer::Error(ErrorResponse { error_code: 5, error_message: "not found".to_owned() })
}

pub(crate) fn list_services(names: impl IntoIterator<Item = String>) -> Answer {
    let service = names.into_iter().map(|name| ServiceResponse { name }).collect();
    Answer::Services(ListServiceResponse { service })
}

pub(crate) fn send_files(files: &[&FileDescriptorProto]) -> Answer {
    let file_descriptor_proto = files.iter().map(|it| it.encode_to_vec()).collect();
    Answer::Files(FileDescriptorResponse { file_descriptor_proto })
}

/// A file with a service if it has a name.
pub(crate) fn file(path: &str, imports: &[&str], service: &str) -> FileDescriptorProto {
    let service = (!service.is_empty()).then(|| ServiceDescriptorProto {
        name: Some(service.to_owned()),
        ..ServiceDescriptorProto::default()
    });
    FileDescriptorProto {
        name: Some(path.to_owned()),
        package: Some("acme.v1".to_owned()),
        dependency: imports.iter().map(|it| (*it).to_owned()).collect(),
        service: service.into_iter().collect(),
        syntax: Some("proto3".to_owned()),
        ..FileDescriptorProto::default()
    }
}

/// A running server. It ends when this is dropped.
pub(crate) struct Server {
    pub(crate) address: String,
    /// The `authorization` headers of its calls.
    pub(crate) authorizations: Arc<Mutex<Vec<String>>>,
    runtime: Option<Runtime>,
}

impl Server {
    pub(crate) fn start(behaviour: Behaviour) -> Server {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let authorizations = Arc::<Mutex<Vec<String>>>::default();
        runtime.spawn(accept(listener, behaviour, Arc::clone(&authorizations)));
        Server { address, authorizations, runtime: Some(runtime) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(
    listener: TcpListener,
    behaviour: Behaviour,
    authorizations: Arc<Mutex<Vec<String>>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (behaviour, authorizations) = (behaviour.clone(), Arc::clone(&authorizations));
        tokio::spawn(async move {
            match behaviour.tls.clone() {
                None => serve(stream, behaviour, authorizations).await,
                Some(tls) => {
                    if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                        serve(stream, behaviour, authorizations).await;
                    }
                }
            }
        });
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    behaviour: Behaviour,
    authorizations: Arc<Mutex<Vec<String>>>,
) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let (behaviour, authorizations) = (behaviour.clone(), Arc::clone(&authorizations));
        async move {
            let shown = request.headers().get("authorization").and_then(|it| it.to_str().ok());
            let shown = shown.map(str::to_owned);
            authorizations.lock().expect("nobody panics").extend(shown);
            let is_known = behaviour.paths.contains(&request.uri().path());
            let mut grpc = tonic::server::Grpc::new(ProstCodec::default());
            Ok::<http::Response<Body>, Infallible>(match is_known {
                true => grpc.streaming(Call(behaviour.script), request.map(Body::new)).await,
                false => Status::unimplemented("no such call").into_http(),
            })
        }
    });
    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    // Clients may leave as they like.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

struct Call(Arc<Script>);

impl StreamingService<ServerReflectionRequest> for Call {
    type Response = ServerReflectionResponse;
    type ResponseStream = ReceiverStream<Result<ServerReflectionResponse, Status>>;
    type Future =
        Pin<Box<dyn Future<Output = Result<Response<Self::ResponseStream>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<ServerReflectionRequest>>) -> Self::Future {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(converse(Arc::clone(&self.0), request.into_inner(), sender));
        Box::pin(async move { Ok(Response::new(ReceiverStream::new(receiver))) })
    }
}

async fn converse(
    script: Arc<Script>,
    mut requests: Streaming<ServerReflectionRequest>,
    responses: mpsc::Sender<Result<ServerReflectionResponse, Status>>,
) {
    let respond = |answer| ServerReflectionResponse { answer, ..Default::default() };
    while let Ok(Some(request)) = requests.message().await {
        let Some(question) = request.question else { return };
        let response = match script(&question) {
            Reply::Answer(answer) => Ok(respond(Some(answer))),
            Reply::Nothing => Ok(respond(None)),
            Reply::Flood(answer) => {
                while responses.send(Ok(respond(Some(answer.clone())))).await.is_ok() {}
                return;
            }
            Reply::Silence => return responses.closed().await,
            Reply::End => return,
            Reply::Status(status) => Err(status),
        };
        if responses.send(response).await.is_err() {
            return;
        }
    }
}
