//! What nodes print and read.

use std::io::{self, BufRead};

use talisman::prelude::*;

/// How much.
#[derive(clap::Args, Clone, Debug, Pup)]
pub struct Plan {
    /// Lines of each PE
    #[arg(long)]
    lines: u32,
}

pub fn start(plan: Shared<Plan>) -> Group<Printer> {
    Printer::group().new(plan)
}

/// Line `number` of a PE: of many lengths, and ends with `end`.
pub fn line(pe: u32, number: u32) -> String {
    let more = "abcdefghij".repeat(((pe + 7 * number) % 40) as usize);
    format!("PE {pe} line {number} {more} end")
}

/// One on every PE.
#[derive(Pup)]
pub struct Printer {
    plan: Shared<Plan>,
}

#[chare(group)]
impl Printer {
    #[init]
    fn new(plan: Shared<Plan>) -> Self {
        Printer { plan }
    }

    /// Prints them; gives how many.
    #[entry]
    pub fn print(&mut self, cx: &mut Cx<Self>) -> u32 {
        for number in 0..self.plan.lines {
            writeln!(cx.output(), "{}", line(cx.pe(), number));
            if number % 10 == 0 {
                eprintln!("PE {} error {number}", cx.pe());
            }
        }
        self.plan.lines
    }
}

/// Prints what it reads, line by line.
pub fn echo<C: talisman::Chare>(cx: &mut Cx<C>) -> Result<(), String> {
    for line in io::stdin().lock().lines() {
        writeln!(cx.output(), "read {}", line.map_err(|error| error.to_string())?);
    }
    Ok(())
}
