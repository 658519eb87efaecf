//! The messages of server reflection, which are the same in both versions of the service.

use prost::{Message, Oneof};

/// The paths of the call of reflection, the newer version first.
pub const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// A request of a client.
#[derive(Clone, PartialEq, Message)]
pub struct ServerReflectionRequest {
    /// The host that the client means, for servers that stand for several.
    #[prost(string, tag = "1")]
    pub host: String,
    /// The question.
    #[prost(oneof = "Question", tags = "3, 4, 5, 6, 7")]
    pub question: Option<Question>,
}

/// A question about a server.
#[derive(Clone, PartialEq, Oneof)]
pub enum Question {
    /// The file with this path.
    #[prost(string, tag = "3")]
    FileByFilename(String),
    /// The file that declares this element.
    #[prost(string, tag = "4")]
    FileContainingSymbol(String),
    /// The file that declares this extension.
    #[prost(message, tag = "5")]
    FileContainingExtension(ExtensionRequest),
    /// The numbers of all extensions of this message.
    #[prost(string, tag = "6")]
    AllExtensionNumbersOfType(String),
    /// The names of all services.
    #[prost(string, tag = "7")]
    ListServices(String),
}

/// An extension of a message.
#[derive(Clone, PartialEq, Message)]
pub struct ExtensionRequest {
    /// The full name of the message that is extended.
    #[prost(string, tag = "1")]
    pub containing_type: String,
    /// The number of the extension.
    #[prost(int32, tag = "2")]
    pub extension_number: i32,
}

/// The response to a request.
#[derive(Clone, PartialEq, Message)]
pub struct ServerReflectionResponse {
    /// The host that answers.
    #[prost(string, tag = "1")]
    pub valid_host: String,
    /// The request.
    #[prost(message, optional, tag = "2")]
    pub original_request: Option<ServerReflectionRequest>,
    /// The answer.
    #[prost(oneof = "Answer", tags = "4, 5, 6, 7")]
    pub answer: Option<Answer>,
}

/// An answer of a server.
#[derive(Clone, PartialEq, Oneof)]
pub enum Answer {
    /// A file; others that it imports may come with it.
    #[prost(message, tag = "4")]
    Files(FileDescriptorResponse),
    /// Numbers of extensions.
    #[prost(message, tag = "5")]
    ExtensionNumbers(ExtensionNumberResponse),
    /// Names of services.
    #[prost(message, tag = "6")]
    Services(ListServiceResponse),
    /// The reason why there is no answer.
    #[prost(message, tag = "7")]
    Error(ErrorResponse),
}

/// Files, each a serialised `FileDescriptorProto`.
#[derive(Clone, PartialEq, Message)]
pub struct FileDescriptorResponse {
    /// The files.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub file_descriptor_proto: Vec<Vec<u8>>,
}

/// Numbers of the extensions of a message.
#[derive(Clone, PartialEq, Message)]
pub struct ExtensionNumberResponse {
    /// The full name of the message.
    #[prost(string, tag = "1")]
    pub base_type_name: String,
    /// The numbers.
    #[prost(int32, repeated, tag = "2")]
    pub extension_number: Vec<i32>,
}

/// All services of a server.
#[derive(Clone, PartialEq, Message)]
pub struct ListServiceResponse {
    /// The services.
    #[prost(message, repeated, tag = "1")]
    pub service: Vec<ServiceResponse>,
}

/// A service of a server.
#[derive(Clone, PartialEq, Message)]
pub struct ServiceResponse {
    /// Its full name.
    #[prost(string, tag = "1")]
    pub name: String,
}

/// The reason why there is no answer.
#[derive(Clone, PartialEq, Message)]
pub struct ErrorResponse {
    /// A status code of gRPC.
    #[prost(int32, tag = "1")]
    pub error_code: i32,
    /// The reason, for people.
    #[prost(string, tag = "2")]
    pub error_message: String,
}
