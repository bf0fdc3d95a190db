package regression

// moments are running sums, from which the mean of any stretch, and the squares
// round it, are told in one step. The values must lie round 0.
type moments struct {
	sum, square, moment []float64 // of x, x² and i·x before each index
}

func momentsOf(values []float64) moments {
	n := len(values) + 1
	m := moments{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i, x := range values {
		m.sum[i+1] = m.sum[i] + x
		m.square[i+1] = m.square[i] + x*x
		m.moment[i+1] = m.moment[i] + float64(i)*x
	}
	return m
}

func (m moments) mean(from, to int) float64 {
	return (m.sum[to] - m.sum[from]) / float64(to-from)
}

// squares is the sum of squares round the mean.
func (m moments) squares(from, to int) float64 {
	sum := m.sum[to] - m.sum[from]
	return max(m.square[to]-m.square[from]-sum*sum/float64(to-from), 0)
}

// squaresOfLine is the sum of squares round the straight line that fits best.
func (m moments) squaresOfLine(from, to int) float64 {
	n := float64(to - from)
	middle := float64(from+to-1) / 2
	lean := m.moment[to] - m.moment[from] - middle*(m.sum[to]-m.sum[from])
	spread := n * (n*n - 1) / 12
	return max(m.squares(from, to)-lean*lean/spread, 0)
}
