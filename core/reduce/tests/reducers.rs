//! Every process of a program can do everything with partial results, whatever it has executed before.
//!
//! The second process runs only [`child`], which names no reducer.

// Elsewhere a process knows only what it has used: `core/reduce/src/erased/listed.rs`.
#![cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]

extern crate talisman_reduce as talisman;

use std::fmt::{Debug, Display};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use talisman::pup::{Pup, Purpose, Unpacker, from_bytes, to_bytes};
use talisman_reduce::{
    AnyPartial, Concat, Max, Merge, Merged, Ordered, ReduceError, ReduceInfo, Reducer, Sum, register_reducer,
};

/// What the second process gets: two packed partial results, and two packed contributions with their indices.
#[derive(Pup)]
struct Task {
    reducer: u64,
    partials: Vec<Vec<u8>>,
    contributions: Vec<(u128, Vec<u8>)>,
}

/// What it gives back: the packed result, or the error.
type Answer = Result<Vec<u8>, String>;

impl Task {
    /// Of four values, whose contributors are numbered in their order.
    fn new<T: Value, R: Reducer<T>>(values: [T; 4]) -> Self {
        let [a, b, c, d] = values;
        let partial = |value, at| to_bytes(&AnyPartial::lift::<T, R>(value, at).unwrap());
        let reducer = ReduceInfo::of::<T, R>().unwrap().id;
        let contributions = vec![(2, to_bytes(&c)), (3, to_bytes(&d))];
        Task { reducer, partials: vec![partial(a, 0), partial(b, 1)], contributions }
    }

    /// As a PE does it that only knows ids. What came is packed, sent on and read again on the way.
    fn done(&self) -> Result<Vec<u8>, ReduceError> {
        let mut values = self.contributions.iter().map(|(at, value)| (*at, packed(value)));
        let (at, mut first) = values.next().expect("at least one contribution");
        let mut total = AnyPartial::lift_packed(self.reducer, &mut first, at)?;
        for (at, mut value) in values {
            total.add_packed(self.reducer, &mut value, at)?;
        }
        for partial in &self.partials {
            total.combine(from_bytes(partial)?)?;
            total = from_bytes(&to_bytes(&total))?;
        }
        // The results here are short: they have no slices beside their bytes.
        Ok(total.finish()?.bytes().to_vec())
    }
}

fn packed(value: &[u8]) -> Unpacker<'_> {
    Unpacker::new(value, Purpose::Message)
}

trait Value: Pup + Send + Clone + 'static {}
impl<T: Pup + Send + Clone + 'static> Value for T {}

/// Not a test by itself: the second process.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut tasks = Vec::new();
    std::io::stdin().read_to_end(&mut tasks).unwrap();
    let tasks: Vec<Task> = from_bytes(&tasks).unwrap();
    let answers: Vec<Answer> = tasks.iter().map(|task| said(task.done())).collect();
    let hex: String = to_bytes(&answers).iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{BEFORE}{hex}.");
}

fn said<T, E: Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

const CHILD: &str = "TALISMAN_TEST_REDUCERS";
const BEFORE: &str = "answers:";

/// What a process of this program does with the tasks that has done nothing before.
fn elsewhere(tasks: Vec<Task>) -> Vec<Answer> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["child", "--exact", "--nocapture"]).env(CHILD, "1");
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&to_bytes(&tasks)).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let hex = text.split_once(BEFORE).and_then(|(_, rest)| rest.split_once('.')).unwrap().0;
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    from_bytes(&bytes).unwrap()
}

