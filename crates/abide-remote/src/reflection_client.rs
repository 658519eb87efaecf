//! A stream of the reflection service: one question after the other.

use abide_transport::reflection::{
    Answer, ErrorResponse, PATHS, Question, ServerReflectionRequest, ServerReflectionResponse,
};
use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::args::Header;
use crate::error::{Peer, RemoteError, printable};

/// The most bytes of one response. What its messages take in memory is at most sixteen times that.
const MAX_RESPONSE: usize = 16 << 20;

/// An open stream. A response is read only after a question, so a server that sends more waits.
pub(crate) struct ReflectionClient {
    peer: Peer,
    requests: mpsc::Sender<ServerReflectionRequest>,
    responses: Streaming<ServerReflectionResponse>,
}

/// The answer to a question about files.
pub(crate) enum FileAnswer {
    /// The file that was asked for, perhaps with others.
    Files(Vec<Vec<u8>>),
    /// The server has no such file.
    Unknown,
}

impl ReflectionClient {
    /// Opens a stream of the newest version of the service that the server has. Returns also the names
    /// of its services, sorted.
    ///
    /// # Errors
    /// A server that has no reflection, or does not let this client ask.
    pub(crate) async fn open(
        peer: &Peer,
        channel: &Channel,
        headers: &[Header],
        max_size: usize,
    ) -> Result<(ReflectionClient, Vec<String>), RemoteError> {
        let mut refused = None;
        for path in PATHS {
            let mut grpc = Grpc::new(channel.clone())
                .max_decoding_message_size(MAX_RESPONSE.min(max_size.saturating_add(1 << 16)));
            match ReflectionClient::open_at(path, peer, &mut grpc, headers).await {
                Err(RemoteError::NoReflection { address }) => {
                    refused.get_or_insert(RemoteError::NoReflection { address });
                }
                opened => return opened,
            }
        }
        let none = || RemoteError::NoReflection { address: peer.address.clone() };
        Err(refused.unwrap_or_else(none))
    }

    async fn open_at(
        path: &'static str,
        peer: &Peer,
        grpc: &mut Grpc<Channel>,
        headers: &[Header],
    ) -> Result<(ReflectionClient, Vec<String>), RemoteError> {
        let (requests, receiver) = mpsc::channel(1);
        let mut request = Request::new(ReceiverStream::new(receiver));
        for (name, value) in headers {
            request.metadata_mut().append(name.clone(), value.clone());
        }
        // Some servers answer nothing at all before the first question.
        let question = Some(Question::ListServices("*".to_owned()));
        let first = ServerReflectionRequest { host: String::new(), question };
        let ended = |_| peer.describe_violation("it ended the stream");
        requests.send(first).await.map_err(ended)?;
        let codec = ProstCodec::default();
        grpc.ready().await.map_err(|error| peer.describe_lost_connection(&error))?;
        let opened = grpc.streaming(request, PathAndQuery::from_static(path), codec).await;
        let responses = opened.map_err(|status| peer.describe_status(&status))?.into_inner();
        let mut client = ReflectionClient { peer: peer.clone(), requests, responses };
        let services = match client.receive().await? {
            Answer::Services(listed) => listed.service.into_iter().map(|it| it.name),
            Answer::Error(error) => return Err(client.describe_refusal(&error)),
            _ => {
                return Err(
                    peer.describe_violation("it names no services when it is asked for them")
                );
            }
        };
        let mut services: Vec<String> = services.filter(|it| !it.is_empty()).collect();
        services.sort_unstable();
        services.dedup();
        Ok((client, services))
    }

    /// Asks for the file that declares an element, or for one by its path.
    ///
    /// # Errors
    /// A stream that ends, or an answer to something else.
    pub(crate) async fn ask_for_file(
        &mut self,
        question: Question,
    ) -> Result<FileAnswer, RemoteError> {
        let request = ServerReflectionRequest { host: String::new(), question: Some(question) };
        if self.requests.send(request).await.is_err() {
            // The reason why the stream ended comes with the next response.
            self.receive().await?;
            return Err(self.peer.describe_violation("it ended the stream"));
        }
        match self.receive().await? {
            Answer::Files(files) => Ok(FileAnswer::Files(files.file_descriptor_proto)),
            Answer::Error(error) => match Code::from(error.error_code) {
                Code::NotFound | Code::Unknown | Code::InvalidArgument | Code::Internal => {
                    Ok(FileAnswer::Unknown)
                }
                _ => Err(self.describe_refusal(&error)),
            },
            _ => Err(self
                .peer
                .describe_violation("it sends something else when it is asked for a file")),
        }
    }

    async fn receive(&mut self) -> Result<Answer, RemoteError> {
        match self.responses.message().await {
            Ok(Some(ServerReflectionResponse { answer: Some(answer), .. })) => Ok(answer),
            Ok(Some(_)) => Err(self.peer.describe_violation("a response has no answer")),
            Ok(None) => Err(self.peer.describe_violation("it ended the stream before it answered")),
            Err(status) => Err(self.peer.describe_status(&status)),
        }
    }

    fn describe_refusal(&self, error: &ErrorResponse) -> RemoteError {
        let status = Status::new(Code::from(error.error_code), printable(&error.error_message));
        self.peer.describe_status(&status)
    }
}
