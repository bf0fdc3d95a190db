package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// PlaceCommits stores where the commits of a project stand in the first-parent
// history of its default branch: shas are all of that, the oldest first. A commit
// that is no longer among them has no place. Commits that were never measured are
// not stored. It changes what has changed, and nothing where the project is not
// known yet.
func (s *Store) PlaceCommits(ctx context.Context, project string, shas []string) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			WITH moved AS (
				SELECT c.id, v.position
				FROM stopwatt_store.projects p
				JOIN stopwatt_store.commits c ON c.project_id = p.id
				LEFT JOIN unnest($2::text[]) WITH ORDINALITY v (sha, position) ON v.sha = c.sha
				WHERE p.name = $1 AND c.position IS DISTINCT FROM v.position
				ORDER BY c.id
				FOR UPDATE OF c
			)
			UPDATE stopwatt_store.commits c SET position = m.position FROM moved m WHERE c.id = m.id`, project, shas)
		return err
	})
	if err != nil {
		return fmt.Errorf("place the commits of %s: %w", project, err)
	}
	return nil
}
