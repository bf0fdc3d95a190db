package containers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/tlsconfig"

	"gitlab.com/stopwatt/stopwatt"
)

// An endpoint is where an engine listens, and who said so.
type endpoint struct {
	host   string // as in DOCKER_HOST
	source string // for messages: DOCKER_HOST, context "name", or empty when it was a guess
	tls    tlsFiles
}

// tlsFiles are the folder that holds ca.pem, cert.pem and key.pem, when TLS is
// spoken at all, and whether the engine must prove who it is.
type tlsFiles struct {
	folder string
	verify bool
}

// The sockets that are tried when nobody names one.
const (
	usualSocket  = "/var/run/docker.sock"
	rootlessName = "docker.sock" // in $XDG_RUNTIME_DIR
)

// dialWithin bounds the connection to a socket or a port.
const dialWithin = 10 * time.Second

// findEngine decides where the engine is, in the order of Docker's own client.
func findEngine(ctx context.Context, config Config) (endpoint, error) {
	if host := config.Getenv("DOCKER_HOST"); host != "" {
		return endpoint{host: host, source: "DOCKER_HOST", tls: tlsOfEnvironment(config)}, nil
	}
	name, source := config.Getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		name, source = currentContext(config), "Docker's current context"
	}
	if name != "" && name != "default" {
		return contextEndpoint(config.folder(), name, source)
	}
	return firstThatAnswers(ctx, guesses(config)), nil
}

// tlsOfEnvironment reads DOCKER_TLS_VERIFY and DOCKER_CERT_PATH.
func tlsOfEnvironment(config Config) tlsFiles {
	folder, verify := config.Getenv("DOCKER_CERT_PATH"), config.Getenv("DOCKER_TLS_VERIFY") != ""
	if folder == "" && verify {
		folder = config.folder()
	}
	return tlsFiles{folder: folder, verify: verify}
}

// currentContext is what `docker context use` chose, or empty. A config.json
// that cannot be read is reported where credentials are read from it.
func currentContext(config Config) string {
	var chosen struct{ CurrentContext string }
	text, err := readConfiguration(filepath.Join(config.folder(), "config.json"))
	if err != nil || json.Unmarshal(text, &chosen) != nil {
		return ""
	}
	return chosen.CurrentContext
}

// contextEndpoint reads one context of Docker's client. It lies in folders
// that are named after the SHA-256 of its name.
func contextEndpoint(folder, name, source string) (endpoint, error) {
	hash := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(hash[:])
	text, err := readConfiguration(filepath.Join(folder, "contexts", "meta", id, "meta.json"))
	if errors.Is(err, os.ErrNotExist) {
		return endpoint{}, fmt.Errorf("%w: %s names %q, which does not exist; docker context ls lists those that do",
			stopwatt.ErrUnreachable, source, name)
	}
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: context %q: %w", stopwatt.ErrUnreachable, name, err)
	}
	found, err := parseContext(text)
	if err != nil {
		return endpoint{}, fmt.Errorf("%w: context %q: %w", stopwatt.ErrUnreachable, name, err)
	}
	found.source = fmt.Sprintf("context %q", name)
	certificates := filepath.Join(folder, "contexts", "tls", id, "docker")
	if _, err := os.Stat(certificates); err == nil {
		found.tls.folder = certificates
	}
	return found, nil
}

// parseContext understands the meta.json of a context.
func parseContext(text []byte) (endpoint, error) {
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return endpoint{}, fmt.Errorf("meta.json: %w", err)
	}
	docker, found := meta.Endpoints["docker"]
	if !found || docker.Host == "" {
		return endpoint{}, errors.New("meta.json names no Docker host")
	}
	return endpoint{host: docker.Host, tls: tlsFiles{verify: !docker.SkipTLSVerify}}, nil
}

// guesses are the places where an engine usually listens.
func guesses(config Config) []endpoint {
	usual := []endpoint{{host: "unix://" + usualSocket}}
	if runtime := config.Getenv("XDG_RUNTIME_DIR"); runtime != "" {
		usual = append(usual, endpoint{host: "unix://" + filepath.Join(runtime, rootlessName)})
	}
	return usual
}

// firstThatAnswers is the first guess that something listens at, or the first
// guess: then the error will be about the usual place.
func firstThatAnswers(ctx context.Context, guessed []endpoint) endpoint {
	for _, e := range guessed {
		if e.knock(ctx) == nil {
			return e
		}
	}
	return guessed[0]
}

// remote says whether the engine is on another machine, as far as its address
// tells.
func (e endpoint) remote() bool {
	parsed, err := url.Parse(e.host)
	if err != nil || parsed.Scheme == "unix" || parsed.Scheme == "npipe" {
		return false
	}
	address := net.ParseIP(parsed.Hostname())
	loopback := parsed.Hostname() == "localhost" || address != nil && address.IsLoopback()
	return parsed.Scheme == "ssh" || !loopback
}

