package containers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/docker/docker/pkg/stdcopy"

	"gitlab.com/stopwatt/stopwatt"
)

func TestConversationUntilTheEndOfInput(t *testing.T) {
	t.Parallel()
	converse(t, docker(t))
}

// converse speaks with a container until it takes its leave.
func converse(t *testing.T, d *Docker) {
	t.Helper()
	id := create(t, d, stopwatt.ContainerOrder{Stdin: true}, "echo")
	streams, err := d.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer streams.Close()
	if _, err := d.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(streams)
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(streams, word)
		if got, err := answers.ReadString('\n'); got != strings.ToUpper(word)+"\n" {
			t.Fatalf("%q is answered by %q, %v", word, got, err)
		}
	}
	if err := streams.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(answers)
	if string(rest) != "bye\n" || err != nil {
		t.Errorf("at the end of its input it says %q, %v", rest, err)
	}
	if fate := finish(t, d, id); fate.ExitCode != 0 {
		t.Errorf("exit code %d, log %q", fate.ExitCode, fate.Log)
	}
}

func TestClosingEndsAReadThatWaits(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := create(t, d, stopwatt.ContainerOrder{Stdin: true}, "echo")
	streams, err := d.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := streams.Read(make([]byte, 1))
		ended <- err
	}()
	streams.Close()
	if err := <-ended; err == nil {
		t.Error("the read brought something")
	}
	if err := streams.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestDriverJoinsTheServersNetwork(t *testing.T) {
	t.Parallel()
	d := docker(t)
	server := create(t, d, stopwatt.ContainerOrder{}, "serve", "127.0.0.1:8080")
	driver := create(t, d, stopwatt.ContainerOrder{Stdin: true, JoinNetwork: server}, "ask", "127.0.0.1:8080")
	streams, err := d.Attach(t.Context(), driver)
	if err != nil {
		t.Fatal(err)
	}
	defer streams.Close()
	for _, id := range []string{server, driver} {
		if _, err := d.Start(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got := firstLine(t, d, server); got != "listening" {
		t.Fatalf("the server says %q", got)
	}
	fmt.Fprintln(streams)
	if got, err := bufio.NewReader(streams).ReadString('\n'); got != "200 OK\n" {
		t.Errorf("the driver got %q, %v", got, err)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	frame := func(kind stdcopy.StdType, text string) string {
		var b strings.Builder
		io.WriteString(stdcopy.NewStdWriter(&b, kind), text)
		return b.String()
	}
	out, noise := frame(stdcopy.Stdout, "hello"), frame(stdcopy.Stderr, "noise")
	tests := []struct {
		name, stream, want string
		err                error
	}{
		{"nothing", "", "", nil},
		{"standard output", out + out, "hellohello", nil},
		{"standard error is passed over", noise + out + noise, "hello", nil},
		{"an empty frame", frame(stdcopy.Stdout, "") + out, "hello", nil},
		{"the end within a head", out + out[:3], "hello", io.ErrUnexpectedEOF},
		{"the end within a frame", out[:10], "he", io.ErrUnexpectedEOF},
		{"the end within what is passed over", noise[:10], "", io.EOF},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := io.ReadAll(&frameReader{from: strings.NewReader(test.stream)})
			if string(got) != test.want {
				t.Errorf("read %q; want %q", got, test.want)
			}
			if !errors.Is(err, test.err) && test.err != io.EOF {
				t.Errorf("error %v; want %v", err, test.err)
			}
		})
	}
}

func FuzzFramesNeverReadTooMuch(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x02hi\x02\x00\x00\x00\x00\x00\x00\x01x"))
	f.Add([]byte("\x07\x00\x00\x00\xff\xff\xff\xffhi"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		got, _ := io.ReadAll(&frameReader{from: strings.NewReader(string(stream))})
		if len(got) > len(stream) {
			t.Errorf("%d bytes came out of %d", len(got), len(stream))
		}
	})
}
