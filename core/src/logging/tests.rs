//! What is recorded, and how it goes.

use std::mem::MaybeUninit;

use super::given::Given;
use super::image::{Beginning, Image};
use super::letter::Letter;
use super::member::Member;
use super::recorder::Record;
use super::wire;
use super::words::{Out, Said, Word};
use talisman_ft::logging::{
    Cut, Entry, Guide, Input, Lane, LogId, Membership, Order, Reach, Ride, Shape, Stable, Step,
};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::pe::turn::Command;
use talisman_kernel::port::Sent;
use talisman_pup::{Packed, Segment, Tail};

const SHAPE: Shape = Shape { nodes: 3, pes_per_node: 1 };

fn frame(bytes: &[u8]) -> Frame {
    Frame::with_head(bytes, Vec::new())
}

/// As a PE sends it to another.
fn sent(to: u32, frame: Frame) -> Sent {
    Sent { to, at: 0, bytes: 0, parcel: frame.into_parcel(), is_determined: true }
}

fn member(node: u32) -> Member {
    Member::first(Image::first(node, SHAPE, 0, vec![Beginning::Nothing]), SHAPE, &[]).watched()
}

fn letters(member: &mut Member) -> Vec<Letter> {
    let letter = |out| match out {
        Out::Letter(_, _, letter) => Some(letter),
        _ => None,
    };
    member.take_out().into_iter().filter_map(letter).collect()
}

#[test]
fn inputs_that_are_no_messages_come_back_from_their_entries() {
    let all = [
        Given::Time(u64::MAX),
        Given::Idle { idle_ns: 7, released_ns: 0 },
        Given::from(&Command::Suspect),
        Given::from(&Command::Balance),
        Given::from(&Command::CannotKeep(7)),
        Given::from(&Command::Checkpoint { asked: Some(true), leaving: vec![1, 2] }),
    ];
    for given in all {
        let Input::Command(packed) = given.input() else { panic!("{given:?}") };
        assert_eq!(Given::read(&packed).unwrap(), given);
        (0..packed.len()).for_each(|end| assert!(Given::read(&packed[..end]).is_err(), "{given:?}"));
    }
}

#[test]
fn a_letter_comes_as_it_was_sent_and_one_that_is_cut_short_does_not() {
    let of_pe = frame(b"of the PE");
    let of = |is_determined| {
        let frame = of_pe.clone();
        Letter { between: (1, 2), number: 9, to: 3, ride: vec![5; 300], frame, is_determined }
    };
    let mut sealed = Vec::new();
    for letter in [of(true), of(false)] {
        sealed.clear();
        letter.write(&mut sealed);
        assert_eq!(Letter::open(&sealed, Vec::new()), Some(letter));
    }
    let letter = of(false);
    for end in 0..324 {
        assert_eq!(Letter::open(&sealed[..end], Vec::new()), None, "{end} bytes");
    }
    for here in 0..sealed.len() {
        let (start, last) = sealed.split_at(here);
        let expected = (here >= 24).then(|| letter.clone());
        assert_eq!(Letter::open_with(start, &Elsewhere(last)), expected, "{here} bytes here");
    }
    for here in 0..324 {
        let cut = Elsewhere(&sealed[here..323]);
        assert_eq!(Letter::open_with(&sealed[..here], &cut), None, "{here} bytes here");
    }
}

struct Elsewhere<'a>(&'a [u8]);

// SAFETY: all are copied.
unsafe impl Tail for Elsewhere<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn copy_to(&self, to: &mut [MaybeUninit<u8>]) {
        assert_eq!(to.len(), self.len());
        to.iter_mut().zip(self.0).for_each(|(to, byte)| _ = to.write(*byte));
    }
}

#[test]
fn what_a_pe_is_given_is_placed_by_its_messages_and_time_is_told_once() {
    let record = Record::default();
    let recorder = record.recorder();
    let lane = |frames| Input::Lane { from: 1, frames, told: vec![5] };
    record.takes(40, lane(2));
    recorder.time(40);
    recorder.runs();
    recorder.time(40);
    recorder.value(vec![1]);
    record.takes(41, lane(1));
    let given = |at, input| Entry { at, input };
    let expected = [
        given(0, Given::Time(40).input()),
        given(0, lane(2)),
        given(1, Input::Value { kind: 0, bytes: vec![1] }),
        given(1, Given::Time(41).input()),
        given(1, lane(1)),
    ];
    assert_eq!(record.take_fresh(), expected);
}

