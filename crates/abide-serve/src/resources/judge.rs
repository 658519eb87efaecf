//! Resources judged before they are served.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use abide_instance::runtime::RtdsResource;
use abide_instance::{Instance, Notation, ReadOptions};
use abide_lint::{
    DEPRECATED_USES, Group, InstanceFile, InstanceOptions, OLDER_MAJOR_USED, Origin,
    Overrides as RuntimeOverrides, Policy, Severity, find_rule,
};
use abide_syntax::{LineIndex, Span};
use abide_xds::wire::simple_name;
use abide_xds::{
    Dangling, Found, Kind, Loss, Reference, Snapshot, Types, View, build_snapshot, find,
};
use clap::Args;
use jiff::civil::Date;

use super::apis::Apis;
use super::runtime_overrides::{Overrides, read_layer};
use super::served::ServedResources;
use super::source::{Audience, ResourceFile};
use crate::error::Error;

/// What resources are judged by.
pub(crate) struct Judge {
    pub(crate) apis: Arc<Apis>,
    policy: Policy,
    leniency: Leniency,
    known: Mutex<KnownFiles>,
    /// What the clients of each older release would get of what was judged last, by the release and who
    /// they are.
    views: Mutex<BTreeMap<(String, Audience), Arc<View>>>,
}

/// What came of each file when it was judged last: a file that did not change is not read again, unless
/// the runtime did.
#[derive(Default)]
struct KnownFiles {
    files: BTreeMap<String, JudgedFile>,
    /// The keys that decide about deprecated elements, layer by layer.
    runtime: Vec<(String, String)>,
}

/// Exceptions that the operator makes for resources.
#[derive(Args, Clone, Debug)]
pub(crate) struct JudgeArgs {
    /// Warn about resources of the major before the newest stable one, instead of refusing them
    ///
    /// It is about what is in the source. Clients that ask for the older major get it in any case,
    /// translated from the newest one.
    #[arg(long)]
    allow_previous_major: bool,
    /// Serve a source without resources, instead of refusing it
    ///
    /// Clients are then told to drop everything they have. A folder that is not mounted yet and a
    /// mistyped prefix look the same.
    #[arg(long)]
    allow_empty: bool,
    /// The name of a cluster that clients have from elsewhere: routes may lead to it
    #[arg(long, value_name = "NAME")]
    static_cluster: Vec<String>,
    /// Judge deprecated elements as clients do that have this key of runtime
    ///
    /// So do layers of runtime that everyone is served, and keys that are set with `/runtime_modify`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair)]
    runtime_override: Vec<(String, String)>,
}

/// Reads a key of runtime and its value.
fn parse_pair(text: &str) -> Result<(String, String), Error> {
    let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) =
        pair.ok_or_else(|| Error::Argument("expected a key and a value: KEY=VALUE".to_owned()))?;
    Ok((key.to_owned(), value.to_owned()))
}

/// What the operator says about resources that would be refused otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leniency {
    /// Clusters that clients have from elsewhere.
    pub(crate) static_clusters: BTreeSet<String>,
    /// Whether resources may be of the major before the newest stable one.
    pub(crate) allows_previous_major: bool,
    /// True if there may be no resources at all.
    pub(crate) allows_empty: bool,
    /// Keys of runtime that clients have from elsewhere.
    pub(crate) runtime: Vec<(String, String)>,
}

impl From<&JudgeArgs> for Leniency {
    fn from(args: &JudgeArgs) -> Leniency {
        Leniency {
            static_clusters: args.static_cluster.iter().cloned().collect(),
            allows_previous_major: args.allow_previous_major,
            allows_empty: args.allow_empty,
            runtime: args.runtime_override.clone(),
        }
    }
}

/// A file that was judged.
struct JudgedFile {
    bytes: Arc<[u8]>,
    as_of: Date,
    judged: Arc<Judged>,
    /// The layers of runtime that it has.
    layers: Vec<RtdsResource>,
}

impl JudgedFile {
    fn is_of(&self, file: &ResourceFile, as_of: Date) -> bool {
        self.as_of == as_of && (Arc::ptr_eq(&self.bytes, &file.bytes) || self.bytes == file.bytes)
    }
}

