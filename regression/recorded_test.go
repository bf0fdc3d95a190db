package regression

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// A recording is a real machine measured against itself: testdata/aa.csv, whose head
// says where it comes from.
type recording struct {
	trials []stopwatt.PairedTrials // Pairs[i] is round i+1
	rounds int
}

// readRecording reads testdata/aa.csv. An empty field is a trial without a number.
func readRecording(t *testing.T) recording {
	t.Helper()
	file, err := os.Open("testdata/aa.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	place := map[stopwatt.Case]int{}
	for _, row := range rows[1:] {
		of := stopwatt.Case{Implementation: row[1], Workload: row[2]}
		if _, known := place[of]; !known {
			place[of] = len(r.trials)
			r.trials = append(r.trials, unmeasured(of)...)
		}
		for i := range recordedMetrics {
			trials := &r.trials[place[of]+i]
			trials.Pairs = append(trials.Pairs, stopwatt.Pair{
				Round: number(t, row[0]), HeadFirst: row[3] == "yes", Base: float(t, row[4+2*i]), Head: float(t, row[5+2*i]),
			})
		}
	}
	r.rounds = len(r.trials[0].Pairs)
	return r
}

// recordedMetrics are judged, in the order of the file's columns: what a suite is
// judged by that says nothing, and the median latency.
var recordedMetrics = []string{"time", "latency_p50", "cpu_server"}

// unmeasured are the comparisons of a case that are to come.
func unmeasured(of stopwatt.Case) []stopwatt.PairedTrials {
	var all []stopwatt.PairedTrials
	for _, name := range recordedMetrics {
		metric, _ := stopwatt.MetricNamed(name)
		all = append(all, stopwatt.PairedTrials{Case: of, Metric: metric, Threshold: stopwatt.DefaultThreshold})
	}
	return all
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func float(t *testing.T, text string) float64 {
	t.Helper()
	if text == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// judged measures by the recording, from a round on, whatever is wanted, and judges
// it by the procedure of a plan of 12 to 32 rounds. Rounds follow each other as they
// were recorded, those that confirm behind those that are confirmed. The coins say
// which trial of a pair is called head; the head of the first case takes so many
// times as much as was recorded.
func (r recording) judged(start int, coins *rand.Rand, times float64) stopwatt.Judgement {
	trials := slices.Clone(r.trials)
	for i := range trials {
		trials[i].Pairs = nil
	}
	recorded := map[int]int{} // which recorded round a round is
	for {
		judgement := Judge(stopwatt.Adaptive(12, 32), trials, false)
		if judgement.Over() {
			return judgement
		}
		for _, wanted := range judgement.Wanted {
			for round := wanted.First; round <= wanted.Last; round++ {
				if _, placed := recorded[round]; !placed {
					recorded[round] = start + len(recorded)
				}
				r.measure(trials, wanted.Case, round, recorded[round], coins.IntN(2) == 0, times)
			}
		}
	}
}

// measure adds a recorded round of a case to each of its metrics, unless it is there.
func (r recording) measure(trials []stopwatt.PairedTrials, of stopwatt.Case, round, recorded int, swapped bool, times float64) {
	for i := range trials {
		if trials[i].Case != of || slices.ContainsFunc(trials[i].Pairs, func(p stopwatt.Pair) bool { return p.Round == round }) {
			continue
		}
		pair := r.trials[i].Pairs[recorded]
		if pair.Round = round; swapped {
			pair.Base, pair.Head, pair.HeadFirst = pair.Head, pair.Base, !pair.HeadFirst
		}
		if of == r.trials[0].Case {
			pair.Head *= times
		}
		trials[i].Pairs = append(trials[i].Pairs, pair)
	}
}

// longest is how many rounds a plan of 12 to 32 takes at most: twelve fresh ones
// after each of its three looks.
const longest = 32 + 3*12

// A real machine, measured against itself while others kept it busy. At most twelve of
// 2,000 runs may call anything regressed: 0.5 % is what the procedure promises, and
// ten are expected where every change matters. No floor of a calibration raises the
// threshold here.
func TestRecordedRoundsOfTheSameAreNotWorse(t *testing.T) {
	t.Parallel()
	const resamples, most = 2000, 12
	r := readRecording(t)
	if r.rounds < 200 {
		t.Fatalf("%d rounds are recorded, want 200", r.rounds)
	}
	random := rand.New(rand.NewPCG(200, 12))
	regressed, improved := 0, 0
	for range resamples {
		judgement := r.judged(random.IntN(r.rounds-longest+1), random, 1)
		if judgement.Count(stopwatt.Regressed) > 0 {
			regressed++
		}
		if judgement.Count(stopwatt.Improved) > 0 {
			improved++
		}
	}
	t.Logf("of %d runs %d call something regressed, %d improved", resamples, regressed, improved)
	if regressed > most || improved > most {
		t.Errorf("of %d runs of the same against the same %d call something regressed and %d improved, want %d at most", resamples, regressed, improved, most)
	}
}

// The same recording with a change in it: the test above would pass too if nothing
// were ever called regressed.
func TestAChangeOfHalfIsFoundInTheRecordedRounds(t *testing.T) {
	t.Parallel()
	const resamples = 200
	r := readRecording(t)
	random := rand.New(rand.NewPCG(201, 12))
	found := 0
	for range resamples {
		judgement := r.judged(random.IntN(r.rounds-longest+1), random, 1.5)
		if slices.ContainsFunc(judgement.Comparisons[:len(recordedMetrics)], func(c stopwatt.Comparison) bool { return c.Verdict == stopwatt.Regressed }) {
			found++
		}
	}
	if found < resamples*9/10 {
		t.Errorf("half as much again is found in %d of %d runs, want nine of ten", found, resamples)
	}
}
