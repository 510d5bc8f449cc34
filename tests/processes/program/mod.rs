//! The program whose processes are killed, stopped and cut off: `processes program WHAT …`.

mod flood;
mod listening;
mod printing;
mod spinning;
pub mod traffic;
mod uneven;

use std::process::ExitCode;
use std::time::Duration;

pub use listening::VARIABLE as OWN_SUBSCRIBER;
pub use printing::line;
use talisman::prelude::*;

/// What tests need of a program.
#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Clone, Debug, Pup)]
enum What {
    /// Every PE sends numbered messages to all others and gets numbered replies.
    Traffic(traffic::Plan),
    /// Much at once for a receiver that is asleep.
    Flood(flood::Plan),
    /// Every node prints numbered lines.
    Lines(printing::Plan),
    /// An entry of the last PE does not return.
    Spin,
    /// Objects of the first PE have most of the work.
    Uneven,
    /// Prints what it reads.
    Echo,
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main_with::<__Main, (Options,)>(talisman::program!(), listening::install_if_asked)
}

#[talisman::main(subscriber = listening::install_if_asked)]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    match options.what {
        What::Traffic(plan) => {
            let talkers: Group<traffic::Talker> = traffic::start(cx.share(plan));
            let sent: u64 = talkers.run().reduce(Sum).await;
            let received: u64 = talkers.received().reduce(Sum).await;
            cx.result("sent", sent);
            cx.result("received", received);
            writeln!(cx.output(), "{sent} sent, {received} received");
        }
        What::Flood(plan) => {
            let plan: flood::Plan = plan;
            let members: Group<flood::Member> = flood::start(cx.share(plan.clone()));
            let received: u64 = members.run().reduce(Sum).await;
            while plan.stays() {
                cx.sleep(Duration::from_millis(10)).await;
            }
            writeln!(cx.output(), "{received} received");
        }
        What::Lines(plan) => {
            let printers: Group<printing::Printer> = printing::start(cx.share(plan));
            let lines: u32 = printers.print().reduce(Sum).await;
            cx.result("lines", u64::from(lines));
        }
        What::Spin => {
            let spinners: Group<spinning::Spinner> = spinning::start();
            let _returned: u32 = spinners.spin().reduce(Sum).await;
        }
        What::Uneven => {
            let workers: Array<uneven::Worker> = uneven::start(cx.pes());
            for _round in 0..uneven::ROUNDS {
                let _done: u32 = workers.work().reduce(Sum).await;
            }
        }
        What::Echo => {
            printing::echo(cx)?;
        }
    }
    Ok(())
}
