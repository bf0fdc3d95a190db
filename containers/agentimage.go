package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"gitlab.com/stopwatt/stopwatt"
)

// labelKey is on every image that stopwatt makes: what it was made from,
// hashed. It is not one of the labels of a run, for a container inherits the
// labels of its image, and whoever starts one by hand would see it removed as
// a leftover.
const labelKey = "stopwatt.key"

// ourImages is the repository prefix of every image that stopwatt makes.
const ourImages = "stopwatt/"

// keyPrefix is how much of a key an image's tag shows.
const keyPrefix = 12

// AgentImage makes an image that holds the agent and nothing else, as its
// entry point, and returns its ID. The image of an equal binary is used again.
// The agent runs as nobody in it.
func (d *Docker) AgentImage(ctx context.Context, binary []byte) (string, error) {
	key := AgentKey(binary)
	tag := ourImages + "agent:" + key[:keyPrefix]
	found, err := d.ours(ctx, tag, key)
	if err != nil || found.ID != "" {
		return found.ID, err
	}
	archive, err := agentArchive(binary)
	if err != nil {
		return "", err
	}
	stream, err := d.client.ImageImport(ctx, image.ImportSource{Source: archive, SourceName: "-"}, tag, image.ImportOptions{
		Changes: []string{`ENTRYPOINT ["` + stopwatt.AgentPath + `"]`, "USER 65534:65534", "LABEL " + labelKey + "=" + key},
	})
	if err != nil {
		return "", attempted("import the agent's image", err)
	}
	defer closing(stream)
	if err := readMessages(stream, func(message) {}); err != nil {
		return "", attempted("import the agent's image", err)
	}
	made, err := d.ours(ctx, tag, key)
	if err == nil && made.ID == "" {
		err = fmt.Errorf("import the agent's image: the engine does not hold %s afterwards", tag)
	}
	return made.ID, err
}

// AgentKey is the key of the image that is made of this agent.
func AgentKey(binary []byte) string {
	hash := sha256.Sum256(append([]byte(stopwatt.AgentPath+"\x00"), binary...))
	return hex.EncodeToString(hash[:])
}

// ours is the image of this tag and key, or an empty answer when there is none.
func (d *Docker) ours(ctx context.Context, tag, key string) (image.InspectResponse, error) {
	found, err := d.client.ImageInspect(ctx, tag)
	if errdefs.IsNotFound(err) {
		return image.InspectResponse{}, nil
	}
	if err != nil {
		return image.InspectResponse{}, attempted("inspect image "+tag, err)
	}
	if found.Config == nil || found.Config.Labels[labelKey] != key {
		return image.InspectResponse{}, nil
	}
	return found, nil
}

// agentArchive is the root file system of the agent's image.
func agentArchive(binary []byte) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	name := strings.TrimPrefix(stopwatt.AgentPath, "/")
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Dir(name) + "/", Mode: 0o755})
	if err == nil {
		err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(binary))})
	}
	if err == nil {
		_, err = w.Write(binary)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack the agent: %w", err)
	}
	return &archive, nil
}

// AgentVolume makes a container of the agent's image that is never started, and
// whose volume holds the agent: others see it by their order's VolumesFrom, also
// where their root cannot be written. Remove takes the volume away with it.
func (d *Docker) AgentVolume(ctx context.Context, image string, labels map[string]string) (id string, err error) {
	created, err := d.client.ContainerCreate(ctx, &container.Config{
		Image: image, Labels: labels, Healthcheck: unasked(),
		Volumes: map[string]struct{}{path.Dir(stopwatt.AgentPath): {}}, // which the engine fills from the image
	}, d.confinement(stopwatt.ContainerOrder{}), nil, "")
	if err != nil {
		return "", attempted("make the agent's volume", err)
	}
	return created.ID, nil
}
