//! Renders the package DAG: for Graphviz, for Mermaid, as JSON, and as SVG.

mod broken_edges;
mod placement;
mod svg;
mod text;
pub(crate) mod view;

use std::collections::BTreeMap;

use abide_schema::{
    DependencyEvidence, DependencyLevel, Package, Stability, Tree, format_api_name,
};

/// The packages to draw, and the edges between them.
struct Drawing<'t, 'r> {
    tree: &'t Tree,
    packages: Vec<Package<'t>>,
    edges: Vec<DrawnEdge<'t, 'r>>,
}

struct DrawnEdge<'t, 'r> {
    from: Package<'t>,
    to: Package<'t>,
    /// How often, and the first evidence, at each level.
    levels: Vec<(DependencyLevel, u32, DependencyEvidence<'t>)>,
    /// What findings say against it.
    broken: Vec<&'r str>,
}

impl DrawnEdge<'_, '_> {
    fn words(&self) -> String {
        let words: Vec<&str> = self.levels.iter().map(|(level, ..)| level.word()).collect();
        words.join(", ")
    }

    /// Returns true if nothing imported is used.
    fn is_idle(&self) -> bool {
        self.levels.iter().all(|(level, ..)| *level == DependencyLevel::Import)
    }
}

impl<'t> Drawing<'t, '_> {
    /// The packages by API, sorted by name. A package without a version, or of an
    /// API with only one version, is alone.
    fn clusters(&self) -> Vec<(Option<String>, Vec<Package<'t>>)> {
        let mut apis: BTreeMap<String, Vec<Package<'t>>> = BTreeMap::new();
        let mut alone = Vec::new();
        for &package in &self.packages {
            match format_api_name(package.name()) {
                Some(api) => apis.entry(api).or_default().push(package),
                None => alone.push((None, vec![package])),
            }
        }
        let clusters = apis.into_iter().map(|(api, packages)| {
            let several = packages.len() > 1;
            (several.then_some(api), packages)
        });
        clusters.chain(alone).collect()
    }
}

/// The label of a package in a drawing.
fn label(package: Package<'_>) -> &str {
    if package.name().is_empty() { "(no package)" } else { package.name() }
}

const COLOURS: [(&str, &str); 4] =
    [("stable", "#b7e1cd"), ("beta", "#fde9a9"), ("alpha", "#f6b8a6"), ("unversioned", "#e0e0e0")];

fn class(package: Package<'_>) -> &'static str {
    match package.version().map(|version| version.stability) {
        Some(Stability::Stable) => "stable",
        Some(Stability::Beta) => "beta",
        Some(Stability::Alpha) => "alpha",
        None => "unversioned",
    }
}

fn colour(package: Package<'_>) -> &'static str {
    let class = class(package);
    COLOURS.iter().find(|(name, _)| *name == class).map_or("white", |(_, colour)| colour)
}
