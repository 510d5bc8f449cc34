//! Elements that are inserted and go while others are spoken to: `recovery program --nursery …`. What it says depends on who is in each
//! broadcast, multicast and reduction, and on nothing else (`docs/src/reference/membership.md`).

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use talisman::prelude::*;

#[derive(clap::Parser, Clone, Debug, Pup)]
struct Options {
    /// Always `program`, which tells this from a run of the tests.
    program: String,
    /// Always set, which tells this from the other programs.
    #[arg(long)]
    nursery: bool,
    #[arg(long, default_value_t = 40)]
    rounds: u64,
    /// Waits before its 60th round for as long as this file is there
    #[arg(long)]
    hold: Option<String>,
}

impl Options {
    fn holds(&self) -> bool {
        self.hold.as_ref().is_some_and(|file| Path::new(file).exists())
    }
}

/// Runs it as the command line says.
pub fn start() -> ExitCode {
    talisman::start::main::<Main, (Options,)>(talisman::program!())
}

const LINES: i32 = 12;
/// Of each round.
const FOUNDLINGS: i32 = 3;

/// One of a line, whose members have the same remainder of their index; or a foundling, which has a negative index.
#[derive(Pup)]
struct Child {
    born: u64,
    /// How many have had this name before.
    life: u64,
    has_heir: bool,
}

#[chare(array1d)]
impl Child {
    #[init]
    fn new(born: u64, life: u64) -> Self {
        Child { born, life, has_heir: false }
    }

    /// Some insert the next of their line, or of their name, go, or move: all after they have been counted.
    #[entry]
    fn grow(&mut self, cx: &mut Cx<Self>, round: u64) -> (u64, u64) {
        let counted = (1, self.mark(cx.index(), round));
        let line = cx.index() % LINES;
        let to = cx.rng().below(cx.pes().into()) as u32;
        let age = round - self.born;
        if cx.index() < 0 || self.has_heir {
            match age {
                0..4 => cx.migrate_to(to),
                _ => cx.destroy(),
            }
        } else if (line as u64 + round).is_multiple_of(3) {
            cx.array().insert(cx.index() + LINES).on(to).new(round, 0);
            self.has_heir = true;
        } else if (line as u64 + round) % 5 == 1 {
            cx.array().insert(cx.index()).on(to).new(round, self.life + 1);
            cx.destroy();
        }
        counted
    }

    /// Inserts one more, and tells of it.
    #[entry]
    fn adopt(&mut self, cx: &mut Cx<Self>, round: u64, herald: Proxy<Herald>) {
        let to = cx.rng().below(cx.pes().into()) as u32;
        cx.array().insert(-FOUNDLINGS * round as i32).on(to).new(round, 0);
        herald.announce(cx.array(), round);
    }

    /// Contributes, and inserts then.
    #[entry]
    fn contribute(&mut self, cx: &mut Cx<Self>, round: u64, to: Proxy<Main>) {
        cx.contribute((1_u64, self.mark(cx.index(), round)), (Sum, Sum), to.callback(Main::contributed));
        if !self.has_heir && cx.index() >= 0 && (cx.index() as u64 + round).is_multiple_of(7) {
            let to = cx.rng().below(cx.pes().into()) as u32;
            cx.array().insert(cx.index() + LINES).on(to).new(round, 0);
            self.has_heir = true;
        }
    }

    #[entry]
    fn look(&mut self, cx: &mut Cx<Self>, round: u64) -> (u64, u64) {
        (1, self.mark(cx.index(), round))
    }

    #[entry]
    fn name(&mut self, cx: &mut Cx<Self>) -> i32 {
        cx.index()
    }
}

impl Child {
    /// Some number that tells it from all others; sums of them fit.
    fn mark(&self, index: i32, round: u64) -> u64 {
        let mixed = (index as u64 ^ self.life.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ self.born.wrapping_mul(round)) >> 24
    }
}

/// Hears of insertions, and calls all.
#[derive(Pup)]
struct Herald {
    main: Proxy<Main>,
}

#[chare(single)]
impl Herald {
    #[init]
    fn new(main: Proxy<Main>) -> Self {
        Herald { main }
    }

    /// Inserts one from outside before, and one after.
    #[entry]
    fn announce(&mut self, cx: &mut Cx<Self>, children: Array<Child>, round: u64) {
        let to = cx.rng().below(cx.pes().into()) as u32;
        children.insert(-1 - FOUNDLINGS * round as i32).on(to).new(round, 0);
        children.look(round).reduce((Sum, Sum)).reply(self.main.callback(Main::announced));
        children.insert(-2 - FOUNDLINGS * round as i32).new(round, 0);
        self.main.settled();
    }
}

#[derive(Pup)]
struct Main {
    options: Options,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, options: Options) -> Self {
        cx.me().run();
        Main { options }
    }

    #[entry]
    fn announced(count: (u64, u64));

    #[entry]
    fn settled();

    #[entry]
    fn contributed(count: (u64, u64));

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) {
        let children: Array<Child> = Child::array(LINES).new(0, 0);
        let herald: Proxy<Herald> = Herald::chare().on(cx.pes() - 1).new(cx.me());
        for round in 1..=self.options.rounds {
            while round == 60 && self.options.holds() {
                cx.sleep(Duration::from_millis(2)).await;
            }
            let grown: (u64, u64) = children.grow(round).reduce((Sum, Sum)).await;
            let before: Vec<i32> = children.name().reduce(Concat).await;
            children.at(before[round as usize % before.len()]).adopt(round, herald);
            // Called by who has heard of the one that was adopted, and has inserted another.
            let seen: (u64, u64) = cx.when(Self::announced).await;
            // So that what is called from here on is for the second foundling, too.
            cx.when(Self::settled).await;
            children.contribute(round, cx.me());
            let contributed: (u64, u64) = cx.when(Self::contributed).await;
            let mut names: Vec<i32> = children.name().reduce(Concat).await;
            names.sort_unstable();
            let half: Section<Child> = children.section(names.iter().copied().step_by(2));
            let chosen: (u64, u64) = half.look(round).reduce((Sum, Sum)).await;
            half.destroy();
            writeln!(
                cx.output(),
                "round {round}: {grown:?}, {seen:?}, {contributed:?}, {chosen:?}, {names:?}"
            );
            println!("at {round}");
            cx.step(round);
        }
        let last: (u64, u64) = children.look(0).reduce((Sum, Sum)).await;
        cx.result("last", last.1);
        cx.exit();
    }
}