/// What came of a file by itself.
#[derive(Default)]
struct Judged {
    found: Found,
    /// How often it uses what is deprecated.
    deprecated_uses: usize,
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// What came of judging resources.
pub(crate) struct Verdict {
    /// What may be served, if nothing is wrong.
    pub(crate) served: Option<ServedResources>,
    /// How often each file uses what is deprecated, in their order.
    pub(crate) deprecated_uses: Vec<usize>,
    /// Why it may not, one line each.
    pub(crate) errors: Vec<String>,
    /// Why some audiences are not served what is in their folders, one line each.
    pub(crate) stopped: Vec<String>,
    /// What may be a mistake, one line each.
    pub(crate) warnings: Vec<String>,
}

impl Judge {
    pub(crate) fn new(apis: Arc<Apis>, policy: Policy, leniency: Leniency) -> Judge {
        Judge { apis, policy, leniency, known: Mutex::default(), views: Mutex::default() }
    }

    /// Judges the files of one moment, together, where the operator has set some runtime.
    pub(crate) fn judge(&self, as_of: Date, files: &[ResourceFile], set: &Overrides) -> Verdict {
        let all = self.judge_files(as_of, files, set);
        let mut errors: Vec<(Audience, String)> = Vec::new();
        for (file, judged) in files.iter().zip(&all) {
            errors.extend(judged.errors.iter().map(|it| (file.audience.clone(), it.clone())));
        }
        let mut warnings: Vec<String> = all.iter().flat_map(|it| it.warnings.clone()).collect();
        for (file, judged) in files.iter().zip(&all) {
            let notes = judged.found.notes();
            warnings.extend(notes.map(|(at, it)| format!("{}{it}", format_location(file, at))));
        }
        let mut layers: BTreeMap<&Audience, Vec<(usize, &Found)>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            layers.entry(&file.audience).or_default().push((number, &all[number].found));
        }
        let mut served = ServedResources::default();
        for (audience, found) in layers {
            let gathered = build_snapshot(found);
            errors.extend(gathered.misfits.iter().map(|it| {
                let place = format_location(&files[it.file], it.span);
                (audience.clone(), format!("{place}{}", it.message))
            }));
            served.add(audience, gathered.snapshot);
        }
        let mut audiences = served.audiences();
        for (severity, audience, line) in self.find_dangling(files, &all, &audiences) {
            match severity {
                Severity::Error => errors.push((audience, line)),
                _ => warnings.push(line),
            }
        }
        warnings.extend(self.find_external_needs(&audiences));
        let stopped = errors.iter().map(|it| &it.0).filter(|it| **it != Audience::Everyone);
        let stopped: BTreeSet<Audience> = stopped.cloned().collect();
        audiences.retain(|it| !stopped.contains(&it.0));
        stopped.into_iter().for_each(|it| served.stop(it));
        let is_empty = audiences.iter().all(|(_, it)| it.types().all(|it| it.1.is_empty()));
        if is_empty && errors.is_empty() {
            let line = describe_empty(files.len());
            match self.leniency.allows_empty {
                true => warnings.push(format!("{line}: clients get nothing")),
                false => errors.push((
                    Audience::Everyone,
                    format!(
                        "{line}: to take everything from clients, serve it with `--allow-empty`"
                    ),
                )),
            }
        }
        let deprecated_uses = all.iter().map(|it| it.deprecated_uses).collect();
        // What is wrong for everyone, and what leaves nothing for the others, is refused as a whole.
        let is_refused = is_empty && !errors.is_empty()
            || errors.iter().any(|(audience, _)| *audience == Audience::Everyone);
        let lines = errors.into_iter().map(|it| it.1).collect();
        let (errors, stopped) = if is_refused { (lines, Vec::new()) } else { (Vec::new(), lines) };
        if !is_refused {
            warnings.extend(self.find_losses(files, &all, &audiences));
        }
        let served = (!is_refused).then_some(served);
        Verdict { served, deprecated_uses, errors, stopped, warnings }
    }

    /// Says which resources refer to some that are nowhere: a line for each reference.
    fn find_dangling(
        &self,
        files: &[ResourceFile],
        all: &[Arc<Judged>],
        audiences: &[(Audience, Arc<Snapshot>)],
    ) -> Vec<(Severity, Audience, String)> {
        let types = self.apis.types();
        let mut lines = Vec::new();
        let places = OnceCell::new();
        let mut lacked_by_all = Vec::new();
        for (audience, snapshot) in audiences {
            let mut found = snapshot.dangling(types, &self.leniency.static_clusters);
            // What everybody lacks is said once.
            found.retain(|it| lacked_by_all.binary_search(it).is_err());
            let whose = match audience {
                Audience::Everyone => String::new(),
                Audience::Cluster(name) => format!("for the node cluster `{name}`: "),
                Audience::Node(id) => format!("for the node `{id}`: "),
            };
            for it in &found {
                let places = places.get_or_init(|| ResourceLocations::of(files, all));
                let place = places.of_resource(audience, &it.type_url, &it.name);
                let missing = describe_dangling(types, it, snapshot);
                let severity = if it.is_required { Severity::Error } else { Severity::Warning };
                lines.push((severity, audience.clone(), format!("{place}{whose}{missing}")));
            }
            if *audience == Audience::Everyone {
                lacked_by_all = found;
            }
        }
        lines
    }

