package containers

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/registry"
)

// dockerHub is the name under which Docker's configuration keeps the
// credentials of docker.io.
const dockerHub = "https://index.docker.io/v1/"

// credentials are all places where the credentials of a registry may lie.
type credentials struct {
	configs []dockerConfig // the first that knows a registry is believed
	job     jobRegistry
}

// jobRegistry is the registry that GitLab hands to each job.
type jobRegistry struct {
	host, user, password string
}

// A dockerConfig is what concerns credentials in Docker's config.json.
type dockerConfig struct {
	Auths       map[string]dockerAuth
	CredsStore  string            // the helper that is asked for all registries
	CredHelpers map[string]string // the helper of one registry
}

// A dockerAuth is an entry of config.json, or of DOCKER_AUTH_CONFIG.
type dockerAuth struct {
	Auth          string // user:password in base64
	Username      string
	Password      string
	IdentityToken string
	RegistryToken string
}

// readCredentials reads DOCKER_AUTH_CONFIG, Docker's config.json and GitLab's
// CI_REGISTRY, CI_REGISTRY_USER and CI_REGISTRY_PASSWORD, in this order.
func readCredentials(config Config) (credentials, error) {
	c := credentials{job: jobRegistry{
		host:     config.Getenv("CI_REGISTRY"),
		user:     config.Getenv("CI_REGISTRY_USER"),
		password: config.Getenv("CI_REGISTRY_PASSWORD"),
	}}
	if text := config.Getenv("DOCKER_AUTH_CONFIG"); text != "" {
		if err := c.add("DOCKER_AUTH_CONFIG", []byte(text)); err != nil {
			return credentials{}, err
		}
	}
	path := filepath.Join(config.folder(), "config.json")
	text, err := readConfiguration(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return c, nil
	case err != nil:
		return credentials{}, fmt.Errorf("read Docker's configuration: %w", err)
	}
	return c, c.add(path, text)
}

// add understands one configuration. Its error tells where, never what.
func (c *credentials) add(source string, text []byte) error {
	var config dockerConfig
	err := json.Unmarshal(text, &config)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: no JSON at byte %d", source, syntax.Offset)
	case err != nil:
		return fmt.Errorf("%s: not of the form of Docker's config.json", source)
	}
	c.configs = append(c.configs, config)
	return nil
}

// of finds the credentials for a registry, such as docker.io or
// registry.example.org:5000. Without any, the answer is empty. An error says
// that a place which should know them could not be asked.
func (c credentials) of(ctx context.Context, host string) (registry.AuthConfig, error) {
	var doubts []error
	for _, config := range c.configs {
		found, err := config.of(ctx, host)
		if err != nil {
			doubts = append(doubts, err)
		}
		if found != (registry.AuthConfig{}) {
			found.ServerAddress = host
			return found, nil
		}
	}
	if host == hostOf(c.job.host) && c.job.password != "" {
		return registry.AuthConfig{Username: c.job.user, Password: c.job.password, ServerAddress: host}, nil
	}
	return registry.AuthConfig{}, errors.Join(doubts...)
}

// of asks one configuration: the registry's own helper, the entry that is
// written down, the helper for all.
func (c dockerConfig) of(ctx context.Context, host string) (registry.AuthConfig, error) {
	for name, helper := range c.CredHelpers {
		if hostOf(name) == host {
			return askHelper(ctx, helper, name)
		}
	}
	for name, entry := range c.Auths {
		if hostOf(name) == host && entry != (dockerAuth{}) {
			return entry.decode(host)
		}
	}
	if c.CredsStore == "" {
		return registry.AuthConfig{}, nil
	}
	name := host
	if host == hostOf(dockerHub) {
		name = dockerHub
	}
	return askHelper(ctx, c.CredsStore, name)
}

// decode reads what is written down.
func (a dockerAuth) decode(host string) (registry.AuthConfig, error) {
	decoded := registry.AuthConfig{
		Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken,
	}
	if a.Auth == "" {
		return decoded, nil
	}
	pair, err := base64.StdEncoding.DecodeString(a.Auth)
	user, password, found := strings.Cut(strings.TrimRight(string(pair), "\x00"), ":")
	if err != nil || !found {
		return registry.AuthConfig{}, fmt.Errorf("credentials for %s: auth is not user:password in base64", host)
	}
	decoded.Username, decoded.Password = user, password
	return decoded, nil
}

// hostOf is the registry that a key of the configuration means: it may be
// written as a URL, with a path, and docker.io has older names.
func hostOf(key string) string {
	_, address, found := strings.Cut(key, "://")
	if !found {
		address = key
	}
	host, _, _ := strings.Cut(address, "/")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		return "docker.io"
	}
	return host
}

// notFound is what every credential helper says when it knows nothing of a
// registry; the protocol has no other sign.
const notFound = "credentials not found"

// askHelper runs docker-credential-HELPER get. Its output is never shown: it
// may hold a secret even when it fails.
func askHelper(ctx context.Context, helper, server string) (registry.AuthConfig, error) {
	program := "docker-credential-" + helper
	if strings.ContainsRune(helper, os.PathSeparator) {
		return registry.AuthConfig{}, fmt.Errorf("credentials for %s: %q is not the name of a helper", server, helper)
	}
	command := exec.CommandContext(ctx, program, "get")
	command.Stdin = strings.NewReader(server)
	var answered shortAnswer
	command.Stdout = &answered
	err := command.Run()
	output := answered.text
	if answered.more {
		err = errConfiguration
	}
	if err != nil && bytes.Contains(output, []byte(notFound)) {
		return registry.AuthConfig{}, nil
	}
	if err != nil {
		return registry.AuthConfig{}, fmt.Errorf("credentials for %s: run %s: %w", server, program, err)
	}
	var answer struct{ Username, Secret string }
	if json.Unmarshal(output, &answer) != nil {
		return registry.AuthConfig{}, fmt.Errorf("credentials for %s: %s answered no JSON", server, program)
	}
	if answer.Username == "<token>" {
		return registry.AuthConfig{IdentityToken: answer.Secret}, nil
	}
	return registry.AuthConfig{Username: answer.Username, Password: answer.Secret}, nil
}
