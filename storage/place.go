package storage

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// PlaceCommits stores where the commits of a project stand in the first-parent
// history of its default branch, and who brought them there: landings are all of
// that, the oldest first. A commit that is no longer among them has no place. Commits that were never measured are
// not stored. It changes what has changed, and nothing where the project is not
// known yet.
func (s *Store) PlaceCommits(ctx context.Context, project string, landings []stopwatt.Landing) error {
	shas, mergers, requests := make([]string, len(landings)), make([]string, len(landings)), make([]int, len(landings))
	for i, l := range landings {
		shas[i], mergers[i] = l.Commit.SHA, plain(l.Merger)
		requests[i], _ = strconv.Atoi(strings.TrimPrefix(l.MergeRequest, "!")) // 0 where there is none
	}
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			WITH moved AS (
				SELECT c.id, v.position, v.merger, v.request
				FROM stopwatt_store.projects p
				JOIN stopwatt_store.commits c ON c.project_id = p.id
				LEFT JOIN unnest($2::text[], $3::text[], $4::int[]) WITH ORDINALITY v (sha, merger, request, position) ON v.sha = c.sha
				WHERE p.name = $1 AND (c.position, c.merger, c.merge_request) IS DISTINCT FROM (v.position, v.merger, v.request)
				ORDER BY c.id
				FOR UPDATE OF c
			)
			UPDATE stopwatt_store.commits c SET position = m.position, merger = m.merger, merge_request = m.request
			FROM moved m WHERE c.id = m.id`, project, shas, mergers, requests)
		return err
	})
	if err != nil {
		return fmt.Errorf("place the commits of %s: %w", project, err)
	}
	return nil
}
