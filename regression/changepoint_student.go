package regression

import "math"

// studentTail is the chance that Student's t with df degrees of freedom is
// further from 0 than t, on both sides: the regularised incomplete beta function
// I_x(df/2, 1/2) at x = df/(df+t²) (Abramowitz and Stegun, 26.7.1 and 26.5.27).
func studentTail(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return incompleteBeta(df/2, 0.5, df/(df+t*t))
}

// studentQuantile is the t that is exceeded, on both sides together, with
// probability p.
func studentQuantile(p, df float64) float64 {
	low, high := 0.0, 1.0
	for studentTail(high, df) > p {
		low, high = high, high*2
	}
	for range 60 { // halves the span to the last bit
		middle := (low + high) / 2
		if studentTail(middle, df) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// incompleteBeta is I_x(a, b), by the continued fraction of Abramowitz and
// Stegun 26.5.8.
func incompleteBeta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges slowly
		return 1 - incompleteBeta(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(a, b, x) / a
}

// betaFraction evaluates the continued fraction from its head, by the method of
// W. J. Lentz (Generating Bessel functions in Mie scattering calculations,
// Applied Optics 15, 1976). Its denominators are kept away from 0.
func betaFraction(a, b, x float64) float64 {
	const tiny, enough, most = 1e-300, 1e-14, 500
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for i := 1; i <= most; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/away(1+even*d), away(1+even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/away(1+odd*d), away(1+odd/c)
		f *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return f
}
