//! What is tested.

use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::net::sockopt::socket_domain;
use rustix::net::{AddressFamily, Shutdown};
use rustix::process::Signal;
use talisman::rng::Rng;

use crate::asking::{
    a_checkpoint_when_it_is_asked_for, a_loss_right_after_a_release, copies_on_one_host_are_mapped,
    nodes_are_released, what_cannot_be_asked, what_was_asked_for_goes_when_the_job_has_ended,
    what_was_asked_for_outlives_all_nodes,
};
use crate::disk::{
    a_whole_job_is_started_again, both_buddies_on_disk, damaged_files_are_named_and_nothing_is_overwritten,
    examples_are_started_again, folders_that_cannot_be_used, it_can_be_started_again_more_than_once,
    lost_nodes_come_back, more_nodes_than_before, nodegroups_on_other_pes_than_before,
    on_disk_like_in_memory,
};
use crate::early::{
    a_job_that_loses_a_node_before_it_begins_is_started_again,
    a_job_that_loses_nodes_each_time_that_it_starts_ends,
};
use crate::faults::{a_process_that_aborts_in_the_same_round_each_time, a_process_that_has_a_fault_once};
use crate::full::{
    a_disk_that_does_not_take_what_is_asked_for, a_disk_that_is_full,
    a_folder_that_cannot_be_written_any_more,
};
use crate::growing::{
    a_job_that_has_grown_is_started_again, lost_at_random_moments_while_nodes_are_added,
    lost_nodes_are_added_again, more_nodes_than_at_the_start, nodes_are_added_during_a_recovery,
    nodes_from_before_are_added, objects_move_to_nodes_that_are_added, released_nodes_are_added_again,
    spares_are_added, spares_are_added_to_those_of_the_start,
};
use crate::held::begin;
use crate::hosts::{
    a_host_that_is_lost_before_the_program_begins, a_host_that_was_stopped_does_no_harm_when_it_goes_on,
    a_job_on_several_hosts_without_its_launcher_is_asked,
    a_launcher_of_several_hosts_that_is_stopped_is_fenced,
    a_spare_is_added_on_several_hosts_without_the_launcher,
    nodes_are_added_on_several_hosts_without_the_launcher,
    nodes_of_several_hosts_are_replaced_without_the_launcher, one_host_after_another,
    one_successor_after_another, other_ends_of_several_hosts_without_the_launcher,
    replaced_nodes_are_found_where_they_are_without_the_launcher,
    spares_of_several_hosts_without_the_launcher, the_launcher_of_several_hosts,
    the_launcher_of_several_hosts_and_more_at_random_moments,
    the_launcher_of_several_hosts_at_the_start_and_at_the_end,
    the_launcher_of_several_hosts_before_the_program_begins, the_launcher_of_several_hosts_during_a_recovery,
    the_launcher_of_several_hosts_with_encryption, the_launcher_with_its_whole_host,
};
use crate::job::{Ended, Job, Shape, example};
use crate::joining::{
    a_killed_node_is_replaced, losses_by_chaos_are_replaced, more_losses_than_nodes,
    nobody_waits_for_what_cannot_be, options_without_sense, replaced_at_random_moments,
    several_are_replaced_at_once, spares_take_the_places_of_lost_nodes,
};
use crate::launcher::{
    a_job_without_its_launcher_is_asked, nodes_and_launchers_that_are_stopped_are_fenced,
    nodes_are_replaced_without_the_launcher, one_leader_after_another,
    other_losses_and_ends_without_the_launcher, spares_without_the_launcher,
    the_launcher_and_the_first_node_at_once, the_launcher_before_the_first_checkpoint,
    the_launcher_between_two_checkpoints, the_launcher_during_a_recovery,
    the_launcher_of_a_job_with_a_node_that_is_stopped, the_launcher_of_other_programs_and_on_disk,
    the_report_is_that_of_the_whole_job,
};
use crate::moments::random_moments;
use crate::reports::{
    a_job_with_two_losses_tells_all_of_them, each_checkpoint_is_told_on_a_terminal,
    losses_without_replacement, one_node_holds_nothing_twice, why_there_were_checkpoints,
};
use crate::searches::{searches_go_back_to_checkpoints, the_search_with_heirs_goes_back};
use crate::spread::{
    hosts_are_lost_one_after_the_other, nodes_are_added_beside_a_spare_of_another_host,
    nodes_are_added_during_a_recovery_of_several_hosts, nodes_are_added_on_another_host,
    spares_on_another_host,
};
use crate::standby::{
    a_job_that_is_to_end_is_not_started_again, a_job_whose_launchers_are_lost_each_time_that_it_starts_ends,
    a_launcher_that_is_lost_before_the_program_begins_is_replaced,
    nobody_stands_by_once_the_program_has_begun, the_launcher_at_any_moment_of_its_start,
};
use crate::stops::{
    a_node_that_computes_is_waited_for_and_named, a_node_that_is_stopped_is_fenced,
    who_is_stopped_for_a_while_is_not_lost,
};
use crate::subjects::{GARDEN, JACOBI, LEANMD, LONG, Left, ROUNDS, SMALL_JACOBI, SMALL_LEANMD, Subject};
use crate::system::{has_rights, signal, sockets, take_descriptor};

