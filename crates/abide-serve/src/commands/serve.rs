//! Serving: reads, judges and hands out resources until a signal ends it.

use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::{folder_of, judge_of, today};
use crate::args::Serve;
use crate::fleet::Fleet;
use crate::follow::follow;
use crate::grpc::DiscoveryServices;
use crate::judge::Judge;
use crate::listeners::{Door, Gates, Listener};
use crate::logs;
use crate::{admin, file_out, rest};

pub(super) fn serve(args: Serve) -> Result<ExitCode, String> {
    logs::start(&args.log_format);
    let (judge, notes) = judge_of(&args.inputs)?;
    for note in notes {
        tracing::warn!("{note}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(run(args, judge))?;
    Ok(ExitCode::SUCCESS)
}

async fn run(args: Serve, judge: Judge) -> Result<(), String> {
    let gates = Gates::new(args.drain);
    let apis = Arc::clone(&judge.apis);
    let fleet = Arc::new(Fleet::new(apis, args.limits.clone(), !args.unordered, gates));
    let admin = Listener::bind(Door::Admin, args.admin).await?;
    let http = Listener::bind(Door::Http, args.http).await?;
    let grpc = Listener::bind(Door::Grpc, args.grpc).await?;
    if !args.admin.ip().is_loopback() {
        tracing::warn!(address = %args.admin, "the admin pages can be reached from outside");
    }
    tracing::info!(
        grpc = grpc.address(),
        http = http.address(),
        admin = admin.address(),
        "serving"
    );
    let (failed, source) = oneshot::channel();
    std::thread::spawn({
        let fleet = Arc::clone(&fleet);
        let folder = folder_of(&args.inputs);
        let file_out = args.file_out.clone();
        move || {
            let ended = follow(&fleet, &judge, &folder, today, |served| {
                let Some(out) = &file_out else { return };
                if let Err(error) = file_out::write(out, &judge.apis.newest, served) {
                    tracing::error!("{error}");
                }
            });
            drop(failed.send(ended)); // Nobody hears it if the server ends as well.
        }
    });
    let services = DiscoveryServices::new(Arc::clone(&fleet));
    let polls = rest::pages(Arc::clone(&fleet), args.long_poll);
    let pages = admin::pages(Arc::clone(&fleet));
    tokio::spawn({
        let fleet = Arc::clone(&fleet);
        async move {
            tokio::join!(
                fleet.gates.receive(grpc, services),
                fleet.gates.receive(http, polls),
                fleet.gates.receive(admin, pages),
            )
        }
    });
    tokio::select! {
        it = source => it.unwrap_or_else(|_| Err("reading resources ended".to_owned())),
        it = told_to_end() => {
            it.map_err(|error| format!("cannot wait for signals: {error}"))
        },
    }
}

/// Waits for SIGINT or SIGTERM.
async fn told_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            it = tokio::signal::ctrl_c() => it,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
