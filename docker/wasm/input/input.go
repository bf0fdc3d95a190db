// Package input holds what the programs work on. The files are made by command generate, always the same.
package input

import _ "embed"

//go:generate go run wasm/generate

// CPUs is a text like /proc/cpuinfo of a machine with twelve cores.
//
//go:embed cpus.txt
var CPUs []byte

// JSON is a document of more than 64 KiB, without blanks and its keys in order.
//
//go:embed big.json
var JSON []byte

// YAML is a list of manifests like those of a small cluster.
//
//go:embed manifests.yaml
var YAML []byte
