//! A part of a trace as a picture: how busy each PE was, and above that checkpoints, balancing steps and losses.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;

use super::path::Part;
use super::reader::{Event, Names, ReadError, TraceReader, What};
use super::sentences::{escaped, plural, time};
use super::summary::Summary;
use super::tracks::Track;

/// Moments of each PE.
const BINS: usize = 300;
/// PEs that have a row: the first ones.
const ROWS_MAX: usize = 32;
/// Frozen times of a PE, and what stands above: as many are drawn.
const SPANS_MAX: usize = 200;
/// In pixels: of names at the left, of the plot, of a row, and of what stands above.
const NAMES: f64 = 110.0;
const WIDTH: f64 = 630.0;
const ROW: f64 = 26.0;
const LANE: f64 = 20.0;
/// Pixels of a letter, about.
const LETTER: f64 = 6.5;

/// Follows the reader's choice of dark or light.
const STYLE: &str = "
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.line { stroke: #8c959f; stroke-width: .7; fill: none; }
.busy { fill: #0969da; }
.frozen { fill: #bf8700; opacity: .55; }
.checkpoint { fill: #bf8700; }
.step { fill: #1a7f37; }
.loss { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .line { stroke: #6e7681; }
  .busy { fill: #4493f8; }
  .frozen { fill: #d29922; }
  .checkpoint { fill: #d29922; }
  .step { fill: #3fb950; }
  .loss { fill: #f85149; }
}
";

/// From when to when.
type Span = (u64, u64);

/// What PEs did in a part.
struct Lanes {
    part: Part,
    /// By PE: nanoseconds of each bin that were busy.
    busy: BTreeMap<u32, Vec<u64>>,
    frozen: BTreeMap<u32, Vec<Span>>,
    /// Since when an entry runs; none while the PE is idle.
    open: BTreeMap<u32, Option<u64>>,
    frozen_since: BTreeMap<u32, u64>,
}

/// Draws a part of a trace, which is read once more.
///
/// # Errors
/// The trace cannot be read.
pub fn picture<R: BufRead>(
    reader: TraceReader<R>,
    part: &Part,
    summary: &Summary,
) -> Result<String, ReadError> {
    let pes = summary.pes.keys().take(ROWS_MAX);
    let mut lanes = Lanes {
        part: part.clone(),
        busy: pes.map(|pe| (*pe, vec![0; BINS])).collect(),
        frozen: BTreeMap::new(),
        open: BTreeMap::new(),
        frozen_since: BTreeMap::new(),
    };
    reader.read(|event, names| lanes.see(event, names))?;
    Ok(lanes.draw(summary))
}

impl Lanes {
    fn see(&mut self, event: &Event<'_>, _: &Names) {
        match (event.track, event.what) {
            (Track::Pe(pe), What::Begins) => {
                self.open.insert(pe, event.is_entry.then_some(event.at));
            }
            (Track::Pe(pe), What::Ends) => {
                if let Some(Some(since)) = self.open.remove(&pe) {
                    self.add(pe, since, event.at);
                }
            }
            (Track::Frozen(pe), What::Begins) => {
                self.frozen_since.insert(pe, event.at);
            }
            (Track::Frozen(pe), What::Ends) => {
                let Some(since) = self.frozen_since.remove(&pe) else { return };
                let spans = self.frozen.entry(pe).or_default();
                if spans.len() < SPANS_MAX {
                    spans.extend(within(&self.part, (since, event.at)));
                }
            }
            _ => {}
        }
    }

    /// A PE was busy from one moment to another.
    fn add(&mut self, pe: u32, from: u64, until: u64) {
        let Some((from, until)) = within(&self.part, (from, until)) else { return };
        let (start, width) = (self.part.from, self.bin());
        let Some(bins) = self.busy.get_mut(&pe) else { return };
        let mut at = from;
        while at < until {
            let bin = ((at - start) / width) as usize;
            let end = start.saturating_add((bin as u64 + 1).saturating_mul(width)).min(until);
            bins[bin.min(BINS - 1)] += end - at;
            at = end;
        }
    }

    /// The width of a bin, in nanoseconds.
    fn bin(&self) -> u64 {
        self.part.ns().div_ceil(BINS as u64).max(1)
    }

    fn x(&self, at: u64) -> f64 {
        let share = at.saturating_sub(self.part.from) as f64 / self.part.ns().max(1) as f64;
        NAMES + share.min(1.0) * WIDTH
    }

    fn draw(&self, summary: &Summary) -> String {
        let (mut body, mut y) = (String::new(), 4.0);
        for lane in above(summary, &self.part) {
            self.draw_lane(&lane, y, &mut body);
            y += LANE;
        }
        for (pe, bins) in &self.busy {
            self.draw_pe(*pe, bins, y, &mut body);
            y += ROW;
        }
        self.draw_times(y, &mut body);
        let (width, height) = (NAMES + WIDTH + 20.0, y + 22.0);
        let program = escaped(&summary.job.program);
        let title = format!("{program}, {}: how busy each PE was", escaped(&self.part.what));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\"><title>{title}</title><style>{STYLE}</style>\n{body}</svg>\n"
        )
    }

    fn draw_lane(&self, lane: &Lane, y: f64, body: &mut String) {
        let Lane { class, name, spans } = lane;
        let _ = writeln!(body, "<text x=\"0\" y=\"{}\">{name}</text>", y + 14.0);
        // Texts are left out where there is no room for them.
        let mut free = NAMES;
        for ((from, until), said) in spans {
            let (x, said) = (self.x(*from), escaped(said));
            let wide = (self.x(*until) - x).max(2.0);
            let _ = writeln!(
                body,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{}\" width=\"{wide:.1}\" height=\"12\"><title>{said}</title></rect>",
                y + 4.0
            );
            let (at, end) = (x + wide + 3.0, x + wide + 3.0 + LETTER * said.len() as f64);
            if x >= free && end <= NAMES + WIDTH + 20.0 {
                let _ = writeln!(body, "<text x=\"{at:.1}\" y=\"{}\">{said}</text>", y + 14.0);
                free = end;
            }
        }
    }

    fn draw_pe(&self, pe: u32, bins: &[u64], y: f64, body: &mut String) {
        let (bottom, high) = (y + ROW - 2.0, ROW - 6.0);
        let _ = writeln!(body, "<text x=\"0\" y=\"{}\">PE {pe}</text>", y + 16.0);
        let _ = writeln!(body, "<path class=\"line\" d=\"M{NAMES} {bottom}h{WIDTH}\"/>");
        let (wide, mut d, mut before) = (WIDTH / BINS as f64, format!("M{NAMES} {bottom}"), 0.0);
        for ns in bins {
            let share = (*ns as f64 / self.bin() as f64).min(1.0);
            let now = (share * high * 10.0).round() / 10.0;
            if now != before {
                let _ = write!(d, "v{:.1}", before - now);
                before = now;
            }
            let _ = write!(d, "h{wide:.1}");
        }
        let _ = writeln!(body, "<path class=\"busy\" d=\"{d}V{bottom}z\"/>");
        for (from, until) in self.frozen.get(&pe).into_iter().flatten() {
            let (x, top) = (self.x(*from), y + 4.0);
            let wide = (self.x(*until) - x).max(1.0);
            let _ = writeln!(
                body,
                "<rect class=\"frozen\" x=\"{x:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{high}\"/>"
            );
        }
    }

    fn draw_times(&self, y: f64, body: &mut String) {
        for nth in 0..=4 {
            let at = self.part.from.saturating_add(self.part.ns() / 4 * nth);
            let (x, anchor) = (self.x(at), ["start", "middle", "middle", "middle", "end"][nth as usize]);
            let _ = writeln!(
                body,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                y + 14.0,
                time(at)
            );
        }
    }
}

/// What stands above the PEs: its colour, its name, and when it was what.
struct Lane {
    class: &'static str,
    name: &'static str,
    spans: Vec<(Span, String)>,
}

/// Of a part; nothing of what there is not.
fn above(summary: &Summary, part: &Part) -> Vec<Lane> {
    let end = summary.end;
    let checkpoints =
        summary.checkpoints.iter().map(|of| ((of.at, of.over.unwrap_or(end)), format!("{}", of.version)));
    let steps = summary.steps.iter().map(|of| ((of.at, of.over.unwrap_or(of.at)), plural(of.moves, "move")));
    let losses =
        summary.losses.iter().map(|of| ((of.at, of.until.unwrap_or(end)), format!("{} is lost", of.who)));
    let lane = |class, name, spans: &mut dyn Iterator<Item = (Span, String)>| {
        let in_part = |(span, said)| Some((within(part, span)?, said));
        Lane { class, name, spans: spans.filter_map(in_part).take(SPANS_MAX).collect() }
    };
    [
        lane("loss", "losses", &mut { losses }),
        lane("step", "balancing steps", &mut { steps }),
        lane("checkpoint", "checkpoints", &mut { checkpoints }),
    ]
    .into_iter()
    .filter(|lane| !lane.spans.is_empty())
    .collect()
}

/// What of a span is in a part.
fn within(part: &Part, (from, until): Span) -> Option<Span> {
    (from <= part.until && until >= part.from).then(|| (from.max(part.from), until.min(part.until)))
}
