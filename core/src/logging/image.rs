//! What a node is restored from: its place in the line.
//!
//! The line is a cut of the whole job: its beginning, or a checkpoint of which all PEs were made anew. So nothing is on its way in it,
//! nothing is retained, and all logs begin there.

use serde::{Deserialize, Serialize};
use talisman_ft::logging::{Position, Shape};
use talisman_ft::{NodeId, Version};
use talisman_job::Results;
use talisman_kernel::pe::{Here, Pe};
use talisman_observe::mutations::mutated;
use talisman_pup::Packed;

use super::wire::beside;
use crate::checkpoint::cut::CutOnPe;
use crate::checkpoint::part::Part;
use crate::checkpoint::restart::RestartOnPe;
use crate::checkpoint::restore::RestoreOnPe;

const PANICKED: &str = "the program's code panicked when it went on from its parts";

/// A node's place in the line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Image {
    /// Whose.
    pub of: NodeId,
    /// Which line: the version of the cut that it begins with, 0 at the job's beginning.
    pub line: Version,
    /// Where it is: at the beginning of all logs and lanes.
    pub position: Position,
    /// What the clock of its PEs said when these were made, in nanoseconds.
    pub made_at: u64,
    /// What each begins with, by rank.
    pub states: Vec<Beginning>,
    /// What the program had reported on the node.
    pub results: Results,
}

/// What a PE begins with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Beginning {
    /// Nothing.
    Nothing,
    /// The program's first message, which every process can make.
    Program,
    /// A message from nobody: the program's first.
    Message(#[serde(with = "beside")] Packed),
    /// Parts of a checkpoint.
    Parts(#[serde(with = "beside")] Packed),
    /// What a former job has left on disk of the line's version, which every process can read.
    Former,
}

impl Image {
    /// Of a node at the beginning of a line.
    pub fn first(of: NodeId, shape: Shape, made_at: u64, states: Vec<Beginning>) -> Image {
        let position = Position::at_beginning(of, shape);
        Image { of, line: 0, position, made_at, states, results: Results::default() }
    }

    /// Of a node of a job that goes on from this version of a former one.
    pub fn of_former(of: NodeId, shape: Shape, version: Version) -> Image {
        let states = (0..shape.pes_per_node).map(|_| Beginning::Former).collect();
        Image { line: version, ..Image::first(of, shape, 0, states) }
    }

    /// Of a node at the cut of this version, whose program had reported this.
    pub fn of_cut(self, version: Version, results: Results) -> Image {
        let results = if mutated("results-not-in-the-cut") { Results::default() } else { results };
        Image { line: version, results, ..self }
    }

    /// Whether it is of a node of such a job, and has a place in it.
    pub fn is_of(&self, shape: Shape) -> bool {
        let pes = shape.pes_per_node as usize;
        self.of < shape.nodes && self.states.len() == pes && self.position.logs.len() == pes
    }

    /// All that is packed in it, in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Packed> {
        self.states.iter().filter_map(|state| match state {
            Beginning::Message(packed) | Beginning::Parts(packed) => Some(packed),
            Beginning::Nothing | Beginning::Program | Beginning::Former => None,
        })
    }

    /// The same, to be put in.
    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Packed> {
        self.states.iter_mut().filter_map(|state| match state {
            Beginning::Message(packed) | Beginning::Parts(packed) => Some(packed),
            Beginning::Nothing | Beginning::Program | Beginning::Former => None,
        })
    }

    /// A fresh PE of this rank, made at that time, begins with it. `program` makes the program's first message.
    ///
    /// # Errors
    /// It cannot be read, or the program's code panicked.
    pub fn begin(&self, pe: &Pe, rank: u32, program: impl FnOnce(&Pe)) -> Result<(), String> {
        let _here = Here::enter(pe);
        match self.states.get(rank as usize).unwrap_or(&Beginning::Nothing) {
            Beginning::Nothing => Ok(()),
            Beginning::Program => {
                program(pe);
                Ok(())
            }
            Beginning::Message(message) => pe.begin_again(message.clone()),
            Beginning::Parts(parts) => {
                let parts: Vec<Part> = parts.clone().into_value().map_err(|error| error.to_string())?;
                pe.go_on_from_cut(self.line, &parts);
                match pe.restore(parts) {
                    true => Ok(()),
                    false => Err(PANICKED.into()),
                }
            }
            Beginning::Former => match pe.go_on_from_former(self.line) {
                Ok(true) => Ok(()),
                Ok(false) => Err(PANICKED.into()),
                Err(error) => Err(error.to_string()),
            },
        }
    }
}
