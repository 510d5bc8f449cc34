//! Who meets whom, and what names mean.

use super::*;

fn ask(ports: &mut Ports, by: Rank, wish: Wish) -> Vec<(Asker, Answer)> {
    ports.on_ask(by, &Ask { wish, answer: by as Tag + 100 })
}

/// Who waits asked with this tag.
fn asker(rank: Rank) -> Asker {
    (rank, rank as Tag + 100)
}

fn met(rank: Rank, peer: Rank, meeting: u32) -> (Asker, Answer) {
    (asker(rank), Answer::Met { peer, meeting })
}

#[test]
fn those_who_come_to_a_port_meet_in_order() {
    let mut ports = Ports::default();
    let Port { owner: 7, number } = ports.open(7) else { panic!("it is another rank's") };
    assert_eq!(ask(&mut ports, 1, Wish::Connect(number)), []);
    assert_eq!(ask(&mut ports, 2, Wish::Connect(number)), []);
    assert_eq!(ask(&mut ports, 7, Wish::Accept(number)), [met(7, 1, 0), met(1, 7, 0)]);
    assert_eq!(ask(&mut ports, 3, Wish::Accept(number)), [met(3, 2, 1), met(2, 3, 1)]);
    assert_eq!(ask(&mut ports, 7, Wish::Accept(number)), []);
    assert_eq!(ask(&mut ports, 4, Wish::Connect(number)), [met(4, 7, 2), met(7, 4, 2)]);
}

#[test]
fn ports_are_kept_apart() {
    let mut ports = Ports::default();
    let [one, other] = [ports.open(0).number, ports.open(0).number];
    assert_ne!(one, other);
    assert_eq!(ask(&mut ports, 1, Wish::Connect(one)), []);
    assert_eq!(ask(&mut ports, 2, Wish::Accept(other)), []);
    assert_eq!(ask(&mut ports, 3, Wish::Connect(other)), [met(3, 2, 0), met(2, 3, 0)]);
}

#[test]
fn nobody_waits_at_a_port_that_is_closed() {
    let mut ports = Ports::default();
    let port = ports.open(0).number;
    assert_eq!(ask(&mut ports, 1, Wish::Connect(port)), []);
    let told = [(asker(1), Answer::NoPort), (asker(0), Answer::Done)];
    assert_eq!(ask(&mut ports, 0, Wish::Close(port)), told);
    for wish in [Wish::Connect(port), Wish::Accept(port), Wish::Close(port), Wish::Connect(port + 1)] {
        assert_eq!(ask(&mut ports, 2, wish), [(asker(2), Answer::NoPort)]);
    }
    assert_ne!(ports.open(0).number, port, "an old name must not mean a new port");
}

#[test]
fn a_name_means_one_port_until_it_is_unpublished() {
    let (mut ports, [one, other]) = (Ports::default(), [3, 4].map(|number| Port { owner: 1, number }));
    let answer = |ports: &mut Ports, wish| match &ask(ports, 5, wish)[..] {
        [((5, 105), answer)] => *answer,
        told => panic!("{told:?}"),
    };
    let name = || b"ocean".to_vec();
    assert_eq!(answer(&mut ports, Wish::LookUp(name())), Answer::NoName);
    assert_eq!(answer(&mut ports, Wish::Publish(name(), one)), Answer::Done);
    assert_eq!(answer(&mut ports, Wish::Publish(name(), other)), Answer::NoName, "it has one");
    assert_eq!(answer(&mut ports, Wish::LookUp(name())), Answer::Means(one));
    assert_eq!(answer(&mut ports, Wish::LookUp(b"ocea".to_vec())), Answer::NoName);
    assert_eq!(answer(&mut ports, Wish::Unpublish(name())), Answer::Done);
    assert_eq!(answer(&mut ports, Wish::Unpublish(name())), Answer::NoName);
    assert_eq!(answer(&mut ports, Wish::LookUp(name())), Answer::NoName);
}

#[test]
fn names_of_ports_are_read_as_they_are_written() {
    for port in [Port { owner: 0, number: 0 }, Port { owner: Rank::MAX, number: u32::MAX }] {
        let name = port.name(u64::MAX);
        assert!(name.len() < NAME_MAX);
        assert_eq!(Port::of_name(name.as_bytes(), u64::MAX), Some(port));
        assert_eq!(Port::of_name(name.as_bytes(), 1), None, "it is of another job");
    }
    let wrong: [&[u8]; 8] = [
        b"",
        b"talisman://port/1",
        b"talisman://port/1.2",
        b"talisman://port/1..5",
        b"talisman://port/01.2.5",
        b"talisman://port/+1.2.5",
        b"tag#0$port#1",
        b"talisman://port/1.2.5\xff",
    ];
    assert_eq!(wrong.map(|name| Port::of_name(name, 5)), [None; 8]);
}

#[test]
fn answers_are_read_as_they_are_written() {
    let port = Port { owner: 3, number: 1 << 20 };
    for answer in [
        Answer::Done,
        Answer::Met { peer: 2, meeting: u32::MAX },
        Answer::Means(port),
        Answer::NoPort,
        Answer::NoName,
        Answer::Ranks(9),
        Answer::NoRanks(5),
    ] {
        assert_eq!(Answer::of_bytes(&answer.to_bytes()), Some(answer));
    }
    assert_eq!(Answer::of_bytes(&[9; Answer::LEN]), None);
}

#[test]
fn numbers_of_ranks_are_given_once() {
    let mut ports = Ports::new(4, 5);
    let mut give = |count| match &ask(&mut ports, 1, Wish::Ranks(count))[..] {
        [((1, 101), answer)] => *answer,
        told => panic!("{told:?}"),
    };
    let given = [3, 3, 0, 2, 1].map(&mut give);
    let (ranks, none) = (Answer::Ranks, Answer::NoRanks);
    assert_eq!(given, [ranks(4), none(2), ranks(7), ranks(7), none(0)]);
}
