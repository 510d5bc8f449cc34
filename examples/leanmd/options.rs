//! The program's options, and what they describe.

use std::path::PathBuf;

use super::cell_list::{CellGrid, CellIndex};
use super::fluid::Filling;
use super::numbers::{Triple, positive};
use super::potential::Potential;
use super::serial::Pace;
use super::system::{Cut, System, SystemError};
use talisman::prelude::*;

/// Molecular dynamics: Lennard-Jones atoms in cells, the forces between cells computed by pairs.
#[derive(clap::Parser, Clone, Pup)]
pub struct Options {
    /// Time steps to do
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: u32,
    /// Cells along each axis [default: 4,4,4; with --pdb as many as fit]
    #[arg(long, value_name = "X,Y,Z")]
    pub cells: Option<Triple>,
    /// Atoms in each cell of the generated fluid
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub atoms_per_cell: u32,
    /// How much denser than the average the fluid is at the far end of the x axis, as a share of it, and thinner at the near end:
    /// cells have unequal work then. Without a share: 0.5
    #[arg(long, allow_negative_numbers = true, value_name = "SHARE", num_args = 0..=1, default_value_t = 0.0, default_missing_value = "0.5", value_parser = share)]
    pub gradient: f64,
    /// Cells along each axis that the fluid fills, from a corner of the box; the others are empty [default: all]
    #[arg(long, value_name = "X,Y,Z")]
    pub fill: Option<Triple>,
    /// Read atoms and box from a PDB file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["atoms_per_cell", "gradient", "fill"])]
    #[pup(serde)]
    pub pdb: Option<PathBuf>,
    /// Repeat the file's contents along each axis
    #[arg(long, value_name = "X,Y,Z", requires = "pdb")]
    pub replicate: Option<Triple>,
    /// Do not repeat the box: cells at its border have fewer neighbours
    #[arg(long)]
    pub open: bool,
    /// Distance from which atoms do not interact (Å)
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 9.0, value_parser = length)]
    pub cutoff: f64,
    /// What cells are wider than the cutoff, at least (Å): room to move before atoms change cells
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 2.0, value_parser = length)]
    pub skin: f64,
    /// Length of a time step (fs)
    #[arg(long, allow_negative_numbers = true, value_name = "T", default_value_t = 1.0, value_parser = positive)]
    pub time_step: f64,
    /// Temperature at the start (K)
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = 300.0, value_parser = positive)]
    pub temperature: f64,
    /// Steps between two movings of atoms to the cells they are in
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub migrate_every: u32,
    /// Steps between two sums of the energies
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub energy_every: u32,
    /// Steps between two points at which cells and pairs may be moved by the balancer; none if not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub sync_every: Option<u32>,
    /// Most the total energy may change, as a share of the kinetic energy at the start
    #[arg(long, allow_negative_numbers = true, value_name = "SHARE", default_value_t = 1e-4, value_parser = positive)]
    pub energy_bound: f64,
    /// Number that decides velocities and the generated fluid
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub system_seed: u64,
    /// Compare with a serial simulation: positions and velocities bit by bit, energies to the last place
    #[arg(long)]
    pub check: bool,
}

/// Cells along each axis of a generated fluid when nothing is said.
const FLUID_CELLS: [usize; 3] = [4, 4, 4];

impl Options {
    /// The system before its first step, for so many processes. The same options give the same system.
    pub fn system(&self, nodes: u32) -> Result<System, SystemError> {
        let cells = self.cells.map(|cells| cells.0);
        let cut = Cut { reach: self.cutoff + self.skin, cells, periodic: !self.open, nodes };
        let mut system = match &self.pdb {
            Some(path) => System::from_pdb(path, self.replicas(), cut)?,
            None => {
                let cells = cells.unwrap_or(FLUID_CELLS);
                let filled = self.fill.map_or(cells, |fill| fill.0);
                let filling = Filling {
                    per_cell: self.atoms_per_cell as usize,
                    gradient: self.gradient,
                    cells: filled,
                };
                System::fluid(cells, filling, self.system_seed, cut)?
            }
        };
        system.heat(self.temperature, self.system_seed);
        Ok(system)
    }

    /// What all chares are told, in a box cut so.
    pub fn rules(&self, grid: CellGrid, teller: CellIndex) -> Rules {
        Rules {
            potential: Potential::new(self.cutoff),
            margin: grid.margin(self.cutoff),
            pace: self.pace(),
            steps: self.steps,
            sync_every: self.sync_every,
            teller,
            grid,
        }
    }

    /// Whether energies are printed after `step` (counted from 1).
    pub fn tells_energies_after(&self, step: u32) -> bool {
        step == self.steps || step.is_multiple_of(self.energy_every)
    }

    /// Steps after `step` that cells do by themselves: until energies are printed and, where cells come and go (`until_migration`), until
    /// the step in which atoms change cells.
    pub fn steps_alone(&self, step: u32, until_migration: bool) -> u32 {
        let to_next = |every: u32| every - step % every;
        let steps = to_next(self.energy_every).min(self.steps - step);
        if until_migration { steps.min(to_next(self.migrate_every) - 1) } else { steps }
    }

    /// How time goes on.
    pub fn pace(&self) -> Pace {
        Pace { time_step: self.time_step, migrate_every: self.migrate_every }
    }

    fn replicas(&self) -> [usize; 3] {
        self.replicate.map_or([1; 3], |replicas| replicas.0)
    }
}

/// What all chares know.
#[derive(Clone, Debug, Pup)]
pub struct Rules {
    pub grid: CellGrid,
    pub potential: Potential,
    pub pace: Pace,
    pub steps: u32,
    /// Steps between two points at which objects may be moved, if there are any.
    pub sync_every: Option<u32>,
    /// How much closer two atoms may come before they are moved to their new cells (Å).
    pub margin: f64,
    /// The cell that tells of the progress. It stays without atoms too.
    pub teller: CellIndex,
}

impl Rules {
    /// Whether objects may be moved after `step` (counted from 1). After the last one nothing comes that it could help.
    pub fn syncs_after(&self, step: u32) -> bool {
        step < self.steps && self.sync_every.is_some_and(|every| step.is_multiple_of(every))
    }
}

/// A length (Å). Powers of far larger or smaller ones are no numbers.
fn length(text: &str) -> Result<f64, &'static str> {
    let number = positive(text).ok().filter(|number| (1e-6..=1e6).contains(number));
    number.ok_or("give a number from 1e-6 to 1e6, such as 9")
}

fn share(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or("give a number from 0 to 1, such as 0.8")
}
