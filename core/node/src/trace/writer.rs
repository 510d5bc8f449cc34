//! The thread that empties the rings of a process's PEs into its part of the trace.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};

use super::part_file::{Block, ChareNames, Moment, Origin, begin};
use talisman_base::clock::Clock;
use talisman_job::options::{TRACE_PART_ENDING, own_trace_parts};
use talisman_kernel::kind::Kind;
use talisman_kernel::node::Node;
use talisman_kernel::registry::{ChareType, Registry};
use talisman_kernel::trace::TraceSink;

/// So often rings are emptied. A process that is killed loses what was done since.
const EVERY: Duration = Duration::from_millis(10);
const EVERY_NS: u64 = EVERY.as_nanos() as u64;

/// A link in the place of a part is not followed.
const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits() as i32;

/// What writes a process's part.
pub(crate) struct TraceWriter {
    sink: TraceSink,
    file: File,
    written: u64,
    /// Since the program's start.
    start: Instant,
    /// Why no more is written.
    ended: Option<String>,
    /// Those of the PEs, made anew each time.
    blocks: Vec<Block>,
}

impl TraceWriter {
    /// That of the process with this node, in a job that began then; none if it is not traced. Where PEs begin anew in the process,
    /// it goes on with the same file. In a job that logs it is this life of the node.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn of(node: &Node, life: u64, start: Instant) -> io::Result<Option<TraceWriter>> {
        let Some(sink) = node.config.trace.clone() else { return Ok(None) };
        let file = part_of(node, &sink)?;
        let written = file.metadata()?.len();
        let mut writer = TraceWriter { sink, file, written, start, ended: None, blocks: Vec::new() };
        if written == 0 {
            let since = writer.start.elapsed().as_nanos() as u64;
            let calendar = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let origin = Origin {
                life,
                start_ns: monotonic_ns().saturating_sub(since),
                calendar_ns: (calendar.as_nanos() as u64).saturating_sub(since),
                moment: writer.moment(),
                ..origin_of(node)
            };
            begin(&writer.file, &origin)?;
        }
        writer.drain();
        Ok(Some(writer))
    }

    /// Writes what PEs do until nobody is left to say that it is over.
    pub(crate) fn run(mut self, over: &Receiver<()>) -> Option<String> {
        while over.recv_timeout(until_next(monotonic_ns())) == Err(RecvTimeoutError::Timeout) {
            self.drain();
        }
        self.drain();
        self.ended
    }

    fn drain(&mut self) {
        self.turn();
        let mut blocks = std::mem::take(&mut self.blocks);
        let filled = take_all(&self.sink, &mut blocks);
        let moment = self.moment();
        blocks[..filled].iter_mut().for_each(|block| self.write(block.end(moment)));
        self.blocks = blocks;
    }

    /// Records are kept in what is traced, and for a moment before and behind it.
    fn turn(&self) {
        let parts = self.sink.settings().parts;
        if !parts.is_all() {
            self.sink.turn(parts.is_near(self.start.elapsed(), 2 * EVERY));
        }
    }

    fn write(&mut self, block: &[u8]) {
        let bytes_max = self.sink.settings().bytes_max;
        if self.ended.is_some() {
            return;
        }
        self.written += block.len() as u64;
        if self.written > bytes_max {
            self.ended = Some(format!(
                "the node's share of --trace-size, {bytes_max} bytes, was used after {:.1} s",
                self.start.elapsed().as_secs_f64()
            ));
        } else if let Err(error) = self.file.write_all(block) {
            self.ended = Some(error.to_string());
        }
    }

    fn moment(&self) -> Moment {
        let clock = Clock::Real(self.start);
        closest(|| (clock.ticks(), monotonic_ns(), clock.ticks()))
    }
}

/// How long it is from then, by the clock of the host, until rings are emptied: all processes of a host do so at the same moments. PEs
/// that wait for each other then stand still together, and not one after the other.
fn until_next(now_ns: u64) -> Duration {
    Duration::from_nanos(EVERY_NS - now_ns % EVERY_NS)
}

