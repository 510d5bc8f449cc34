//! Numbered messages between all PEs, at random, each answered: none is lost, none comes twice, none is changed.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use talisman::prelude::*;

/// Messages of a PE that are not answered yet.
const WINDOW: u64 = 24;
/// The longest message.
const LONGEST: usize = 600 << 10;
/// How often a PE looks whether it is to stop, in replies.
const LOOK_EVERY: u64 = 16;

/// Replies of a beat.
const BEAT: u64 = 100;

/// How long it goes on, and what happens on the way.
#[derive(clap::Args, Clone, Debug, Pup)]
pub struct Plan {
    /// Messages that each PE sends; otherwise until `--stop` is there
    #[arg(long)]
    messages: Option<u64>,
    /// A file whose appearance ends it
    #[arg(long)]
    stop: Option<PathBuf>,
    /// Replies after which the last PE prints `under way`
    #[arg(long, default_value_t = 40)]
    under_way: u64,
    /// A file, to be named with the number of a PE behind it, to which that PE adds a byte every hundred replies
    #[arg(long)]
    beats: Option<PathBuf>,
    /// Replies after which the last PE ends the program with status 7
    #[arg(long)]
    exit_after: Option<u64>,
    /// Replies after which the first PE of node 2 panics
    #[arg(long)]
    panic_after: Option<u64>,
    /// Replies to PE 0 that are a step
    #[arg(long)]
    step_every: Option<u64>,
}

pub fn start(plan: Shared<Plan>) -> Group<Talker> {
    Talker::group().new(plan)
}

/// One on every PE.
#[derive(Pup)]
pub struct Talker {
    plan: Shared<Plan>,
    /// Messages to each PE.
    sent: Vec<u64>,
    /// Those of each PE that came, and the replies of each.
    messages: Vec<Numbers>,
    replies: Vec<Numbers>,
    sent_in_all: u64,
    answered: u64,
    stopping: bool,
}

#[chare(group)]
impl Talker {
    #[init]
    fn new(cx: &mut Cx<Self>, plan: Shared<Plan>) -> Self {
        let pes = cx.pes() as usize;
        Talker {
            plan,
            sent: vec![0; pes],
            messages: vec![Numbers::default(); pes],
            replies: vec![Numbers::default(); pes],
            sent_in_all: 0,
            answered: 0,
            stopping: false,
        }
    }

    #[entry]
    fn finished();

    /// Sends until it is to stop and all is answered; gives how many those were.
    #[entry]
    pub async fn run(&mut self, cx: &mut Cx<Self>) -> u64 {
        for _ in 0..WINDOW {
            self.send_one(cx);
        }
        cx.when(Self::finished).await;
        self.sent_in_all
    }

    /// How many came to this PE.
    #[entry]
    pub fn received(&mut self) -> u64 {
        self.messages.iter().map(Numbers::count).sum()
    }

    #[entry]
    fn message(&mut self, cx: &mut Cx<Self>, from: u32, number: u64, body: Vec<u8>) {
        assert!(body == text(from, cx.pe(), number), "message {number} of PE {from} came changed");
        self.messages[from as usize].take(number, "message", from);
        cx.group().on(from).reply(cx.pe(), number, text(cx.pe(), from, number).to_vec());
    }

    #[entry]
    fn reply(&mut self, cx: &mut Cx<Self>, from: u32, number: u64, body: Vec<u8>) {
        assert!(body == text(from, cx.pe(), number), "reply {number} of PE {from} came changed");
        self.replies[from as usize].take(number, "reply", from);
        self.answered += 1;
        self.play(cx);
        self.send_one(cx);
        if self.answered == self.sent_in_all {
            cx.group().here().finished();
        }
    }
}

impl Talker {
    fn send_one(&mut self, cx: &mut Cx<Self>) {
        if self.is_enough() {
            return;
        }
        let pes = u64::from(cx.pes());
        let to = cx.rng().below(pes) as u32;
        let number = self.sent[to as usize];
        cx.group().on(to).message(cx.pe(), number, text(cx.pe(), to, number).to_vec());
        self.sent[to as usize] += 1;
        self.sent_in_all += 1;
    }

    fn is_enough(&mut self) -> bool {
        let Plan { messages, stop, .. } = &*self.plan;
        if self.answered.is_multiple_of(LOOK_EVERY) {
            self.stopping |= stop.as_ref().is_some_and(|file| file.exists());
        }
        self.stopping || messages.is_some_and(|messages| self.sent_in_all >= messages)
    }

    /// What is to happen on the way.
    fn play(&mut self, cx: &mut Cx<Self>) {
        let (now, plan) = (Some(self.answered), self.plan.clone());
        let last = cx.pe() + 1 == cx.pes();
        if last && now == Some(plan.under_way) {
            writeln!(cx.output(), "under way");
        }
        if let Some(beats) = plan.beats.as_ref().filter(|_| self.answered.is_multiple_of(BEAT)) {
            beat(&beats_of(beats, cx.pe()));
        }
        if last && now == plan.exit_after {
            cx.exit_with(7);
        }
        let first_of_2 = cx.node() == 2 && cx.pe().is_multiple_of(cx.pes() / cx.nodes());
        assert!(!first_of_2 || now != plan.panic_after, "this one was asked to panic");
        if let Some(every) =
            plan.step_every.filter(|every| cx.pe() == 0 && self.answered.is_multiple_of(*every))
        {
            cx.step(self.answered / every);
        }
    }
}

/// The file of the beats of a PE.
pub fn beats_of(beats: &Path, pe: u32) -> PathBuf {
    beats.with_extension(pe.to_string())
}

/// Can be seen from outside at once, which a printed line cannot.
fn beat(file: &Path) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    file.and_then(|mut file| file.write_all(b".")).expect("the file of beats can be written");
}

/// Which numbers of one sender have come.
#[derive(Clone, Debug, Default, Pup)]
struct Numbers {
    /// All below this one.
    below: u64,
    /// Others, which came before those between.
    beyond: BTreeSet<u64>,
}

impl Numbers {
    fn take(&mut self, number: u64, what: &str, from: u32) {
        let is_new = number >= self.below && self.beyond.insert(number);
        assert!(is_new, "{what} {number} of PE {from} came twice");
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
    }

    fn count(&self) -> u64 {
        self.below + self.beyond.len() as u64
    }
}

/// What a message says: mostly little, sometimes much, and never the same as the one before it.
fn text(from: u32, to: u32, number: u64) -> &'static [u8] {
    static NOISE: OnceLock<Vec<u8>> = OnceLock::new();
    let noise =
        NOISE.get_or_init(|| (0..(LONGEST as u64 + 4096) / 8).flat_map(|i| mix(i).to_le_bytes()).collect());
    let random = mix((u64::from(from) << 48) ^ (u64::from(to) << 32) ^ number);
    let longest = match random % 64 {
        0 => LONGEST,
        1..4 => 48 << 10,
        4..12 => 4 << 10,
        _ => 64,
    };
    let (start, length) = ((random >> 8) as usize % 4096, (random >> 20) as usize % longest);
    &noise[start..start + length]
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
