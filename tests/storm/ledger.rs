//! What a storm should come to, kept beside the runtime: every element of a job reports here what it does.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use talisman::pup::{Packer, Pup, PupError, Unpacker};
use talisman::testing::{runs_again, world};
use talisman::witness;

/// The ledgers of the jobs that run, by a number that travels with the job's elements.
static LEDGERS: LazyLock<Mutex<HashMap<u64, Arc<Ledger>>>> = LazyLock::new(Mutex::default);

/// The number of a job that runs in one thread: each thread has a ledger for one. So such a job sends the same bytes
/// whatever else runs beside it, and ran before it.
pub const HERE: u64 = 0;

/// No job has so many nodes.
const NODES_MOST: u32 = 1 << 16;

thread_local! {
    static LEDGER_HERE: RefCell<Option<Arc<Ledger>>> = const { RefCell::new(None) };
    /// Of elements on nodes that do not know yet that they are lost: what they do counts for nothing.
    static OF_THE_LOST: RefCell<Option<Arc<Ledger>>> = const { RefCell::new(None) };
    /// Of PEs that run again: all that they do is in the job's ledger already.
    static OF_REPLAYS: Arc<Ledger> = Arc::default();
}

/// Opens the ledger of a job; indices from `first_free` on are for elements that are inserted.
pub fn open(job: u64, first_free: i32) -> Arc<Ledger> {
    let ledger = Arc::<Ledger>::default();
    ledger.book().first_index = first_free;
    ledger.book().next_index = first_free;
    match job {
        HERE => {
            LEDGER_HERE.set(Some(ledger.clone()));
            OF_THE_LOST.set(Some(Arc::default()));
        }
        _ => _ = LEDGERS.lock().expect("no test panics in it").insert(job, ledger.clone()),
    }
    ledger
}

/// Closes it.
pub fn close(job: u64) {
    match job {
        HERE => {
            LEDGER_HERE.set(None);
            OF_THE_LOST.set(None);
        }
        _ => _ = LEDGERS.lock().expect("no test panics in it").remove(&job),
    }
}

/// The ledger of a job.
pub fn of(job: u64) -> Arc<Ledger> {
    let ledger = find(job).expect("a job's ledger is open while it runs");
    match witness::epoch() {
        Some(epoch) if job == HERE && epoch < ledger.book().epoch => {
            OF_THE_LOST.with_borrow(Clone::clone).expect("it is open as long")
        }
        _ => ledger,
    }
}

/// The ledger of the job that runs in this thread, if there is one.
#[allow(dead_code, reason = "only some jobs go back")]
pub fn here() -> Option<Arc<Ledger>> {
    find(HERE)
}

fn find(job: u64) -> Option<Arc<Ledger>> {
    match job {
        _ if runs_again() => Some(OF_REPLAYS.with(Clone::clone)),
        HERE => LEDGER_HERE.with_borrow(Clone::clone),
        _ => LEDGERS.lock().expect("no test panics in it").get(&job).cloned(),
    }
}

#[derive(Default)]
pub struct Ledger(Mutex<Book>);

/// What is in a ledger.
#[derive(Clone, Default)]
pub struct Book {
    /// The period between two failures that it is of.
    epoch: u32,
    /// How often the whole job was started again.
    again: u32,
    /// When its program began: how often the job had been started again by then, and in which epoch it was.
    begun: Option<(u32, u32)>,
    sent: u64,
    /// Messages sent and not received.
    open: BTreeSet<u64>,
    /// Who received which broadcast or multicast.
    casts: BTreeMap<(Cast, i32), u32>,
    /// What was contributed to each reduction, and what came out of it.
    made: BTreeMap<u32, (u64, f64)>,
    results: BTreeMap<u32, (u64, f64)>,
    alive: BTreeSet<i32>,
    /// Indices that elements had which are gone.
    free: Vec<i32>,
    gone: i32,
    born: u64,
    next_index: i32,
    first_index: i32,
    /// Which of its processes each node is, counted from 0, which is not noted.
    lives: BTreeMap<u32, u32>,
    /// Counted values that live.
    values: i64,
    /// How many elements of each kind were so far.
    arrivals: BTreeMap<(u32, u32), u64>,
    violations: Vec<String>,
    finished: bool,
}

