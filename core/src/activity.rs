//! What the objects of a process do, in memory that other processes of its user can read while it runs: `talisman
//! ranks`.
//!
//! The memory is a file without a name ([`NAME`]), which is found among the descriptors of the process. It is words: a
//! head, and a row for each object that may be there. Whoever writes does so from one thread, and never waits; whoever
//! reads takes what it finds, also from a process that computes, hangs, or has lost its launcher.

use std::mem::size_of;

/// How the memory is called, in `/proc/PID/fd`.
pub const NAME: &str = "talisman-activity";

/// The first word: of this arrangement.
pub const MAGIC: u64 = u64::from_le_bytes(*b"tal-act1");

/// Words of the head: [`MAGIC`], and these.
pub const HEAD: usize = 16;
/// The node that the process is.
pub const NODE: usize = 1;
/// The object that runs, counted from 1; 0 while none does.
pub const RUNNING: usize = 2;
/// The address at which the memory of the first object begins, and how many bytes of addresses each has.
pub const MEMORY: usize = 3;
/// Bytes of addresses of each object.
pub const MEMORY_EACH: usize = 4;

/// Words of a row.
pub const ROW: usize = 16;
/// Odd while the row is written.
pub const VERSION: usize = 0;
/// A [`State`]; 0 where no object is.
pub const STATE: usize = 1;
/// An [`Awaited`].
pub const AWAITED: usize = 2;
/// Who it comes from, counted from 1; 0 if from anybody.
pub const PEER: usize = 3;
/// 1 and a tag, counted from the smallest one; 0 if any.
pub const TAG: usize = 4;
/// How many else it waits for.
pub const OTHERS: usize = 5;
/// Messages that it has sent from here, and got here.
pub const SENT: usize = 6;
/// Messages that it has got here.
pub const RECEIVED: usize = 7;
/// A text up to the first zero: the call that it is in.
pub const CALL: usize = 8;
/// Words of that text.
pub const CALL_WORDS: usize = ROW - CALL;

/// What an object does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum State {
    /// It runs.
    Runs = 1,
    /// It would go on if it was run.
    Ready = 2,
    /// It waits.
    Waits = 3,
    /// Its program has ended.
    Ended = 4,
}

/// What an object waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Awaited {
    /// Nothing that is told.
    Nothing = 0,
    /// A message.
    Message = 1,
    /// That a message is received.
    Receiver = 2,
    /// The bytes of a message that it has.
    Bytes = 3,
    /// The other members of a group.
    Members = 4,
}

/// What is read of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The node that it is.
    pub node: u32,
    /// The first address of objects' memory, and the bytes of each.
    pub memory: (u64, u64),
    /// Its objects, by their numbers.
    pub rows: Vec<Row>,
}

/// What is read of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub object: u32,
    /// What it does.
    pub state: State,
    /// The call that it is in; empty if it is in none.
    pub call: String,
    /// What it waits for.
    pub awaited: Awaited,
    /// From whom, or from anybody.
    pub peer: Option<u32>,
    /// With which tag, or with any.
    pub tag: Option<i32>,
    /// How many else it waits for.
    pub others: u64,
    /// Messages that it has sent from this process.
    pub sent: u64,
    /// Messages that it has got in this process.
    pub received: u64,
}

/// A tag as a word.
pub fn tag_word(tag: Option<i32>) -> u64 {
    tag.map_or(0, |tag| (i64::from(tag) - i64::from(i32::MIN) + 1) as u64)
}

fn tag_of(word: u64) -> Option<i32> {
    let tag = i64::try_from(word.checked_sub(1)?).ok()? + i64::from(i32::MIN);
    i32::try_from(tag).ok()
}

/// The first bytes of a text as words.
pub fn call_words(call: &str) -> [u64; CALL_WORDS] {
    let mut bytes = [0; CALL_WORDS * size_of::<u64>()];
    let length = call.len().min(bytes.len());
    bytes[..length].copy_from_slice(&call.as_bytes()[..length]);
    let mut words = [0; CALL_WORDS];
    words.iter_mut().zip(words_in(&bytes)).for_each(|(word, value)| *word = value);
    words
}

fn call_of(words: &[u64]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0);
    // It goes to a terminal.
    bytes.map(|byte| if byte.is_ascii_graphic() { char::from(byte) } else { '?' }).collect()
}

