//! Internet addresses, their bytes in network order as everywhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::id::named;
use crate::{Fault, Packer, Pup, PupError, Unpacker};

macro_rules! addresses {
    ($($text:literal $type:ident $len:literal)*) => {$(
        named!($text, $type);

        impl Pup for $type {
            const MIN_SIZE: usize = $len;

            fn pack(&self, p: &mut Packer) {
                p.bytes(&self.octets());
            }
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                Ok($type::from(u.fixed::<$len>()?))
            }
        }
    )*};
}
addresses!("Ipv4Addr" Ipv4Addr 4 "Ipv6Addr" Ipv6Addr 16);

named!("SocketAddrV4", SocketAddrV4);
impl Pup for SocketAddrV4 {
    const MIN_SIZE: usize = 6;

    fn pack(&self, p: &mut Packer) {
        self.ip().pack(p);
        self.port().pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (ip, port) = Pup::unpack(u)?;
        Ok(SocketAddrV4::new(ip, port))
    }
}

named!("SocketAddrV6", SocketAddrV6);
impl Pup for SocketAddrV6 {
    const MIN_SIZE: usize = 26;

    fn pack(&self, p: &mut Packer) {
        self.ip().pack(p);
        (self.port(), self.flowinfo(), self.scope_id()).pack(p);
    }
    fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
        let (ip, port, flow, scope) = Pup::unpack(u)?;
        Ok(SocketAddrV6::new(ip, port, flow, scope))
    }
}

/// One byte, 4 or 6, then the address.
macro_rules! either_address {
    ($($text:literal $type:ident)*) => {$(
        named!($text, $type);

        impl Pup for $type {
            const MIN_SIZE: usize = 5;

            fn pack(&self, p: &mut Packer) {
                match self {
                    $type::V4(address) => (4u8.pack(p), address.pack(p)).1,
                    $type::V6(address) => (6u8.pack(p), address.pack(p)).1,
                }
            }
            fn unpack(u: &mut Unpacker<'_>) -> Result<Self, PupError> {
                match u8::unpack(u)? {
                    4 => Pup::unpack(u).map($type::V4),
                    6 => Pup::unpack(u).map($type::V6),
                    tag => Err(u.fault(Fault::Tag { tag: tag.into(), of: $text })),
                }
            }
        }
    )*};
}
either_address!("IpAddr" IpAddr "SocketAddr" SocketAddr);
