//! Computes the places of the boxes and edges of a drawing.
//!
//! Boxes are in layers: a package is above its dependencies. A layer with many
//! boxes takes several rows. All rows share one grid of columns, so there is a
//! corridor from top to bottom between two columns. An edge that passes rows goes
//! straight down in a lane of a corridor, together with all others to the same box,
//! and bends only between rows. The text of an edge therefore has a constant
//! length, and no edge passes behind a box.

use petgraph::algo::{greedy_feedback_arc_set, kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};

/// The space between two columns, without the lanes.
const CORRIDOR: i64 = 26;
/// The distance between lanes.
const LANE: i64 = 6;
/// The space between two rows of a layer, and the extra space after a layer.
const GAP: i64 = 26;
const LAYER_GAP: i64 = 30;
/// The space that each bending edge adds to a gap, and the most of all of them.
const BEND: i64 = 2;
const BENDS: i64 = 90;
/// The smallest ratio of width to height.
const ASPECT: f64 = 1.5;
/// At least so many boxes share a row, however high the drawing gets.
const ABREAST: usize = 5;
/// How many times rows are ordered downward and upward.
const SWEEPS: usize = 8;

/// The places of everything, in pixels; the first row starts at 0.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) left: i64,
    pub(super) right: i64,
    pub(super) bottom: i64,
    /// The left upper corner of each box.
    pub(super) boxes: Vec<(i64, i64)>,
    /// The route of each edge.
    pub(super) routes: Vec<Route>,
}

/// The route of an edge.
#[derive(Debug)]
pub(super) struct Route {
    /// True if it closes a cycle and therefore leads upward.
    pub(super) closes: bool,
    /// Its straight parts, downward, from the lower side of the upper box to the
    /// upper side of the lower one; it bends between them. Empty if the edge leads
    /// from a box to itself.
    pub(super) runs: Vec<StraightRun>,
}

/// A straight part of a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct StraightRun {
    pub(super) x: i64,
    pub(super) top: i64,
    pub(super) bottom: i64,
}

/// Places boxes of one width and the given heights, and the edges between them.
pub(super) fn lay_out(width: i64, heights: &[i64], edges: &[(usize, usize)]) -> Placement {
    let closes = closing(heights.len(), edges);
    let turned = edges.iter().zip(&closes);
    let turned: Vec<(usize, usize)> =
        turned.map(|(&(from, to), &closes)| if closes { (to, from) } else { (from, to) }).collect();
    let neighbours = Neighbours::of(heights.len(), &turned);
    let rows = Rows::of(width, heights, &neighbours, &turned);
    let lanes = Lanes::of(&rows, &turned, &closes);
    let columns = rows.columns(&neighbours, &lanes);
    place(width, heights, &turned, closes, &rows, &lanes, &columns)
}

/// For each edge, whether it is turned to make the graph acyclic.
fn closing(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let graph = digraph(nodes, edges.iter().copied());
    let mut circle_of = vec![0; nodes];
    for (circle, members) in kosaraju_scc(&graph).iter().enumerate() {
        for member in members {
            circle_of[member.index()] = circle;
        }
    }
    let within = |from: usize, to: usize| circle_of[from] == circle_of[to];
    let circles = digraph(nodes, edges.iter().copied().filter(|&(from, to)| within(from, to)));
    let mut backward: Vec<(usize, usize)> = greedy_feedback_arc_set(&circles)
        .map(|edge| (edge.source().index(), edge.target().index()))
        .collect();
    backward.sort_unstable();
    edges.iter().map(|edge| backward.binary_search(edge).is_ok()).collect()
}

