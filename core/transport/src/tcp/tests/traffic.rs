//! What goes over a link that nothing disturbs.

use super::*;

over_all! {
    messages_of_every_size_arrive_as_they_were
    segments_are_aligned_as_they_were
    as_many_segments_as_there_are_arrive
    nothing_is_kept_once_the_peer_has_it
    a_full_link_says_so_and_both_directions_empty_again
    an_orderly_end_is_not_a_broken_connection
    what_a_budget_leaves_is_told_of
}

fn messages_of_every_size_arrive_as_they_were(over: Over) {
    let (mut a, mut b) = ends(over);
    let mut sent = Vec::new();
    for (number, len) in [0, 1, 8, 8192, 12_288, 12_289, 20_000, 1 << 20, 3 << 20, 5].into_iter().enumerate()
    {
        let head = bytes(len, number as u64);
        a.sender.send(number as u16, &head, Vec::new());
        sent.push((number as u16, head, Vec::new()));
    }
    for (number, lens) in
        [&[0][..], &[1], &[100, 0, 3], &[1 << 20, 70_000], &[9 << 20]].into_iter().enumerate()
    {
        let head = bytes(40 * number, 5);
        a.sender.send(7, &head, lens.iter().map(|&len| segment(len, len as u64)).collect());
        sent.push((7, head, lens.iter().map(|&len| (1, bytes(len, len as u64))).collect()));
    }
    run(&mut a, &mut b, |_, b| b.arrived.len() == sent.len());
    assert!(b.arrived == sent);
}

fn segments_are_aligned_as_they_were(over: Over) {
    let (mut a, mut b) = ends(over);
    let values: Vec<f64> = (0..5000).map(f64::from).collect();
    a.sender.send(0, b"x", vec![Segment::of_vec(values.clone()), segment(3, 1), Segment::of_vec(values)]);
    run(&mut a, &mut b, |_, b| !b.arrived.is_empty());
    let aligns: Vec<usize> = b.arrived[0].2.iter().map(|segment| segment.0).collect();
    assert_eq!(aligns, [8, 1, 8]);
}

/// More than sixteen bits count.
fn as_many_segments_as_there_are_arrive(over: Over) {
    let (mut a, mut b) = ends(over);
    let segments = (0..70_000u32).map(|number| Segment::of_vec(vec![number]));
    a.sender.send(0, b"many", segments.collect());
    run(&mut a, &mut b, |_, b| !b.arrived.is_empty());
    let (_, head, segments) = &b.arrived[0];
    assert_eq!((&**head, segments.len()), (&b"many"[..], 70_000));
    assert!(segments.iter().zip(0u32..).all(|((_, bytes), number)| bytes[..] == number.to_le_bytes()));
}

fn nothing_is_kept_once_the_peer_has_it(over: Over) {
    let (mut a, mut b) = ends(over);
    for round in 1..=40 {
        a.sender.send(0, b"large", vec![segment(300 << 10, round)]);
        run(&mut a, &mut b, |a, b| b.arrived.len() as u64 == round && a.sender.kept() < 300 << 10);
    }
    a.sender.goodbye();
    run(&mut a, &mut b, |a, b| b.receiver.ended() && a.sender.settled());
    assert_eq!(a.sender.unsent(), 0);
}

fn a_full_link_says_so_and_both_directions_empty_again(over: Over) {
    let (mut a, mut b) = ends(over);
    let all = 40;
    for number in 0..all {
        a.sender.send(0, b"to b", vec![segment(1 << 20, number)]);
        b.sender.send(0, b"to a", vec![segment(1 << 20, number)]);
    }
    assert!(a.sender.unsent() > 30 << 20, "{:?}", a.sender);
    assert!(a.sender.blocked());
    run(&mut a, &mut b, |a, b| a.arrived.len() as u64 == all && b.arrived.len() as u64 == all);
    run(&mut a, &mut b, |a, b| a.sender.unsent() + b.sender.unsent() == 0);
}

fn an_orderly_end_is_not_a_broken_connection(over: Over) {
    let (mut a, mut b) = ends(over);
    a.sender.send(0, b"last", Vec::new());
    a.sender.goodbye();
    b.sender.goodbye();
    run(&mut a, &mut b, |a, b| a.sender.settled() && b.sender.settled());
    assert!(a.receiver.ended() && b.receiver.ended());
    drop(a);
    for _ in 0..100 {
        b.turn().unwrap();
    }
    assert!(!b.receiver.broken());
    assert_eq!(b.arrived.len(), 1);
}

fn what_a_budget_leaves_is_told_of(over: Over) {
    let (mut a, mut b) = ends(over);
    run(&mut a, &mut b, |_, b| !b.receiver.has_more());
    for _ in 0..300 {
        a.sender.send(0, b"12345678", Vec::new());
    }
    run(&mut a, &mut b, |_, b| !b.arrived.is_empty());
    // Nothing more comes, so that the socket may say nothing of the rest.
    while b.receiver.has_more() {
        b.turn().unwrap();
    }
    assert_eq!(b.arrived.len(), 300);
}
