//! `abide-serve shutdown`: fails the health checks, waits for connections to end, and says so.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::{error, info, warn};

use crate::duration::parse_duration;

use super::proxy::{AdminPort, Proxy, ProxyArgs, ProxyError};
use super::ready_file::ReadyFile;

/// The number of times that the proxy is asked to fail its health checks, and the waits after a
/// failure: each time so many times longer, and by up to a tenth more, so that a fleet does not
/// ask at once.
const STEPS: u32 = 4;
const FIRST_DELAY: Duration = Duration::from_millis(200);
const FACTOR: u32 = 5;
const JITTER: f64 = 0.1;

/// Take a proxy out of service: fail its health checks, wait until its clients have left
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  abide-serve shutdown                                  # as the preStop hook of the manager
  abide-serve shutdown --check-delay 10s --max-wait 5m  # begin to look sooner, and give up
  abide-serve shutdown --min-open-connections 5

Set terminationGracePeriodSeconds of the pod above the sum of --drain-delay, --check-delay and
the time that your longest connections take: after it, Kubernetes ends the pod all the same.")]
pub(crate) struct ShutdownArgs {
    #[command(flatten)]
    proxy: ProxyArgs,

    /// How long to wait between two looks at the open connections
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "5s")]
    check_interval: Duration,

    /// How long to wait after health checks fail before looking at the open connections
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "60s")]
    check_delay: Duration,

    /// How long to wait before health checks fail
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "0s")]
    drain_delay: Duration,

    /// How many connections may be left open
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_open_connections: u64,

    /// Stop waiting after this long: make the ready file, and end with status 1
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    max_wait: Option<Duration>,

    /// The file to make when the proxy may end
    #[arg(long, value_name = "FILE", default_value = "/ok")]
    ready_file: PathBuf,
}

/// Runs the command. It ends at once when it is told to, as every command without a handler of
/// signals does.
pub(crate) async fn shutdown(args: &ShutdownArgs) -> ExitCode {
    let proxy = AdminPort::of(&args.proxy);
    let ready = ReadyFile::new(&args.ready_file);
    let end = drain(&proxy, args).await;
    if let End::GaveUp { open } = &end {
        let open = open.map_or_else(|| "an unknown number of".to_owned(), |it| it.to_string());
        warn!(context = "shutdown", "{open} connections are open after the time of --max-wait");
    }
    if let Err(error) = report_ready(&ready) {
        error!(context = "shutdown", "cannot make the ready file `{ready}`: {error}");
        return ExitCode::FAILURE;
    }
    match end {
        End::Drained { .. } | End::Gone => ExitCode::SUCCESS,
        End::GaveUp { .. } => ExitCode::FAILURE,
    }
}

fn report_ready(ready: &ReadyFile) -> io::Result<()> {
    ready.create()?;
    info!(context = "shutdown", "created `{ready}`: the proxy may stop");
    Ok(())
}

/// The end of the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// No more connections are open than may be.
    Drained { open: u64 },
    /// The proxy has ended, and its connections with it.
    Gone,
    /// The time is over. So many were open when they were last counted.
    GaveUp { open: Option<u64> },
}

/// Takes the proxy out of service, and waits. What goes wrong is logged and does not end it: the
/// pod is being stopped, and nobody is there to try again.
async fn drain(proxy: &impl Proxy, args: &ShutdownArgs) -> End {
    let deadline = args.max_wait.map(|it| Instant::now() + it);
    let mut open = None;
    let waiting = wait(proxy, args, &mut open);
    let end = match deadline {
        Some(deadline) => timeout_at(deadline, waiting).await.ok(),
        None => Some(waiting.await),
    };
    end.unwrap_or(End::GaveUp { open })
}

/// The number of looks in a row at which nobody listens at the admin port until the proxy is taken to
/// have ended.
const LOOKS_AT_NOBODY: u32 = 3;

