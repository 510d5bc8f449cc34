//! Nodes that say where everything is in them: `layout program …`.

use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use talisman::layout::FixedLayout;
use talisman::prelude::*;

talisman::inventory::submit! { FixedLayout::needed_by("these tests") }

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Steps before the nodes say what they are like
    #[arg(long, default_value_t = 3)]
    steps: u64,
    /// They do not before there are so many
    #[arg(long, default_value_t = 1)]
    members: u32,
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<__Main, (Options,)>(talisman::program!())
}

#[derive(Pup)]
struct Looker;

#[chare(group)]
impl Looker {
    #[init]
    fn new() -> Self {
        Looker
    }

    #[entry]
    fn count(&mut self) -> u32 {
        1
    }

    #[entry]
    fn look(&mut self, cx: &mut Cx<Self>) -> u32 {
        writeln!(cx.output(), "node {}: {}", cx.pe(), addresses());
        1
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) {
    let lookers = Looker::group().new();
    for step in 1..=options.steps {
        let _count: u32 = lookers.count().reduce(Sum).await;
        cx.step(step);
    }
    // At once, also in a job that holds back what it may have to take back.
    println!("under way");
    let mut members: u32 = lookers.count().reduce(Sum).await;
    while members < options.members {
        cx.sleep(Duration::from_millis(10)).await;
        members = lookers.count().reduce(Sum).await;
    }
    let _said: u32 = lookers.look().reduce(Sum).await;
}

/// Of the process and the thread that this is called in.
fn addresses() -> String {
    let personality = fs::read_to_string("/proc/self/personality").unwrap_or_default();
    let stack = getrlimit(Resource::Stack).current.unwrap_or(0);
    let (local, pointer) = (0_u8, thread_pointer());
    // How deep the stack is differs.
    let place = (&raw const local) as usize >> 20;
    format!(
        "personality {} stack {stack} place {place:x} pointer {pointer:x} {}",
        personality.trim(),
        mapped()
    )
}

fn thread_pointer() -> usize {
    // SAFETY: it only tells.
    unsafe { libc::pthread_self() as usize }
}

/// Where the program, its libraries and those of the system are; other files that are mapped may differ.
fn mapped() -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let is_code = |line: &&str| line.contains(" r-xp ") && !line.contains("memfd:");
    let place = |line: &str| {
        let mut words = line.split_whitespace();
        let (range, name) = (words.next().unwrap_or_default(), words.next_back().unwrap_or_default());
        format!("{range} {}", name.rsplit('/').next().unwrap_or_default())
    };
    maps.lines().filter(is_code).map(place).collect::<Vec<_>>().join("; ")
}