#[test]
fn a_pe_that_runs_again_reads_the_values_that_were_read_and_logs_what_is_new() {
    let value = Entry { at: 1, input: Input::Value { kind: 0, bytes: vec![7] } };
    let record = Record::guided(Guide::new([value], Reach::default()));
    let recorder = record.recorder();
    assert_eq!(record.next(&Reach::default(), true), Ok(Some(Step::Run)));
    recorder.time(3);
    recorder.runs();
    assert_eq!(recorder.value_again(), Some(vec![7]));
    assert_eq!(recorder.value_again(), None, "it is past its log");
    recorder.value(vec![8]);
    assert_eq!(record.next(&Reach::default(), true), Ok(Some(Step::AtHorizon)));
    assert!(recorder.runs_again());
    record.go_live();
    assert!(!recorder.runs_again());
    let new = Entry { at: 1, input: Input::Value { kind: 0, bytes: vec![8] } };
    assert_eq!(record.take_fresh(), [new]);
}

#[test]
fn a_value_that_was_not_read_before_is_noticed() {
    let frames = Entry { at: 1, input: Input::Lane { from: 1, frames: 1, told: vec![0] } };
    let record = Record::guided(Guide::new([frames], Reach::default()));
    let recorder = record.recorder();
    recorder.runs();
    assert_eq!(recorder.value_again(), None);
    assert!(record.next(&Reach::default(), true).is_err());
}

/// The keeper of node 0, node 1, has so much of its log.
fn stable(member: &mut Member, length: u64) {
    let stable = Stable { log: LogId { node: 0, rank: 0 }, incarnation: 0, length };
    member.hear(1, (0, 0), Word::Stable(vec![stable]));
    member.release();
}

#[test]
fn nothing_leaves_a_strict_node_before_its_log_is_kept() {
    let mut one = member(0).strict(true);
    let numbers = |member: &mut Member| letters(member).iter().map(|sent| sent.number).collect::<Vec<_>>();
    let send = |member: &mut Member, time| {
        member.record(0).recorder().time(time);
        member.absorb();
        member.send(0, sent(2, frame(b"x")));
        member.release();
    };
    (1..4).for_each(|time| send(&mut one, time));
    assert!(one.holds_frames());
    assert_eq!(numbers(&mut one), [0; 0]);
    stable(&mut one, 2);
    assert_eq!(numbers(&mut one), [0, 1], "as far as it is kept, in order");
    // Node 2 comes again, and has taken the first: the second goes to it once more, when the whole log is kept.
    let cut = Cut { node: 2, ended: 0, ends: vec![0] };
    one.obey(Order::Ask { to: 0, session: 1, lost: vec![2] });
    one.obey(Order::Announce { to: 0, session: 1, restarted: vec![(cut, 1)] });
    let (taken, marks) = (vec![1], vec![Vec::new()]);
    one.hear(2, (1, 0), Word::From { taken, marks, answer: false });
    one.release();
    assert_eq!(numbers(&mut one), [0; 0]);
    stable(&mut one, 3);
    let sent = letters(&mut one);
    assert_eq!(sent.iter().map(|sent| sent.number).collect::<Vec<_>>(), [1, 2]);
    let rides = sent.iter().map(|sent| Ride::read(&sent.ride, SHAPE).expect("it was written"));
    rides.for_each(|ride| assert!(ride.batches.is_empty(), "what is kept need not ride"));
    assert!(!one.holds_frames());
}

#[test]
fn what_a_node_was_given_rides_on_its_next_frame_and_is_logged_where_that_is_taken() {
    let (mut one, mut two) = (member(0), member(1));
    one.record(0).recorder().time(9);
    one.absorb();
    let sent = one.send(0, sent(1, frame(b"x"))).expect("it is for another node");
    assert_eq!((sent.lane, sent.number, sent.is_taken), (Lane { from: 0, to: 1, rank: 0 }, 0, false));
    let sent = letters(&mut one);
    assert_eq!(sent.len(), 1);
    two.receive(0, 0, sent[0].clone());
    let (taken, came) = two.take(0, 11, |_| true, true).unwrap();
    assert_eq!((taken.len(), taken[0].from), (1, 0));
    assert_eq!((came[0].number, &came[0].frame), (0, &frame(b"x")));
    let entries = two.record(0).take_fresh();
    let lane = Input::Lane { from: 0, frames: 1, told: vec![1] };
    assert_eq!(
        entries.into_iter().map(|entry| entry.input).collect::<Vec<_>>(),
        [Given::Time(11).input(), lane]
    );
    two.receive(0, 0, sent[0].clone());
    let again = two.take(0, 12, |_| true, true).map(|_| ()).unwrap_err();
    assert!(again.contains("frame 0 where 1"), "it comes twice: {again}");
}

