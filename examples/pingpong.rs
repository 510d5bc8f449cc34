//! Two chares throw a message to and fro: how long does one take?
//!
//! Shows: singleton chares on chosen PEs, an async entry with a loop, time.
//!
//! ```text
//! cargo run --release --example pingpong -- --bytes 8 --rounds 100000 --pes 2
//! cargo run --release --example pingpong -- --bytes 1048576 --rounds 200 --nodes 2
//! ```
//!
//! The two stand on the first and on the last PE; with one PE both are on it. Each adds one to the first and to the last byte.
//! Checks: in the end both have been counted up as often as the message went one way. Result: `one_way_s`.

#[path = "common/memory.rs"]
mod memory;

use talisman::prelude::*;

/// Measures how long a message takes from chare to chare.
#[derive(clap::Parser, Pup)]
struct Options {
    /// Size of the message
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    bytes: u32,
    /// Round trips that are measured
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Round trips before that
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 10)]
    warm_up: u32,
}

#[derive(Pup)]
struct Player;

#[chare(single)]
impl Player {
    #[init]
    fn new() -> Self {
        Player
    }

    #[entry]
    fn ball(bytes: Vec<u8>);

    /// Begins every round, with the other one; gives the bytes as they come back in the end.
    #[entry]
    async fn serve(
        &mut self,
        cx: &mut Cx<Self>,
        other: Proxy<Player>,
        bytes: Vec<u8>,
        rounds: u32,
    ) -> Vec<u8> {
        let mut bytes: Vec<u8> = bytes;
        for _ in 0..rounds {
            other.ball(count_up(std::mem::take(&mut bytes)));
            let back = cx.when(Self::ball).await;
            bytes = back;
        }
        bytes
    }

    /// Answers every round.
    #[entry]
    async fn answer(&mut self, cx: &mut Cx<Self>, other: Proxy<Player>, rounds: u64) {
        for _ in 0..rounds {
            let bytes = cx.when(Self::ball).await;
            other.ball(count_up(bytes));
        }
    }
}

/// The first and the last byte show that it is the same message; touching all would measure memory.
fn count_up(mut bytes: Vec<u8>) -> Vec<u8> {
    let last = bytes.len() - 1;
    bytes[0] = bytes[0].wrapping_add(1);
    bytes[last] = bytes[last].wrapping_add(1);
    bytes
}

#[talisman::main]
async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
    let near: Proxy<Player> = Player::chare().on(0).new();
    let far: Proxy<Player> = Player::chare().on(cx.pes() - 1).new();
    // As it is, and as it is packed for its way.
    let bytes = 2.0 * f64::from(options.bytes);
    memory::check(format!("a message of {} bytes", options.bytes), bytes, "fewer --bytes")
        .map_err(|error| error.to_string())?;
    far.answer(near, u64::from(options.warm_up) + u64::from(options.rounds));
    let fresh: Vec<u8> = vec![0; options.bytes as usize];
    let warm: Vec<u8> = near.serve(far, fresh, options.warm_up).await;
    let start: f64 = cx.now().as_secs_f64();
    let last: Vec<u8> = near.serve(far, warm, options.rounds).await;
    let seconds: f64 = (cx.now().as_secs_f64() - start) / (2.0 * f64::from(options.rounds));
    writeln!(cx.output(), "{} bytes: {:.3} µs one way", options.bytes, seconds * 1e6);
    cx.result("rounds", options.rounds);
    cx.result("one_way_s", seconds);

    let times = 2 * (u64::from(options.warm_up) + u64::from(options.rounds));
    let expected = if options.bytes == 1 { 2 * times } else { times } as u8;
    match (last.len() == options.bytes as usize, last.first(), last.last()) {
        (true, Some(first), Some(last)) if (*first, *last) == (expected, expected) => Ok(()),
        found => {
            Err(format!("the message did not come back as it should: {found:?}, and {expected} was expected"))
        }
    }
}
