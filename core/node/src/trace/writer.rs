//! The thread that empties the rings of a process's PEs into its part of the trace.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use super::part::{ChareNames, Moment, Origin, Strip, begin, block_of};
use talisman_base::clock::Clock;
use talisman_job::options::{TRACE_PART_ENDING, trace_parts};
use talisman_kernel::node::Node;
use talisman_kernel::registry::Registry;
use talisman_kernel::trace::{Drained, TraceSink};

/// So often rings are emptied. A process that is killed loses what was done since.
const EVERY: Duration = Duration::from_millis(10);

/// What writes a process's part.
pub(crate) struct TraceWriter {
    sink: TraceSink,
    file: File,
    written: u64,
    /// Since the program's start.
    start: Instant,
    /// Why no more is written.
    ended: Option<String>,
}

impl TraceWriter {
    /// That of the process with this node, in a job that began then; none if it is not traced. A later life of the
    /// process goes on with the same file.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn of(node: &Node, start: Instant) -> io::Result<Option<TraceWriter>> {
        let Some(sink) = node.config.trace.clone() else { return Ok(None) };
        let folder = trace_parts(&sink.settings().file);
        create_dir_all(&folder)?;
        let name = format!("node-{}.{}{TRACE_PART_ENDING}", node.number, std::process::id());
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(folder.join(name))?;
        let written = file.metadata()?.len();
        let mut writer = TraceWriter { sink, file, written, start, ended: None };
        if written == 0 {
            begin(&writer.file, &writer.origin(node))?;
        }
        writer.drain();
        Ok(Some(writer))
    }

    /// Writes what PEs do until nobody is left to say that it is over.
    pub(crate) fn run(mut self, over: &Receiver<()>) -> Option<String> {
        while over.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            self.drain();
        }
        // Twice: rings are left as full as they are long.
        self.drain();
        self.drain();
        self.ended
    }

    fn drain(&mut self) {
        self.turn();
        let (sink, mut strips) = (self.sink.clone(), Vec::new());
        sink.drain(|Drained { pe, epoch, records, dropped }| {
            let (records, moment) = (records.to_vec(), Moment::default());
            strips.push(Strip { pe, epoch, dropped, moment, records });
        });
        let moment = self.moment();
        for strip in strips {
            self.write(&block_of(&Strip { moment, ..strip }));
        }
    }

    /// Records are kept in the window, and for a moment before and behind it.
    fn turn(&self) {
        if let Some((from, until)) = self.sink.settings().window {
            let now = self.start.elapsed();
            self.sink.turn(from <= now + 2 * EVERY && now <= until + EVERY);
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
        Moment { ticks: Clock::Real(self.start).ticks(), ns: monotonic_ns() }
    }

    fn origin(&self, node: &Node) -> Origin {
        let since = self.start.elapsed().as_nanos() as u64;
        let calendar = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let names = |chare: &&'static talisman_kernel::registry::ChareType| ChareNames {
            name: (chare.name)(),
            entries: chare.entries.iter().map(|entry| entry.name.to_owned()).collect(),
        };
        let executable = std::env::current_exe().ok();
        let program = executable.as_ref().and_then(|file| file.file_name()).unwrap_or_default();
        Origin {
            program: program.to_string_lossy().into_owned(),
            node: node.number,
            nodes: node.shape.nodes,
            pes_per_node: node.shape.pes_per_node,
            host: node.config.host,
            start_ns: monotonic_ns().saturating_sub(since),
            calendar_ns: (calendar.as_nanos() as u64).saturating_sub(since),
            moment: self.moment(),
            chares: Registry::get().types().iter().map(names).collect(),
        }
    }
}

/// The clock that all processes of a host have.
fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