fn digraph(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> DiGraph<(), ()> {
    let mut graph = DiGraph::with_capacity(nodes, 0);
    for _ in 0..nodes {
        graph.add_node(());
    }
    for (from, to) in edges {
        graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
    }
    graph
}

/// The nodes above and below each node.
struct Neighbours {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Neighbours {
    fn of(nodes: usize, edges: &[(usize, usize)]) -> Neighbours {
        let mut neighbours =
            Neighbours { above: vec![Vec::new(); nodes], below: vec![Vec::new(); nodes] };
        for &(upper, lower) in edges.iter().filter(|(upper, lower)| upper != lower) {
            neighbours.above[lower].push(upper);
            neighbours.below[upper].push(lower);
        }
        neighbours
    }

    /// The layer of each node, counted from below: the longest path down, or higher
    /// if that brings it nearer to more of its neighbours.
    fn layers(&self, edges: &[(usize, usize)]) -> Vec<usize> {
        let graph = digraph(self.above.len(), edges.iter().copied());
        let straight = EdgeFiltered::from_fn(&graph, |edge| edge.source() != edge.target());
        let order: Vec<usize> = toposort(&straight, None)
            .expect("the graph is acyclic after closing edges are turned")
            .into_iter()
            .map(NodeIndex::index)
            .collect();
        let mut layers = vec![0; order.len()];
        for &node in order.iter().rev() {
            layers[node] = self.below[node].iter().map(|&it| layers[it] + 1).max().unwrap_or(0);
        }
        for &node in &order {
            let (above, below) = (&self.above[node], &self.below[node]);
            if above.len() >= below.len()
                && let Some(lowest) = above.iter().map(|&it| layers[it]).min()
            {
                layers[node] = lowest - 1;
            }
        }
        layers
    }

    fn is_alone(&self, node: usize) -> bool {
        self.above[node].is_empty() && self.below[node].is_empty()
    }
}

/// The rows of boxes, from above.
struct Rows {
    rows: Vec<Vec<usize>>,
    /// Whether a row is the first one of a layer.
    opens: Vec<bool>,
    row_of: Vec<usize>,
    /// How many boxes fit in a row.
    columns: usize,
}

impl Rows {
    fn of(width: i64, heights: &[i64], neighbours: &Neighbours, edges: &[(usize, usize)]) -> Rows {
        let layer_of = neighbours.layers(edges);
        let mut layers = vec![Vec::new(); layer_of.iter().max().map_or(0, |highest| highest + 1)];
        let mut alone = Vec::new();
        for (node, layer) in layer_of.into_iter().enumerate() {
            let layer = if neighbours.is_alone(node) { &mut alone } else { &mut layers[layer] };
            layer.push(node);
        }
        layers.reverse();
        layers.push(alone);
        layers.retain(|layer| !layer.is_empty());

        let columns = columns(width, heights, &layers);
        let mut rows =
            Rows { rows: Vec::new(), opens: Vec::new(), row_of: vec![0; heights.len()], columns };
        for layer in layers {
            // Rows get nearly the same length, instead of a short last one.
            let count = layer.len().div_ceil(columns);
            for index in 0..count {
                let part = layer.len() * index / count..layer.len() * (index + 1) / count;
                let row = layer[part].to_vec();
                for &node in &row {
                    rows.row_of[node] = rows.rows.len();
                }
                rows.rows.push(row);
                rows.opens.push(index == 0);
            }
        }
        rows
    }

    /// The column of each box: near those of its neighbours.
    fn columns(&self, neighbours: &Neighbours, lanes: &Lanes) -> Vec<f64> {
        let mut columns = vec![0.0; self.row_of.len()];
        for row in &self.rows {
            let start = (self.columns - row.len()) / 2;
            for (index, &node) in row.iter().enumerate() {
                columns[node] = (start + index) as f64;
            }
        }
        let wish = |columns: &[f64], node: usize, near: &[usize]| {
            let sum: f64 = near.iter().map(|&it| columns[it]).sum();
            if near.is_empty() { columns[node] } else { sum / near.len() as f64 }
        };
        let mut settle = |row: usize, wish: &dyn Fn(&[f64], usize) -> f64| {
            let mut wishes: Vec<(f64, usize)> =
                self.rows[row].iter().map(|&node| (wish(&columns, node), node)).collect();
            wishes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let found = apart(wishes.iter().map(|&(wish, _)| wish), wishes.len(), self.columns);
            for (&(_, node), column) in wishes.iter().zip(found) {
                // A box with lanes beside it is on the grid.
                columns[node] = if lanes.passed[row] { column.round() } else { column };
            }
        };
        for _ in 0..SWEEPS {
            for row in 0..self.rows.len() {
                settle(row, &|columns, node| wish(columns, node, &neighbours.above[node]));
            }
            for row in (0..self.rows.len()).rev() {
                settle(row, &|columns, node| wish(columns, node, &neighbours.below[node]));
            }
        }
        for row in (0..self.rows.len()).chain((0..self.rows.len()).rev()) {
            settle(row, &|columns, node| {
                let sides = [&neighbours.above[node], &neighbours.below[node]];
                let sides = sides.into_iter().filter(|side| !side.is_empty());
                let wishes: Vec<f64> = sides.map(|side| wish(columns, node, side)).collect();
                if wishes.is_empty() {
                    columns[node]
                } else {
                    wishes.iter().sum::<f64>() / wishes.len() as f64
                }
            });
        }
        columns
    }
}

/// The least number of columns that makes the drawing wide enough.
fn columns(width: i64, heights: &[i64], layers: &[Vec<usize>]) -> usize {
    let widest = layers.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let highest = heights.iter().copied().max().unwrap_or(0);
    let wide_enough = |&columns: &usize| {
        let rows: usize = layers.iter().map(|layer| layer.len().div_ceil(columns)).sum();
        let height = rows as i64 * (highest + GAP) + layers.len() as i64 * LAYER_GAP;
        (columns as i64 * (width + CORRIDOR)) as f64 >= height as f64 * ASPECT
    };
    (ABREAST.min(widest)..widest).find(wide_enough).unwrap_or(widest)
}

/// The columns nearest to the wished ones, by the sum of squares, that are one
/// apart, in the same order and between 0 and `columns`. Adjacent boxes that want
/// to be too near are pooled and share their wish.
fn apart(
    wishes: impl Iterator<Item = f64>,
    count: usize,
    columns: usize,
) -> impl Iterator<Item = f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (index, wish) in wishes.enumerate() {
        let mut pool = (wish - index as f64, 1);
        while let Some(&(sum, count)) = pools.last()
            && sum / count as f64 >= pool.0 / pool.1 as f64
        {
            pools.pop();
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    let room = (columns - count) as f64;
    pools
        .into_iter()
        .flat_map(move |(sum, count)| {
            std::iter::repeat_n((sum / count as f64).clamp(0.0, room), count)
        })
        .enumerate()
        .map(|(index, column)| column + index as f64)
}

/// The edges that share a lane: those to one box from rows not next to it. Edges
/// that close a cycle have separate lanes.
struct Lanes {
    /// The rows that each lane passes, from the first to before the last.
    passes: Vec<(usize, usize)>,
    /// The lane of each edge.
    lane_of: Vec<Option<usize>>,
    /// Which rows any lane passes.
    passed: Vec<bool>,
    /// The box that each lane leads to.
    targets: Vec<usize>,
    /// The boxes that each lane comes from.
    sources: Vec<Vec<usize>>,
}

impl Lanes {
    fn of(rows: &Rows, edges: &[(usize, usize)], closes: &[bool]) -> Lanes {
        let mut lanes = Lanes {
            passes: Vec::new(),
            lane_of: vec![None; edges.len()],
            passed: vec![false; rows.rows.len()],
            targets: Vec::new(),
            sources: Vec::new(),
        };
        let mut known = vec![[None; 2]; rows.row_of.len()];
        for (edge, &(upper, lower)) in edges.iter().enumerate() {
            let (first, last) = (rows.row_of[upper] + 1, rows.row_of[lower]);
            if first >= last {
                continue;
            }
            let lane = *known[lower][usize::from(closes[edge])].get_or_insert_with(|| {
                lanes.passes.push((first, last));
                lanes.targets.push(lower);
                lanes.sources.push(Vec::new());
                lanes.targets.len() - 1
            });
            lanes.passes[lane].0 = lanes.passes[lane].0.min(first);
            lanes.sources[lane].push(upper);
            lanes.lane_of[edge] = Some(lane);
        }
        let mut more = vec![0_i64; rows.rows.len() + 1];
        for &(first, last) in &lanes.passes {
            more[first] += 1;
            more[last] -= 1;
        }
        let mut passing = 0;
        for (passed, more) in lanes.passed.iter_mut().zip(more) {
            passing += more;
            *passed = passing > 0;
        }
        lanes
    }

    /// For each lane, its corridor (left of the column with this number) and its
    /// place there; and how many places each corridor has.
    fn corridors(&self, columns: &[f64], count: usize) -> (Vec<(usize, usize)>, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.passes.len()).collect();
        order.sort_unstable_by_key(|&lane| (self.passes[lane], lane));
        let mut found = vec![(0, 0); order.len()];
        // The row up to which each place is taken.
        let mut taken: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for lane in order {
            let ((first, last), sources) = (self.passes[lane], &self.sources[lane]);
            let column = columns[self.targets[lane]];
            let sum: f64 = sources.iter().map(|&source| columns[source]).sum();
            let right = sum / sources.len() as f64 > column;
            let corridor = if right { (column + 1.0).floor() } else { column.ceil() } as usize;
            let places = &mut taken[corridor];
            let place = places.iter().position(|&until| until <= first).unwrap_or(places.len());
            if place == places.len() {
                places.push(0);
            }
            places[place] = last;
            found[lane] = (corridor, place);
        }
        (found, taken.iter().map(Vec::len).collect())
    }
}

fn place(
    width: i64,
    heights: &[i64],
    edges: &[(usize, usize)],
    closes: Vec<bool>,
    rows: &Rows,
    lanes: &Lanes,
    columns: &[f64],
) -> Placement {
    let (corridors, places) = lanes.corridors(columns, rows.columns);

    // From the left: where each column starts.
    let room = |corridor: usize| {
        let lanes = places[corridor] as i64 * LANE;
        let edge = corridor == 0 || corridor == rows.columns;
        if edge && lanes == 0 { 0 } else { CORRIDOR + lanes }
    };
    let mut starts = Vec::with_capacity(rows.columns + 1);
    let mut right = 0;
    for column in 0..=rows.columns {
        starts.push(right + room(column));
        right += room(column) + width;
    }
    let left_of = |column: f64| {
        let (whole, part) = (column.floor(), column.fract());
        let (start, next) = (starts[whole as usize], starts[whole as usize + 1]);
        start + ((next - start) as f64 * part).round() as i64
    };
    let lane_x = |lane: usize| {
        let (corridor, place) = corridors[lane];
        starts[corridor] - room(corridor) + CORRIDOR / 2 + place as i64 * LANE + LANE / 2
    };

    // From the top: where each row starts and ends.
    let mut bends = vec![0; rows.rows.len() + 1];
    for &(upper, lower) in edges.iter().filter(|(upper, lower)| upper != lower) {
        bends[rows.row_of[upper] + 1] += 1;
        if rows.row_of[upper] + 1 < rows.row_of[lower] {
            bends[rows.row_of[lower]] += 1;
        }
    }
    let mut tops = Vec::with_capacity(rows.rows.len());
    let mut bottoms = Vec::with_capacity(rows.rows.len());
    let mut y = 0;
    for (index, row) in rows.rows.iter().enumerate() {
        if index > 0 {
            y += GAP + (bends[index] * BEND).min(BENDS);
            y += if rows.opens[index] { LAYER_GAP } else { 0 };
        }
        tops.push(y);
        y += row.iter().map(|&node| heights[node]).max().unwrap_or(0);
        bottoms.push(y);
    }

    let boxes: Vec<(i64, i64)> = (0..heights.len())
        .map(|node| {
            let row = rows.row_of[node];
            // Boxes of a row have the same middle line.
            let spare = bottoms[row] - tops[row] - heights[node];
            (left_of(columns[node]), tops[row] + spare / 2)
        })
        .collect();

    // Where edges touch boxes: side by side, in the order of their other ends.
    let middle = |node: usize| boxes[node].0 + width / 2;
    let straight = || (0..edges.len()).filter(|&edge| edges[edge].0 != edges[edge].1);
    let leaving = straight().map(|edge| {
        let (upper, lower) = edges[edge];
        let toward = lanes.lane_of[edge].map_or_else(|| middle(lower), lane_x);
        (upper, toward, edge)
    });
    let leaving = ports(leaving.collect(), edges.len(), width);
    let arrival = |edge: usize| lanes.lane_of[edge].unwrap_or(lanes.targets.len() + edge);
    let arriving = straight().map(|edge| {
        let (upper, lower) = edges[edge];
        let from = lanes.lane_of[edge].map_or_else(|| middle(upper), lane_x);
        (lower, from, arrival(edge))
    });
    let arriving = ports(arriving.collect(), lanes.targets.len() + edges.len(), width);

    let way = |edge: usize| {
        let (upper, lower) = edges[edge];
        if upper == lower {
            return Vec::new();
        }
        let (above, below) = (rows.row_of[upper], rows.row_of[lower]);
        let bottom = boxes[upper].1 + heights[upper];
        let x = middle(upper) + leaving[edge];
        let mut runs = vec![StraightRun { x, top: bottom, bottom: bottoms[above] }];
        if let Some(lane) = lanes.lane_of[edge] {
            runs.push(StraightRun {
                x: lane_x(lane),
                top: tops[above + 1],
                bottom: bottoms[below - 1],
            });
        }
        let x = middle(lower) + arriving[arrival(edge)];
        runs.push(StraightRun { x, top: tops[below], bottom: boxes[lower].1 });
        runs
    };
    let closes = closes.into_iter().enumerate();
    let routes: Vec<Route> =
        closes.map(|(edge, closes)| Route { closes, runs: way(edge) }).collect();
    let lanes = (0..lanes.targets.len()).map(lane_x);
    let ends = boxes.iter().flat_map(|&(x, _)| [x, x + width]).chain(lanes);
    let (left, right) = ends.fold((i64::MAX, 0), |(left, right), x| (left.min(x), right.max(x)));
    Placement { left: left.min(right), right, bottom: y, boxes, routes }
}

/// Returns how far from the middle of a box each edge touches it. An edge is given by its
/// box, its other end and its number; edges with the same number are one.
fn ports(mut ends: Vec<(usize, i64, usize)>, count: usize, width: i64) -> Vec<i64> {
    ends.sort_unstable();
    ends.dedup();
    let mut ports = vec![0; count];
    for ends in ends.chunk_by(|a, b| a.0 == b.0) {
        let steps = ends.len() as i64 - 1;
        let span = (steps * 12).min(width * 2 / 3);
        for (index, &(_, _, number)) in ends.iter().enumerate() {
            ports[number] = if steps == 0 { 0 } else { span * index as i64 / steps - span / 2 };
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fastrand::Rng;

    use super::*;

    const WIDTH: i64 = 120;

    /// Lays out, and asserts what holds of every layout.
    fn laid_out(heights: &[i64], edges: &[(usize, usize)]) -> Placement {
        let layout = lay_out(WIDTH, heights, edges);
        assert_eq!(
            format!("{layout:?}"),
            format!("{:?}", lay_out(WIDTH, heights, edges)),
            "the same input has the same layout",
        );
        assert_eq!((layout.boxes.len(), layout.routes.len()), (heights.len(), edges.len()));
        boxes_keep_apart(&layout, heights);
        for (&(from, to), route) in edges.iter().zip(&layout.routes) {
            leads(&layout, heights, from, to, route);
        }
        lanes_keep_apart(&layout, edges);
        only_circles_are_closed(&layout, heights.len(), edges);
        layout
    }

    fn boxes_keep_apart(layout: &Placement, heights: &[i64]) {
        for (index, &(x, y)) in layout.boxes.iter().enumerate() {
            for (other, &(right, below)) in layout.boxes.iter().enumerate().skip(index + 1) {
                let beside = (x - right).abs() >= WIDTH + CORRIDOR - 1;
                let above = y + heights[index] + GAP <= below || below + heights[other] + GAP <= y;
                assert!(beside || above, "boxes keep apart");
            }
        }
        for (&(x, y), &height) in layout.boxes.iter().zip(heights) {
            assert!(layout.left <= x && x + WIDTH <= layout.right);
            assert!(0 <= y && y + height <= layout.bottom);
        }
    }

    /// A route goes down from box to box, past all others.
    fn leads(layout: &Placement, heights: &[i64], from: usize, to: usize, route: &Route) {
        if from == to {
            assert!(route.closes && route.runs.is_empty());
            return;
        }
        let (upper, lower) = if route.closes { (to, from) } else { (from, to) };
        let (first, last) = (route.runs[0], route.runs[route.runs.len() - 1]);
        let (above, below) = (layout.boxes[upper], layout.boxes[lower]);
        assert!(above.0 < first.x && first.x < above.0 + WIDTH);
        assert!(below.0 < last.x && last.x < below.0 + WIDTH);
        assert_eq!((first.top, last.bottom), (above.1 + heights[upper], below.1));
        assert!(route.runs.iter().all(|run| run.top <= run.bottom));
        assert!(route.runs.windows(2).all(|pair| pair[0].bottom + GAP <= pair[1].top));
        for (&(x, y), &height) in layout.boxes.iter().zip(heights) {
            for run in &route.runs {
                let beside = run.x < x || run.x > x + WIDTH;
                assert!(beside || run.bottom <= y || y + height <= run.top, "it passes boxes");
            }
            // It bends where no box is.
            for pair in route.runs.windows(2) {
                assert!(y + height <= pair[0].bottom || pair[1].top <= y, "it bends between rows");
            }
        }
    }

    /// Who shares a lane leads to the same box.
    fn lanes_keep_apart(layout: &Placement, edges: &[(usize, usize)]) {
        let mut lanes: BTreeMap<i64, Vec<(i64, i64, usize, bool)>> = BTreeMap::new();
        for (&(from, to), route) in edges.iter().zip(&layout.routes) {
            if let [_, lane, _] = route.runs[..] {
                let lower = if route.closes { from } else { to };
                lanes.entry(lane.x).or_default().push((lane.top, lane.bottom, lower, route.closes));
            }
        }
        for uses in lanes.values_mut() {
            uses.sort_unstable();
            let mut until: Option<(i64, usize, bool)> = None;
            for &(top, bottom, lower, closes) in uses.iter() {
                if let Some((end, before, closed)) = until {
                    assert!(end < top || (before, closed) == (lower, closes));
                    until = Some((end.max(bottom), lower, closes));
                } else {
                    until = Some((bottom, lower, closes));
                }
            }
        }
    }

    fn only_circles_are_closed(layout: &Placement, nodes: usize, edges: &[(usize, usize)]) {
        let graph = digraph(nodes, edges.iter().copied());
        let mut circle_of = vec![0; nodes];
        for (circle, members) in kosaraju_scc(&graph).iter().enumerate() {
            members.iter().for_each(|it| circle_of[it.index()] = circle);
        }
        for (&(from, to), route) in edges.iter().zip(&layout.routes) {
            assert!(!route.closes || circle_of[from] == circle_of[to]);
        }
    }

    fn random(rng: &mut Rng) -> (Vec<i64>, Vec<(usize, usize)>) {
        let nodes = rng.usize(1..70);
        let heights = (0..nodes).map(|_| rng.i64(30..80)).collect();
        let count = rng.usize(0..nodes * 4);
        let acyclic = rng.bool();
        let hub = rng.usize(0..nodes);
        let mut edges: Vec<(usize, usize)> = (0..count)
            .map(|_| {
                (rng.usize(0..nodes), if rng.u8(0..4) == 0 { hub } else { rng.usize(0..nodes) })
            })
            .map(|(a, b)| if acyclic { (a.max(b), a.min(b)) } else { (a, b) })
            .filter(|(a, b)| !acyclic || a != b)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        (heights, edges)
    }

    #[test]
    fn laws_of_random_graphs() {
        let mut rng = Rng::with_seed(19);
        for _ in 0..400 {
            let (heights, edges) = random(&mut rng);
            laid_out(&heights, &edges);
        }
    }

    #[test]
    fn graphs_at_the_edge() {
        let empty = laid_out(&[], &[]);
        assert_eq!((empty.left, empty.right, empty.bottom), (0, 0, 0));
        laid_out(&[30], &[]);
        laid_out(&[30], &[(0, 0)]);
        laid_out(&[30, 30], &[(0, 1), (1, 0), (1, 1)]);
        // The same edge twice is two edges.
        laid_out(&[30, 30], &[(0, 1), (0, 1)]);
        let all: Vec<(usize, usize)> =
            (0..40).flat_map(|from| (0..40).map(move |to| (from, to))).collect();
        laid_out(&[30; 40], &all);
    }

    #[test]
    fn a_chain_is_a_straight_line() {
        let edges: Vec<(usize, usize)> = (1..2_000).map(|it| (it - 1, it)).collect();
        let layout = lay_out(WIDTH, &[30; 2_000], &edges);
        assert!(
            layout.boxes.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1)
        );
        assert!(layout.routes.iter().all(|route| route.runs[0].x == route.runs[1].x));
    }

    #[test]
    fn a_chain_of_which_all_stand_on_some_shares_lanes() {
        let nodes = 1_000;
        let chain = (10..nodes - 1).map(|it| (it, it + 1));
        let hubs = (10..nodes).flat_map(|it| (0..10).map(move |hub| (it, hub)));
        let edges: Vec<(usize, usize)> = chain.chain(hubs).collect();
        let layout = lay_out(WIDTH, &vec![30; nodes], &edges);
        lanes_keep_apart(&layout, &edges);
        let mut lanes: Vec<i64> =
            layout.routes.iter().filter(|it| it.runs.len() == 3).map(|it| it.runs[1].x).collect();
        lanes.sort_unstable();
        lanes.dedup();
        assert_eq!(lanes.len(), 10);
    }

    #[test]
    fn a_wide_layer_takes_rows() {
        let edges: Vec<(usize, usize)> = (1..=200).map(|it| (it, 0)).collect();
        let layout = laid_out(&[40; 201], &edges);
        let (width, height) = (layout.right - layout.left, layout.bottom);
        assert!(width < 3 * height && height < 2 * width, "{width} x {height}");
    }

    #[test]
    fn columns_are_the_nearest_that_keep_apart() {
        let found = |wishes: &[f64], columns| -> Vec<f64> {
            apart(wishes.iter().copied(), wishes.len(), columns).collect()
        };
        assert_eq!(found(&[1.0, 3.0], 5), [1.0, 3.0]);
        assert_eq!(found(&[2.0, 2.0], 5), [1.5, 2.5]);
        assert_eq!(found(&[0.0, 0.0, 0.0], 5), [0.0, 1.0, 2.0]);
        assert_eq!(found(&[9.0, 9.0], 5), [3.0, 4.0]);
    }
}
