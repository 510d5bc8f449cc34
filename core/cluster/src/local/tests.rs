//! Output of a process that has ended, whoever else may hold its pipe.

use tokio::runtime;

use super::*;

/// What arrives of bytes that were in a pipe when its process ended.
async fn arrived(bytes: &[u8]) -> Vec<u8> {
    let (reading, writing) = rustix::pipe::pipe().unwrap();
    rustix::io::ioctl_fionbio(&reading, true).unwrap();
    assert_eq!(rustix::io::write(&writing, bytes), Ok(bytes.len()));
    let (gone, ended) = watch::channel(false);
    gone.send(true).unwrap();
    let (lines, mut queue) = mpsc::channel(64);
    forward(pipe::Receiver::from_owned_fd(reading).unwrap(), Arc::default(), Stream::Out, lines, ended).await;
    let mut all = Vec::new();
    while let Ok(Print::Chunk(chunk)) = queue.try_recv() {
        all.extend(chunk.bytes);
    }
    // A child of the process has it open still.
    drop(writing);
    all
}

#[test]
fn all_that_was_written_before_the_end_arrives() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bytes: Vec<u8> = (0..50_000u32).map(|number| if number % 70 == 0 { b'\n' } else { b'x' }).collect();
    // Which of the end and the output is noticed first is left to chance.
    for _ in 0..20 {
        assert!(runtime.block_on(arrived(&bytes)) == bytes);
    }
}