#[test]
fn what_is_for_another_pe_of_the_node_goes_on_by_a_ring() {
    let shape = Shape { nodes: 2, pes_per_node: 2 };
    let nothing = || vec![Beginning::Nothing, Beginning::Nothing];
    let of = |node| Member::first(Image::first(node, shape, 0, nothing()), shape, &[]);
    let (mut one, mut two) = (of(0), of(1));
    // From PE 0 to PE 3, the second one of node 1: on the lane of the first ones.
    one.send(0, sent(3, frame(b"x"))).expect("it is for another node");
    two.receive(0, 0, letters(&mut one).remove(0));
    assert!(two.take(0, 5, |_| true, true).unwrap().0.is_empty());
    assert!(two.take_out().iter().any(|out| matches!(out, Out::Wake(1))));
    let (taken, _) = two.take(1, 6, |_| true, true).unwrap();
    assert_eq!((taken.len(), taken[0].from), (1, 0));
    let entries = two.record(1).take_fresh();
    assert!(matches!(entries[1].input, Input::Ring { rank: 0, slots: 1, told: 2 }), "{entries:?}");
}

#[test]
fn a_line_waits_for_the_keeper() {
    let (mut one, mut two) = (member(0), member(1));
    one.record(0).recorder().time(9);
    one.absorb();
    one.say(0, Said::Line("said".into()));
    one.release();
    assert!(one.take_out().is_empty());
    assert!(one.wants_flush(), "it depends on what is not stable");
    one.flush();
    for out in one.take_out() {
        let Out::Word(1, between, word @ Word::Flush(_)) = out else { panic!("{out:?}") };
        two.hear(0, between, word);
    }
    for out in two.take_out() {
        let Out::Word(0, between, word) = out else { panic!("{out:?}") };
        one.hear(1, between, word);
    }
    one.release();
    let said = one.take_out();
    assert!(matches!(&said[..], [Out::Say(0, 0, Said::Line(line))] if line == "said"), "{said:?}");
    assert!(one.has_unprinted());
    one.on_printed(0, LogId { node: 0, rank: 0 }, 1);
    assert!(!one.has_unprinted());
}

/// All that these have for each other is brought there, until they have nothing more; what they have said to whoever leads.
fn bring_all(members: &mut [Member; 3]) -> Vec<(u32, Out)> {
    bring_all_where(members, true)
}

/// The same where keepers have memory for parts of others, or none.
fn bring_all_where(members: &mut [Member; 3], has_room: bool) -> Vec<(u32, Out)> {
    let mut left = Vec::new();
    loop {
        let mut any = false;
        for from in 0..3_u32 {
            for out in members[from as usize].take_out() {
                any = true;
                match out {
                    Out::Word(to, between, word) => members[to as usize].hear(from, between, word),
                    Out::Letter(rank, to, letter) => members[to as usize].receive(from, rank, letter),
                    Out::AskRoom(of, version, _) => members[from as usize].has_room(of, version, has_room),
                    other => left.push((from, other)),
                }
            }
        }
        if !any {
            return left;
        }
    }
}

fn three() -> [Member; 3] {
    let image = |node| Image::first(node, SHAPE, 0, vec![Beginning::Nothing]);
    [0, 1, 2].map(|node| Member::first(image(node), SHAPE, &[image((node + 2) % 3)]))
}

fn cut_of(node: u32, version: u64) -> Image {
    Image::first(node, SHAPE, 7, vec![Beginning::Nothing]).of_cut(version, Default::default())
}

#[test]
fn a_node_says_that_it_holds_its_part_once_its_keeper_does_and_all_is_printed() {
    let mut members = three();
    members[0].say(0, Said::Line("said".into()));
    members[0].release();
    members[0].hold(cut_of(0, 4));
    let holds = |out: &(u32, Out)| matches!(out, (0, Out::Holds(4, 0, 0)));
    assert_eq!(bring_all(&mut members).iter().filter(|out| holds(out)).count(), 0);
    members[0].see_to_next();
    assert!(!bring_all(&mut members).iter().any(holds), "its line may be lost");
    members[0].on_printed(0, LogId { node: 0, rank: 0 }, 1);
    members[0].see_to_next();
    members[0].see_to_next();
    assert_eq!(bring_all(&mut members).iter().filter(|out| holds(out)).count(), 1, "it says so once");
}

