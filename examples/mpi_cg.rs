//! The smallest eigenvalue of a sparse matrix by inverse iteration with conjugate gradients: the benchmark CG of the NAS Parallel
//! Benchmarks (Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, section 2.3), in virtual MPI ranks.
//!
//! Shows: sums over all ranks, and gathering a vector of which each rank has a part.
//!
//! ```text
//! cargo run --release --example mpi_cg -- --ranks 16 --class s
//! ```
//!
//! Each rank has some rows of the matrix, as many as another. Checks: the benchmark's verification value, to 1e-10. Results: `zeta`,
//! `rnorm` (of the last solution).

use talisman::prelude::*;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Communicator, Error, SystemOperation, Universe};
use talisman_ampi::{RankArgs, rank::Program};

/// Estimates an eigenvalue by conjugate gradients in virtual MPI ranks.
#[derive(clap::Parser, Clone, Pup)]
struct Options {
    #[command(flatten)]
    ranks: RankArgs,
    /// Size of the problem
    #[arg(long, value_enum, default_value_t = Class::S)]
    class: Class,
}

/// Classes of the benchmark.
#[derive(clap::ValueEnum, Clone, Copy, Pup)]
enum Class {
    /// 1,400 rows
    S,
    /// 7,000 rows
    W,
}

/// What each rank runs.
#[derive(Clone, Copy, Pup)]
struct Cg {
    rows: u32,
    /// Elements that are not zero in each vector of which the matrix is made.
    nonzero: u32,
    iterations: u32,
    shift: f64,
    /// What comes out.
    zeta: f64,
}

impl Class {
    fn problem(self) -> Cg {
        let (rows, nonzero, iterations, shift, zeta) = match self {
            Class::S => (1_400, 7, 15, 10.0, 8.597_177_507_864_8),
            Class::W => (7_000, 8, 15, 12.0, 10.362_595_087_124),
        };
        Cg { rows, nonzero, iterations, shift, zeta }
    }
}

talisman_ampi::program!(Cg);

impl Program for Cg {
    /// The eigenvalue and the norm of the last residual, or why the rank has failed.
    type Output = Result<(f64, f64), String>;

    fn main(self, universe: Universe) -> Result<(f64, f64), String> {
        self.iterate(universe).map_err(|error| error.to_string())
    }
}

/// Iterations of conjugate gradients for each of the outer ones.
const INNER: u32 = 25;

impl Cg {
    fn iterate(&self, universe: Universe) -> Result<(f64, f64), Error> {
        let rows = Rows::of(self, universe.world());
        let mut x = vec![1.0; rows.mine()];
        let (mut zeta, mut rnorm) = (0.0, 0.0);
        for iteration in 1..=self.iterations {
            let (z, residual) = rows.solve(&x)?;
            rnorm = residual;
            zeta = self.shift + 1.0 / rows.dot(&x, &z)?;
            let norm = 1.0 / rows.dot(&z, &z)?.sqrt();
            x = z.into_iter().map(|z| norm * z).collect();
            if rows.world.rank() == 0 {
                universe.step(u64::from(iteration));
            }
        }
        Ok((zeta, rnorm))
    }
}

/// A rank's rows of the matrix.
struct Rows {
    world: Communicator,
    /// Rows of each rank.
    counts: Vec<usize>,
    /// Columns and values of each row.
    elements: Vec<Vec<(u32, f64)>>,
}

impl Rows {
    fn of(problem: &Cg, world: Communicator) -> Rows {
        let (size, rows) = (world.size() as usize, problem.rows as usize);
        let start = |rank: usize| rows * rank / size;
        let counts = (0..size).map(|rank| start(rank + 1) - start(rank)).collect();
        let rank = world.rank() as usize;
        Rows { world, counts, elements: Matrix::new(*problem).rows(start(rank)..start(rank + 1)) }
    }

    fn mine(&self) -> usize {
        self.elements.len()
    }

    /// The product of the matrix and a vector of which each rank has its part.
    fn times(&self, part: &[f64]) -> Result<Vec<f64>, Error> {
        let mut all = vec![0.0; self.counts.iter().sum()];
        self.world.all_gather_varcount_into(part, &mut all, &self.counts)?;
        let row =
            |row: &Vec<(u32, f64)>| row.iter().map(|(column, value)| value * all[*column as usize]).sum();
        Ok(self.elements.iter().map(row).collect())
    }

    fn dot(&self, left: &[f64], right: &[f64]) -> Result<f64, Error> {
        let (mine, mut all) = (left.iter().zip(right).map(|(left, right)| left * right).sum::<f64>(), 0.0);
        self.world.all_reduce_into(&mine, &mut all, SystemOperation::sum())?;
        Ok(all)
    }

