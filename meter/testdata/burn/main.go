// Burn uses a known amount of CPU time and memory, and says how much the kernel
// counted for it. Then it does what each line of its standard input asks, says
// how often it left a CPU while it did so, willingly and not, and waits for the
// next; it ends with its standard input, for its counters are gone when it is.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	burnt   = 300 * time.Millisecond
	touched = 64 << 20
	sleeps  = 2000
	yields  = 5000
	threads = 5
	churned = 20 * time.Millisecond // of CPU time, by each of the threads that end
)

func main() {
	start := used(syscall.RUSAGE_SELF)
	block := make([]byte, touched)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	burn(burnt-(used(syscall.RUSAGE_SELF)-start), syscall.RUSAGE_SELF)
	fmt.Println((used(syscall.RUSAGE_SELF) - start).Nanoseconds(), len(block))
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		willing, unwilling := switches()
		map[string]func(){"sleep": sleep, "yield": yield, "churn": churn}[input.Text()]()
		willingNow, unwillingNow := switches()
		fmt.Println(willingNow-willing, unwillingNow-unwilling)
	}
	runtime.KeepAlive(block)
}

// burn uses CPU time.
func burn(time time.Duration, who int) {
	sum := 0
	for start := used(who); used(who)-start < time; {
		for i := range 100_000 {
			sum += i
		}
	}
	runtime.KeepAlive(sum)
}

// used is the CPU time of this process or thread.
func used(who int) time.Duration {
	usage := rusage(who)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// switches is how often this process left a CPU.
func switches() (willing, unwilling int64) {
	usage := rusage(syscall.RUSAGE_SELF)
	return int64(usage.Nvcsw), int64(usage.Nivcsw)
}

func rusage(who int) (usage syscall.Rusage) {
	if err := syscall.Getrusage(who, &usage); err != nil {
		panic(err)
	}
	return usage
}

// sleep leaves the CPU willingly, a known number of times.
func sleep() {
	for range sleeps {
		nap := syscall.NsecToTimespec(1000)
		if err := syscall.Nanosleep(&nap, nil); err != nil && err != syscall.EINTR {
			panic(err)
		}
	}
}

// yield has two threads of one CPU yield to each other.
func yield() {
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			pin()
			for range yields {
				if _, _, err := syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0); err != 0 {
					panic(err)
				}
			}
		})
	}
	both.Wait()
}

// pin keeps this thread on the first CPU that it may use.
func pin() {
	var mask [128]byte
	set := func(call uintptr) {
		if _, _, err := syscall.RawSyscall(call, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); err != 0 {
			panic(err)
		}
	}
	set(syscall.SYS_SCHED_GETAFFINITY)
	for i, bits := range mask {
		mask[i] = bits & -bits
		if bits != 0 {
			clear(mask[i+1:])
			break
		}
	}
	set(syscall.SYS_SCHED_SETAFFINITY)
}

// churn starts threads that use CPU time and end.
func churn() {
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			runtime.LockOSThread() // and not unlocked: the thread ends with its goroutine
			burn(churned, 1)       // RUSAGE_THREAD
		})
	}
	all.Wait()
}
