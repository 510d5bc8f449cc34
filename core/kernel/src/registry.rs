//! The chare types of the program, found at start (`inventory` gathers what the macros register).

use std::ptr::NonNull;
use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::entry_info::{EntryInfo, InitInfo};
use crate::kind::Kind;
use crate::object::Head;
use crate::pe::Pe;
use crate::pe::execute::Restored;
use crate::route::Route;
use crate::waiting::Waiting;
use talisman_base::ids::{CollectionId, ObjId, single_index};
use talisman_base::index::Bounds;
use talisman_base::map::{Map, MapError};
use talisman_pup::{Lender, Packed, PupError, Unpacker};

/// Everything the runtime knows of a chare type.
///
/// The functions that take a [`Head`] want that of an object of this type, live and borrowed by nobody.
#[doc(hidden)]
pub struct ChareType {
    pub key: u64,
    pub kind: Kind,
    pub ordered: bool,
    pub file: &'static str,
    pub name: fn() -> String,
    pub entries: &'static [EntryInfo],
    pub inits: &'static [InitInfo],
    pub show_index: fn(u128) -> String,
    /// Where an index is in space, if it has one to three dimensions.
    pub position: fn(u128) -> Option<[f32; 3]>,
    pub ordinal: fn(u128, &Bounds) -> Option<u64>,
    /// The home PE that a map gives an element.
    pub home: fn(&Map, u128, Option<&Bounds>, u32) -> Result<u32, MapError>,
    pub index_at: fn(u64, &Bounds) -> Option<u128>,
    pub allocate: fn(Head) -> NonNull<Head>,
    pub free: unsafe fn(NonNull<Head>),
    /// The object stays as it is while what the lender noted is used.
    pub lend: unsafe fn(NonNull<Head>, &mut Lender<'_>),
    /// Builds the state into a freshly allocated object.
    pub unpack: unsafe fn(NonNull<Head>, &mut Unpacker<'_>) -> Result<(), PupError>,
    pub replied: unsafe fn(NonNull<Head>, &Pe, u64, Packed),
    pub restored: unsafe fn(NonNull<Head>, &Pe, Restored),
    /// Tells it that it is about to be packed for another node, if it hears of that.
    pub departs: Option<unsafe fn(NonNull<Head>)>,
    /// Hands the packed state of a lost member to the one that acts for it, if those hear of it.
    pub lost: Option<Lost>,
    pub waiting: unsafe fn(NonNull<Head>) -> Vec<Waiting>,
    /// Async entries that owe an answer, and where that goes.
    pub owed: unsafe fn(NonNull<Head>) -> Vec<(&'static str, Route)>,
}

/// See [`ChareType`].
type Lost = unsafe fn(NonNull<Head>, &Pe, &mut Unpacker<'_>) -> Result<(), PupError>;

inventory::collect!(ChareType);

/// The chare types of this program, sorted by key: the same numbers in every process of a job.
pub struct Registry {
    types: Vec<&'static ChareType>,
    by_key: HashMap<u64, u32, FxBuildHasher>,
}

impl Registry {
    /// The types that this program registered.
    pub fn get() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(|| {
            let mut types: Vec<_> = inventory::iter::<ChareType>().collect();
            types.sort_by_key(|chare| chare.key);
            let by_key = types.iter().enumerate().map(|(i, chare)| (chare.key, i as u32)).collect();
            Registry { types, by_key }
        })
    }

    /// All of them, by key.
    pub fn types(&self) -> &[&'static ChareType] {
        &self.types
    }

    /// A type and its number.
    pub fn find(&self, key: u64) -> Option<(u32, &'static ChareType)> {
        self.by_key.get(&key).map(|number| (*number, self.types[*number as usize]))
    }

    /// Two types of one wire name would take each other's messages.
    pub fn clashes(&self) -> Result<(), String> {
        match self.types.windows(2).find(|two| two[0].key == two[1].key) {
            None => Ok(()),
            Some(two) => Err(format!(
                "two chares have the name `{}` on the wire: one in {}, one in {}; give one of them another with \
                 `#[chare(…, name = \"…\")]`",
                (two[0].name)(),
                two[0].file,
                two[1].file
            )),
        }
    }
}

/// The main chare: the only one of its type.
pub fn main_chare_of(key: u64) -> ObjId {
    let (number, _) = Registry::get().find(key).expect("the main chare is registered by its macro");
    ObjId { collection: CollectionId::singles(number), index: single_index(0, 0, 0) }
}
