package main

import "slices"

// remembering is the fourth and the fifth form: the size and the hash of a Par are calculated when they are first asked for, by
// computations that a loop runs, and kept with the Par. The fifth also keeps the order in which hashing has put the elements.
type remembering struct{ keepsOrder bool }

// A kept is a Par with what is known of it. Sizes are at least 1, so that 0 says that it is not known.
type kept struct {
	elements []*keptElement
	size     int
	hash     *Hash
	sorted   []*keptElement
}

// A keptElement is a list if it is not a number. Its hash is nil until it is known.
type keptElement struct {
	isNumber bool
	number   int64
	list     []*kept
	hash     *Hash
}

func (remembering) Int(value int64) Par {
	return &kept{elements: []*keptElement{{isNumber: true, number: value}}}
}

func (remembering) List(elements ...Par) Par {
	return &kept{elements: []*keptElement{{list: own[*kept](elements)}}}
}

func (remembering) Combine(pars ...Par) Par {
	parts := make([][]*keptElement, len(pars))
	for i, p := range pars {
		parts[i] = p.(*kept).elements
	}
	return &kept{elements: slices.Concat(parts...)}
}

func (remembering) SerializedSize(p Par) int { return run(p.(*kept).sizeOf()) }

func (p *kept) sizeOf() eval[int] {
	if p.size > 0 {
		return now(p.size)
	}
	return then(each(p.elements, keptSize), func(sizes []int) eval[int] {
		p.size = countSize(len(sizes)) + sum(sizes)
		return now(p.size)
	})
}

func keptSize(e *keptElement) eval[int] {
	if e.isNumber {
		return now(numberSize(e.number))
	}
	return then(each(e.list, (*kept).sizeOf), func(sizes []int) eval[int] {
		return now(listSize(len(sizes)) + sum(sizes))
	})
}

func (remembering) Deserialize(wire []byte) Par {
	from := &reader{wire}
	p := run(readKept(from))
	from.end()
	return p
}

func readKept(from *reader) eval[*kept] {
	elements := times(from.count(), func() eval[*keptElement] { return readKeptElement(from) })
	return then(elements, func(elements []*keptElement) eval[*kept] { return now(&kept{elements: elements}) })
}

func readKeptElement(from *reader) eval[*keptElement] {
	if from.tag() == tagInt {
		return now(&keptElement{isNumber: true, number: from.number()})
	}
	list := times(from.count(), func() eval[*kept] { return readKept(from) })
	return then(list, func(list []*kept) eval[*keptElement] { return now(&keptElement{list: list}) })
}

func (f remembering) Hash(p Par) Hash { return run(f.hashOf(p.(*kept))) }

func (f remembering) hashOf(p *kept) eval[Hash] {
	if p.hash != nil {
		return now(*p.hash)
	}
	return then(f.hashesOf(p), func(hashes []Hash) eval[Hash] {
		if f.keepsOrder {
			p.sorted = byHash(p.elements, hashes)
		}
		slices.SortFunc(hashes, compareHashes)
		hash := hashAll(tagPar, hashes)
		p.hash = &hash
		return now(hash)
	})
}

// hashesOf calculates what is not known of the elements' hashes. An element that came from another Par brings its hash along.
func (f remembering) hashesOf(p *kept) eval[[]Hash] { return each(p.elements, f.elementHash) }

func (f remembering) elementHash(e *keptElement) eval[Hash] {
	switch {
	case e.hash != nil:
		return now(*e.hash)
	case e.isNumber:
		hash := hashNumber(e.number)
		e.hash = &hash
		return now(hash)
	}
	return then(each(e.list, f.hashOf), func(inner []Hash) eval[Hash] {
		hash := hashAll(tagList, inner)
		e.hash = &hash
		return now(hash)
	})
}

func (f remembering) Equal(a, b Par) bool { return f.Hash(a) == f.Hash(b) }

func (f remembering) Serialize(p Par) []byte {
	wire := make([]byte, 0, f.SerializedSize(p))
	run(f.write(p.(*kept), &wire))
	return wire
}

func (f remembering) write(p *kept, to *[]byte) eval[nothing] {
	return then(f.sortedOf(p), func(sorted []*keptElement) eval[nothing] {
		*to = appendCount(*to, len(sorted))
		return discard(each(sorted, func(e *keptElement) eval[nothing] { return f.writeElement(e, to) }))
	})
}

func (f remembering) writeElement(e *keptElement, to *[]byte) eval[nothing] {
	if e.isNumber {
		*to = appendNumber(*to, e.number)
		return now(nothing{})
	}
	*to = appendList(*to, len(e.list))
	return discard(each(e.list, func(p *kept) eval[nothing] { return f.write(p, to) }))
}

// sortedOf sorts by hashes that are known by then, or takes the order that hashing has found.
func (f remembering) sortedOf(p *kept) eval[[]*keptElement] {
	switch {
	case len(p.elements) < 2:
		return now(p.elements)
	case p.sorted != nil:
		return now(p.sorted)
	case f.keepsOrder:
		return then(f.hashOf(p), func(Hash) eval[[]*keptElement] { return now(p.sorted) })
	}
	return then(f.hashesOf(p), func(hashes []Hash) eval[[]*keptElement] { return now(byHash(p.elements, hashes)) })
}
