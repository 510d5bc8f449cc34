//! What a node is restored from: its place in the line.
//!
//! The line is a cut of the whole job: its beginning, or a checkpoint of which all PEs were made anew. So nothing is on its way in it,
//! nothing is retained, and all logs begin there.

use serde::{Deserialize, Serialize};
use talisman_ft::logging::{Position, Shape};
use talisman_ft::view::View;
use talisman_ft::{NodeId, Version};
use talisman_job::Results;
use talisman_kernel::pe::{Here, Pe};
use talisman_observe::mutations::mutated;
use talisman_observe::sometimes::sometimes;
use talisman_pup::Packed;

use super::wire::beside;
use crate::balance::message::Why;
use crate::balance::root::BalancingRootOnPe;
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
    /// What nodes have handed over that were released when the line began: its PEs act for theirs.
    pub guests: Vec<Guest>,
    /// Who was there when its parts were taken.
    pub taken_in: Option<View>,
}

/// What a node has handed over that was released.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Guest {
    /// Which one.
    pub of: NodeId,
    /// What each of its PEs would have begun with, by rank.
    pub states: Vec<Beginning>,
    /// What the program had reported on it.
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
        let (results, guests) = (Results::default(), Vec::new());
        Image { of, line: 0, position, made_at, states, results, guests, taken_in: None }
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

    /// The same where these were there.
    pub fn taken_in(self, view: View) -> Image {
        Image { taken_in: Some(view), ..self }
    }

    /// The part of a node that is released goes to this one, which acts for it.
    pub(super) fn take_in(&mut self, Image { of, states, results, .. }: Image) {
        self.guests.push(Guest { of, states, results });
    }

    /// What the program had reported on the node, and on those for which it acts.
    pub fn reported(&self) -> Results {
        let mut all = Results::default();
        let each = self.guests.iter().map(|guest| &guest.results).chain([&self.results]);
        each.flat_map(Results::iter).for_each(|(name, value)| all.set(name, value.clone()));
        all
    }

    /// What its PEs begin with, and those of nodes for which it acts.
    fn all_states(&self) -> impl Iterator<Item = &Beginning> {
        self.states.iter().chain(self.guests.iter().flat_map(|guest| &guest.states))
    }

    /// What a PE of this rank has taken of what was handed over.
    fn handed_over(&self, rank: u32) -> impl Iterator<Item = &Packed> {
        let states = self.guests.iter().filter_map(move |guest| guest.states.get(rank as usize));
        states.filter_map(|state| if let Beginning::Parts(parts) = state { Some(parts) } else { None })
    }

    /// Whether it is of a node of such a job, and has a place in it.
    pub fn is_of(&self, shape: Shape) -> bool {
        let pes = shape.pes_per_node as usize;
        let is_guest = |guest: &Guest| guest.of < shape.nodes && guest.states.len() == pes;
        self.of < shape.nodes
            && self.states.len() == pes
            && self.position.logs.len() == pes
            && self.guests.iter().all(is_guest)
            && self.taken_in.as_ref().is_none_or(|view| view.nodes() == shape.nodes)
    }

    /// All that is packed in it, in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Packed> {
        self.all_states().filter_map(|state| match state {
            Beginning::Message(packed) | Beginning::Parts(packed) => Some(packed),
            Beginning::Nothing | Beginning::Program | Beginning::Former => None,
        })
    }

    /// The same, to be put in.
    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Packed> {
        let states = self.states.iter_mut();
        states.chain(self.guests.iter_mut().flat_map(|guest| &mut guest.states)).filter_map(|state| {
            match state {
                Beginning::Message(packed) | Beginning::Parts(packed) => Some(packed),
                Beginning::Nothing | Beginning::Program | Beginning::Former => None,
            }
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
                let all = [parts].into_iter().chain(self.handed_over(rank));
                let all = all.map(|parts| parts.clone().into_value::<Vec<Part>>());
                let all = all.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
                let mut all: Vec<Part> = all.into_iter().flatten().collect();
                if !mutated("parts-not-shared-out") {
                    self.share_out(&mut all, pe.id, pe.view());
                }
                pe.go_on_from_cut(self.line, &all);
                match pe.restore(all) {
                    true => {
                        self.balance_if_others_are_there(pe);
                        Ok(())
                    }
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

    /// Some PEs have what others had, or are new.
    fn balance_if_others_are_there(&self, pe: &Pe) {
        let now = pe.view().of_nodes();
        let Some(before) = self.taken_in.as_ref().filter(|before| *before != now) else { return };
        if pe.is_first() {
            match now.there().all(|node| before.is_there(node)) {
                true => sometimes("a job that logs went on without nodes that were released"),
                false => sometimes("a job that logs went on with nodes that were added"),
            }
            pe.want_balance(Why::Membership, None);
        }
    }
}
