package main

import (
	"bytes"
	"fmt"
	"slices"
)

// check holds a form against the first one and against itself, on the two Pars that are measured.
func check(f Form) error {
	for name, makePar := range map[string]func(Form) Par{"the nested Par": nested, "the flat Par": flat} {
		if err := checkPar(f, makePar(f), makePar(imperative{})); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	parts := lists(f)
	forwards := f.Combine(parts...)
	slices.Reverse(parts)
	return checkOrder(f, forwards, f.Combine(parts...))
}

// checkPar compares a Par with the same one in the first form. Pars whose bytes the form does not sort are sorted first.
func checkPar(f Form, p, model Par) error {
	wire := f.Serialize(p)
	s, sorts := f.(sorter)
	if sorts {
		// The order of its bytes is not the model's, so the model reads and orders them.
		wire = imperative{}.Serialize(imperative{}.Deserialize(f.Serialize(s.Sort(p))))
	}
	again := f.Deserialize(wire)
	switch {
	case !bytes.Equal(wire, imperative{}.Serialize(model)):
		return fmt.Errorf("its bytes are wrong: %x", wire)
	case f.SerializedSize(p) != len(wire):
		return fmt.Errorf("its size is said to be %d, not %d", f.SerializedSize(p), len(wire))
	case !sorts && f.Hash(p) != imperative{}.Hash(model):
		return fmt.Errorf("its hash is wrong: %x", f.Hash(p))
	case !f.Equal(p, again) || f.Hash(p) != f.Hash(again):
		return fmt.Errorf("what is read from its bytes is not equal to it")
	case f.Equal(p, f.Combine(p, f.Int(0))):
		return fmt.Errorf("it is said to be equal to more than itself")
	}
	return nil
}

// checkOrder takes two Pars of the same elements.
func checkOrder(f Form, a, b Par) error {
	if f.Hash(a) != f.Hash(b) || !f.Equal(a, b) {
		return fmt.Errorf("Pars that differ in the order of their elements alone are not equal")
	}
	return nil
}
