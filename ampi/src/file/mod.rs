//! Files of MPI (MPI-3.1, chapter 13) as plain data: who has opened one, what a rank sees of it, and where its pointer
//! is. It moves with the rank. Who has the descriptor reads and writes.

mod view;

use talisman_pup::Pup;

use crate::objects::Info;

pub use view::{Unfit, View};

/// A file that a rank has open.
#[derive(Clone, Debug, PartialEq, Pup)]
pub struct File {
    /// The descriptor, which the rank has wherever it is.
    pub descriptor: i32,
    /// Its name.
    pub path: Vec<u8>,
    /// What the program may do with it.
    pub access: Access,
    /// The same in the number that the program has given.
    pub mode: i32,
    /// Those who have opened it together: a communicator of the file's own, by its handle.
    pub communicator: u32,
    /// There are others among them.
    pub is_shared: bool,
    /// It may change while it is open: who does again what it did is given what it was given then.
    pub gives_again: bool,
    /// What of it the rank sees.
    pub view: View,
    /// Where its pointers have begun: its end, if it was opened to append.
    pub begin: u64,
    /// The rank's own pointer, in elementary values of the view.
    pub position: u64,
    /// The file that has the pointer of all, once this rank has used that.
    pub shared: Option<i32>,
    /// How many bytes a collective in two parts has read or written, of which the second is not called yet.
    pub split: Option<u64>,
    /// Whether the program wants each write to be seen at once. It is, always.
    pub is_atomic: bool,
    /// The number of the error handler.
    pub handler: u32,
    /// What the program has said of it.
    pub hints: Info,
}

/// What may be done with a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pup)]
pub struct Access {
    /// It may be read.
    pub reads: bool,
    /// It may be written.
    pub writes: bool,
    /// It is made if it is not there.
    pub creates: bool,
    /// It must not be there before.
    pub is_new: bool,
    /// It is deleted when it is closed.
    pub deletes: bool,
    /// Pointers begin at its end.
    pub appends: bool,
    /// It is read and written from its beginning to its end only.
    pub is_sequential: bool,
}

impl Access {
    /// Whether these can be together: it is read, written or both; what is only read is not made; what is read and
    /// written is not sequential (MPI-3.1, 13.2.1).
    pub fn is_possible(self) -> bool {
        let is_made = self.creates || self.is_new;
        (self.writes || self.reads && !is_made) && !(self.reads && self.writes && self.is_sequential)
    }
}
