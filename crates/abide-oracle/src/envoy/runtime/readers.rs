//! Compares what readers of a key get: in a real Envoy, each value decides whether a route of a
//! share matches, and whether a filter with a boolean compresses an answer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use abide_harness::Result;
use abide_harness::corpora;
use abide_harness::envoys::Envoy;
use abide_harness::running_envoy::{RunningEnvoy, Started, answer};
use abide_instance::runtime::{
    DeclaredLayers, FractionalPercent, Runtime, RuntimeSnapshot, get_known_bootstrap,
};
use abide_instance::{Instance, Notation, ReadOptions};

/// Values in YAML that are no share, none of the requests or all of them.
const VALUES: &[&str] = &[
    "100",
    "0",
    "'100'",
    "' 100 '",
    "100.9",
    "-5",
    "true",
    "false",
    "yes",
    "off",
    "y",
    "'true'",
    "'TRUE '",
    "word",
    "''",
    "{numerator: 100}",
    "{numerator: 10000, denominator: TEN_THOUSAND}",
    "{numerator: 0}",
    "{}",
    "{denominator: HUNDRED}",
    "{numerator: x}",
    "{numerator: '100'}",
    "{numerator: 100.9}",
    "{numerator: 100, foo: 1}",
    "{numerator: 100, denominator: BOGUS}",
    "'{numerator: 100}'",
    "1e2",
    "0.5",
    "1.0e2",
    "0.0",
    "18446744073709551616",
    "99999999999999999999",
    "1e300",
    "2147483646",
    "2147483647",
    "2147483648",
    "-1",
    "-2147483648",
    "-2147483649",
    "0x64",
    "'0x64'",
    "'+0x64'",
    "'0x64.8p0'",
    "'0x'",
    "'0x6g'",
    "'0x80000000'",
    "'-0x10'",
    "'100.'",
    "'.5e3'",
    "'1e'",
    "'1E2'",
    "'00100'",
    "'+-5'",
    "'1e400'",
    "'infinity'",
    "nan",
    ".inf",
    "'-0'",
];

/// What a value is for a reader, whose default is on and then off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    On,
    Off,
    Default,
}

impl Read {
    fn of(by_default: [bool; 2]) -> Result<Read> {
        match by_default {
            [true, true] => Ok(Read::On),
            [false, false] => Ok(Read::Off),
            [true, false] => Ok(Read::Default),
            [false, true] => Err("a reader gets the reverse of its default".into()),
        }
    }
}

/// Reads every value on both sides; true if nothing differs.
pub(super) fn run(envoy: &Envoy) -> Result<bool> {
    let folder = corpora::make_fresh_folder("readers")?;
    let path = folder.join("bootstrap.yaml");
    let text = render_bootstrap();
    corpora::write(&path, text.as_bytes())?;
    let Started::Running(running) = RunningEnvoy::start(envoy, &path, &[], &folder)? else {
        return Err("Envoy refuses the bootstrap".into());
    };
    let listeners = read_listeners(&running)?;
    let ours = snapshot(&text)?;
    let mut differences = 0;
    for (at, value) in VALUES.iter().enumerate() {
        let (mut shares, mut flags) = ([false; 2], [false; 2]);
        for (place, default) in [true, false].into_iter().enumerate() {
            let address = listeners.get(&name(at, default)).ok_or("a listener is missing")?;
            let (head, _) = answer(address, "GET", "/share", "accept-encoding: gzip\r\n")?;
            shares[place] = head.starts_with("HTTP/1.1 200");
            flags[place] = head.contains("content-encoding: gzip");
        }
        let theirs = (Read::of(shares)?, Read::of(flags)?);
        let key = format!("k{at}");
        let share = |percent| ours.is_enabled(&key, FractionalPercent::new_percent(percent), 50);
        let flag = |default| ours.get_boolean(&key).unwrap_or(default);
        let ours = (Read::of([share(100), share(0)])?, Read::of([flag(true), flag(false)])?);
        if ours != theirs {
            differences += 1;
            println!("readers: {value}: share and boolean are {theirs:?}, ours {ours:?}");
        }
    }
    println!("runtime: {} values for readers; {differences} differences", VALUES.len());
    Ok(differences == 0)
}

fn name(at: usize, default: bool) -> String {
    format!("k{at}-{default}")
}

/// The listeners of a server by name, once all of them listen.
fn read_listeners(running: &RunningEnvoy) -> Result<BTreeMap<String, String>> {
    let begin = Instant::now();
    loop {
        let text = running.get("/listeners")?;
        let pairs = text.lines().filter_map(|line| line.split_once("::"));
        let found: BTreeMap<String, String> =
            pairs.map(|(name, address)| (name.to_owned(), address.trim().to_owned())).collect();
        let is_ready = running.get("/ready")?.contains("LIVE");
        if (is_ready && found.len() == 2 * VALUES.len())
            || begin.elapsed() > Duration::from_secs(20)
        {
            return Ok(found);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn snapshot(text: &str) -> Result<std::sync::Arc<RuntimeSnapshot>> {
    let (tree, bootstrap) = get_known_bootstrap();
    let options = ReadOptions { notation: Notation::Yaml, ty: Some(bootstrap), dialect: None };
    let instance = Instance::read(&tree, text.as_bytes(), options);
    let document = instance.documents.first().ok_or("the bootstrap is read")?;
    let layers =
        DeclaredLayers::from_bootstrap(&tree, document.message().ok_or("its type is known")?);
    Ok(Runtime::new(layers, Vec::new()).snapshot())
}

/// A bootstrap with every value, and two listeners for each.
fn render_bootstrap() -> String {
    let mut text = String::from(
        "node: {id: me, cluster: mine}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
layered_runtime:
  layers:
  - name: base
    static_layer:
",
    );
    for (at, value) in VALUES.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      k{at}: {value}");
    }
    text += "static_resources:\n  listeners:\n";
    for at in 0..VALUES.len() {
        for default in [true, false] {
            write_listener(at, default, &mut text);
        }
    }
    text
}

fn write_listener(at: usize, default: bool, out: &mut String) {
    let (name, percent) = (name(at, default), if default { 100 } else { 0 });
    // Short answers are not worth compressing.
    let body = "x".repeat(100);
    let _ = write!(
        out,
        "  - name: {name}
    address: {{socket_address: {{address: 127.0.0.1, port_value: 0}}}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config:
            virtual_hosts:
            - name: all
              domains: [\"*\"]
              routes:
              - match:
                  prefix: /share
                  runtime_fraction: {{default_value: {{numerator: {percent}}}, runtime_key: k{at}}}
                direct_response: {{status: 200, body: {{inline_string: {body}}}}}
              - match: {{prefix: /}}
                direct_response: {{status: 404, body: {{inline_string: {body}}}}}
          http_filters:
          - name: compressor
            typed_config:
              \"@type\": type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor
              response_direction_config:
                common_config: {{enabled: {{default_value: {default}, runtime_key: k{at}}}}}
              compressor_library:
                name: gzip
                typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip}}
          - name: router
            typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
"
    );
}
