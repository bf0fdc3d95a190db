// Package regression says what the trials of a run amount to: summaries of a
// case's metrics, implementations beside their baseline, energy meters beside
// each other, head against base with its verdicts, and where the history of a
// branch changed.
//
// It is the only room with statistics. It reads nothing, stores nothing,
// rounds nothing and draws nothing: see package report for that.
package regression
