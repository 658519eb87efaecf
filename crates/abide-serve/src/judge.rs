//! Resources judged before they are served.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abide::{InstanceFile, InstanceOptions, Origin, Policy, Severity};
use abide_instance::{Instance, Notation, ReadOptions};
use abide_syntax::{LineIndex, Span};
use abide_xds::{Dangling, Snapshot, gather};
use jiff::civil::Date;

use crate::apis::Apis;
use crate::folder::{Audience, ResourceFile};
use crate::served::Served;

/// What resources are judged by.
pub(crate) struct Judge {
    pub(crate) apis: Arc<Apis>,
    pub(crate) policy: Policy,
    /// Clusters that clients have from elsewhere.
    pub(crate) static_clusters: BTreeSet<String>,
}

/// What came of judging resources.
pub(crate) struct Verdict {
    /// What may be served, if nothing is wrong.
    pub(crate) served: Option<Served>,
    /// Why it may not, one line each.
    pub(crate) errors: Vec<String>,
    /// What may be a mistake, one line each.
    pub(crate) warnings: Vec<String>,
}

impl Judge {
    /// Judges the files of one moment, together.
    pub(crate) fn judge(&self, as_of: Date, files: &[ResourceFile]) -> Verdict {
        let instances: Vec<Instance> = files.iter().map(|file| self.read(file)).collect();
        let (mut errors, mut warnings) = (Vec::new(), Vec::new());
        let judged: Vec<InstanceFile<'_>> = instances
            .iter()
            .zip(files)
            .map(|(instance, file)| InstanceFile { instance, text: &file.bytes })
            .collect();
        let options = InstanceOptions::on(as_of);
        let report = abide::check_instances(&self.apis.newest, &self.policy, options, &judged);
        for finding in &report.findings {
            let file = match finding.location.origin {
                Origin::Instance(number) => files.get(number as usize),
                _ => None,
            };
            let place = file.map_or_else(String::new, |it| place(it, finding.location.span));
            let help = finding.help.iter().map(|it| format!("; {it}"));
            let rule = std::iter::once(format!(" [{}]", finding.rule));
            let line: String =
                [place, finding.message.clone()].into_iter().chain(help).chain(rule).collect();
            match finding.severity {
                Severity::Error => errors.push(line),
                Severity::Warning => warnings.push(line),
                _ => {}
            }
        }
        let mut layers: BTreeMap<&Audience, Vec<(usize, &Instance)>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            layers.entry(&file.audience).or_default().push((number, &instances[number]));
        }
        let mut served = Served::default();
        for (audience, instances) in layers {
            let gathered = gather(&self.apis.newest, instances);
            errors.extend(
                gathered
                    .misfits
                    .iter()
                    .map(|it| format!("{}{}", place(&files[it.file], it.span), it.message)),
            );
            served.add(audience, gathered.snapshot);
        }
        for (audience, snapshot) in served.audiences() {
            for dangling in snapshot.dangling(&self.static_clusters) {
                let lines = if dangling.is_required { &mut errors } else { &mut warnings };
                let line = missing(&dangling, &snapshot);
                let line = match &audience {
                    Audience::Everyone => line,
                    Audience::Cluster(name) => format!("for the node cluster `{name}`: {line}"),
                    Audience::Node(id) => format!("for the node `{id}`: {line}"),
                };
                // What everybody lacks is said once.
                if !lines.iter().any(|it: &String| line.ends_with(&**it)) {
                    lines.push(line);
                }
            }
        }
        Verdict { served: errors.is_empty().then_some(served), errors, warnings }
    }

    fn read(&self, file: &ResourceFile) -> Instance {
        let options = ReadOptions { notation: file.notation, ty: None, dialect: None };
        let read = |options| Instance::read(&self.apis.newest, &file.bytes, options);
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

/// Where something stands, with what separates it from what is said about it.
fn place(file: &ResourceFile, span: Span) -> String {
    if file.notation == Notation::Binary {
        return format!("{}: ", file.path);
    }
    let at = LineIndex::new(&file.bytes).position(&file.bytes, span.start);
    format!("{}:{}:{}: ", file.path, at.line, at.column)
}

fn missing(dangling: &Dangling, snapshot: &Snapshot) -> String {
    let Dangling { type_url, name, kind, missing, .. } = dangling;
    let holder = type_url.rsplit(['/', '.']).next().unwrap_or(type_url);
    let what = match kind {
        abide_xds::Kind::Cluster => "cluster",
        abide_xds::Kind::Endpoints => "ClusterLoadAssignment",
        abide_xds::Kind::Routes => "RouteConfiguration",
        _ => "resource",
    };
    let mut line =
        format!("the {holder} `{name}` refers to the {what} `{missing}`, which is nowhere");
    let names = snapshot.types().filter(|(url, _)| abide_xds::Kind::of(url) == *kind);
    let names: Vec<&str> = names.flat_map(|(_, it)| it.iter()).map(|it| &*it.name).collect();
    if let Some(near) = abide::nearest(missing, names) {
        line.push_str(&format!("; did you mean `{near}`?"));
    } else if *kind == abide_xds::Kind::Endpoints {
        line.push_str("; clients wait for it, Envoy for 15 s when it starts");
    }
    line
}
