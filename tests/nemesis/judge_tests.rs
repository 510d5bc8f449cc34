//! The judge sees what is wrong, in made-up jobs.

use std::time::Duration;

use serde_json::json;

use crate::judge::{Ending, Evidence, Role, Struck, Verdict};
use crate::said::Said;

const NODE: Struck = Struck { role: Role::Node, fatal: true, left: 3, whole: true };
/// At once with another, or soon after.
const ANOTHER: Struck = Struck { whole: false, ..NODE };
const LAUNCHER: Struck = Struck { role: Role::Launcher, fatal: true, left: 3, whole: true };
const STANDBY: Struck = Struck { role: Role::Standby, fatal: true, left: 3, whole: true };

fn said(lines: &[&str], sum: u64) -> Said {
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    Said::reported(&lines, &json!({ "results": { "sum": sum, "wall_s": 1.5 } }))
}

/// A job that has lost a node and says what it should.
fn survivor() -> Evidence {
    Evidence {
        expected: said(&["1 rounds: 7", "2 rounds: 9"], 9),
        said: said(&["2 rounds: 9", "at 1", "1 rounds: 7"], 9),
        ending: Ending::Exited(0),
        reported: Some(0),
        losses: 1,
        errors: Vec::new(),
        struck: vec![NODE],
        processes_left: Vec::new(),
        files_left: Vec::new(),
    }
}

/// One that has lost two nodes, and with them all copies of something.
fn loser() -> Evidence {
    Evidence {
        said: said(&["1 rounds: 7"], 0),
        ending: Ending::Exited(3),
        reported: Some(3),
        errors: vec!["talisman: error: … all copies are lost of 7 objects: 6 of array A".into()],
        struck: vec![NODE, ANOTHER],
        ..survivor()
    }
}

#[track_caller]
fn fails(evidence: Evidence, words: &str) {
    match evidence.verdict() {
        Verdict::Failed(why) => assert!(why.contains(words), "{why}"),
        other => panic!("{other}: {evidence:?}"),
    }
}

pub fn what_is_right_passes() {
    assert_eq!(survivor().verdict(), Verdict::Survived);
    let led = Evidence { ending: Ending::Signalled(9), struck: vec![LAUNCHER], losses: 0, ..survivor() };
    assert_eq!(led.verdict(), Verdict::Survived);
    assert!(matches!(loser().verdict(), Verdict::Ended(_)));
    let files = vec!["checkpoints/node-0/v7".to_string()];
    assert!(matches!(Evidence { files_left: files, ..loser() }.verdict(), Verdict::Ended(_)));
    let none = Evidence { ending: Ending::Signalled(9), reported: None, said: said(&[], 0), ..survivor() };
    let all = vec![LAUNCHER, Struck { left: 0, ..NODE }];
    assert!(matches!(Evidence { struck: all, ..none.clone() }.verdict(), Verdict::Ended(_)));
    assert!(matches!(
        Evidence { struck: vec![LAUNCHER, STANDBY], ..none.clone() }.verdict(),
        Verdict::Ended(_)
    ));
    let over = Evidence { said: survivor().said, struck: vec![LAUNCHER], ..none };
    assert!(matches!(over.verdict(), Verdict::Ended(_)));
}

/// What has not begun ends with its launcher.
pub fn an_early_loss_of_the_launcher_passes() {
    let anew = vec!["golomb: 3 nodes began the program anew, as there was no checkpoint yet".to_string()];
    let early = Evidence { ending: Ending::Signalled(9), struck: vec![LAUNCHER], losses: 2, ..survivor() };
    assert_eq!(Evidence { errors: anew, ..early.clone() }.verdict(), Verdict::Survived);
    fails(early, "2 lost nodes");
    let unheard = vec!["node 2: heard nothing of the launcher for 4s (was it stopped?)".to_string()];
    let stopped = Evidence { struck: vec![LAUNCHER], errors: unheard, ..loser() };
    assert!(matches!(stopped.verdict(), Verdict::Ended(_)));
    fails(Evidence { struck: vec![NODE], ..stopped }, "though all was held twice");
}

pub fn a_wrong_line_fails() {
    let wrong = said(&["1 rounds: 7", "2 rounds: 8"], 9);
    fails(Evidence { said: wrong.clone(), ..survivor() }, "wrong lines: 2 rounds: 8");
    fails(Evidence { said: wrong, ..loser() }, "wrong lines: 2 rounds: 8");
    fails(Evidence { said: said(&["1 rounds: 7", "2 rounds: 9"], 8), ..survivor() }, "other results");
}

pub fn a_line_too_few_or_too_many_fails() {
    fails(Evidence { said: said(&["1 rounds: 7"], 9), ..survivor() }, "missing: 2 rounds: 9");
    let twice = said(&["1 rounds: 7", "2 rounds: 9", "2 rounds: 9"], 9);
    fails(Evidence { said: twice, ..survivor() }, "more often than once");
}

pub fn a_hang_fails() {
    fails(Evidence { ending: Ending::Hung(Duration::from_secs(90)), ..survivor() }, "not over after 90s");
}

pub fn what_is_left_behind_fails() {
    fails(Evidence { processes_left: vec!["4711 S".into()], ..survivor() }, "left behind: 4711");
    fails(Evidence { processes_left: vec!["4711 S".into()], ..loser() }, "left behind: 4711");
    fails(
        Evidence { files_left: vec!["talisman-0/4711.job".into()], ..survivor() },
        "left behind: talisman-0",
    );
}

pub fn an_end_that_is_not_documented_fails() {
    fails(Evidence { struck: vec![NODE], ..loser() }, "though all was held twice");
    fails(Evidence { struck: vec![NODE, NODE], ..loser() }, "though all was held twice");
    fails(Evidence { errors: vec!["talisman: error: sorry".into()], ..loser() }, "does not say");
    fails(Evidence { ending: Ending::Exited(101), reported: None, ..survivor() }, "status 101");
    fails(Evidence { ending: Ending::Signalled(11), ..survivor() }, "signal 11, which nobody sent");
    fails(Evidence { reported: Some(3), ..survivor() }, "and reports Some(3)");
    let silent =
        Evidence { ending: Ending::Signalled(9), reported: None, struck: vec![LAUNCHER], ..survivor() };
    let led = vec!["golomb: the launcher is gone; node 0 (pid 7) leads now".to_string()];
    fails(Evidence { errors: led, ..silent.clone() }, "without a report");
    fails(Evidence { said: said(&["1 rounds: 7"], 9), ..silent }, "without a report");
    fails(Evidence { losses: 2, ..survivor() }, "2 lost nodes, of which 1 were struck");
}
