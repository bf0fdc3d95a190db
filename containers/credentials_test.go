package containers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/registry"
	"github.com/google/go-cmp/cmp"
)

// secret is what must never be shown.
const secret = "hunter2"

// pair is user:hunter2 in base64.
const pair = "dXNlcjpodW50ZXIy"

// known reads the credentials of an environment and a config.json.
func known(t *testing.T, env map[string]string, config string) (credentials, error) {
	t.Helper()
	folder := t.TempDir()
	if config != "" {
		writeFile(t, filepath.Join(folder, "config.json"), config)
	}
	return readCredentials(Config{Getenv: func(name string) string {
		if name == "DOCKER_CONFIG" {
			return folder
		}
		return env[name]
	}})
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	job := map[string]string{"CI_REGISTRY": "registry.example.org:5050", "CI_REGISTRY_USER": "job", "CI_REGISTRY_PASSWORD": "token"}
	written := registry.AuthConfig{Username: "user", Password: secret}
	tests := []struct {
		name   string
		env    map[string]string
		config string
		host   string
		want   registry.AuthConfig
	}{
		{"nothing is known", nil, "", "docker.io", registry.AuthConfig{}},
		{"another registry is known", nil, `{"auths":{"a.example":{"auth":"` + pair + `"}}}`, "b.example", registry.AuthConfig{}},
		{"a pair in base64", nil, `{"auths":{"a.example":{"auth":"` + pair + `"}}}`, "a.example", written},
		{"a pair in words", nil, `{"auths":{"a.example":{"username":"user","password":"` + secret + `"}}}`, "a.example", written},
		{"a key that is a URL", nil, `{"auths":{"https://a.example:5000/v2/":{"auth":"` + pair + `"}}}`, "a.example:5000", written},
		{"docker.io by its old name", nil, `{"auths":{"https://index.docker.io/v1/":{"auth":"` + pair + `"}}}`, "docker.io", written},
		{"an identity token", nil, `{"auths":{"a.example":{"identitytoken":"t"}}}`, "a.example", registry.AuthConfig{IdentityToken: "t"}},
		{"an empty entry, as a helper leaves it", job, `{"auths":{"registry.example.org:5050":{}}}`, "registry.example.org:5050",
			registry.AuthConfig{Username: "job", Password: "token"}},
		{"GitLab's registry", job, "", "registry.example.org:5050", registry.AuthConfig{Username: "job", Password: "token"}},
		{"GitLab's variables are for its own registry", job, "", "a.example", registry.AuthConfig{}},
		{"GitLab's configuration comes first", map[string]string{"DOCKER_AUTH_CONFIG": `{"auths":{"a.example":{"auth":"` + pair + `"}}}`},
			`{"auths":{"a.example":{"username":"other"}}}`, "a.example", written},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := known(t, test.env, test.config)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.of(t.Context(), test.host)
			if err != nil {
				t.Fatal(err)
			}
			if test.want != (registry.AuthConfig{}) {
				test.want.ServerAddress = test.host
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCredentialsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    map[string]string
		config string
		want   string
	}{
		{"a file's name instead of its content", map[string]string{"DOCKER_AUTH_CONFIG": "/builds/" + secret}, "", "DOCKER_AUTH_CONFIG: no JSON at byte 1"},
		{"a torn file", nil, `{"auths":{"a":{"auth":"` + secret, "config.json: no JSON at byte"},
		{"another form", nil, `{"auths":["` + secret + `"]}`, "config.json: not of the form"},
		{"no base64", nil, `{"auths":{"a.example":{"auth":"` + secret + `!"}}}`, "credentials for a.example: auth is not user:password"},
		{"no pair", nil, `{"auths":{"a.example":{"auth":"aHVudGVyMg=="}}}`, "credentials for a.example: auth is not user:password"},
		{"a helper that is a path", nil, `{"credsStore":"../x"}`, "is not the name of a helper"},
		{"a helper that does not exist", nil, `{"credHelpers":{"a.example":"stopwatt-none"}}`, "run docker-credential-stopwatt-none"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := known(t, test.env, test.config)
			if err == nil {
				_, err = c.of(t.Context(), "a.example")
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v; want one that says %q", err, test.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error %q shows a secret", err)
			}
		})
	}
}

// TestCredentialHelpers changes PATH and cannot be parallel.
func TestCredentialHelpers(t *testing.T) {
	folder := t.TempDir()
	for name, script := range map[string]string{
		"good":   `read server; printf '{"ServerURL":"%s","Username":"for %s","Secret":"` + secret + `"}' "$server" "$server"`,
		"token":  `printf '{"Username":"<token>","Secret":"t"}'`,
		"empty":  `echo "credentials not found in native keychain"; exit 1`,
		"broken": `echo ` + secret + `; exit 3`,
		"silly":  `echo ` + secret,
		"talks":  `yes ` + secret,
	} {
		writeFile(t, filepath.Join(folder, "docker-credential-"+name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(folder, "docker-credential-"+name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	tests := []struct {
		name, config, host string
		want               registry.AuthConfig
		wantErr            string
	}{
		{"the helper of one registry", `{"credHelpers":{"a.example":"good"},"credsStore":"broken"}`, "a.example", registry.AuthConfig{Username: "for a.example", Password: secret}, ""},
		{"the helper of all", `{"credsStore":"good"}`, "a.example", registry.AuthConfig{Username: "for a.example", Password: secret}, ""},
		{"the helper of all knows docker.io by its old name", `{"credsStore":"good"}`, "docker.io", registry.AuthConfig{Username: "for " + dockerHub, Password: secret}, ""},
		{"a token", `{"credsStore":"token"}`, "a.example", registry.AuthConfig{IdentityToken: "t"}, ""},
		{"a helper that knows nothing", `{"credsStore":"empty"}`, "a.example", registry.AuthConfig{}, ""},
		{"a helper that fails", `{"credsStore":"broken"}`, "a.example", registry.AuthConfig{}, "run docker-credential-broken: exit status 3"},
		{"a helper that says something else", `{"credsStore":"silly"}`, "a.example", registry.AuthConfig{}, "docker-credential-silly answered no JSON"},
		{"a helper that never ends", `{"credsStore":"talks"}`, "a.example", registry.AuthConfig{}, "run docker-credential-talks: it has more than 1 MiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := known(t, nil, test.config)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.of(t.Context(), test.host)
			got.ServerAddress = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("error %v; want %q", err, test.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("error %q shows a secret", err)
			}
		})
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(`{"auths":{"a.example":{"auth":"` + pair + `"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var c credentials
		if c.add("config.json", []byte(text)) != nil {
			return
		}
		for i := range c.configs { // no programs are run here
			c.configs[i].CredsStore, c.configs[i].CredHelpers = "", nil
		}
		if _, err := c.of(t.Context(), "a.example"); err != nil && !strings.Contains(err.Error(), "a.example") {
			t.Errorf("error %q does not say for which registry", err)
		}
	})
}