/// A broadcast or multicast, by kind and number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cast {
    Step(u32),
    Count(u32),
    Part(u32),
    PartCount(u32),
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What is in it before its job begins.
    #[allow(dead_code, reason = "only some jobs go back")]
    pub fn new_book(&self) -> Book {
        let first_index = self.book().first_index;
        Book { first_index, next_index: first_index, ..Book::default() }
    }

    /// What is in it, for a job that may go back to here.
    #[allow(dead_code, reason = "only some jobs go back")]
    pub fn keep(&self) -> Book {
        self.book().clone()
    }

    /// In this epoch the job goes back to where it was when this was kept. Values live where they live, processes are what they are, and what was
    /// wrong was wrong.
    #[allow(dead_code, reason = "only some jobs go back")]
    pub fn put_back(&self, kept: &Book, epoch: u32) {
        let mut book = self.book();
        let (values, violations) = (book.values, std::mem::take(&mut book.violations));
        let lives = std::mem::take(&mut book.lives);
        // A job begins with epoch 0, and goes back to no other that is in that.
        let again = book.again + u32::from(epoch == 0);
        *book = Book { epoch, again, lives, values, violations, ..kept.clone() };
    }

    /// Whether the whole job was started again.
    #[allow(dead_code, reason = "only some jobs are")]
    pub fn was_started_again(&self) -> bool {
        self.book().again > 0
    }

    /// A node is this one of its processes from now on.
    #[allow(dead_code, reason = "only some jobs go back")]
    pub fn live_in(&self, node: u32, life: u32) {
        self.book().lives.insert(node, life);
    }

    /// The process that is this node, by a number that no other process of the job has.
    #[allow(dead_code, reason = "not every program has to know")]
    pub fn process(&self, node: u32) -> u32 {
        NODES_MOST * self.book().lives.get(&node).copied().unwrap_or(0) + node
    }

    /// The program begins, now.
    #[allow(dead_code, reason = "only some programs have elements that are made later")]
    pub fn begin(&self) {
        let mut book = self.book();
        book.begun = Some((book.again, book.epoch));
    }

    /// Whether the job has gone back to somewhere since the program began: what was made at the beginning is restored then, not made.
    #[allow(dead_code, reason = "only some programs have elements that are made later")]
    pub fn has_gone_on(&self) -> bool {
        let book = self.book();
        book.begun.is_some_and(|begun| begun != (book.again, book.epoch))
    }

    /// An element of a kind comes to a number.
    #[allow(dead_code, reason = "not every program counts so")]
    pub fn arrive(&self, kind: u32, number: u32) {
        *self.book().arrivals.entry((kind, number)).or_default() += 1;
    }

    /// How many of a kind have come to it.
    #[allow(dead_code, reason = "not every program counts so")]
    pub fn arrived(&self, kind: u32, number: u32) -> u64 {
        self.book().arrivals.get(&(kind, number)).copied().unwrap_or(0)
    }

    pub fn violation(&self, what: String) {
        self.book().violations.push(what);
    }

    /// The name of a message about to be sent.
    pub fn send(&self) -> u64 {
        world(|| {
            let mut book = self.book();
            book.sent += 1;
            let id = book.sent;
            book.open.insert(id);
            id
        })
    }

    /// Messages sent so far.
    pub fn sent(&self) -> u64 {
        self.book().sent
    }

    pub fn receive(&self, id: u64, at: i32) {
        let mut book = self.book();
        if !book.open.remove(&id) {
            book.violations.push(format!("message {id} was received again, by {at}"));
        }
    }

    /// The runtime says that nothing is in flight.
    pub fn quiet(&self, when: &str) {
        let mut book = self.book();
        if !book.open.is_empty() {
            let open = book.open.len();
            book.violations.push(format!("{when}: quiet, while {open} messages are on their way"));
        }
    }

    pub fn cast(&self, cast: Cast, at: i32) {
        let mut book = self.book();
        let times = book.casts.entry((cast, at)).or_default();
        *times += 1;
        if *times > 1 {
            book.violations.push(format!("{cast:?} was received twice by {at}"));
        }
    }

    /// How many received it.
    pub fn receivers(&self, cast: Cast) -> u64 {
        world(|| self.book().casts.range((cast, i32::MIN)..=(cast, i32::MAX)).count() as u64)
    }

    /// Everyone of `who` received it.
    pub fn was_received_by_all(&self, cast: Cast, who: impl Iterator<Item = i32>) {
        for at in who {
            let mut book = self.book();
            if !book.casts.contains_key(&(cast, at)) {
                book.violations.push(format!("{cast:?} was not received by {at}"));
            }
        }
    }

    pub fn contribute(&self, round: u32, value: f64) {
        let mut book = self.book();
        let sum = book.made.entry(round).or_default();
        *sum = (sum.0 + 1, sum.1 + value);
    }

    pub fn reduced(&self, round: u32, count: u64, sum: f64) {
        if self.book().results.insert(round, (count, sum)).is_some() {
            self.violation(format!("reduction {round} came out twice"));
        }
    }

    /// An element is made; how many were before.
    pub fn born(&self, index: i32) -> u64 {
        world(|| {
            let mut book = self.book();
            book.born += 1;
            if !book.alive.insert(index) {
                book.violations.push(format!("element {index} was made twice"));
            }
            book.born
        })
    }

    pub fn died(&self, index: i32) {
        let mut book = self.book();
        book.alive.remove(&index);
        book.free.push(index);
        // The next of this index is another.
        book.gone += 1;
        let (gone, former) = (-book.gone, std::mem::take(&mut book.casts));
        let named = |((cast, at), times)| ((cast, if at == index { gone } else { at }), times);
        book.casts = former.into_iter().map(named).collect();
    }

    /// An index for a new element: one that was used before, if `again` and there is one.
    pub fn free_index(&self, again: bool) -> i32 {
        world(|| {
            let mut book = self.book();
            if again && let Some(index) = book.free.pop() {
                return index;
            }
            book.next_index += 1;
            book.next_index - 1
        })
    }

    pub fn alive(&self) -> u64 {
        world(|| self.book().alive.len() as u64)
    }

    pub fn values(&self) -> i64 {
        self.book().values
    }

    pub fn finish(&self) {
        self.book().finished = true;
    }

    /// What went wrong, at the end of a job that came to its end.
    pub fn violations(&self) -> Vec<String> {
        [self.wrong(), self.missing()].concat()
    }

    /// What went wrong, however the job ended.
    pub fn wrong(&self) -> Vec<String> {
        let book = self.book();
        let mut all = book.violations.clone();
        for (round, result) in &book.results {
            let made = book.made.get(round);
            if made != Some(result) {
                all.push(format!("reduction {round}: {made:?} was contributed, {result:?} came out"));
            }
        }
        all
    }

    /// What has not happened that does in a job that comes to its end.
    pub fn missing(&self) -> Vec<String> {
        let book = self.book();
        let without = book.made.keys().filter(|round| !book.results.contains_key(round));
        let mut all: Vec<_> = without.map(|round| format!("nothing came out of reduction {round}")).collect();
        if !book.finished {
            all.push("the program did not come to its end".into());
        }
        // What a process that is killed has in hand goes with it.
        if book.values != 0 {
            all.push(format!("{} values were not dropped", book.values));
        }
        all
    }

    /// Every broadcast and multicast, and how many of the first `core` elements received it.
    pub fn casts(&self, core: i32) -> BTreeMap<Cast, u64> {
        let book = self.book();
        let mut all = BTreeMap::new();
        for (cast, _) in book.casts.keys().filter(|(_, at)| (0..core).contains(at)) {
            *all.entry(*cast).or_default() += 1;
        }
        all
    }
}

/// A value that is counted while it lives.
#[derive(Debug)]
pub struct Counted(u64);

impl Counted {
    pub fn new(job: u64) -> Self {
        of(job).book().values += 1;
        Counted(job)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // What is dropped later than it should be is counted as left over; there is nobody to tell any more.
        if let Some(ledger) = find(self.0) {
            ledger.book().values -= 1;
        }
    }
}

impl Pup for Counted {
    const MIN_SIZE: usize = 8;

    fn pack(&self, p: &mut Packer) {
        self.0.pack(p);
    }

    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        Ok(Counted::new(u64::unpack(u)?))
    }
}
