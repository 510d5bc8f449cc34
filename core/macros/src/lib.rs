//! The macros of Talisman: `#[chare]`, `#[talisman::main]`, `register!` and `#[derive(ArrayIndex)]`.
//!
//! Every macro goes the same way: `parse` reads what the user wrote and checks it, `ir` holds it, `expand` writes the
//! code. Async entries have a compiler of their own in `flow`; `core/macros/README.md` tells how it works. Mistakes are
//! gathered in `errors::Errors` and shown next to the rest of the expansion, so that one mistake in one method does
//! not make every other use of the chare an error too.
//!
//! The crate is used through `talisman`, which is also what the generated code names: it contains only absolute
//! `::talisman::…` and `::core::…` / `::std::…` paths, and no `unsafe`.

use proc_macro::TokenStream;

mod equivalence;
mod errors;
mod expand;
mod flow;
mod index;
mod ir;
mod main_fn;
mod parse;
mod register;

/// Makes a type a chare: an object whose methods are called by message, and that may be moved (Charm++ manual: "chare").
///
/// It goes on the one `impl` block that holds the `#[init]`s and `#[entry]` methods. Other code of the type goes into
/// ordinary `impl` blocks. The type is `Pup + Send + 'static`.
///
/// | option | makes |
/// |---|---|
/// | `single` | chares of their own: `Tree::chare().new(…)`, placed by `.on(pe)` or by the runtime |
/// | `array1d` … `array6d` | an array whose index is an `i32`, or a tuple of them: `Block::array((4, 4)).new(…)` |
/// | `array(Site)` | an array with an index type of your own, `#[derive(ArrayIndex)]` |
/// | `group`, `nodegroup` | one member on each PE; on each node: `Counter::group().new(…)` |
/// | `ordered` | an array whose messages between two elements keep their order through moves |
/// | `name = "…"` | another name on the wire than module path and type |
/// | `instances(A<f64>, …)` | the instances of a generic chare; `register!` is the other way to name them |
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Pup)]
/// struct Counter {
///     count: u32,
/// }
///
/// #[chare(array1d)]
/// impl Counter {
///     #[init]
///     fn new() -> Self {
///         Counter { count: 0 }
///     }
///
///     #[entry]
///     fn add(&mut self, n: u32) -> u32 {
///         self.count += n;
///         self.count
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let counters: Array<Counter> = Counter::array(10).new();
///     let sum: u32 = counters.add(2).reduce(Sum).await; // a call of all
///     let one: u32 = counters.at(3).add(5).await; // a call of one
///     writeln!(cx.output(), "{sum} {one}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["20 7"]);
/// # }
/// # test();
/// ```
///
/// # `#[init]`
///
/// Makes an object. It takes arguments, and `cx: &mut Cx<Self>` before them if it wants to know its index. There may be
/// several, under names of their own. Arguments are packed once for all elements; `each` gives each its own.
///
/// ```
/// # use talisman::prelude::*;
/// #[derive(Pup)]
/// struct Cell {
///     value: f64,
/// }
///
/// #[chare(array2d)]
/// impl Cell {
///     #[init]
///     fn new(cx: &mut Cx<Self>, scale: f64) -> Self {
///         let (row, column) = cx.index();
///         Cell { value: scale * f64::from(row + column) }
///     }
///
///     #[init]
///     fn with(value: f64) -> Self {
///         Cell { value }
///     }
///
///     #[entry]
///     fn value(&self) -> f64 {
///         self.value
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let scaled: Array<Cell> = Cell::array((2, 2)).new(0.5);
///     let table = [1.0, 2.0, 4.0];
///     let listed: Array<Cell> = Cell::array((3, 1)).each(|(row, _), new| { new.with(table[row as usize]); });
///     let a: f64 = scaled.value().reduce(Sum).await;
///     let b: f64 = listed.value().reduce(Sum).await;
///     writeln!(cx.output(), "{a} {b}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["2 7"]);
/// # }
/// # test();
/// ```
///
/// # `#[entry]`
///
/// A method that is called by message, and runs to its end. It takes `&mut self` or `&self`, `cx: &mut Cx<Self>` if it
/// wants anything of the runtime, and up to eight owned arguments. `pub` on it is `pub` on handles.
///
/// | form | is |
/// |---|---|
/// | `fn f(&mut self, …)` | runs when its message comes |
/// | `fn f(&mut self, …) -> T` | and answers: the call is awaited, or given a callback (`.reply(callback)`), or `.ignore()`d |
/// | `fn f(…);` | keeps its messages until an async entry receives them: `cx.when(Self::f)` |
/// | `async fn f(&mut self, …)` | may wait: see [`async_entries`](https://docs.rs/talisman/latest/talisman/async_entries/) |
///
/// | option | does |
/// |---|---|
/// | `#[entry(priority = -3)]` | its messages go before those with larger numbers; others have 0 |
/// | `#[entry(expedited)]` | its messages wait for nothing but the entry that runs |
/// | `#[entry(ack)]` | an entry that returns nothing can be awaited |
///
/// ```
/// # use talisman::prelude::*;
/// #[derive(Pup)]
/// struct Log {
///     lines: Vec<String>,
/// }
///
/// #[chare(single)]
/// impl Log {
///     #[init]
///     fn new() -> Self {
///         Log { lines: vec![] }
///     }
///
///     #[entry(ack)]
///     fn note(&mut self, line: String) {
///         self.lines.push(line);
///     }
///
///     #[entry(priority = -1)]
///     fn clear(&mut self) {
///         self.lines.clear();
///     }
///
///     #[entry(expedited)]
///     fn len(&self) -> usize {
///         self.lines.len()
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let log: Proxy<Log> = Log::chare().new();
///     log.note("begun".into()).await; // it is noted, whatever is sent from here on
///     let before: usize = log.len().await;
///     log.clear();
///     cx.quiescence().await;
///     let after: usize = log.len().await;
///     writeln!(cx.output(), "{before} {after}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().run::<__Main>(());
/// # assert_eq!(done.output, ["1 0"]);
/// # }
/// # test();
/// ```
///
/// # `#[restored]`
///
/// Called when the object was rebuilt from its packed state, and told why: it has moved, its PE was lost, or the job
/// went back to a checkpoint. It makes again what is `#[pup(skip)]`ped.
///
/// ```
/// # use talisman::prelude::*;
/// #[derive(Pup)]
/// struct Table {
///     size: u32,
///     #[pup(skip)]
///     squares: Vec<u32>,
/// }
///
/// impl Table {
///     fn fill(mut self) -> Self {
///         self.squares = (0..self.size).map(|n| n * n).collect();
///         self
///     }
/// }
///
/// #[chare(array1d)]
/// impl Table {
///     #[init]
///     fn new(size: u32) -> Self {
///         Table { size, squares: vec![] }.fill()
///     }
///
///     #[restored]
///     fn restored(&mut self, cx: &mut Cx<Self>, why: Restored) {
///         assert_eq!(why, Restored::AfterMigration);
///         *self = Table { size: self.size, squares: vec![] }.fill();
///     }
///
///     #[entry]
///     fn move_to(&mut self, cx: &mut Cx<Self>, pe: u32) {
///         cx.migrate_to(pe);
///     }
///
///     #[entry]
///     fn square(&self, n: u32) -> u32 {
///         self.squares[n as usize]
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let table: Proxy<Table> = Table::array(1).new(10).at(0);
///     table.move_to(cx.pes() - 1);
///     let square: u32 = table.square(7).await;
///     writeln!(cx.output(), "{square}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).simulated(2, 1).run::<__Main>(());
/// # assert_eq!((done.status, done.output), (0, vec!["49".to_string()]));
/// # }
/// # test();
/// ```
///
/// # `#[lost]`
///
/// In groups and nodegroups: called on the member that acts for a lost one (`--ft`), with what that was at the last
/// checkpoint. Without it lost members are dropped.
///
/// ```
/// # use talisman::prelude::*;
/// #[derive(Pup)]
/// struct Tally {
///     counted: u64,
/// }
///
/// #[chare(group)]
/// impl Tally {
///     #[init]
///     fn new() -> Self {
///         Tally { counted: 0 }
///     }
///
///     #[entry]
///     fn count(&mut self, n: u64) {
///         self.counted += n;
///     }
///
///     /// What a lost member had counted is counted here from now on.
///     #[lost]
///     fn lost(&mut self, cx: &mut Cx<Self>, other: Self) {
///         self.counted += other.counted;
///     }
///
///     #[entry]
///     fn counted(&self) -> u64 {
///         self.counted
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let tally: Group<Tally> = Tally::group().new();
///     tally.here().count(3);
///     let sum: u64 = tally.counted().reduce(Sum).await;
///     writeln!(cx.output(), "{sum}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["3"]);
/// # }
/// # test();
/// ```
///
/// # `#[departs]` and `#[waits]`
///
/// For objects that hold more than plain values, such as threads or memory at a fixed address. `departs` is called
/// before the object is packed to move to another node, and not for a checkpoint: it takes away what has to be out of
/// the way of a return. `waits` says what the object waits for beside its async entries, for the report of a job that is
/// stuck. `Cx::hold` keeps such an object where it is for a while.
///
/// ```
/// # use talisman::prelude::*;
/// use talisman::chare::Waiting;
///
/// #[derive(Pup)]
/// struct Rank {
///     receives: bool,
///     #[pup(skip)]
///     scratch: Vec<u8>,
/// }
///
/// #[chare(array1d)]
/// impl Rank {
///     #[init]
///     fn new() -> Self {
///         Rank { receives: true, scratch: vec![0; 1 << 20] }
///     }
///
///     #[departs]
///     fn departs(&mut self) {
///         self.scratch = vec![]; // its memory is free for others before the object is gone
///     }
///
///     #[waits]
///     fn waits(&self) -> Vec<Waiting> {
///         let receive = self.receives.then(|| Waiting::new("rank", "`recv` from 3", "solve.c", 17));
///         receive.into_iter().collect()
///     }
///
///     #[entry]
///     fn received(&mut self) -> bool {
///         self.receives = false;
///         self.receives
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let ranks: Array<Rank> = Rank::array(4).new();
///     let waits: bool = ranks.received().reduce(Any).await;
///     writeln!(cx.output(), "{waits}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["false"]);
/// # }
/// # test();
/// ```
#[proc_macro_attribute]
pub fn chare(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(expand::chare_attribute(options.into(), item.into()))
}

