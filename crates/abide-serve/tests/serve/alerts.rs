//! Alert rules and the dashboard, against the metrics that a server has while something is wrong.

use std::collections::BTreeSet;
use std::path::Path;

use abide_xds::wire::{DiscoveryRequest, Status};
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;

use crate::exposition::{Samples, samples};
use crate::server::{CDS, Server, Whole, cluster, node, run};

/// A file of `deploy/monitoring`, as a value.
fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/monitoring").join(name);
    serde_saphyr::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("YAML")
}

/// Each alert with its expression.
fn alerts() -> Vec<(String, String)> {
    let file = read("alerts.yaml");
    let rules = file["groups"][0]["rules"].as_array().expect("rules").clone();
    let text = |it: &Value| it.as_str().expect("text").to_owned();
    for rule in &rules {
        let annotations = ["summary", "description"].map(|it| text(&rule["annotations"][it]));
        assert!(annotations.iter().all(|it| it.ends_with('.')), "{rule}");
        assert!(["critical", "warning"].contains(&&*text(&rule["labels"]["severity"])), "{rule}");
    }
    rules.iter().map(|it| (text(&it["alert"]), text(&it["expr"]))).collect()
}

/// What a server had before, and what it has now.
struct Scrapes {
    before: Samples,
    now: Samples,
}

impl Scrapes {
    /// The names of the alerts that are raised.
    fn raised(&self) -> BTreeSet<String> {
        let raised = alerts().into_iter().filter(|(_, expr)| self.holds(expr));
        raised.map(|(name, _)| name).collect()
    }

    /// Evaluates a comparison of the kinds that the rules have.
    fn holds(&self, expr: &str) -> bool {
        if let Some(name) = expr.strip_prefix("absent(").and_then(|it| it.strip_suffix(')')) {
            return sum(&self.now, name).is_none();
        }
        type Comparison = fn(f64, f64) -> bool;
        let operators: [(&str, Comparison); 3] =
            [(" == ", |a, b| a == b), (" > ", |a, b| a > b), (" < ", |a, b| a < b)];
        let found =
            operators.iter().find_map(|(sign, holds)| Some((expr.split_once(sign)?, holds)));
        let ((left, right), holds) = found.unwrap_or_else(|| panic!("no comparison: {expr}"));
        let number = right.parse().unwrap_or_else(|_| panic!("no number: {expr}"));
        // Without a sample there is nothing to compare.
        self.value(left).is_some_and(|it| holds(it, number))
    }

    fn value(&self, term: &str) -> Option<f64> {
        if let Some(name) = term.strip_suffix(" - time()") {
            let now = jiff::Timestamp::now().as_second() as f64;
            return Some(sum(&self.now, name)? - now);
        }
        if let Some((one, other)) = term.split_once(" / ") {
            return Some(sum(&self.now, one)? / sum(&self.now, other)?);
        }
        match term.strip_prefix("increase(").and_then(|it| it.split_once('[')) {
            Some((name, _)) => Some(sum(&self.now, name)? - sum(&self.before, name).unwrap_or(0.0)),
            None => sum(&self.now, term),
        }
    }
}

/// The sum of all samples of a metric.
fn sum(samples: &Samples, name: &str) -> Option<f64> {
    let is_name = name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    assert!(is_name, "this is no name: {name}");
    let of = samples.iter().filter(|(key, _)| key.split('{').next() == Some(name));
    of.map(|it| *it.1).reduce(|a, b| a + b)
}

fn scrape(server: &Server) -> Samples {
    samples(&server.get("/stats/prometheus"))
}

/// Waits until exactly these alerts are raised.
fn until_raised(server: &Server, before: &Samples, names: &[&str]) {
    let wanted: BTreeSet<String> = names.iter().map(|&it| it.to_owned()).collect();
    let raised = |text: &str| Scrapes { before: before.clone(), now: samples(text) }.raised();
    server.until("/stats/prometheus", |it| raised(it) == wanted);
}

async fn refuse(client: &mut Whole) {
    let response = client.next().await.expect("a response");
    let refusal = DiscoveryRequest {
        type_url: CDS.to_owned(),
        response_nonce: response.nonce.clone(),
        error_detail: Some(Status { code: 3, message: "no".to_owned() }),
        ..DiscoveryRequest::default()
    };
    client.send(refusal).await;
}

#[test]
fn faults_of_a_source_raise_their_alerts_and_nothing_else() {
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
    let before = scrape(&server);
    let all_is_well = Scrapes { before: before.clone(), now: before.clone() };
    assert_eq!(all_is_well.raised(), BTreeSet::new());
    server.put("a.yaml", "name: [");
    until_raised(&server, &before, &["AbideServeResourcesRefused"]);
    server.put("a.yaml", &cluster("a", 2));
    until_raised(&server, &before, &[]);
    std::fs::remove_dir_all(server.path("")).expect("it is there");
    until_raised(&server, &before, &["AbideServeSourceAway"]);
    let gone = Scrapes { before: before.clone(), now: Samples::new() };
    assert_eq!(gone.raised(), BTreeSet::from(["AbideServeGone".to_owned()]));
    // Where files are to be written, something else is.
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    std::fs::write(&out, "").expect("a file");
    let out = out.display().to_string();
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--file-out", &out]);
    until_raised(&server, &before, &["AbideServeFilesNotWritten"]);
    let empty = Server::start(&[("a.yaml", "name: [")], &[]);
    until_raised(&empty, &before, &["AbideServeNotReady", "AbideServeResourcesRefused"]);
}

