//! A token goes round a ring of chares.
//!
//! Shows: a one-dimensional array, elements that send to each other, an entry with a body, a callback into an async entry.
//!
//! ```text
//! cargo run --release --example ring -- --members 100 --laps 1000 --pes 2
//! ```
//!
//! Each member passes the token to the next and counts. Checks: after the last lap every member has seen the token once for
//! every lap. Results: `hops`, `per_hop_s`.

#[path = "common/memory.rs"]
mod memory;

use talisman::prelude::*;

/// Sends a token round a ring of chares.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Members of the ring
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..))]
    members: i32,
    /// Times the token goes round
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    laps: u64,
}

/// What a member takes (bytes).
const MEMBER: f64 = 200.0;

#[derive(Pup)]
struct Member {
    members: i32,
    seen: u64,
}

#[chare(array1d)]
impl Member {
    #[init]
    fn new(members: i32) -> Self {
        Member { members, seen: 0 }
    }

    /// Passes the token on, for as many laps as it still has; `home` learns the number of hops.
    #[entry]
    fn token(&mut self, cx: &mut Cx<Self>, laps: u64, hops: u64, home: Callback<u64>) {
        self.seen += 1;
        let next = (cx.index() + 1) % self.members;
        let left = if next == 0 { laps - 1 } else { laps };
        if left == 0 {
            home.send(hops + 1);
        } else {
            cx.array().at(next).token(left, hops + 1, home);
        }
    }

    #[entry]
    fn seen(&self) -> u64 {
        self.seen
    }
}

/// Starts the token, and waits for it to be home.
#[derive(Pup)]
struct Starter;

#[chare(single)]
impl Starter {
    #[init]
    fn new() -> Self {
        Starter
    }

    #[entry]
    fn arrived(hops: u64);

    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>, ring: Array<Member>, laps: u64) -> u64 {
        ring.at(0).token(laps, 0, cx.callback(Self::arrived));
        let hops = cx.when(Self::arrived).await;
        hops
    }
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let bytes = f64::from(options.members) * MEMBER / f64::from(cx.nodes());
    memory::check(format!("{} members", options.members), bytes, "fewer --members")
        .map_err(|error| error.to_string())?;
    let ring: Array<Member> = Member::array(options.members).new(options.members);
    let start: f64 = cx.now().as_secs_f64();
    let hops: u64 = Starter::chare().new().run(ring, options.laps).await;
    let seconds: f64 = (cx.now().as_secs_f64() - start) / hops as f64;
    let least: u64 = ring.seen().reduce(Min).await;
    let most: u64 = ring.seen().reduce(Max).await;
    writeln!(cx.output(), "{hops} hops, {:.0} ns each", seconds * 1e9);
    cx.result("hops", hops);
    cx.result("per_hop_s", seconds);
    if (least, most) == (options.laps, options.laps) {
        return Ok(());
    }
    Err(format!("members saw the token between {least} and {most} times, not {} times", options.laps))
}
