//! A member of etcd, called over gRPC.

use std::error::Error as StdError;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::error::Elapsed;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::error::Error;

use super::EtcdArgs;
use super::keys::{Keys, MAX_VALUE, prefix_end};
use super::wire::{
    AuthenticateRequest, AuthenticateResponse, RangeRequest, RangeResponse, WatchCreateRequest,
    WatchRequest, WatchResponse,
};

/// How long a member may take for one answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent connection is asked whether it still lives, and how long it has to answer.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));
/// How many keys are read at once.
const PAGE: usize = 16;
/// How many bytes a response may have: a page of the largest values, with their keys.
const MAX_RESPONSE: usize = PAGE * (MAX_VALUE + (64 << 10));

/// A connection to a member.
pub(super) struct EtcdMember {
    grpc: Grpc<Channel>,
    token: Option<MetadataValue<tonic::metadata::Ascii>>,
}

/// Changes below a prefix as they come.
pub(super) struct EtcdWatch {
    responses: Streaming<WatchResponse>,
    /// The stream ends with it.
    _requests: mpsc::Sender<WatchRequest>,
}

impl EtcdMember {
    /// Connects, and logs in if there is somebody to log in as. Certificates and passwords are read
    /// anew, so they can be changed.
    ///
    /// # Errors
    /// A member that does not let it now.
    pub(super) async fn connect(address: &str, args: &EtcdArgs) -> Result<EtcdMember, Error> {
        let scheme = if args.is_secure() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"));
        let endpoint = endpoint
            .map_err(|error| Error::unavailable(root_cause(&error)))?
            .connect_timeout(CALL_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .keep_alive_while_idle(true);
        let endpoint = match args.is_secure() {
            true => endpoint
                .tls_config(read_tls(args)?)
                .map_err(|error| Error::unavailable(root_cause(&error)))?,
            false => endpoint,
        };
        let channel =
            endpoint.connect().await.map_err(|error| Error::unavailable(root_cause(&error)))?;
        let grpc = Grpc::new(channel).max_decoding_message_size(MAX_RESPONSE);
        let mut member = EtcdMember { grpc, token: None };
        if let (Some(name), Some(file)) = (&args.etcd_user, &args.etcd_password_file) {
            let password =
                std::fs::read_to_string(file).map_err(|error| Error::cannot_read(file, error))?;
            let password = password.trim_end_matches(['\r', '\n']).to_owned();
            let request = AuthenticateRequest { name: name.clone(), password };
            let answer: AuthenticateResponse = member
                .call("/etcdserverpb.Auth/Authenticate", request)
                .await
                .map_err(describe_status)?;
            let token = answer.token.parse();
            member.token =
                Some(token.map_err(|_| Error::unavailable("it gave a token that cannot be used"))?);
        }
        Ok(member)
    }

    fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("token", token.clone());
        }
        request
    }

    async fn call<M, A>(&mut self, path: &'static str, message: M) -> Result<A, Status>
    where
        M: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let request = self.request(message);
        let answer = async {
            self.grpc.ready().await.map_err(|error| Status::unavailable(root_cause(&error)))?;
            let path = http::uri::PathAndQuery::from_static(path);
            self.grpc.unary(request, path, ProstCodec::<M, A>::default()).await
        };
        let late = |_| Status::deadline_exceeded("it does not answer");
        Ok(timeout(CALL_TIMEOUT, answer).await.map_err(late)??.into_inner())
    }

    /// Reads all keys below a prefix, at one revision.
    ///
    /// # Errors
    /// A member that does not answer now, or more than is taken.
    pub(super) async fn read(&mut self, prefix: &[u8]) -> Result<Keys, Error> {
        let mut keys: Option<Keys> = None;
        let mut from = if prefix.is_empty() { vec![0] } else { prefix.to_vec() };
        loop {
            let request = RangeRequest {
                key: from,
                range_end: prefix_end(prefix),
                limit: PAGE as i64,
                revision: keys.as_ref().map_or(0, |it| it.revision),
            };
            let page: RangeResponse =
                self.call("/etcdserverpb.KV/Range", request).await.map_err(describe_status)?;
            let header = page.header.unwrap_or_default();
            let all = keys.get_or_insert_with(|| {
                Keys::new(prefix.into(), header.cluster_id, header.revision)
            });
            for kv in &page.kvs {
                all.put(kv)?;
            }
            match page.kvs.last() {
                Some(last) if page.more => from = [&*last.key, b"\0"].concat(),
                _ => return keys.ok_or_else(|| Error::unavailable("it has no answer")),
            }
        }
    }

    /// Returns true if any key begins with a prefix.
    ///
    /// # Errors
    /// A member that does not answer now, or does not let it.
    pub(super) async fn has_keys(&mut self, prefix: &[u8]) -> Result<bool, Error> {
        let request = RangeRequest {
            key: if prefix.is_empty() { vec![0] } else { prefix.to_vec() },
            range_end: prefix_end(prefix),
            limit: 1,
            revision: 0,
        };
        let page: RangeResponse =
            self.call("/etcdserverpb.KV/Range", request).await.map_err(describe_status)?;
        Ok(!page.kvs.is_empty())
    }

    /// Watches what changes below a prefix after a revision. A member that lost its leader ends
    /// the watch, so that a newer truth can be had from another one.
    ///
    /// # Errors
    /// A member that does not let it now.
    pub(super) async fn watch(&mut self, prefix: &[u8], after: i64) -> Result<EtcdWatch, Error> {
        let (sender, receiver) = mpsc::channel(1);
        let create = WatchCreateRequest {
            key: if prefix.is_empty() { vec![0] } else { prefix.to_vec() },
            range_end: prefix_end(prefix),
            start_revision: after + 1,
            progress_notify: true,
            fragment: true,
        };
        let first = WatchRequest { create_request: Some(create) };
        sender.send(first).await.map_err(Error::unavailable)?;
        let mut request = self.request(ReceiverStream::new(receiver));
        request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
        let responses = async {
            self.grpc.ready().await.map_err(|error| Status::unavailable(root_cause(&error)))?;
            let path = http::uri::PathAndQuery::from_static("/etcdserverpb.Watch/Watch");
            let codec = ProstCodec::<WatchRequest, WatchResponse>::default();
            self.grpc.streaming(request, path, codec).await
        };
        let responses = timeout(CALL_TIMEOUT, responses).await;
        let responses = responses.map_err(no_answer)?.map_err(describe_status)?;
        Ok(EtcdWatch { responses: responses.into_inner(), _requests: sender })
    }
}

