//! The time that each step took, over the run, as SVG.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 360.0;
/// Between the frame and the left, right, upper and lower edge.
const MARGIN: [f64; 4] = [70.0, 20.0, 40.0, 50.0];

/// Draws steps as they were done, by their numbers and ends, and when nodes were lost.
pub fn write(to: &Path, done: &[(u32, Duration)], lost: &[f64]) -> io::Result<()> {
    let took: Vec<(f64, f64)> = done
        .windows(2)
        .map(|two| (two[1].1.as_secs_f64(), (two[1].1 - two[0].1).as_secs_f64() * 1e3))
        .collect();
    let (last, most) = took.iter().fold((0.0_f64, 0.0_f64), |(x, y), at| (x.max(at.0), y.max(at.1)));
    let x = |number: f64| MARGIN[0] + number / took.len() as f64 * (WIDTH - MARGIN[0] - MARGIN[1]);
    let y = |ms: f64| HEIGHT - MARGIN[3] - ms / most * (HEIGHT - MARGIN[2] - MARGIN[3]);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    );
    for number in (0..took.len()).step_by(100) {
        let at = x(number as f64);
        let _ = writeln!(svg, "<path d=\"M{at:.1} {}V{}\" stroke=\"#ddd\"/>", MARGIN[2], HEIGHT - MARGIN[3]);
        let below = HEIGHT - MARGIN[3] + 16.0;
        let _ = writeln!(svg, "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{number}</text>");
    }
    for fifth in 0..=5 {
        let ms = most * f64::from(fifth) / 5.0;
        let _ =
            writeln!(svg, "<path d=\"M{} {:.1}H{}\" stroke=\"#ddd\"/>", MARGIN[0], y(ms), WIDTH - MARGIN[1]);
        let left = MARGIN[0] - 6.0;
        let _ =
            writeln!(svg, "<text x=\"{left}\" y=\"{:.1}\" text-anchor=\"end\">{ms:.1}</text>", y(ms) + 4.0);
    }
    for at in lost {
        let number = took.partition_point(|(end, _)| end < at) as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {}V{}\" stroke=\"#c33\" stroke-dasharray=\"3 4\"/>",
            x(number),
            MARGIN[2],
            HEIGHT - MARGIN[3]
        );
    }
    let points: Vec<String> = (0..)
        .zip(&took)
        .map(|(number, (_, ms))| format!("{:.1},{:.1}", x(f64::from(number)), y(*ms)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.2\"/>",
        points.join(" ")
    );
    let (middle, centre) = (WIDTH / 2.0, HEIGHT / 2.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" font-size=\"14\">128 nodes lose ten in {last:.2} s: a red line each</text>\n\
         <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">steps in the order in which they were done</text>\n\
         <text x=\"16\" y=\"{centre}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {centre})\">ms a step</text>\n</svg>",
        MARGIN[2] - 14.0,
        HEIGHT - 12.0
    );
    fs::write(to, svg)
}
