package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// planKey hashes all that decides what a run measures. An unfinished run of
// the same key can be continued: its finished trials are trials of this plan.
func planKey(order Order) (string, error) {
	decides := struct {
		Project, Commit, Tool string
		Dirty                 bool
		Machine               stopwatt.Machine
		Settings              stopwatt.Suite
		Cases                 []stopwatt.Case
		Images                map[string]string
		Against               string                             `json:",omitempty"`
		BaseImages            map[string]string                  `json:",omitempty"`
		Pairs                 []stopwatt.Case                    `json:",omitempty"`
		Base                  map[string]stopwatt.Implementation `json:",omitempty"`
		BaseWorkloads         map[string]stopwatt.Workload       `json:",omitempty"`
		Rounds                int
		Seed                  *uint64 `json:",omitempty"`
	}{
		Project:  order.Run.Project,
		Commit:   order.Run.Checkout.Commit.SHA,
		Tool:     order.Run.Tool,
		Dirty:    order.Run.Checkout.Dirty,
		Machine:  order.Run.Machine,
		Settings: order.Run.Settings,
		Cases:    order.Cases,
		Images:   identities(order.Run.Images),
		Against:  order.Run.Against.Commit.SHA,
		Rounds:   order.Run.Rounds,
	}
	if order.SeedGiven {
		decides.Seed = &order.Run.Seed
	}
	if order.Comparing != nil {
		decides.BaseImages, decides.Pairs, decides.Base = identities(order.Run.BaseImages), order.Comparing.Pairs, order.Comparing.Base
		decides.BaseWorkloads = order.Comparing.BaseWorkloads
	}
	text, err := json.Marshal(decides)
	if err != nil {
		return "", fmt.Errorf("hash the plan: %w", err)
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:]), nil
}

// identities are the images' IDs, by implementation.
func identities(images map[string]stopwatt.Image) map[string]string {
	ids := map[string]string{}
	for name, image := range images {
		ids[name] = image.ID
	}
	return ids
}
