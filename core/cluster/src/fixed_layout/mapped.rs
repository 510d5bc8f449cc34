//! The layout of this process, as others compare it.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::path::Path;
use std::ptr;
use std::slice;

use super::thread::thread_pointer;
use talisman_base::build::find_id;
use talisman_base::layout::mark::{FEATURES_MAX, LayoutMark, MappedObject, OBJECTS_MAX};
use talisman_base::layout::needed_by;

/// Real notes take some hundred bytes.
const NOTES_MAX: usize = 64 << 10;

/// That of this process, if its program needs it to be the same in all. It has the fixed place of a thread to itself
/// for a moment.
///
/// # Errors
/// No thread can be there.
pub fn own_layout() -> io::Result<Option<LayoutMark>> {
    match needed_by() {
        Some(_) => mark().map(Some),
        None => Ok(None),
    }
}

fn mark() -> io::Result<LayoutMark> {
    let mut processor = features();
    processor.truncate(FEATURES_MAX);
    Ok(LayoutMark {
        objects: objects(),
        thread_pointer: thread_pointer()?,
        c_library: c_library(),
        page_size: rustix::param::page_size() as u64,
        processor,
    })
}

/// What is mapped now. Nothing of it goes as long as the process runs; what comes later is not named.
fn objects() -> Vec<MappedObject> {
    let mut objects = Vec::<MappedObject>::new();
    // SAFETY: `note_down` takes what it is given for what it is, and keeps nothing of the system's.
    unsafe { libc::dl_iterate_phdr(Some(note_down), ptr::from_mut(&mut objects).cast()) };
    objects.sort_by_key(|object| object.base);
    objects
}

/// Called for each object; does not unwind.
unsafe extern "C" fn note_down(info: *mut libc::dl_phdr_info, _: usize, objects: *mut c_void) -> c_int {
    // SAFETY: the system gives what it has of an object, valid during the call; `objects` is what `objects()` gave.
    let (info, objects) = unsafe { (&*info, &mut *objects.cast::<Vec<MappedObject>>()) };
    // SAFETY: it is a text of the system's that ends with a zero.
    let path = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    let path = path.to_string_lossy();
    // What the kernel maps is not called from stacks that move, and another kernel's is another one.
    if path.starts_with("linux-vdso") || path.starts_with("linux-gate") || objects.len() == OBJECTS_MAX {
        return 0;
    }
    let name = Path::new(&*path).file_name().map(|name| name.to_string_lossy().into_owned());
    // SAFETY: the object has so many headers, and they stay.
    let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let length = loaded.map(|header| header.p_vaddr.saturating_add(header.p_memsz)).max();
    // SAFETY: the headers are those of an object that is mapped at this address.
    let build_id = unsafe { build_id(info.dlpi_addr as usize, headers) };
    objects.push(MappedObject {
        name: name.unwrap_or_default(),
        build_id: build_id.unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect(),
        base: info.dlpi_addr,
        length: length.unwrap_or_default(),
    });
    0
}

/// # Safety
/// The headers are those of an object that is mapped at this address, and stays.
unsafe fn build_id(base: usize, headers: &[libc::Elf64_Phdr]) -> Option<Vec<u8>> {
    let notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
    notes
        .filter(|header| is_mapped(header, headers))
        .filter_map(|header| {
            let length = (header.p_memsz as usize).min(NOTES_MAX);
            let start = base.wrapping_add(header.p_vaddr as usize) as *const u8;
            // SAFETY: these notes lie in a part of the object that is mapped and can be read.
            find_id(unsafe { slice::from_raw_parts(start, length) })
        })
        .map(|mut id| {
            id.truncate(64);
            id
        })
        .next()
}

/// Whether a part lies in one that is mapped to be read.
fn is_mapped(part: &libc::Elf64_Phdr, headers: &[libc::Elf64_Phdr]) -> bool {
    let is_readable =
        |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_R != 0;
    headers.iter().filter(is_readable).any(|header| {
        let end = header.p_vaddr.saturating_add(header.p_memsz);
        header.p_vaddr <= part.p_vaddr && part.p_vaddr.saturating_add(part.p_memsz) <= end
    })
}

