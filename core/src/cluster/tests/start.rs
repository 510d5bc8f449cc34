//! How jobs start and end when nobody dies in between.

use super::run;

#[test]
fn nodes_come_and_go_and_all_their_reports_are_there() {
    let ended = run("hello", "--nodes 4 --pes 2 --transport tcp");
    ended.expect(0, &["local [1, 1, 2, 2, 3, 3, 4, 4]", "from 0 of 4", "from 3 of 4", "0.30000000000000004"]);
}

#[test]
fn a_node_that_cannot_start_ends_the_job_with_the_reason() {
    let nodes = "--nodes 3 --pes 1 --transport tcp";
    run("no executable", nodes)
        .expect(3, &["error: node 0 of 3: cannot start /no/such/program: No such file"]);
    run("fails to start", nodes).expect(3, &["error: node 1 (pid", "): there is no port left"]);
    run("dies at the start", nodes).expect(3, &["ended with status 7 before it had joined the job"]);
}
