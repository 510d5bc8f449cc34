//! What is recorded, and how it goes.

use super::given::Given;
use super::image::{Beginning, Image};
use super::letter::Letter;
use super::member::Member;
use super::recorder::Record;
use super::words::{Out, Said, Word};
use talisman_ft::logging::{Entry, Guide, Input, Reach, Shape, Step};
use talisman_kernel::pe::input_log::Frame;
use talisman_kernel::pe::turn::Command;

const SHAPE: Shape = Shape { nodes: 3, pes_per_node: 1 };

fn frame(bytes: &[u8]) -> Frame {
    Frame { head: bytes.into(), segments: Vec::new() }
}

fn member(node: u32) -> Member {
    Member::first(Image::first(node, SHAPE, 0, Beginning::Nothing), SHAPE, &[])
}

fn letters(member: &mut Member) -> Vec<Letter> {
    let letter = |out| match out {
        Out::Letter(_, letter) => Some(letter),
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
    let letter = Letter { between: (1, 2), number: 9, ride: vec![5; 300], frame: frame(b"of the PE") };
    let sealed = letter.clone().seal();
    assert_eq!(Letter::open(sealed.clone()), Some(letter));
    for end in 0..320 {
        assert_eq!(Letter::open(frame(&sealed.head[..end])), None, "{end} bytes");
    }
}

#[test]
fn frames_of_a_sender_in_one_turn_are_one_entry() {
    let record = Record::default();
    let recorder = record.recorder();
    for (from, told) in [(1, 3), (1, 5), (2, 1)] {
        record.expect(from, vec![told]);
        recorder.time(40);
        recorder.taken(from);
    }
    recorder.runs();
    recorder.time(40);
    recorder.value(vec![1]);
    record.expect(2, vec![1]);
    recorder.taken(2);
    let lane = |at, from, frames, told| Entry { at, input: Input::Lane { from, frames, told: vec![told] } };
    let expected = [
        Entry { at: 0, input: Given::Time(40).input() },
        lane(0, 1, 2, 5),
        lane(0, 2, 1, 1),
        Entry { at: 1, input: Input::Value { kind: 0, bytes: vec![1] } },
        lane(1, 2, 1, 1),
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

#[test]
fn what_a_node_was_given_rides_on_its_next_frame_and_is_logged_where_that_is_taken() {
    let (mut one, mut two) = (member(0), member(1));
    one.record().recorder().time(9);
    one.absorb();
    assert_eq!(one.send(1, frame(b"x")), (0, false));
    let sent = letters(&mut one);
    assert_eq!(sent.len(), 1);
    two.receive(0, sent[0].clone());
    let taken = two.take(|_| true).unwrap();
    assert_eq!((taken[0].from, taken[0].number, &taken[0].frame), (0, 0, &frame(b"x")));
    two.record().recorder().taken(0);
    let entries = two.record().take_fresh();
    assert_eq!(entries.last().unwrap().input, Input::Lane { from: 0, frames: 1, told: vec![1] });
    two.receive(0, sent[0].clone());
    assert!(two.take(|_| true).unwrap_err().contains("frame 0 where 1"), "it comes twice");
}

#[test]
fn a_line_waits_for_the_keeper() {
    let (mut one, mut two) = (member(0), member(1));
    one.record().recorder().time(9);
    one.absorb();
    one.say(Said::Line("said".into()));
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
    assert!(matches!(&said[..], [Out::Say(0, Said::Line(line))] if line == "said"), "{said:?}");
    assert!(one.has_unprinted());
    one.on_printed(1);
    assert!(!one.has_unprinted());
}