// dial makes a client for the endpoint, after a knock at its door: a plain
// connection fails with a clearer reason than a request does.
func (e endpoint) dial(ctx context.Context) (*client.Client, error) {
	if err := e.knock(ctx); err != nil {
		return nil, e.unreachable(err)
	}
	options, err := e.options()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", stopwatt.ErrUnreachable, e, err)
	}
	api, err := client.NewClientWithOpts(append(options, client.WithAPIVersionNegotiation())...)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", stopwatt.ErrUnreachable, e, err)
	}
	return api, nil
}

// knock connects and hangs up. It can say nothing of ssh.
func (e endpoint) knock(ctx context.Context) error {
	parsed, err := client.ParseHostURL(e.host)
	if err != nil {
		return err
	}
	if parsed.Scheme != "unix" && parsed.Scheme != "tcp" {
		return nil
	}
	dialer := net.Dialer{Timeout: dialWithin}
	conn, err := dialer.DialContext(ctx, parsed.Scheme, parsed.Host)
	if err != nil {
		return err
	}
	return conn.Close()
}

// options are what the client is made with.
func (e endpoint) options() ([]client.Opt, error) {
	helper, err := connhelper.GetConnectionHelper(e.host)
	if err != nil {
		return nil, err
	}
	if helper != nil {
		return []client.Opt{client.WithHost(helper.Host), client.WithDialContext(helper.Dialer)}, nil
	}
	if e.tls.folder == "" || !strings.HasPrefix(e.host, "tcp://") {
		return []client.Opt{client.WithHost(e.host)}, nil
	}
	secured, err := e.tls.transport()
	if err != nil {
		return nil, err
	}
	return []client.Opt{client.WithHTTPClient(secured), client.WithHost(e.host)}, nil
}

// transport speaks TLS with those of the three files that exist.
func (t tlsFiles) transport() (*http.Client, error) {
	present := func(name string) string {
		path := filepath.Join(t.folder, name)
		if _, err := os.Stat(path); err != nil {
			return ""
		}
		return path
	}
	config, err := tlsconfig.Client(tlsconfig.Options{
		CAFile:             present("ca.pem"),
		CertFile:           present("cert.pem"),
		KeyFile:            present("key.pem"),
		InsecureSkipVerify: !t.verify,
		ExclusiveRootPools: true,
	})
	if err != nil {
		return nil, fmt.Errorf("certificates in %s: %w", t.folder, err)
	}
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: config},
		CheckRedirect: client.CheckRedirect,
	}, nil
}

// String names the endpoint and who named it.
func (e endpoint) String() string {
	if e.source == "" {
		return "Docker Engine at " + e.host
	}
	return fmt.Sprintf("Docker Engine at %s (%s)", e.host, e.source)
}

// unreachable says why nobody answers there, and what to do.
func (e endpoint) unreachable(err error) error {
	return unreached{fmt.Errorf("%w: %s: %w; %s", stopwatt.ErrUnreachable, e, err, e.remedy(err)), e.lines(err)}
}

// An unreached is an ErrUnreachable that knows lines which mend it.
type unreached struct {
	error
	remedies []stopwatt.Remedy
}

func (u unreached) Unwrap() error { return u.error }

// Remedies are the lines that mend why an engine was not reached; none where there
// is none to paste.
func Remedies(err error) []stopwatt.Remedy {
	var known unreached
	errors.As(err, &known)
	return known.remedies
}

// lines are what remedy says, as far as that is a command.
func (e endpoint) lines(err error) []stopwatt.Remedy {
	switch {
	case errors.Is(err, os.ErrPermission):
		return []stopwatt.Remedy{{When: "for good, from the next login on", Line: "sudo usermod -aG docker $USER"}}
	case e.source == "" && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)):
		return []stopwatt.Remedy{{When: "where it is installed", Line: "sudo systemctl start docker"}}
	}
	return nil
}

// remedy tells apart an engine that does not run, one that may not be used,
// and an address where there is none.
func (e endpoint) remedy(err error) string {
	var lookup *net.DNSError
	switch {
	case errors.Is(err, os.ErrPermission):
		return "add yourself to the group docker (sudo usermod -aG docker $USER, then log in again), or use sudo"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case e.source != "" && errors.As(err, &lookup):
		return "no such host: correct " + e.source
	case errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist):
		return e.start()
	case e.source != "":
		return "is " + e.source + " right, and Docker running there?"
	}
	return e.start()
}

// start is how an engine is started that does not run.
func (e endpoint) start() string {
	if e.source != "" {
		return "start Docker there, or correct " + e.source
	}
	return "start it (sudo systemctl start docker), or name another with DOCKER_HOST"
}
