package agent

import (
	"encoding/binary"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An endpoint is an address as the kernel takes it.
type endpoint struct {
	family int
	raw    unix.RawSockaddrAny
	size   uintptr
}

// resolve finds the endpoint of a host:port. Of a name's addresses it takes an
// IPv4 one where there is one.
func resolve(address string) (endpoint, error) {
	found, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return endpoint{}, fmt.Errorf("resolve %s: %w", address, err)
	}
	var to endpoint
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], uint16(found.Port))
	if ip := found.IP.To4(); ip != nil {
		raw := (*unix.RawSockaddrInet4)(unsafe.Pointer(&to.raw))
		raw.Family, raw.Port = unix.AF_INET, binary.NativeEndian.Uint16(port[:])
		copy(raw.Addr[:], ip)
		to.family, to.size = unix.AF_INET, unix.SizeofSockaddrInet4
		return to, nil
	}
	raw := (*unix.RawSockaddrInet6)(unsafe.Pointer(&to.raw))
	raw.Family, raw.Port = unix.AF_INET6, binary.NativeEndian.Uint16(port[:])
	copy(raw.Addr[:], found.IP)
	to.family, to.size = unix.AF_INET6, unix.SizeofSockaddrInet6
	return to, nil
}
