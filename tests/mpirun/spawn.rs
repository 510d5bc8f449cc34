//! Ranks that are started while the job runs: of the same program and of others, moved, on several nodes, with a kill.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::groups::{WAYS, built, fortran, is_the_same, native_with, wrappers};
use crate::job::{BOTH, Interface, folder, mpirun, output, printed, sorted, text};
use crate::trials::checks;
use crate::wrappers;

checks!(
    ranks_are_started needs wrappers,
    ranks_are_started_in_fortran needs fortran,
    ranks_of_another_program_are_started needs wrappers,
    what_cannot_be_started_is_said needs wrappers,
    programs_at_fixed_addresses_need_a_node_for_each_rank needs wrappers,
);

fn name(file: &Path) -> String {
    file.to_str().expect("a name that is text").to_owned()
}

/// As under Open MPI, in one round; in more, that hangs now and then. Debian's MPICH starts none where it uses UCX.
fn everywhere(source: &str, rounds: &str) {
    let expected = native_with(Interface::OpenMpi, &name(&built(source, Interface::OpenMpi)), &["1"]);
    for interface in BOTH {
        let file = name(&built(source, interface));
        is_the_same(&WAYS[..2], &file, "1", expected.clone());
        is_the_same(&WAYS, &file, rounds, None);
    }
}

fn ranks_are_started() {
    everywhere("spawn.c", "8");
    let file = name(&wrappers::built("talisman-mpicc", "spawn.c"));
    is_the_same(&WAYS[..2], &file, "3", None);
    // They are gone when they have ended, and nothing comes for them then.
    let ended = output(&mut mpirun(&["-n", "4", "--nodes", "3", "--move-always", &file, "8"]));
    let said = text(&ended.stderr);
    assert!(ended.status.success() && !said.contains("nobody got"), "{said}");
}

fn ranks_are_started_in_fortran() {
    everywhere("spawn.f90", "8");
}

/// One that was built for another MPI.
fn ranks_of_another_program_are_started() {
    let files = BOTH.map(|interface| name(&built("spawn.c", interface)));
    let job = |way: &[&str], words: &[&str]| printed(&mut mpirun(&[&["-n", "4"], way, words].concat()));
    let expected = job(&[], &[&files[0], "8"]);
    for (parent, child, ways) in [(0, 1, &WAYS[1..]), (1, 0, &WAYS[3..4])] {
        for way in ways {
            let found = job(way, &[&files[parent], "8", &files[child]]);
            assert_eq!(sorted(&found), sorted(&expected), "{way:?}");
        }
    }
    // Where there are several programs from the beginning.
    let several = [
        "--nodes",
        "3",
        "--move-always",
        "-n",
        "2",
        &files[0],
        "2",
        &files[1],
        ":",
        "-n",
        "2",
        &files[1],
        "2",
    ];
    let found = printed(&mut mpirun(&[&several[..], &[&files[1]]].concat()));
    assert_eq!(sorted(&found), sorted(&job(&[], &[&files[0], "2"])));
}

/// The job goes on without.
fn what_cannot_be_started_is_said() {
    let file = name(&built("spawn.c", Interface::Mpich));
    let broken = folder().join("broken");
    let start = fs::read(&file).expect("it was built");
    fs::write(&broken, &start[..start.len() / 3]).expect("the folder of this run");
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let broken = name(&broken);
    for way in [&[][..], &["--nodes", "3"]] {
        let words = [&["-n", "3"], way, &[&file, "1", &file, &broken]].concat();
        let ended = output(&mut mpirun(&words));
        let said = text(&ended.stderr);
        assert!(ended.status.success(), "{said}");
        for why in [
            "MPI_Comm_spawn: there is no program `/nowhere/at/all`",
            "MPI_Comm_spawn: 1000000 ranks are to be started, and ",
        ] {
            assert!(said.contains(why), "{said}");
        }
        let why = said.lines().find(|line| line.starts_with("MPI_Comm_spawn_multiple: "));
        assert!(why.is_some_and(|why| why.contains("broken")), "{said}");
        assert!(!said.contains("nobody got"), "{said}");
    }
}

fn programs_at_fixed_addresses_need_a_node_for_each_rank() {
    let file = folder().join("spawn-fixed");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mpirun/programs/groups/spawn.c");
    let mut command = Command::new("mpicc.mpich");
    let compiled = output(command.args(["-O1", "-g", "-w", "-no-pie"]).arg(source).arg("-o").arg(&file));
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let (file, same) = (name(&file), name(&built("spawn.c", Interface::Mpich)));
    let expected = printed(&mut mpirun(&["-n", "2", &same, "1"]));
    let found = printed(&mut mpirun(&["-n", "2", "--nodes", "9", &file, "1"]));
    assert_eq!(sorted(&found), sorted(&expected));
    let ended = output(&mut mpirun(&["-n", "2", "--nodes", "3", &file, "1"]));
    let said = text(&ended.stderr);
    assert!(!ended.status.success() && said.contains("is not position-independent"), "{said}");
    assert!(said.contains("MPI_Comm_spawn failed: processes cannot be started (MPI_ERR_SPAWN)"), "{said}");
}
