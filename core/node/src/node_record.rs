//! Where what a PE is given is written (`--record`), and what is said there of this process.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use talisman_base::build::build_number;
use talisman_base::ids::PeId;
use talisman_core::record::item::Origin;
use talisman_core::record::writer::RecordWriter;
use talisman_job::RunArgs;
use talisman_job::job::Job;
use talisman_kernel::node::Node;

/// The writer of a PE of a node, in its process of this life; none if nothing is to be recorded. If there can be none,
/// the job ends.
pub(super) fn record_writer_of(node: &Node, pe: PeId, life: u64) -> Option<RecordWriter> {
    let folder = node.config.record.as_ref()?;
    match RecordWriter::create(folder, &origin(node, pe, life)) {
        Ok(writer) => Some(writer),
        Err(error) => {
            let why = format!("--record {}: nothing can be written there: {error}", folder.display());
            node.job.end(1, Some(why));
            None
        }
    }
}

/// Its process comes to its end. People are told if something is missing.
pub(super) fn end_record(writer: &RecordWriter, job: &Job) {
    writer.end();
    let failure = writer.failure();
    failure
        .into_iter()
        .for_each(|why| job.warn(format!("--record: it could not be written to its end: {why}")));
}

fn origin(node: &Node, pe: PeId, life: u64) -> Origin {
    let bytes = |path: Option<PathBuf>| path.map(|path| path.into_os_string().into_vec()).unwrap_or_default();
    let executable = std::env::current_exe().ok();
    let program = executable.as_ref().and_then(|file| file.file_name()).unwrap_or_default();
    Origin {
        program: program.to_string_lossy().into_owned(),
        build: build_number(),
        folder: bytes(std::env::current_dir().ok()),
        words: std::env::args_os().skip(1).map(OsString::into_vec).collect(),
        variables: variables(),
        nodes: node.shape.nodes,
        pes_per_node: node.shape.pes_per_node,
        pe,
        life,
        executable: bytes(executable),
    }
}

/// Those of the environment that are options.
fn variables() -> Vec<(Vec<u8>, Vec<u8>)> {
    let options = RunArgs::command_of_options();
    let names = options.get_arguments().filter_map(|option| option.get_env());
    let set = names.filter_map(|name| Some((name.to_owned().into_vec(), std::env::var_os(name)?.into_vec())));
    set.collect()
}
