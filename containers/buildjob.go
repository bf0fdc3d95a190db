package containers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/registry"

	"gitlab.com/stopwatt/stopwatt"
)

// builderVersion is in every key: it changes when this room builds another
// image from the same order.
const builderVersion = "1"

// A buildJob is an order with all that had to be found out for it.
type buildJob struct {
	sending
	order stopwatt.BuildOrder
	args  map[string]string // the order's, and stand-ins
	bases []stopwatt.BaseImage
	auths map[string]registry.AuthConfig // of the registries of its bases
	key   string
	tag   string
}

// prepare reads the Dockerfile, gets the bases and computes the key.
func (d *Docker) prepare(ctx context.Context, order stopwatt.BuildOrder, progress func(stopwatt.BuildStep)) (buildJob, error) {
	job := buildJob{order: order}
	var err error
	if job.sending, err = newSending(order); err != nil {
		return job, err
	}
	recipe, err := parseDockerfile(job.dockerfile)
	if err != nil {
		return job, err
	}
	known := platformVariables(d.engine.OS, d.engine.Architecture)
	written, _, err := recipe.evaluate(known, order.Args, nil)
	if err != nil {
		return job, err
	}
	used, replaced, err := recipe.evaluate(known, order.Args, order.StandIns)
	if err != nil {
		return job, err
	}
	job.args = maps.Clone(replaced)
	maps.Copy(job.args, order.Args)
	bases, err := recipe.bases(order.Target, written, used)
	if err != nil {
		return job, err
	}
	if err := d.fetchBases(ctx, &job, bases, progress); err != nil {
		return job, err
	}
	job.key = keyOf(job, d.engine.OS+"/"+d.engine.Architecture)
	job.tag = ourImages + repository(order.Name) + ":" + job.key[:keyPrefix]
	return job, nil
}

// fetchBases pulls the bases that the engine lacks, for a builder without a
// session has no credentials, and notes their IDs.
func (d *Docker) fetchBases(ctx context.Context, job *buildJob, bases []base, progress func(stopwatt.BuildStep)) error {
	job.auths = map[string]registry.AuthConfig{}
	for _, b := range bases {
		held, _, err := d.obtain(ctx, b.used, b.platform, progress)
		if err != nil {
			return inDockerfile(b.line, fmt.Errorf("%w%s", err, standInHint(b, job.order.StandIns)))
		}
		job.bases = append(job.bases, stopwatt.BaseImage{Written: b.written, Used: b.used, ID: held.ID})
		d.addAuth(ctx, job.auths, b.used)
	}
	return nil
}

// addAuth notes the credentials of an image's registry, for the classic
// builder: it looks for a newer image by itself. The image is there already,
// so it does not matter when there are none.
func (d *Docker) addAuth(ctx context.Context, auths map[string]registry.AuthConfig, name string) {
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return
	}
	host := reference.Domain(named)
	known, err := d.credentials.of(ctx, host)
	if err == nil && known != (registry.AuthConfig{}) {
		auths[host] = known
	}
}

// standInHint tells how a stand-in could have been used that is there.
func standInHint(b base, standIns map[string]string) string {
	standIn, found := standIns[b.used]
	if !found {
		return ""
	}
	return fmt.Sprintf("; its stand-in %s is used where the Dockerfile begins ARG BASE=%s and says FROM $BASE", standIn, b.used)
}

// keyOf hashes all that an image is made from.
func keyOf(job buildJob, platform string) string {
	from := struct {
		Builder, Platform, Context, Dockerfile, Target string
		Args                                           map[string]string // encoded in the order of their names
		Bases                                          []string
	}{
		Builder: builderVersion, Platform: platform, Context: job.context.Hash, Dockerfile: string(job.dockerfile),
		Target: job.order.Target, Args: job.args,
	}
	for _, b := range job.bases {
		from.Bases = append(from.Bases, b.ID)
	}
	text, err := json.Marshal(from)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// notInRepositories is what the name of a repository cannot hold.
var notInRepositories = regexp.MustCompile(`[^a-z0-9]+`)

// repository turns the name of an implementation into one of a repository.
func repository(name string) string {
	name = strings.Trim(notInRepositories.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if name == "" {
		return "unnamed"
	}
	return cutBytes(name, 100) // of 255 that Docker allows
}
