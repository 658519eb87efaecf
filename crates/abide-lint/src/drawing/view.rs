//! What is shown of the packages, in which form.

use abide_schema::{DependencyGraph, DependencyLevel, Package};

use super::broken_edges::BrokenEdges;
use super::{Drawing, DrawnEdge};
use crate::finding::Finding;

/// Options for a drawing of the packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphView<'r> {
    /// True if to include imported packages that checked packages depend on.
    pub imported: bool,
    /// The findings about the tree; the edges that they are about are drawn as broken.
    pub findings: &'r [Finding],
}

impl<'r> GraphView<'r> {
    fn drawing<'t>(self, graph: &DependencyGraph<'t>) -> Drawing<'t, 'r> {
        let tree = graph.tree();
        let judged = tree.packages().filter(|it| it.is_judged());
        let shown = if self.imported {
            let mut shown = vec![false; tree.packages().len()];
            let mut open: Vec<Package<'t>> = judged.collect();
            while let Some(package) = open.pop() {
                if !std::mem::replace(&mut shown[package.id.0 as usize], true) {
                    open.extend(graph.edges_of(package).map(|edge| edge.to));
                }
            }
            tree.packages().filter(|it| shown[it.id.0 as usize]).collect()
        } else {
            judged.collect::<Vec<_>>()
        };
        let broken = BrokenEdges::of(tree, self.findings);
        let mut steps = graph.step_finder();
        let edges = shown.iter().flat_map(|&package| graph.edges_of(package));
        let edges = edges.filter(|edge| shown.binary_search(&edge.to).is_ok()).map(|edge| {
            let mut level = |level| {
                Some((level, edge.counts().count_at(level), edge.find_evidence(&mut steps, level)?))
            };
            DrawnEdge {
                from: edge.from,
                to: edge.to,
                levels: DependencyLevel::ALL.into_iter().filter_map(&mut level).collect(),
                broken: broken.against(&edge),
            }
        });
        Drawing { tree, edges: edges.collect(), packages: shown }
    }

    /// The graph for Graphviz: a cluster for each API, colours by stability.
    pub fn dot(self, graph: &DependencyGraph<'_>) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.drawing(graph).dot(&mut text);
        text
    }

    /// The graph for Mermaid, as GitHub draws it: a subgraph for each API.
    pub fn mermaid(self, graph: &DependencyGraph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).mermaid(&mut text);
        text
    }

    /// The graph as one JSON object: packages, and edges with their evidence.
    pub fn json(self, graph: &DependencyGraph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).json(&mut text);
        text
    }

    /// The graph as a self-contained SVG drawing that follows the light or dark
    /// theme of its viewer. A package is above its dependencies, and each edge has
    /// its first evidence as a tooltip.
    pub fn svg(self, graph: &DependencyGraph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).svg(&mut text, false);
        text
    }

    /// The same drawing for a page with a script: `data-node` numbers the packages, `data-name`
    /// names them, and `data-from` and `data-to` of each edge are such numbers.
    pub fn svg_for_script(self, graph: &DependencyGraph<'_>) -> String {
        let mut text = String::new();
        let _ = self.drawing(graph).svg(&mut text, true);
        text
    }
}
