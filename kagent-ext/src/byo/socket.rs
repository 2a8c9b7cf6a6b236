//! Listeners, made with the options that an image needs.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Which addresses an IPv6 listener takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of its own family only, so that it does not stand in the way of another listener.
    OwnFamily,
    /// Those of IPv4 as well.
    BothFamilies,
}

/// Listens on one address.
pub(super) fn listen(addr: SocketAddr, reach: Reach) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if addr.is_ipv6() {
        socket.set_only_v6(reach == Reach::OwnFamily)?;
    }
    // Elsewhere than on Unix the option would let two processes share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Listens on all addresses of this machine with one listener: those of IPv4 alone where it knows no IPv6.
pub(super) fn listen_everywhere(port: u16) -> io::Result<TcpListener> {
    let [v4, v6] = ANYWHERE.map(|ip| SocketAddr::new(ip, port));
    match listen(v6, Reach::BothFamilies) {
        Err(error) if is_missing_family(&error) => listen(v4, Reach::OwnFamily),
        outcome => outcome,
    }
}

/// Binds what there is of both families: a missing one is no failure, a taken port is.
pub(super) fn bind_families<L>(
    families: [IpAddr; 2],
    port: u16,
    listen: impl Fn(SocketAddr) -> io::Result<L>,
) -> io::Result<Vec<L>> {
    let mut bound = Vec::new();
    let mut missing = None;
    for family in families {
        match listen(SocketAddr::new(family, port)) {
            Ok(listener) => bound.push(listener),
            Err(error) if is_missing_family(&error) => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if bound.is_empty() => Err(error),
        _ => Ok(bound),
    }
}

fn is_missing_family(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::AddrNotAvailable | ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(EAFNOSUPPORT)
}

/// All addresses of this machine.
pub(super) const ANYWHERE: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    IpAddr::V6(Ipv6Addr::UNSPECIFIED),
];
/// Those that only this machine reaches.
pub(super) const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::LOCALHOST),
    IpAddr::V6(Ipv6Addr::LOCALHOST),
];

const BACKLOG: i32 = 128;

/// The system knows no such address family; `ErrorKind` has no name for it.
const EAFNOSUPPORT: i32 = if cfg!(windows) {
    10_047
} else if cfg!(any(target_os = "linux", target_os = "android")) {
    97
} else {
    47
};

#[cfg(test)]
mod tests {
    use super::*;

    fn v6_fails(error: i32) -> impl Fn(SocketAddr) -> io::Result<SocketAddr> {
        move |addr| match addr {
            SocketAddr::V4(_) => Ok(addr),
            SocketAddr::V6(_) => Err(io::Error::from_raw_os_error(error)),
        }
    }

    #[test]
    fn a_missing_address_family_is_no_failed_bind() {
        let bound = bind_families(ANYWHERE, 1, v6_fails(EAFNOSUPPORT)).unwrap();
        assert_eq!(bound, ["0.0.0.0:1".parse::<SocketAddr>().unwrap()]);
        let unavailable = |addr: SocketAddr| {
            if addr.is_ipv4() {
                Err(ErrorKind::AddrNotAvailable.into())
            } else {
                Ok(addr)
            }
        };
        assert_eq!(
            bind_families(ANYWHERE, 1, unavailable).unwrap(),
            ["[::]:1".parse::<SocketAddr>().unwrap()]
        );
    }

    #[test]
    fn without_any_address_family_the_bind_fails() {
        let none = |_| Err::<(), _>(io::Error::from(ErrorKind::AddrNotAvailable));
        assert_eq!(
            bind_families(ANYWHERE, 1, none).unwrap_err().kind(),
            ErrorKind::AddrNotAvailable
        );
    }

    #[test]
    fn a_taken_port_is_a_failed_bind() {
        let taken = |addr: SocketAddr| {
            if addr.is_ipv4() {
                Ok(addr)
            } else {
                Err(ErrorKind::AddrInUse.into())
            }
        };
        assert_eq!(
            bind_families(ANYWHERE, 1, taken).unwrap_err().kind(),
            ErrorKind::AddrInUse
        );
    }
}
