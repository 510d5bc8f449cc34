//! Checkpoints of a job of four PEs on two nodes that is taken forward by hand.

mod written;

use std::ptr::NonNull;
use std::time::Duration;

use self::program::Main;
use super::Checkpoints;
use super::message::{Checkpoint, Taken, Why};
use super::part::Part;
use super::waiting::Messages;
use crate::balance::root::BalancingRootOnPe;
use crate::checkpoint::CheckpointsOnPe;
use crate::checkpoint::drain::DrainOnPe;
use crate::checkpoint::image_fetch::ImageFetchOnPe;
use crate::checkpoint::recovery_message::RecoveryMessage;
use crate::checkpoint::restart::RestartOnPe;
use crate::checkpoint::root::CheckpointRootOnPe;
use crate::lab::Lab;
use talisman_ft::coordinated::Word;
use talisman_ft::double::{Contents, Order};
use talisman_ft::event::Event;
use talisman_ft::period::Period;
use talisman_ft::view::View;
use talisman_job::RunArgs;
use talisman_job::checkpoints::{CkptEvery, FaultTolerance};
use talisman_kernel::message::envelope::{Body, Envelope};
use talisman_kernel::pe::send::pack_in_place;
use talisman_kernel::pe::{Here, Pe};
use talisman_kernel::route::Route;
use talisman_kernel::wire::copy_to_keep;
use talisman_pup::{Packed, SEGMENT_MIN, from_bytes, to_bytes};
use talisman_store::contents::Counts;
use talisman_store::pieces::cut;
use talisman_store::slabs::Room;
use talisman_store::versions::Store;

/// A ball that goes round an array whose elements move, for as long as anybody looks.
mod program {
    use talisman::prelude::*;

    #[derive(Pup)]
    struct Player {
        board: Vec<u64>,
    }

    #[chare(array1d)]
    impl Player {
        #[init]
        fn new() -> Self {
            Player { board: vec![3; 5000] }
        }

        #[entry]
        fn take(&mut self, cx: &mut Cx<Self>, hops: u64) {
            self.board[0] = hops;
            let to = (cx.pe() + 1) % cx.pes();
            cx.migrate_to(to);
            cx.array().at((cx.index() + 1) % 6).take(hops + 1);
        }
    }

    #[derive(Pup)]
    pub struct Main;

    #[talisman::main]
    impl Main {
        #[init]
        fn new() -> Self {
            let players: Array<Player> = Player::array(6).new();
            (0..4).for_each(|i| players.at(i).take(0));
            Main
        }
    }
}

/// Goes on for so long that a checkpoint would be over.
const LONG: usize = 60;

fn with_checkpoints() -> RunArgs {
    let ckpt_every = Some(CkptEvery::Steps(u64::MAX));
    RunArgs { ft: FaultTolerance::Double, ckpt_every, ..RunArgs::default() }
}

fn lab() -> Lab {
    let mut lab = Lab::with::<Main>(&with_checkpoints());
    lab.run(30);
    lab
}

fn want(lab: &Lab) {
    let _here = Here::enter(&lab.pes[3]);
    lab.pes[3].want_checkpoint(Why::Request, None);
}

/// PE 2 says this to PE 1.
fn say(lab: &Lab, message: Checkpoint) {
    let _here = Here::enter(&lab.pes[1]);
    lab.pes[1].on_checkpoint(2, message);
}

fn run_until(lab: &mut Lab, there: impl Fn(&Pe) -> bool) {
    let rounds = (0..LONG).take_while(|_| {
        lab.run(1);
        !there(&lab.pes[1])
    });
    assert!(rounds.count() < LONG, "it never came to that");
}

fn committed(lab: &Lab) -> Vec<u64> {
    lab.pes[0].node.job.checkpoints().iter().map(|checkpoint| checkpoint.version).collect()
}

fn entries(lab: &Lab) -> u64 {
    lab.pes.iter().map(|pe| pe.stats.run.get()).sum()
}

#[test]
fn no_entry_runs_while_a_checkpoint_is_taken() {
    let mut lab = lab();
    want(&lab);
    run_until(&mut lab, |pe| pe.frozen.get());
    while lab.pes.iter().any(|pe| !pe.frozen.get()) {
        lab.run(1);
    }
    let before = entries(&lab);
    while lab.pes.iter().all(|pe| pe.frozen.get()) {
        assert_eq!(entries(&lab), before);
        lab.run(1);
    }
    lab.run(LONG);
    assert_eq!(committed(&lab), [1]);
    assert!(entries(&lab) > before);
    assert_eq!(lab.how_it_ended(), (-1, None));
}