/// Where a program starts. It has two forms.
///
/// **A function** `async fn main(cx: &mut Cx)`, or `main(cx: &mut Cx, options: Options)` with a `clap::Parser`. It may
/// wait, and the program ends when it returns; on an `Err` with status 1.
///
/// ```
/// use talisman::prelude::*;
///
/// /// Says hello.
/// #[derive(clap::Parser, Pup)]
/// struct Options {
///     /// To whom
///     #[arg(long, default_value = "world")]
///     name: String,
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx, options: Options) -> Result<(), String> {
///     if options.name.is_empty() {
///         return Err("--name: nobody to say hello to".into());
///     }
///     writeln!(cx.output(), "hello {}", options.name);
///     Ok(())
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().run::<__Main>((Options { name: "world".into() },));
/// # assert_eq!(done.output, ["hello world"]);
/// # }
/// # test();
/// ```
///
/// **The `impl` block of a main chare**, which has a state and entries of its own. The program ends at `cx.exit()`.
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Pup)]
/// struct Square;
///
/// #[chare(array1d)]
/// impl Square {
///     #[init]
///     fn new() -> Self {
///         Square
///     }
///
///     #[entry]
///     fn of_index(&mut self, cx: &mut Cx<Self>) -> i32 {
///         cx.index() * cx.index()
///     }
/// }
///
/// #[derive(Pup)]
/// struct Main {
///     rounds: u32,
/// }
///
/// #[talisman::main]
/// impl Main {
///     #[init]
///     fn new(cx: &mut Cx<Self>) -> Self {
///         Square::array(5).new().of_index().reduce(Sum).reply(cx.callback(Self::done));
///         Main { rounds: 1 }
///     }
///
///     #[entry]
///     fn done(&mut self, cx: &mut Cx<Self>, sum: i32) {
///         writeln!(cx.output(), "{sum} after round {}", self.rounds);
///         cx.exit();
///     }
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<Main>(());
/// # assert_eq!(done.output, ["30 after round 1"]);
/// # }
/// # test();
/// ```
///
/// The runtime's options (`--nodes`, `--pes`, `--ft` …) are added to the program's own. A program that reads or presets
/// them flattens `talisman::RunArgs` into its options.
///
/// # A `tracing` subscriber of the program's own
///
/// What the runtime says on standard error are events of `tracing` (`--log`). With
/// `#[talisman::main(subscriber = function)]` the program takes them: the function is called once in each process of the
/// job, launcher and nodes, before anything is said there, and installs a subscriber.
///
/// ```
/// # use talisman::prelude::*;
/// #[talisman::main(subscriber = subscribe)]
/// async fn main(cx: &mut Cx) {
///     writeln!(cx.output(), "events go elsewhere");
/// }
///
/// fn subscribe() {
///     // tracing_subscriber::fmt().json().with_writer(std::io::stderr).init();
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().run::<__Main>(());
/// # assert_eq!(done.output, ["events go elsewhere"]);
/// # }
/// # test();
/// ```
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    or_error(main_fn::expand(options.into(), item.into()))
}