#[test]
fn a_keeper_without_memory_for_a_part_is_not_sent_it_and_the_cut_is_given_up() {
    let mut members = three();
    members[0].hold(cut_of(0, 4));
    members[2].hold(cut_of(2, 4));
    let left = bring_all_where(&mut members, false);
    let refused = |out: &(u32, Out)| matches!(out, (0 | 2, Out::CannotKeep(4)));
    assert!(left.len() == 2 && left.iter().all(refused), "{left:?}");
    members[0].see_to_next();
    assert!(bring_all(&mut members).is_empty(), "it is asked once");
    // Another one might have memory, but the PEs may have heard by then that this had none.
    members[0].send_next_again();
    assert!(bring_all(&mut members).is_empty(), "nobody else is");
    members[0].give_up(4);
    assert_eq!((members[0].next_version(), members[0].given_up()), (None, 4));
    // Another cut, which there is memory for.
    members[0].hold(cut_of(0, 5));
    bring_all(&mut members);
    members[0].see_to_next();
    let left = bring_all(&mut members);
    assert!(matches!(&left[..], [(0, Out::Holds(5, 0, 0))]), "{left:?}");
}

#[test]
fn nobody_holds_what_others_had_of_a_cut_that_was_given_up() {
    let mut members = three();
    members[0].hold(cut_of(0, 4));
    members[1].give_up(4);
    bring_all(&mut members);
    assert!(members[1].next_kept.is_empty());
    members[0].hold(cut_of(0, 5));
    bring_all(&mut members);
    assert_eq!(members[1].next_kept.len(), 1);
    members[1].give_up(5);
    assert!(members[1].next_kept.is_empty());
}

#[test]
fn in_the_next_line_nothing_is_kept_and_all_begin_at_the_same_place() {
    let mut members = three();
    members[0].send(0, sent(1, frame(b"before")));
    members[1].record(0).recorder().time(5);
    members[1].absorb();
    bring_all(&mut members);
    assert!(members[0].kept_bytes() > 0 && members[0].kept_frames() == 1);
    for node in 0..3 {
        members[node as usize].hold(cut_of(node, 4));
    }
    bring_all(&mut members);
    let next = members.map(|member| member.begin_line(4, Membership::around(SHAPE.nodes)).unwrap());
    for (node, (member, image)) in (0..).zip(&next) {
        assert_eq!((member.kept_bytes(), member.kept_frames(), member.line()), (0, 0, 4));
        assert_eq!((image.of, image.line), (node, 4));
        assert!(member.is_live() && member.next_version().is_none());
    }
    let mut members = next.map(|(member, _)| member);
    let sent = members[0].send(0, sent(1, frame(b"after"))).expect("it is for another node");
    assert_eq!((sent.number, sent.is_taken), (0, false));
    bring_all(&mut members);
    assert_eq!(members[1].take(0, 9, |_| true, true).unwrap().0.len(), 1);
    assert!(member(0).begin_line(4, Membership::around(SHAPE.nodes)).is_err(), "it has no part of that");
}

#[test]
fn what_is_made_again_is_held_against_what_was_taken() {
    let mut members = three();
    for bytes in [b"one", b"two"] {
        members[0].send(0, sent(1, frame(bytes)));
    }
    bring_all(&mut members);
    members[1].take(0, 9, |_| true, true).unwrap();
    let marks = members[1].marks_of(0);
    assert_eq!(marks[0].len(), 2);
    let again = |first: &[u8], second: &[u8]| {
        let mut again = member(0);
        again.send(0, sent(1, frame(first)));
        let word = Word::From { taken: vec![2], marks: marks.clone(), answer: false };
        again.hear(1, (0, 0), word);
        again.send(0, sent(1, frame(second)));
        again.send(0, sent(1, frame(b"new")));
        let differs = |out| if let Out::Differs(differs) = out { Some(differs.number) } else { None };
        again.take_out().into_iter().filter_map(differs).collect::<Vec<_>>()
    };
    assert_eq!(again(b"one", b"two"), [0_u64; 0]);
    assert_eq!(again(b"won", b"two"), [0], "it was made before that was known");
    assert_eq!(again(b"one", b"too"), [1]);
}

