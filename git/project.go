package git

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// Project names what is measured, alike on every machine: the path of the
// origin ("team/servers"), never its host or credentials. Without an origin it
// is the name of the checkout's folder.
func (r *Repo) Project(ctx context.Context) string {
	if origin, err := r.line(ctx, r.top, "config", "--get", "remote.origin.url"); err == nil {
		if name := originPath(origin); name != "" {
			return name
		}
	}
	return r.folderName(ctx)
}

// folderName is the name of the checkout's folder, of a linked work tree that
// of the checkout that it belongs to.
func (r *Repo) folderName(ctx context.Context) string {
	common, err := r.line(ctx, r.top, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err == nil && filepath.Base(common) == ".git" {
		return filepath.Base(filepath.Dir(common))
	}
	return filepath.Base(r.top)
}

// originPath takes the path out of the address of a remote, in any of git's
// ways to write one. Of a local path only the last name is taken: the rest says
// something about the machine, not the project.
func originPath(origin string) string {
	origin = strings.ToValidUTF8(strings.TrimSpace(origin), "\uFFFD")
	if scheme, _, ok := strings.Cut(origin, "://"); ok && !strings.Contains(scheme, "/") {
		address, err := url.Parse(origin)
		if err != nil {
			return ""
		}
		if scheme == "file" {
			return lastName(address.Path)
		}
		return project(address.Path)
	}
	host, rest, ok := strings.Cut(origin, ":")
	if !ok || strings.Contains(host, "/") {
		return lastName(origin)
	}
	if strings.Contains(host, "[") { // user@[::1]:team/servers.git
		_, rest, _ = strings.Cut(origin, "]:")
	}
	return project(rest) // user@host:team/servers.git
}

// project trims what an address puts round the project's path.
func project(address string) string {
	return strings.Trim(strings.TrimSuffix(strings.TrimRight(address, "/"), ".git"), "/")
}

// lastName is the last name of a local path, empty for the root and for dots.
func lastName(local string) string {
	name := path.Base(project(local))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return name
}

// Person is the name that git writes into commits made here; empty where it knows
// none.
func (r *Repo) Person(ctx context.Context) string {
	name, err := r.line(ctx, r.top, "config", "--get", "user.name")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ToValidUTF8(name, "\uFFFD"))
}
