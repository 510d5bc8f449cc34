//! Files that ranks of several nodes write together.

use crate::job::{Interface, c_compiler, folder, mpirun, printed, program, sorted};
use crate::trials::checks;

checks!(
    a_file_of_all_ranks_has_each_record_once needs c_compiler,
    records_at_places_of_their_own_are_there needs c_compiler,
    what_is_made_and_removed_again_is_as_it_was_then needs c_compiler,
    folders_are_listed_as_they_were_then needs c_compiler,
    what_is_appended_is_there_once needs c_compiler,
    files_of_a_rank_alone_have_and_say_what_they_did needs c_compiler,
    a_file_that_all_write_and_read_says_again_what_it_said needs c_compiler,
    a_pointer_that_is_first_used_after_a_checkpoint_goes_back needs c_compiler,
);

const RANKS: u32 = 6;
const ROUNDS: u32 = 400;

fn a_file_of_all_ranks_has_each_record_once() {
    let file = program("together.c", Interface::OpenMpi);
    let file = file.to_str().expect("text");
    let record = |by: &str, rank: u32, round: u32| format!("{:.<31}", format!("{by} {rank} {round} "));
    let of_both = move |rank, round| ["descriptor", "stream"].map(|by| record(by, rank, round));
    let mut expected: Vec<String> =
        (0..RANKS).flat_map(|rank| (0..ROUNDS).flat_map(move |round| of_both(rank, round))).collect();
    expected.sort();
    let kept = |period| ["--nodes", "3", "--ft", "double", "--ckpt-every", period, "--respawn"];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("loses-1", &kept("50ms")[..6], &["2@200"][..]),
        ("loses-2", &kept("50ms")[..], &["4@100", "0@300"][..]),
        // Mostly nothing was written yet at the last checkpoint before.
        ("unwritten", &kept("150ms")[..], &["2@10"][..]),
    ] {
        let written = folder().join(format!("together-{name}"));
        let text = written.to_str().expect("text");
        let count = [RANKS, ROUNDS].map(|count| count.to_string());
        printed(&mut mpirun(&[&["-n", &count[0]], way, &[file, text, &count[1]], killed].concat()));
        let written = std::fs::read_to_string(&written).expect("it was written");
        let written = sorted(&written);
        let differs = written.iter().zip(&expected).find(|(one, other)| one != other);
        assert!(written == expected, "{name}: {} records, {differs:?}", written.len());
    }
}

/// Also where a lost node goes back alone: what the others have written meanwhile stays.
fn records_at_places_of_their_own_are_there() {
    let file = program("places.c", Interface::Mpich);
    let file = file.to_str().expect("text");
    let record = |rank: u32, round: u32| format!("{:.<31}\n", format!("{rank} {round} "));
    let of_round = |round| (0..RANKS).map(move |rank| record(rank, round));
    let expected: String = (0..ROUNDS).flat_map(of_round).collect();
    let kept = |ft, period| ["--nodes", "3", "--ft", ft, "--ckpt-every", period];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("double", &kept("double", "100ms"), &["2@200"]),
        ("logging", &kept("logging", "100ms"), &["2@200"]),
        ("logging-first", &kept("logging", "100ms"), &["0@300"]),
        // It deletes the file again: not what the others have made.
        ("logging-all", &kept("logging", "1h"), &["0@100"]),
    ] {
        let written = folder().join(format!("places-{name}"));
        let text = written.to_str().expect("text");
        let count = [RANKS, ROUNDS].map(|count| count.to_string());
        printed(&mut mpirun(&[&["-n", &count[0]], way, &[file, text, &count[1]], killed].concat()));
        let written = std::fs::read(&written).expect("it was written");
        let differs = written.iter().zip(expected.as_bytes()).position(|(one, other)| one != other);
        assert!(written == expected.as_bytes(), "{name}: {} bytes, {differs:?}", written.len());
    }
}

