package meter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// lab answers as a Software Energy Lab's board does.
const lab = `{"electricity_consumed_current":0.250000,"measurements":81234,"steady_time":12,"electricity_consumed_total":123456789.654321,"power_draw":4.187500}`

func TestAnHTTPMeterReadsOneNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answer  func(w http.ResponseWriter)
		setting stopwatt.HTTPMeter
		want    int64
		says    string // a part of the reason; empty: there is a number
	}{
		{"a total in JSON, digit by digit", body(lab), stopwatt.HTTPMeter{Field: "electricity_consumed_total", Unit: stopwatt.Joules}, 123456789654321, ""},
		{"a total in a header", func(w http.ResponseWriter) { w.Header().Set("X-Electricity-Consumed-Total", "16777217.000001") },
			stopwatt.HTTPMeter{Header: "x-electricity-consumed-total", Unit: stopwatt.Joules}, 16777217000001, ""},
		{"a plug's kilowatt-hours, deep in its answer", body(`{"emeters":[{"total":1.5},{"total":"2.5"}]}`), stopwatt.HTTPMeter{Field: "emeters.1.total", Unit: stopwatt.KilowattHours}, 9_000_000_000_000, ""},
		{"a plug's watts", body(lab), stopwatt.HTTPMeter{Field: "power_draw", Unit: stopwatt.Watts}, 4187500, ""},
		{"another field than asked for", body(lab), stopwatt.HTTPMeter{Field: "total", Unit: stopwatt.Joules}, 0, "field total of its answer: there is no total"},
		{"no such element", body(`{"a":[1]}`), stopwatt.HTTPMeter{Field: "a.1", Unit: stopwatt.Joules}, 0, "there is no element 1"},
		{"a field of something else", body(`{"a":{"b":1}}`), stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "field a of its answer is no number"},
		{"a null", body(`{"a":null}`), stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "is no number"},
		{"a page", body(`<html>`), stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "it is no JSON with fields"},
		{"no header", body(lab), stopwatt.HTTPMeter{Header: "X-Total", Unit: stopwatt.Joules}, 0, "its answer has no header X-Total"},
		{"a negative total", body(`{"a":-1}`), stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "negative"},
		{"an error page", func(w http.ResponseWriter) { w.WriteHeader(500); fmt.Fprint(w, `{"a":1}`) }, stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "it answered 500"},
		{"a redirect, which is not followed", func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(302) }, stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "it answered 302"},
		{"an answer without end", func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat(" ", mostAnswer+1)) }, stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "its answer has more than 65536 bytes"},
		{"an answer that is cut off", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); fmt.Fprint(w, `{"a":1`) }, stopwatt.HTTPMeter{Field: "a", Unit: stopwatt.Joules}, 0, "unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { test.answer(w) }))
			defer server.Close()
			test.setting.URL = server.URL
			got, err := readHTTP(t, test.setting)
			if test.says == "" && (err != nil || got != test.want) {
				t.Errorf("it reads %d, %v; want %d", got, err, test.want)
			}
			if test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("it reads %d, %v; want %q", got, err, test.says)
			}
		})
	}
}

// body answers with a text.
func body(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprint(w, text) }
}

// readHTTP opens a meter, reads it once and closes it.
func readHTTP(t *testing.T, setting stopwatt.HTTPMeter) (int64, error) {
	t.Helper()
	opened, err := asking.openHTTP(setting)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.close()
	var got [1]int64
	err = opened.read(got[:])
	return got[0], err
}

func TestAnHTTPMeterThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hold)
	_, err := readHTTP(t, stopwatt.HTTPMeter{URL: strings.Replace(server.URL, "//", "//user:secret@", 1), Field: "a", Unit: stopwatt.Joules})
	if err == nil || err.Error() != "it did not answer within 1s" {
		t.Errorf("%v", err)
	}
	server.Close()
	_, err = readHTTP(t, stopwatt.HTTPMeter{URL: strings.Replace(server.URL, "//", "//user:secret@", 1), Field: "a", Unit: stopwatt.Joules})
	if err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoHTTPMeter(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"meter.example.org/energy": "is no address of a meter",
		"ftp://meter.example.org/": "is no address of a meter",
		"http:///energy":           "is no address of a meter",
		"":                         "is no address of a meter",
	} {
		_, err := asking.openHTTP(stopwatt.HTTPMeter{URL: url, Field: "a", Unit: stopwatt.Joules})
		refuses(t, err, says, "", false)
	}
	_, err := asking.openHTTP(stopwatt.HTTPMeter{URL: "http://a/", Field: "a", Unit: "VA"})
	refuses(t, err, "no unit", "", false)
	_, err = Host{}.openHTTP(stopwatt.HTTPMeter{URL: "http://a/", Field: "a", Unit: stopwatt.Joules})
	refuses(t, err, "nobody asks over HTTP here", "", false)
}

func TestWhatCheckForeseesOfAnHTTPMeterAsksNobody(t *testing.T) {
	t.Parallel()
	file := stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{
		{Name: "lab", HTTP: &stopwatt.HTTPMeter{URL: "http://127.0.0.1:9/", Field: "total", Unit: stopwatt.Joules, Renewal: 125 * time.Millisecond}},
	}}
	want := []stopwatt.Meter{{Name: "lab", Source: "http 127.0.0.1:9", Renewal: 125 * time.Millisecond}}
	if diff := cmp.Diff(want, Foresee(Host{}, file, time.Second)); diff != "" {
		t.Errorf("foreseen (-want +got):\n%s", diff)
	}
}

func FuzzJSONNumber(f *testing.F) {
	f.Add(lab, "electricity_consumed_total")
	f.Add(`{"a":[{"b":"1e3"}]}`, "a.0.b")
	f.Fuzz(func(t *testing.T, text, field string) {
		number, err := jsonNumber([]byte(text), field)
		if err == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q is no JSON and has the number %q", text, number)
		}
	})
}
