// Package stopwatt holds the words that every room of this house speaks: Suite,
// Case, Plan, Trial, Metric, Run and their kin, one meaning each, as in the
// glossary of ARCHITECTURE.md.
//
// Words are plain values. They cross the floors of the house; interfaces do
// not. This package imports the standard library only, opens nothing, starts
// nothing, and does no statistics: see package regression for that.
package stopwatt