    /// What clients need from elsewhere, since nothing of its kind is served: a line for each kind.
    fn find_external_needs(&self, audiences: &[(Audience, Arc<Snapshot>)]) -> Vec<String> {
        let types = self.apis.types();
        let mut kinds: BTreeMap<Kind, BTreeMap<Arc<str>, Dangling>> = BTreeMap::new();
        for (_, snapshot) in audiences {
            for needed in snapshot.from_elsewhere(types, &self.leniency.static_clusters) {
                let of_kind = kinds.entry(needed.kind).or_default();
                of_kind.entry(Arc::clone(&needed.missing)).or_insert(needed);
            }
        }
        kinds.into_values().filter_map(|it| describe_external_need(types, &it)).collect()
    }

    /// Says what the clients of older releases do not get: a line for each resource.
    fn find_losses(
        &self,
        files: &[ResourceFile],
        all: &[Arc<Judged>],
        audiences: &[(Audience, Arc<Snapshot>)],
    ) -> Vec<String> {
        let mut before = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        let mut now = BTreeMap::new();
        let (mut lines, mut said) = (Vec::new(), BTreeSet::new());
        let places = OnceCell::new();
        for (release, terms) in self.apis.older_releases() {
            for (audience, snapshot) in audiences {
                let key = (release.to_owned(), audience.clone());
                let known = before.get(&key).cloned().unwrap_or_default();
                let view = self.apis.view(&terms, snapshot, &known);
                for ((url, name), loss) in &view.losses {
                    let Some(lost) = describe_loss(loss) else { continue };
                    let places = places.get_or_init(|| ResourceLocations::of(files, all));
                    let place = places.of_resource(&key.1, url, name);
                    let holder = simple_name(url);
                    let line = format!(
                        "{place}clients of `{release}` do not get {lost}the {holder} `{name}`"
                    );
                    let line = match &loss.held_back {
                        Some(why) => format!("{line}: {why}; they keep what they had"),
                        None => line,
                    };
                    // What is for everyone is said once.
                    if said.insert(line.clone()) {
                        lines.push(line);
                    }
                }
                now.insert(key, Arc::new(view));
            }
        }
        *before = now;
        lines
    }

