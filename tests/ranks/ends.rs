//! How programs of ranks end that do not end well.

use talisman::prelude::*;
use talisman::testing::{Test, Tested};
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Error, Universe};
use talisman_ampi::rank::Program;

/// What a rank does wrong.
#[derive(clap::ValueEnum, Clone, Copy, Pup)]
pub enum Ends {
    /// Rank 2 panics while the others wait for it.
    Panics,
    /// Rank 1 panics, and waits in a destructor.
    WaitsWhileItUnwinds,
    /// Everybody waits for a message that has another tag.
    Hangs,
    /// A message that does not fit.
    Truncates,
}

impl Program for Ends {
    /// An error of a call.
    type Output = String;

    fn main(self, universe: Universe) -> String {
        match self.run(universe) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }
}

impl Ends {
    fn run(self, universe: Universe) -> Result<(), Error> {
        let world = universe.world();
        let (rank, size) = (world.rank(), world.size());
        match self {
            Ends::Panics if rank == 2 => panic!("no more of it"),
            Ends::WaitsWhileItUnwinds if rank == 1 => {
                let _waits = Waits(universe);
                panic!("before it waits");
            }
            Ends::Panics | Ends::WaitsWhileItUnwinds => world.barrier(),
            Ends::Hangs => {
                world.process_at_rank((rank + 1) % size).send_with_tag(&[1.0, 2.0], 7)?;
                let from = world.process_at_rank((rank + size - 1) % size);
                from.receive_into_with_tag(&mut [0.0; 2], 8).map(|_| ())
            }
            Ends::Truncates => {
                world.process_at_rank((rank + 1) % size).send(&[1u64, 2, 3])?;
                world.any_process().receive_into(&mut [0u64; 2]).map(|_| ())
            }
        }
    }
}

struct Waits(Universe);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.world().barrier().expect("it does not come back");
    }
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    program: Ends,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let call = talisman_ampi::run(3, options.program).map_err(|error| error.to_string())?;
    let errors: Vec<String> = call.await;
    writeln!(cx.output(), "{errors:?}");
    Ok(())
}

fn tests() -> [Test; 3] {
    [Test::new(), Test::new().simulated(2, 1), Test::new().simulated(3, 2).packing_messages()]
}

fn fails(tested: &Tested, parts: &[&str]) {
    let message = tested.message.clone().unwrap_or_default();
    assert_eq!(tested.status, 1, "{message} {:?}", tested.output);
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in:\n{message}");
    }
}

#[test]
fn a_panic_of_a_rank_ends_the_job_with_rank_file_and_line() {
    for test in tests() {
        let tested = test.run::<__Main>((Options { program: Ends::Panics },));
        fails(&tested, &["rank 2 panicked at tests/ranks/ends.rs:", ": no more of it"]);
    }
}

#[test]
fn a_rank_does_not_wait_while_it_unwinds() {
    let tested = Test::new().run::<__Main>((Options { program: Ends::WaitsWhileItUnwinds },));
    fails(&tested, &["rank 1 waits while it unwinds", "panicked at tests/ranks/ends.rs:", "before it waits"]);
}

#[test]
fn a_job_that_is_stuck_names_calls_peers_tags_and_lines() {
    for test in tests() {
        let tested = test.run::<__Main>((Options { program: Ends::Hangs },));
        let parts = [
            "rank 1 in receive (tests/ranks/ends.rs:",
            "waits for tag 8 from 0 in MPI_COMM_WORLD; 0 has sent it tag 7, and waits in receive (tests/ranks/ends.rs:",
            "rank 2 in receive",
        ];
        fails(&tested, &parts);
    }
}

#[test]
fn a_message_that_does_not_fit_is_an_error_with_both_lengths() {
    for test in tests() {
        let tested = test.run::<__Main>((Options { program: Ends::Truncates },));
        crate::assert_ended_well("truncates", &tested);
        let error = r#""a message of 24 bytes does not fit into a buffer of 16 bytes""#;
        assert_eq!(tested.output, [format!("[{error}, {error}, {error}]")]);
    }
}
