//! Snapshots of programs that were never run, for tests and benchmarks. The same arguments give the same snapshot.

use crate::rng::Rng;
use crate::snapshot::{Edge, Key, Node, Object, Pe, Snapshot};

/// A kind of program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Objects of about the same load, thrown on PEs at random; no messages.
    Uniform,
    /// A few objects have most of the load (Pareto, exponent 1.5), in blocks on the PEs; no messages.
    PowerLaw,
    /// A grid of three dimensions in blocks on the PEs, with a hot spot; each object sends to its six neighbours.
    Stencil,
    /// Molecular dynamics as in LeanMD: cells of particles, the denser the further right, and an object for each pair of neighbours that
    /// calculates their forces.
    Molecules,
}

impl Program {
    /// All of them.
    pub const ALL: [Program; 4] = [Program::Uniform, Program::PowerLaw, Program::Stencil, Program::Molecules];

    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Program::Uniform => "uniform",
            Program::PowerLaw => "power law",
            Program::Stencil => "stencil",
            Program::Molecules => "molecules",
        }
    }
}

/// The machine it runs on. All PEs have the usual speed, and no background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// PEs in all.
    pub pes: u32,
    /// On each node; the last may have fewer.
    pub pes_per_node: u32,
    /// On each host; the last may have fewer.
    pub nodes_per_host: u32,
}

/// A program of so many objects on a machine. Programs on a grid have some more, so that the grid is full. There are edges if
/// `with_edges`: they take most of the memory.
pub fn snapshot(program: Program, objects: u32, machine: Machine, with_edges: bool) -> Snapshot {
    let mut rng = Rng::new(u64::from(objects) << 32 | u64::from(machine.pes));
    let mut snapshot = Snapshot { pes: machine.pes(), nodes: machine.nodes(), ..Snapshot::default() };
    if machine.pes == 0 {
        return snapshot;
    }
    match program {
        Program::Uniform => snapshot.objects = uniform(objects, machine, &mut rng),
        Program::PowerLaw => snapshot.objects = power_law(objects, machine, &mut rng),
        Program::Stencil => {
            let grid = Grid::of_at_least(objects);
            snapshot.objects = stencil(&grid, machine, &mut rng);
            snapshot.edges = if with_edges { stencil_edges(&grid) } else { Vec::new() };
        }
        Program::Molecules => {
            let grid = Grid::of_at_least(objects.div_ceil(1 + PAIRS));
            let particles = particles(&grid, &mut rng);
            snapshot.objects = molecules(&grid, &particles, machine);
            snapshot.edges = if with_edges { molecule_edges(&grid, &particles) } else { Vec::new() };
        }
    }
    snapshot
}

impl Machine {
    fn pes(&self) -> Vec<Pe> {
        let pe = |number| Pe {
            node: number / self.pes_per_node.max(1),
            speed: 1.0,
            background: 0.0,
            available: true,
        };
        (0..self.pes).map(pe).collect()
    }

    fn nodes(&self) -> Vec<Node> {
        let nodes = self.pes.div_ceil(self.pes_per_node.max(1));
        (0..nodes).map(|node| Node { host: node / self.nodes_per_host.max(1), memory: None }).collect()
    }

    /// Of the blocks of so many, the one that a number belongs to.
    fn block(&self, number: u32, of: u32) -> u32 {
        (u64::from(number) * u64::from(self.pes) / u64::from(of)) as u32
    }
}

fn uniform(objects: u32, machine: Machine, rng: &mut Rng) -> Vec<Object> {
    let object = |index| {
        let load = MILLISECOND * (0.5 + rng.unit());
        row(index, load, rng.below(machine.pes))
    };
    (0..objects).map(object).collect()
}

fn power_law(objects: u32, machine: Machine, rng: &mut Rng) -> Vec<Object> {
    let object = |index| {
        let load = MILLISECOND * (1.0 - rng.unit()).powf(-1.0 / 1.5).min(LARGEST);
        row(index, load, machine.block(index, objects))
    };
    (0..objects).map(object).collect()
}