    /// What comes of each file by itself, in their order.
    fn judge_files(
        &self,
        as_of: Date,
        files: &[ResourceFile],
        set: &Overrides,
    ) -> Vec<Arc<Judged>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let KnownFiles { files: known, runtime: last } = &mut *known;
        let is_known =
            |it: &ResourceFile| known.get(&it.path).is_some_and(|known| known.is_of(it, as_of));
        let mut new: Vec<&ResourceFile> = files.iter().filter(|it| !is_known(it)).collect();
        let mut read: Vec<Instance> = new.iter().map(|file| self.read(file)).collect();
        let mut found: Vec<Found> = read.iter().map(|it| self.find(it)).collect();
        let mut layers: BTreeMap<&str, Vec<RtdsResource>> =
            new.iter().zip(&found).map(|(file, it)| (&*file.path, self.layers(it))).collect();
        for file in files.iter().filter(|it| is_known(it)) {
            layers.insert(&file.path, known[&file.path].layers.clone());
        }
        let everyones = files.iter().filter(|it| it.audience == Audience::Everyone);
        let everyones = everyones.flat_map(|it| &layers[&*it.path]);
        let (overrides, runtime) = self.overrides(everyones, set);
        if runtime != *last {
            let rest: Vec<&ResourceFile> = files.iter().filter(|it| is_known(it)).collect();
            read.extend(rest.iter().map(|file| self.read(file)));
            found.extend(rest.iter().map(|file| known[&file.path].judged.found.clone()));
            new.extend(rest);
            *last = runtime;
        }
        let judged = self.judge_new(as_of, &new, found, &read, &overrides);
        for (file, judged) in new.into_iter().zip(judged) {
            let (bytes, judged) = (Arc::clone(&file.bytes), Arc::new(judged));
            let layers = layers.get(&*file.path).cloned().unwrap_or_default();
            known.insert(file.path.clone(), JudgedFile { bytes, as_of, judged, layers });
        }
        let paths: BTreeSet<&str> = files.iter().map(|it| &*it.path).collect();
        known.retain(|path, _| paths.contains(&**path));
        files.iter().map(|it| Arc::clone(&known[&it.path].judged)).collect()
    }

    /// The layers of runtime that a file has.
    fn layers(&self, found: &Found) -> Vec<RtdsResource> {
        let types = self.apis.types();
        let layers = found.resources().filter(|(url, _)| types.kind(url) == Kind::RUNTIME);
        layers.filter_map(|(url, it)| read_layer(self.apis.newest, url, it)).collect()
    }

    /// The resources of a file.
    fn find(&self, instance: &Instance) -> Found {
        find(self.apis.types(), self.apis.newest, instance)
    }

    /// The runtime that clients have: layers that are served, then what the operator says. Returns also
    /// its keys and values.
    fn overrides<'l>(
        &self,
        served: impl Iterator<Item = &'l RtdsResource>,
        set: &Overrides,
    ) -> (RuntimeOverrides, Vec<(String, String)>) {
        let mut flags = Overrides::default();
        if let Err(error) = flags.modify(&self.leniency.runtime) {
            tracing::warn!("`--runtime-override`: {error}");
        }
        let (mut all, mut keys) = (RuntimeOverrides::default(), Vec::new());
        let layers = served.map(|it| (&*it.name, &*it.values));
        let own = [("--runtime-override", flags.values()), ("/runtime_modify", set.values())];
        for (name, values) in layers.chain(own) {
            all.push_layer(name, values, None);
            keys.extend(values.iter().map(|(key, it)| (key.to_string(), it.text.to_string())));
        }
        (all, keys)
    }

    /// Judges files each by itself, in one run.
    fn judge_new(
        &self,
        as_of: Date,
        files: &[&ResourceFile],
        found: Vec<Found>,
        instances: &[Instance],
        overrides: &RuntimeOverrides,
    ) -> Vec<Judged> {
        let tree = self.apis.newest;
        let own = |found| Judged { found, ..Judged::default() };
        let mut all: Vec<Judged> = found.into_iter().map(own).collect();
        let checked: Vec<InstanceFile<'_>> = instances
            .iter()
            .zip(files)
            .map(|(instance, file)| InstanceFile::new(instance, &file.bytes))
            .collect();
        let options = InstanceOptions { overrides: Some(overrides), ..InstanceOptions::on(as_of) };
        let report = abide_lint::check_instances(tree, &self.policy, options, &checked);
        // A use that a comment waives is one all the same.
        for finding in report.findings.iter().chain(&report.exempted) {
            let is_use = DEPRECATED_USES.iter().any(|it| it.id == finding.rule);
            if let (Origin::Instance(number), true) = (finding.location.origin, is_use) {
                all[number as usize].deprecated_uses += 1;
            }
        }
        for finding in &report.findings {
            // The policy is that of a preset: nothing is found in a configuration.
            let Origin::Instance(number) = finding.location.origin else { continue };
            let number = number as usize;
            let place = format_location(files[number], finding.location.span);
            let help = finding.help.iter().map(|it| format!("; {it}"));
            let rule = std::iter::once(format!(" [{}]", finding.rule));
            let line: String =
                [place, finding.message.clone()].into_iter().chain(help).chain(rule).collect();
            match finding.severity {
                Severity::Error if !self.tolerates(finding.rule) => all[number].errors.push(line),
                Severity::Error | Severity::Warning => all[number].warnings.push(line),
                Severity::Note => {}
            }
        }
        all
    }

    /// Returns true if what a rule reports is served all the same.
    fn tolerates(&self, rule: &str) -> bool {
        // Clients that are no Envoys may take it, such as listeners without filter chains.
        find_rule(rule).is_some_and(|it| it.group == Group::Envoy)
            || self.leniency.allows_previous_major && rule == OLDER_MAJOR_USED.id
    }

    fn read(&self, file: &ResourceFile) -> Instance {
        let options = ReadOptions { notation: file.notation, ty: None, dialect: None };
        let read = |options| Instance::read(self.apis.newest, &file.bytes, options);
        let instance = read(options);
        // These notations do not say their types; a discovery response is what Envoy reads in them.
        let needs_type = matches!(file.notation, Notation::Text | Notation::Binary)
            && instance.documents.iter().all(|it| it.reading.is_none());
        let response =
            self.apis.newest.message_named("envoy.service.discovery.v3.DiscoveryResponse");
        match response {
            Some(response) if needs_type => read(ReadOptions { ty: Some(response.id), ..options }),
            _ => instance,
        }
    }
}

