//! Handles that are addresses: where they point to.

use std::collections::BTreeMap;

use talisman_pup::Pup;

/// Kinds of objects that programs have handles of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pup)]
pub enum Kind {
    /// A communicator.
    Comm,
    /// A group.
    Group,
    /// A datatype.
    Datatype,
    /// A request.
    Request,
    /// An operation.
    Op,
    /// Hints.
    Info,
    /// An error handler.
    Errhandler,
    /// A message that a matched probe has taken out.
    Message,
    /// A window of one-sided communication.
    Win,
    /// A file.
    File,
    /// A session.
    Session,
}

/// The addresses of the words that stand for objects, in the program's memory.
#[derive(Debug, Default, PartialEq, Eq, Pup)]
pub struct Words(BTreeMap<(Kind, u32), u64>);

impl Words {
    /// The word of this object.
    pub fn get(&self, kind: Kind, number: u32) -> Option<u64> {
        self.0.get(&(kind, number)).copied()
    }

    /// An object has this word.
    pub fn set(&mut self, kind: Kind, number: u32, address: u64) {
        self.0.insert((kind, number), address);
    }

    /// An object is gone. Returns the word that it had.
    pub fn remove(&mut self, kind: Kind, number: u32) -> Option<u64> {
        self.0.remove(&(kind, number))
    }
}

/// Where the data of an interface are for this program, if not in the interface's own memory: an executable has
/// copies, at addresses that are its rank's own. By the number of the symbol in the interface's list.
#[derive(Debug, Default, PartialEq, Eq, Pup)]
pub struct Places(BTreeMap<u32, u64>);

impl Places {
    /// Where the data of this symbol are, if elsewhere.
    pub fn get(&self, symbol: u32) -> Option<u64> {
        self.0.get(&symbol).copied()
    }

    /// The data of this symbol are here.
    pub fn set(&mut self, symbol: u32, address: u64) {
        self.0.insert(symbol, address);
    }
}
