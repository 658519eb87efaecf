//! Serving: reads, judges and hands out resources until a signal ends it.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;

use super::{folder_of, judge_of, today};
use crate::args::Serve;
use crate::fleet::Fleet;
use crate::follow::follow;
use crate::grpc::DiscoveryServices;
use crate::judge::Judge;
use crate::logs;
use crate::{admin, file_out, rest};

/// How often a silent connection is asked whether it still lives.
const KEEPALIVE: Duration = Duration::from_secs(30);

pub(super) fn serve(args: Serve) -> Result<ExitCode, String> {
    logs::start_at(&args.log_format, &args.log_level);
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
    let fleet = Arc::new(Fleet::new(Arc::clone(&judge.apis), args.limits.clone(), !args.unordered));
    let cannot = |what: &str, error: &dyn std::fmt::Display| format!("cannot {what}: {error}");
    if !args.admin.ip().is_loopback() {
        tracing::warn!(address = %args.admin, "the admin pages can be reached from outside");
    }
    let admin = TcpListener::bind(args.admin).await;
    let admin = admin.map_err(|error| cannot(&format!("listen at {}", args.admin), &error))?;
    let http = TcpListener::bind(args.http).await;
    let http = http.map_err(|error| cannot(&format!("listen at {}", args.http), &error))?;
    let grpc = TcpListener::bind(args.grpc).await;
    let grpc = grpc.map_err(|error| cannot(&format!("listen at {}", args.grpc), &error))?;
    let address =
        |it: &TcpListener| it.local_addr().map_or_else(|_| String::new(), |it| it.to_string());
    tracing::info!(
        grpc = address(&grpc),
        http = address(&http),
        admin = address(&admin),
        "serving"
    );
    if let Some(out) = args.file_out.clone() {
        let apis = Arc::clone(&judge.apis);
        fleet.before_serving(move |served| {
            if let Err(error) = file_out::write(&out, &apis.newest, served) {
                tracing::error!("{error}");
            }
        });
    }
    let (failed, source) = oneshot::channel();
    std::thread::spawn({
        let fleet = Arc::clone(&fleet);
        let folder = folder_of(&args.inputs);
        move || {
            let ended = follow(&fleet, &judge, &folder, today);
            drop(failed.send(ended)); // Nobody hears it if the server ends as well.
        }
    });
    let services = DiscoveryServices::new(Arc::clone(&fleet));
    let grpc = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .max_concurrent_streams(1000)
        .serve_with_incoming(services, TcpListenerStream::new(grpc));
    tokio::select! {
        it = source => it.unwrap_or_else(|_| Err("reading resources ended".to_owned())),
        it = grpc => it.map_err(|error| cannot("serve over gRPC", &error)),
        it = axum::serve(http, rest::pages(Arc::clone(&fleet), args.long_poll)).into_future() => {
            it.map_err(|error| cannot("serve over REST", &error))
        }
        it = axum::serve(admin, admin::pages(fleet)).into_future() => {
            it.map_err(|error| cannot("serve the admin pages", &error))
        }
        it = told_to_end() => it.map_err(|error| cannot("wait for signals", &error)),
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
