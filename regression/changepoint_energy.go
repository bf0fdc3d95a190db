package regression

import (
	"cmp"
	"slices"
)

// energies tells the energy distances of the two sides of any place in any
// stretch of values. It keeps its working memory, so that one must not be used
// twice at once.
type energies struct {
	values []float64
	ranks  []int32   // of each value among all, from 0
	sorted []float64 // the values by rank
	order  []int32   // ranks of a stretch, sorted
	local  []int32   // by rank: the rank in the stretch, from 1
	others []float64 // by rank in the stretch: the sum of distances to all in it
	tree   []partial // by rank in the stretch
	result []float64
}

// newEnergies makes ready for stretches of values.
func newEnergies(values []float64) *energies {
	n := len(values)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(values[a], values[b]), cmp.Compare(a, b)) })
	e := &energies{
		values: values,
		ranks:  make([]int32, n), sorted: make([]float64, n),
		local: make([]int32, n), others: make([]float64, n+1), tree: make([]partial, n+1),
		result: make([]float64, n+1),
	}
	for rank, i := range order {
		e.ranks[i], e.sorted[rank] = int32(rank), values[i]
	}
	e.order = order
	return e
}

// profile gives for every place k in values[from:to], from 0 to their count, the
// scaled energy distance of both sides: the statistic that E-divisive maximises,
// with α = 1 (D. S. Matteson, N. A. James, A nonparametric approach for multiple
// change point analysis of multivariate data, JASA 109, 2014), in the form of G.
// J. Székely and M. L. Rizzo (Energy statistics, J. Stat. Plan. Inference 143,
// 2013), which counts each value's distance to itself and so is never negative.
// It is 0 where a side is empty. The result is overwritten by the next call.
//
// It takes n·log n steps: sums of distances are kept in a tree of ranks instead
// of being added up anew for each place.
func (e *energies) profile(from, to int) []float64 {
	right := e.rank(from, to) // sum of |x−y| over the pairs of the right side
	all, left := right, 0.0
	n := to - from
	result := e.result[:n+1]
	clear(result)
	var whole partial
	for k := 1; k < n; k++ {
		rank := e.ranks[from+k-1]
		x, local := e.sorted[rank], int(e.local[rank])
		toLeft := e.toLeft(x, local, whole)
		e.add(x, local, n)
		whole.count++
		whole.sum += x
		left += toLeft
		right -= e.others[local] - toLeft
		m, rest := float64(k), float64(n-k)
		result[k] = max(2*(all-left-right)-2*left*rest/m-2*right*m/rest, 0) / float64(n)
	}
	return result
}

// rank gives each value of a stretch its rank there and the sum of its distances
// to all the others, and returns the sum over all pairs.
func (e *energies) rank(from, to int) (pairs float64) {
	order := append(e.order[:0], e.ranks[from:to]...)
	slices.Sort(order)
	n, total := len(order), 0.0
	for _, rank := range order {
		total += e.sorted[rank]
	}
	below := 0.0
	for r, rank := range order {
		x := e.sorted[rank]
		e.local[rank] = int32(r + 1)
		e.others[r+1] = x*float64(r) - below + (total - below - x) - x*float64(n-r-1)
		below += x
		pairs += e.others[r+1] / 2
	}
	clear(e.tree[:n+1])
	return pairs
}

// partial is a node of the tree of partial sums (P. M. Fenwick, A new data
// structure for cumulative frequency tables, Software: Practice and Experience
// 24, 1994).
type partial struct{ count, sum float64 }

// add puts a value into the tree of a stretch of n.
func (e *energies) add(x float64, rank, n int) {
	for ; rank <= n; rank += rank & -rank {
		e.tree[rank].count++
		e.tree[rank].sum += x
	}
}

// toLeft is the sum of distances from a value to the whole that was added.
func (e *energies) toLeft(x float64, rank int, whole partial) float64 {
	var below partial
	for ; rank > 0; rank -= rank & -rank {
		below.count += e.tree[rank].count
		below.sum += e.tree[rank].sum
	}
	above := partial{whole.count - below.count, whole.sum - below.sum}
	return x*below.count - below.sum + above.sum - x*above.count
}
