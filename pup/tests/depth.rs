//! Hostile nesting ends in an error before the smallest usual stack does, for small and for large recursive types.
extern crate talisman_pup as talisman;

use talisman::pup::{Fault, Pup, from_bytes};

/// A chain whose links have `N` strings inside: 24 bytes each, which pass through the stack.
#[derive(Pup)]
struct Link<const N: usize> {
    inside: [String; N],
    next: Option<Box<Link<N>>>,
}

#[derive(Pup)]
struct Tree(Vec<Tree>);

fn chain<const N: usize>(links: usize) -> Vec<u8> {
    let one = [vec![0; 8 * N], vec![1]].concat();
    one.repeat(links)
}

/// Threads of Rust have 2 MiB; this leaves room for what the program has on the stack already.
fn in_small_thread(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(3 << 19).spawn(test).unwrap().join().unwrap();
}

fn ends_in_an_error<const N: usize>() {
    in_small_thread(|| {
        let error = from_bytes::<Link<N>>(&chain::<N>(10_000)).err().unwrap();
        assert_eq!(error.fault(), &Fault::Depth);
    });
}

#[test]
fn chains_of_small_links() {
    ends_in_an_error::<0>();
    ends_in_an_error::<1>();
    ends_in_an_error::<10>();
}

#[test]
fn chains_of_large_links() {
    ends_in_an_error::<21>();
    ends_in_an_error::<40>();
    ends_in_an_error::<400>();
}

#[test]
fn trees_of_vectors() {
    in_small_thread(|| {
        let tree = [1u64.to_le_bytes(); 10_000].concat();
        assert_eq!(from_bytes::<Tree>(&tree).err().unwrap().fault(), &Fault::Depth);
    });
}

#[test]
fn chains_within_the_bound_are_read() {
    let links = |n: usize| [chain::<1>(n - 1), vec![0; 9]].concat();
    in_small_thread(move || assert!(from_bytes::<Link<1>>(&links(200)).is_ok()));
}
