package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/containers"
)

// cleanVerb is `stopwatt clean`.
func (d *desk) cleanVerb() *cobra.Command {
	var images, all bool
	verb := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left in Docker",
		Long: `Removes the containers of runs whose stopwatt has died, found by label alone:
nothing else is touched. With --all also those of runs that may still live (on
another machine's stopwatt, or in another PID namespace); with --images the
images that stopwatt built and that no container uses. Cgroups of trials that
have ended are removed too, where this user may.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			docker, err := containers.Connect(ctx, d.dockerConfig())
			if err != nil {
				return surroundings(err)
			}
			defer docker.Close()
			removed, err := d.reap(ctx, docker, all)
			if err != nil {
				return fmt.Errorf("%d containers and networks are removed, and the rest is not: %w", removed, err)
			}
			var unused []containers.MadeImage
			if images {
				if unused, err = docker.Images(ctx); err != nil {
					return err
				}
			}
			if err := docker.RemoveImages(ctx, unused); err != nil {
				return err
			}
			fmt.Fprintf(d.stdout, "removed %d containers, %d images\n", removed, len(unused))
			return nil
		},
	}
	verb.Flags().BoolVar(&images, "images", false, "also the images that stopwatt built")
	verb.Flags().BoolVar(&all, "all", false, "also containers of runs that may still live")
	return verb
}
