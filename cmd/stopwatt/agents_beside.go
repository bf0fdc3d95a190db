//go:build !agents

package main

import "embed"

// embeddedAgents is empty in a plain build: the driver is looked for beside
// the program.
var embeddedAgents embed.FS
