//! Ranks that go on with other files than they began with: they are refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::job::{Interface, c_compiler, compiled, folder, mpirun, output, printed, text};
use crate::trials::checks;

checks!(
    a_job_does_not_go_on_with_another_build needs c_compiler,
);

/// As an installation of a new version does it: what is mapped of the old one stays.
fn install(build: &Path, at: &Path) {
    let beside = at.with_extension("new");
    fs::copy(build, &beside).expect("the folder is there");
    fs::rename(&beside, at).expect("the folder is there");
}

fn a_job_does_not_go_on_with_another_build() {
    let pie = ["-fPIE", "-pie"];
    let first = compiled("heat.c", Interface::Mpich, ".first", &pie);
    // The number of the build is all that differs: so all lengths are the same.
    let second = compiled(
        "heat.c",
        Interface::Mpich,
        ".second",
        &[&pie[..], &["-Wl,--build-id=0x00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee"]].concat(),
    );
    let unnamed =
        compiled("heat.c", Interface::Mpich, ".unnamed", &[&pie[..], &["-Wl,--build-id=none"]].concat());
    let at = folder().join("heat-installed");
    let file = at.to_str().expect("text");
    // It takes longer than until the first loss, on a fast machine too.
    let task = [file, "2000", "20000", "2500"];
    install(&first, &at);
    let undisturbed = printed(&mut mpirun(&[&["-n", "4"], &task[..]].concat()));
    let kept = lost([&first, &second], &at, &task);
    let kept = kept.to_str().expect("text");
    for other in [&second, &unnamed] {
        install(other, &at);
        let refused = output(&mut mpirun(&[&["-n", "4", "--restart", kept], &task[..]].concat()));
        let said = text(&refused.stderr);
        assert!(!refused.status.success(), "{said}");
        assert!(said.contains("heat-installed is another build here than where the job began"), "{said}");
    }
    install(&first, &at);
    let again = output(&mut mpirun(&[&["-n", "4", "--restart", kept], &task[..]].concat()));
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(undisturbed.ends_with(&text(&again.stdout)), "{}", text(&again.stdout));
}

/// The folder of a job that has left a checkpoint when all its nodes were lost: later, where that takes longer. What goes on with it is
/// another build, which is refused.
fn lost([first, other]: [&Path; 2], at: &Path, task: &[&str]) -> PathBuf {
    let left = [500, 1_000, 2_000, 4_000, 8_000].into_iter().find_map(|ms| {
        let folder = folder().join(format!("heat-kept-{ms}"));
        let (kept, kills) = (folder.to_str().expect("text"), format!("0@{ms}ms,1@{ms}ms"));
        let disk = ["-n", "4", "--nodes", "2", "--ft", "disk", "--ckpt-dir", kept, "--ckpt-every", "50ms"];
        install(first, at);
        let lost = output(&mut mpirun(&[&disk[..], &["--kill", &kills], task].concat()));
        assert_eq!(lost.status.code(), Some(3), "{}", text(&lost.stderr));
        install(other, at);
        let refused = output(&mut mpirun(&[&["-n", "4", "--restart", kept], task].concat()));
        (!text(&refused.stderr).contains("there is no checkpoint")).then_some(folder)
    });
    left.expect("a checkpoint is taken within seconds")
}
