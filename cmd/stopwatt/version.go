package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/migrations"
)

// version is set by make from the tag; else the build's own record is used.
var version string

// toolVersion names this stopwatt.
func toolVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// versionVerb is `stopwatt version`.
func (d *desk) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Versions of tool, schema and Docker",
		Args:  atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(d.stdout, "stopwatt %s\nschema   %d\n", toolVersion(), migrations.Latest())
			docker, err := containers.Connect(cmd.Context(), d.dockerConfig())
			if err != nil {
				fmt.Fprintf(d.stdout, "docker   –  %v\n", err)
				return nil
			}
			defer docker.Close()
			engine := docker.Engine()
			fmt.Fprintf(d.stdout, "docker   %s, API %s, %s/%s, %s, cgroup v%s (%s)\n", engine.Version, engine.API,
				engine.OS, engine.Architecture, engine.StorageDriver, engine.CgroupVersion, engine.CgroupDriver)
			return nil
		},
	}
}
