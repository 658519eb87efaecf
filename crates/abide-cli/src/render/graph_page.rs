//! The graph of packages as one self-contained page, to move around in.

use abide_lint::GraphView;
use abide_schema::DependencyGraph;

use super::markup::HtmlPage;

const BODY: &str = include_str!("graph_page/body.html");
const STYLE: &str = include_str!("graph_page/page.css");
const SCRIPT: &str = include_str!("graph_page/page.js");

pub(super) fn render_html(view: GraphView<'_>, graph: &DependencyGraph<'_>) -> String {
    let drawing = view.svg_for_script(graph);
    let page = HtmlPage { title: "API packages", style: STYLE, script: Some(SCRIPT), body: BODY };
    let page = page.fill(|mark| if mark == "drawing" { drawing.clone() } else { String::new() });
    String::from_utf8_lossy(&page).into_owned()
}
