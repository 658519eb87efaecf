//! Layer stacks: bootstraps with the folders that they name, and overrides.

use std::path::Path;

use abide_harness::Result;
use abide_harness::corpora;
use fastrand::Rng;

/// A bootstrap with what is around it. `ROOT` in its text is the folder that it lies in.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    pub(super) name: String,
    /// The name of the bootstrap, which says its notation.
    pub(super) file: &'static str,
    /// What it says, besides its admin interface.
    text: String,
    files: Vec<(String, String)>,
    links: Vec<(String, String)>,
    /// `--service-cluster`.
    pub(super) service_cluster: Option<&'static str>,
    /// Calls of `/runtime_modify`.
    pub(super) modify: &'static [&'static [(&'static str, &'static str)]],
    /// Why Envoy differs, if it does.
    pub(super) reason: Option<&'static str>,
}

const ADMIN: &str = "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n";
const ADMIN_JSON: &str = "\"admin\": {\"address\": {\"socket_address\": {\"address\": \
                          \"127.0.0.1\", \"port_value\": 0}}}";

impl Stack {
    /// A bootstrap in YAML with this text.
    fn whole(name: &str, text: &str) -> Stack {
        Stack {
            name: name.to_owned(),
            file: "bootstrap.yaml",
            text: text.to_owned(),
            ..Stack::default()
        }
    }

    /// Layers in flow style.
    fn of(name: &str, layers: &str) -> Stack {
        Stack::whole(name, &format!("layered_runtime: {{layers: [{layers}]}}\n"))
    }

    /// One static layer.
    fn fixed(name: &str, values: &str) -> Stack {
        Stack::of(name, &format!("{{name: base, static_layer: {values}}}"))
    }

    /// A static layer in a bootstrap in JSON.
    fn json(name: &str, values: &str) -> Stack {
        let layers = format!("[{{\"name\": \"base\", \"static_layer\": {values}}}]");
        let text = format!("\"layered_runtime\": {{\"layers\": {layers}}}");
        Stack { file: "bootstrap.json", ..Stack::whole(name, &text) }
    }

    /// One layer on disk, with files in it.
    fn disk(name: &str, files: &[(&str, &str)]) -> Stack {
        let layer = "{name: disk, disk_layer: {symlink_root: ROOT/current, subdirectory: sub}}";
        let mut stack = Stack::of(name, layer).link("current", "v1");
        for (path, text) in files {
            stack = stack.file(&format!("v1/sub/{path}"), text);
        }
        stack
    }

    fn file(mut self, path: &str, text: &str) -> Stack {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    fn link(mut self, path: &str, target: &str) -> Stack {
        self.links.push((path.to_owned(), target.to_owned()));
        self
    }

    fn modified(mut self, modify: &'static [&'static [(&'static str, &'static str)]]) -> Stack {
        self.modify = modify;
        self
    }

    fn cluster(mut self, cluster: &'static str) -> Stack {
        self.service_cluster = Some(cluster);
        self
    }

    fn differs(mut self, reason: &'static str) -> Stack {
        self.reason = Some(reason);
        self
    }

    /// The text of the bootstrap.
    pub(super) fn bootstrap(&self) -> String {
        match self.file {
            "bootstrap.json" => format!("{{{ADMIN_JSON}, {}}}\n", self.text),
            _ => format!("{ADMIN}{}", self.text),
        }
    }

    /// Writes all of it into a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let root = folder.to_string_lossy();
        let text = self.bootstrap().replace("ROOT", &root);
        corpora::write(&folder.join(self.file), text.as_bytes())?;
        for (path, text) in &self.files {
            corpora::write(&folder.join(path), text.as_bytes())?;
        }
        for (path, target) in &self.links {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().ok_or("a link is in a folder")?)?;
            std::os::unix::fs::symlink(target.replace("ROOT", &root), path)?;
        }
        Ok(())
    }

    /// The arguments of Envoy.
    pub(super) fn args(&self) -> Vec<&'static str> {
        self.service_cluster.into_iter().flat_map(|it| ["--service-cluster", it]).collect()
    }
}

