package main

import "slices"

// imperative is the first form: loops and plain recursion on the machine's own stack, and nothing is kept.
type imperative struct{}

// plain is the Par of the first three forms.
type plain struct{ elements []*element }

// An element is a list if it is not a number.
type element struct {
	isNumber bool
	number   int64
	list     []*plain
}

func (imperative) Int(value int64) Par {
	return &plain{[]*element{{isNumber: true, number: value}}}
}

func (imperative) List(elements ...Par) Par {
	return &plain{[]*element{{list: own[*plain](elements)}}}
}

func (imperative) Combine(pars ...Par) Par {
	count := 0
	for _, p := range pars {
		count += len(p.(*plain).elements)
	}
	joined := make([]*element, 0, count)
	for _, p := range pars {
		joined = append(joined, p.(*plain).elements...)
	}
	return &plain{joined}
}

func (imperative) Serialize(p Par) []byte {
	return p.(*plain).appendTo(make([]byte, 0, p.(*plain).size()))
}

func (p *plain) appendTo(to []byte) []byte {
	to = appendCount(to, len(p.elements))
	for _, e := range p.sorted() {
		if e.isNumber {
			to = appendNumber(to, e.number)
			continue
		}
		to = appendList(to, len(e.list))
		for _, inner := range e.list {
			to = inner.appendTo(to)
		}
	}
	return to
}

func (p *plain) sorted() []*element {
	if len(p.elements) < 2 {
		return p.elements
	}
	return byHash(p.elements, p.elementHashes())
}

func (imperative) SerializedSize(p Par) int { return p.(*plain).size() }

func (p *plain) size() int {
	size := countSize(len(p.elements))
	for _, e := range p.elements {
		if e.isNumber {
			size += numberSize(e.number)
			continue
		}
		size += listSize(len(e.list))
		for _, inner := range e.list {
			size += inner.size()
		}
	}
	return size
}

func (imperative) Deserialize(wire []byte) Par {
	from := &reader{wire}
	p := readPlain(from)
	from.end()
	return p
}

func readPlain(from *reader) *plain {
	p := &plain{make([]*element, from.count())}
	for i := range p.elements {
		e := &element{}
		p.elements[i] = e
		if from.tag() == tagInt {
			e.isNumber, e.number = true, from.number()
			continue
		}
		e.list = make([]*plain, from.count())
		for j := range e.list {
			e.list[j] = readPlain(from)
		}
	}
	return p
}

func (imperative) Hash(p Par) Hash { return p.(*plain).hash() }

func (p *plain) hash() Hash {
	hashes := p.elementHashes()
	slices.SortFunc(hashes, compareHashes)
	return hashAll(tagPar, hashes)
}

func (p *plain) elementHashes() []Hash {
	hashes := make([]Hash, len(p.elements))
	for i, e := range p.elements {
		if e.isNumber {
			hashes[i] = hashNumber(e.number)
			continue
		}
		inner := make([]Hash, len(e.list))
		for j := range e.list {
			inner[j] = e.list[j].hash()
		}
		hashes[i] = hashAll(tagList, inner)
	}
	return hashes
}

func (imperative) Equal(a, b Par) bool { return a.(*plain).hash() == b.(*plain).hash() }
