//! What once failed, and must not again.

use clap::Parser;

use crate::case::Case;
use crate::command_line::Replay;
use crate::played::Stage;
use crate::run::judged;
use crate::table::{Found, Table};

/// A case that once failed.
pub struct Regression {
    /// What is said to see it.
    pub line: &'static str,
    /// What was wrong.
    pub was: &'static str,
}

/// All that once failed, the oldest first.
///
/// A seed stands for another case when what is drawn from it changes, so a line that still shows what it is for says
/// as much of its case as it can.
#[rustfmt::skip]
pub const REGRESSIONS: &[Regression] = &[
    Regression { line: "--seed 0x9 --workload jacobi3d --ft off", was: "a greeting was damaged at the start, and one refusal was final" },
    Regression { line: "--seed 0xd --workload talk --ft off --calm crowd", was: "a greeting was damaged at the start, and one refusal was final" },
    Regression { line: "--seed 0x29 --workload nqueens --ft off --calm crowd", was: "a greeting was damaged at the start, and one refusal was final" },
    Regression {
        line: "--seed 0xf49cf --workload ring --nodes 2 --faults 0,3 --calm limits --ft off",
        was: "PEs had turns when their node was linked but the others were not: one found that there was nothing to do (of the world)",
    },
    Regression {
        line: "--seed 0x48 --only launcher-stop --workload ring --size 1 --nodes 1 --pes 1 --calm lost,doubled,altered,truncated,reset,late,pause,limits --ft off",
        was: "a short stop of the launcher within a long one ended that: it heard of a node's end before what the node had said (of the world)",
    },
    Regression {
        line: "--seed 0x192 --workload ring --calm limits,crowd --ft off",
        was: "a PE whose ring to another was full had one turn after the other in no time, and the other none (of the world)",
    },
    Regression {
        line: "--seed 0x100fc75 --workload flood --size 1 --pes 1 --faults 0,3 --calm limits --ft off",
        was: "a node that was stopped while its launcher was lost was expected to notice that before it went on (of the harness)",
    },
    Regression {
        line: "--seed 0x6000d9f --workload flood --pes 2 --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 3 --calm lost,pause,disk-misdirects",
        was: "a PE had turns before it had what it begins with, while another of its node waited for room in the midst of going back (of the world)",
    },
    Regression {
        line: "--seed 0x6003e20 --workload flood --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 10 --calm doubled,altered,truncated,disk-lies",
        was: "the same",
    },
    Regression {
        line: "--seed 0x8300169 --workload leanmd --size 2 --nodes 2 --pes 2 --ft 300us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 4 --calm altered,truncated,reset,late,limits,disk",
        was: "a node that had said all, and was told to leave, was silent: a job that survives losses, and had ended well, failed",
    },
    Regression {
        line: "--seed 0x8100000 --workload storm --size 1 --nodes 1 --ft disk:200us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults none --calm pause,limits",
        was: "a PE slept while its part of a checkpoint was written, and did not look whether that was done (of the world)",
    },
    Regression {
        line: "--seed 0x730094a --workload sync --size 1 --pes 1 --ft disk:200us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false",
        was: "all had gone back to a version that was whole in memory and not committed; a disk did not take a part of it, which was forgotten, and what was committed had been dropped",
    },
    Regression {
        line: "--seed 0x730040f --workload births --size 2 --pes 3 --ft disk:200us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 0,1,2,3,4,5,6,7,8,9",
        was: "the same",
    },
    Regression {
        line: "--seed 0x760029f --workload sync --size 1 --pes 2 --ft disk:200us --respawn false --requests false --spares 0 --more 0 --lingers false --only crash,disk --faults 1 --calm limits",
        was: "a PE that could not read what it restores had turns with nothing, and its node said that it goes on: it was quiet while messages were on their way (of the world)",
    },
    Regression { line: "--seed 0x7300533 --workload imbalance --size 4 --pes 2 --ft disk:200us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 0,1,2,3,4,5,6,7,8,9,10,11,12,13", was: "the same" },
    Regression {
        line: "--seed 0x910003a --workload leanmd --size 1 --ft 1000us --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 3,8,9 --calm lost,limits",
        was: "who took the place of the second launcher did not know what all had gone back to under the first, and began the program anew",
    },
    Regression {
        line: "--seed 0x9200043 --workload chorus --size 1 --ft 1000us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --calm pause,limits",
        was: "what an object said when it was restored overtook what it had said before the checkpoint",
    },
    Regression {
        line: "--seed 0xa000153 --workload chorus --ft 200us --heirs false --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --calm lost,doubled,altered,truncated,reset,late,pause,limits,disk",
        was: "the same, in the workload as it is now",
    },
    Regression {
        line: "--seed 0x4d68661f0 --workload timers --size 1 --nodes 1 --ft 200us --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 20 --calm doubled,truncated,reset,late,pause,limits",
        was: "a result that was reported again lost its place: the next launcher had it behind others",
    },
    Regression {
        line: "--seed 0x4d68665f0 --workload births --size 1 --nodes 2 --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 7,8,9 --calm altered,truncated,disk",
        was: "nobody was left but a node that was stopped for ever, whose end nobody could bring about (of the world)",
    },
    Regression {
        line: "--seed 0xb000326 --workload flood --ft 200us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 1,2,3,5,6",
        was: "a process that was killed while it went back did what follows that",
    },
    Regression {
        line: "--seed 0xb100931 --workload flood --size 1 --pes 2 --ft 200us --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 7,8 --calm doubled,reset,disk",
        was: "the loss of a node that was given up for a line that damages everything was taken for none (of the verdict)",
    },
    Regression {
        line: "--seed 0xd1002dc --workload flood --size 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 6,7,9 --calm doubled,reset,limits,disk-lies",
        was: "whoever took the launcher's place counted what all had gone back to as committed, which was not on disks, and had older files removed",
    },
    Regression {
        line: "--seed 0xd100d35 --workload births --nodes 3 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 8 --calm lost,altered,reset,late,pause,limits",
        was: "that nodes could not read what they were to go on with was taken for no reason to end (of the verdict)",
    },
    Regression {
        line: "--seed 0x4d68661de --workload timers --nodes 2 --ft 200us --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 0,1,2 --calm reset,limits,disk",
        was: "the same, of a node that led",
    },
    Regression {
        line: "--seed 0xd1000d7 --workload storm --size 2 --pes 2 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 10,11 --calm limits",
        was: "who waited for a checkpoint was never told, when the job was started again without any",
    },
    Regression {
        line: "--seed 0xe10019d --workload storm --size 1 --nodes 1 --pes 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 10 --calm altered,limits,late",
        was: "disks were bad for ever in a job that was started again, so that who waited for a checkpoint waited as long (of the harness)",
    },
    Regression {
        line: "--seed 0xe0002ae --workload chimes --pes 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 0,1,2,4,5 --calm pause,limits",
        was: "a PE that was new was lost before there was a checkpoint with it, and its acting PE made the member of a group that it was to have",
    },
    Regression {
        line: "--seed 0x4d686683e --workload flood --size 1 --pes 2 --heirs true --respawn false --requests false --spares 0 --more 0 --lingers false --faults 5,6,7 --calm late,limits",
        was: "that a version was committed was forgotten when all had gone back to a later one that was not known to be (of the world)",
    },
    Regression {
        line: "--seed 0xe000040 --workload jacobi3d --size 2 --pes 1 --ft 300us --respawn true --requests false --spares 0 --more 0 --succession false --lingers false --faults 4,5 --calm lost,pause,limits",
        was: "all were lost that had anything, one after the other, and those that had come in their places began the program anew, behind what was committed",
    },
    Regression {
        line: "--seed 0xe200023 --workload jacobi3d --size 1 --pes 1 --ft 300us --respawn true --requests false --spares 0 --more 0 --succession false --lingers false --faults 12,13 --calm truncated,late,limits",
        was: "a process that had not been sent its part yet was expected to have it (of the world)",
    },
    Regression {
        line: "--seed 0xe100181 --workload leanmd --size 1 --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 8,9,10,11 --calm lost,truncated,reset,pause,limits",
        was: "what was said to a process that was about to start was taken to be for the one before it, and it outlived its job (of the world)",
    },
    Regression {
        line: "--seed 0xe600007 --workload nqueens --ft 300us --heirs true --respawn false --requests true --spares 0 --more 0 --lingers false --faults 3,6,10 --calm lost,altered,pause,limits,reset",
        was: "a node that led had been let go, and its launcher was stopped with what was no node any more (of the world)",
    },
    Regression {
        line: "--seed 0xe6001c2 --workload storm --size 2 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 0,1,2 --calm limits",
        was: "the same, of one that had left",
    },
    Regression {
        line: "--seed 0x1100010c --workload births --size 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 3,4,5,6,7 --calm doubled,truncated,limits",
        was: "a program was over as soon as it went on, before PEs had heard where objects are now, and that was missed (of an oracle)",
    },
    Regression {
        line: "--seed 0x11000112 --workload flood --size 4 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 0,1,2,3,5,7,9,10,11,12,13,14",
        was: "the same",
    },
    Regression {
        line: "--seed 0x110008f1 --workload flood --size 2 --pes 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 3,7 --calm late,doubled",
        was: "the same",
    },
    Regression {
        line: "--seed 0x12000933 --workload leanmd --size 3 --nodes 2 --pes 2 --ft 300us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 1 --calm altered,pause,disk",
        was: "what a PE had to send was not sent while another of its node waited in the midst of going back, for one that could not begin without it (of the world)",
    },
    Regression {
        line: "--seed 0x12000bb8 --workload flood --size 3 --ft 300us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 20 --calm reset,disk",
        was: "the same",
    },
    Regression {
        line: "--seed 0x19000265 --workload flood --size 3 --ft 300us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 12 --calm altered,truncated,late",
        was: "the same",
    },
    Regression {
        line: "--seed 0x19000873 --workload sync --pes 1 --ft 300us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 4,11 --calm lost,doubled,limits,disk,altered,pause",
        was: "two times were compared by the clocks of two processes that had one number (of the harness)",
    },
    Regression {
        line: "--seed 0x19000b14 --workload flood --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 5,9 --calm doubled,altered,truncated",
        was: "a node that had been let go, and had not heard of that, was counted among those that might go on (of the world)",
    },
    Regression {
        line: "--seed 0x1930074f --workload imbalance --ft 300us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 4,5,6,7,10 --calm lost,doubled,altered,truncated",
        was: "nobody was left but a leading node that was stopped for ever, and a process that it had started and not told its task (of the world)",
    },
    Regression {
        line: "--seed 0x1930088f --workload flood --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --calm crowd",
        was: "a program ended at once when it had gone back: what its PEs had told each other before was missed (of the harness)",
    },
    Regression {
        line: "--seed 0x19300713 --workload flood --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 0,4,5,10 --calm altered,late,pause",
        was: "the same",
    },
    Regression {
        line: "--seed 0x20004d50 --workload casts --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 4,5,6,9 --calm limits",
        was: "what a node that had been let go held of an earlier epoch was taken for a version of the same number that was committed (of the world)",
    },
    Regression {
        line: "--seed 0x200034c7 --workload casts --pes 1 --ft 300us --heirs true --respawn true --requests false --spares 0 --more 0 --lingers false --calm limits,disk,crowd",
        was: "two silences that nobody could notice but one after the other had to be noticed at once (of the verdict)",
    },
    Regression {
        line: "--seed 0x2000b37a --workload towers --size 1 --pes 2 --ft 300us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 17,18,22 --calm lost,altered,truncated,limits",
        was: "all members of a group that were to answer were lost, and those of a node that had been added were to answer, too (of the verdict)",
    },
    Regression {
        line: "--seed 0x11001b0b --workload flood --size 1 --pes 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 7,8 --calm altered,reset",
        was: "a main chare stayed with the PE that had acted for its own when that was back: what it made had other names, and drew other random numbers",
    },
    Regression {
        line: "--seed 0x130012f3 --workload flood --size 1 --nodes 3 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 8,9 --calm limits,disk-lies",
        was: "the same",
    },
    Regression {
        line: "--seed 0x1900035e --workload flood --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --calm disk-misdirects,disk-hangs",
        was: "the same",
    },
    Regression {
        line: "--seed 0x220001ee --workload flood --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false",
        was: "the same",
    },
    Regression {
        line: "--seed 0x2200058c --workload flood --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false",
        was: "the same",
    },
    Regression {
        line: "--seed 0x3100063b --workload sync --nodes 3 --pes 2 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 1,6,7,8,9 --calm doubled,late,limits,disk-misdirects",
        was: "what had been reported before a job was started again without fault tolerance replaced what another node reported later",
    },
    Regression {
        line: "--seed 0x3100014d --workload towers --size 3 --nodes 2 --pes 1 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 6,7,8 --calm altered,pause,limits",
        was: "the same",
    },
    Regression {
        line: "--seed 0x4001139b --workload ring --ft 200us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 1,2,3 --calm limits",
        was: "lines from before a cut that was not known to be committed were printed with a node's last ones, behind those of another node",
    },
    Regression {
        line: "--seed 0x21000aca --workload imbalance --size 1 --ft 200us --respawn false --requests true --spares 0 --more 0 --succession false --lingers false --faults 1,2,7",
        was: "a program was over as soon as it went on, before a shared value had come without which objects could not be read: these were missed (of an oracle)",
    },
    Regression {
        line: "--seed 0x3a000331 --workload imbalance --size 3 --pes 2 --ft disk:100us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 10,12 --calm doubled,pause,limits,disk-lies",
        was: "the same, in a job that was started again without checkpoints",
    },
    Regression {
        line: "--seed 0x6400012b --workload gradient --nodes 3 --ft disk:400us --respawn false --requests false --spares 1 --more 0 --succession false --lingers false --faults 5,6 --calm pause,limits,disk-misdirects",
        was: "a process that waited was lost, and PEs of its number, which a job that was started again had, were taken for dead (of the world)",
    },
    Regression {
        line: "--seed 0x710007c2 --workload chimes --ft 300us --requests true --spares 2 --more 0 --succession false --calm crowd",
        was: "a process that waited on a host that was lost was to take the place of a node that was lost with it, while another waited elsewhere",
    },
    Regression { line: "--seed 0x71000fb2 --workload nqueens --ft 300us --requests true --spares 2 --more 0 --succession false --calm crowd", was: "the same" },
    Regression {
        line: "--seed 0x72000afd --workload imbalance --ft disk:400us --respawn false --requests true --spares 1 --more 0 --succession false --calm disk-misdirects",
        was: "the same, with checkpoints on disk",
    },
    Regression {
        line: "--seed 0x720003b5 --workload gradient --ft disk:400us --respawn false --requests true --spares 0 --more 1 --succession false --calm crowd",
        was: "a node that was to be added was lost before it came, and PEs of its number, which a job that was started again had, were taken for dead (of the oracles)",
    },
    Regression {
        line: "--seed 0x77003d76 --workload gradient --ft disk:400us --respawn false --requests true --spares 0 --more 2 --succession false --lingers false --faults 10,17,18 --calm doubled,limits,disk-lies",
        was: "the same, when the job that was started again went back to what had been kept in the former one (of the oracles)",
    },
    Regression {
        line: "--seed 0x72000584 --workload flood --ft disk:400us --respawn false --requests true --spares 0 --more 0 --succession false --faults 11 --calm disk-lies,disk-misdirects",
        was: "a process that was killed while it sent on what had come in a checkpoint, and waited for room for that, left the rest behind",
    },
    Regression {
        line: "--seed 0x7300072d --workload chorus --nodes 3 --ft 200us --spares 0 --more 0 --succession false --faults 0,1,2,3 --calm altered,limits",
        was: "what was printed of a node's lines was forgotten with the version that was cut when they were, though later parts had them again; and whoever took up the part of one that was released did not know what was printed of that",
    },
    Regression {
        line: "--seed 0x77003333 --workload jacobi3d --ft disk:400us --respawn true --requests true --spares 0 --more 0 --succession false --lingers true --faults 6,8,9,13,14,15,16 --calm disk-lies",
        was: "a node whose disk did not give back a part ended with a status of its own, and who had heard why was lost: the next launcher took it for the program's end",
    },
    Regression {
        line: "--seed 0x7700051b --workload leanmd --ft disk:400us --respawn true --requests true --spares 0 --more 0 --succession false --lingers false --faults 2,6,7,8 --calm late,limits,disk-misdirects",
        was: "a version that only the dead knew to be committed was expected on the disks when all others had begun anew (of the world)",
    },
    Regression {
        line: "--seed 0x77002e41 --workload sync --nodes 1 --ft disk:400us --respawn true --requests false --spares 0 --more 0 --succession false --lingers false --faults 10,11 --calm limits,disk",
        was: "a job was started again on 36 times as many PEs, and expected to have no more memory (of the verdict)",
    },
    Regression {
        line: "--seed 0x7b001608 --workload flood --size 2 --ft disk:400us --respawn false --requests false --spares 0 --more 0 --succession false --lingers false --faults 3,4,5 --calm pause",
        was: "a node of a job that was started again counted files as held which those had taken away that knew of a newer version, and were lost",
    },
    Regression {
        line: "--seed 0x80003b7a --workload timers --size 4 --nodes 9 --ft 200us --respawn false --spares 0 --succession false --lingers false --faults none --calm altered,truncated,late,pause,limits",
        was: "a job that took checkpoints all the time, over links of 20 ms, was given a minute without faults (of the harness)",
    },
    Regression {
        line: "--seed 0x80014cc9 --workload talk --ft 200us --succession false --faults 0,3,4,5,6,7,8 --calm reset",
        was: "a process was killed where it waited for room, and messages that were to go on after the one that waited were not dropped",
    },
    Regression {
        line: "--seed 0xa10000c8 --workload towers --size 1 --nodes 2 --pes 1 --ft disk:400us --respawn false --requests true --spares 0 --more 2 --succession false --lingers false --faults 11,18,19,24,25,26,27 --calm lost,doubled,altered,truncated,pause,limits,disk-misdirects",
        was: "a version was taken again by who was left, and the job started again from that of its number that a lost node had whole (of an oracle)",
    },
    Regression {
        line: "--seed 0xa6001373 --workload storm --size 2 --hosts 1,1 --nodes 2 --pes 1 --ft 200us --succession false --faults 2,8,10 --calm lost,doubled,truncated,pause,limits,disk",
        was: "a node that had been released was lost with its host when the program had ended well: the end was taken back, and nobody went back",
    },
    Regression {
        line: "--seed 0xb0003169 --workload casts --size 2 --hosts 1,1,1,2,1,1,3,2 --nodes 12 --pes 2 --ft 200us --respawn false --spares 1 --succession false --faults 6,8 --calm lost,altered,limits",
        was: "a node was dialled and lost, and the process that took its place on another host was reached at the former's address, whose host was lost later: that connection was dead, and nobody missed it (of the world)",
    },
    Regression {
        line: "--seed 0xb2003ec5 --workload towers --size 3 --hosts 1,1,1,1 --nodes 4 --pes 2 --ft 200us --respawn true --requests true --spares 0 --more 1 --succession false --lingers false --faults 0,2,3,4,9 --calm limits",
        was: "the order to start a process was held up by a cut until the node had another one elsewhere; its agent was gone, and that other process ended without a word (of the world)",
    },
    Regression {
        line: "--seed 0xf000b973 --workload leanmd --ft 200us --succession false --faults 6",
        was: "a connection with a node's new process broke before either was told of the other, and its PE had no turn to find that, as another of its node waited for what it was to begin with (of the world)",
    },
];

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    replay: Replay,
}