#[cfg(target_env = "gnu")]
fn c_library() -> String {
    // SAFETY: it gives a text that ends with a zero and stays.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn c_library() -> String {
    "not glibc".into()
}

/// What libraries choose code by.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    macro_rules! detected {
        ($($name:tt),+ $(,)?) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),+]
        };
    }
    let all = detected!(
        "sse3",
        "ssse3",
        "sse4.1",
        "sse4.2",
        "sse4a",
        "popcnt",
        "lzcnt",
        "bmi1",
        "bmi2",
        "movbe",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "aes",
        "pclmulqdq",
        "sha",
        "rdrand",
        "rdseed",
        "adx",
        "rtm",
        "xsave",
        "xsavec",
        "xsaveopt",
        "xsaves",
        "gfni",
        "vaes",
        "vpclmulqdq",
        "avx512f",
        "avx512bw",
        "avx512cd",
        "avx512dq",
        "avx512vl",
        "avx512ifma",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512vnni",
        "avx512bitalg",
        "avx512vpopcntdq",
        "avx512bf16",
        "avx512fp16",
    );
    let has = all.into_iter().filter(|(_, is_there)| *is_there);
    has.map(|(name, _)| name.to_owned()).chain(beyond_detection()).collect()
}

/// Fast copies of strings, by which the C library chooses how it copies memory: leaf 7 of `cpuid`, EBX bit 9 and EDX
/// bit 4.
#[cfg(target_arch = "x86_64")]
fn beyond_detection() -> impl Iterator<Item = String> {
    use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};
    #[allow(unused_unsafe, reason = "newer compilers take it for safe")]
    // SAFETY: all processors of this kind have the instruction.
    let (ebx, edx) = unsafe {
        match __get_cpuid_max(0).0 {
            7.. => (__cpuid_count(7, 0).ebx, __cpuid_count(7, 0).edx),
            _ => (0, 0),
        }
    };
    let all = [("erms", ebx >> 9 & 1), ("fsrm", edx >> 4 & 1)];
    all.into_iter().filter(|(_, bit)| *bit == 1).map(|(name, _)| name.to_owned())
}

/// What the kernel says that libraries choose code by.
#[cfg(not(target_arch = "x86_64"))]
fn features() -> Vec<String> {
    let words = [("hwcap", libc::AT_HWCAP), ("hwcap2", libc::AT_HWCAP2)];
    // SAFETY: it only tells.
    words
        .into_iter()
        .map(|(name, which)| format!("{name} {:#x}", unsafe { libc::getauxval(which) }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use talisman_base::layout::mark::compare;

    #[test]
    fn a_process_knows_its_program_and_libraries() {
        let (one, other) = (objects(), objects());
        assert_eq!(one, other);
        let code = features as *const () as u64;
        let program = one.iter().find(|object| object.name.is_empty()).expect("the program is mapped");
        assert!((program.base..program.base + program.length).contains(&code), "{program:?} {code:x}");
        let library = one.iter().find(|object| object.name.starts_with("libc.so")).expect("it uses it");
        assert!(library.base > 0 && library.length > 1 << 20, "{library:?}");
        assert!(one.iter().all(|object| !object.name.contains("vdso")), "{one:?}");
    }

    #[test]
    fn build_ids_are_those_that_the_files_have() {
        let objects = objects();
        let library = objects.iter().find(|object| object.name.starts_with("libc.so")).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| line.ends_with(&library.name)).unwrap();
        let file = std::fs::read(&line[line.find('/').unwrap()..]).unwrap();
        let digits = |at: usize| u8::from_str_radix(&library.build_id[at..at + 2], 16).unwrap();
        let id: Vec<u8> = (0..library.build_id.len() / 2).map(|at| digits(2 * at)).collect();
        assert!(id.len() >= 16 && file.windows(id.len()).any(|bytes| bytes == id), "{library:?}");
    }

    #[test]
    fn features_are_the_same_each_time_and_few() {
        let mark = |processor| LayoutMark { processor, ..LayoutMark::default() };
        assert!(compare(&mark(features()), &mark(features())).is_empty());
        assert!(!features().is_empty() && features().len() < FEATURES_MAX);
        assert!(!cfg!(target_env = "gnu") || c_library().starts_with("glibc 2."), "{}", c_library());
    }
}