/// The four layers of the example in Envoy's description of the layered runtime.
const FOUR: &str = "\
node: {id: me, cluster: my-cluster}
layered_runtime:
  layers:
  - name: static_layer_0
    static_layer: {health_check: {min_interval: 5}}
  - name: disk_layer_0
    disk_layer: {symlink_root: ROOT/current, subdirectory: envoy}
  - name: disk_layer_1
    disk_layer: {symlink_root: ROOT/current, subdirectory: envoy_override, append_service_cluster: true}
  - name: admin_layer_0
    admin_layer: {}
";

/// The stacks that each show one thing.
pub(super) fn list_written_stacks() -> Vec<Stack> {
    let mut stacks = list_document_stacks();
    stacks.extend(list_value_stacks());
    stacks.extend(list_folder_stacks());
    stacks.extend(list_refused_stacks());
    stacks.extend(list_override_stacks());
    stacks
}

/// The stacks of layers that Envoy's description of the runtime shows.
fn list_document_stacks() -> Vec<Stack> {
    let four = |name: &str| {
        Stack::whole(name, FOUR)
            .file("v1/envoy/health_check/min_interval", " 7 \n")
            .file("v1/envoy_override/my-cluster/health_check/min_interval", "9\n")
            .link("current", "v1")
    };
    vec![
        four("the four layers"),
        four("the four layers, one overridden").modified(&[&[("health_check.min_interval", "42")]]),
        four("the four layers for another cluster").cluster("other"),
        Stack::whole("nothing", ""),
        Stack::whole("no layers", "layered_runtime: {}\n"),
        Stack::whole("an empty list", "layered_runtime: {layers: []}\n"),
        Stack::of("order", "{name: a, static_layer: {k: 1}}, {name: b, static_layer: {k: 2}}"),
        Stack::of("reverse", "{name: b, static_layer: {k: 2}}, {name: a, static_layer: {k: 1}}"),
        Stack::of(
            "a later empty text",
            "{name: a, static_layer: {k: 1}}, {name: b, static_layer: {k: ''}}",
        ),
        Stack::of(
            "an empty static layer",
            "{name: a, static_layer: {}}, {name: b, admin_layer: {}}",
        ),
        Stack::of(
            "admin below static",
            "{name: a, admin_layer: {}}, {name: b, static_layer: {k: 1}}",
        )
        .modified(&[&[("k", "2"), ("l", "3")]]),
    ]
}