#[test]
fn of_an_object_with_bytes_that_nothing_determines_it_is_looked_at_which_it_is() {
    let of = |object: u8, bytes: usize, is_determined| {
        let head: Vec<u8> = [vec![object; 32], vec![bytes as u8; bytes]].concat();
        Sent { is_determined, ..sent(1, frame(&head)) }
    };
    let mut members = three();
    members[0].send(0, of(7, 100, false));
    bring_all(&mut members);
    members[1].take(0, 9, |_| true, true).unwrap();
    let marks = members[1].marks_of(0);
    let again = |made: Sent| {
        let mut again = member(0);
        again.hear(1, (0, 0), Word::From { taken: vec![1], marks: marks.clone(), answer: false });
        again.send(0, made);
        again.take_out().iter().any(|out| matches!(out, Out::Differs(_)))
    };
    assert!(!again(of(7, 100, false)) && !again(of(7, 99, false)));
    assert!(again(of(8, 100, false)), "another object moves");
    assert!(again(of(7, 100, true)), "something else is sent");
}

#[test]
fn an_image_goes_with_its_parts_beside_it_and_none_is_left_out() {
    let shape = Shape { nodes: 3, pes_per_node: 2 };
    let part = |values: usize| Beginning::Parts(Packed::of(&vec![vec![0.5_f64; values]; 3]));
    for states in [
        vec![part(5), part(100_000)],
        vec![Beginning::Nothing, part(100_000)],
        vec![Beginning::Program, Beginning::Former],
    ] {
        let image = Image::first(1, shape, 7, states);
        let packed: Vec<_> = image.parts().map(|part| part.buffers()).collect();
        let (bytes, beside) = wire::write((1, 2), &Word::Next(Box::new(image))).unwrap();
        assert!(bytes.len() < 1_000, "{} bytes", bytes.len());
        assert_eq!(beside, packed.concat());
        let (between, word) = wire::read(&bytes, beside.clone(), shape).unwrap();
        let Word::Next(image) = word else { panic!("{word:?}") };
        assert_eq!((between, image.made_at), ((1, 2), 7));
        assert_eq!(image.parts().map(|part| part.buffers()).collect::<Vec<_>>(), packed);
        // Somebody makes it up.
        let more = [&beside[..], &[Segment::of_vec(vec![1_u8])]].concat();
        assert!(wire::read(&bytes, more, shape).is_err());
        for less in 0..beside.len() {
            assert!(wire::read(&bytes, beside[..less].to_vec(), shape).is_err(), "{less} slices");
        }
        assert!((0..bytes.len()).all(|end| wire::read(&bytes[..end], beside.clone(), shape).is_err()));
    }
}

/// What nodes say, and give each other, until nobody has anything to say: words first, as they go beside frames.
fn exchange(members: &mut [Member; 2]) {
    loop {
        let mut any = false;
        for from in [0, 1] {
            for out in members[from].take_out() {
                match out {
                    Out::Word(to, between, word) if to < 2 => {
                        let (word, beside) = wire::write(between, &word).expect("words can be packed");
                        let (between, word) = wire::read(&word, beside, SHAPE).expect("as it was written");
                        members[to as usize].hear(from as u32, between, word);
                        any = true;
                    }
                    Out::Letter(rank, to, letter) if to < 2 => {
                        members[to as usize].receive(from as u32, rank, letter);
                        any = true;
                    }
                    _ => {}
                }
            }
            members[from].release();
        }
        if !any {
            return;
        }
    }
}

fn ticketed() -> [Member; 2] {
    [0, 1].map(|node| member(node).ticketed(true))
}

fn send_to(members: &mut [Member; 2], from: usize, bytes: &[u8]) {
    members[from].send(0, sent(1 - from as u32, frame(bytes)));
    members[from].release();
}

/// What the PE takes in that has nothing to run, and what its clock says then.
fn takes(member: &mut Member, has_messages: bool) -> (Vec<Vec<u8>>, u64) {
    let (taken, time) = member.take_in_order(0, 90, has_messages).expect("nobody has sent what cannot be");
    let head = |taken: super::member::Taken| match taken.parcel {
        talisman_kernel::port::Parcel::Frame { head, .. } => head.to_vec(),
        talisman_kernel::port::Parcel::Message(_) => panic!("nothing within a node"),
    };
    (taken.into_iter().map(head).collect(), time)
}

