package agent

import (
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An endpoint is an address as the kernel takes it.
type endpoint struct {
	family int
	raw    unix.RawSockaddrAny
	size   uintptr
}

// unixPrefix begins the address of a Unix socket.
const unixPrefix = "unix:"

// longestPath is how long the path of a Unix socket may be (unix(7)).
const longestPath = 107

// network names the network of an address, and what follows its prefix.
func network(address string) (name, rest string) {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		return "unix", path
	}
	return "tcp", address
}

// resolveUnix makes the endpoint of a Unix socket.
func resolveUnix(path string) (endpoint, error) {
	if len(path) > longestPath {
		return endpoint{}, fmt.Errorf("the path %s of a Unix socket is longer than %d bytes", path, longestPath)
	}
	to := endpoint{family: unix.AF_UNIX, size: uintptr(2 + len(path) + 1)}
	raw := (*unix.RawSockaddrUnix)(unsafe.Pointer(&to.raw))
	raw.Family = unix.AF_UNIX
	for i := range len(path) {
		raw.Path[i] = int8(path[i])
	}
	return to, nil
}

// resolve finds the endpoint of a host:port or unix:path. Of a name's addresses
// it takes an IPv4 one where there is one.
func resolve(address string) (endpoint, error) {
	if name, path := network(address); name == "unix" {
		return resolveUnix(path)
	}
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
