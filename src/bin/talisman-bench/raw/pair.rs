//! Two PEs as they measure a limit.

use std::io;

use talisman::prelude::*;

use super::clock::nanos;
use super::{Channel, Cold, Memory, Offer, Way};

/// One on each PE. Of two, the first asks; the second is in an entry of its own meanwhile, and does nothing else.
#[derive(Pup)]
pub struct RawPair {
    /// The other one.
    other: u32,
    #[pup(skip)]
    channel: Option<Channel>,
    #[pup(skip)]
    offer: Option<Offer>,
    #[pup(skip)]
    cold: Option<Cold>,
}

/// What the second one says when it is there.
const HERE: [u8; 8] = [1; 8];

#[chare(group)]
impl RawPair {
    #[init]
    pub fn new() -> Self {
        RawPair { other: 0, channel: None, offer: None, cold: None }
    }

    /// Connects this one with another, before all else. Says why it cannot be, or nothing.
    #[entry]
    pub async fn connect(&mut self, cx: &mut Cx<Self>, other: u32, way: Way) -> String {
        self.other = other;
        let (address, refused): (String, String) = self.offer(way);
        if !refused.is_empty() {
            return refused;
        }
        let refused: String = cx.group().on(other).dial(address).await;
        if !refused.is_empty() {
            return refused;
        }
        self.accept()
    }

    #[entry]
    fn dial(&mut self, address: String) -> String {
        kept(Channel::dial(&address), &mut self.channel)
    }

    /// Nanoseconds one way of so many bytes to and fro; of a copy of cold memory where that is the limit.
    #[entry]
    pub async fn ping_pong(&mut self, cx: &mut Cx<Self>, bytes: usize, trips: u64) -> f64 {
        if self.is_copied(bytes) {
            return self.copy(bytes, 2 * trips);
        }
        cx.group().on(self.other).echo(bytes, trips);
        self.meet(cx).await;
        self.play(bytes, trips)
    }

    #[entry]
    fn echo(&mut self, bytes: usize, trips: u64) {
        let channel = self.channel();
        channel.write(&HERE);
        let mut room = vec![1; bytes];
        for _ in 0..trips {
            channel.read(&mut room);
            channel.write(&room);
        }
    }

    /// Nanoseconds per block of so many bytes, one way; or of a copy.
    #[entry]
    pub async fn stream(&mut self, cx: &mut Cx<Self>, bytes: usize, blocks: u64) -> f64 {
        if self.is_copied(bytes) {
            return self.copy(bytes, blocks);
        }
        cx.group().on(self.other).swallow(bytes, blocks);
        self.meet(cx).await;
        self.send_blocks(bytes, blocks)
    }

    #[entry]
    fn swallow(&mut self, bytes: usize, blocks: u64) {
        let channel = self.channel();
        channel.write(&HERE);
        let mut room = vec![1; bytes];
        (0..blocks).for_each(|_| channel.read(&mut room));
        channel.write(&HERE);
    }

    /// Nanoseconds per message of so many bytes, one way, many written together.
    #[entry]
    pub async fn rate(&mut self, cx: &mut Cx<Self>, bytes: usize, messages: u64) -> f64 {
        cx.group().on(self.other).drink(bytes, messages);
        self.meet(cx).await;
        self.pour(bytes, messages)
    }

    #[entry]
    fn drink(&mut self, bytes: usize, messages: u64) {
        let channel = self.channel();
        channel.write(&HERE);
        channel.drink(messages, bytes);
        channel.write(&HERE);
    }

    #[entry]
    fn again();

    /// Waits until the other one is in its entry. In between the runtime has its turn, or it could never tell the other one.
    async fn meet(&mut self, cx: &mut Cx<Self>) {
        while !self.channel().has_come() {
            cx.group().on(cx.pe()).again();
            cx.when(Self::again).await;
        }
        self.channel().read(&mut [0; HERE.len()]);
    }
}

impl RawPair {
    /// Where the other one finds this one; or why it cannot.
    fn offer(&mut self, way: Way) -> (String, String) {
        let refused = kept(Offer::new(way), &mut self.offer);
        (self.offer.as_ref().map_or_else(String::new, Offer::address), refused)
    }

    fn accept(&mut self) -> String {
        let offer = self.offer.take().expect("it was made before");
        kept(offer.accept(), &mut self.channel)
    }

    fn is_copied(&mut self, bytes: usize) -> bool {
        matches!(self.channel(), Channel::Memory(_)) && bytes > Memory::AREA
    }

    fn copy(&mut self, bytes: usize, times: u64) -> f64 {
        self.cold.get_or_insert_with(Cold::new).copy(bytes, times)
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel.as_mut().expect("`connect` comes first")
    }

    fn play(&mut self, bytes: usize, trips: u64) -> f64 {
        let channel = self.channel();
        let mut ball = vec![1; bytes];
        let start = nanos();
        for _ in 0..trips {
            channel.write(&ball);
            channel.read(&mut ball);
        }
        (nanos() - start) as f64 / (2 * trips) as f64
    }

    fn send_blocks(&mut self, bytes: usize, blocks: u64) -> f64 {
        let channel = self.channel();
        // As many as the program sends, so that neither has its data in a cache.
        let all: Vec<Vec<u8>> = (0..blocks).map(|_| vec![1; bytes]).collect();
        let start = nanos();
        all.iter().for_each(|block| channel.write(block));
        channel.read(&mut [0; HERE.len()]);
        (nanos() - start) as f64 / blocks as f64
    }

    fn pour(&mut self, bytes: usize, messages: u64) -> f64 {
        let channel = self.channel();
        let start = nanos();
        channel.pour(messages, bytes);
        channel.read(&mut [0; HERE.len()]);
        (nanos() - start) as f64 / messages as f64
    }
}

/// Keeps what was made, or says why it was not.
fn kept<T>(made: io::Result<T>, place: &mut Option<T>) -> String {
    match made {
        Ok(made) => {
            *place = Some(made);
            String::new()
        }
        Err(error) => {
            *place = None;
            error.to_string()
        }
    }
}
