package web

import (
	"fmt"
	"net/url"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// address joins a path and what is asked of it; empty values are left out.
func address(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Add(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func suitePath(suite stopwatt.SuiteName) string { return "/s/" + url.PathEscape(suite.Suite) }

// suiteAddress is where a suite's grid is.
func suiteAddress(suite stopwatt.SuiteName, pairs ...string) string {
	return address(suitePath(suite), append([]string{"project", suite.Project}, pairs...)...)
}

// seriesAddress is where the series of some cases are.
func seriesAddress(suite stopwatt.SuiteName, pairs ...string) string {
	return address(suitePath(suite)+"/series", append([]string{"project", suite.Project}, pairs...)...)
}

// compareAddress is where two sides are compared.
func compareAddress(suite stopwatt.SuiteName, pairs ...string) string {
	return address(suitePath(suite)+"/compare", append([]string{"project", suite.Project}, pairs...)...)
}

func runAddress(run int64) string { return fmt.Sprintf("/runs/%d", run) }

func trialAddress(run int64, position int) string {
	return fmt.Sprintf("/runs/%d/trials/%d", run, position)
}

func machineAddress(fingerprint string) string { return "/machines/" + url.PathEscape(fingerprint) }

// commitAddress is where GitLab shows a commit; empty where no project is known.
func commitAddress(project, sha string) string {
	if !isWebAddress(project) || sha == "" {
		return ""
	}
	return strings.TrimSuffix(project, "/") + "/-/commit/" + url.PathEscape(sha)
}

// mergeRequestAddress is where GitLab shows a merge request.
func mergeRequestAddress(project string, iid int) string {
	if !isWebAddress(project) || iid == 0 {
		return ""
	}
	return fmt.Sprintf("%s/-/merge_requests/%d", strings.TrimSuffix(project, "/"), iid)
}

// isWebAddress lets no other scheme become a link.
func isWebAddress(text string) bool {
	at, err := url.Parse(text)
	return err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != ""
}
