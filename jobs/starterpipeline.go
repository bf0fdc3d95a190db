package jobs

import "strings"

// StarterPipeline writes a first stopwatt.ci.yml, which a GitLab pipeline includes.
// The suite is named as seen from the top of the checkout, where jobs run.
func StarterPipeline(suite string) []byte {
	return []byte(strings.Replace(starterPipeline, "SUITE", inYAML(suite), 1))
}

const starterPipeline = `# stopwatt.ci.yml: measures the suite in merge requests and on the default branch.
# How the machine and its runner are set up, and every input: docs/gitlab.md of stopwatt.
include:
  - component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1   # where stopwatt lies on your GitLab, and its version
    inputs:
      suite: SUITE
      tags: [bench]   # those of the runner on the quiet machine
# Settings, CI/CD, Variables: STOPWATT_GITLAB_TOKEN and STOPWATT_DATABASE, masked and not protected.
# Without the token all is measured, and the note lies in the job's artifacts. Without the database no history is kept.
`
