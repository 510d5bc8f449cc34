//! The limits of a message between two PEs: bytes handed over with nothing but what the system gives, both sides polling, measured
//! inside entries of the two PEs that also play ours. So both sides of a ratio run in the same processes, on the same cores, one right
//! after the other.

#![allow(dead_code, reason = "benchmarks use more of it than the program, and the other way round")]

pub mod addresses;
pub mod clock;
mod cold;
pub mod meeting;
mod memory;
mod pair;
mod polling;
mod tcp;

use std::io;

use talisman::prelude::*;

pub use cold::Cold;
use memory::Memory;
pub use pair::RawPair;
use tcp::Tcp;

/// What bytes are handed over by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Way {
    /// A TCP connection.
    Tcp,
    /// Memory of both, on one host.
    Memory,
}

/// A raw way between the two.
pub enum Channel {
    /// A TCP connection.
    Tcp(Tcp),
    /// Memory of both.
    Memory(Memory),
}

/// One end of a channel to be, and where the other finds it.
pub enum Offer {
    /// A port.
    Tcp(meeting::Door),
    /// A file of memory, mapped already.
    Memory(Memory, std::os::fd::OwnedFd),
}

impl Offer {
    /// Something to meet at.
    pub fn new(way: Way) -> io::Result<Offer> {
        Ok(match way {
            Way::Tcp => Offer::Tcp(meeting::Door::open()?),
            Way::Memory => {
                let (memory, file) = Memory::create()?;
                Offer::Memory(memory, file)
            }
        })
    }

    /// What the other one needs to know.
    pub fn address(&self) -> String {
        use std::os::fd::AsRawFd;
        match self {
            Offer::Tcp(door) => door.address(),
            Offer::Memory(_, file) => format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()),
        }
    }

    /// After the other one has answered.
    pub fn accept(self) -> io::Result<Channel> {
        Ok(match self {
            Offer::Tcp(door) => Channel::Tcp(Tcp::over(door.accept()?)?),
            Offer::Memory(memory, _) => Channel::Memory(memory),
        })
    }
}

impl Channel {
    /// Answers an offer.
    pub fn dial(address: &str) -> io::Result<Channel> {
        Ok(match address.starts_with('/') {
            true => Channel::Memory(Memory::open(address)?),
            false => Channel::Tcp(Tcp::over(meeting::dial(address)?)?),
        })
    }

    /// Whether the other one has sent something. Only for waiting until it is there.
    pub fn has_come(&self) -> bool {
        match self {
            Channel::Tcp(tcp) => tcp.has_come(),
            Channel::Memory(memory) => memory.has_come(),
        }
    }

    /// Hands over so many bytes, polling.
    pub fn write(&mut self, bytes: &[u8]) {
        match self {
            Channel::Tcp(tcp) => tcp.write(bytes),
            Channel::Memory(memory) => memory.write(bytes),
        }
    }

    /// Takes over as many bytes as there is room, polling.
    pub fn read(&mut self, room: &mut [u8]) {
        match self {
            Channel::Tcp(tcp) => tcp.read(room),
            Channel::Memory(memory) => memory.read(room),
        }
    }

    /// Sends so many small messages, as many at a time as the runtime writes together.
    pub fn pour(&mut self, messages: u64, bytes: usize) {
        match self {
            Channel::Tcp(tcp) => tcp.pour(messages, bytes),
            Channel::Memory(memory) => memory.pour(messages, bytes),
        }
    }

    /// Takes as many.
    pub fn drink(&mut self, messages: u64, bytes: usize) {
        match self {
            Channel::Tcp(tcp) => tcp.drink(messages, bytes),
            Channel::Memory(memory) => memory.drink(messages, bytes),
        }
    }
}
