//! `abide-remote reflect`: the API of a server as a descriptor set.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use abide_transport::reflection::Question;
use abide_transport::{ClientTls, ClientTlsArgs};
use tokio::time::timeout;

use crate::args::{Header, ReflectArgs, parse_duration, parse_header, parse_size};
use crate::connection::connect;
use crate::error::{Peer, RemoteError, printable};
use crate::file_set::FileSet;
use crate::output;
use crate::reflection_client::{FileAnswer, ReflectionClient};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_MAX_SIZE: usize = 64 << 20;

/// The packages of reflection itself: every server that can be asked has them.
const REFLECTION: &str = "grpc.reflection.";
/// What everybody who reads a descriptor set has anyway.
const WELL_KNOWN: &str = "google/protobuf/";
/// So many names are shown of what is missing.
const SHOWN: usize = 5;

/// The request of a run: the command line, and the environment where it is silent.
struct ReflectRequest {
    peer: Peer,
    tls: Option<Arc<ClientTls>>,
    headers: Vec<Header>,
    timeout: Duration,
    max_size: usize,
}

/// The API of a server.
struct ReflectedApi {
    files: FileSet,
    /// Services whose files the server does not have.
    undescribed: Vec<String>,
    /// Imports that the server does not have.
    missing: BTreeSet<String>,
}

/// Reads the API of a server and writes it.
pub(crate) fn reflect(args: &ReflectArgs) -> Result<(), RemoteError> {
    let request = ReflectRequest::read(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RemoteError::Start)?;
    let address = &request.peer.address;
    let read = runtime.block_on(async { timeout(request.timeout, read_api(&request)).await });
    // Looking up a name may still block a thread.
    runtime.shutdown_background();
    let late = |_| RemoteError::Timeout { address: address.clone(), limit: request.timeout };
    let ReflectedApi { files, undescribed, missing } = read.map_err(late)??;
    if files.is_empty() {
        let services = list_names(undescribed.iter());
        return Err(RemoteError::NoDescriptors { address: address.clone(), services });
    }
    let failed = |error| RemoteError::Files { address: address.clone(), error };
    let bytes = files.encode().map_err(failed)?;
    output::write(args.out.as_deref(), &bytes)?;
    if !undescribed.is_empty() {
        let names = list_names(undescribed.iter());
        output::say(&format!(
            "note: {address} has no descriptors of {names}, so they are not known"
        ));
    }
    if !missing.is_empty() {
        let names = list_names(missing.iter());
        output::say(&format!(
            "note: {address} does not have all files that its files import: {names}"
        ));
    }
    Ok(())
}

fn list_names<'n>(names: impl ExactSizeIterator<Item = &'n String>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(|it| format!("`{}`", printable(it))).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl ReflectRequest {
    fn read(args: &ReflectArgs) -> Result<ReflectRequest, RemoteError> {
        let has_tls = args.tls || args.target.has_tls;
        if args.files.is_given() && !has_tls {
            return Err(RemoteError::TlsNotAsked);
        }
        let tls = match has_tls {
            true => Some(Arc::new(ClientTls::open(&add_environment(&args.files), b"h2")?)),
            false => None,
        };
        let timeout = match args.timeout {
            Some(timeout) => Some(timeout),
            None => read_variable("ABIDE_REMOTE_TIMEOUT", parse_duration)?,
        };
        let max_size = match args.max_size {
            Some(size) => Some(size),
            None => read_variable("ABIDE_REMOTE_MAX_SIZE", parse_size)?,
        };
        let parse_headers = |text: &str| {
            let lines = text.lines().filter(|it| !it.trim().is_empty());
            lines.map(parse_header).collect::<Result<Vec<Header>, _>>()
        };
        let mut headers = read_variable("ABIDE_REMOTE_HEADERS", parse_headers)?.unwrap_or_default();
        headers.retain(|(name, _)| args.header.iter().all(|it| it.0 != *name));
        headers.extend(args.header.iter().cloned());
        Ok(ReflectRequest {
            peer: Peer { address: args.target.address.clone(), has_tls },
            tls,
            headers,
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            max_size: max_size.unwrap_or(DEFAULT_MAX_SIZE),
        })
    }
}

/// Reads a variable of the environment; an empty one counts as not set.
fn read_variable<T, E: ToString>(
    name: &'static str,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, RemoteError> {
    let Some(text) = find_variable(name) else { return Ok(None) };
    let unusable = |reason: String| RemoteError::Variable { name, reason };
    let text = text.into_string().map_err(|_| unusable("it is not UTF-8".to_owned()))?;
    parse(&text).map(Some).map_err(|error| unusable(error.to_string()))
}

fn find_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|it| !it.is_empty())
}

/// Adds what the environment says to files that the command line does not name.
fn add_environment(files: &ClientTlsArgs) -> ClientTlsArgs {
    let path = |name| find_variable(name).map(Into::into);
    let mut files = files.clone();
    files.ca = files.ca.or_else(|| path("ABIDE_REMOTE_CA"));
    // A certificate of the one and a key of the other do not fit.
    if files.cert.is_none() {
        files.cert = path("ABIDE_REMOTE_CERT");
        files.key = path("ABIDE_REMOTE_KEY");
    }
    let name = || find_variable("ABIDE_REMOTE_SERVER_NAME").and_then(|it| it.into_string().ok());
    files.server_name = files.server_name.or_else(name);
    files
}

/// Asks for the files of all services, and then for all that these import.
async fn read_api(request: &ReflectRequest) -> Result<ReflectedApi, RemoteError> {
    let ReflectRequest { peer, tls, headers, max_size, .. } = request;
    let address = &peer.address;
    let channel = connect(peer, tls.clone()).await?;
    let (mut client, services) = ReflectionClient::open(peer, &channel, headers, *max_size).await?;
    if services.is_empty() {
        return Err(RemoteError::NoServices { address: address.clone() });
    }
    let failed = |error| RemoteError::Files { address: address.clone(), error };
    let mut files = FileSet::new(*max_size);
    let mut undescribed = Vec::new();
    for service in services.into_iter().filter(|it| !it.starts_with(REFLECTION)) {
        match client.ask_for_file(Question::FileContainingSymbol(service.clone())).await? {
            FileAnswer::Files(found) => {
                found.into_iter().try_for_each(|it| files.add(it)).map_err(failed)?;
            }
            FileAnswer::Unknown => undescribed.push(service),
        }
    }
    let mut missing = BTreeSet::new();
    while let Some(path) = files.next_missing() {
        let question = Question::FileByFilename(path.clone());
        if let FileAnswer::Files(found) = client.ask_for_file(question).await? {
            found.into_iter().try_for_each(|it| files.add(it)).map_err(failed)?;
        }
        if !files.contains(&path) && !path.starts_with(WELL_KNOWN) {
            missing.insert(path);
        }
    }
    Ok(ReflectedApi { files, undescribed, missing })
}
