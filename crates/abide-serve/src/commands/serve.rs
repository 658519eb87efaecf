//! Serving: reads, judges and hands out resources until a signal ends it.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::{oneshot, watch};

use super::args::Serve;
use super::follow::follow;
use super::{logs, read_judge, today};
use crate::admin::{self, Tokens};
use crate::clients::{ExpectedClients, ServerState, StateFolder, save_on_change};
use crate::error::Error;
use crate::listeners::{AllowedHosts, Connections, Listener, ListenerKind, raise_fd_limit};
use crate::resources::{Judge, Overrides, ResourceFile, open_source};
use crate::restart::{ServiceState, Start, Successors, notify_service_manager};
use crate::streams::DiscoveryServices;
use crate::{restart, streams};
use abide_transport::{OWNER_ONLY, ReloadingTls};

pub(super) fn serve(args: Serve) -> Result<ExitCode, Error> {
    logs::start_at(&args.log_format, &args.log_level);
    let (judge, notes) = read_judge(&args.inputs)?;
    for note in notes {
        tracing::warn!("{note}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Error::Start)?;
    let takes_over = args.restart.restart_epoch > 0;
    if takes_over {
        notify_service_manager(ServiceState::Reloading);
    }
    let ended = runtime.block_on(run(args, judge));
    if ended.is_err() && takes_over {
        notify_service_manager(ServiceState::Ready(
            "the last start failed: the process before serves",
        ));
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// Tells systemd that clients may come, as soon as something is served.
async fn notify_when_ready(fleet: Arc<ServerState>, summary: String) {
    if fleet.subscribe().wait_for(Option::is_some).await.is_ok() {
        notify_service_manager(ServiceState::Ready(&summary));
    }
}

async fn run(args: Serve, judge: Judge) -> Result<(), Error> {
    args.restart.check(&args.drain)?;
    let mut signals = EndSignals::listen()?;
    let epoch = args.restart.restart_epoch;
    let mut source = open_source(&args.inputs.source)?;
    if let (Some(out), Some(resources)) = (&args.file_out, &args.inputs.source.resources) {
        streams::check_output_folder(out, resources)?;
    }
    let gates = Connections::new(args.drain, &args.limits, raise_fd_limit());
    let apis = Arc::clone(&judge.apis);
    let expected = ExpectedClients::new(args.expect.clone());
    let fleet =
        ServerState::new(apis, args.limits.clone(), expected, !args.unordered, gates, epoch);
    let fleet = Arc::new(fleet);
    if let Some(clients) = args.roll_back_after {
        fleet.roll_back_after(clients);
    }
    let state_folder = args.state_dir.as_deref().map(StateFolder::open).transpose()?;
    let inherited = tokio::select! {
        it = restart::take_state(&args.restart) => it?,
        () = signals.next() => return Ok(()),
    };
    let saved = inherited.or_else(|| state_folder.as_ref().and_then(StateFolder::read));
    if let Some(saved) = saved {
        let judge =
            |files: &[ResourceFile]| judge.judge(today(), files, &Overrides::default()).served;
        tokio::task::block_in_place(|| fleet.restore(saved, judge));
    }
    if let Some(folder) = state_folder {
        tokio::spawn(save_on_change(folder, Arc::clone(&fleet)));
    }
    let tokens = args.admin_token_file.map(Tokens::open).transpose()?;
    let http_tls = ReloadingTls::open(&args.tls, ListenerKind::Http.protocol())?.map(Arc::new);
    let grpc_tls = ReloadingTls::open(&args.tls, ListenerKind::Grpc.protocol())?.map(Arc::new);
    if let Some(tls) = &grpc_tls {
        fleet.watch_certificate(tls);
    }
    // Dropped when the thread ends, which it does not.
    let (reading, mut ended) = oneshot::channel::<()>();
    std::thread::spawn({
        let fleet = Arc::clone(&fleet);
        move || {
            let _reading = reading;
            follow(&fleet, &judge, &mut *source, today)
        }
    });
    if let Some(out) = args.file_out {
        tokio::spawn(streams::write_on_change(out, Arc::clone(&fleet)));
    }
    if epoch > 0 {
        // The process before this one serves until this one can.
        tokio::select! {
            served = fleet.wait_until_served() => served.map_err(Error::Resources)?,
            _ = &mut ended => return Err(Error::ReadingEnded),
            () = signals.next() => return Ok(()),
        }
    }
    args.admin.warn(tokens.is_some());
    let mut asked = vec![
        (ListenerKind::Http, &args.http),
        (ListenerKind::Grpc, &args.grpc),
        (ListenerKind::Admin, &args.admin),
    ];
    asked.extend(args.status.iter().map(|it| (ListenerKind::Status, it)));
    let wanted: Vec<_> = asked.iter().filter_map(|(door, it)| Some((*door, it.tcp()?))).collect();
    let Start { listeners, predecessor, socket } = tokio::select! {
        it = restart::start(&args.restart, &wanted) => it?,
        () = signals.next() => return Ok(()),
    };
    let mut sockets = Vec::new();
    for &(door, address) in &asked {
        let mode = if door == ListenerKind::Admin { OWNER_ONLY } else { args.socket_mode };
        sockets.extend(address.listen(predecessor.is_some(), mode)?.map(|it| (door, it)));
    }
    let address = |door| {
        let listener = listeners.iter().find(|it| it.door == door);
        // What has no listener here is at a path.
        let path = asked.iter().find(|it| it.0 == door).map(|it| it.1.to_string());
        listener.map(Listener::address).or(path).unwrap_or_default()
    };
    let [admin, http, grpc, status] = ListenerKind::ALL.map(address);
    let status = (!status.is_empty()).then_some(status);
    tracing::info!(grpc, http, admin, status, epoch, "serving");
    let summary = format!("gRPC at {grpc}, REST at {http}, admin pages at {admin}");
    let listeners: Vec<Arc<Listener>> = listeners.into_iter().map(Arc::new).collect();
    let (is_alone, alone) = watch::channel(predecessor.is_none());
    let successors = match (args.restart.restart_socket.clone(), socket) {
        (Some(path), Some(socket)) => {
            let made = Successors::new(Arc::clone(&fleet), path, socket, &listeners, alone);
            Some(made.map_err(|error| {
                Error::Restart(format!("cannot prepare for a restart: {error}"))
            })?)
        }
        _ => None,
    };
    let pages = |names| admin::routes(Arc::clone(&fleet), tokens.clone(), names);
    let polls = |names| streams::routes(Arc::clone(&fleet), args.long_poll, names);
    for (door, socket) in sockets {
        let services = DiscoveryServices::new(Arc::clone(&fleet));
        let (polls, pages) = (polls(AllowedHosts::Any), pages(AllowedHosts::Any));
        let status = admin::status_routes(Arc::clone(&fleet));
        let fleet = Arc::clone(&fleet);
        tokio::spawn(async move {
            match door {
                ListenerKind::Admin => fleet.gates.receive_local(door, socket, pages).await,
                ListenerKind::Status => fleet.gates.receive_local(door, socket, status).await,
                ListenerKind::Http => fleet.gates.receive_local(door, socket, polls).await,
                ListenerKind::Grpc => fleet.gates.receive_local(door, socket, services).await,
            }
        });
    }
    for listener in listeners {
        let services = DiscoveryServices::new(Arc::clone(&fleet));
        let polls = polls(AllowedHosts::for_address(listener.asked));
        let pages = pages(AllowedHosts::for_address(listener.asked));
        let status = admin::status_routes(Arc::clone(&fleet));
        let fleet = Arc::clone(&fleet);
        let (http_tls, grpc_tls) = (http_tls.clone(), grpc_tls.clone());
        tokio::spawn(async move {
            match listener.door {
                ListenerKind::Admin => fleet.gates.receive(listener, None, pages).await,
                ListenerKind::Status => fleet.gates.receive(listener, None, status).await,
                ListenerKind::Http => fleet.gates.receive(listener, http_tls, polls).await,
                ListenerKind::Grpc => fleet.gates.receive(listener, grpc_tls, services).await,
            }
        });
    }
    tokio::spawn(notify_when_ready(Arc::clone(&fleet), summary));
    let replacing = async {
        if let Some(predecessor) = predecessor {
            let shutdown_time = args.restart.parent_shutdown_time_s;
            predecessor.replace(&fleet, shutdown_time, &is_alone).await?;
        }
        // It goes on after that.
        std::future::pending().await
    };
    let replaced = async {
        match successors {
            Some(successors) => successors.wait().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = ended => Err(Error::ReadingEnded),
        it = replacing => it,
        () = replaced => Ok(()),
        () = signals.next() => {
            end(&fleet, &mut signals).await;
            Ok(())
        }
    }
}

/// Has all clients leave in order, unless a second signal says to end at once.
async fn end(fleet: &ServerState, signals: &mut EndSignals) {
    notify_service_manager(ServiceState::Stopping);
    tracing::info!(
        "told to end: clients leave, and nobody else may come; a second signal ends at once"
    );
    tokio::select! {
        have_left = fleet.end() => match have_left {
            true => tracing::info!("ending: all clients have left"),
            false => tracing::warn!("ending: some clients have not left in time"),
        },
        () = signals.next() => tracing::warn!("ending at once: clients are cut off"),
    }
}

/// The signals that tell a server to end. They are heard from the beginning, so that none is lost between
/// two waits.
struct EndSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl EndSignals {
    fn listen() -> Result<EndSignals, Error> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(EndSignals {
                interrupt: signal(SignalKind::interrupt()).map_err(Error::Signals)?,
                terminate: signal(SignalKind::terminate()).map_err(Error::Signals)?,
            })
        }
        #[cfg(not(unix))]
        Ok(EndSignals {})
    }

    /// Waits for the next one.
    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
