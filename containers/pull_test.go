package containers

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"

	"gitlab.com/stopwatt/stopwatt"
)

// A fakeRegistry serves one image under every name but "missing", to those who
// know the password. It answers from the requests, as a registry does.
type fakeRegistry struct {
	host  string
	blobs map[string][]byte // by digest, and the manifest
	tag   string            // digest of the manifest
}

// newRegistry serves an image with this file in it.
func newRegistry(t *testing.T, architecture, content string) *fakeRegistry {
	t.Helper()
	r := &fakeRegistry{blobs: map[string][]byte{}}
	layer := tarOf(map[string]string{"file.txt": content})
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(layer)
	w.Close()
	config := r.add(map[string]any{
		"architecture": architecture, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digestOf(layer)}},
	})
	layerDigest := digestOf(packed.Bytes())
	r.blobs[layerDigest] = packed.Bytes()
	const docker = "application/vnd.docker."
	r.tag = r.add(map[string]any{
		"schemaVersion": 2, "mediaType": docker + "distribution.manifest.v2+json",
		"config": map[string]any{"mediaType": docker + "container.image.v1+json", "size": len(r.blobs[config]), "digest": config},
		"layers": []any{map[string]any{"mediaType": docker + "image.rootfs.diff.tar.gzip", "size": packed.Len(), "digest": layerDigest}},
	})
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.host = strings.TrimPrefix(server.URL, "http://")
	return r
}

// add keeps a JSON blob and returns its digest.
func (r *fakeRegistry) add(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	r.blobs[digestOf(text)] = text
	return digestOf(text)
}

func digestOf(content []byte) string {
	hash := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(hash[:])
}

func (r *fakeRegistry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if user, password, _ := request.BasicAuth(); user != "user" || password != secret {
		w.Header().Set("WWW-Authenticate", `Basic realm="stopwatt"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
		return
	}
	digest := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	if strings.Contains(request.URL.Path, "/manifests/") {
		w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		if digest == "1" {
			digest = r.tag
		}
		w.Header().Set("Docker-Content-Digest", digest)
	}
	blob, found := r.blobs[digest]
	switch {
	case request.URL.Path == "/v2/":
	case !found || strings.Contains(request.URL.Path, "missing"):
		w.Header().Set("Content-Type", "application/json")
		http.Error(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`, http.StatusNotFound)
	default:
		w.Write(blob)
	}
}

// knowing is the real engine with credentials for a registry.
func knowing(t *testing.T, host string) *Docker {
	t.Helper()
	d := *docker(t)
	if d.engine.Remote {
		t.Skip("the engine is on another machine and cannot reach a registry of this test")
	}
	d.credentials = credentials{configs: []dockerConfig{{Auths: map[string]dockerAuth{host: {Auth: pair}}}}}
	return &d
}

// removesImage removes what a test has pulled.
func removesImage(t *testing.T, d *Docker, name string) {
	t.Cleanup(func() {
		_, err := d.client.ImageRemove(context.Background(), name, image.RemoveOptions{})
		if err != nil && !errdefs.IsNotFound(err) {
			t.Error(err)
		}
	})
}

func TestPullWithCredentialsOnce(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t, docker(t).Engine().Architecture, thisTest)
	d, name := knowing(t, registry.host), registry.host+"/team/server:1"
	removesImage(t, d, name)
	var steps []stopwatt.BuildStep
	pulled, err := d.Pull(t.Context(), name, func(s stopwatt.BuildStep) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	if pulled.Reused || pulled.Bytes == 0 || len(pulled.Digests) != 1 || !strings.HasSuffix(pulled.Digests[0], registry.tag) {
		t.Errorf("pulled %+v; want the digest %s", pulled, registry.tag)
	}
	want := stopwatt.BuildStep{Done: 1, Total: 1, Text: "pull " + name}
	if len(steps) == 0 || steps[len(steps)-1] != want {
		t.Errorf("steps %+v; want the last to be %+v", steps, want)
	}
	again, err := d.Pull(t.Context(), name, nil)
	if err != nil || !again.Reused || again.ID != pulled.ID {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

func TestBaseIsPulledWithCredentials(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t, docker(t).Engine().Architecture, thisTest+" base")
	d, name := knowing(t, registry.host), registry.host+"/team/base:1"
	removesImage(t, d, name)
	made := built(t, d, order(t, map[string]string{"Dockerfile": "FROM " + name + "\n"}))
	if len(made.Bases) != 1 || made.Bases[0].Written != name || made.Bases[0].ID == "" {
		t.Errorf("bases %+v", made.Bases)
	}
}

func TestImagesThatCannotBePulled(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t, docker(t).Engine().Architecture, thisTest+" none")
	d := knowing(t, registry.host)
	stranger := knowing(t, "elsewhere.example")
	tests := []struct {
		name, image, want string
		docker            *Docker
	}{
		{"one that is not in its registry", registry.host + "/missing:1", "correct its name or tag", d},
		{"a tag that is not there", registry.host + "/team/server:2", "correct its name or tag", d},
		{"one for which there are no credentials", registry.host + "/team/server:1", "docker login " + registry.host, stranger},
		{"a registry that does not answer", "127.0.0.1:1/x:1", "check its network", d},
		{"no name of an image", "Not An Image", "write it as name:tag", d},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := test.docker.Pull(t.Context(), test.image, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.image) {
				t.Fatalf("error %v; want one that names the image and says %q", err, test.want)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), pair) {
				t.Errorf("error %q shows a secret", err)
			}
		})
	}
}

func TestPullRemedy(t *testing.T) {
	t.Parallel()
	named, err := reference.ParseDockerRef("debian")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, said, platform, want string
	}{
		{"another platform", "no matching manifest for linux/arm/v7 in the manifest list entries", "linux/arm", "not published for this engine's platform (linux/arm was asked for)"},
		{"no access", "pull access denied for debian, repository does not exist or may require 'docker login'", "", "docker login docker.io"},
		{"no such tag", "manifest for debian:none not found: manifest unknown", "", "correct its name or tag"},
		{"a full disk", "write /var/lib/docker/x: no space left on device", "", "disk is full"},
		{"no network", "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host", "", "cannot get it from docker.io"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := pullRemedy(errors.New(test.said), named, test.platform); !strings.Contains(got, test.want) {
				t.Errorf("remedy %q; want %q", got, test.want)
			}
		})
	}
}