/// Files and folders that ranks make, look for and remove, their own and each other's, where lost nodes go back alone.
fn what_is_made_and_removed_again_is_as_it_was_then() {
    let file = program("outcomes.c", Interface::OpenMpi);
    let file = file.to_str().expect("text");
    let kept = |period| ["--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("first", &kept("1h")[..], &["0@37"][..]),
        ("last", &kept("1h")[..], &["5@40"][..]),
        ("each", &kept("20ms")[..], &["2@20", "0@50", "4@90"][..]),
    ] {
        let made = folder().join(format!("outcomes-{name}"));
        let text = made.to_str().expect("text");
        let (ranks, rounds) = (RANKS.to_string(), if killed.is_empty() { "5" } else { "100" });
        let said = printed(&mut mpirun(&[&["-n", &ranks], way, &[file, text, rounds], killed].concat()));
        assert_eq!(said, "all the same\n", "{name}");
        let read = |name: &str| std::fs::read_to_string(made.join(name));
        let rounds: usize = rounds.parse().expect("a number");
        for round in 0..rounds {
            for file in ["given", "taken"].map(|file| format!("{file}-{round}")) {
                assert_eq!(read(&file).expect("it is made last"), "yours\n", "{name}, {file}");
            }
        }
        let together: String = (0..RANKS).map(|rank| format!("{rank:<7}\n")).collect();
        assert_eq!(read("together").expect("all have written"), together, "{name}");
        for rank in 0..RANKS {
            let line = |round: usize| format!("{rank} {}\n", ".".repeat(1 + (7 * round) % 19));
            let own = |name: &str| read(&format!("{rank}/{name}")).expect("it was written");
            assert_eq!(own("last"), line(rounds - 1), "{name}");
            // The last rounds in which it was renamed, and the last in which it was not.
            let renamed = |half: usize| (0..rounds).rev().find(|round| round % 3 != 0 && round % 2 == half);
            for half in [0, 1] {
                let round = renamed(half).expect("there are some");
                assert_eq!(own(&format!("kept-{half}")), line(round), "{name}, {half}");
            }
            let files = 3 + usize::from((rounds - 1).is_multiple_of(3));
            if files == 4 {
                assert_eq!(own("kept"), line(rounds - 1), "{name}");
            }
            let all = std::fs::read_dir(made.join(rank.to_string())).expect("a folder");
            assert_eq!(all.count(), files, "{name}: nothing else is left of rank {rank}");
        }
    }
}

/// Folders that ranks list while others make and remove files there, names that the C library makes up, and links.
fn folders_are_listed_as_they_were_then() {
    let file = program("listings.c", Interface::Mpich);
    let file = file.to_str().expect("text");
    let kept = |period| ["--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("first", &kept("1h")[..], &["0@17"][..]),
        ("last", &kept("1h")[..], &["5@20"][..]),
        ("each", &kept("20ms")[..], &["2@10", "0@20", "4@35"][..]),
    ] {
        let listed = folder().join(format!("listings-{name}"));
        let text = listed.to_str().expect("text");
        let ranks = RANKS.to_string();
        let said = printed(&mut mpirun(&[&["-n", &ranks], way, &[file, text, "40"], killed].concat()));
        assert_eq!(said, "all the same\n", "{name}");
        let left = std::fs::read_dir(&listed).expect("it was made").flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        left.sort();
        let links: Vec<_> = (0..RANKS).map(|rank| format!("link-{rank}")).collect();
        assert_eq!(left, links, "{name}");
    }
}