#[test]
fn what_comes_to_a_pe_that_has_been_counted_waits_until_it_is_asked_again() {
    let mut lab = lab();
    want(&lab);
    run_until(&mut lab, |pe| pe.still.get());
    let pe = &lab.pes[1];
    let counts = || (pe.stats.sent.get(), pe.stats.received.get());
    {
        let _here = Here::enter(pe);
        let before = counts();
        pe.accept(pe.pe_message(RecoveryMessage::GoOn));
        assert_eq!((counts(), pe.is_queue_empty()), (before, true));
        pe.on_checkpoint(0, Checkpoint::Ask { wave: 9 });
        assert_eq!((counts(), pe.is_queue_empty()), ((before.0, before.1 + 1), false));
        assert!(!pe.still.get());
    }
}

#[test]
fn what_is_asked_for_in_the_midst_of_one_is_another() {
    let mut lab = lab();
    want(&lab);
    run_until(&mut lab, |pe| pe.frozen.get());
    (0..3).for_each(|_| want(&lab));
    lab.run(2 * LONG);
    assert_eq!(committed(&lab), [1, 2]);
}

#[test]
fn what_is_out_of_turn_changes_nothing() {
    let wrong = || {
        let nothing = Taken::default();
        [
            Checkpoint::Freeze { version: 0, leaving: vec![] },
            Checkpoint::Ask { wave: 7 },
            Checkpoint::Count { wave: 7, sent: 9, received: 9 },
            Checkpoint::Take,
            Checkpoint::Taken(nothing, Counts::default()),
            Checkpoint::Thaw(Counts::default()),
            Checkpoint::Got { version: 4 },
            Checkpoint::Stored { version: 4 },
            Checkpoint::Commit { version: 4 },
            Checkpoint::Bring { version: 4 },
            Checkpoint::Write { version: 4 },
            Checkpoint::Written { version: 4 },
            Checkpoint::NotWritten { version: 4, why: String::new() },
            Checkpoint::AllWritten { version: 4, is_whole: true },
            Checkpoint::Leaving { nodes: vec![7] },
        ]
    };
    let mut lab = lab();
    wrong().into_iter().for_each(|message| say(&lab, message));
    assert!(!lab.pes[1].frozen.get());
    want(&lab);
    run_until(&mut lab, |pe| pe.frozen.get());
    say(&lab, Checkpoint::Freeze { version: 1, leaving: vec![] });
    say(&lab, Checkpoint::Freeze { version: 2, leaving: vec![] });
    say(&lab, Checkpoint::Count { wave: 7, sent: 9, received: 9 });
    say(&lab, Checkpoint::Taken(Taken::default(), Counts::default()));
    lab.run(2 * LONG);
    assert_eq!(committed(&lab), [1]);
    assert!(!lab.pes[1].frozen.get());
    assert_eq!(lab.how_it_ended(), (-1, None));
}

#[test]
fn a_part_is_the_same_where_it_was_taken_and_where_its_copy_is() {
    let mut lab = lab();
    want(&lab);
    lab.run(LONG);
    let mut objects = 0;
    for pe in &lab.pes {
        let _here = Here::enter(pe);
        let of = |node: usize| {
            to_bytes(&lab.pes[2 * node].node.store.part::<Part>(1, pe.id).expect("it is there"))
        };
        assert!(of(0) == of(1), "PE {}", pe.id);
        let part: Part = from_bytes(&of(0)).expect("it is one");
        assert_eq!((part.pe, to_bytes(&part)), (pe.id, of(0)));
        assert_eq!(
            Packed::of(&part).into_value::<Part>().map(|part| part.objects.len()),
            Ok(part.objects.len())
        );
        objects += part.objects.len();
    }
    assert_eq!(objects, 7, "the players and the main chare, each in one part");
    for node in [0, 2] {
        let held = lab.pes[node].node.store.held();
        let all: Vec<_> = held.iter().map(|held| (held.version, held.held.clone(), held.committed)).collect();
        assert_eq!(all, [(1, vec![0, 1], true)]);
    }
}

#[test]
fn every_node_knows_what_is_in_all_parts() {
    let mut lab = lab();
    want(&lab);
    lab.run(LONG);
    let mut sum = Contents::default();
    for node in 0..2 {
        let known =
            |at: usize| lab.pes[2 * at].node.store.contents(1, node).expect("a version has a part of each");
        assert_eq!(known(0), known(1));
        let objects =
            |pe: &Pe| pe.node.store.part::<Part>(1, pe.id).expect("it is there").objects.len() as u64;
        let there: u64 = lab.pes[2 * node as usize..][..2].iter().map(objects).sum();
        assert_eq!(known(0).objects(), there);
        sum.add(&known(0));
    }
    let text = sum.to_string().replace(concat!(module_path!(), "::program::"), "");
    assert_eq!(text, "7 objects: 6 of array Player and 1 of main chare Main");
    assert_eq!(lab.pes[0].node.store.contents(2, 0), None);
}