impl EtcdWatch {
    /// The next response. Giving up on waiting loses nothing.
    ///
    /// # Errors
    /// A watch that ended.
    pub(super) async fn next(&mut self) -> Result<WatchResponse, Error> {
        let next = self.responses.message().await.map_err(describe_status)?;
        next.ok_or_else(|| Error::unavailable("it ended the watch"))
    }

    /// The first response, which says that the watch is there.
    ///
    /// # Errors
    /// A watch that ended, or a member that does not answer.
    pub(super) async fn created(&mut self) -> Result<WatchResponse, Error> {
        timeout(CALL_TIMEOUT, self.next()).await.map_err(no_answer)?
    }
}

fn no_answer(_: Elapsed) -> Error {
    Error::unavailable("it does not answer")
}

fn describe_status(status: Status) -> Error {
    match status.source() {
        Some(source) => Error::unavailable(root_cause(source)),
        None if status.message().is_empty() => Error::unavailable(status.code()),
        None => Error::unavailable(status.message()),
    }
}

/// The error below all others: those above only say that there is one.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn read_tls(args: &EtcdArgs) -> Result<ClientTlsConfig, Error> {
    let mut tls = ClientTlsConfig::new();
    if let Some(ca) = &args.etcd_ca {
        tls = tls.ca_certificate(Certificate::from_pem(read_file(ca)?));
    }
    if let (Some(cert), Some(key)) = (&args.etcd_cert, &args.etcd_key) {
        tls = tls.identity(Identity::from_pem(read_file(cert)?, read_file(key)?));
    }
    Ok(tls)
}

fn read_file(path: &std::path::Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::cannot_read(path, error))
}
