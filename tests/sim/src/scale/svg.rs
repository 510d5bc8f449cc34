//! A plot with logarithmic axes, as SVG.

use std::fmt::Write;

/// A plot.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub lines: Vec<Line<'a>>,
}

/// A line of it.
pub struct Line<'a> {
    pub name: &'a str,
    pub color: &'a str,
    /// Drawn dashed and without marks: what it ought to be.
    pub is_ideal: bool,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 360.0;
/// Between the frame and the left, right, upper and lower edge.
const MARGIN: [f64; 4] = [70.0, 20.0, 40.0, 50.0];

/// Plots beside each other.
pub fn draw(plots: &[Plot<'_>]) -> String {
    let width = WIDTH * plots.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{width}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    for (number, plot) in plots.iter().enumerate() {
        let _ = writeln!(svg, "<g transform=\"translate({} 0)\">", number as f64 * WIDTH);
        plot.draw(&mut svg);
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

impl Plot<'_> {
    fn draw(&self, svg: &mut String) {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::over(all().map(|point| point.0), MARGIN[0], WIDTH - MARGIN[1]);
        let y = Axis::over(all().map(|point| point.1), HEIGHT - MARGIN[3], MARGIN[2]);
        self.draw_axes(svg, &x, &y);
        for (number, line) in self.lines.iter().enumerate() {
            line.draw(svg, &x, &y);
            self.draw_name(svg, line, HEIGHT - MARGIN[3] - 14.0 - 16.0 * number as f64);
        }
    }

    fn draw_axes(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let (left, right, top, bottom) = (x.from, x.to, y.to, y.from);
        for decade in x.decades() {
            let (at, value) = (x.place(decade), label(decade));
            let _ = writeln!(svg, "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
                bottom + 16.0
            );
        }
        for decade in y.decades() {
            let (at, value) = (y.place(decade), label(decade));
            let _ = writeln!(svg, "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>");
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
                left - 6.0,
                at + 4.0
            );
        }
        let (width, height) = (right - left, bottom - top);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"black\"/>"
        );
        let (middle, centre) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let text = |x: f64, y: f64, more: &str, text: &str| {
            format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\"{more}>{text}</text>\n")
        };
        *svg += &text(middle, MARGIN[2] - 14.0, " font-size=\"14\"", self.title);
        *svg += &text(middle, HEIGHT - 12.0, "", self.x);
        *svg += &text(16.0, centre, &format!(" transform=\"rotate(-90 16 {centre})\""), self.y);
    }

    fn draw_name(&self, svg: &mut String, line: &Line<'_>, at: f64) {
        let x = MARGIN[0] + 10.0;
        let _ = writeln!(svg, "<path d=\"M{x} {at}h24\" {}/>", line.stroke());
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}</text>", x + 30.0, at + 4.0, line.name);
    }
}

impl Line<'_> {
    fn draw(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let places: Vec<_> = self.points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
        let points: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" {}/>", points.join(" "), self.stroke());
        for (x, y) in places.iter().filter(|_| !self.is_ideal) {
            let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{}\"/>", self.color);
        }
    }

    fn stroke(&self) -> String {
        let dashes = if self.is_ideal { " stroke-dasharray=\"5 4\"" } else { "" };
        format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{dashes}", self.color)
    }
}

/// A logarithmic axis, from one power of ten to another.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let low = low.log10().floor();
        Axis { low, high: high.log10().ceil().max(low + 1.0), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (value.log10() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn decades(&self) -> impl Iterator<Item = f64> + use<> {
        (self.low as i32..=self.high as i32).map(|power| 10_f64.powi(power))
    }
}

/// 1000 as it is, 100000 as a power of ten.
fn label(value: f64) -> String {
    let power = value.log10().round() as i32;
    match power {
        -2..=4 => format!("{value}"),
        _ => format!("10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_stand_evenly() {
        let axis = Axis::over([2.0, 700.0].into_iter(), 100.0, 400.0);
        assert_eq!(
            axis.decades().map(|value| axis.place(value)).collect::<Vec<_>>(),
            [100.0, 200.0, 300.0, 400.0]
        );
    }
}