fn result<T: Pup>(answer: &Answer) -> T {
    from_bytes(answer.as_ref().unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// Words in the order of their contributors.
#[derive(Pup, Clone, PartialEq, Debug)]
struct Sentence(String);

impl Merge for Sentence {
    fn merge(&mut self, other: Self) {
        self.0 = format!("{} {}", self.0, other.0);
    }
}

/// The `N` largest: generic, with a result unlike the value.
#[derive(Clone, Copy)]
struct Largest<const N: usize>;

impl<T: Value + Ord + Debug, const N: usize> Reducer<T> for Largest<N> {
    type Partial = Ordered<T>;
    type Output = Vec<T>;

    fn lift(value: T, at: u128) -> Ordered<T> {
        Ordered::one(value, at)
    }

    fn combine(total: &mut Ordered<T>, next: Ordered<T>) {
        total.append(next);
    }

    fn finish(total: Ordered<T>) -> Result<Vec<T>, ReduceError> {
        let mut all: Vec<T> = total.into_values().collect();
        all.sort_by(|a, b| b.cmp(a));
        all.truncate(N);
        Ok(all)
    }
}

#[test]
fn a_process_that_never_used_a_reducer_does_everything_with_it() {
    let words = ["one", "two", "three", "four"].map(|word| Sentence(word.into()));
    let answers = elsewhere(vec![
        Task::new::<f64, Sum>([1e100, 0.5, -1e100, 0.25]),
        Task::new::<(Vec<f32>, i64), (Sum, Max)>([1, 2, 3, 4].map(|n| (vec![n as f32; 2], n))),
        Task::new::<u16, Concat>([7, 6, 5, 4]),
        Task::new::<Sentence, Merged>(words),
        Task::new::<i8, Largest<2>>([3, -7, 9, 4]),
        Task::new::<String, Largest<1>>(["b", "d", "a", "c"].map(String::from)),
    ]);
    assert_eq!(result::<f64>(&answers[0]), 0.75);
    assert_eq!(result::<(Vec<f32>, i64)>(&answers[1]), (vec![10.0; 2], 4));
    assert_eq!(result::<Vec<u16>>(&answers[2]), [7, 6, 5, 4]);
    assert_eq!(result::<Sentence>(&answers[3]).0, "one two three four");
    assert_eq!(result::<Vec<i8>>(&answers[4]), [9, 4]);
    assert_eq!(result::<Vec<String>>(&answers[5]), ["d"]);
}

#[test]
fn an_error_at_the_end_is_the_same_elsewhere() {
    let task = || Task::new::<u8, Sum>([200, 50, 5, 1]);
    let error = elsewhere(vec![task()]).remove(0).unwrap_err();
    assert!(error.contains("too large for u8"), "{error}");
    assert_eq!(said(task().done()).unwrap_err(), error);
}

#[test]
fn what_nobody_knows_is_an_error_that_says_what_to_do() {
    let task = Task { reducer: 0x5eed, ..Task::new::<u8, Max>([1, 2, 3, 4]) };
    let error = elsewhere(vec![task]).remove(0).unwrap_err();
    assert!(error.contains("0x0000000000005eed") && error.contains("register_reducer"), "{error}");
}

/// A reducer that the compiler puts in the program, though no process executes its use.
#[test]
fn listed_though_nobody_ever_used_it() {
    let use_it = std::hint::black_box(false);
    if use_it {
        register_reducer::<[u16; 3], Largest<3>>().unwrap();
    }
    let id = talisman::pup::key(std::any::type_name::<(Largest<3>, [u16; 3])>());
    let info = ReduceInfo::known(id).expect("its name is its id");
    assert!(info.is::<[u16; 3], Largest<3>>());
    assert_eq!(info.id, id);
}

proptest! {
    #[test]
    fn ids_from_anyone_are_only_looked_up(id: u64, near in -64..64i64, flipped in 0..64u32, bytes: Vec<u8>) {
        let real = ReduceInfo::of::<(f64, u8), (Sum, Concat)>().unwrap();
        for id in [id, real.id.wrapping_add_signed(near), real.id ^ 1 << flipped] {
            prop_assert_eq!(ReduceInfo::known(id).map(|info| info.id == id), (id == real.id).then_some(true));
            let task = Task { reducer: id, partials: vec![bytes.clone()], contributions: vec![(0, bytes.clone())] };
            let _ = task.done();
        }
        // Addresses are no ids either.
        for address in [real as *const ReduceInfo as u64, ReduceInfo::known as fn(u64) -> _ as usize as u64] {
            prop_assert!(ReduceInfo::known(address).is_none());
        }
        // A partial result under a wrong id is another reducer's, or nobody's.
        let mut partial = to_bytes(&AnyPartial::lift::<f64, Sum>(1.0, 0).unwrap());
        partial[..8].copy_from_slice(&real.id.to_le_bytes());
        if let Ok(partial) = from_bytes::<AnyPartial>(&partial) {
            let _ = partial.finish();
        }
        if let Ok(partial) = from_bytes::<AnyPartial>(&[&real.id.to_le_bytes()[..], &bytes].concat()) {
            let _ = partial.finish();
        }
    }
}
