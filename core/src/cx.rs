//! What a chare can ask of the runtime while one of its entries runs.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::balance::message::Why;
use crate::balance::root::BalancingRootOnPe;
use crate::call::{AllReduce, AtSync, Barrier, Pause, Quiescence};
use crate::callback::Callback;
use crate::chare::{Args, ArrayChare, Chare, Entry, GroupChare};
use crate::checkpoint::CheckpointsOnPe;
use crate::object_of::Object;
use crate::proxy::{Array, Group, Proxy, Section};
use crate::quiescence::QuiescenceOnPe;
use crate::reduction::contributing::ContributionsOnPe;
use crate::routing::RoutingOnPe;
use crate::shared::Shared;
use crate::shared::SharedValuesOnPe;
use talisman_base::ids::{ObjId, PeId};
use talisman_base::index::ArrayIndex;
use talisman_base::rng::Rng;
use talisman_job::ResultValue;
use talisman_job::job::Job;
use talisman_kernel::message::envelope::Extra;
use talisman_kernel::object::{Head, flag};
#[doc(hidden)]
pub use talisman_kernel::pe::in_place::{Heard, Hearing};
use talisman_kernel::pe::input_log::InputLog;
use talisman_kernel::pe::turn::world;
use talisman_kernel::pe::{Pe, check_pe};
use talisman_kernel::route::Route;
use talisman_pup::{Lender, Pup, Value};
use talisman_reduce::{Nothing, Reducer};
#[doc(hidden)]
pub use talisman_transport::Rest;

/// Where an object is, on its PE.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat(NonNull<Head>);

/// What a chare of type `C` can ask of the runtime while one of its entries runs.
///
/// | about | methods |
/// |---|---|
/// | where I am | [`index`](Cx::index), [`me`](Cx::me), [`array`](Cx::array), [`group`](Cx::group), [`pe`](Cx::pe), [`pes`](Cx::pes), [`node`](Cx::node), [`nodes`](Cx::nodes) |
/// | waiting, in async entries | `when`, `when_any`, `overlap`, [`all_reduce`](Cx::all_reduce), [`barrier`](Cx::barrier), [`quiescence`](Cx::quiescence), [`sleep`](Cx::sleep) |
/// | going on later, in others | [`callback`](Cx::callback), [`contribute`](Cx::contribute), [`on_quiescence`](Cx::on_quiescence), [`after`](Cx::after), [`when_idle`](Cx::when_idle) |
/// | load balancing | [`at_sync`](Cx::at_sync), [`balance`](Cx::balance), [`set_load`](Cx::set_load), [`set_migratable`](Cx::set_migratable), [`set_position`](Cx::set_position) |
/// | moving and going | [`migrate_to`](Cx::migrate_to), [`hold`](Cx::hold), [`destroy`](Cx::destroy) |
/// | the job | [`checkpoint`](Cx::checkpoint), [`exit`](Cx::exit), [`exit_with`](Cx::exit_with), [`fail`](Cx::fail), [`survives`](Cx::survives) |
/// | people and scripts | [`output`](Cx::output), [`errors`](Cx::errors), [`warn`](Cx::warn), [`result`](Cx::result), [`step`](Cx::step), [`expect_steps`](Cx::expect_steps) |
/// | values | [`share`](Cx::share), [`now`](Cx::now), [`rng`](Cx::rng) |
pub struct Cx<C: Chare> {
    pe: NonNull<Pe>,
    head: NonNull<Head>,
    extra: Option<Box<Extra>>,
    chare: PhantomData<fn() -> C>,
}

impl<C: Chare> Cx<C> {
    #[inline(always)]
    pub(crate) fn new(pe: &Pe, head: NonNull<Head>, extra: Option<Box<Extra>>) -> Self {
        Cx { pe: NonNull::from(pe), head, extra, chare: PhantomData }
    }

    #[inline(always)]
    fn run(&self) -> &Pe {
        // SAFETY: a context lives while an entry runs, and its PE longer.
        unsafe { self.pe.as_ref() }
    }

    #[inline(always)]
    pub(crate) fn head(&self) -> &Head {
        // SAFETY: a context lives while an entry of this object runs; an object is freed after its entry.
        unsafe { self.head.as_ref() }
    }

    /// Whether what PEs do is traced (`--trace`).
    #[doc(hidden)]
    pub fn is_traced(&self) -> bool {
        self.run().tracer.is_some()
    }

