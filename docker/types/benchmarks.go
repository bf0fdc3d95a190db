package main

// A benchmark is one operation on Pars.
type benchmark struct {
	name string
	// fresh says that each operation needs a Par of its own, because some forms keep what they have calculated.
	fresh bool
	// prepare makes what the operation works on, while no clock runs. It gives nil where the form has no such operation.
	prepare func(f Form) (operation func())
}

// size is how deep the nested Par is and how many elements the flat one has, as published.
const size = 100

// nested is List(List(…)).
func nested(f Form) Par {
	p := f.List()
	for range size - 1 {
		p = f.List(p)
	}
	return p
}

// flat is List(0) | List(1) | List(2) …
func flat(f Form) Par { return f.Combine(lists(f)...) }

func lists(f Form) []Par {
	list := make([]Par, size)
	for i := range list {
		list[i] = f.List(f.Int(int64(i)))
	}
	return list
}

// benchmarks are the 17 of the published experiment, under its names.
func benchmarks() []benchmark {
	all := append(operations("nested", nested), operations("parProc", flat)...)
	return append(all, benchmark{"manyAppends", false, func(f Form) func() {
		parts := lists(f)
		return func() {
			p := parts[0]
			for _, part := range parts[1:] {
				p = f.Combine(p, part)
			}
		}
	}})
}

// operations are the eight that are done with both Pars.
func operations(prefix string, makePar func(Form) Par) []benchmark {
	return []benchmark{
		{prefix + "Add", false, func(f Form) func() {
			p, zero := makePar(f), f.Int(0)
			return func() { f.Combine(p, zero) }
		}},
		{prefix + "Creation", false, func(f Form) func() {
			return func() { makePar(f) }
		}},
		{prefix + "Deserialization", false, func(f Form) func() {
			wire := f.Serialize(makePar(f))
			return func() { f.Deserialize(wire) }
		}},
		{prefix + "Equal", true, func(f Form) func() {
			a, b := makePar(f), makePar(f)
			return func() { f.Equal(a, b) }
		}},
		{prefix + "Hash", true, func(f Form) func() {
			p := makePar(f)
			return func() { f.Hash(p) }
		}},
		{prefix + "Serialization", true, func(f Form) func() {
			p := makePar(f)
			return func() { f.Serialize(p) }
		}},
		{prefix + "SerializedSize", true, func(f Form) func() {
			p := makePar(f)
			return func() { f.SerializedSize(p) }
		}},
		{prefix + "Sort", true, func(f Form) func() {
			s, sorts := f.(sorter)
			if !sorts {
				return nil
			}
			p := makePar(f)
			return func() { s.Sort(p) }
		}},
	}
}
