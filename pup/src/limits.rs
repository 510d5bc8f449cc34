//! How much of a value may be packed.
//!
//! Whoever reads bytes that are not trusted needs bounds. Each of them is held against a value when its bytes are *made*
//! ([`Packer::refusal`](crate::Packer::refusal)), so that nothing is sent or kept that cannot be read again. `core/base/src/limits.rs` has
//! those of messages and links.

/// How deep boxes and containers may be nested. Reading and packing need no more of the stack than that of a thread, as they take
/// further memory for it; but a program drops a value on the stack that it has, and so many levels of any type leave room in the
/// 2 MiB of a thread for that.
pub const LEVELS_MAX: usize = 2048;

/// Types larger than this count as more than one level for each so many bytes, because their values pass through the stack.
pub const LEVEL_BYTES: usize = 1024;

/// Memory that values without bytes of their own (`Vec<()>`, structs whose fields are all skipped) may take in one packed value,
/// each counted as one byte at least. No bytes justify them: without a bound, eight bytes could ask for 2^64 of them.
pub const EMPTY_MAX: usize = 1 << 20;

/// How deep the MessagePack of a `#[pup(serde)]` field may nest.
pub const SERDE_LEVELS_MAX: usize = 1000;
