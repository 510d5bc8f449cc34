mod groups;
mod topologies;

use super::*;

fn choices(of: &[(Option<i32>, i32)]) -> Vec<Choice> {
    of.iter().map(|(color, key)| Choice { color: *color, key: *key }).collect()
}

#[test]
fn a_split_orders_by_key_and_then_by_former_number() {
    let all = choices(&[(Some(1), 5), (Some(0), 0), (Some(1), 5), (None, 0), (Some(1), -2), (Some(0), 0)]);
    let parts: Vec<_> = (0..6)
        .map(|rank| Communicator::world(6, rank).split(9, &all).map(|part| part.group().members()))
        .collect();
    let (ones, zeroes) = (Some(vec![4, 0, 2]), Some(vec![1, 5]));
    assert_eq!(parts, [ones.clone(), zeroes.clone(), ones.clone(), None, ones, zeroes]);
    let part = Communicator::world(6, 2).split(9, &all).unwrap();
    assert_eq!((part.rank(), part.contexts()), (Some(2), ContextPair { user: 18, collective: 19 }));
    // Numbers in a split of a split are those of the part.
    let again = part.split(10, &choices(&[(Some(0), 1), (None, 0), (Some(0), 0)])).unwrap();
    assert_eq!(again.group().members(), [2, 4]);
}

#[test]
fn no_two_communicators_of_a_member_have_the_same_context() {
    let ranks = 5;
    let mut seen = std::collections::BTreeSet::new();
    assert!(seen.insert(Communicator::world(ranks, 0).contexts().user));
    for rank in 0..ranks {
        let mut contexts = Contexts::new(ranks, rank);
        assert!(seen.insert(Communicator::alone(&contexts, rank).contexts().user));
        for _ in 0..100 {
            let pair = ContextPair::of(contexts.give().unwrap());
            for context in [pair.user, pair.collective, pair.of_parts()] {
                assert!(seen.insert(context), "{pair:?} twice");
                assert_eq!(ContextPair::around(context), pair);
            }
        }
    }
    let mut many = Contexts::new(1 << 27, 7);
    let made = std::iter::from_fn(|| many.give().ok()).count();
    assert_eq!(made, 2);
    let error = many.give().unwrap_err().to_string();
    assert!(error.starts_with("rank 7 has made 4 communicators"), "{error}");
}

#[test]
fn sources_and_destinations_are_translated() {
    let part = Communicator::new(Group::of(&[7, 3, 5]), ContextPair::of(4), 3);
    assert_eq!(part.pattern(Some(2), Some(9)), Some(Pattern { context: 8, source: Some(5), tag: Some(9) }));
    assert_eq!(part.pattern(None, None), Some(Pattern { context: 8, source: None, tag: None }));
    assert_eq!(part.pattern(Some(3), None), None);
    assert_eq!((part.number_of(7), part.number_of(4)), (Some(0), None));
    let between = Communicator::between(Group::of(&[3, 5]), Group::of(&[8, 9]), ContextPair::of(5), 5);
    assert_eq!((between.rank(), between.world_rank(0), between.number_of(9)), (Some(1), Some(8), Some(1)));
}

#[test]
fn communicators_are_compared() {
    let world = Communicator::world(4, 1);
    let same = world.duplicate(9, Attributes::default());
    let turned = Communicator::new(Group::of(&[3, 2, 1, 0]), ContextPair::of(10), 1);
    let fewer = Communicator::new(Group::of(&[1]), ContextPair::of(11), 1);
    let alike: Vec<_> = [&world, &same, &turned, &fewer].map(|other| world.compare(other)).into();
    assert_eq!(
        alike,
        [Comparison::Identical, Comparison::Congruent, Comparison::Similar, Comparison::Unequal]
    );
    assert_eq!(world.create(12, &Group::of(&[2, 3])), None);
    assert_eq!(world.create(12, &Group::of(&[2, 1])).unwrap().rank(), Some(1));
}

#[test]
fn both_sides_of_an_intercommunicator_agree_on_its_merge() {
    let (low, high) = (Group::of(&[4, 6]), Group::of(&[1, 3]));
    let side = |one: &Group, other: &Group, rank| {
        Communicator::between(one.clone(), other.clone(), ContextPair::of(3), rank)
    };
    for (wanted, expected) in
        [((false, true), [4, 6, 1, 3]), ((true, false), [1, 3, 4, 6]), ((false, false), [1, 3, 4, 6])]
    {
        let one = side(&low, &high, 6).merge(8, wanted.0, wanted.1).unwrap();
        let other = side(&high, &low, 1).merge(8, wanted.1, wanted.0).unwrap();
        assert_eq!((one.group().members(), other.group().members()), (expected.into(), expected.into()));
    }
    assert_eq!(Communicator::world(2, 0).merge(8, false, false), None);
}

#[test]
fn collectives_are_counted() {
    let mut world = Communicator::world(2, 0);
    assert_eq!((world.next_collective(), world.next_collective()), (0, 1));
    assert_eq!(world.duplicate(3, Attributes::default()).next_collective(), 0);
    world.collectives = Tag::MAX as u32;
    assert_eq!((world.next_collective(), world.next_collective()), (Tag::MAX, 0));
}