macro_rules! trials {
    ($($name:ident),+ $(,)?) => {
        /// All tests.
        pub fn all() -> Vec<Trial> {
            let trial = |name: &str, test: fn()| Trial::test(name, move || { test(); Ok(()) });
            vec![$(trial(stringify!($name), $name)),+]
        }
    };
}

trials!(
    nobody_is_lost,
    a_job_that_loses_a_node_before_it_begins_is_started_again,
    a_job_that_loses_nodes_each_time_that_it_starts_ends,
    a_host_that_is_lost_before_the_program_begins,
    before_the_first_checkpoint_the_program_begins_anew,
    whoever_is_lost_at_a_step,
    examples_at_a_step,
    what_the_readme_shows,
    without_a_word_on_checkpoints,
    whom_chaos_hits,
    two_at_once,
    one_after_another_until_one_is_left,
    during_checkpoints,
    during_a_recovery,
    both_buddies_between_two_checkpoints,
    a_node_that_is_stopped_is_fenced,
    a_node_that_computes_is_waited_for_and_named,
    who_is_stopped_for_a_while_is_not_lost,
    connections_that_break_meanwhile,
    other_ends_are_as_ever,
    random_moments,
    searches_go_back_to_checkpoints,
    the_search_with_heirs_goes_back,
    a_job_with_two_losses_tells_all_of_them,
    losses_without_replacement,
    one_node_holds_nothing_twice,
    why_there_were_checkpoints,
    each_checkpoint_is_told_on_a_terminal,
    on_disk_like_in_memory,
    a_whole_job_is_started_again,
    more_nodes_than_before,
    nodegroups_on_other_pes_than_before,
    lost_nodes_come_back,
    it_can_be_started_again_more_than_once,
    examples_are_started_again,
    damaged_files_are_named_and_nothing_is_overwritten,
    both_buddies_on_disk,
    folders_that_cannot_be_used,
    a_disk_that_is_full,
    a_folder_that_cannot_be_written_any_more,
    a_disk_that_does_not_take_what_is_asked_for,
    a_killed_node_is_replaced,
    several_are_replaced_at_once,
    more_losses_than_nodes,
    losses_by_chaos_are_replaced,
    spares_take_the_places_of_lost_nodes,
    nobody_waits_for_what_cannot_be,
    replaced_at_random_moments,
    options_without_sense,
    a_checkpoint_when_it_is_asked_for,
    what_was_asked_for_outlives_all_nodes,
    what_was_asked_for_goes_when_the_job_has_ended,
    copies_on_one_host_are_mapped,
    nodes_are_released,
    a_loss_right_after_a_release,
    what_cannot_be_asked,
    released_nodes_are_added_again,
    lost_nodes_are_added_again,
    objects_move_to_nodes_that_are_added,
    spares_are_added,
    spares_are_added_to_those_of_the_start,
    more_nodes_than_at_the_start,
    nodes_from_before_are_added,
    a_job_that_has_grown_is_started_again,
    lost_at_random_moments_while_nodes_are_added,
    hosts_are_lost_one_after_the_other,
    a_process_that_aborts_in_the_same_round_each_time,
    a_process_that_has_a_fault_once,
    spares_on_another_host,
    nodes_are_added_on_another_host,
    nodes_are_added_during_a_recovery,
    nodes_are_added_beside_a_spare_of_another_host,
    nodes_are_added_during_a_recovery_of_several_hosts,
    nodes_are_added_on_several_hosts_without_the_launcher,
    a_spare_is_added_on_several_hosts_without_the_launcher,
    replaced_nodes_are_found_where_they_are_without_the_launcher,
    the_launcher_between_two_checkpoints,
    the_launcher_before_the_first_checkpoint,
    the_launcher_and_the_first_node_at_once,
    one_leader_after_another,
    the_launcher_during_a_recovery,
    nodes_and_launchers_that_are_stopped_are_fenced,
    the_launcher_of_a_job_with_a_node_that_is_stopped,
    other_losses_and_ends_without_the_launcher,
    the_launcher_of_other_programs_and_on_disk,
    the_report_is_that_of_the_whole_job,
    nodes_are_replaced_without_the_launcher,
    spares_without_the_launcher,
    a_job_without_its_launcher_is_asked,
    the_launcher_of_several_hosts,
    the_launcher_of_several_hosts_with_encryption,
    one_successor_after_another,
    the_launcher_with_its_whole_host,
    one_host_after_another,
    the_launcher_of_several_hosts_during_a_recovery,
    a_launcher_of_several_hosts_that_is_stopped_is_fenced,
    a_host_that_was_stopped_does_no_harm_when_it_goes_on,
    nodes_of_several_hosts_are_replaced_without_the_launcher,
    spares_of_several_hosts_without_the_launcher,
    a_job_on_several_hosts_without_its_launcher_is_asked,
    other_ends_of_several_hosts_without_the_launcher,
    the_launcher_of_several_hosts_and_more_at_random_moments,
    the_launcher_of_several_hosts_at_the_start_and_at_the_end,
    a_launcher_that_is_lost_before_the_program_begins_is_replaced,
    a_job_whose_launchers_are_lost_each_time_that_it_starts_ends,
    a_job_that_is_to_end_is_not_started_again,
    nobody_stands_by_once_the_program_has_begun,
    the_launcher_at_any_moment_of_its_start,
    the_launcher_of_several_hosts_before_the_program_begins,
);