/// Runs all, each twice; what failed is in the table.
pub fn run(stage: &dyn Stage, regressions: &[Regression]) -> Table {
    let mut table = Table::default();
    for regression in regressions {
        let case = case_of(regression.line).expect("a test reads every line");
        let judged = judged(stage, &case, true, false);
        table.add(&case, &judged);
        if let Some(failure) = judged.failures.first() {
            let found = Found {
                what: format!("{failure}; once it was: {}", regression.was),
                lines: vec![crate::replay::line(&case)],
                log: judged.main().log.clone(),
            };
            println!("{found}");
            table.found.push(found);
        }
    }
    table
}

/// The case that a line stands for.
pub(crate) fn case_of(line: &str) -> Result<Case, String> {
    let Line { replay } = Line::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())?;
    replay.case()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_read() {
        for Regression { line, was } in REGRESSIONS {
            assert!(case_of(line).is_ok(), "{line}: {:?}", case_of(line));
            assert!(!was.is_empty(), "{line}: what was it?");
        }
    }

    #[test]
    fn a_line_is_read_as_on_the_command_line() {
        let case = case_of("--seed 0x2a --nodes 3 --calm lost,reset,disk-lies").expect("it can be drawn");
        assert_eq!((case.seed, case.nodes()), (42, 3));
        assert_eq!(case.overrides.calm, ["lost", "reset", "disk-lies"]);
        assert!(case_of("--seed 0x2a --node 3 --calm disk-lies").is_err());
    }
}