    /// For a trace: a virtual rank calls what has this name, or its call has ended.
    #[doc(hidden)]
    pub fn trace_rank(&self, rank: u32, call: Option<&str>) {
        match call {
            Some(name) => self.run().trace_rank_call(rank, name),
            None => self.run().trace_rank_goes_on(rank),
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn __reply<R: Pup + 'static>(&mut self, value: R) {
        if let Some(to) = self.__take_reply() {
            self.run().give_answer(&to, value);
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn __take_reply(&mut self) -> Option<Route> {
        let mut extra = self.extra.take()?;
        let reply = extra.reply.take();
        self.run().spare_extra.keep(extra);
        reply
    }

    /// This async entry goes on: a panic is its own, whatever message made it go on.
    #[doc(hidden)]
    #[inline]
    pub fn __resumes<A: Args, R>(&self, entry: Entry<C, A, R>) {
        self.run().running.set_entry(Some(&C::ENTRIES[entry.number as usize]));
    }

    #[doc(hidden)]
    #[inline]
    pub fn __id(&self) -> ObjId {
        self.head().id()
    }

    /// My index: of the element in its array, of the member's PE in a group (node in a nodegroup).
    #[inline]
    pub fn index(&self) -> C::Index {
        C::Index::from_bits(self.head().index())
    }

    /// A proxy of myself.
    pub fn me(&self) -> Proxy<C> {
        Proxy::to(self.head().id())
    }

    /// The array I am an element of.
    #[inline]
    pub fn array(&self) -> Array<C>
    where
        C: ArrayChare,
    {
        Array::make(self.head().collection().id, None)
    }

    /// The group I am a member of.
    pub fn group(&self) -> Group<C>
    where
        C: GroupChare,
    {
        Group::make(self.head().collection().id, None)
    }

    /// The PE I am on, of all PEs of the job.
    pub fn pe(&self) -> PeId {
        self.run().id
    }

    /// PEs of the job. Those of lost nodes keep their numbers, and what is sent to one of them goes to the one in its place.
    pub fn pes(&self) -> u32 {
        self.run().pes()
    }

    /// The node (process) I am on.
    pub fn node(&self) -> u32 {
        self.run().node.number
    }

    /// Nodes (processes) of the job.
    pub fn nodes(&self) -> u32 {
        self.run().node.shape.nodes
    }

    /// Whether the objects of lost nodes do again what they did, while those of others go on (`--ft logging`).
    #[doc(hidden)]
    pub fn goes_back_alone(&self) -> bool {
        self.run().node.config.logs
    }

    /// Whether other nodes are in this process, as in simulation and in tests: then what is at fixed addresses, or otherwise there once in
    /// a process, is not mine alone.
    pub fn shares_process(&self) -> bool {
        self.run().node.shares_process()
    }

    /// Whether what comes to this PE is kept, so that its entries can run again (`--ft logging`, `--record`): what they read has to come in
    /// messages then.
    pub fn runs_again(&self) -> bool {
        !matches!(self.run().input_log, InputLog::Off | InputLog::Traced)
    }

    /// Whether all messages are packed, those that stay on a PE too: to be looked at.
    #[doc(hidden)]
    pub fn packs_all(&self) -> bool {
        self.run().node.config.pack_all
    }

    /// Whether something may have come for this PE meanwhile: for a long entry that waits for others in its own way. To be looked at often;
    /// [`Cx::end_turn`] has it heard. Always false where entries run again (`--ft logging`, `--record`) and in simulation.
    pub fn may_have_come(&self) -> bool {
        self.run().may_have_come()
    }

    /// What I have sent leaves now, not when this entry has ended: for one that goes on for long. Where entries run again
    /// (`--ft logging`, `--record`) it leaves at the end.
    pub fn flush(&self) {
        self.run().flush();
    }

    /// For an entry with a virtual rank in it: calls this entry of another element with arguments that `lend` packs as those of the
    /// entry, up to their last bytes, which are `end`. `false` if it is to be called as others are.
    #[doc(hidden)]
    pub fn call_in_place<'a, A>(
        &self,
        to: &Proxy<C>,
        entry: Entry<C, A>,
        lend: impl FnOnce(&mut Lender<'a>),
        end: &'a [u8],
    ) -> bool {
        self.run().call_in_place((to.id(), &C::ENTRIES[entry.number as usize]), lend, end)
    }

    /// The same entry gives `take` what calls this one of it, packed, where it waits: the start, and the rest where it is.
    #[doc(hidden)]
    pub fn hear_in_place<A>(
        &self,
        entry: Entry<C, A>,
        hearing: &mut Hearing,
        waits: bool,
        take: &mut dyn FnMut(&[u8], &Rest<'_>) -> bool,
    ) -> Heard {
        let call = (self.head, &C::ENTRIES[entry.number as usize]);
        self.run().hear_in_place(call, hearing, waits, take)
    }

    /// For an entry with a virtual rank in it, as the last that it does: calls this entry of another element of its array when it has
    /// ended, if that is on this PE and nothing waits before it. `false` if it is to be called as others are.
    #[doc(hidden)]
    #[inline]
    pub fn call_next(&self, to: C::Index, entry: Entry<C, ()>) -> bool
    where
        C: ArrayChare,
    {
        let to = ObjId { collection: self.head().collection().id, index: to.to_bits() };
        self.run().call_next(to, &C::ENTRIES[entry.number as usize])
    }

    /// For an entry with a virtual rank in it: where I am, for others of my PE that [pass their turns](Cx::pass_turn) to me.
    #[doc(hidden)]
    pub fn seat(&self) -> Seat {
        Seat(self.head)
    }

    /// The same as [`Cx::call_next`] at once, for an entry that goes on in another element of its array, where that waits: I am that one
    /// from now on, and this was my entry. What I was has had its turn. `None` if it is to wait until this entry has ended: then nothing
    /// has changed.
    ///
    /// # Safety
    /// The element has the [seat](Cx::seat) still, which it had on this PE, and none of its entries runs.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn pass_turn(&mut self, to: Seat, entry: Entry<C, ()>) -> Option<NonNull<C>> {
        // SAFETY: the caller's promise.
        let is_passed = unsafe { self.run().pass_turn(to.0, &C::ENTRIES[entry.number as usize]) };
        is_passed.then(|| {
            self.head = to.0;
            // SAFETY: it is of the collection of the one that I was before.
            unsafe { Object::<C>::state(to.0) }
        })
    }

    /// When this entry has ended, what has come is heard before anything else runs on this PE.
    pub fn end_turn(&self) {
        self.run().ends_turn.set(true);
    }

    /// A callback to an entry of this very object.
    pub fn callback<A: Args, R>(&self, entry: Entry<C, A, R>) -> Callback<A::Value> {
        self.me().callback(entry)
    }

    /// Adds a value to the next reduction over my array or group; the callback gets the result. Every element
    /// contributes to each reduction once, in the same order, and names the same callback.
    ///
    /// # Panics
    /// If I am a chare of its own.
    #[track_caller]
    pub fn contribute<T: Pup + Send + 'static, R: Reducer<T>>(
        &mut self,
        value: T,
        _: R,
        to: Callback<R::Output>,
    ) {
        self.run().contribute::<T, R>(self.head(), value, to.into_route());
    }

    /// The same over a section I belong to.
    pub fn contribute_to<T: Pup + Send + 'static, R: Reducer<T>>(
        &mut self,
        section: Section<C>,
        value: T,
        _: R,
        to: Callback<R::Output>,
    ) {
        self.run().contribute_to_section::<T, R>(self.head(), section.section(), value, to.into_route());
    }

    /// In an async entry: contributes and waits for the result, which every element gets.
    pub fn all_reduce<T: Pup + Send + 'static, R: Reducer<T>>(
        &mut self,
        value: T,
        _: R,
    ) -> AllReduce<R::Output> {
        AllReduce::new::<T, R>(value)
    }

