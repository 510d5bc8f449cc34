//! The two PEs as they measure a limit.

use talisman::prelude::*;

use super::{Channel, Cold, Memory, Offer};
use crate::common::nanos;
use crate::job::Transport;

/// One on each of the two PEs. The first asks; the second is in an entry of its own meanwhile, and so is nothing else.
#[derive(Pup)]
pub struct RawPair {
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
        RawPair { channel: None, offer: None, cold: None }
    }

    /// Connects the two, once and before all else.
    #[entry]
    pub async fn connect(&mut self, cx: &mut Cx<Self>, transport: Transport) -> bool {
        let address: String = self.offer(transport);
        let _dialled: bool = cx.group().on(1).dial(address).await;
        self.accept();
        true
    }

    #[entry]
    fn dial(&mut self, address: String) -> bool {
        self.channel = Some(Channel::dial(&address).expect("the other one is waiting"));
        true
    }

    /// Nanoseconds one way of so many bytes to and fro; of a copy of cold memory where that is the limit.
    #[entry]
    pub async fn ping_pong(&mut self, cx: &mut Cx<Self>, bytes: usize, trips: u64) -> f64 {
        if self.is_copied(bytes) {
            return self.copy(bytes, 2 * trips);
        }
        cx.group().on(1).echo(bytes, trips);
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
        cx.group().on(1).swallow(bytes, blocks);
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
        cx.group().on(1).drink(bytes, messages);
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
            cx.group().on(0).again();
            cx.when(Self::again).await;
        }
        self.channel().read(&mut [0; HERE.len()]);
    }
}

impl RawPair {
    fn offer(&mut self, transport: Transport) -> String {
        let offer = Offer::new(transport).expect("the system has room for one more");
        let address = offer.address().expect("it has one");
        self.offer = Some(offer);
        address
    }

    fn accept(&mut self) {
        let offer = self.offer.take().expect("it was made before");
        self.channel = Some(offer.accept().expect("the other one has dialled"));
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