/// Looks at both clocks of which the closest counts.
const LOOKS: usize = 5;

/// Both clocks, as a look at ticks, nanoseconds and ticks found them that nobody came between: who does so makes one clock late, and a
/// message between two processes may seem to come before it is sent.
fn closest(look: impl FnMut() -> (u64, u64, u64)) -> Moment {
    let looks = std::iter::repeat_with(look).take(LOOKS);
    let (before, ns, after) =
        looks.min_by_key(|(before, _, after)| after.wrapping_sub(*before)).expect("there is one at least");
    Moment { ticks: before.midpoint(after), ns }
}

/// The file of the process with this node.
fn part_of(node: &Node, sink: &TraceSink) -> io::Result<File> {
    let folder = own_trace_parts(&sink.settings().file)?;
    let name = format!("node-{}.{}{TRACE_PART_ENDING}", node.number, std::process::id());
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(NOFOLLOW).open(folder.join(name))
}

/// Of which process a part is, but for its clocks.
fn origin_of(node: &Node) -> Origin {
    let names = |chare: &&'static ChareType| ChareNames {
        name: (chare.name)(),
        entries: chare.entries.iter().map(|entry| entry.name.to_owned()).collect(),
        moves: chare.kind == Kind::Array,
    };
    let executable = std::env::current_exe().ok();
    let program = executable.as_ref().and_then(|file| file.file_name()).unwrap_or_default();
    Origin {
        program: program.to_string_lossy().into_owned(),
        node: node.number,
        nodes_here: 1,
        nodes: node.shape.nodes,
        pes_per_node: node.shape.pes_per_node,
        host: node.config.host,
        chares: Registry::get().types().iter().map(names).collect(),
        ..Origin::default()
    }
}

/// A simulated job has ended at this time: what its PEs did, as far as their rings had room for it, as the part of its
/// first node, if it is traced.
///
/// # Errors
/// What the system says.
pub fn write_simulated_trace(node: &Node, wall: Duration) -> io::Result<()> {
    let Some(sink) = &node.config.trace else { return Ok(()) };
    let mut file = part_of(node, sink)?;
    begin(&file, &Origin { nodes_here: node.shape.nodes, ..origin_of(node) })?;
    let end = wall.as_nanos() as u64;
    let (moment, mut blocks) = (Moment { ticks: end, ns: end }, Vec::new());
    let filled = take_all(sink, &mut blocks);
    blocks[..filled].iter_mut().try_for_each(|block| file.write_all(block.end(moment)))
}

/// Takes what all PEs have written, a block for each that has written something; how many. There are more if need be.
fn take_all(sink: &TraceSink, blocks: &mut Vec<Block>) -> usize {
    let mut filled = 0;
    sink.drain(|mut of| {
        if filled == blocks.len() {
            blocks.push(Block::default());
        }
        let words = blocks[filled].begin(of.pe, of.epoch, of.dropped);
        filled += usize::from(of.take(words));
    });
    filled
}

/// The clock that all processes of a host have.
fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_emptied_at_the_same_moments_whoever_begins_when() {
        let next = |now_ns: u64| now_ns + until_next(now_ns).as_nanos() as u64;
        assert_eq!([next(0), next(1), next(EVERY_NS - 1)], [EVERY_NS; 3]);
        assert_eq!(next(EVERY_NS), 2 * EVERY_NS, "it waits, at a moment too");
    }

    #[test]
    fn a_look_that_was_interrupted_does_not_count() {
        let mut looks =
            [(0, 7, 900), (1_000, 20, 1_040), (2_000, 950, 5_000), (6_000, 60, 5_990), (7_000, 70, 7_050)]
                .into_iter();
        assert_eq!(closest(|| looks.next().unwrap()), Moment { ticks: 1_020, ns: 20 });
    }
}