/// How values are read.
fn list_value_stacks() -> Vec<Stack> {
    vec![
        Stack::fixed("whole numbers", "{a: 5, b: 0, c: -5, d: +5, e: 010, f: 0x1f, g: 08, h: -0}"),
        Stack::fixed(
            "great numbers",
            "{a: 2147483647, b: 2147483648, c: -2147483648, d: -2147483649, e: 1234567, \
             f: 99999999999999999999, g: 0x80000000, h: 100000, i: 999999}",
        ),
        Stack::fixed(
            "fractions",
            "{a: 5.9, b: -0.5, c: .5, d: 1., e: 1e3, f: 1.0, g: .inf, h: .nan}",
        ),
        Stack::fixed(
            "booleans",
            "{a: true, b: False, c: yes, d: NO, e: on, f: y, g: tRUE, h: 'true', i: \"on\"}",
        ),
        Stack::fixed("texts", "{a: word, b: '', c: ' 7 ', d: 'é', e: \"a\\nb\", f: a b, g: '#x'}"),
        Stack::fixed("levels", "{a: {b: {c: 1}, d: 2}, e.f: 3, g: {h.i: {j: 4}}}"),
        Stack::fixed(
            "shares",
            "{a: {numerator: 3}, b: {denominator: HUNDRED}, c: {numerator: 3, denominator: MILLION}, \
             d: {}, e: {f: {}}, g: {numerator: 1, foo: {bar: 2}}, h: {numerator: true}}",
        ),
        Stack::fixed("odd keys", "{'': 1, a: {'': 2}, '.': 3, ' b ': 4, 'c/d': 5, é: 6}"),
        Stack::fixed(
            "a feature",
            "{envoy.reloadable_features.no_extension_lookup_by_name: false, health_check.min_interval: 5}",
        ),
        Stack::fixed(
            "an override of a deprecated field",
            "{envoy.deprecated_features:envoy.config.route.v3.RateLimit.Action.dynamic_metadata: true}",
        ),
        Stack::json(
            "numbers of JSON",
            "{\"a\": 0.5, \"b\": 1234567, \"c\": 1e300, \"d\": 1e-7, \"e\": 4294967296, \"f\": -0.0, \
             \"g\": 123456, \"h\": 999999.5, \"i\": 0.1234567, \"j\": 100}",
        ),
        Stack::json(
            "values of JSON",
            "{\"a\": true, \"b\": \"true\", \"c\": \"5\", \"d\": {\"e\": {\"f\": \"\"}}, \
             \"g\": {\"numerator\": 1.5}, \"h\": {}}",
        ),
        Stack::fixed("a key twice", "{a: 1, a: 2}"),
        Stack::fixed("a null", "{a: null}"),
        Stack::json("a null of JSON", "{\"a\": null}"),
        Stack::fixed("a list", "{a: [1, 2]}"),
        Stack::fixed("a null below", "{a: {b: ~}}"),
        Stack::fixed("a null in a share", "{a: {numerator: ~}}"),
    ]
}

