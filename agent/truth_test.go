//go:build linux

package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// truthVariable names the environment variable that turns the test binary into
// a server of known delays.
const truthVariable = "STOPWATT_TEST_TRUTH"

// A truth is a server that answers after drawn delays, stalls a tenth of every
// second, and keeps a log of how long each request was with it.
type truth struct {
	mu     sync.Mutex
	delays []int64
	rng    *rand.Rand
	begin  time.Time
	stalls bool
}

// stalled is how long the server still stalls.
func (s *truth) stalled(now time.Time) time.Duration {
	const every, lasting = time.Second, 100 * time.Millisecond
	if into := now.Sub(s.begin) % every; s.stalls && into < lasting {
		return lasting - into
	}
	return 0
}

func (s *truth) draw() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 5*time.Millisecond + time.Duration(s.rng.ExpFloat64()*float64(3*time.Millisecond))
}

func (s *truth) serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(reader); err != nil {
			return
		}
		come := time.Now()
		time.Sleep(s.stalled(come) + s.draw())
		took := time.Since(come)
		if _, err := io.WriteString(conn, okAnswer); err != nil {
			return
		}
		s.mu.Lock()
		s.delays = append(s.delays, int64(took))
		s.mu.Unlock()
	}
}

// serveTruth serves until its standard input ends, and then prints its log.
func serveTruth(stalls bool) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &truth{rng: rand.New(rand.NewPCG(1, 2)), begin: time.Now(), stalls: stalls}
	fmt.Println(listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewEncoder(os.Stdout).Encode(s.delays)
}

// truthful drives at a server of known delays and returns them, sorted, beside
// what was measured. The last requests of the log are those that were driven.
func truthful(t *testing.T, kind string, change func(*stopwatt.DriveOrder)) (stopwatt.DriveResult, []int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), truthVariable+"="+kind)
	command.Stderr = os.Stderr
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err1 != nil || err2 != nil || command.Start() != nil {
		t.Fatal("the server does not start", err1, err2)
	}
	defer command.Wait()
	defer in.Close()
	lines := bufio.NewReaderSize(out, 1<<20)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	order := orderFor(strings.TrimSpace(address))
	change(&order)
	got := drive(t, order, 5)
	in.Close()
	var delays []int64
	if err := json.NewDecoder(lines).Decode(&delays); err != nil {
		t.Fatal(err)
	}
	if int64(len(delays)) != got.Requests {
		t.Fatalf("the server logged %d requests, %d right answers were counted; errors %v", len(delays), got.Requests, got.FirstErrors)
	}
	slices.Sort(delays)
	return got, delays
}

// TestLatenciesAreThoseOfTheServersOwnLog holds percentiles against what a server
// of drawn delays and stalls has logged itself: of an open load within 2 % and
// 200 µs up to p99.9, of a closed one within 5 %. Where this machine let the
// driver wait for a CPU, its lag tells, and nothing is proved.
func TestLatenciesAreThoseOfTheServersOwnLog(t *testing.T) {
	if os.Getenv("STOPWATT_QUIET") == "" {
		t.Skip("it compares times with a server's, for which this machine must be quiet: make test runs it last and alone")
	}
	closed, delays := truthful(t, "steady", func(order *stopwatt.DriveOrder) {
		order.Load = stopwatt.Load{Users: 8, For: 6 * time.Second, Timeout: 10 * time.Second}
	})
	compare(t, "closed", closed, delays, 0.05, 0)
	for range 3 {
		open, delays := truthful(t, "stalls", func(order *stopwatt.DriveOrder) {
			*order = openOrder(order.Address, 500, 8*time.Second)
			order.Load.Poisson = true
			order.Load.Users = 200
		})
		if lag := time.Duration(open.Lag.Quantile(0.999)); lag > 500*time.Microsecond {
			t.Logf("disturbed: the driver was %v late", lag)
			continue
		}
		compare(t, "open", open, delays, 0.02, 200*time.Microsecond)
		return
	}
	t.Skip("three loads in a row were disturbed: this machine is too busy, and nothing was found wrong")
}

func compare(t *testing.T, name string, got stopwatt.DriveResult, truth []int64, share float64, beside time.Duration) {
	t.Helper()
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99, 0.999} {
		want := truth[min(int(q*float64(len(truth))), len(truth)-1)]
		found := got.Latency.Quantile(q)
		t.Logf("%s p%v: %v, the server says %v", name, 100*q, time.Duration(found), time.Duration(want))
		if off := float64(found - want); off < -share*float64(want)-float64(beside) || off > share*float64(want)+float64(beside) {
			t.Errorf("%s: p%v is %v, the server says %v", name, 100*q, time.Duration(found), time.Duration(want))
		}
	}
}

// TestAConstantRateIsKept holds half of the rate that a closed load reaches, for
// ten seconds.
func TestAConstantRateIsKept(t *testing.T) {
	if os.Getenv("STOPWATT_QUIET") == "" {
		t.Skip("others' load would be measured: make test runs it by itself, with STOPWATT_QUIET=yes")
	}
	address := startNullServer(t)
	order := orderFor(address)
	order.Load = stopwatt.Load{Users: 4, For: 3 * time.Second, Timeout: 20 * time.Second}
	closed := drive(t, order, 0)
	highest := float64(closed.Requests) / closed.Window.Duration().Seconds()
	for _, rate := range []float64{1000, highest / 8, highest / 2} {
		got := drive(t, openOrder(address, math.Trunc(rate), 10*time.Second), 0)
		held := float64(got.Requests) / got.Window.Duration().Seconds()
		t.Logf("%.0f/s of %.0f/s: %.1f/s, lag p99 %v", rate, highest, held, time.Duration(got.Lag.Quantile(0.99)))
		if math.Abs(held/math.Trunc(rate)-1) > 0.001 || got.Requests != got.Due {
			t.Errorf("%.0f/s was held as %.1f/s: %d due, %d answered", rate, held, got.Due, got.Requests)
		}
	}
}