/// Waits without an end of its own. `last` is the latest count.
async fn wait(proxy: &impl Proxy, args: &ShutdownArgs, last: &mut Option<u64>) -> End {
    let ShutdownArgs { drain_delay, check_delay, check_interval, .. } = *args;
    sleep(drain_delay).await;
    let failed = fail_health_checks(proxy).await;
    let is_gone = matches!(failed, Err(ProxyError::Gone { .. }));
    match failed {
        Ok(()) => info!(context = "shutdown", "health checks of the proxy fail from now on"),
        Err(error) => error!(context = "shutdown", "health checks of the proxy go on: {error}"),
    }
    if !is_gone {
        sleep(check_delay).await;
    }
    let mut failures = 0_u32;
    let mut gone = 0;
    let mut logged = None;
    loop {
        let next = Instant::now() + check_interval;
        match proxy.open_connections().await {
            Ok(open) => {
                if failures > 1 {
                    info!(context = "shutdown", failures, "open connections can be counted again");
                }
                (failures, gone) = (0, 0);
                logged = None;
                *last = Some(open);
                let min = args.min_open_connections;
                info!(
                    context = "shutdown",
                    open_connections = open,
                    min_connections = min,
                    "polled open connections"
                );
                if open <= min {
                    return End::Drained { open };
                }
            }
            Err(error) => {
                // A proxy that is gone stays gone: an error that repeats is logged once, and counted.
                failures = failures.saturating_add(1);
                gone = if matches!(error, ProxyError::Gone { .. }) { gone + 1 } else { 0 };
                let message = error.to_string();
                if logged.as_ref() != Some(&message) {
                    error!(context = "shutdown", "cannot count open connections: {message}");
                    logged = Some(message);
                }
                if gone == LOOKS_AT_NOBODY {
                    warn!(
                        context = "shutdown",
                        "the proxy has ended: nobody listens at its admin port"
                    );
                    return End::Gone;
                }
            }
        }
        // The time that the answer took is no part of the interval, unless it took longer.
        sleep_until(next.max(Instant::now())).await;
    }
}

