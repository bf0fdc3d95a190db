package meter

import (
	"context"
	"io"
	"net/http"
)

// asking is a host that asks meters over HTTP, as cmd has it.
var asking = Host{Fetch: func(ctx context.Context, address string) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Answer{}, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, MostAnswer))
	return Answer{Status: answer.StatusCode, Header: answer.Header.Get, Body: body}, err
}}
