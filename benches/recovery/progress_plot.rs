//! How far nodes are over time, as SVG: a panel beside the other.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 360.0;
/// Between a panel's frame and its left, right, upper and lower edge.
const MARGIN: [f64; 4] = [56.0, 14.0, 40.0, 50.0];
const COLOURS: [&str; 6] = ["#1f5fa8", "#2a8f4c", "#c33", "#8a5a00", "#6b3fa0", "#444"];

/// A run.
pub struct Panel {
    pub name: String,
    /// Of each node, when it had done which step, in seconds.
    pub nodes: BTreeMap<u32, Vec<(f64, u64)>>,
}

/// Draws them, all to the same scale.
pub fn write(to: &Path, panels: &[Panel]) -> io::Result<()> {
    let all = || panels.iter().flat_map(|panel| panel.nodes.values().flatten());
    let last = all().map(|(at, _)| *at).fold(0.0, f64::max);
    let most = all().map(|(_, step)| *step).max().unwrap_or(1) as f64;
    let width = WIDTH / panels.len().max(1) as f64;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    );
    for (nth, panel) in panels.iter().enumerate() {
        let left = nth as f64 * width;
        let x = |at: f64| left + MARGIN[0] + at / last * (width - MARGIN[0] - MARGIN[1]);
        let y = |step: f64| HEIGHT - MARGIN[3] - step / most * (HEIGHT - MARGIN[2] - MARGIN[3]);
        grid(&mut svg, (last, most), &x, &y);
        for (node, steps) in &panel.nodes {
            let colour = COLOURS[*node as usize % COLOURS.len()];
            let points: Vec<String> =
                steps.iter().map(|(at, step)| format!("{:.1},{:.1}", x(*at), y(*step as f64))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"/>",
                points.join(" ")
            );
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">node {node}</text>",
                x(0.0) + 8.0,
                y(most) + 14.0 * f64::from(*node + 1)
            );
        }
        let middle = left + width / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\">--ft {}: one of {} nodes is lost</text>\n\
             <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">seconds; a node's steps, those that it does again too</text>",
            MARGIN[2] - 14.0,
            panel.name,
            panel.nodes.len(),
            HEIGHT - 12.0
        );
    }
    svg.push_str("</svg>\n");
    fs::write(to, svg)
}

fn grid(svg: &mut String, (last, most): (f64, f64), x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) {
    for fifth in 0..=5 {
        let part = f64::from(fifth) / 5.0;
        let (at, step) = (last * part, most * part);
        let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}V{:.1}\" stroke=\"#ddd\"/>", x(at), y(most), y(0.0));
        let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}H{:.1}\" stroke=\"#ddd\"/>", x(0.0), y(step), x(last));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at:.1}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{step:.0}</text>",
            x(at),
            y(0.0) + 16.0,
            x(0.0) - 6.0,
            y(step) + 4.0
        );
    }
}
