package agent

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Epoll is the driver that measures: a few threads, each with its share of the
// users, its own epoll and its own histogram. What is to be encrypted it leaves
// to Streams.
type Epoll struct {
	// Threads is how many threads drive, at most one a user. 0 takes one for
	// every two users, but no more than half of the cores it may run on.
	//
	// Half, because the server wants the other half: on two cores, a second
	// thread made a request 1.2 to 1.4 times as dear and none of nginx, Go's
	// server and the null server more than 7 % faster. Two users, because one
	// can be served while the other is waited for.
	Threads int
}

// driving is held while a load is driven: the settings of the Go runtime that
// a drive changes are the whole process's.
var driving sync.Mutex

// Drive drives load as ordered. While it does, the garbage collector is off.
func (d Epoll) Drive(ctx context.Context, order stopwatt.DriveOrder, bodyBytes ...int64) (stopwatt.DriveResult, error) {
	if err := checkDriven(order); err != nil {
		return stopwatt.DriveResult{}, err
	}
	if order.TLS != nil {
		return Streams{}.Drive(ctx, order, bodyBytes...)
	}
	driving.Lock()
	defer driving.Unlock()
	threads := d.threads(order.Load.Users)
	team, err := newTeam(order, bodyBytes, threads)
	if err != nil {
		return stopwatt.DriveResult{}, err
	}
	defer team.close()
	defer context.AfterFunc(ctx, team.stop)()
	defer undisturbed(threads)()
	team.run()
	if err := ctx.Err(); err != nil {
		return stopwatt.DriveResult{}, fmt.Errorf("drive %s: %w", order.Address, err)
	}
	return team.result(), nil
}

func (d Epoll) threads(users int) int {
	if d.Threads > 0 {
		return min(d.Threads, users)
	}
	cores := runtime.GOMAXPROCS(0) // heeds affinity and the cgroup's quota
	return min((cores+1)/2, (users+1)/2)
}

// memoryBound is where the garbage collector comes back, should a drive ever
// need so much memory. It allocates nothing per request.
const memoryBound = 256 << 20

// undisturbed turns off the garbage collector and gives the runtime one
// processor beside those that the threads hold on to. It returns how to undo
// that.
func undisturbed(threads int) (restore func()) {
	runtime.GC()
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(memoryBound)
	processors := runtime.GOMAXPROCS(threads + 1)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// A team is the threads that drive one load together.
type team struct {
	loops   []*loop
	stopper int // an eventfd that ends every loop when it is written to
	cpu     time.Duration
}

func newTeam(order stopwatt.DriveOrder, bodyBytes []int64, threads int) (*team, error) {
	to, err := resolve(order.Address)
	if err != nil {
		return nil, err
	}
	stopper, err := newEvent()
	if err != nil {
		return nil, fmt.Errorf("make an eventfd: %w", err)
	}
	t := &team{stopper: stopper}
	questions := newQuestions(order, bodyBytes)
	for i := range threads {
		l, err := newLoop(order, questions, to, stopper, i, threads)
		if err != nil {
			t.close()
			return nil, err
		}
		t.loops = append(t.loops, l)
	}
	return t, nil
}

// run lets all loops go at once and waits until every one has ended.
func (t *team) run() {
	var ended sync.WaitGroup
	start := make(chan struct{})
	for _, l := range t.loops {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer wakeSharply()()
			<-start
			l.run()
		})
	}
	before := cpuTime()
	close(start)
	ended.Wait()
	t.cpu = cpuTime() - before
}

// stop ends every loop, whatever it waits for.
func (t *team) stop() { signalEvent(t.stopper) }

func (t *team) close() {
	for _, l := range t.loops {
		l.close()
	}
	closeSocket(t.stopper)
}

func (t *team) result() stopwatt.DriveResult {
	var tallies []*tally
	for _, l := range t.loops {
		tallies = append(tallies, l.tally)
	}
	all := result(tallies, t.loops[0].load)
	all.CPU, all.Threads = t.cpu, len(t.loops)
	return all
}
