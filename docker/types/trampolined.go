package main

import "slices"

// trampolined is the second form: the first one's work as computations that a loop runs, from making a Par to hashing it. A Par may
// be nested as deep as memory goes.
type trampolined struct{}

func (trampolined) Int(value int64) Par {
	return run(now(&plain{[]*element{{isNumber: true, number: value}}}))
}

func (trampolined) List(elements ...Par) Par {
	list := each(elements, func(p Par) eval[*plain] { return now(p.(*plain)) })
	return run(then(list, func(list []*plain) eval[*plain] { return now(&plain{[]*element{{list: list}}}) }))
}

func (trampolined) Combine(pars ...Par) Par {
	parts := each(pars, func(p Par) eval[[]*element] { return now(p.(*plain).elements) })
	return run(then(parts, func(parts [][]*element) eval[*plain] { return now(&plain{slices.Concat(parts...)}) }))
}

func (trampolined) Serialize(p Par) []byte {
	size := run(sizeOf(p.(*plain)))
	wire := make([]byte, 0, size)
	run(write(p.(*plain), &wire, hashesOf))
	return wire
}

type nothing = struct{}

// write appends to the bytes; hashes are those of a Par's elements, by the form's own way to calculate them.
func write(p *plain, to *[]byte, hashes func(*plain) eval[[]Hash]) eval[nothing] {
	return then(sortedBy(p, hashes), func(sorted []*element) eval[nothing] {
		*to = appendCount(*to, len(sorted))
		return discard(each(sorted, func(e *element) eval[nothing] { return writeElement(e, to, hashes) }))
	})
}

func writeElement(e *element, to *[]byte, hashes func(*plain) eval[[]Hash]) eval[nothing] {
	if e.isNumber {
		*to = appendNumber(*to, e.number)
		return now(nothing{})
	}
	*to = appendList(*to, len(e.list))
	return discard(each(e.list, func(p *plain) eval[nothing] { return write(p, to, hashes) }))
}

func discard[T any](e eval[T]) eval[nothing] {
	return then(e, func(T) eval[nothing] { return now(nothing{}) })
}

func sortedBy(p *plain, hashes func(*plain) eval[[]Hash]) eval[[]*element] {
	if len(p.elements) < 2 {
		return now(p.elements)
	}
	return then(hashes(p), func(found []Hash) eval[[]*element] { return now(byHash(p.elements, found)) })
}

func (trampolined) SerializedSize(p Par) int { return run(sizeOf(p.(*plain))) }

func sizeOf(p *plain) eval[int] {
	return then(each(p.elements, elementSize), func(sizes []int) eval[int] {
		return now(countSize(len(sizes)) + sum(sizes))
	})
}

func elementSize(e *element) eval[int] {
	if e.isNumber {
		return now(numberSize(e.number))
	}
	return then(each(e.list, sizeOf), func(sizes []int) eval[int] {
		return now(listSize(len(sizes)) + sum(sizes))
	})
}

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

func (trampolined) Deserialize(wire []byte) Par {
	from := &reader{wire}
	p := run(read(from))
	from.end()
	return p
}

func read(from *reader) eval[*plain] {
	elements := times(from.count(), func() eval[*element] { return readElement(from) })
	return then(elements, func(elements []*element) eval[*plain] { return now(&plain{elements}) })
}

func readElement(from *reader) eval[*element] {
	if from.tag() == tagInt {
		return now(&element{isNumber: true, number: from.number()})
	}
	list := times(from.count(), func() eval[*plain] { return read(from) })
	return then(list, func(list []*plain) eval[*element] { return now(&element{list: list}) })
}

func (trampolined) Hash(p Par) Hash { return run(hashOf(p.(*plain))) }

func hashOf(p *plain) eval[Hash] {
	return then(hashesOf(p), func(hashes []Hash) eval[Hash] {
		slices.SortFunc(hashes, compareHashes)
		return now(hashAll(tagPar, hashes))
	})
}

func hashesOf(p *plain) eval[[]Hash] {
	return each(p.elements, func(e *element) eval[Hash] { return elementHash(e, hashOf) })
}

func elementHash(e *element, hash func(*plain) eval[Hash]) eval[Hash] {
	if e.isNumber {
		return now(hashNumber(e.number))
	}
	return then(each(e.list, hash), func(inner []Hash) eval[Hash] { return now(hashAll(tagList, inner)) })
}

func (f trampolined) Equal(a, b Par) bool { return f.Hash(a) == f.Hash(b) }