#[test]
fn a_frame_waits_for_its_ticket_and_is_taken_at_the_time_of_that() {
    let mut members = ticketed();
    for (now, bytes) in [(40, b"first".as_slice()), (50, b"second")] {
        members[1].set_now(now);
        send_to(&mut members, 0, bytes);
        assert!(!members[1].has_any_for(0) || now > 40, "it asks for a ticket first");
        exchange(&mut members);
    }
    let one = &mut members[1];
    assert!(one.has_any_for(0));
    assert_eq!(takes(one, false), (vec![b"first".to_vec()], 40), "one at a time");
    assert_eq!(takes(one, false), (vec![b"second".to_vec()], 50));
    assert_eq!(takes(one, false), (Vec::new(), 90));
    one.record(0).recorder().timers();
    let counted = Entry { at: 0, input: Input::InOrder(2) };
    assert_eq!(one.record(0).take_fresh(), [counted, Entry { at: 0, input: Input::Timer(0) }]);
}

#[test]
fn while_messages_wait_the_log_says_what_is_taken_in() {
    let mut members = ticketed();
    [b"1", b"2", b"3"].iter().for_each(|bytes| send_to(&mut members, 0, *bytes));
    exchange(&mut members);
    assert_eq!(takes(&mut members[1], false).0, [b"1"]);
    let lane = || Input::Lane { from: 0, frames: 1, told: vec![0] };
    let logged = |member: &mut Member, inputs: Vec<Input>| {
        let entries: Vec<_> = inputs.into_iter().map(|input| Entry { at: 0, input }).collect();
        assert_eq!(member.record(0).take_fresh(), entries);
    };
    assert_eq!(takes(&mut members[1], true), (vec![b"2".to_vec()], 90));
    logged(&mut members[1], vec![Input::InOrder(1), Given::Time(90).input(), lane()]);
    assert_eq!(takes(&mut members[1], true), (vec![b"3".to_vec()], 90));
    logged(&mut members[1], vec![lane()]);
}

#[test]
fn a_frame_with_a_number_beyond_what_is_to_come_or_without_its_ticket_is_refused() {
    type Change = fn(&mut Letter);
    let send = |change: Change| {
        let mut members = ticketed();
        [b"1", b"2"].iter().for_each(|bytes| send_to(&mut members, 0, *bytes));
        for out in members[0].take_out() {
            if let Out::Word(to, between, word) = out {
                members[to as usize].hear(0, between, word);
            }
        }
        for out in members[1].take_out() {
            if let Out::Word(_, between, word) = out {
                members[0].hear(1, between, word);
            }
        }
        let mut first = letters(&mut members[0]).remove(0);
        change(&mut first);
        members[1].receive(0, 0, first);
        members[1].take_in_order(0, 0, false).map(|(taken, _)| taken.len())
    };
    assert_eq!(send(|_| ()), Ok(1));
    assert_eq!(send(|letter| letter.between.0 = 7), Ok(0), "of a process that is not known");
    let wrong: [(Change, &str); 4] = [
        (|letter| letter.number = 1, "node 0 sends frame 1 where 0 is to come"),
        (|letter| letter.ride[0] = 2, "with a ticket that it does not have"),
        (|letter| letter.ride.truncate(9), "with a ticket that it does not have"),
        (|letter| letter.ride[16] = 0xff, "what rides on a frame of node 0 is malformed"),
    ];
    for (change, why) in wrong {
        let refused = send(change).expect_err(why);
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn words_about_pes_that_there_are_not_are_refused() {
    let words = [
        Word::AskTickets(vec![(0, 4), (1, 4)]),
        Word::Tickets(vec![(1, 0, talisman_ft::logging::ticket::Ticket::Old)]),
        Word::Noted(Vec::new()),
    ];
    for word in words {
        let (bytes, beside) = wire::write((0, 0), &word).expect("words can be packed");
        assert!(wire::read(&bytes, beside, SHAPE).is_err(), "{word:?}");
    }
}

/// A frame that was given a ticket is one that its sender sends again, whoever that is: else its receiver would wait for it.
#[test]
fn what_was_given_a_ticket_counts_as_taken_when_its_sender_is_lost() {
    let mut members = ticketed();
    [b"1", b"2"].iter().for_each(|bytes| send_to(&mut members, 0, *bytes));
    for out in members[0].take_out() {
        if let Out::Word(1, between, word) = out {
            members[1].hear(0, between, word);
        }
    }
    members[1].obey(Order::Ask { to: 1, session: 1, lost: vec![0] });
    let held = |out| match out {
        Out::Report(talisman_ft::event::Event::Held(_, _, holdings)) => Some(holdings),
        _ => None,
    };
    let holdings = members[1].take_out().into_iter().find_map(held).expect("it says what it holds");
    assert_eq!(holdings.present.taken(Lane { from: 0, to: 1, rank: 0 }), 2);
}