/// Files that each rank adds a line to again and again, open all the time or each time anew, where lost nodes go back
/// alone, and where all do.
fn what_is_appended_is_there_once() {
    let file = program("appended.c", Interface::Mpich);
    let kept = |ft, period| ["--nodes", "3", "--ft", ft, "--ckpt-every", period];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("first", &kept("logging", "1h")[..], &["0@17"][..]),
        ("last", &kept("logging", "1h")[..], &["5@35"][..]),
        ("behind", &kept("logging", "1h")[..], &["+1@33"][..]),
        ("behind-each", &kept("logging", "20ms")[..], &["+4@12", "+1@36"][..]),
        ("double", &kept("double", "20ms")[..], &["3@38"][..]),
        ("each", &kept("logging", "20ms")[..], &["2@10", "0@20", "4@35"][..]),
    ] {
        let stem = folder().join(format!("appended-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "40"];
        let said = printed(&mut mpirun(&[&["-n", "6"], way, &task, killed].concat()));
        assert_eq!(said, "40 rounds\n", "{name}");
        let lines = |rounds| (0..rounds).map(|round| format!("{round:<7}\n")).collect::<String>();
        for rank in 0..6 {
            for (way, rounds) in
                [("stream", 30), ("descriptor", 30), ("open-stream", 40), ("open-descriptor", 40)]
            {
                let written = std::fs::read_to_string(format!("{}.{way}-{rank}", stem.display()));
                assert_eq!(written.expect("it was written"), lines(rounds), "{name}, {way}, rank {rank}");
            }
        }
    }
}

/// Files that ranks rename and begin again, and such as they read and write anew, where lost nodes go back alone.
fn files_of_a_rank_alone_have_and_say_what_they_did() {
    let file = program("own_files.c", Interface::OpenMpi);
    let kept = |period| ["--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    for (name, way, killed) in [
        ("alone", &[][..], &[][..]),
        ("first", &kept("1h")[..], &["0@31"][..]),
        ("each", &kept("20ms")[..], &["2@10", "0@20", "4@35"][..]),
    ] {
        let stem = folder().join(format!("own-files-{name}"));
        let task = [file.to_str().expect("text"), stem.to_str().expect("text"), "40"];
        let said = printed(&mut mpirun(&[&["-n", "6"], way, &task, killed].concat()));
        assert_eq!(said, "40 rounds\n", "{name}");
        for rank in 0..6 {
            let read = |what: &str| std::fs::read_to_string(format!("{}.{what}-{rank}", stem.display()));
            let written = ["state", "count", "log", "former"].map(|what| read(what).expect("it was written"));
            assert_eq!(
                written,
                ["39\n".into(), "40\n".into(), "line\n".repeat(40 % 7), "line\n".repeat(7)],
                "{name}, {rank}"
            );
        }
    }
}

/// A file that all have open by MPI, where lost nodes go back alone: to its beginning, where it was emptied, and to a checkpoint.
fn a_file_that_all_write_and_read_says_again_what_it_said() {
    let file = program("file_of_all.c", Interface::Mpich);
    let file = file.to_str().expect("text");
    let kept = |period| ["--nodes", "3", "--ft", "logging", "--ckpt-every", period];
    let (ranks, rounds) = (RANKS.to_string(), 60);
    let runs = [
        ("alone", &[][..], &[][..]),
        ("first", &kept("1h")[..], &["0@37"][..]),
        ("last", &kept("1h")[..], &["5@40"][..]),
        ("each", &kept("20ms")[..], &["2@20", "0@30", "4@50"][..]),
    ];
    let [expected, others @ ..] = runs.map(|(name, way, killed)| {
        let written = folder().join(format!("file-of-all-{name}"));
        let task = [file, written.to_str().expect("text"), &rounds.to_string()];
        let said = printed(&mut mpirun(&[&["-n", &ranks], way, &task, killed].concat()));
        let [values, turns, records] = ["values", "turns", "records"]
            .map(|ending| std::fs::read(format!("{}.{ending}", written.display())).expect("it was written"));
        let records = sorted(&String::from_utf8(records).expect("text")).join("\n");
        (name, said, [values, turns], records)
    });
    for (name, said, values, records) in others {
        assert_eq!(said, expected.1, "{name}");
        for (values, expected) in values.iter().zip(&expected.2) {
            let differs = values.iter().zip(expected).position(|(one, other)| one != other);
            assert!(values == expected, "{name}: {} bytes, {differs:?}", values.len());
        }
        assert!(records == expected.3, "{name}: {} records, not {}", records.len(), expected.3.len());
    }
}

/// Nobody has used the pointer at the last checkpoint, mostly.
fn a_pointer_that_is_first_used_after_a_checkpoint_goes_back() {
    const ROUNDS: u32 = 8;
    let file = program("shared_pointer.c", Interface::Mpich);
    let file = file.to_str().expect("text");
    let kept = ["-n", "6", "--nodes", "3", "--ft", "double", "--ckpt-every", "100ms"];
    let of_rank = |rank| (0..ROUNDS).map(move |round| format!("{:.<15}", format!("{rank} {round} ")));
    let expected: Vec<String> = (0..RANKS).flat_map(of_rank).collect();
    for (name, killed) in [("any", "2@3"), ("first", "0@6"), ("sequential", "4@7")] {
        let written = folder().join(format!("pointer-{name}"));
        let text = written.to_str().expect("text");
        let said = printed(&mut mpirun(&[&kept[..], &[file, text, killed]].concat()));
        assert_eq!(said, format!("{}\n", RANKS * ROUNDS), "{name}");
        let written = std::fs::read_to_string(&written).expect("it was written");
        assert_eq!(sorted(&written), expected, "{name}");
    }
}
