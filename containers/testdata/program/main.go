// Command program is what the tests of package containers put into their
// images. Its first argument says what it does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	mode, arg := "wait", ""
	if len(os.Args) > 1 {
		mode = os.Args[1]
	}
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	modes := map[string]func(string){
		"serve": serve, "ask": ask, "exit": exit, "eat": eat, "flood": flood, "print": printed, "stay": stay,
		"wait": wait, "polite": polite, "facts": facts, "echo": echo, "fail": fail, "show": show, "proxies": proxies,
		"dial": dial, "postgres": postgres, "stamp": stamp, "fork": fork, "threads": threads,
	}
	modes[mode](arg)
}

// serve answers HTTP at an address and says so.
func serve(address string) {
	listener, err := net.Listen("tcp", address)
	check(err)
	fmt.Println("listening")
	check(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})))
}

// ask asks once for each line of input and prints the status.
func ask(address string) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		answer, err := http.Get("http://" + address)
		check(err)
		answer.Body.Close()
		fmt.Println(answer.Status)
	}
}

func exit(code string) {
	n, err := strconv.Atoi(code)
	check(err)
	fmt.Println("last words")
	fmt.Fprintln(os.Stderr, "and a complaint")
	os.Exit(n)
}

// eat takes memory and touches each page, until it is killed.
func eat(string) {
	var eaten [][]byte
	for {
		block := make([]byte, 1<<20)
		for i := range block {
			block[i] = 1
		}
		eaten = append(eaten, block)
	}
}

// flood prints that many long lines, numbered.
func flood(count string) {
	n, err := strconv.Atoi(count)
	check(err)
	out := bufio.NewWriter(os.Stdout)
	for i := range n {
		fmt.Fprintln(out, i, strings.Repeat("x", 1000))
	}
	check(out.Flush())
}

// printed prints a quoted text as it is meant.
func printed(quoted string) {
	text, err := strconv.Unquote(quoted)
	check(err)
	fmt.Print(text)
}

// stay prints a text and then waits.
func stay(text string) {
	fmt.Println(text)
	wait("")
}

// fork has a process start threads until the kernel gives it no more, which Go's runtime
// does not survive, and prints the first line of what that says.
func fork(string) {
	child := exec.Command("/program", "threads")
	said, err := child.StderrPipe()
	check(err)
	check(child.Start())
	lines := bufio.NewReader(said)
	line, err := lines.ReadString('\n')
	check(err)
	fmt.Print(line)
	_, _ = io.Copy(io.Discard, lines) // where each thread was
	_ = child.Wait()                  // it failed
}

// threads starts threads that do nothing, without end.
func threads(string) {
	for {
		began := make(chan bool)
		go func() {
			runtime.LockOSThread()
			close(began)
			select {}
		}()
		<-began
	}
}

// wait never listens and never ends.
func wait(string) {
	for {
		time.Sleep(time.Hour)
	}
}

// polite ends at SIGUSR1 and says so.
func polite(string) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	fmt.Println("ready")
	<-told
	fmt.Println("goodbye")
	os.Exit(17)
}

// facts prints what the container allows.
func facts(string) {
	found := map[string]string{"env": strings.Join(os.Environ(), " ")}
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "CapEff" || name == "CapBnd" || name == "NoNewPrivs" || name == "Seccomp" {
			found[name] = strings.TrimSpace(value)
		}
	}
	interfaces, err := net.Interfaces()
	check(err)
	for _, i := range interfaces {
		found["interfaces"] += i.Name + " "
	}
	found["root"] = outcome(os.WriteFile("/written", []byte("x"), 0o600))
	found["tmp"] = outcome(os.WriteFile("/tmp/written", []byte("x"), 0o600))
	found["big tmp"] = outcome(os.WriteFile("/tmp/big", make([]byte, 65<<20), 0o600))
	var files syscall.Rlimit
	check(syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	found["files"] = fmt.Sprint(files.Max)
	check(json.NewEncoder(os.Stdout).Encode(found))
}

func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// echo answers each line in capitals and takes its leave at the end of input.
func echo(string) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Fprintln(os.Stderr, "noise")
		fmt.Println(strings.ToUpper(lines.Text()))
	}
	fmt.Println("bye")
}

// fail prints forty-one lines and fails.
func fail(string) {
	for i := range 40 {
		fmt.Println("line", i+1)
	}
	fmt.Println("out of patience")
	os.Exit(3)
}

// show prints a file.
func show(path string) {
	text, err := os.ReadFile(path)
	check(err)
	fmt.Print(string(text))
}

// proxies fails with what it knows of proxies, for a build to show.
func proxies(string) {
	fmt.Println("proxy", os.Getenv("HTTP_PROXY"), os.Getenv("no_proxy"))
	os.Exit(1)
}

// dial joins its standard streams with a socket, as docker system dial-stdio
// does at the other end of ssh.
func dial(socket string) {
	conn, err := net.Dial("unix", socket)
	check(err)
	go func() {
		_, err := io.Copy(conn, os.Stdin)
		check(err)
		check(conn.(*net.UnixConn).CloseWrite())
	}()
	_, err = io.Copy(os.Stdout, conn)
	check(err)
}

// postgres is reached as the real one is, tells over HTTP how often it was
// started with its data, and ends at SIGINT. Told that it ends, it does.
func postgres(string) {
	if os.Args[len(os.Args)-1] == "ends" {
		fmt.Println("out of order")
		os.Exit(3)
	}
	check(os.MkdirAll(os.Getenv("PGDATA"), 0o700))
	file := os.Getenv("PGDATA") + "/starts"
	text, _ := os.ReadFile(file) // not there at first
	starts, _ := strconv.Atoi(string(text))
	check(os.WriteFile(file, []byte(strconv.Itoa(starts+1)), 0o600))
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT)
	go func() {
		<-told
		os.Exit(0)
	}()
	check(http.ListenAndServe(":5432", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "started ", starts+1)
	})))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stamp writes the time into a file.
func stamp(path string) {
	check(os.WriteFile(path, []byte(time.Now().Format(time.RFC3339Nano)+"\n"), 0o644))
}