pub const TRANSPORTS: [&str; 3] = ["tcp", "shm", "mixed"];
/// No checkpoint but those after a recovery.
pub const NEVER: &str = "--ckpt-every 1h";

fn nobody_is_lost() {
    for (subject, transport) in [(ROUNDS, "mixed"), (GARDEN, "tcp"), (JACOBI, "shm"), (LEANMD, "tcp")] {
        let shape = (3, 2, transport);
        let expected = subject.undisturbed(shape);
        subject.survives(shape, NEVER, &expected);
        subject.survives(shape, "--ckpt-every 5steps", &expected);
        subject.survives(shape, "--ckpt-every 3ms", &expected);
    }
}

fn before_the_first_checkpoint_the_program_begins_anew() {
    for (victim, transport) in [(2, "tcp"), (0, "shm"), (3, "mixed"), (0, "tcp")] {
        let shape = (4, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        ROUNDS.survives(shape, &format!("{NEVER} --kill {victim}@step5"), &expected);
    }
}

fn whoever_is_lost_at_a_step() {
    for transport in TRANSPORTS {
        let shape = (4, 2, transport);
        let expected = ROUNDS.undisturbed(shape);
        for victim in 0..4 {
            ROUNDS.survives(shape, &format!("--ckpt-every 4steps --kill {victim}@step18"), &expected);
        }
    }
}

fn examples_at_a_step() {
    for (subject, transport) in [(JACOBI, "tcp"), (JACOBI, "shm"), (LEANMD, "mixed"), (LEANMD, "shm")] {
        let shape = (4, 1, transport);
        let expected = subject.undisturbed(shape);
        for victim in [0, 2] {
            subject.survives(shape, &format!("--ckpt-every 6steps --kill {victim}@step20"), &expected);
        }
    }
}

/// Its command with a kill ends with the energies that it shows of the one without.
fn what_the_readme_shows() {
    let readme = include_str!("../../README.md");
    let after = |prompt: &str| readme.split_once(prompt).expect("the README shows it").1;
    let (undisturbed, rest) = after("$ leanmd --cells 3,3,3 ").split_once("\n").expect("it has more lines");
    let options = undisturbed.strip_suffix(" --nodes 4 | tail -1").expect("the last line of four nodes");
    let (energies, command) = rest.split_once("\n").expect("it has more lines");
    let with_kill = format!("$ leanmd --cells 3,3,3 {options} --nodes 4 ");
    let survives = command.strip_prefix(&with_kill).and_then(|rest| rest.lines().next()).expect("the same");
    assert!(energies.contains("kinetic") && survives.contains("--kill"), "{energies} {survives}");
    let run = Job::start(example("leanmd", &format!("--cells 3,3,3 {options} {survives}"), (4, 1, "mixed")));
    let ended =
        run.end().expect(0, &["node 2 (pid", "3 nodes went back to checkpoint", "after the loss of node 2"]);
    assert_eq!(ended.stdout.last().map(String::as_str), Some(energies), "{}", ended.said());
}

/// The README's first command with a kill, of a smaller system, and the same for the other example.
fn without_a_word_on_checkpoints() {
    let kill = "--kill 2@step40";
    let command = format!("--example leanmd -- --nodes 4 --ft double {kill} #");
    assert!(include_str!("../../README.md").contains(&command), "the README has another command");
    for (subject, kill, victim) in [(SMALL_LEANMD, kill, 2), (SMALL_JACOBI, "--kill 1@step40", 1)] {
        let shape = (4, 1, "shm");
        let expected = subject.undisturbed(shape);
        let left = subject.survives(shape, kill, &expected);
        assert_eq!(left.losses, [(victim, false)], "{}", left.ended.said());
    }
}

fn whom_chaos_hits() {
    for subject in [SMALL_JACOBI, SMALL_LEANMD] {
        let mut left = struck_twice(subject, (5, 1, "mixed"));
        // If both die at once, the second may be known of first.
        left.losses.sort_unstable();
        assert_eq!(left.losses, [(1, false), (4, false)], "{}", left.ended.said());
    }
}

/// With this seed, nodes 1 and 4 are killed at 0.10 and 0.22 s, and the next one at 358 s: neither keeps copies of the other. If the program was
/// over by the second time, one of more steps is not.
fn struck_twice(subject: Subject, shape: Shape) -> Left {
    let chaos = "--chaos mtbf=100s,seed=114350529";
    for steps in [200, 800, 3200, 12_800] {
        let steps = format!("--steps {steps}");
        let expected = subject.start(shape, &steps).end().said;
        let left = subject.survives(shape, &format!("{steps} --ckpt-every 20ms {chaos}"), &expected);
        if left.losses.len() > 1 {
            let asked = format!("was killed, as {chaos} asked");
            let told = left.ended.stderr.iter().filter(|line| line.contains(&asked)).count();
            assert_eq!(told, 2, "{}", left.ended.said());
            return left;
        }
    }
    panic!("all were over before two could be killed");
}

/// Neither keeps the copies of the other.
fn two_at_once() {
    for transport in TRANSPORTS {
        let shape = (5, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        for (one, other) in [(0, 2), (1, 4)] {
            let kills = format!("--kill {one}@step21 --kill {other}@step21");
            ROUNDS.survives(shape, &format!("--ckpt-every 5steps {kills}"), &expected);
        }
    }
}

fn one_after_another_until_one_is_left() {
    for transport in TRANSPORTS {
        let shape = (4, 1, transport);
        let expected = ROUNDS.undisturbed(shape);
        for kills in [[0, 1, 2], [3, 0, 1]] {
            let kill = |(at, victim): (usize, &u32)| format!("--kill {victim}@step{}", 10 + 8 * at);
            let kills: Vec<_> = kills.iter().enumerate().map(kill).collect();
            ROUNDS.survives(shape, &format!("--ckpt-every 3steps {}", kills.join(" ")), &expected);
        }
    }
}

/// One checkpoint after another: whenever a node is killed, one is under way.
fn during_checkpoints() {
    let mut rng = Rng::new(11);
    for round in 0..6 {
        let shape = (4, 1 + round % 2, TRANSPORTS[round as usize % 3]);
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 1ms --words 8000");
        let nodes = held.run.job.nodes(4);
        held.run.job.wait_for(&format!("at {}", 3 + rng.below(20)));
        sleep(Duration::from_micros(rng.below(3000)));
        signal(nodes[rng.below(4) as usize], Signal::KILL);
        held.survives(&expected);
    }
}

/// A second one soon after the first: while all halt, while they restore, or while lost copies are made again.
fn during_a_recovery() {
    let mut rng = Rng::new(12);
    let all = TRANSPORTS.map(|transport| (5, 1, transport)).map(|shape| (shape, LONG.undisturbed(shape)));
    for (shape, expected) in all.iter().cycle().take(9) {
        let held = begin(LONG, *shape, "--ckpt-every 4steps");
        let nodes = held.run.job.nodes(5);
        held.run.job.wait_for("at 14");
        let first = rng.below(5) as usize;
        signal(nodes[first], Signal::KILL);
        sleep(Duration::from_micros(rng.below(30_000)));
        signal(nodes[(first + 2) % 5], Signal::KILL);
        held.survives(expected);
    }
}

fn both_buddies_between_two_checkpoints() {
    for transport in TRANSPORTS {
        let options = "--ft double --ckpt-every 2steps --kill 1@step25 --kill 2@step25";
        tells_what_is_lost(&ROUNDS.start((5, 1, transport), options).job.end(), "");
    }
}

/// A job of five nodes with a PE each has lost nodes 1 and 2 at once, and the launcher and all that are left say what was lost with them. The launcher
/// says this besides.
#[track_caller]
pub fn tells_what_is_lost(ended: &Ended, besides: &str) {
    assert_eq!(ended.status.code(), Some(3), "{}", ended.said());
    let complaint = ended.stderr.iter().find_map(|line| line.strip_prefix("talisman: error: "));
    let complaint = complaint.and_then(|line| line.strip_suffix(besides));
    let complaint = complaint.unwrap_or_else(|| panic!("{}", ended.said()));
    let (objects, by_collection) = what_is_lost(complaint).unwrap_or_else(|| panic!("{complaint}"));
    let counted: u64 = by_collection.iter().map(|(count, _)| count).sum();
    assert_eq!(counted, objects, "{complaint}");
    // One clock is on each PE; the main chare is on node 0.
    let of = |name: &str| by_collection.iter().find(|(_, other)| *other == name).map(|(count, _)| *count);
    assert_eq!(of("group recovery::program::Clock"), Some(1), "{complaint}");
    assert_eq!(of("array recovery::program::Member"), Some(objects - 1), "{complaint}");
    let held = format!("; that is what node 1 ({objects} objects, held by nodes 1 and 2) had");
    assert!(complaint.ends_with(&held), "{complaint}");
    for survivor in [0, 3, 4] {
        let line = format!("node {survivor}: {complaint}");
        assert!(ended.stderr.contains(&line), "node {survivor} does not say it: {}", ended.said());
    }
}

/// `… all copies are lost of 7 objects: 6 of array A and 1 of group B; …`: the sum, and the counts with their collections.
fn what_is_lost(complaint: &str) -> Option<(u64, Vec<(u64, &str)>)> {
    let (_, rest) = complaint.split_once("all copies are lost of ")?;
    let (rest, _) = rest.split_once("; ")?;
    let (sum, rest) = rest.split_once(" object")?;
    let (_, rest) = rest.split_once(": ")?;
    let each = rest.split(", ").flat_map(|text| text.split(" and ")).map(|text| text.split_once(" of "));
    let counts = each.map(|of| of.and_then(|(count, name)| Some((count.parse().ok()?, name))));
    Some((sum.parse().ok()?, counts.collect::<Option<_>>()?))
}

/// Before and after a loss, and while its recovery goes on.
fn connections_that_break_meanwhile() {
    if !has_rights("cutting connections of other processes") {
        return;
    }
    let mut rng = Rng::new(14);
    for victim in 0..3 {
        let shape = (4, 2, "tcp");
        let expected = LONG.undisturbed(shape);
        let held = begin(LONG, shape, "--ckpt-every 3steps");
        let mut nodes = held.run.job.nodes(4);
        held.run.job.wait_for("at 9");
        (0..6).for_each(|_| cut_one(&nodes, &mut rng));
        signal(nodes.remove(victim), Signal::KILL);
        for _ in 0..12 {
            cut_one(&nodes, &mut rng);
            sleep(Duration::from_micros(rng.below(4000)));
        }
        held.survives(&expected);
    }
}

/// Ends a connection of one of these processes, which may be gone.
fn cut_one(nodes: &[i32], rng: &mut Rng) {
    let pid = nodes[rng.below(nodes.len() as u64) as usize];
    let connections: Vec<_> = sockets(pid).into_iter().filter(|socket| socket.connected).collect();
    if connections.is_empty() {
        return;
    }
    let socket = connections[rng.below(connections.len() as u64) as usize];
    let Ok(taken) = take_descriptor(pid, socket.number) else { return };
    // By now the number may mean something else, to which nothing is done.
    if socket_domain(&taken) == Ok(AddressFamily::INET) {
        let _ = rustix::net::shutdown(&taken, Shutdown::Both);
    }
}

/// Failures of the program and Ctrl-C end a job that has survived a loss.
fn other_ends_are_as_ever() {
    for transport in TRANSPORTS {
        let start = |options: &str| {
            let options = format!("--ft double --ckpt-every 3steps --kill 1@step8 {options}");
            ROUNDS.start((4, 1, transport), &options).job
        };
        start("--panic-at 20").end().expect(1, &["enough of it"]);
        start("--panic-at 3").end().expect(1, &["enough of it"]);
        let interrupted = start("--rounds 100000");
        interrupted.wait_for("at 30");
        interrupted.processes().into_iter().for_each(|pid| signal(pid, Signal::INT));
        interrupted.end().expect(130, &[]);
    }
}
