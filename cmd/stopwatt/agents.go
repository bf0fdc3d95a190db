//go:build agents

package main

import "embed"

// embeddedAgents holds the driver's program for every architecture, as make
// built it.
//
//go:embed agents/stopwatt-agent-linux-*
var embeddedAgents embed.FS
