// Package gitlab reads what GitLab tells a job, and writes a note on its merge
// request.
//
// It is the only room that knows GitLab. It decides nothing of what a note says;
// see package report for that. It never asks for a commit to be fetched; see
// package git. The token that it is given stands in no value and in no error that
// it returns.
package gitlab
