package main

import (
	"context"
	"io"
	"net/http"

	"gitlab.com/stopwatt/stopwatt/meter"
)

// meterClient asks the meters of a machine file that are reached over HTTP. Each is
// asked again and again, over a connection that stays, and never through a proxy.
var meterClient = http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fetch asks a meter once.
func fetch(ctx context.Context, address string) (meter.Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return meter.Answer{}, err
	}
	answer, err := meterClient.Do(request)
	if err != nil {
		return meter.Answer{}, err
	}
	defer answer.Body.Close() // which was only read from
	body, err := io.ReadAll(io.LimitReader(answer.Body, meter.MostAnswer))
	return meter.Answer{Status: answer.StatusCode, Header: answer.Header.Get, Body: body}, err
}