/// Folders, files and links.
fn list_folder_stacks() -> Vec<Stack> {
    let deep = |levels: usize| {
        let path = format!("{}leaf", "d/".repeat(levels));
        Stack::disk(&format!("{levels} folders deep"), &[(&path, "1"), ("top", "2")])
    };
    let two = "{name: one, disk_layer: {symlink_root: ROOT/current, subdirectory: one}}, \
               {name: two, disk_layer: {symlink_root: ROOT/current, subdirectory: two}}";
    let rooted = |root: &str| {
        Stack::of(
            &format!("the root {root}"),
            &format!("{{name: disk, disk_layer: {{symlink_root: {root}, subdirectory: sub}}}}"),
        )
        .file("v1/sub/a", "1")
        .link("current", "v1")
    };
    vec![
        Stack::disk(
            "files",
            &[
                ("a", " 7 \n"),
                ("b/c", "x\n"),
                (".dot", "1"),
                ("empty", ""),
                ("crlf", "a\r\nb\r\n"),
                ("tab", "\t7\t\n"),
                ("dots.in.name", "3"),
            ],
        ),
        Stack::disk(
            "comments",
            &[
                ("first", "# a comment\n 7\n"),
                ("only", "# one\n# two\n"),
                ("last", "a\n# x\n"),
                ("indented", " # x\n"),
                ("anchor", "/home#about-us\n"),
                ("between", "1\n# x\n2\n"),
                ("same", "1\n2\n1\n"),
                ("blank", "\n\n5\n\n"),
            ],
        ),
        Stack::disk(
            "values in files",
            &[
                ("share", "{numerator: 3, denominator: TEN_THOUSAND}\n"),
                ("block", "numerator: 3\ndenominator: HUNDRED\n"),
                ("list", "[1, 2]"),
                ("true", "true"),
                ("quoted", "\"true\""),
                ("great", "99999999999"),
                ("null", "null"),
                ("tilde", "~"),
                ("words", "some words"),
                ("map", "{a: 1}"),
                ("float", "5.9"),
            ],
        ),
        Stack::disk("a file that is no YAML", &[("a", "1"), ("b", "{x")]),
        Stack::disk("a file with an unclosed quote", &[("a", "1"), ("b", "\"x")]),
        Stack::disk("a colon", &[("a", "b: c: d")]),
        Stack::disk("reserved names", &[("a/numerator", "1"), ("denominator", "2")]),
        Stack::disk("nothing but a folder", &[]).file("v1/sub/inner/deeper/x", "1"),
        deep(14),
        deep(15),
        deep(16),
        Stack::disk("a link to a file", &[("a", "1")]).link("v1/sub/b", "a"),
        Stack::disk("a link to a folder", &[("a/x", "1")]).link("v1/sub/b", "a"),
        Stack::disk("a link to another folder", &[("a", "1")])
            .file("v1/other/x", "2")
            .link("v1/sub/b", "../other"),
        Stack::disk("a link out of the tree", &[("a", "1")])
            .file("elsewhere/x", "2")
            .link("v1/sub/b", "ROOT/elsewhere"),
        Stack::disk("a link by the root", &[("a", "1")])
            .file("v1/other/x", "2")
            .link("v1/sub/b", "ROOT/current/other"),
        Stack::disk("a link to itself", &[("a", "1")]).link("v1/sub/b", "b"),
        Stack::disk("a link that leads up", &[("a", "1")]).link("v1/sub/up", ".."),
        Stack::disk("a dangling link", &[("a", "1")]).link("v1/sub/b", "nowhere"),
        Stack::disk("a link to the system", &[("a", "1")]).link("v1/sub/b", "/proc/self/status"),
        Stack::disk("a link to a device", &[("a", "1")]).link("v1/sub/b", "/dev/null"),
        Stack::of("two folders", two)
            .file("v1/one/a", "1")
            .file("v1/two/a", "2")
            .link("current", "v1"),
        Stack::of("two folders, one missing", two).file("v1/one/a", "1").link("current", "v1"),
        Stack::of("two folders, one broken", two)
            .file("v1/one/a", "1")
            .file("v1/two/a", "[")
            .link("current", "v1"),
        Stack::of("two folders, both missing", two).link("current", "v1"),
        Stack::of("no subdirectory", "{name: disk, disk_layer: {symlink_root: ROOT/current}}")
            .file("v1/sub/a", "1")
            .link("current", "v1"),
        Stack::of(
            "a cluster without a name",
            "{name: disk, disk_layer: {symlink_root: ROOT/current, subdirectory: sub, \
             append_service_cluster: true}}",
        )
        .file("v1/sub/edge/a", "1")
        .link("current", "v1"),
        Stack::of(
            "a cluster on the command line",
            "{name: disk, disk_layer: {symlink_root: ROOT/current, subdirectory: sub, \
             append_service_cluster: true}}",
        )
        .cluster("edge")
        .file("v1/sub/edge/a", "1")
        .link("current", "v1"),
        Stack::of(
            "a folder where a file is",
            "{name: disk, disk_layer: {symlink_root: ROOT/current, subdirectory: sub/a}}",
        )
        .file("v1/sub/a", "1")
        .link("current", "v1"),
        rooted("ROOT/current/"),
        rooted("ROOT/v1"),
        rooted("ROOT/missing"),
        rooted("./current"),
        rooted("current"),
        rooted("''"),
    ]
}

/// Stacks that keep a server from starting.
fn list_refused_stacks() -> Vec<Stack> {
    vec![
        Stack::of("a name twice", "{name: a, static_layer: {}}, {name: a, admin_layer: {}}"),
        Stack::of("two admin layers", "{name: a, admin_layer: {}}, {name: b, admin_layer: {}}"),
        Stack::of("no name", "{static_layer: {k: 1}}"),
        Stack::of("an empty name", "{name: '', static_layer: {k: 1}}"),
        Stack::of("no source", "{name: a}"),
        Stack::of(
            "a bad second layer",
            "{name: a, static_layer: {}}, {name: b, static_layer: {x: []}}",
        ),
    ]
}