/// What clients do not get of a resource, if they miss anything: all of it, or some fields.
fn describe_loss(loss: &Loss) -> Option<String> {
    if loss.held_back.is_some() {
        return Some(String::new());
    }
    let fields: Vec<String> = loss.dropped.iter().map(|it| format!("`{it}`")).collect();
    (!fields.is_empty()).then(|| format!("{} of ", fields.join(", ")))
}

/// What is said if there are no resources in so many files.
fn describe_empty(files: usize) -> String {
    let read = match files {
        1 => "1 file was read".to_owned(),
        count => format!("{count} files were read"),
    };
    format!("there are no resources in `--resources` ({read})")
}

/// Where each resource stands.
struct ResourceLocations<'f>(BTreeMap<(&'f Audience, &'f str, &'f str), (&'f ResourceFile, Span)>);

impl<'f> ResourceLocations<'f> {
    fn of(files: &'f [ResourceFile], all: &'f [Arc<Judged>]) -> ResourceLocations<'f> {
        let each = files.iter().zip(all).rev().flat_map(|(file, judged)| {
            let own = judged.found.places();
            own.map(move |(url, name, span)| ((&file.audience, url, name), (file, span)))
        });
        ResourceLocations(each.collect())
    }

    /// Where the resource stands that an audience gets, as [`place`] has it.
    fn of_resource(&self, audience: &Audience, type_url: &str, name: &str) -> String {
        let own = |whose| self.0.get(&(whose, type_url, name));
        let found = own(audience).or_else(|| own(&Audience::Everyone));
        found.map(|(file, span)| format_location(file, *span)).unwrap_or_default()
    }
}

/// Where something stands, with what separates it from what is said about it.
fn format_location(file: &ResourceFile, span: Span) -> String {
    if file.notation == Notation::Binary {
        return format!("{}: ", file.path);
    }
    let at = LineIndex::new(&file.bytes).position(&file.bytes, span.start);
    format!("{}:{}:{}: ", file.path, at.line, at.column)
}

/// What a resource of a kind is called.
fn kind_name(types: &Types, kind: Kind) -> &str {
    let message = types.get(kind).and_then(|it| it.entry.messages[1].as_deref());
    match message.map(simple_name) {
        _ if kind == Kind::CLUSTER => "cluster",
        Some(message) => message,
        None => "resource",
    }
}

/// What is said of resources of one kind that clients need from elsewhere, if there are any.
fn describe_external_need(types: &Types, all: &BTreeMap<Arc<str>, Dangling>) -> Option<String> {
    let Dangling { type_url, name, kind, missing, .. } = all.values().next()?;
    let what = kind_name(types, *kind);
    let holder = simple_name(type_url);
    let have = match all.len() - 1 {
        0 => "has".to_owned(),
        more => format!("and {more} more have"),
    };
    let advice = match *kind {
        Kind::CLUSTER => "; name those with `--static-cluster`",
        _ => "",
    };
    Some(format!(
        "no {what} is served: `{missing}`, which the {holder} `{name}` refers to, {have} to be known to \
         clients from elsewhere{advice}"
    ))
}

fn describe_dangling(types: &Types, dangling: &Dangling, snapshot: &Snapshot) -> String {
    let Dangling { type_url, name, kind, missing, .. } = dangling;
    let holder = simple_name(type_url);
    let what = kind_name(types, *kind);
    let mut line = match &**missing {
        Reference::ANY => format!("the {holder} `{name}` asks for every {what}, and there is none"),
        missing => {
            format!("the {holder} `{name}` refers to the {what} `{missing}`, which is nowhere")
        }
    };
    let names = snapshot.types().filter(|(url, _)| types.kind(url) == *kind);
    let names: Vec<&str> = names.flat_map(|(_, it)| it.iter()).map(|it| &*it.name).collect();
    if let Some(near) = abide_lint::find_nearest(missing, names) {
        line.push_str(&format!("; did you mean `{near}`?"));
    } else if kind.is_always_asked_for() {
        line.push_str("; clients wait for it, Envoy for 15 s when it starts");
    }
    line
}
