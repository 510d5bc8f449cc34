//! The functions of the binary interfaces, called by ranks as a program in C would: through their addresses, with
//! each interface's handles and constants. Between the calls the ranks move.

#![allow(missing_docs)]

#[path = "calls/collectives.rs"]
mod collectives;
#[path = "calls/communicators.rs"]
mod communicators;
#[path = "calls/datatypes.rs"]
mod datatypes;
#[path = "calls/fortran.rs"]
mod fortran;
#[path = "calls/library.rs"]
mod library;
#[path = "calls/messages.rs"]
mod messages;
#[path = "calls/mpi_4.rs"]
mod mpi_4;
#[path = "calls/objects.rs"]
mod objects;
#[path = "calls/ports.rs"]
mod ports;
#[path = "calls/requests.rs"]
mod requests;
#[path = "calls/topologies.rs"]
mod topologies;
#[path = "calls/windows.rs"]
mod windows;

use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::Universe;
use talisman_ampi::rank::Program;

use library::{Library, Mpich, OpenMpi, Standard, mpi};

/// What each rank runs, under one of the interfaces.
#[derive(clap::ValueEnum, Clone, Copy, Pup)]
pub enum Calls {
    Mpich,
    OpenMpi,
    Standard,
}

talisman_ampi::program!(Calls);

/// A rank that calls a library.
#[derive(Clone, Copy)]
pub struct Rank {
    universe: Universe,
    pub number: i32,
    pub size: i32,
}

impl Rank {
    /// Goes on on the next PE.
    pub fn hop(&self) {
        self.universe.move_to((self.universe.pe() + 1) % self.universe.pes());
    }

    pub fn before(&self) -> i32 {
        (self.number + self.size - 1) % self.size
    }

    pub fn after(&self) -> i32 {
        (self.number + 1) % self.size
    }
}

impl Program for Calls {
    /// How many checks have passed.
    type Output = u64;

    fn main(self, universe: Universe) -> u64 {
        match self {
            Calls::Mpich => run::<Mpich>(universe),
            Calls::OpenMpi => run::<OpenMpi>(universe),
            Calls::Standard => run::<Standard>(universe),
        }
    }
}

fn run<L: Library>(universe: Universe) -> u64 {
    let (mut number, mut size, mut flag) = (-1, -1, -1);
    mpi!(L, "MPI_Initialized", &mut flag);
    assert_eq!(flag, 0);
    mpi!(L, "MPI_Init", 0usize, 0usize);
    mpi!(L, "MPI_Initialized", &mut flag);
    assert_eq!(flag, 1);
    mpi!(L, "MPI_Comm_rank", L::world(), &mut number);
    mpi!(L, "MPI_Comm_size", L::world(), &mut size);
    let rank = Rank { universe, number, size };
    let checks: [fn(Rank); 13] = [
        messages::check::<L>,
        requests::check::<L>,
        collectives::check::<L>,
        communicators::check::<L>,
        topologies::check::<L>,
        mpi_4::check::<L>,
        ports::check::<L>,
        datatypes::check::<L>,
        objects::check::<L>,
        objects::environment::<L>,
        fortran::check::<L>,
        objects::bound::<L>,
        windows::check::<L>,
    ];
    for check in checks {
        check(rank);
        rank.hop();
    }
    mpi!(L, "MPI_Finalize");
    mpi!(L, "MPI_Finalized", &mut flag);
    assert_eq!(flag, 1);
    checks.len() as u64
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    ranks: u32,
    #[arg(long)]
    calls: Calls,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(options.ranks, options.calls).map_err(|error| error.to_string())?;
    let passed: Vec<u64> = call.await;
    writeln!(cx.output(), "{} checks on each rank", passed.iter().min().unwrap_or(&0));
    Ok(())
}

fn assert_all_pass(calls: Calls) {
    for ranks in [1u32, 2, 5] {
        for (name, test) in [
            ("one PE", Test::new()),
            ("simulated", Test::new().simulated(3, u64::from(ranks))),
            ("simulated and packed", Test::new().simulated(2, 7).packing_messages()),
        ] {
            let tested = test.run::<__Main>((Options { ranks, calls },));
            assert_eq!(
                (tested.status, &tested.message),
                (0, &None),
                "{name}, {ranks} ranks: {:?}",
                tested.output
            );
            assert_eq!(tested.output, ["13 checks on each rank"]);
        }
    }
}

#[test]
fn calls_of_mpich_do_what_mpi_says() {
    assert_all_pass(Calls::Mpich);
}

#[test]
fn calls_of_open_mpi_do_what_mpi_says() {
    assert_all_pass(Calls::OpenMpi);
}

#[test]
fn calls_of_the_standard_do_what_mpi_says() {
    assert_all_pass(Calls::Standard);
}
