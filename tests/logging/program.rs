//! Tokens that hop about an array whose elements move: what they come to depends on nothing but their number and their hops. All that a
//! PE may be given is in it: frames, timers, values of the world, idle work, and what the clock says goes with each hop.

use std::cell::Cell;
use std::time::Duration;

use talisman::prelude::*;
use talisman::pup::{Fault, Purpose};

/// Elements of the array.
const STOPS: i32 = 12;

/// A number that looks like chance.
fn mix(token: u64, left: u32) -> u64 {
    let mut z =
        token.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(left).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 30)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What all tokens come to.
pub fn expected(tokens: u64, hops: u32) -> u64 {
    (0..tokens).flat_map(|token| (0..=hops).map(move |left| mix(token, left))).fold(0, u64::wrapping_add)
}

/// The lines that it prints, in order.
pub fn lines(plan: Plan) -> Vec<String> {
    let Plan { tokens, hops, save_after, talks, .. } = plan;
    let mut all: Vec<_> = (0..tokens).map(|token| format!("token {token} has ended")).collect();
    all.push(format!("sum {}", expected(tokens, hops)));
    all.extend(save_after.map(|_| "saved".to_owned()));
    if talks {
        let hop = |token| (1..=hops).map(move |left| format!("token {token} has {left} hops left"));
        all.extend((0..tokens).flat_map(hop));
    }
    all.sort_unstable();
    all
}

#[derive(Pup)]
pub struct Stop {
    talks: bool,
    sum: u64,
    latest: u64,
    resting: Vec<(u64, u32)>,
}

#[chare(array1d)]
impl Stop {
    #[init]
    fn new(talks: bool) -> Self {
        Stop { talks, sum: 0, latest: 0, resting: Vec::new() }
    }

    #[entry]
    fn pass(&mut self, cx: &mut Cx<Self>, token: u64, left: u32, sent_at: u64) {
        let drawn = mix(token, left);
        self.sum = self.sum.wrapping_add(drawn);
        self.latest = self.latest.max(sent_at);
        if left == 0 {
            writeln!(cx.output(), "token {token} has ended");
            return Main::main_chare().ended();
        }
        if self.talks {
            writeln!(cx.output(), "token {token} has {left} hops left");
        }
        if drawn.is_multiple_of(7) {
            cx.migrate_to((cx.pe() + 1) % cx.pes());
        }
        match drawn % 5 {
            0 => {
                self.resting.push((token, left));
                cx.after(Duration::from_micros(drawn % 200), cx.callback(Self::rested));
            }
            1 => {
                self.resting.push((token, left));
                cx.when_idle(cx.callback(Self::rested));
            }
            _ => self.send_on(cx, token, left),
        }
    }

    #[entry]
    fn rested(&mut self, cx: &mut Cx<Self>) {
        let (token, left) = self.resting.pop().expect("one rests for each timer");
        self.send_on(cx, token, left);
    }

    #[entry]
    fn sum(&mut self, _cx: &mut Cx<Self>) -> u64 {
        self.sum
    }
}

impl Stop {
    fn send_on(&self, cx: &mut Cx<Self>, token: u64, left: u32) {
        let to = mix(token ^ 0x55, left) % STOPS as u64;
        let drawn: u64 = talisman::testing::world(|| u64::from(cx.pe()) << 50);
        let now = cx.now().as_nanos() as u64 ^ self.latest ^ drawn;
        cx.array().at(to as i32).pass(token, left - 1, now);
    }
}

/// How many tokens there are, and how often each hops.
#[derive(clap::Parser, Clone, Copy, Debug, Default, Pup)]
pub struct Plan {
    #[arg(long, default_value_t = 10)]
    pub tokens: u64,
    #[arg(long, default_value_t = 25)]
    pub hops: u32,
    /// A checkpoint is asked for, and waited for, when so many tokens have ended.
    #[arg(long)]
    pub save_after: Option<u64>,
    /// Each hop is told of.
    #[arg(long)]
    pub talks: bool,
    /// There is something on each PE of which the system may give no memory for a copy ([`refuse`]).
    #[arg(long)]
    pub is_large: bool,
}

thread_local! {
    /// For so many copies there is no memory.
    static REFUSED: Cell<u32> = const { Cell::new(0) };
}

/// The system gives no memory for the next copies of what is large.
#[allow(dead_code, reason = "not all that run it have too little memory")]
pub fn refuse(copies: u32) {
    REFUSED.set(copies);
}

/// How many of them are still to come.
#[allow(dead_code, reason = "as above")]
pub fn refused_to_come() -> u32 {
    REFUSED.get()
}

/// What is large. Whether there is memory for a copy is another question each time it is asked.
struct Large;

impl Pup for Large {
    const MIN_SIZE: usize = 0;

    fn pack(&self, packer: &mut Packer) {
        let left = REFUSED.get();
        if packer.purpose() == Purpose::Migration && !packer.is_sizing() && left > 0 {
            REFUSED.set(left - 1);
            packer.refuse(PupError::new(packer.size(), Fault::Memory { bytes: 1 << 40 }));
        }
    }

    fn unpack(_: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Large)
    }
}

#[derive(Pup)]
struct Warehouse {
    large: Large,
}

#[chare(group)]
impl Warehouse {
    #[init]
    fn new() -> Self {
        Warehouse { large: Large }
    }
}

#[derive(Pup)]
pub struct Main {
    stops: Array<Stop>,
    left: u64,
    /// A checkpoint is asked for when so many are left.
    save_at: Option<u64>,
    is_saving: bool,
}

#[talisman::main]
impl Main {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Plan) -> Self {
        let Plan { tokens, hops, save_after, talks, is_large } = plan;
        let stops: Array<Stop> = Stop::array(STOPS).new(talks);
        for token in 0..tokens {
            stops.at((token % STOPS as u64) as i32).pass(token, hops, 0);
        }
        cx.result("tokens", tokens);
        if is_large {
            let _warehouses: Group<Warehouse> = Warehouse::group().new();
        }
        let save_at = save_after.map(|ended| tokens.saturating_sub(ended));
        Main { stops, left: tokens, save_at, is_saving: false }
    }

    #[entry]
    fn ended(&mut self, cx: &mut Cx<Self>) {
        self.left -= 1;
        if self.save_at == Some(self.left) {
            self.is_saving = true;
            cx.checkpoint(cx.callback(Self::saved));
        }
        self.sum_if_over(cx);
    }

    #[entry]
    fn saved(&mut self, cx: &mut Cx<Self>) {
        writeln!(cx.output(), "saved");
        self.is_saving = false;
        self.sum_if_over(cx);
    }

    #[entry]
    fn done(&mut self, cx: &mut Cx<Self>, sums: Vec<u64>) {
        let sum = sums.into_iter().fold(0, u64::wrapping_add);
        writeln!(cx.output(), "sum {sum}");
        cx.result("sum", sum);
        cx.exit();
    }
}

impl Main {
    fn sum_if_over(&self, cx: &mut Cx<Self>) {
        if self.left == 0 && !self.is_saving {
            self.stops.sum().reduce(Concat).reply(cx.callback(Self::done));
        }
    }
}
