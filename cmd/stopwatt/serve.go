package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/web"
)

// defaultListen is this machine alone.
const defaultListen = "127.0.0.1:8370"

// A serveView says how history is served.
type serveView struct {
	listen, trustHeader string
	trustFrom           []string
}

// serveVerb is `stopwatt serve`.
func (d *desk) serveVerb() *cobra.Command {
	var v serveView
	verb := &cobra.Command{
		Use:   "serve",
		Short: "The history as pages and JSON, over HTTP",
		Long: `Serves the history: what is worse now than it was, each suite's grid, series with
their changes, comparisons, runs, trials and machines, as pages that need no other
host, and as JSON below /api/v1. It reads and changes nothing, but for alerts that
somebody acknowledges.

It listens to this machine alone unless told otherwise. With STOPWATT_WEB_TOKEN in
the environment, who asks must send it: as a bearer, or as the password of any user.
See docs/web.md for a proxy in front of it.`,
		Example: `  stopwatt serve
  STOPWATT_WEB_TOKEN=... stopwatt serve --listen :8370
  stopwatt serve --trust-header X-Forwarded-User`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.serve(cmd.Context(), v) },
	}
	verb.Flags().StringVar(&v.listen, "listen", defaultListen, "`ADDRESS` to listen on")
	verb.Flags().StringVar(&v.trustHeader, "trust-header", "", "`HEADER` in which a proxy names the user, who is then let in")
	verb.Flags().StringSliceVar(&v.trustFrom, "trust-from", nil, "where the proxy is, an `ADDRESS` or a network (default: this machine)")
	return verb
}

// serve serves until it is told to end.
func (d *desk) serve(ctx context.Context, v serveView) error {
	server := &web.Server{Token: d.getenv("STOPWATT_WEB_TOKEN"), TrustHeader: v.trustHeader, Version: toolVersion(), Log: log.New(d.stderr, "", log.LstdFlags)}
	for _, text := range v.trustFrom {
		prefix, err := prefixOf(text)
		if err != nil {
			return askedWrongly(fmt.Errorf("--trust-from %s is no address: write 10.0.0.5 or 10.0.0.0/24", quote(text)))
		}
		server.TrustFrom = append(server.TrustFrom, prefix)
	}
	if len(v.trustFrom) > 0 && v.trustHeader == "" {
		return askedWrongly(errors.New("--trust-from needs --trust-header: the header in which the proxy names the user"))
	}
	archive, release, err := d.openArchive(ctx)
	if err != nil {
		return err
	}
	defer release()
	server.Archive, server.Alarms = archive, alarms{archive, d}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", v.listen)
	if err != nil {
		return surroundings(fmt.Errorf("listen: %w", err))
	}
	fmt.Fprintf(d.stdout, "http://%s\n", listener.Addr())
	if server.Token == "" && v.trustHeader == "" && !onlyHere(listener.Addr()) {
		fmt.Fprintln(d.stderr, "everybody who reaches this address can read: set STOPWATT_WEB_TOKEN, or put a proxy in front (docs/web.md)")
	}
	if err := web.Serve(ctx, listener, server); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return surroundings(fmt.Errorf("serve: %w", err))
	}
	return nil
}

// alarms are the alerts of a database. Only what somebody says to one is written, by
// a connection of its own that may write.
type alarms struct {
	archive *storage.Archive
	desk    *desk
}

// Alerts are all alerts.
func (a alarms) Alerts(ctx context.Context) ([]stopwatt.Alert, error) {
	return a.archive.Alerts(ctx, storage.AlertQuery{})
}

// Acknowledge stores what somebody said.
func (a alarms) Acknowledge(ctx context.Context, id string, by stopwatt.Acceptance) error {
	store, release, err := a.desk.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = store.Acknowledge(ctx, id, by)
	return err
}

// prefixOf reads an address or a network.
func prefixOf(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// onlyHere tells whether an address can be reached from this machine alone.
func onlyHere(at net.Addr) bool {
	tcp, is := at.(*net.TCPAddr)
	return is && tcp.IP.IsLoopback()
}

// openArchive opens the database for reading alone. A private one, and one whose
// schema lacks something, is opened for writing first, which brings the schema up to
// date where this user may.
func (d *desk) openArchive(ctx context.Context) (*storage.Archive, func(), error) {
	dsn, release, err := d.dsn(ctx)
	if err != nil {
		return nil, nil, err
	}
	archive, err := storage.OpenReader(ctx, dsn)
	if errors.Is(err, storage.ErrOlderSchema) {
		var store *storage.Store
		if store, err = storage.Open(ctx, dsn); err == nil {
			store.Close()
			archive, err = storage.OpenReader(ctx, dsn)
		}
	}
	if err != nil {
		release()
		return nil, nil, databaseError(err)
	}
	return archive, func() { archive.Close(); release() }, nil
}
