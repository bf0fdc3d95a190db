package harness

import (
	"math"
	"regexp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// siege prints a summary for people, and with --json-output the same without
// units. Times come in steps of 10 ms, in newer versions in milliseconds; its MB
// has 1024 × 1024 bytes, of bodies alone. Transactions are all answers below the
// status 400.

// siegeFields are the lines of the summary, by their names in the JSON.
var siegeFields = []struct{ json, line, unit string }{
	{"elapsed_time", "Elapsed time", "s"},
	{"transactions", "Transactions", "hits"},
	{"failed_transactions", "Failed transactions", "1"},
	{"transaction_rate", "Transaction rate", "trans/s"},
	{"response_time", "Response time", "s"},
	{"longest_transaction", "Longest transaction", "s"},
	{"shortest_transaction", "Shortest transaction", "s"},
	{"data_transferred", "Data transferred", "MB"},
	{"throughput", "Throughput", "MB/s"},
	{"concurrency", "Concurrency", "1"},
}

func readSiege(s *source) []stopwatt.Benchmark {
	var fields map[string]siegeField
	before, _, found := strings.Cut(s.text, `"transactions"`)
	if start := strings.LastIndex(before, "{"); found && start >= 0 {
		fields = s.siegeJSON(start)
	} else {
		fields = s.siegeSummary()
	}
	if len(s.faults) > 0 {
		return nil
	}
	b := stopwatt.Benchmark{Name: s.options.Name}
	siegeFigures(figures{"siege", &b}, fields)
	return []stopwatt.Benchmark{b}
}

// A siegeField is a number of the summary with its unit.
type siegeField struct {
	reading
	unit unit
}

// siegeLine is a line of the summary.
var siegeLine = regexp.MustCompile(`^\s*([A-Z][A-Za-z ]+):\s*([-+0-9.a-zA-Z]+)\s*(\S*)\s*$`)

// siegeSummary reads the lines for people.
func (s *source) siegeSummary() map[string]siegeField {
	fields := map[string]siegeField{}
	number := 0
	for line := range strings.Lines(s.text) {
		number++
		match := siegeLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match == nil {
			continue
		}
		for _, field := range siegeFields {
			if field.line != match[1] {
				continue
			}
			r, ok := parseNumber(match[2])
			if !ok {
				s.faultInLine(number, "%s is no number", quote(match[2]))
			}
			if _, twice := fields[field.json]; twice {
				s.faultInLine(number, "a second summary begins here; want one")
			}
			written := match[3]
			if written == "" {
				written = field.unit
			}
			fields[field.json] = siegeField{r, siegeUnit(written)}
		}
	}
	s.siegeComplete(fields)
	return fields
}

// siegeUnit is a unit as siege writes it.
func siegeUnit(written string) unit {
	if strings.Contains(written, "B") {
		return binaryUnit(written)
	}
	return readUnit(written)
}

// siegeJSON reads the JSON, which begins behind what siege prints beforehand.
func (s *source) siegeJSON(start int) map[string]siegeField {
	behind := &source{text: s.text, options: s.options}
	behind.text = strings.Repeat(" ", start) + s.text[start:] // so that places stay
	d := behind.document()
	fields := map[string]siegeField{}
	for _, field := range siegeFields {
		if r, found := d.mayNumber(d.root, field.json); found {
			fields[field.json] = siegeField{r, siegeUnit(field.unit)}
		}
	}
	s.faults = append(s.faults, behind.faults...)
	s.siegeComplete(fields)
	siegeMilliseconds(fields)
	return fields
}

// siegeComplete finds a summary that was cut off.
func (s *source) siegeComplete(fields map[string]siegeField) {
	for _, field := range siegeFields {
		if _, found := fields[field.json]; !found && len(s.faults) == 0 {
			s.faultAt(-1, "has no %q; is siege's summary cut off?", field.line)
		}
	}
}

// siegeMilliseconds tells whether the JSON, which names no units, has latencies
// in milliseconds. Concurrency is the time of all transactions by the time that
// passed, which gives it away.
func siegeMilliseconds(fields map[string]siegeField) {
	elapsed, each, all := fields["elapsed_time"].value, fields["response_time"].value, fields["transactions"].value
	concurrency := fields["concurrency"].value
	if elapsed <= 0 || each <= 0 || concurrency <= 0 {
		return
	}
	ratio := all * each / elapsed / concurrency
	if math.Abs(math.Log10(ratio)-3) > 1 {
		return
	}
	for _, name := range []string{"response_time", "longest_transaction", "shortest_transaction"} {
		fields[name] = siegeField{fields[name].reading, milliseconds}
	}
}

// siegeFigures turns the summary into figures.
func siegeFigures(f figures, fields map[string]siegeField) {
	add := func(metric stopwatt.Metric, name string) { f.add(metric, fields[name].unit, fields[name].reading) }
	add(ours("time"), "elapsed_time")
	add(ours("requests"), "transactions")
	add(ours("errors"), "failed_transactions")
	add(ours("throughput"), "transaction_rate")
	add(ours("latency_mean"), "response_time")
	add(ours("latency_max"), "longest_transaction")
	add(timing("siege", "latency_min"), "shortest_transaction")
	add(body("siege", "data_transferred"), "data_transferred")
	add(named("siege", "bytes_per_second", readUnit("B/s")), "throughput")
	add(named("siege", "concurrency", count), "concurrency")
	f.note("siege rounds: elapsed time comes in steps of 10 ms, latencies in steps of 10 ms or, where they are printed in ms, of the clock's ticks")
}

func claimsSiege(l look) bool {
	return strings.Contains(l.text, "Transaction rate:") || strings.Contains(l.text, `"transaction_rate"`)
}
