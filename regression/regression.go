// Package regression says what the trials of a run amount to: summaries of a
// case's metrics, and implementations beside their baseline.
//
// It is the only room with statistics. It reads nothing, stores nothing,
// rounds nothing and draws nothing: see package report for that.
package regression