/// Makes instances of generic chares known to the program, beside those that `#[chare(…, instances(…))]` names.
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Pup)]
/// struct Stack<T> {
///     values: Vec<T>,
/// }
///
/// #[chare(single)]
/// impl<T: Value> Stack<T> {
///     #[init]
///     fn new() -> Self {
///         Stack { values: vec![] }
///     }
///
///     #[entry]
///     fn push(&mut self, value: T) -> usize {
///         self.values.push(value);
///         self.values.len()
///     }
/// }
///
/// talisman::register!(Stack<f64>, Stack<String>);
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let stack: Proxy<Stack<f64>> = Stack::<f64>::chare().new();
///     let height: usize = stack.push(0.5).await;
///     writeln!(cx.output(), "{height}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().run::<__Main>(());
/// # assert_eq!(done.output, ["1"]);
/// # }
/// # test();
/// ```
#[proc_macro]
pub fn register(types: TokenStream) -> TokenStream {
    or_error(register::expand(types.into()))
}

/// Makes a struct of integers the index of a chare array: at most 128 bits together, compared in field order.
///
/// ```
/// use talisman::prelude::*;
///
/// #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Pup, ArrayIndex)]
/// struct Site {
///     level: u8,
///     code: u64,
/// }
///
/// #[derive(Pup)]
/// struct Leaf;
///
/// #[chare(array(Site))]
/// impl Leaf {
///     #[init]
///     fn new() -> Self {
///         Leaf
///     }
///
///     #[entry]
///     fn level(&self, cx: &mut Cx<Self>) -> u8 {
///         cx.index().level
///     }
/// }
///
/// #[talisman::main]
/// async fn main(cx: &mut Cx) {
///     let leaves: Array<Leaf> = Leaf::sparse();
///     for level in 0..3 {
///         leaves.insert(Site { level, code: 7 }).new();
///     }
///     leaves.done_inserting();
///     let levels: Vec<u8> = leaves.level().reduce(Concat).await;
///     writeln!(cx.output(), "{levels:?}");
/// }
/// # fn test() {
/// # let done = talisman::testing::Test::new().pes(2).run::<__Main>(());
/// # assert_eq!(done.output, ["[0, 1, 2]"]);
/// # }
/// # test();
/// ```
#[proc_macro_derive(ArrayIndex)]
pub fn derive_array_index(item: TokenStream) -> TokenStream {
    or_error(syn::parse(item).and_then(|item| index::expand(&item)))
}

/// Makes a plain structure a value that virtual MPI ranks can send: its bytes travel. The other proof is `Pup` with
/// `#[pup(plain)]`. Generated code names `::talisman_ampi`.
#[proc_macro_derive(Equivalence)]
pub fn derive_equivalence(item: TokenStream) -> TokenStream {
    or_error(syn::parse(item).map(|item| equivalence::expand(&item)))
}

fn or_error(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(|error| error.to_compile_error()).into()
}