    /// In an async entry: waits until every element of my array or group is at its barrier.
    pub fn barrier(&mut self) -> Barrier {
        Barrier(AllReduce::new::<(), Nothing>(()))
    }

    /// In an async entry: waits until every element of my array is at its `at_sync`, and objects have been balanced
    /// (`--balancer`). I may be on another PE afterwards. Without load balancing it is a barrier.
    pub fn at_sync(&mut self) -> AtSync
    where
        C: ArrayChare,
    {
        AtSync(())
    }

    /// The same without waiting: when every element of my array has called it, and objects have been balanced, the entry is
    /// called on all of them.
    pub fn at_sync_then<A: Args<Value = ()>, R>(&mut self, entry: Entry<C, A, R>)
    where
        C: ArrayChare,
    {
        let then = self.array().callback(entry).into_route();
        self.run().contribute::<(), Nothing>(self.head(), (), Route::AtSync(Box::new(then)));
    }

    /// Asks for objects to be balanced now, all over the job (`--balancer`), whatever `--lb-every` says. Nobody waits for it.
    pub fn balance(&mut self) {
        self.run().want_balance(Why::Request, None);
    }

    /// In an async entry: waits until no message is in flight anywhere, and no timer set.
    pub fn quiescence(&mut self) -> Quiescence {
        Quiescence(())
    }

