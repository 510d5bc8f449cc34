//! Boxed trait objects: `#[pup_object]` on a trait makes `Box<dyn Trait>` packable; on an impl it registers the type.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{Fault, Named, Packer, Pup, PupError, Unpacker, Value};

/// The supertrait that `#[pup_object]` adds: an object that knows its wire name and packs itself. Every [`Value`] is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a boxed object that is sent or checkpointed: it is not `Pup + Send + 'static`",
    label = "this type cannot travel in a box",
    note = "if it is yours, add `#[derive(Pup)]` to it"
)]
pub trait Object: Send {
    /// The wire name of the concrete type.
    fn object_name(&self) -> String;
    /// Packs the value, without its name.
    fn pack_object(&self, p: &mut Packer);
}

impl<T: Value> Object for T {
    fn object_name(&self) -> String {
        T::name()
    }

    fn pack_object(&self, p: &mut Packer) {
        self.pack(p);
    }
}

/// One registered type of one trait. Made by `#[pup_object]`.
#[derive(Debug)]
pub struct ObjectEntry {
    /// The id of `dyn Trait`; used inside this process only.
    pub of: fn() -> TypeId,
    /// The trait, as people read it.
    pub trait_name: &'static str,
    /// The wire name of the type.
    pub name: fn() -> String,
    /// File and line of the impl.
    pub place: (&'static str, u32),
    /// Rebuilds a `Box<dyn Trait>`, inside a box of its own.
    pub unpack: fn(&mut Unpacker<'_>) -> Result<Box<dyn Any>, PupError>,
}

inventory::collect!(ObjectEntry);

/// Packs a boxed trait object: its name, then its value.
#[doc(hidden)]
pub fn pack_object<D: Object + ?Sized>(object: &D, p: &mut Packer) {
    object.object_name().pack(p);
    p.nested::<Box<()>>(|p| object.pack_object(p));
}

/// Rebuilds a `Box<dyn Trait>`; `of` names the trait in errors.
///
/// # Errors
/// [`Fault::Unknown`] when the type is not registered in this program, and what its own `unpack` says.
pub fn unpack_object<D: ?Sized + 'static>(
    of: &'static str,
    u: &mut Unpacker<'_>,
) -> Result<Box<D>, PupError> {
    let name = String::unpack(u)?;
    let Some(entry) = registry().get(&TypeId::of::<D>()).and_then(|types| types.get(&name)) else {
        return Err(u.fault(Fault::Unknown { name, of }));
    };
    let any = u.nested_for::<Box<()>, _>(entry.unpack)?;
    Ok(*any.downcast::<Box<D>>().expect("the entry is registered under the id of this trait"))
}

/// Two types registered for one trait under the same wire name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{name}` names two types of `dyn {of}`: {first} and {second}; give one of them another `#[pup(name = \"…\")]`"
)]
pub struct ObjectClash {
    /// The wire name.
    pub name: String,
    /// The trait.
    pub of: &'static str,
    /// File and line of one impl.
    pub first: String,
    /// File and line of the other.
    pub second: String,
}

/// Checks that no two types are registered for one trait under the same name. A program calls it once, at its start.
///
/// # Errors
/// The first clash found.
pub fn check_object_names() -> Result<(), ObjectClash> {
    check(inventory::iter::<ObjectEntry>.into_iter())
}

fn check<'a>(entries: impl Iterator<Item = &'a ObjectEntry>) -> Result<(), ObjectClash> {
    let mut seen = HashMap::new();
    for entry in entries {
        let name = (entry.name)();
        if let Some(other) = seen.insert(((entry.of)(), name.clone()), entry) {
            return Err(clash(name, other, entry));
        }
    }
    Ok(())
}

fn clash(name: String, one: &ObjectEntry, other: &ObjectEntry) -> ObjectClash {
    // The order of registration is that of the linker: sort, so that the message is the same in every run.
    let mut places = [one.place, other.place];
    places.sort();
    let [first, second] = places.map(|(file, line)| format!("{file}:{line}"));
    ObjectClash { name, of: one.trait_name, first, second }
}

type Registry = HashMap<TypeId, HashMap<String, &'static ObjectEntry>>;

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut registry = Registry::new();
        for entry in inventory::iter::<ObjectEntry> {
            registry.entry((entry.of)()).or_default().insert((entry.name)(), entry);
        }
        registry
    })
}

impl<T: Named + ?Sized> Named for Box<T> {
    const KEY: u64 = crate::join(crate::key("Box"), T::KEY);
    fn name() -> String {
        format!("Box<{}>", T::name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: fn() -> String, line: u32) -> ObjectEntry {
        let unpack = |u: &mut Unpacker<'_>| Err(u.invalid("never unpacked"));
        ObjectEntry { of: TypeId::of::<dyn Any>, trait_name: "Any", name, place: ("a.rs", line), unpack }
    }

    #[test]
    fn a_name_used_twice_is_found_with_both_places() {
        let entries = [entry(|| "x".into(), 9), entry(|| "y".into(), 5), entry(|| "x".into(), 2)];
        let clash = check(entries.iter()).unwrap_err();
        assert_eq!((clash.first.as_str(), clash.second.as_str()), ("a.rs:2", "a.rs:9"));
        assert_eq!(check(entries[..2].iter()), Ok(()));
    }
}
