//! A program that runs one of its PEs again from a record (`--record`), alone in this process: what `talisman replay`
//! starts.

use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::path::Path;

use crate::start::{check_names, complain, status_of};
use talisman_base::ids::PeId;
use talisman_base::topology::Shape;
use talisman_cluster::fixed_layout;
use talisman_core::chare::{Args, MainChare};
use talisman_core::main_chare::beginning;
use talisman_core::record::file::{RecordError, RecordFile};
use talisman_core::record::replayer::{Progress, ReplayError, Replayed, Replayer};
use talisman_core::record::steps::Steps;
use talisman_job::job::{End, Job};
use talisman_job::{ExitStatus, Output, Program, RunArgs};
use talisman_kernel::node::Config;
use talisman_kernel::panics;

/// Runs the PE of a record of this program, with its output, and says how that went. The options are those that the
/// program had.
pub(crate) fn main<C: MainChare, A: Args + Send>(
    program: &Program,
    options: &RunArgs,
    args: A,
    record: &Path,
) -> ExitStatus {
    if let Err(message) = check_names() {
        complain(program, &message);
        return ExitStatus::Usage;
    }
    let file = match open(record) {
        Ok(file) => file,
        Err(why) => {
            complain(program, &why);
            return ExitStatus::ProgramFailed;
        }
    };
    panics::listen();
    let output = Output::stdout();
    let config = Config {
        record: None,
        trace: None,
        estimates_loads: false,
        has_process: true,
        ..Config::of(options)
    };
    let (pe, until) = (file.origin.pe, options.run_again_until);
    let shape = Shape { nodes: file.origin.nodes, pes_per_node: file.origin.pes_per_node };
    let (job, begin) = (Job::new(output.clone()), beginning::<C, A>(args));
    let replay = || {
        let replayer = Replayer { pe, shape, config, job, program: &begin, until };
        replayer.replay(Steps::of(file))
    };
    let status = match in_place(pe, replay) {
        Ok((replayed, progress)) => tell(program, pe, replayed, progress),
        Err(error) => {
            complain(program, &format!("the thread of PE {pe} cannot be where it was: {error}"));
            ExitStatus::ProgramFailed
        }
    };
    match output.finish() {
        Ok(()) => status,
        Err(error) => {
            complain(program, &error.to_string());
            status.or(ExitStatus::ProgramFailed)
        }
    }
}

/// Where the thread of the PE was, if that counts: ranks have its addresses on their stacks.
fn in_place<T: Send>(pe: PeId, replay: impl FnOnce() -> T + Send) -> io::Result<T> {
    if !fixed_layout::is_here() {
        return Ok(replay());
    }
    let ran = fixed_layout::thread::run(&format!("pe{pe}"), replay)?;
    Ok(ran.unwrap_or_else(|panic| resume_unwind(panic)))
}

fn open(record: &Path) -> Result<RecordFile, String> {
    let file = RecordFile::open(record).map_err(|error: RecordError| error.to_string())?;
    let of = &file.origin.program;
    match file.is_of_this_build() {
        true => Ok(file),
        false => {
            let record = record.display();
            Err(format!(
                "{record} is a record of another build of `{of}`: only the one that wrote it can run it again"
            ))
        }
    }
}

/// What is said of each PE that was run, however that went.
pub(crate) const RAN_AGAIN: &str = "messages again";

/// Says how it went: that is what was asked for, so no level of the log has a part in it.
fn tell(
    program: &Program,
    pe: u32,
    replayed: Result<Replayed, ReplayError>,
    progress: Progress,
) -> ExitStatus {
    let Progress { steps, compared } = progress;
    let how_far = format!("PE {pe} has run {steps} {RAN_AGAIN}, and {compared} that it sent were the same");
    // Nobody to tell it to, if that fails.
    let inform = |text: String| _ = writeln!(io::stderr(), "{}: {text}", program.name);
    match replayed {
        Ok(Replayed::ToEnd(None)) => inform(format!("{how_far}: to the end of its record")),
        Ok(Replayed::ToEnd(Some(why))) => inform(format!("{how_far}: to the end of its record; {why}")),
        Ok(Replayed::Stopped) => inform(format!("{how_far}: as far as was asked for (--until)")),
        Ok(Replayed::JobEnded(End { status, message }, cut_off)) => {
            message.into_iter().for_each(|message| complain(program, &message));
            match cut_off {
                None => inform(format!("{how_far}: to where the job ended")),
                Some(why) => inform(format!("{how_far}: to where it ends behind its record; {why}")),
            }
            return status_of(status);
        }
        Err(error) => {
            inform(format!("error: {error}"));
            inform(how_far);
            return ExitStatus::ProgramFailed;
        }
    }
    ExitStatus::Done
}