#[test]
fn faults_of_clients_raise_their_alerts_and_nothing_else() {
    run(async {
        let flags = ["--max-streams", "2", "--roll-back-after", "1", "--max-connections", "2"];
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
        let before = scrape(&server);
        let mut client = server.ads("v3", node("n", "", "")).await;
        client.ask(CDS, &[]).await;
        let first = client.next().await.expect("a response");
        until_raised(&server, &before, &["AbideServeClientsBehind"]);
        client.ack(&first, &[]).await;
        until_raised(&server, &before, &[]);
        server.put("b.yaml", &cluster("b", 1));
        refuse(&mut client).await;
        // It was taken back at once, and the client is sent what it had.
        let back = client.next().await.expect("a response");
        client.ack(&back, &[]).await;
        let rolled = ["AbideServeResourcesRefused", "AbideServeRolledBack"];
        until_raised(&server, &before, &rolled);
        let before = scrape(&server);
        let mut second = server.ads("v3", node("m", "", "")).await;
        second.ask(CDS, &[]).await;
        let response = second.next().await.expect("a response");
        second.ack(&response, &[]).await;
        let full = ["AbideServeConnectionsFull", "AbideServeResourcesRefused"];
        until_raised(&server, &before, &full);
    });
}

#[test]
fn clients_that_refuse_or_are_turned_away_raise_alerts() {
    run(async {
        let server = Server::start(&[("a.yaml", &cluster("a", 1))], &["--max-streams", "1"]);
        let before = scrape(&server);
        let mut client = server.ads("v3", node("n", "", "")).await;
        client.ask(CDS, &[]).await;
        refuse(&mut client).await;
        let refused = ["AbideServeClientsBehind", "AbideServeClientsRefuse"];
        until_raised(&server, &before, &refused);
        let mut second = server.ads("v3", node("m", "", "")).await;
        second.ask(CDS, &[]).await;
        second.next().await.expect_err("there is no room");
        until_raised(&server, &before, &[&refused[..], &["AbideServeStreamsRefused"]].concat());
    });
}

#[test]
fn a_certificate_raises_an_alert_before_it_ends_and_when_it_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let certify = |year: i32| {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        std::fs::write(place("key"), key.serialize_pem()).expect("a file");
        std::fs::write(place("cert"), certificate.pem()).expect("a file");
    };
    certify(2999);
    let (cert, key) = (place("cert"), place("key"));
    let flags = ["--tls-cert", &cert, "--tls-key", &key];
    let server = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    let before = scrape(&server);
    until_raised(&server, &before, &[]);
    std::fs::write(place("cert"), "none").expect("a file");
    until_raised(&server, &before, &["AbideServeCertificateRefused"]);
    // A server that starts takes what there is.
    certify(2001);
    let late = Server::start(&[("a.yaml", &cluster("a", 1))], &flags);
    until_raised(&late, &before, &["AbideServeCertificateEnds"]);
}

/// The words of an expression that are names of metrics.
fn metrics_of(expr: &str) -> BTreeSet<String> {
    let words = expr.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    let is_metric = |it: &&str| it.starts_with("abide_serve_") || it.starts_with("process_");
    words.filter(is_metric).map(str::to_owned).collect()
}

#[test]
fn no_panel_is_empty_and_no_alert_is_about_nothing() {
    run(async {
        let folder = tempfile::tempdir().expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("names");
        let certificate = params.self_signed(&key).expect("a certificate");
        let place = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(place("key"), key.serialize_pem()).expect("a file");
        std::fs::write(place("cert"), certificate.pem()).expect("a file");
        let (cert, key) = (place("cert"), place("key"));
        let server = Server::start(
            &[("a.yaml", &cluster("a", 1))],
            &["--tls-cert", &cert, "--tls-key", &key],
        );
        let mut has = scrape(&server);
        // Clients speak without TLS here: their metrics are those of another server.
        let open = Server::start(&[("a.yaml", &cluster("a", 1))], &[]);
        let mut client = open.ads("v3", node("n", "", "")).await;
        client.ask(CDS, &[]).await;
        client.next().await.expect("a response");
        has.extend(scrape(&open));
        let there: BTreeSet<&str> = has.keys().filter_map(|it| it.split('{').next()).collect();
        let dashboard = read("dashboard.json");
        let panels = dashboard["panels"].as_array().expect("panels");
        assert!(panels.len() > 15);
        let mut titles = BTreeSet::new();
        for panel in panels {
            let title = panel["title"].as_str().expect("text");
            assert!(titles.insert(title), "{title} is there twice");
            for target in panel["targets"].as_array().expect("targets") {
                let names = metrics_of(target["expr"].as_str().expect("text"));
                assert!(!names.is_empty(), "{title}");
                for name in names {
                    assert!(there.contains(&*name), "{title}: there is no {name}");
                }
            }
        }
        for (alert, expr) in alerts() {
            for name in metrics_of(&expr) {
                assert!(there.contains(&*name), "{alert}: there is no {name}");
            }
        }
    });
}