/// What the admin interface sets.
fn list_override_stacks() -> Vec<Stack> {
    let with = |name: &str, modify| {
        Stack::of(name, "{name: s, static_layer: {k: 1}}, {name: a, admin_layer: {}}")
            .modified(modify)
    };
    vec![
        with("an override", &[&[("k", "2")]]),
        with("an override that goes", &[&[("k", "2"), ("l", "3")], &[("k", ""), ("l", "")]]),
        with("an override that never was", &[&[("k", "")]]),
        with(
            "overrides of all types",
            &[&[
                ("a", "true"),
                ("b", "5.9"),
                ("c", "{numerator: 3}"),
                ("d", "\"5\""),
                ("e", " 7 "),
                ("f", "# no comment"),
                ("g", "[1]"),
                ("h", "99999999999"),
                ("i.j", "x y"),
                ("é", "ü"),
            ]],
        ),
        with("an override that is no YAML", &[&[("k", "{x")]]),
        Stack::fixed("an override without a layer", "{k: 1}").modified(&[&[("k", "2")]]),
        Stack::whole("an override of nothing", "").modified(&[&[("k", "2")]]).differs(
            "Envoy's description takes overrides where no runtime is declared, and Envoy refuses them",
        ),
        Stack::whole("an override of an empty list", "layered_runtime: {}\n")
            .modified(&[&[("k", "2")]]),
    ]
}

/// A stack of random layers, the same for a seed and a number.
pub(super) fn generate_stack(seed: u64, number: u64) -> Stack {
    const KEYS: &[&str] = &["a", "b", "c.d", "c.e", "f.g.h", "i.j"];
    const VALUES: &[&str] = &[
        "1",
        "0",
        "-3",
        "7.5",
        "true",
        "off",
        "word",
        "'2'",
        "''",
        "1e2",
        "300000",
        "2147483648",
        "{numerator: 5}",
        "{numerator: 5, denominator: MILLION}",
        "{}",
        "0x10",
        "\"a b\"",
        "+4",
    ];
    const TEXTS: &[&str] = &[
        "1\n",
        "# c\n2\n",
        " 3 ",
        "true",
        "x\ny\n",
        "",
        "{numerator: 5}",
        "1\n1\n",
        "'q'\n",
        "5 # x\n",
        "[1]",
        "no\n# c",
        "- a\n- b\n",
        "2147483648",
        "~",
    ];
    let mut random = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(number));
    let mut layers = Vec::new();
    let mut stack = Stack::default().link("current", "v1").file("v1/README", "# nothing\n");
    let admin = random.usize(0..5);
    for at in 0..random.usize(1..5) {
        let keys = KEYS.iter().filter(|_| random.bool());
        let keys: Vec<&str> = keys.copied().collect();
        if at == admin {
            layers.push(format!("{{name: layer{at}, admin_layer: {{}}}}"));
        } else if random.bool() {
            let values =
                keys.iter().map(|key| format!("{key}: {}", VALUES[random.usize(..VALUES.len())]));
            let values = values.collect::<Vec<_>>().join(", ");
            layers.push(format!("{{name: layer{at}, static_layer: {{{values}}}}}"));
        } else {
            layers.push(format!(
                "{{name: layer{at}, disk_layer: {{symlink_root: ROOT/current, subdirectory: d{at}}}}}"
            ));
            for key in keys {
                let text = TEXTS[random.usize(..TEXTS.len())];
                stack = stack.file(&format!("v1/d{at}/{}", key.replace('.', "/")), text);
            }
        }
    }
    if admin < layers.len() {
        stack = stack.modified(&[&[("a", "1"), ("c.d", "word"), ("z", "2.5")], &[("z", "")]]);
    }
    let text = format!("layered_runtime: {{layers: [{}]}}\n", layers.join(", "));
    Stack { name: format!("random {number}"), file: "bootstrap.yaml", text, ..stack }
}
