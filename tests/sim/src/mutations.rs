//! Deliberate mistakes: whether a sweep notices each of them.
//!
//! A simulation that finds nothing is worth as much as it would find. So the runtime can be made to break each of its rules,
//! one at a time (`talisman_core::mutations`), and the sweep has to notice: in how many seeds tells how sharp it is.

/// A small mistake in the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// As `talisman_core::mutations::choose` takes it.
    pub name: &'static str,
    /// The files of `core/src` in which it is made; `ft/…` are those of `ft/src`.
    pub places: &'static [&'static str],
    /// The rule that does not hold then.
    pub rule: &'static str,
    /// Where it can be noticed.
    pub level: Level,
}

/// What of the runtime has to be simulated for a mistake to be made at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// PEs that exchange whole messages.
    Messages,
    /// The same, with an eye on what is left over in the end.
    Resources,
    /// The whole world: connections, nodes, their launcher.
    World,
    /// The leader alone, which is told of holdings that no world comes to: the tests of `talisman-ft` go through these, and notice it.
    Leader,
}

/// Every mistake that can be made.
pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "place-without-marker",
        places: &["location.rs"],
        rule: "A new place is not used before the marker has arrived: nothing overtakes what went along the old way.",
        level: Level::Messages,
    },
    Mutation {
        name: "held-message-lost",
        places: &["location.rs"],
        rule: "What waited for a place goes on when the place is known.",
        level: Level::Messages,
    },
    Mutation {
        name: "held-messages-backwards",
        places: &["location.rs"],
        rule: "What waited for a place goes on in its order.",
        level: Level::Messages,
    },
    Mutation {
        name: "older-answer-believed",
        places: &["location.rs"],
        rule: "Only the answer to the marker that is waited for ends the wait.",
        level: Level::Messages,
    },
    Mutation {
        name: "gone-is-forgotten",
        places: &["location.rs"],
        rule: "The home keeps in mind that an object is gone, so that older news does not bring it back.",
        level: Level::Messages,
    },
    Mutation {
        name: "end-not-expected",
        places: &["location.rs"],
        rule: "What comes to the home while the news of an end is in its queue waits for it, and does not go backwards.",
        level: Level::Messages,
    },
    Mutation {
        name: "order-not-inherited",
        places: &["location.rs"],
        rule: "An element that is removed leaves its counts to the next of its name.",
        level: Level::Messages,
    },
    Mutation {
        name: "unborn-forgotten",
        places: &["location.rs"],
        rule: "Whoever is to be made again is, once the former one is gone.",
        level: Level::Messages,
    },
    Mutation {
        name: "early-is-not-kept",
        places: &["order.rs"],
        rule: "The receiver runs each sender's messages by their numbers.",
        level: Level::Messages,
    },
    Mutation {
        name: "early-message-forgotten",
        places: &["order.rs"],
        rule: "What came too early runs when its turn has come.",
        level: Level::Messages,
    },
    Mutation {
        name: "move-not-counted",
        places: &["migrate.rs"],
        rule: "Every move is counted.",
        level: Level::Messages,
    },
    Mutation {
        name: "arrival-not-told",
        places: &["migrate.rs"],
        rule: "The PE that an element left hears how far its new PE had come with the broadcasts.",
        level: Level::Messages,
    },
    Mutation {
        name: "reduction-number-stays-behind",
        places: &["migrate.rs"],
        rule: "An element goes on with its reductions where it was.",
        level: Level::Messages,
    },
    Mutation {
        name: "births-stay-behind",
        places: &["migrate.rs"],
        rule: "What an element inserted is announced with its next contribution, wherever that is.",
        level: Level::Messages,
    },
    Mutation {
        name: "order-stays-behind",
        places: &["migrate.rs"],
        rule: "An object's place in the orders that it takes part in moves with it.",
        level: Level::Messages,
    },
    Mutation {
        name: "departed-misses-broadcasts",
        places: &["broadcast.rs"],
        rule: "The old PE sends after an element what it missed.",
        level: Level::Messages,
    },
    Mutation {
        name: "broadcast-received-again",
        places: &["broadcast.rs"],
        rule: "Every element receives a broadcast once.",
        level: Level::Messages,
    },
    Mutation {
        name: "broadcasts-out-of-order",
        places: &["broadcast.rs"],
        rule: "Broadcasts pass a PE in the order of their numbers.",
        level: Level::Messages,
    },
    Mutation {
        name: "newer-broadcast-does-not-wait",
        places: &["broadcast.rs"],
        rule: "An element receives what it missed on its way before newer broadcasts.",
        level: Level::Messages,
    },
    Mutation {
        name: "ghost-forgotten",
        places: &["broadcast.rs"],
        rule: "A broadcast for an element that was removed before it had caught up is still counted.",
        level: Level::Messages,
    },
    Mutation {
        name: "receivers-counted-too-early",
        places: &["broadcast.rs"],
        rule: "The receivers of a broadcast are counted when it is known how far those that left had come.",
        level: Level::Messages,
    },
    Mutation {
        name: "nothing-to-catch-up-with",
        places: &["broadcast.rs"],
        rule: "An element that comes behind the broadcasts catches up with them.",
        level: Level::Messages,
    },
    Mutation {
        name: "broadcast-before-first-elements",
        places: &["broadcast.rs"],
        rule: "A broadcast before `done_inserting` waits for the first elements.",
        level: Level::Messages,
    },
    Mutation {
        name: "section-member-not-followed",
        places: &["section.rs"],
        rule: "A multicast follows a member that is not where the root believes.",
        level: Level::Messages,
    },
    Mutation {
        name: "section-members-twice",
        places: &["section.rs"],
        rule: "Members of a section that were named twice count once.",
        level: Level::Messages,
    },
    Mutation {
        name: "newborn-not-waited-for",
        places: &["reduction/tally.rs"],
        rule: "A reduction waits for the elements that were inserted meanwhile.",
        level: Level::Messages,
    },
    Mutation {
        name: "generations-in-one-sum",
        places: &["reduction/tally.rs"],
        rule: "Each generation is counted by itself, lest a child stand in for its parent.",
        level: Level::Messages,
    },
    Mutation {
        name: "partial-results-not-combined",
        places: &["reduction/mod.rs"],
        rule: "What comes from below is combined with what is there.",
        level: Level::Messages,
    },
    Mutation {
        name: "insertion-from-outside-not-counted",
        places: &["reduction/root.rs"],
        rule: "An element that is inserted from outside is waited for by the next reduction.",
        level: Level::Messages,
    },
    Mutation {
        name: "answers-before-all-reports",
        places: &["reduction/root.rs"],
        rule: "Answers are complete when every PE has said how many elements received the broadcast.",
        level: Level::Messages,
    },
    Mutation {
        name: "end-not-reported",
        places: &["reduction/contributing.rs"],
        rule: "An element that goes says so to the reduction that it would have taken part in.",
        level: Level::Messages,
    },
    Mutation {
        name: "birth-not-announced",
        places: &["reduction/contributing.rs"],
        rule: "Who inserted an element announces it with the next contribution.",
        level: Level::Messages,
    },
    Mutation {
        name: "partial-result-kept-back",
        places: &["reduction/gathering.rs"],
        rule: "What has gathered on a PE goes up the tree when the PE has nothing else to do.",
        level: Level::Messages,
    },
    Mutation {
        name: "section-complete-too-early",
        places: &["section.rs"],
        rule: "A reduction over a section waits for every member.",
        level: Level::Messages,
    },
    Mutation {
        name: "one-count-is-enough",
        places: &["quiescence.rs"],
        rule: "Only two counts in a row with the same sums are quiescence.",
        level: Level::Messages,
    },
    Mutation {
        name: "equal-counts-are-enough",
        places: &["quiescence.rs"],
        rule: "While more was sent than received there is no quiescence.",
        level: Level::Messages,
    },
    Mutation {
        name: "timers-not-waited-for",
        places: &["quiescence.rs"],
        rule: "A PE with a timer is not idle.",
        level: Level::Messages,
    },
    Mutation {
        name: "step-not-passed-on",
        places: &["balance/part.rs"],
        rule: "A balancing step goes down the tree, to every PE.",
        level: Level::Messages,
    },
    Mutation {
        name: "early-note-read-at-once",
        places: &["balance/part.rs"],
        rule: "A note that comes before the beginning of its balancing step waits for that.",
        level: Level::Messages,
    },
    Mutation {
        name: "balancing-does-not-wait-for-broadcasts",
        places: &["balance/part.rs"],
        rule: "An element that is to be balanced goes when it has caught up with the broadcasts.",
        level: Level::Messages,
    },
    Mutation {
        name: "balancing-steps-overlap",
        places: &["balance/root.rs"],
        rule: "A balancing step begins when the former one is over.",
        level: Level::Messages,
    },
    Mutation {
        name: "wanted-step-forgotten",
        places: &["balance/root.rs"],
        rule: "A step that was wanted while another was under way follows it.",
        level: Level::Messages,
    },
    Mutation {
        name: "one-at-sync-not-told",
        places: &["balance/root.rs"],
        rule: "Everybody who waits for a balancing step is told of its end.",
        level: Level::Messages,
    },
    Mutation {
        name: "at-sync-told-again",
        places: &["balance/root.rs"],
        rule: "Who waits for a balancing step is told of its end once.",
        level: Level::Messages,
    },
    Mutation {
        name: "shared-value-not-told-in-node",
        places: &["shared.rs"],
        rule: "Every PE of a node hears of a shared value, and lets go on what waited for it.",
        level: Level::Messages,
    },
    Mutation {
        name: "shared-value-not-awaited",
        places: &["pe/deliver.rs"],
        rule: "A message that refers to a shared value which has not come is not read.",
        level: Level::Messages,
    },
    Mutation {
        name: "arrival-not-expected",
        places: &["pe/deliver.rs"],
        rule: "What comes for an object waits while the object is in the queue, rather than going round in circles.",
        level: Level::Messages,
    },
    Mutation {
        name: "late-message-lost",
        places: &["pe/deliver.rs"],
        rule: "What was queued for an object that has left is sent after it.",
        level: Level::Messages,
    },
    Mutation {
        name: "moves-while-catching-up",
        places: &["pe/deliver.rs"],
        rule: "An element does not move before it has caught up with the broadcasts.",
        level: Level::Messages,
    },
    Mutation {
        name: "envelope-not-returned",
        places: &["pe/deliver.rs"],
        rule: "Every envelope goes back to a pool.",
        level: Level::Resources,
    },
    Mutation {
        name: "unknown-collection-forgets",
        places: &["pe/mod.rs"],
        rule: "A message for a collection that a PE has not heard of waits for it.",
        level: Level::Messages,
    },
    Mutation {
        name: "arguments-not-dropped",
        places: &["pe/mod.rs"],
        rule: "What a message carries is dropped with it.",
        level: Level::Messages,
    },
    Mutation {
        name: "awaited-message-lost",
        places: &["pe/send.rs"],
        rule: "A message for an element that does not exist yet waits for it.",
        level: Level::Messages,
    },
    Mutation {
        name: "answer-number-lost",
        places: &["pe/send.rs"],
        rule: "The number of an answer to an element that is gone comes to the next of that name.",
        level: Level::Messages,
    },
    Mutation {
        name: "insertion-does-not-wait",
        places: &["collection/life.rs"],
        rule: "An element is made again when the former one of its name is gone.",
        level: Level::Messages,
    },
    Mutation {
        name: "moves-begin-again",
        places: &["collection/life.rs"],
        rule: "The moves of an element that is made again are counted on.",
        level: Level::Messages,
    },
    Mutation {
        name: "early-not-left-to-the-next",
        places: &["collection/life.rs"],
        rule: "What was sent to a former life and came too early reaches the next one.",
        level: Level::Messages,
    },
    Mutation {
        name: "first-elements-counted-once",
        places: &["collection/insertion.rs"],
        rule: "First elements are counted again until as many were made as were sent off.",
        level: Level::Messages,
    },
    Mutation {
        name: "mailbox-stays-behind",
        places: &["flow/mailbox.rs"],
        rule: "Messages that no async entry has received move with their object.",
        level: Level::Messages,
    },
    Mutation {
        name: "answer-waited-for-stays-behind",
        places: &["flow/replies.rs"],
        rule: "The answers that an object waits for move with it.",
        level: Level::Messages,
    },
    Mutation {
        name: "spill-overtaken",
        places: &["port.rs"],
        rule: "Nothing overtakes what found a ring full.",
        level: Level::World,
    },
    Mutation {
        name: "aside-in-node-backwards",
        places: &["port.rs"],
        rule: "What was put aside within a node is taken in in its order.",
        level: Level::World,
    },
    Mutation {
        name: "message-doubled",
        places: &["net/sending.rs", "port.rs"],
        rule: "Every message is delivered once.",
        level: Level::Messages,
    },
    Mutation {
        name: "message-lost",
        places: &["net/sending.rs", "port.rs"],
        rule: "Every message is delivered.",
        level: Level::Messages,
    },
    Mutation {
        name: "messages-swapped",
        places: &["net/receiving.rs", "port.rs"],
        rule: "Between two PEs messages keep their order.",
        level: Level::Messages,
    },
    Mutation {
        name: "no-bound-on-a-link",
        places: &["net/sending.rs"],
        rule: "A sender that is far ahead of a link waits for room.",
        level: Level::World,
    },
    Mutation {
        name: "aside-backwards",
        places: &["net/receiving.rs"],
        rule: "What was put aside is taken in in its order.",
        level: Level::World,
    },
    Mutation {
        name: "aside-lost",
        places: &["net/receiving.rs"],
        rule: "What was put aside is taken in.",
        level: Level::World,
    },
    Mutation {
        name: "aside-after-what-is-new",
        places: &["net/receiving.rs"],
        rule: "What was put aside is taken in before what comes later.",
        level: Level::World,
    },
    Mutation {
        name: "epoch-not-marked",
        places: &["net/epochs.rs"],
        rule: "A PE that begins an epoch says so first on each of its links.",
        level: Level::World,
    },
    Mutation {
        name: "obsolete-delivered",
        places: &["net/epochs.rs"],
        rule: "What was sent in an earlier epoch is dropped.",
        level: Level::World,
    },
    Mutation {
        name: "rest-not-flushed",
        places: &["net/sending.rs"],
        rule: "A link stays on the list while something of it is not written.",
        level: Level::World,
    },
    Mutation {
        name: "half-read-forgotten",
        places: &["net/receiving.rs"],
        rule: "A link that was not read to its end is read on, though its socket says nothing.",
        level: Level::World,
    },
    Mutation {
        name: "break-not-told",
        places: &["net/mod.rs"],
        rule: "For a link whose connection broke another connection is asked for.",
        level: Level::World,
    },
    Mutation {
        name: "not-flushed-after-a-break",
        places: &["net/mod.rs"],
        rule: "What has to be sent again is sent when there is a new connection.",
        level: Level::World,
    },
    Mutation {
        name: "not-resent",
        places: &["transport/tcp/out.rs"],
        rule: "A new connection goes on with the first frame that the peer has not acknowledged.",
        level: Level::World,
    },
    Mutation {
        name: "let-go-when-written",
        places: &["transport/tcp/out.rs"],
        rule: "A frame is kept until the peer has acknowledged it, whether written or not.",
        level: Level::World,
    },
    Mutation {
        name: "duplicates-not-skipped",
        places: &["transport/tcp/inbound.rs"],
        rule: "What arrived on a former connection and comes again is passed over.",
        level: Level::World,
    },
    Mutation {
        name: "half-a-frame-counts",
        places: &["transport/tcp/inbound.rs"],
        rule: "Only whole frames count as arrived.",
        level: Level::World,
    },
    Mutation {
        name: "half-a-frame-survives",
        places: &["transport/tcp/inbound.rs"],
        rule: "What of a frame came by a broken connection comes again, and is not kept.",
        level: Level::World,
    },
    Mutation {
        name: "checksum-ignored",
        places: &["transport/tcp/assembly.rs", "transport/tcp/inbound.rs"],
        rule: "A frame whose checksum is wrong is not delivered.",
        level: Level::World,
    },
    Mutation {
        name: "never-acknowledges",
        places: &["transport/tcp/inbound.rs"],
        rule: "The peer hears at the latest after some bytes what has arrived, so that what it keeps is bounded.",
        level: Level::World,
    },
    Mutation {
        name: "old-life-admitted",
        places: &["transport/handshake/mod.rs"],
        rule: "Earlier lives of a node are refused.",
        level: Level::World,
    },
    Mutation {
        name: "dial-not-repeated",
        places: &["run/connecting.rs"],
        rule: "A dial that failed is repeated after a pause, until patience is at its end.",
        level: Level::World,
    },
    Mutation {
        name: "words-not-heard",
        places: &["cluster/conductor.rs"],
        rule: "Who says something is not silent.",
        level: Level::World,
    },
    Mutation {
        name: "stop-not-sent",
        places: &["cluster/conductor/limits.rs"],
        rule: "Every node hears that the job is over.",
        level: Level::World,
    },
    Mutation {
        name: "silence-ignored",
        places: &["cluster/conductor/limits.rs"],
        rule: "A node that is silent for too long is lost.",
        level: Level::World,
    },
    Mutation {
        name: "stragglers-live",
        places: &["cluster/conductor/limits.rs"],
        rule: "Who has not stopped in time is killed.",
        level: Level::World,
    },
    Mutation {
        name: "loss-at-the-end-unnoticed",
        places: &["cluster/conductor.rs"],
        rule: "After a success each node has to have said all.",
        level: Level::World,
    },
    Mutation {
        name: "go-before-all-are-linked",
        places: &["cluster/roster.rs"],
        rule: "The program begins when all nodes are linked.",
        level: Level::World,
    },
    Mutation {
        name: "success-over-failure",
        places: &["cluster/verdict.rs"],
        rule: "A failure is heard over a success.",
        level: Level::World,
    },
    Mutation {
        name: "complaint-over-its-reason",
        places: &["cluster/verdict.rs"],
        rule: "A lost node is the reason for what others complain of.",
        level: Level::World,
    },
    Mutation {
        name: "kept-messages-backwards",
        places: &["checkpoint/freeze.rs"],
        rule: "What waited for the end of a checkpoint goes on in its order.",
        level: Level::Messages,
    },
    Mutation {
        name: "restored-speak-first",
        places: &["checkpoint/restore.rs"],
        rule: "What an object says when it is restored comes after what it had said before the checkpoint.",
        level: Level::World,
    },
    Mutation {
        name: "awaited-object-forgotten",
        places: &["checkpoint/restore.rs"],
        rule: "An object of a checkpoint that waits for a shared value is made again when that has come.",
        level: Level::World,
    },
    Mutation {
        name: "slots-named-again",
        places: &["checkpoint/restore.rs"],
        rule: "An object that is made after going back to a checkpoint is not named like one that was there before.",
        level: Level::World,
    },
    Mutation {
        name: "old-news-believed",
        places: &["location.rs"],
        rule: "The news of where an object was restored does not count against what its home has heard since.",
        level: Level::World,
    },
    Mutation {
        name: "missed-broadcast-waits-behind-newer",
        places: &["broadcast.rs"],
        rule: "What an element had missed waits for the end of a checkpoint before what is newer.",
        level: Level::Messages,
    },
    Mutation {
        name: "timers-fire-while-frozen",
        places: &["pe/timers.rs"],
        rule: "No timer of the program fires while a checkpoint is taken.",
        level: Level::Messages,
    },
    Mutation {
        name: "taken-before-drained",
        places: &["checkpoint/drain.rs"],
        rule: "Parts are taken when nothing is on its way.",
        level: Level::Messages,
    },
    Mutation {
        name: "counted-pe-goes-on",
        places: &["checkpoint/drain.rs"],
        rule: "A frozen PE that has been counted says nothing until it is asked again.",
        level: Level::Messages,
    },
    Mutation {
        name: "message-not-captured",
        places: &["checkpoint/capture.rs"],
        rule: "A part has every message that waits on its PE.",
        level: Level::Messages,
    },
    Mutation {
        name: "committed-before-all-are-safe",
        places: &["checkpoint/root.rs"],
        rule: "A version is committed when all its parts are held twice.",
        level: Level::World,
    },
    Mutation {
        name: "epoch-not-raised",
        places: &["ft/double/leader.rs"],
        rule: "Every loss begins an epoch of its own.",
        level: Level::World,
    },
    Mutation {
        name: "older-epoch-believed",
        places: &["ft/double/leader.rs"],
        rule: "An answer for an epoch that is over does not count.",
        level: Level::World,
    },
    Mutation {
        name: "one-has-halted-is-enough",
        places: &["ft/double/leader.rs"],
        rule: "What is gone back to is decided when all survivors have halted.",
        level: Level::World,
    },
    Mutation {
        name: "newest-though-incomplete",
        places: &["ft/double/survey.rs"],
        rule: "A version is gone back to if every part of it is held.",
        level: Level::World,
    },
    Mutation {
        name: "back-behind-what-was-committed",
        places: &["ft/double/leader.rs"],
        rule: "Nobody goes back behind what was committed, since what was printed until then has been seen.",
        level: Level::Leader,
    },
    Mutation {
        name: "committed-dropped-too-early",
        places: &["ft/double/held.rs"],
        rule: "What was committed stays until the next version is, though the job goes back to a newer one.",
        level: Level::World,
    },
    Mutation {
        name: "heir-without-a-copy",
        places: &["ft/double/leader.rs"],
        rule: "A part is restored by who holds it.",
        level: Level::World,
    },
    Mutation {
        name: "words-before-halting-count",
        places: &["cluster/recovery.rs"],
        rule: "An end that a node announced before it heard of a loss does not hold.",
        level: Level::World,
    },
    Mutation {
        name: "lines-printed-again",
        places: &["cluster/printed.rs"],
        rule: "Lines of a version are printed once, whoever says them.",
        level: Level::World,
    },
    Mutation {
        name: "printed-is-forgotten",
        places: &["cluster/recovery.rs"],
        rule: "Whoever takes the launcher's place does not print again what that one had printed.",
        level: Level::World,
    },
    Mutation {
        name: "printed-is-not-handed-over",
        places: &["cluster/conductor/surviving.rs"],
        rule: "Whoever takes up another node's part knows what of its lines is printed.",
        level: Level::World,
    },
    Mutation {
        name: "held-once-for-a-period",
        places: &["checkpoint/again.rs"],
        rule: "After a loss a checkpoint begins at once, since some parts are held once.",
        level: Level::World,
    },
    Mutation {
        name: "failed-node-exits",
        places: &["cluster/fate.rs"],
        rule: "A node that cannot go on is lost, whether anybody has heard why or not.",
        level: Level::World,
    },
    Mutation {
        name: "epochs-begin-again",
        places: &["cluster/takeover/follower.rs"],
        rule: "The first epoch of a new launcher is after all that anybody has halted for.",
        level: Level::World,
    },
    Mutation {
        name: "gone-back-to-is-forgotten",
        places: &["cluster/takeover/follower.rs"],
        rule: "Nobody goes back behind what all had gone back to under a former launcher, which may have printed since.",
        level: Level::World,
    },
    Mutation {
        name: "settled-is-forgotten",
        places: &["cluster/takeover/follower.rs"],
        rule: "Nobody goes back when a node may have left already, whoever leads.",
        level: Level::World,
    },
    Mutation {
        name: "last-lines-printed-too-early",
        places: &["cluster/printed.rs"],
        rule: "Lines of the last period are printed when nothing can be gone back to any more.",
        level: Level::World,
    },
    Mutation {
        name: "loss-before-done-is-none",
        places: &["cluster/conductor/surviving.rs"],
        rule: "A node that is lost before it has said all is a loss, though the program has ended.",
        level: Level::World,
    },
    Mutation {
        name: "end-not-withdrawn",
        places: &["cluster/conductor/surviving.rs"],
        rule: "The end of a program that goes back does not hold.",
        level: Level::World,
    },
    Mutation {
        name: "leaving-before-all-are-done",
        places: &["cluster/conductor/leaving.rs"],
        rule: "Whoever has stopped stays until all have, since what it holds may be needed.",
        level: Level::World,
    },
    Mutation {
        name: "later-epoch-delivered",
        places: &["net/epochs.rs"],
        rule: "What comes of a later epoch waits until its receiver is there.",
        level: Level::World,
    },
    Mutation {
        name: "trees-over-the-dead",
        places: &["view.rs"],
        rule: "Trees and counts are over those that are there.",
        level: Level::World,
    },
    Mutation {
        name: "silent-counts-as-dead",
        places: &["cluster/conductor/limits.rs"],
        rule: "Nobody is lost before it is dead: who is silent is killed first.",
        level: Level::World,
    },
    Mutation {
        name: "former-dropped-too-early",
        places: &["checkpoint/store/mod.rs"],
        rule: "A version stays until the next one is committed.",
        level: Level::World,
    },
    Mutation {
        name: "buddy-on-the-same-host",
        places: &["ft/view.rs"],
        rule: "The two copies of a part are on different hosts, if there are several.",
        level: Level::World,
    },
    Mutation {
        name: "newcomer-without-its-part",
        places: &["net/handing.rs"],
        rule: "A process in a lost node's place takes part in nothing before it has that one's part.",
        level: Level::World,
    },
    Mutation {
        name: "newcomers-begin-anew",
        places: &["ft/double/leader.rs"],
        rule: "When only processes are left that came in lost ones' places, the program does not begin anew as if there had been no checkpoint.",
        level: Level::World,
    },
    Mutation {
        name: "added-node-knows-no-places",
        places: &["checkpoint/newcomers.rs"],
        rule: "A node that is added knows where the objects are whose home it is.",
        level: Level::World,
    },
    Mutation {
        name: "single-chares-stay-away",
        places: &["checkpoint/newcomers.rs"],
        rule: "A single chare whose PE is there again is made again on that, with what waits for it.",
        level: Level::World,
    },
    Mutation {
        name: "members-stay-on-their-pes",
        places: &["checkpoint/newcomers.rs"],
        rule: "The member of a nodegroup is on the first PE of its node, also if a job is started again with other PEs on each.",
        level: Level::World,
    },
    Mutation {
        name: "open-reductions-not-saved",
        places: &["checkpoint/capture.rs"],
        rule: "What has come of a reduction is part of a checkpoint.",
        level: Level::World,
    },
    Mutation {
        name: "file-not-synced",
        places: &["disk/checked.rs"],
        rule: "What is in a file is kept before the file has its name.",
        level: Level::World,
    },
    Mutation {
        name: "names-not-synced",
        places: &["disk/checked.rs"],
        rule: "A file counts as kept when its name is.",
        level: Level::World,
    },
    Mutation {
        name: "file-written-in-place",
        places: &["disk/checked.rs"],
        rule: "A file comes to its place whole.",
        level: Level::World,
    },
    Mutation {
        name: "file-sum-ignored",
        places: &["disk/checked.rs"],
        rule: "What is read from a file is what was written.",
        level: Level::World,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sources::{Call, calls_with_texts};

    #[test]
    fn every_mistake_is_on_the_list_with_its_places() {
        let listed = MUTATIONS.iter().flat_map(|mutation| {
            mutation.places.iter().map(|place| (mutation.name.to_owned(), (*place).to_owned()))
        });
        let made = calls_with_texts("mutated").into_iter().map(|Call { file, text }| (text, file));
        assert_eq!(listed.collect::<BTreeSet<_>>(), made.collect::<BTreeSet<_>>(), "the list, and core/src");
    }

    #[test]
    fn every_mistake_has_one_name() {
        let names: BTreeSet<_> = MUTATIONS.iter().map(|mutation| mutation.name).collect();
        assert_eq!(names.len(), MUTATIONS.len());
    }
}
