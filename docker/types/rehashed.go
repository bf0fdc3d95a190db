package main

// rehashed is the third form: Pars are made at once, all else is trampolined, and a hash is calculated as its specification reads:
// sort the elements, for which their hashes are needed, then hash the sorted elements, for which they are calculated again.
//
// Each Par of two or more elements doubles the work within it, so elements of this kind nested in each other cost exponentially.
type rehashed struct {
	imperative // making and combining
}

func (rehashed) Serialize(p Par) []byte {
	wire := make([]byte, 0, run(sizeOf(p.(*plain))))
	run(write(p.(*plain), &wire, hashesAnew))
	return wire
}

func (rehashed) SerializedSize(p Par) int { return run(sizeOf(p.(*plain))) }

func (rehashed) Deserialize(wire []byte) Par { return trampolined{}.Deserialize(wire) }

func (rehashed) Hash(p Par) Hash { return run(hashAnew(p.(*plain))) }

func hashAnew(p *plain) eval[Hash] {
	return then(sortedBy(p, hashesAnew), func(sorted []*element) eval[Hash] {
		return then(hashesAnew(&plain{sorted}), func(hashes []Hash) eval[Hash] { return now(hashAll(tagPar, hashes)) })
	})
}

func hashesAnew(p *plain) eval[[]Hash] {
	return each(p.elements, func(e *element) eval[Hash] { return elementHash(e, hashAnew) })
}

func (f rehashed) Equal(a, b Par) bool { return f.Hash(a) == f.Hash(b) }
