package main

// An eval is a computation that has not been made yet. It is made by run, in a loop, so that however deep computations stand in each
// other, the machine's stack stays as it is.
type eval[T any] struct{ cell *cell }

// A cell holds a value, or a first cell and what comes after it.
type cell struct {
	value any
	first *cell
	next  func(any) *cell
}

func now[T any](value T) eval[T] { return eval[T]{&cell{value: value}} }

func then[A, B any](first eval[A], next func(A) eval[B]) eval[B] {
	return eval[B]{&cell{first: first.cell, next: func(value any) *cell { return next(value.(A)).cell }}}
}

// later puts off even the making of the computation.
func later[T any](computation func() eval[T]) eval[T] {
	return then(now(struct{}{}), func(struct{}) eval[T] { return computation() })
}

func run[T any](e eval[T]) T {
	var waiting []func(any) *cell
	at := e.cell
	for {
		if at.first != nil {
			waiting = append(waiting, at.next)
			at = at.first
			continue
		}
		if len(waiting) == 0 {
			return at.value.(T)
		}
		last := len(waiting) - 1
		next := waiting[last]
		waiting = waiting[:last]
		at = next(at.value)
	}
}

// each makes one computation after the other. Like all computations here it can be run once only.
func each[A, B any](list []A, computation func(A) eval[B]) eval[[]B] {
	results := make([]B, 0, len(list))
	var from func(i int) eval[[]B]
	from = func(i int) eval[[]B] {
		if i == len(list) {
			return now(results)
		}
		return then(computation(list[i]), func(result B) eval[[]B] {
			results = append(results, result)
			return from(i + 1)
		})
	}
	return later(func() eval[[]B] { return from(0) })
}

// times makes the same computation again and again.
func times[T any](count int, computation func() eval[T]) eval[[]T] {
	return each(make([]struct{}, count), func(struct{}) eval[T] { return computation() })
}
