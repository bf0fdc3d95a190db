package stopwatt

import "slices"

// Driven are the metrics that a driver tells of any load; a tool that drives in
// its place tells some of them.
var Driven = slices.Concat(asked, ofDriver)

// paced are the metrics that only an open load has.
var paced = []Metric{
	{"service_mean", "s", Less, windowDriven, "Of an open load: mean time from a request's first byte written (with `connection: close`, from connect) to its answer's last byte read. What latency has beyond it was spent waiting to be sent."},
	{"service_p50", "s", Less, windowDriven, "Of an open load: median service time, from the HDR histogram."},
	{"service_p90", "s", Less, windowDriven, "Of an open load: 90th percentile of service time."},
	{"service_p99", "s", Less, windowDriven, "Of an open load: 99th percentile of service time."},
	{"service_p99.9", "s", Less, windowDriven, "Of an open load: 99.9th percentile of service time."},
	{"service_max", "s", Less, windowDriven, "Of an open load: the longest service time."},
	{"rate_ordered", "1/s", Neither, windowDriven, "Of an open load: requests that came due per second, in the mean."},
	{"requests_due", "1", Neither, windowDriven, "Of an open load: requests that came due."},
	{"requests_unsent", "1", Less, windowDriven, "Of an open load: requests that came due and could not even be begun until the timeout after the last was due."},
	{"rate_max", "1/s", More, windowStart, "The highest rate that kept the promises of `find`; the window is driven at it."},
	{"rate_max_above", "1/s", More, windowStart, "The lowest rate that broke a promise of `find`: the limit lies between `rate_max` and this."},
	{"rate_probes", "1", Neither, windowStart, "How many probes the search of `find` made."},
}

// ofDriver are the metrics of what the driver itself did.
var ofDriver = []Metric{
	{"connect_p50", "s", Less, windowDriven, "Median time to make a connection: from connect until it can be written, with TLS until the handshake is done."},
	{"connect_p99", "s", Less, windowDriven, "99th percentile of the time to make a connection."},
	{"connect_max", "s", Less, windowDriven, "The longest time to make a connection."},
	{"connections", "1", Neither, windowDriven, "Connections that were made."},
	{"redirects", "1", Less, windowDriven, "Redirects that were followed, where `redirects: follow` is given; the requests that they led to are no requests of their own."},
	{"driver_busy", "1", Less, windowDriven, "Share of its threads' time that the driver was busy, 0 to 1: CPU time of its process (getrusage) by the window's length and the number of threads. Above 0.85 the driver may have been the bottleneck."},
	{"driver_cpu_request", "s", Less, windowDriven, "CPU time of the driver's process (getrusage) per right answer."},
	{"driver_lag_p50", "s", Less, windowDriven, "Median lag of the driver itself: of an open load from when a request was due, and a connection free, to when it was begun; of a closed one how long what had happened waited until it was seen to."},
	{"driver_lag_p99", "s", Less, windowDriven, "99th percentile of the driver's lag."},
	{"driver_lag_max", "s", Less, windowDriven, "The longest lag of the driver."},
}
