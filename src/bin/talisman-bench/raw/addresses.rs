//! The addresses of this host.

use std::net::{IpAddr, Ipv4Addr};
use std::ptr;

/// Those of version 4 that others may reach.
pub fn of_this_host() -> Vec<IpAddr> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer is for the answer.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut next = first;
    // SAFETY: a list that ends with null, as the system's library has made it; it stays until it is freed below.
    while let Some(entry) = unsafe { next.as_ref() } {
        // SAFETY: an address of this entry, or null.
        let family = unsafe { entry.ifa_addr.as_ref() }.map(|address| i32::from(address.sa_family));
        if family == Some(libc::AF_INET) {
            // SAFETY: of this family, so it is one of these, which has the alignment of its entry.
            let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
            all.push(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
        }
        next = entry.ifa_next;
    }
    // SAFETY: as it was given, and nothing of it is kept.
    unsafe { libc::freeifaddrs(first) };
    all.into_iter().filter(|address| !address.is_loopback()).map(IpAddr::V4).collect()
}