#[test]
fn a_copy_does_not_come_in_the_place_of_what_a_pe_took_itself() {
    let mut lab = lab();
    want(&lab);
    lab.run(LONG);
    let store = &lab.pes[0].node.store;
    assert!(!store.expect(1, lab.pes[0].view(), 1, Default::default()));
    assert!(store.part::<Part>(1, 1).is_ok());
}

#[test]
fn a_message_is_kept_as_if_its_arguments_had_been_packed_before() {
    let lab = lab();
    let mut calls = 0;
    for pe in &lab.pes {
        let _here = Here::enter(pe);
        while let Some(mut envelope) = pe.next_message() {
            // SAFETY: the queue gave the envelope away.
            let message = unsafe { envelope.as_mut() };
            if let Body::Invoke(_) | Body::Create(_) = message.body {
                let kept = copy_to_keep(message);
                pack_in_place(message);
                assert_eq!(kept, copy_to_keep(message));
                calls += 1;
            }
            pe.release(envelope);
        }
    }
    assert!(calls > 0, "some messages are for objects");
}

#[test]
fn messages_that_wait_are_packed_in_pieces_which_are_in_slabs() {
    const MANY: usize = 10_000;
    let lab = lab();
    let store = Store::default();
    let is_call = |envelope: &NonNull<Envelope>| {
        // SAFETY: the queue gives the envelope away.
        matches!(unsafe { envelope.as_ref() }.body, Body::Invoke(_))
    };
    let waiting = |pe: &Pe| {
        let _here = Here::enter(pe);
        std::iter::from_fn(|| pe.next_message()).find(is_call)
    };
    let (pe, envelope) =
        lab.pes.iter().find_map(|pe| Some((pe, waiting(pe)?))).expect("somebody plays somewhere");
    let _here = Here::enter(pe);
    // SAFETY: as above.
    let message = unsafe { envelope.as_ref() };
    let messages =
        Messages::pack(std::iter::repeat_n(message, MANY), &store, &mut Room::default(), |_, _| {});
    let packed = Packed::of(&messages);
    assert!((4..MANY / 10).contains(&packed.segments().len()), "{} pieces", packed.segments().len());
    assert!(packed.bytes().len() < SEGMENT_MIN, "{} bytes beside", packed.bytes().len());
    let read: Messages = packed.into_value().expect("it was packed so");
    let each = read.each().expect("they were packed so");
    assert_eq!(each.len(), MANY);
    assert!(each.iter().all(|one| *one == copy_to_keep(message)));
    pe.release(envelope);
}

#[test]
fn what_is_no_message_is_told() {
    let pieces = Packed::of(&vec![Packed::of(&vec![u64::MAX; 3])]);
    let messages: Messages = pieces.into_value().expect("it is some pieces");
    assert!(messages.each().is_err());
}

fn checkpoints(pe: &Pe) -> &Checkpoints {
    pe.checkpoints().expect("there are checkpoints")
}

/// Every PE lends its part, whoever its buddy is, and looks after the parts that it is lent.
fn lend(lab: &mut Lab, mut look: impl FnMut(&Pe)) {
    lab.pes.iter().for_each(|pe| checkpoints(pe).copies.lends.set(true));
    want(lab);
    for _ in 0..2 * LONG {
        lab.run(1);
        for pe in lab.pes.iter().filter(|pe| pe.is_taking_copies()) {
            let _here = Here::enter(pe);
            look(pe);
            pe.take_copies(pe.clock.now());
        }
    }
}

/// A turn, in which a PE that is not frozen takes the parts that it is lent too.
fn turn(lab: &mut Lab, id: usize) {
    lab.turn(id);
    let pe = &lab.pes[id];
    if pe.is_taking_copies() && !pe.frozen.get() {
        let _here = Here::enter(pe);
        pe.take_copies(pe.clock.now());
    }
}

#[test]
fn a_part_that_is_lent_is_taken_where_it_is() {
    parts_are_lent(&mut lab());
}

#[test]
fn a_part_in_memory_that_is_shared_is_there_without_a_copy() {
    let mut lab = lab();
    lab.pes.iter().step_by(2).for_each(|pe| pe.node.store.share());
    parts_are_lent(&mut lab);
    let mapped = |pe: &Pe| pe.node.store.mapped(3);
    let mapped: usize = lab.pes.iter().step_by(2).map(mapped).sum();
    assert_eq!(mapped, 6, "the boards");
}

