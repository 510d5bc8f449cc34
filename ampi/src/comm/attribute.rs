//! What a program attaches to communicators (MPI-3.1, 6.7).

use std::collections::BTreeMap;

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

/// A function of the program that has to be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its address.
    pub function: u64,
    /// For which key.
    pub key: u32,
    /// The value.
    pub value: u64,
    /// Given when the key was made.
    pub extra: u64,
}

/// The keys of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Keyvals {
    all: BTreeMap<u32, Keyval>,
    next: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Pup)]
struct Keyval {
    copying: Copying,
    /// The function to call when a value is deleted.
    deleting: Option<u64>,
    extra: u64,
}

/// The attributes of one communicator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Pup)]
pub struct Attributes(BTreeMap<u32, u64>);

impl Keyvals {
    /// A new key (`MPI_Comm_create_keyval`).
    pub fn insert(&mut self, copying: Copying, deleting: Option<u64>, extra: u64) -> u32 {
        let key = self.next;
        self.next += 1;
        self.all.insert(key, Keyval { copying, deleting, extra });
        key
    }

    /// Whether there is such a key.
    pub fn contains(&self, key: u32) -> bool {
        self.all.contains_key(&key)
    }

    /// Frees a key. Attributes of it stay, without a function to call for them.
    pub fn free(&mut self, key: u32) -> bool {
        self.all.remove(&key).is_some()
    }
}

impl Attributes {
    /// Attaches a value. Returns what is to be called for the one that was there.
    pub fn set(&mut self, key: u32, value: u64, keyvals: &Keyvals) -> Option<Asked> {
        let former = self.0.insert(key, value)?;
        deletion(key, former, keyvals)
    }

    /// The value of a key.
    pub fn get(&self, key: u32) -> Option<u64> {
        self.0.get(&key).copied()
    }

    /// Takes a value away. Returns whether there was one, and what is to be called for it.
    pub fn delete(&mut self, key: u32, keyvals: &Keyvals) -> (bool, Option<Asked>) {
        match self.0.remove(&key) {
            Some(value) => (true, deletion(key, value, keyvals)),
            None => (false, None),
        }
    }

    /// What a duplicate has without asking, and whom to ask for the rest: an answer is [set](Attributes::set) in the
    /// duplicate.
    pub fn copied(&self, keyvals: &Keyvals) -> (Attributes, Vec<Asked>) {
        let (mut copied, mut asked) = (Attributes::default(), Vec::new());
        for (key, value) in &self.0 {
            let Some(keyval) = keyvals.all.get(key) else { continue };
            match keyval.copying {
                Copying::Never => {}
                Copying::Always => {
                    copied.0.insert(*key, *value);
                }
                Copying::Asked { function } => {
                    asked.push(Asked { function, key: *key, value: *value, extra: keyval.extra });
                }
            }
        }
        (copied, asked)
    }

    /// What is to be called when the communicator is freed.
    pub fn deletions(&self, keyvals: &Keyvals) -> Vec<Asked> {
        self.0.iter().filter_map(|(key, value)| deletion(*key, *value, keyvals)).collect()
    }
}

fn deletion(key: u32, value: u64, keyvals: &Keyvals) -> Option<Asked> {
    let keyval = keyvals.all.get(&key)?;
    keyval.deleting.map(|function| Asked { function, key, value, extra: keyval.extra })
}