fn words_in(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// Which object runs in a process, by the bytes that its memory begins with; none also if they are others'.
pub fn running(bytes: &[u8]) -> Option<u32> {
    let head: Vec<u64> = words_in(bytes).take(HEAD).collect();
    (head.first() == Some(&MAGIC)).then_some(())?;
    u32::try_from(head.get(RUNNING)?.checked_sub(1)?).ok()
}

/// Reads the memory of a process, as it was read two times, one after the other: a row that was written in between is
/// given as the second has it, which may be half of it. None if it is not this, or cut.
pub fn table(first: &[u8], second: &[u8]) -> Option<Table> {
    let words: Vec<u64> = words_in(second).collect();
    let head = words.get(..HEAD).filter(|head| head[0] == MAGIC)?;
    let runs = running(second);
    let before = |at: usize| words_in(&first[(at * size_of::<u64>()).min(first.len())..]).take(ROW);
    let row = |object: usize| {
        let at = HEAD + object * ROW;
        let now = &words[at..at + ROW];
        let before: Vec<u64> = before(at).collect();
        let is_whole =
            before.len() == ROW && before[VERSION] == now[VERSION] && before[VERSION].is_multiple_of(2);
        let object = u32::try_from(object).ok()?;
        read_row(object, if is_whole { &before } else { now }, runs == Some(object))
    };
    let rows = (0..(words.len() - HEAD) / ROW).filter_map(row).collect();
    Some(Table { node: u32::try_from(head[NODE]).ok()?, memory: (head[MEMORY], head[MEMORY_EACH]), rows })
}

/// None where no object is.
fn read_row(object: u32, row: &[u64], runs: bool) -> Option<Row> {
    let state = [State::Ready, State::Waits, State::Ended].into_iter();
    let state = state.chain([State::Runs]).find(|state| *state as u64 == row[STATE])?;
    let other = Row {
        object,
        state: State::Runs,
        call: String::new(),
        awaited: Awaited::Nothing,
        peer: None,
        tag: None,
        others: 0,
        sent: row[SENT],
        received: row[RECEIVED],
    };
    if runs {
        return Some(other);
    }
    if state != State::Waits {
        return Some(Row { state, ..other });
    }
    let kinds = [Awaited::Message, Awaited::Receiver, Awaited::Bytes, Awaited::Members];
    let awaited = kinds.into_iter().find(|kind| *kind as u64 == row[AWAITED]).unwrap_or(Awaited::Nothing);
    let peer = row[PEER].checked_sub(1).and_then(|peer| u32::try_from(peer).ok());
    let (tag, others, call) = (tag_of(row[TAG]), row[OTHERS], call_of(&row[CALL..]));
    Some(Row { state, call, awaited, peer, tag, others, ..other })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(running: u64) -> Vec<u64> {
        let mut head = vec![0; HEAD];
        (head[0], head[NODE], head[RUNNING]) = (MAGIC, 3, running);
        (head[MEMORY], head[MEMORY_EACH]) = (1 << 45, 1 << 30);
        head
    }

    fn waiting(version: u64, tag: i32) -> Vec<u64> {
        let mut row = vec![0; ROW];
        (row[VERSION], row[STATE], row[AWAITED]) = (version, State::Waits as u64, Awaited::Message as u64);
        (row[PEER], row[TAG], row[OTHERS], row[SENT], row[RECEIVED]) = (3, tag_word(Some(tag)), 1, 10, 20);
        row[CALL..].copy_from_slice(&call_words("MPI_Recv"));
        row
    }

    fn bytes(words: &[Vec<u64>]) -> Vec<u8> {
        words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let memory = bytes(&[head(0), vec![0; ROW], waiting(2, i32::MIN), waiting(2, i32::MAX)]);
        let table = table(&memory, &memory).expect("a table");
        assert_eq!((table.node, table.memory, table.rows.len()), (3, (1 << 45, 1 << 30), 2));
        let row = &table.rows[0];
        assert_eq!((row.object, row.state, &*row.call), (1, State::Waits, "MPI_Recv"));
        assert_eq!((row.awaited, row.peer, row.others), (Awaited::Message, Some(2), 1));
        assert_eq!((row.tag, table.rows[1].tag), (Some(i32::MIN), Some(i32::MAX)));
        assert_eq!((row.sent, row.received), (10, 20));
    }

    #[test]
    fn one_that_runs_is_in_no_call() {
        let memory = bytes(&[head(1), waiting(2, 7), waiting(2, 7)]);
        assert_eq!(running(&memory), Some(0));
        let rows = table(&memory, &memory).expect("a table").rows;
        assert_eq!((rows[0].state, &*rows[0].call, rows[0].tag), (State::Runs, "", None));
        assert_eq!(rows[1].state, State::Waits);
    }

    #[test]
    fn a_row_that_is_being_written_is_taken_from_the_other_reading() {
        let (first, second) = (bytes(&[head(0), waiting(4, 1)]), bytes(&[head(0), waiting(4, 2)]));
        assert_eq!(table(&first, &second).expect("a table").rows[0].tag, Some(1), "it was whole");
        let first = bytes(&[head(0), waiting(3, 1)]);
        assert_eq!(table(&first, &second).expect("a table").rows[0].tag, Some(2), "it was not");
    }

    #[test]
    fn other_bytes_are_no_table() {
        let memory = bytes(&[head(0), waiting(2, 1)]);
        assert_eq!(table(&memory, &[]), None);
        assert_eq!(table(&memory, &memory[1..]), None);
        for length in 0..memory.len() {
            let cut = table(&memory[..length], &memory[..length]);
            assert!(cut.is_none_or(|table| table.rows.is_empty()), "{length}");
        }
        let mut row = waiting(2, 1);
        (row[STATE], row[CALL]) = (99, u64::MAX);
        let memory = bytes(&[head(0), row.clone()]);
        assert_eq!(table(&memory, &memory).expect("a table").rows, []);
        row[STATE] = State::Waits as u64;
        let memory = bytes(&[head(0), row]);
        assert!(table(&memory, &memory).expect("a table").rows[0].call.starts_with("????????"));
    }
}