fn parts_are_lent(lab: &mut Lab) {
    let mut looks = 0;
    lend(lab, |_| looks += 1);
    assert_eq!((committed(lab), looks), (vec![1], 4), "one look is enough for a part of some 100 KB");
    for pe in &lab.pes {
        let _here = Here::enter(pe);
        let of = |node: usize| {
            to_bytes(&lab.pes[2 * node].node.store.part::<Part>(1, pe.id).expect("it is there"))
        };
        assert!(of(0) == of(1), "PE {}", pe.id);
    }
    lend(lab, |_| ());
    lend(lab, |_| ());
    assert_eq!(committed(lab), [1, 2, 3]);
    assert_eq!(lab.how_it_ended(), (-1, None));
}

#[test]
fn whoever_thaws_last_takes_part_in_the_next_one_too() {
    for late in 0..4 {
        let mut lab = lab();
        // Its part is there before it thaws, and what it keeps of another comes in pieces whether it has thawed or not.
        checkpoints(&lab.pes[late]).copies.lends.set(true);
        want(&lab);
        run_until(&mut lab, |pe| pe.frozen.get());
        want(&lab);
        let mut turns = (0..4).cycle().take(4 * LONG);
        while !checkpoints(&lab.pes[late]).drain.is_over() {
            turn(&mut lab, turns.next().expect("it comes to that"));
        }
        // Meanwhile all others thaw, and everybody's part is held twice.
        for id in (0..LONG).flat_map(|_| 0..4) {
            if id == late { lab.send(id) } else { turn(&mut lab, id) }
        }
        assert_eq!(committed(&lab).is_empty(), late == 0, "the first PE ends nothing before it has thawed");
        (0..LONG).for_each(|_| (0..4).for_each(|id| turn(&mut lab, id)));
        assert_eq!(committed(&lab), [1, 2], "PE {late} was late");
        assert!(lab.pes.iter().all(|pe| !pe.frozen.get()));
        assert_eq!(lab.how_it_ended(), (-1, None));
    }
}

#[test]
fn a_part_that_cannot_be_read_comes_in_pieces() {
    let mut lab = lab();
    let mut looks = 0;
    lend(&mut lab, |pe| {
        looks += 1;
        let takings = &pe.checkpoints().expect("there are checkpoints").copies.takings;
        takings.all.borrow_mut().iter_mut().for_each(|taking| taking.lent.mark ^= 1);
    });
    assert_eq!((committed(&lab), looks), (vec![1], 4));
    lend(&mut lab, |_| panic!("who was refused once does not lend any more"));
    assert_eq!(committed(&lab), [1, 2]);
    assert_eq!(lab.how_it_ended(), (-1, None));
}

/// The parts of a checkpoint of a job with all options, where `ask` was asked for on the first PE when that was frozen.
fn parts_where(ask: impl Fn(&Pe)) -> Vec<Part> {
    let mut former = Lab::with::<Main>(&RunArgs { balancer: "rotate".into(), ..with_checkpoints() });
    former.run(30);
    want(&former);
    while !former.pes[0].frozen.get() {
        former.run(1);
    }
    {
        let _here = Here::enter(&former.pes[0]);
        ask(&former.pes[0]);
    }
    let part = |pe: &Pe| {
        let _here = Here::enter(pe);
        pe.node.store.part::<Part>(1, pe.id).ok()
    };
    for _ in 0..LONG {
        if let Some(parts) = former.pes.iter().map(part).collect() {
            return parts;
        }
        former.run(1);
    }
    panic!("no checkpoint was taken");
}

/// Whoever starts a job again may leave out what it had.
#[test]
fn who_waits_for_what_there_is_no_more_is_told_at_once() {
    let at_sync = |pe: &Pe| pe.at_sync(&Route::Exit(7), Packed::default());
    let checkpoint = |pe: &Pe| pe.checkpoint(Route::Exit(7));
    let asks: [&dyn Fn(&Pe); 2] = [&at_sync, &checkpoint];
    for ask in asks {
        let balanced = RunArgs { balancer: "rotate".into(), ..RunArgs::default() };
        for options in [RunArgs::default(), balanced, with_checkpoints()] {
            let mut lab = Lab::going_on(&options, parts_where(ask));
            lab.run(2 * LONG);
            assert_eq!(lab.how_it_ended(), (7, None), "{:?} {}", options.ft, options.balancer);
        }
    }
}

