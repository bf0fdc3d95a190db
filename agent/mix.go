//go:build linux

package agent

import (
	"math/rand/v2"
	"sort"

	"gitlab.com/stopwatt/stopwatt"
)

// A mix says which request comes next, and with which row of data. Each thread
// has its own; what they draw comes from the order's seed.
type mix struct {
	questions []question
	memories  []memory // of the answers to each
	weights   []int    // added up
	inOrder   bool
	random    bool // rows are drawn
	step      int  // threads that take turns at what is in order
	next      int  // of the questions in order
	row       int  // of the rows in order
	asked     int  // requests so far
	rng       *rand.Rand
}

// newMix makes the mix of one of several threads.
func newMix(order stopwatt.DriveOrder, questions []question, thread, threads int) mix {
	m := mix{
		questions: questions,
		memories:  make([]memory, len(questions)),
		inOrder:   order.InOrder,
		random:    order.Data != nil && order.Data.Random,
		step:      threads,
		next:      thread,
		row:       thread,
		rng:       rand.New(rand.NewPCG(order.Seed, uint64(thread))),
	}
	sum := 0
	for _, q := range questions {
		sum += q.weight
		m.weights = append(m.weights, sum)
	}
	return m
}

// draw chooses a question, by its number, and the request's bytes.
func (m *mix) draw() (number int, request []byte) {
	m.asked++
	if len(m.questions) > 1 {
		number = m.choose()
	}
	rows := m.questions[number].rows
	if len(rows) == 1 {
		return number, rows[0]
	}
	if m.random {
		return number, rows[m.rng.IntN(len(rows))]
	}
	row := m.row
	m.row += m.step
	return number, rows[row%len(rows)]
}

// choose chooses one of several questions.
func (m *mix) choose() int {
	if m.inOrder {
		number := m.next % len(m.questions)
		m.next += m.step
		return number
	}
	at := m.rng.IntN(m.weights[len(m.weights)-1])
	return sort.SearchInts(m.weights, at+1)
}
