//! Deliberate mistakes about message logging, each with a seed that is known to notice it, by what they are about.

/// Of what the logging of a whole world rests on. What is not here is noticed in `ft/tests/logging`.
pub const MISTAKES: [(&str, u64); 12] = [
    ("time-not-logged", 0),
    ("frame-taken-not-logged", 1),
    ("slot-taken-not-logged", 2),
    ("log-behind-what-was-sent", 6),
    ("timer-not-logged", 4),
    ("frame-not-retained", 0),
    ("sent-again-though-taken", 1),
    ("log-not-riding", 1),
    ("others-log-not-riding", 9),
    ("written-counts-as-stable", 15),
    ("live-before-horizon", 3),
    ("second-loss-forgets-first", 2),
];

/// Of what the cuts of such a job rest on.
pub const MISTAKES_ABOUT_CUTS: [(&str, u64); 11] = [
    ("line-begins-before-the-last-holds", 1),
    ("lost-goes-back-to-the-former-line", 0),
    ("printed-counts-on-in-the-next-line", 0),
    ("log-goes-on-in-the-next-line", 0),
    ("held-before-the-keeper-has-it", 27),
    ("held-before-all-is-printed", 1),
    ("next-not-kept", 3),
    ("former-line-taken-in", 15),
    ("next-line-taken-in-early", 0),
    ("results-not-in-the-cut", 5),
    ("waiting-for-a-cut-not-in-it", 0),
];

/// Of what it rests on that nodes are lost when some hold their parts. Losses at any moment of a cut are seldom between the first of them and
/// the last.
pub const MISTAKES_ABOUT_HOLDING: [(&str, u64); 3] =
    [("held-before-a-loss-counts", 0), ("next-not-sent-to-a-new-keeper", 0), ("held-is-not-said-again", 0)];

/// Of what cuts rest on that there is no memory for.
pub const MISTAKES_ABOUT_MEMORY: [(&str, u64); 3] =
    [("refused-part-not-told", 0), ("refused-cut-not-thawed", 0), ("refused-memory-not-logged", 0)];

/// Of what the loss of whoever leads rests on. What is not here is noticed by the tests of `talisman-ft` and `talisman-control`.
pub const MISTAKES_ABOUT_LEADERS: [(&str, u64); 5] = [
    ("printed-is-not-asked-for", 7),
    ("seen-is-not-looked-at", 10),
    ("unprinted-is-not-said-again", 5),
    ("next-leader-takes-the-former-line", 8),
    ("keeper-forgets-what-is-printed", 7),
];

/// Of what it rests on that nodes are released. That what was held for a membership that is taken back does not count is noticed in
/// `ft/src/logging/tests`: here all say it again for the next one, and only what is on its way meanwhile could count.
pub const MISTAKES_ABOUT_RELEASED_NODES: [(&str, u64); 4] = [
    ("held-by-the-former-keeper", 7),
    ("what-is-handed-over-not-joined", 0),
    ("held-before-all-is-handed-over", 14),
    ("handed-over-before-all-is-printed", 14),
];

/// Of what it rests on that nodes are added. That nobody is live whom nobody keeps, and that nothing is made whose log is needed, is noticed in
/// `ft/src/logging/tests`.
pub const MISTAKES_ABOUT_ADDED_NODES: [(&str, u64); 2] =
    [("parts-not-shared-out", 0), ("made-by-the-one-that-had-acted-only", 4)];

/// Of what balancing rests on in a job that logs.
pub const MISTAKES_ABOUT_LOADS: [(&str, u64); 3] =
    [("loads-not-logged", 11), ("load-of-a-look-not-logged", 11), ("measured-goes-unlogged", 1)];

/// Of what tickets rest on. That a hole is void is noticed in `ft/src/logging/ticket`, and what was asked for is sent again in
/// `core/src/logging`: without either a job only waits, if nothing else follows on a lane.
pub const MISTAKES_ABOUT_TICKETS: [(&str, u64); 4] = [
    ("ticketed-frames-not-counted", 1),
    ("ticket-asked-before-the-log-is-stable", 2),
    ("tickets-before-all-answered", 12),
    ("ticketed-while-messages-wait-not-logged", 7),
];

/// Of what PEs are given: noticed where nobody is lost.
pub const MISTAKES_THAT_TWINS_NOTICE: [(&str, u64); 10] = [
    ("chore-not-logged", 0),
    ("command-not-logged", 0),
    ("value-not-logged", 0),
    ("messages-in-order-of-memory", 0),
    ("timers-by-what-is-measured", 0),
    ("time-not-logged", 0),
    ("frame-taken-not-logged", 0),
    ("slot-taken-not-logged", 0),
    ("timer-not-logged", 0),
    ("ticketed-frames-not-counted", 0),
];

/// Of what is in a part: who is restored after a loss lacks it, and so does a twin.
pub const PARTS_NOT_TAKEN_BACK: [(&str, u64); 18] = [
    ("shared-values-not-taken-back", 0),
    ("passed-broadcasts-not-taken-back", 0),
    ("insertions-not-taken-back", 0),
    ("unborn-not-taken-back", 0),
    ("roots-not-taken-back", 0),
    ("open-reductions-not-taken-back", 0),
    ("held-broadcasts-not-taken-back", 0),
    ("sections-not-taken-back", 0),
    ("headers-not-taken-back", 0),
    ("given-broadcasts-not-taken-back", 0),
    ("destinations-not-taken-back", 0),
    ("away-not-taken-back", 0),
    ("births-not-taken-back", 0),
    ("requests-not-taken-back", 0),
    ("timers-not-taken-back", 0),
    ("idle-work-not-taken-back", 0),
    ("quiet-not-taken-back", 0),
    ("names-not-taken-back", 0),
];
