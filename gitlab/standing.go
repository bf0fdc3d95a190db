package gitlab

import (
	"context"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Standing is the text of a suite's own note on a pipeline's merge request, without its
// marker; empty where there is none.
func (c *Client) Standing(ctx context.Context, p stopwatt.Pipeline, suite string) (string, error) {
	l, err := c.letter(p, stopwatt.Note{Suite: suite, Body: "none"})
	if err != nil {
		return "", err
	}
	e := c.errand()
	me, err := e.whoAmI(ctx)
	if err != nil {
		return "", fmt.Errorf("note of suite %s on merge request !%d: %w", printable(suite), l.request, err)
	}
	found, err := e.ours(ctx, l, me, nil)
	if err != nil || len(found) == 0 {
		return "", err
	}
	slices.SortFunc(found, func(a, b own) int { return a.ID - b.ID })
	return found[0].text, nil
}