    /// The callback is called when no message is in flight anywhere, and no timer set.
    pub fn on_quiescence(&mut self, to: Callback) {
        self.run().when_quiet(to.into_route());
    }

    /// The callback is called after at least this time.
    pub fn after(&mut self, time: Duration, to: Callback) {
        self.run().set_timer(self.now() + time, to.into_route());
    }

    /// In an async entry: waits for at least this time.
    pub fn sleep(&mut self, time: Duration) -> Pause {
        Pause(time)
    }

    /// The callback is called, once, when this PE has no other message to run.
    pub fn when_idle(&mut self, to: Callback) {
        self.run().timers.when_idle(to.into_route());
        self.run().chores.set(true);
    }

    /// Moves this object to a PE when the entry returns. Messages on their way follow it.
    ///
    /// # Panics
    /// If there is no such PE, or if the object is a member of a group, which belongs to its PE.
    #[track_caller]
    pub fn migrate_to(&mut self, pe: PeId) {
        check_pe(pe);
        let kind = C::KIND;
        assert!(
            !matches!(kind, crate::chare::Kind::Group | crate::chare::Kind::NodeGroup),
            "a member of a group belongs to its PE and does not migrate"
        );
        let there = self.run().view().acting_for(pe);
        self.head().extras(|extras| extras.destination = there);
        self.head().set(flag::MIGRATE);
    }

    /// Holds this object where it is, or lets it go again: while it is held neither load balancing nor [`migrate_to`](Cx::migrate_to)
    /// moves it. A move that was asked for meanwhile is made when the entry returns that lets it go. For objects that have more than
    /// their state on this PE, such as threads or memory that a device reads.
    ///
    /// An object that is rebuilt from a checkpoint is not held; its `#[restored]` method may hold it anew.
    pub fn hold(&mut self, held: bool) {
        match held {
            true => self.head().set(flag::HELD),
            false => self.head().clear(flag::HELD),
        }
    }

    /// I have more than what is packed of me, until I say otherwise: nothing can go on from a copy. Where all go on from each checkpoint
    /// (`--ft logging`), there is none meanwhile. What says so has to be the same when it is done again.
    #[doc(hidden)]
    pub fn set_partial(&mut self, is_partial: bool) {
        match is_partial {
            true => self.head().set(flag::PARTIAL),
            false => self.head().clear(flag::PARTIAL),
        }
    }

    /// So many bytes were given to another object without a message: load balancing takes them for one.
    #[doc(hidden)]
    #[inline]
    pub fn note_sent(&self, to: &Proxy<C>, bytes: usize) {
        let pe = self.run();
        if pe.measuring.edges {
            pe.note_bytes(to.id(), bytes);
        }
    }

    /// Whether the job goes on without nodes that are lost (`--ft`).
    pub fn survives(&self) -> bool {
        self.run().node.job.survives()
    }

    /// Tells the user of something that is no output, and no error, on standard error.
    pub fn warn(&mut self, what: impl fmt::Display) {
        self.run().node.job.warn(what.to_string());
    }

    /// Removes this object when the entry returns.
    pub fn destroy(&mut self) {
        self.head().set(flag::DESTROY);
    }

    /// Ends the job, successfully. Messages on their way are dropped.
    pub fn exit(&mut self) {
        self.exit_with(0);
    }

    /// Ends the job with an exit status of 0 to 255.
    pub fn exit_with(&mut self, status: u8) {
        self.run().node.job.end(status.into(), None);
    }

    /// Ends the job with an error message and status 1.
    pub fn fail(&mut self, why: impl fmt::Display) {
        self.fail_with(1, why);
    }

    /// Ends the job with an error message and an exit status of 0 to 255.
    pub fn fail_with(&mut self, status: u8, why: impl fmt::Display) {
        self.run().node.job.end(status.into(), Some(why.to_string()));
    }