    /// Solves `A z = x`, nearly; with the norm of what is left.
    fn solve(&self, x: &[f64]) -> Result<(Vec<f64>, f64), Error> {
        let (mut z, mut r, mut p) = (vec![0.0; x.len()], x.to_vec(), x.to_vec());
        let mut rho = self.dot(&r, &r)?;
        for _ in 0..INNER {
            let q = self.times(&p)?;
            let alpha = rho / self.dot(&p, &q)?;
            z.iter_mut().zip(&p).for_each(|(z, p)| *z += alpha * p);
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
            let before = std::mem::replace(&mut rho, self.dot(&r, &r)?);
            let beta = rho / before;
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
        }
        let left: Vec<f64> = self.times(&z)?.iter().zip(x).map(|(az, x)| x - az).collect();
        Ok((z, self.dot(&left, &left)?.sqrt()))
    }
}

/// The matrix of the benchmark: a sum of outer products of sparse random vectors with weights that fall from 1 to 0.1, shifted.
struct Matrix {
    problem: Cg,
    seed: f64,
}

/// The condition of the matrix is about the inverse.
const RCOND: f64 = 0.1;

impl Matrix {
    fn new(problem: Cg) -> Matrix {
        let mut matrix = Matrix { problem, seed: 314_159_265.0 };
        // The benchmark draws one number before the matrix.
        matrix.random();
        matrix
    }

    /// Columns and values of some rows, those of one place added up in the order in which they are made.
    fn rows(mut self, wanted: std::ops::Range<usize>) -> Vec<Vec<(u32, f64)>> {
        let mut rows = vec![std::collections::BTreeMap::<u32, f64>::new(); wanted.len()];
        let ratio = RCOND.powf(1.0 / f64::from(self.problem.rows));
        let mut weight = 1.0;
        for number in 0..self.problem.rows {
            let vector = self.vector(number);
            for (row, left) in vector.iter().filter(|(row, _)| wanted.contains(&(*row as usize))) {
                let scale = weight * left;
                for (column, right) in &vector {
                    let on_diagonal = row == column && *row == number;
                    let shift = if on_diagonal { RCOND - self.problem.shift } else { 0.0 };
                    *rows[*row as usize - wanted.start].entry(*column).or_default() += right * scale + shift;
                }
            }
            weight *= ratio;
        }
        rows.into_iter().map(|row| row.into_iter().collect()).collect()
    }

    /// A sparse vector with an element of 0.5 at one place.
    fn vector(&mut self, number: u32) -> Vec<(u32, f64)> {
        let range = self.problem.rows.next_power_of_two();
        let mut vector: Vec<(u32, f64)> = Vec::new();
        while vector.len() < self.problem.nonzero as usize {
            let value = self.random();
            let at = (f64::from(range) * self.random()) as u32;
            if at < self.problem.rows && vector.iter().all(|(other, _)| *other != at) {
                vector.push((at, value));
            }
        }
        match vector.iter_mut().find(|(at, _)| *at == number) {
            Some((_, value)) => *value = 0.5,
            None => vector.push((number, 0.5)),
        }
        vector
    }

    /// The next of the benchmark's random numbers between 0 and 1: x = 5^13 x mod 2^46, exactly.
    fn random(&mut self) -> f64 {
        let next = (self.seed as u64).wrapping_mul(1_220_703_125) & ((1 << 46) - 1);
        self.seed = next as f64;
        self.seed / f64::from(1u32 << 23) / f64::from(1u32 << 23)
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let problem: Cg = options.class.problem();
    cx.expect_steps(u64::from(problem.iterations));
    let call = talisman_ampi::run(options.ranks.clone(), problem).map_err(|error| error.to_string())?;
    let ended: Vec<Result<(f64, f64), String>> = call.await;
    let ends: Vec<(f64, f64)> = ended.into_iter().collect::<Result<_, _>>()?;
    let (zeta, rnorm): (f64, f64) = ends[0];
    writeln!(cx.output(), "{}", summary(zeta, rnorm));
    cx.result("zeta", zeta);
    cx.result("rnorm", rnorm);
    verdict(problem, &ends)
}

fn summary(zeta: f64, rnorm: f64) -> String {
    format!("zeta {zeta:.13}, residual {rnorm:.1e}")
}

/// Whether all ranks have the benchmark's value.
fn verdict(problem: Cg, ends: &[(f64, f64)]) -> Result<(), String> {
    let (zeta, wanted) = (ends[0].0, problem.zeta);
    let all_alike = ends.iter().all(|(other, _)| other.to_bits() == zeta.to_bits());
    if all_alike && ((zeta - wanted) / wanted).abs() < 1e-10 {
        return Ok(());
    }
    Err(format!("zeta is {zeta:.13}, where {wanted:.13} is to come out"))
}