/// A job halts for other reasons than losses, too.
#[test]
fn the_period_follows_failures_and_not_epochs() {
    let ckpt_every = Some(CkptEvery::Auto);
    let lab = Lab::with::<Main>(&RunArgs { ft: FaultTolerance::Double, ckpt_every, ..RunArgs::default() });
    let view = View::whole(2).after(7, 2, |_| true, |node| node);
    let order = Order { failures: 2, ..Order::new(view, None, 1) };
    let _here = Here::enter(&lab.pes[0]);
    lab.pes[0].begin_by(&order, |_| ()).expect("there is nothing to restore");
    lab.pes[0].begin_checkpoints();
    let mut expected = Period::new(None);
    expected.failed(2);
    let checkpoints = lab.pes[0].checkpoints().expect("they were asked for");
    assert_eq!(checkpoints.root.borrow().period, expected);
}

/// A checkpoint is under way at the first PE, and one of the parts cannot be kept.
fn one_is_given_up(lab: &mut Lab, why: Why, meanwhile: impl Fn(&Pe)) {
    {
        let _here = Here::enter(&lab.pes[0]);
        lab.pes[0].on_checkpoint_request(checkpoints(&lab.pes[0]), why, None);
        let refusal = Word::Safe(1, Err("the disk is full".into()));
        lab.pes[0].drive(checkpoints(&lab.pes[0]), Event::Heard(refusal));
        meanwhile(&lab.pes[0]);
    }
    lab.run(LONG);
    assert_eq!(committed(lab), [0; 0]);
}

/// Until then another loss may be one too many.
#[test]
fn what_is_held_but_once_is_tried_again_soon_however_long_the_period_is() {
    let hour = Duration::from_secs(3600);
    for (why, soon) in [(Why::Failure, true), (Why::Request, false)] {
        let ckpt_every = Some(CkptEvery::Time(hour));
        let mut lab = Lab::with::<Main>(&RunArgs { ckpt_every, ..with_checkpoints() });
        lab.run(30);
        one_is_given_up(&mut lab, why, |_| ());
        let pe = &lab.pes[0];
        let again = pe.timers.checkpoint.get().expect("there is a period").saturating_sub(pe.clock.now());
        assert_eq!(again <= super::root::TRY_AGAIN, soon, "{again:?}");
        assert!(again <= hour);
    }
}

#[test]
fn whoever_is_to_go_with_the_next_one_goes_though_this_one_is_given_up() {
    for first in [vec![], vec![1]] {
        let mut lab = lab();
        let leaving = |pe: &Pe| checkpoints(pe).root.borrow().leaving.clone();
        checkpoints(&lab.pes[0]).root.borrow_mut().on_leaving(first.clone());
        one_is_given_up(&mut lab, Why::Request, |pe| checkpoints(pe).root.borrow_mut().on_leaving(vec![0]));
        assert_eq!(leaving(&lab.pes[0]), [0], "{first:?} were to go with the one that was given up");
    }
}

#[test]
fn what_a_disk_takes_by_itself_costs_nothing() {
    let [took, blocked, beside] = [300, 6, 10].map(Duration::from_millis);
    let cost = |beside: &[Option<Duration>]| {
        let mut root = super::root::Root::new(None);
        beside.iter().for_each(|beside| root.account(took, blocked, *beside));
        root.period
    };
    let expected = |costs: &[Duration]| {
        let mut period = Period::new(None);
        costs.iter().for_each(|cost| period.checkpoint(*cost));
        period
    };
    assert_eq!(cost(&[None]), expected(&[took]));
    assert_eq!(cost(&[Some(beside), Some(beside * 3)]), expected(&[blocked + beside, blocked + beside * 2]));
    assert_eq!(cost(&[Some(took * 2)]), expected(&[took]), "no more than it took");
}

/// The job goes on: the version before it stays.
#[test]
fn a_copy_that_is_damaged_on_its_way_costs_a_version() {
    let lab = lab();
    let pe = &lab.pes[2];
    let _here = Here::enter(pe);
    let (manifest, _) = cut(&Packed::of(&vec![3_u64; 5000]));
    pe.on_checkpoint(0, Checkpoint::Copy { version: 9, manifest, lent: None });
    assert_eq!(checkpoints(pe).copies.coming(), 1);
    for piece in 0..3 {
        let slices = Packed::new(Default::default(), Vec::new(), Vec::new());
        pe.on_checkpoint(0, Checkpoint::Piece { version: 9, piece, sum: 1, slices });
    }
    assert_eq!(checkpoints(pe).copies.coming(), 0);
    assert!(!pe.node.store.refuse(9, 0), "nothing of it is left");
    assert_eq!(lab.how_it_ended(), (-1, None));
}