#[test]
fn attributes_are_copied_as_their_keys_say() {
    let mut keyvals = Keyvals::default();
    let never = keyvals.insert(Copying::Never, Some(50), 1);
    let always = keyvals.insert(Copying::Always, None, 2);
    let asked = keyvals.insert(Copying::Asked { function: 40 }, Some(60), 3);
    let mut attributes = Attributes::default();
    for (key, value) in [(never, 10), (always, 20), (asked, 30)] {
        assert_eq!(attributes.deletion(key, &keyvals), None);
        attributes.set(key, Value::address(value));
    }
    let (copied, ask) = attributes.copied(&keyvals);
    let value = Value::address;
    assert_eq!((copied.get(never), copied.get(always), copied.get(asked)), (None, Some(value(20)), None));
    assert_eq!(ask, [Asked { function: 40, key: asked, value: value(30), extra: 3 }]);
    let deleted = Asked { function: 50, key: never, value: value(10), extra: 1 };
    assert_eq!(attributes.deletion(never, &keyvals), Some(deleted));
    attributes.set(never, value(11));
    assert_eq!(attributes.deletions(&keyvals).len(), 2);
    assert_eq!(attributes.deletion(always, &keyvals), None);
    assert!(attributes.delete(always) && !attributes.delete(always));
    // Its function is called for what there is of it.
    assert!(keyvals.free(never) && !keyvals.contains(never));
    let deleted = Asked { function: 50, key: never, value: value(11), extra: 1 };
    assert_eq!(attributes.deletion(never, &keyvals), Some(deleted));
}

#[test]
fn what_was_set_last_is_deleted_first() {
    let mut keyvals = Keyvals::default();
    let [one, two, three] = [1, 2, 3].map(|extra| keyvals.insert(Copying::Never, Some(50), extra));
    let mut attributes = Attributes::default();
    [two, three, one].iter().for_each(|key| attributes.set(*key, Value::address(7)));
    let deleted: Vec<u32> = attributes.deletions(&keyvals).iter().map(|asked| asked.key).collect();
    assert_eq!(deleted, [one, three, two]);
}

#[test]
fn freed_keys_are_kept_as_long_as_they_are_used() {
    let mut keyvals = Keyvals::default();
    let used = keyvals.insert(Copying::Always, Some(50), 1);
    let mut attributes = Attributes::default();
    attributes.set(used, Value { place: 8, ..Value::integer(7) });
    assert!(keyvals.free(used) && keyvals.free(used), "by another copy of its number");
    for _ in 0..1_000 {
        let key = keyvals.insert(Copying::Never, None, 0);
        assert!(keyvals.free(key));
        if keyvals.has_many_freed() {
            keyvals.keep_used(&attributes.keys().collect());
            assert!(!keyvals.free(key) && keyvals.free(used));
        }
    }
    assert!(!keyvals.has_many_freed());
    assert_eq!(
        attributes.copied(&keyvals).0.get(used),
        Some(Value::integer(7)),
        "without the place of the other"
    );
}

#[test]
fn the_world_is_not_freed() {
    let mut all = Communicators::new(&World::at_start(4), 2);
    assert_eq!(all.get(Communicators::WORLD).unwrap().size(), 4);
    assert_eq!(all.get(Communicators::ALONE).unwrap().group().members(), [2]);
    assert_eq!(all.free(Communicators::WORLD), Err(UnknownCommunicator(0)));
    let made = all.insert(Communicator::world(4, 2).duplicate(9, Attributes::default()));
    assert_eq!(all.get_mut(made).unwrap().next_collective(), 0);
    assert_eq!(all.free(made).unwrap().contexts(), ContextPair::of(9));
    assert_eq!(all.get(made), Err(UnknownCommunicator(made)));
}

#[test]
fn ranks_that_begin_later_have_a_world_and_contexts_of_their_own() {
    let mut seen = std::collections::BTreeSet::new();
    let (start, more) = (World { more: 6, ..World::at_start(4) }, 6);
    let later = |first, size| {
        let parent = Some(Parent { group: Group::of(&[1, 3]), number: 1_000_000 });
        World { first, size, ranks: 4, more, parent }
    };
    for (world, ranks) in [(start, 0..4), (later(4, 2), 4..6), (later(6, 3), 6..9), (later(9, 1), 9..10)] {
        let all: Vec<Communicators> = ranks.clone().map(|rank| Communicators::new(&world, rank)).collect();
        let of = |rank: usize, handle| all[rank].get(handle).expect("it is there from the beginning");
        let number = of(0, Communicators::WORLD).contexts();
        assert!(seen.insert(number.user));
        for (at, rank) in ranks.clone().enumerate() {
            let own = of(at, Communicators::WORLD);
            assert_eq!((own.contexts(), own.size(), own.rank()), (number, world.size, Some(at as u32)));
            assert_eq!(own.world_rank(0), Some(ranks.start));
            assert!(seen.insert(of(at, Communicators::ALONE).contexts().user));
            let mut contexts = all[at].contexts.clone();
            (0..50).for_each(|_| {
                assert!(seen.insert(ContextPair::of(contexts.give().unwrap()).user), "of {rank}")
            });
            let parent = all[at].parent().map(|handle| of(at, handle));
            assert_eq!(parent.is_some(), rank >= 4);
            assert!(parent.is_none_or(
                |parent| parent.world_rank(1) == Some(3) && parent.contexts().number() == 1_000_000
            ));
        }
    }
}
