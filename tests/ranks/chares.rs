//! Ranks and other chares of one program that call each other.

use talisman::prelude::*;
use talisman::testing::Test;
use talisman_ampi::api::traits::*;
use talisman_ampi::api::{Error, Mailbox, Universe};
use talisman_ampi::rank::Program;

/// What each rank runs: asks a chare again and again.
#[derive(Debug, Pup)]
pub struct Asking {
    rounds: u64,
    desk: Callback<Question>,
}

/// What a rank asks, and where the answer goes.
#[derive(Debug, Pup)]
struct Question {
    text: String,
    answer: Mailbox<(u64, Vec<String>)>,
}

impl Program for Asking {
    /// What the answers add up to, or why the rank has failed.
    type Output = Result<u64, String>;

    fn main(self, universe: Universe) -> Result<u64, String> {
        self.ask(universe).map_err(|error| error.to_string())
    }
}

impl Asking {
    fn ask(&self, universe: Universe) -> Result<u64, Error> {
        let (mut sum, world) = (0, universe.world());
        for round in 0..self.rounds {
            let text = format!("{} in round {round}", world.rank());
            let question = Question { text: text.clone(), answer: universe.mailbox()? };
            universe.call(&self.desk, &question)?;
            universe.move_to((universe.pe() + 1) % universe.pes());
            let (number, texts) = universe.next_post::<(u64, Vec<String>)>()?;
            assert_eq!(texts, vec![text; number as usize]);
            sum += number;
            world.barrier()?;
        }
        Ok(sum)
    }
}

/// Answers questions.
#[derive(Pup)]
struct Desk {
    asked: u64,
}

#[chare(single)]
impl Desk {
    #[init]
    fn new() -> Self {
        Desk { asked: 0 }
    }

    #[entry]
    fn question(&mut self, question: Question) {
        self.asked += 1;
        let number = self.asked % 3;
        question.answer.send(&(number, vec![question.text; number as usize]));
    }

    #[entry]
    fn asked(&self) -> u64 {
        self.asked
    }
}

#[derive(clap::Parser, Clone, Copy, Pup)]
struct Options {
    #[arg(long)]
    rounds: u64,
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let desk: Proxy<Desk> = Desk::chare().on(0).new();
    let asking = Asking { rounds: options.rounds, desk: desk.callback(Desk::question) };
    let call = talisman_ampi::run(6, asking).map_err(|error| error.to_string())?;
    let ended: Vec<Result<u64, String>> = call.await;
    let sums: Vec<u64> = ended.into_iter().collect::<Result<_, _>>()?;
    let asked: u64 = desk.asked().await;
    writeln!(cx.output(), "{asked} questions, {} in all", sums.into_iter().sum::<u64>());
    Ok(())
}

#[test]
fn ranks_and_chares_call_each_other() {
    // One PE, and nodes that go back in the midst of it.
    let tests = (0..8).map(|seed| Test::new().simulated(3, seed).going_back(20 + seed * 40, &[2]));
    for test in tests.chain([Test::new(), Test::new().simulated(2, 9).packing_messages().repacking_objects()])
    {
        let tested = test.run::<__Main>((Options { rounds: 6 },));
        crate::assert_ended_well("desk", &tested);
        assert_eq!(tested.output, ["36 questions, 36 in all"]);
    }
}
