//! What a program attaches to communicators (MPI-3.1, 6.7).

use std::collections::{BTreeMap, BTreeSet};

use talisman_pup::Pup;

/// What happens to an attribute when its communicator is duplicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub enum Copying {
    /// It is not copied (`MPI_COMM_NULL_COPY_FN`).
    Never,
    /// It is (`MPI_COMM_DUP_FN`).
    Always,
    /// A function of the program decides, and may change it.
    Asked {
        /// The function's address.
        function: u64,
    },
}

/// What is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pup)]
pub struct Value {
    /// An address, or an integer.
    pub word: u64,
    /// Whether it is an integer of Fortran: C gets the address of that, and Fortran of an address the integer (MPI-4.1,
    /// 19.3.7).
    pub is_integer: bool,
    /// Where the integer lies for C, once that has asked for it; else 0.
    pub place: u64,
}

impl Value {
    /// As C gives it.
    pub fn address(word: u64) -> Value {
        Value { word, is_integer: false, place: 0 }
    }

    /// As Fortran gives it.
    pub fn integer(word: u64) -> Value {
        Value { word, is_integer: true, place: 0 }
    }
}

/// A function of the program that has to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its address.
    pub function: u64,
    /// For which key.
    pub key: u32,
    /// The value.
    pub value: Value,
    /// Given when the key was made.
    pub extra: u64,
}

/// The keys of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Keyvals {
    all: BTreeMap<u32, Keyval>,
    next: u32,
    /// How many of them the program has freed.
    freed: usize,
    /// From so many on it is looked which of these nothing has any more; a few if it is less.
    look_at: usize,
}

/// So many freed keys are no reason to look.
const FEW: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Pup)]
struct Keyval {
    copying: Copying,
    /// The function to call when a value is deleted.
    deleting: Option<u64>,
    extra: u64,
    is_freed: bool,
}

/// The attributes of one communicator, datatype or window, in the order in which they were set first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Attributes(Vec<(u32, Value)>);

impl Keyvals {
    /// A new key (`MPI_Comm_create_keyval`).
    pub fn insert(&mut self, copying: Copying, deleting: Option<u64>, extra: u64) -> u32 {
        let key = self.next;
        self.next += 1;
        self.all.insert(key, Keyval { copying, deleting, extra, is_freed: false });
        key
    }

    /// Whether there is such a key that the program has not freed.
    pub fn contains(&self, key: u32) -> bool {
        self.all.get(&key).is_some_and(|keyval| !keyval.is_freed)
    }

    /// Frees a key. Its functions are called for the attributes of it that there are (MPI-3.1, 6.7.2).
    pub fn free(&mut self, key: u32) -> bool {
        let Some(keyval) = self.all.get_mut(&key) else { return false };
        if !std::mem::replace(&mut keyval.is_freed, true) {
            self.freed += 1;
        }
        true
    }

    /// Whether so many are freed that it is to be looked which of them are [used](Keyvals::keep_used).
    pub fn has_many_freed(&self) -> bool {
        self.freed >= self.look_at.max(FEW)
    }

    /// Freed keys are forgotten but these, of which there are attributes.
    pub fn keep_used(&mut self, used: &BTreeSet<u32>) {
        self.all.retain(|key, keyval| !keyval.is_freed || used.contains(key));
        self.freed = self.all.values().filter(|keyval| keyval.is_freed).count();
        self.look_at = 2 * self.freed;
    }
}

impl Attributes {
    /// What is to be called before the value of a key is replaced or taken away: if that fails, it stays (MPI-3.1, 6.7.2).
    pub fn deletion(&self, key: u32, keyvals: &Keyvals) -> Option<Asked> {
        deletion(key, self.get(key)?, keyvals)
    }

    /// Attaches a value.
    pub fn set(&mut self, key: u32, value: Value) {
        match self.0.iter_mut().find(|(of, _)| *of == key) {
            Some((_, there)) => *there = value,
            None => self.0.push((key, value)),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: u32) -> Option<Value> {
        self.0.iter().find(|(of, _)| *of == key).map(|(_, value)| *value)
    }

    /// The keys that there are values of.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(key, _)| *key)
    }

    /// Takes a value away. Whether there was one.
    pub fn delete(&mut self, key: u32) -> bool {
        let at = self.0.iter().position(|(of, _)| *of == key);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// What a duplicate has without asking, and whom to ask for the rest: an answer is [set](Attributes::set) in the
    /// duplicate.
    pub fn copied(&self, keyvals: &Keyvals) -> (Attributes, Vec<Asked>) {
        let (mut copied, mut asked) = (Attributes::default(), Vec::new());
        for (key, value) in &self.0 {
            let Some(keyval) = keyvals.all.get(key) else { continue };
            match keyval.copying {
                Copying::Never => {}
                // The integer lies in a place of its own there.
                Copying::Always => copied.0.push((*key, Value { place: 0, ..*value })),
                Copying::Asked { function } => {
                    asked.push(Asked { function, key: *key, value: *value, extra: keyval.extra });
                }
            }
        }
        (copied, asked)
    }

    /// What is to be called when the communicator is freed: what was set last comes first (MPI-3.1, 8.7.1).
    pub fn deletions(&self, keyvals: &Keyvals) -> Vec<Asked> {
        self.0.iter().rev().filter_map(|(key, value)| deletion(*key, *value, keyvals)).collect()
    }
}

fn deletion(key: u32, value: Value, keyvals: &Keyvals) -> Option<Asked> {
    let keyval = keyvals.all.get(&key)?;
    keyval.deleting.map(|function| Asked { function, key, value, extra: keyval.extra })
}