/// An object of an array of one dimension.
fn row(index: u32, load: f64, pe: u32) -> Object {
    let position = Some([index as f32, 0.0, 0.0]);
    Object { key: key(1, index), load, bytes: 4096, pe, migratable: true, position }
}

fn key(collection: u64, index: u32) -> Key {
    Key { collection, index: index.into() }
}

fn stencil(grid: &Grid, machine: Machine, rng: &mut Rng) -> Vec<Object> {
    let centre = [rng.unit(), rng.unit(), rng.unit()];
    let object = |index: u32| {
        let at = grid.position(index);
        let distance =
            (0..3).map(|axis| (f64::from(at[axis]) / f64::from(grid.sides[axis]) - centre[axis]).powi(2));
        let hot = 1.0 + 9.0 * (-distance.sum::<f64>() / (2.0 * 0.15 * 0.15)).exp();
        let load = MILLISECOND * hot * (0.95 + 0.1 * rng.unit());
        let pe = machine.block(index, grid.places());
        Object { key: key(1, index), load, bytes: 32 << 10, pe, migratable: true, position: Some(at) }
    };
    (0..grid.places()).map(object).collect()
}

fn stencil_edges(grid: &Grid) -> Vec<Edge> {
    let sides = [[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
    let of = |from| {
        let ends = sides.into_iter().map(move |step| grid.step(from, step)).filter(move |&to| to != from);
        ends.map(move |to| Edge { from, to, messages: 10.0, bytes: 20_480.0 })
    };
    (0..grid.places()).flat_map(of).collect()
}

/// Particles in each cell.
fn particles(grid: &Grid, rng: &mut Rng) -> Vec<f64> {
    let density = |index| 0.25 + 1.5 * f64::from(grid.position(index)[0]) / f64::from(grid.sides[0]);
    (0..grid.places()).map(|index| (100.0 * density(index) * (0.9 + 0.2 * rng.unit())).round()).collect()
}

fn molecules(grid: &Grid, particles: &[f64], machine: Machine) -> Vec<Object> {
    let object = |collection, index, pe, count: f64, pairs: f64, position| {
        let load = MILLISECOND * (count * 1e-3 + pairs * 1e-4);
        let bytes = 256 + 48 * count as u64;
        Object { key: key(collection, index), load, bytes, pe, migratable: true, position: Some(position) }
    };
    let cell = |index: u32| {
        let pe = machine.block(index, grid.places());
        object(1, index, pe, particles[index as usize], 0.0, grid.position(index))
    };
    let pair = |index: u32| {
        let first = index / PAIRS;
        let step = half_step(index % PAIRS);
        let second = grid.step(first, step);
        let mut at = grid.position(first);
        (0..3).for_each(|axis| at[axis] += step[axis] as f32 / 2.0);
        let pairs = particles[first as usize] * particles[second as usize];
        object(2, index, machine.block(first, grid.places()), 0.0, pairs, at)
    };
    let cells = (0..grid.places()).map(cell);
    cells.chain((0..grid.places() * PAIRS).map(pair)).collect()
}

/// Coordinates from the cells to the pairs, forces back.
fn molecule_edges(grid: &Grid, particles: &[f64]) -> Vec<Edge> {
    let cells = grid.places();
    let edge = |from, to, cell: u32| Edge {
        from,
        to,
        messages: 10.0,
        bytes: (240.0 * particles[cell as usize]) as f32,
    };
    let from_cell = |cell| {
        let own = (0..PAIRS).map(move |pair| cells + cell * PAIRS + pair);
        let of_others = (1..PAIRS).map(move |pair| {
            let back = half_step(pair).map(|step| -step);
            cells + grid.step(cell, back) * PAIRS + pair
        });
        own.chain(of_others).map(move |to| edge(cell, to, cell))
    };
    let from_pair = |pair| {
        let first = pair / PAIRS;
        let second = grid.step(first, half_step(pair % PAIRS));
        let ends = [Some(first), Some(second).filter(|_| pair % PAIRS != 0)];
        ends.into_iter().flatten().map(move |cell| edge(cells + pair, cell, cell))
    };
    (0..cells).flat_map(from_cell).chain((0..cells * PAIRS).flat_map(from_pair)).collect()
}

/// A cell with itself, and with half of its 26 neighbours: the others are the first of the pair.
const PAIRS: u32 = 14;

/// The way to the neighbour of a pair; the first is no way.
fn half_step(pair: u32) -> [i32; 3] {
    let number = 13 + pair as i32;
    [number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1]
}

const MILLISECOND: f64 = 1e-3;

/// Of the objects of a power law, against the smallest: without a limit a single one is often more than a PE's share.
const LARGEST: f64 = 100.0;

/// Places in three dimensions. Beyond each side it goes on at the opposite one.
struct Grid {
    sides: [u32; 3],
}

impl Grid {
    fn of_at_least(places: u32) -> Self {
        let places = places.max(1);
        let first = (f64::from(places).cbrt() as u32).max(1);
        let second = (f64::from(places.div_ceil(first)).sqrt() as u32).max(1);
        Grid { sides: [first, second, places.div_ceil(first * second)] }
    }

    fn places(&self) -> u32 {
        self.sides.iter().product()
    }

    fn coordinates(&self, index: u32) -> [u32; 3] {
        let [_, second, third] = self.sides;
        [index / (second * third), index / third % second, index % third]
    }

    fn position(&self, index: u32) -> [f32; 3] {
        self.coordinates(index).map(|coordinate| coordinate as f32)
    }

    fn step(&self, index: u32, step: [i32; 3]) -> u32 {
        let mut at = self.coordinates(index);
        for axis in 0..3 {
            at[axis] = (at[axis] as i32 + step[axis]).rem_euclid(self.sides[axis] as i32) as u32;
        }
        (at[0] * self.sides[1] + at[1]) * self.sides[2] + at[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::quality::Quality;

    const MACHINE: Machine = Machine { pes: 32, pes_per_node: 4, nodes_per_host: 2 };

    #[test]
    fn what_is_made_fits_together_and_is_out_of_balance() {
        for program in Program::ALL {
            let made = snapshot(program, 3_000, MACHINE, true);
            assert_eq!(made.check(), Ok(()), "{program:?}");
            assert!((3_000..3_400).contains(&made.objects.len()), "{program:?}: {}", made.objects.len());
            assert_eq!((made.pes.len(), made.nodes.len(), made.nodes[7].host), (32, 8, 3));
            let ratio = Quality::of(&made, &Plan::default()).ratio();
            assert!((1.1..8.0).contains(&ratio), "{program:?}: {ratio}");
            assert_eq!(made, snapshot(program, 3_000, MACHINE, true), "{program:?}: every time the same");
        }
    }

    #[test]
    fn programs_on_a_grid_talk_with_their_neighbours() {
        let stencil = snapshot(Program::Stencil, 1_000, MACHINE, true);
        assert_eq!(stencil.edges.len(), 6 * stencil.objects.len());
        let near = |edge: &Edge| {
            let at = |object: u32| stencil.objects[object as usize].position.unwrap();
            let apart = (0..3).map(|axis| (at(edge.from)[axis] - at(edge.to)[axis]).abs());
            apart.filter(|&apart| apart > 0.0).collect::<Vec<_>>()
        };
        assert!(stencil.edges.iter().map(near).all(|apart| matches!(apart[..], [1.0] | [9.0])));
        let molecules = snapshot(Program::Molecules, 15_000, MACHINE, true);
        let cells = molecules.objects.len() / 15;
        assert_eq!(molecules.edges.len(), cells * 27 * 2);
        let answered =
            |edge: &Edge| molecules.edges.iter().any(|back| (back.from, back.to) == (edge.to, edge.from));
        assert!(molecules.edges.iter().step_by(997).all(answered));
    }

    #[test]
    fn odd_sizes_are_made_as_well() {
        for program in Program::ALL {
            for (objects, pes) in [(0, 4), (1, 4), (5, 0), (5, 1), (7, 100)] {
                let machine = Machine { pes, pes_per_node: 3, nodes_per_host: 0 };
                assert_eq!(
                    snapshot(program, objects, machine, true).check(),
                    Ok(()),
                    "{program:?} {objects} {pes}"
                );
            }
        }
    }
}
