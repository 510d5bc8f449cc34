//! Starting ranks from a main chare.

use bytesize::ByteSize;
use talisman_core::call::Call;
use talisman_core::chare::Chare;
use talisman_pup::Pup;
use thiserror::Error;

use crate::comm::World;
use crate::rank::{Launch, Memory, Program};
use crate::slot::{ImagesError, Layout, Reserved, SlotError, SlotSpace};

// `clap` takes a doc comment on this struct for the help text of the program it is flattened into.
#[cfg_attr(doc, doc = "Options of programs with ranks: `#[command(flatten)] ranks: RankArgs`.")]
#[allow(missing_docs, reason = "a doc comment would become the program's help text, see above")]
#[derive(clap::Args, Clone, Debug, PartialEq, Eq, Pup)]
pub struct RankArgs {
    /// Virtual MPI ranks
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    pub ranks: u32,
    /// Heap of a rank, at most
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = pages)]
    pub rank_memory: u64,
    /// Stack of a rank
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = pages)]
    pub rank_stack: u64,
    /// Move each rank to the next PE whenever it waits: for tests
    #[arg(long)]
    pub move_always: bool,
    /// Room for the image of a program that is mapped: for programs that have one.
    #[arg(skip)]
    pub rank_images: u64,
    /// How many ranks may begin later: for programs that can start others.
    #[arg(skip)]
    pub more_ranks: u32,
}

/// So many ranks, with as much memory as they have by default.
impl From<u32> for RankArgs {
    fn from(ranks: u32) -> RankArgs {
        RankArgs {
            ranks,
            rank_memory: 512 << 20,
            rank_stack: 8 << 20,
            move_always: false,
            rank_images: 0,
            more_ranks: 0,
        }
    }
}

impl RankArgs {
    fn layout(&self) -> Layout {
        let [stack, heap, images] =
            [self.rank_stack, self.rank_memory, self.rank_images].map(|part| part as usize);
        Layout { stack, images, heap, ..Layout::DEFAULT }
    }
}

/// Sizes are multiples of this: of pages, and of what programs that are mapped begin at.
const UNIT: u64 = 64 << 10;

/// Whole units, from 64 KiB on.
fn pages(text: &str) -> Result<u64, String> {
    let wrong = || format!("give a size from 64KiB to 1TiB, such as 16MiB or 2GiB, not `{text}`");
    let bytes = text.parse::<ByteSize>().map_err(|_| wrong())?.as_u64();
    let is_possible = (UNIT..=1 << 40).contains(&bytes);
    is_possible.then(|| bytes.next_multiple_of(UNIT)).ok_or_else(wrong)
}

/// Why ranks cannot begin.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no room for their addresses.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// What is to be mapped for them cannot be.
    #[error(transparent)]
    Images(#[from] ImagesError),
}

/// Runs a program on so many ranks, which begin on all PEs, and are balanced and checkpointed as any objects. To be
/// called in an async entry, such as a program's `main`: the call is awaited, and gives what the ranks return, in their
/// order.
///
/// # Errors
/// If there is no room for their addresses, or what is to be mapped for them cannot be read.
pub fn run<P: Program>(ranks: impl Into<RankArgs>, program: P) -> Result<Call<Vec<P::Output>>, StartError> {
    let ranks = ranks.into();
    let reserved = Reserved::new(ranks.layout())?;
    let space = SlotSpace::get()?;
    space.address(ranks.ranks.saturating_sub(1))?;
    let more = ranks.more_ranks.min(space.slots().saturating_sub(ranks.ranks));
    let world = World { more, ..World::at_start(ranks.ranks) };
    let memory = Memory::new(reserved, program)?;
    Ok(Launch::<P>::chare().new().run(world, memory, ranks.move_always))
}

/// Makes programs of ranks known. Once in a program, with all that it has:
///
/// ```
/// # extern crate talisman_core as talisman;
/// use talisman_ampi::api::{Universe, traits::*};
/// use talisman_pup::Pup;
///
/// #[derive(Pup)]
/// struct Hello;
///
/// impl talisman_ampi::rank::Program for Hello {
///     type Output = ();
///
///     fn main(self, universe: Universe) {
///         let world = universe.world();
///         writeln!(universe.output(), "rank {} of {}", world.rank(), world.size());
///         world.barrier().expect("the world is there");
///     }
/// }
///
/// talisman_ampi::program!(Hello);
/// # fn main() {}
/// ```
///
/// It also makes ranks allocate in their own memory, by a global allocator, and nodes start with the same addresses.
#[macro_export]
macro_rules! program {
    ($($program:ty),+ $(,)?) => {
        #[global_allocator]
        static TALISMAN_RANK_ALLOCATOR: $crate::slot::RankAllocator = $crate::slot::RankAllocator;
        $crate::inventory::submit! { $crate::layout::FixedLayout::needed_by("virtual MPI ranks") }
        $crate::programs!($($program),+);
    };
}

/// The same without the allocator, for modules of a program that has it.
#[macro_export]
macro_rules! programs {
    ($($program:ty),+ $(,)?) => {
        $($crate::register!($crate::rank::RankElement<$program>, $crate::rank::Launch<$program>);)+
    };
}
