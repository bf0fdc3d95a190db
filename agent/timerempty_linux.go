package agent

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// An empty program is started so often, after some that are not counted.
const (
	emptyRuns  = 30
	emptyFirst = 5
)

// timeEmpty measures what it costs to start a program and to wait for its end,
// by one that does nothing else than to end.
func timeEmpty(ctx context.Context) ([]int64, error) {
	image, err := emptyProgram(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	file, err := inMemory("empty", image)
	if err != nil {
		return nil, fmt.Errorf("make an empty program: %w", err)
	}
	defer file.Close() // which was only read from
	return timeEach(ctx, program{path: pathOf(file), argv: []string{"empty"}})
}

// timeEach are the wall times of an empty program.
func timeEach(ctx context.Context, p program) ([]int64, error) {
	guard := newGuard(10 * time.Second)
	go guard.watch(ctx)
	defer guard.end()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var walls []int64
	for i := range emptyFirst + emptyRuns {
		run, err := p.start(ctx, &output{}, guard)
		if err == nil {
			err = run.wrong([]int{0})
		}
		if err != nil {
			return nil, fmt.Errorf("run an empty program: %w", err)
		}
		if i >= emptyFirst {
			walls = append(walls, run.ended-run.started)
		}
	}
	return walls, nil
}

// An exit is exit(0) in an architecture's instructions.
type exit struct {
	machine elf.Machine
	class   elf.Class
	flags   uint32
	code    []byte
}

// exits are those of the architectures that the agent is built for, by Go's
// names.
var exits = map[string]exit{
	// mov edi, 0; mov eax, 60 (exit); syscall
	"amd64": {elf.EM_X86_64, elf.ELFCLASS64, 0, []byte{0xbf, 0, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05}},
	// movz x0, #0; movz x8, #93 (exit); svc #0
	"arm64": {elf.EM_AARCH64, elf.ELFCLASS64, 0, []byte{0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}},
	// mov r0, #0; mov r7, #1 (exit); svc #0; the flags say version 5 of the EABI
	"arm": {elf.EM_ARM, elf.ELFCLASS32, 0x05000000, []byte{0x00, 0x00, 0xa0, 0xe3, 0x01, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}},
}

// emptyAt is where the empty program lies in memory: any address that users may
// have, on the boundary of a large page.
const emptyAt = 0x400000

// emptyProgram is a program that does nothing but end well: a header of an ELF
// file, one of its single segment, and the code.
func emptyProgram(architecture string) ([]byte, error) {
	exit, ok := exits[architecture]
	if !ok {
		return nil, errors.New("there is no empty program for " + architecture)
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(exit.class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	const executable, kind = uint32(elf.PF_R | elf.PF_X), uint16(elf.ET_EXEC)
	var header, segment any
	if exit.class == elf.ELFCLASS64 {
		const head, prog = 64, 56 // sizes of the two headers
		size := uint64(head + prog + len(exit.code))
		header = elf.Header64{Ident: ident, Type: kind, Machine: uint16(exit.machine), Version: 1, Flags: exit.flags,
			Entry: emptyAt + head + prog, Phoff: head, Ehsize: head, Phentsize: prog, Phnum: 1}
		segment = elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: executable, Vaddr: emptyAt, Paddr: emptyAt, Filesz: size, Memsz: size, Align: 0x1000}
	} else {
		const head, prog = 52, 32
		size := uint32(head + prog + len(exit.code))
		header = elf.Header32{Ident: ident, Type: kind, Machine: uint16(exit.machine), Version: 1, Flags: exit.flags,
			Entry: emptyAt + head + prog, Phoff: head, Ehsize: head, Phentsize: prog, Phnum: 1}
		segment = elf.Prog32{Type: uint32(elf.PT_LOAD), Flags: executable, Vaddr: emptyAt, Paddr: emptyAt, Filesz: size, Memsz: size, Align: 0x1000}
	}
	var image bytes.Buffer
	err := errors.Join(binary.Write(&image, binary.LittleEndian, header), binary.Write(&image, binary.LittleEndian, segment))
	image.Write(exit.code)
	return image.Bytes(), err
}

// lowerPeak makes the most memory that this process ever held what it holds now:
// a child begins with it (proc(5), clear_refs).
func lowerPeak() {
	debug.FreeOSMemory()
	// Where it cannot be done, less can be told of small programs.
	if ownPeakReset != nil {
		_, _ = ownPeakReset.Write([]byte("5"))
		return
	}
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// ownPeak is the most memory that this process ever held, in bytes.
func ownPeak() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	return kib << 10, err
}