/// Asks until it is done, but not for ever.
async fn fail_health_checks(proxy: &impl Proxy) -> Result<(), ProxyError> {
    let mut delay = FIRST_DELAY;
    for step in 1.. {
        match proxy.fail_health_checks().await {
            Ok(()) => return Ok(()),
            Err(error) if step == STEPS => return Err(error),
            Err(error) => {
                warn!(context = "shutdown", step, "{error}");
                sleep(delay.mul_f64(1.0 + JITTER * fastrand::f64())).await;
                delay *= FACTOR;
            }
        }
    }
    unreachable!("the last step returns")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: ShutdownArgs,
    }

    fn args(line: &[&str]) -> ShutdownArgs {
        CommandLine::parse_from([&["shutdown"], line].concat()).args
    }

    /// A proxy that answers as it is told, and notes when it was asked.
    struct Pretended {
        begin: Instant,
        failures: RefCell<u32>,
        counts: RefCell<VecDeque<Option<u64>>>,
        asked: RefCell<Vec<(&'static str, Duration)>>,
    }

    impl Pretended {
        /// The first so many requests to fail health checks fail; then these counts, `None` being
        /// an error, and the last one for ever.
        fn new(failures: u32, counts: &[Option<u64>]) -> Pretended {
            Pretended {
                begin: Instant::now(),
                failures: RefCell::new(failures),
                counts: RefCell::new(counts.iter().copied().collect()),
                asked: RefCell::default(),
            }
        }

        fn note(&self, what: &'static str) {
            self.asked.borrow_mut().push((what, self.begin.elapsed()));
        }

        /// What it was asked, and the second.
        fn seconds(&self) -> Vec<(&'static str, u64)> {
            self.asked.borrow().iter().map(|(what, at)| (*what, at.as_secs())).collect()
        }
    }

    fn unreachable() -> ProxyError {
        ProxyError::Transport { doing: "asking", reason: "nobody is there".to_owned() }
    }

    impl Proxy for Pretended {
        async fn fail_health_checks(&self) -> Result<(), ProxyError> {
            self.note("fail");
            let mut failures = self.failures.borrow_mut();
            let fails = *failures > 0;
            *failures = failures.saturating_sub(1);
            if fails { Err(unreachable()) } else { Ok(()) }
        }

        async fn open_connections(&self) -> Result<u64, ProxyError> {
            self.note("count");
            let mut counts = self.counts.borrow_mut();
            let count = if counts.len() > 1 { counts.pop_front() } else { counts.front().copied() };
            count.flatten().ok_or_else(unreachable)
        }
    }

    #[test]
    fn the_shutdown_flags_have_the_documented_defaults() {
        let ShutdownArgs {
            proxy: ProxyArgs { admin_port, admin_address, listeners },
            check_interval,
            check_delay,
            drain_delay,
            min_open_connections,
            max_wait,
            ready_file,
        } = args(&[]);
        assert_eq!((admin_port, admin_address.as_str()), (9001, "localhost"));
        assert_eq!((check_interval.as_secs(), check_delay.as_secs()), (5, 60));
        assert_eq!((drain_delay.as_secs(), min_open_connections, max_wait), (0, 0, None));
        assert_eq!(ready_file, PathBuf::from("/ok"));
        assert_eq!(listeners, ["ingress_http", "ingress_https"]);
    }

    #[tokio::test(start_paused = true)]
    async fn each_shutdown_step_waits_its_configured_time() {
        let proxy = Pretended::new(0, &[Some(5), Some(3), Some(0)]);
        let args = args(&["--drain-delay", "7s", "--check-delay", "60s", "--check-interval", "5s"]);
        assert_eq!(drain(&proxy, &args).await, End::Drained { open: 0 });
        let expected = [("fail", 7), ("count", 67), ("count", 72), ("count", 77)];
        assert_eq!(proxy.seconds(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_at_the_allowed_number_of_connections() {
        for (min, end) in [("5", 5), ("4", 4), ("6", 5)] {
            let proxy = Pretended::new(0, &[Some(9), Some(5), Some(4), Some(0)]);
            let args = args(&["--min-open-connections", min]);
            assert_eq!(drain(&proxy, &args).await, End::Drained { open: end }, "{min}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_failing_health_check_request_is_retried_with_backoff() {
        let proxy = Pretended::new(3, &[Some(0)]);
        drain(&proxy, &args(&["--check-delay", "0s"])).await;
        let times: Vec<Duration> = proxy.asked.borrow().iter().map(|(_, at)| *at).collect();
        assert_eq!(times.len(), 5, "four requests and a count");
        for (pair, millis) in times.windows(2).zip([200.0, 1_000.0, 5_000.0]) {
            let waited = (pair[1] - pair[0]).as_secs_f64() * 1_000.0;
            assert!(
                waited >= millis && waited <= millis * (1.0 + JITTER) + 2.0,
                "{waited} {millis}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn request_errors_do_not_end_the_shutdown() {
        let proxy = Pretended::new(9, &[None, Some(2), None, Some(0)]);
        let end = drain(&proxy, &args(&["--check-delay", "0s"])).await;
        assert_eq!(end, End::Drained { open: 0 });
        let asked: Vec<&str> = proxy.asked.borrow().iter().map(|(what, _)| *what).collect();
        assert_eq!(asked, [["fail"; 4], ["count"; 4]].concat());
    }

    /// A proxy that has ended.
    struct Ended;

    impl Proxy for Ended {
        async fn fail_health_checks(&self) -> Result<(), ProxyError> {
            Err(ProxyError::Gone { doing: "asking", reason: "refused".to_owned() })
        }

        async fn open_connections(&self) -> Result<u64, ProxyError> {
            Err(ProxyError::Gone { doing: "asking", reason: "refused".to_owned() })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_proxy_that_has_ended_is_not_waited_for() {
        let begin = Instant::now();
        assert_eq!(drain(&Ended, &args(&[])).await, End::Gone);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_without_end_ends_when_it_is_told_to() {
        let proxy = Pretended::new(0, &[Some(3)]);
        let args = args(&["--max-wait", "2m"]);
        assert_eq!(drain(&proxy, &args).await, End::GaveUp { open: Some(3) });
        assert_eq!(proxy.begin.elapsed().as_secs(), 120);
        let proxy = Pretended::new(0, &[None]);
        assert_eq!(drain(&proxy, &args).await, End::GaveUp { open: None });
    }
}