    /// The program's output: `writeln!(cx.output(), "…")`. Lines of different PEs are not mixed.
    ///
    /// In a job that survives losses (`--ft`) each line appears exactly once, however often it is done again what says it: it is held until
    /// the checkpoint that ends its period is committed, or the job ends. `println!` prints at once, and prints again what is done again.
    /// (Lines may come twice if the launcher is lost, or the whole job, which is started again by `--restart`; none is missing.)
    pub fn output(&mut self) -> Output {
        Output(self.run().node.job.clone())
    }

    /// The same for standard error: its lines come once too, and as late.
    pub fn errors(&mut self) -> Errors {
        Errors(self.run().node.job.clone())
    }

    /// Makes a value readable everywhere: read-only, one copy a node.
    pub fn share<T: Value + Sync>(&mut self, value: T) -> Shared<T> {
        self.run().share(value)
    }

    /// Time since the job started, by the runtime's clock.
    pub fn now(&self) -> Duration {
        self.run().clock.now()
    }

    /// The same for a long entry that looks at it until some time has passed. Where entries run again (`--ft logging`, `--record`) `now`
    /// stands still in them: this is what the machine says, and is kept each time.
    #[doc(hidden)]
    pub fn now_in_entry(&self) -> Duration {
        let pe = self.run();
        match pe.input_log.is_told() {
            true => world(|| pe.clock.measured().max(pe.clock.now())),
            false => pe.clock.now(),
        }
    }

    /// This object's own random numbers, seeded by `--seed` and its name: the same in every run.
    ///
    /// ```
    /// # use talisman::prelude::*;
    /// fn any_pe<C: Chare>(cx: &Cx<C>) -> u32 {
    ///     cx.rng().below(cx.pes().into()) as u32
    /// }
    /// ```
    pub fn rng(&self) -> ObjectRng<'_> {
        ObjectRng { head: self.head(), seed: self.run().node.config.seed }
    }

    /// Asks for a checkpoint of the whole job (`--ft`), at a moment that is good for it: little is in the queues, much is free. The
    /// callback is called once the job can go back to it. Without checkpoints it is called at once.
    pub fn checkpoint(&mut self, to: Callback) {
        self.run().checkpoint(to.into_route());
    }

    /// A result of the program, for `--report`.
    pub fn result(&mut self, name: &str, value: impl Into<ResultValue>) {
        self.run().node.job.record(name, value.into());
    }

    /// The program finished its step `step` (counted from 1): for `--progress` and `--report`.
    pub fn step(&mut self, step: u64) {
        self.run().node.job.step(step);
        self.run().trace_step(step);
        self.run().note_step(step);
    }

    /// How many steps there will be, if the program knows: for `--progress`.
    pub fn expect_steps(&mut self, steps: u64) {
        self.run().node.job.expected_steps.store(steps, std::sync::atomic::Ordering::Relaxed);
    }
}

/// An object's generator, from [`Cx::rng`]. It draws from the object itself: two of them share one sequence.
pub struct ObjectRng<'a> {
    head: &'a Head,
    seed: u64,
}

impl ObjectRng<'_> {
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.draw(Rng::next_u64)
    }

    /// A number from `0` up to, and without, `bound`. `0` when the bound is `0`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw(|rng| rng.below(bound))
    }

    /// A number from 0 up to, and without, 1: a multiple of 2⁻⁵³.
    pub fn unit_f64(&mut self) -> f64 {
        self.draw(Rng::unit_f64)
    }

    /// Draws with a function that takes a generator: `cx.rng().draw(|rng| shuffle(rng, &mut deck))`.
    pub fn draw<T>(&mut self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        let kept = self.head.extras(|extras| extras.rng.take());
        let mut rng = kept.unwrap_or_else(|| Rng::of_object(self.seed, self.head.id()));
        let drawn = draw(&mut rng);
        self.head.extras(|extras| extras.rng = Some(rng));
        drawn
    }
}

/// The program's output, from [`Cx::output`]. Lines appear exactly once, also where nodes are lost and what they did is done again, which
/// `println!` repeats.
pub struct Output(Arc<Job>);

impl Output {
    /// What `write!` and `writeln!` call. It returns nothing: whether output can be written is the runtime's concern.
    pub fn write_fmt(&mut self, args: fmt::Arguments<'_>) {
        self.0.print(&args.to_string());
    }
}

/// The program's standard error, from [`Cx::errors`].
pub struct Errors(Arc<Job>);

impl Errors {
    /// As for [`Output::write_fmt`].
    pub fn write_fmt(&mut self, args: fmt::Arguments<'_>) {
        self.0.print_errors(&args.to_string());
    }
}
