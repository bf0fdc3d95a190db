package main

import (
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
)

func TestFormsHandleTheMeasuredParsAlike(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			if err := check(form); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFormsHandleAnyParsAlike(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(200) {
				p := drawn(form, rand.New(rand.NewPCG(seed, 0)), 4)
				model := drawn(imperative{}, rand.New(rand.NewPCG(seed, 0)), 4)
				if err := checkPar(form, p, model); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				other := drawn(form, rand.New(rand.NewPCG(seed, 1)), 4)
				if err := checkOrder(form, form.Combine(p, other), form.Combine(other, p)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// drawn is a Par of up to three elements, nested at most so deep. The same numbers draw the same Par in every form.
func drawn(f Form, draw *rand.Rand, depth int) Par {
	elements := make([]Par, draw.IntN(4))
	for i := range elements {
		if depth == 0 || draw.IntN(2) == 0 {
			elements[i] = f.Int(int64(draw.Uint64()) >> draw.IntN(64))
			continue
		}
		list := make([]Par, draw.IntN(4))
		for j := range list {
			list[j] = drawn(f, draw, depth-1)
		}
		elements[i] = f.List(list...)
	}
	return f.Combine(elements...)
}

func TestAskingTwiceGivesTheSame(t *testing.T) {
	for name, form := range forms {
		for _, p := range []Par{nested(form), flat(form)} {
			if string(form.Serialize(p)) != string(form.Serialize(p)) || form.Hash(p) != form.Hash(p) {
				t.Errorf("%s: a second answer differs from the first", name)
			}
		}
	}
}

// Plain recursion into 20,000 levels takes more than 1 MiB of stack, which then ends the program.
func TestTrampolinedFormsAreNotBoundByTheStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	for _, name := range []string{"eval", "hash-refactoring", "lazy-params", "hash-sort-fix"} {
		form := forms[name]
		p := form.List()
		for range 20_000 {
			p = form.List(p)
		}
		form.Hash(p)
		if wire := form.Serialize(p); form.SerializedSize(form.Deserialize(wire)) != len(wire) {
			t.Errorf("%s: a deeply nested Par has another size after reading", name)
		}
	}
}

func TestCutOffBytesAreRefused(t *testing.T) {
	for name, form := range forms {
		wire := form.Serialize(form.Combine(form.Int(300), form.List(form.Int(1))))
		for length := range wire {
			if reads(form, wire[:length]) {
				t.Errorf("%s reads %x, which is cut off", name, wire[:length])
			}
		}
		if reads(form, append(wire, 0)) {
			t.Errorf("%s reads what something follows", name)
		}
	}
}

func reads(form Form, wire []byte) (ok bool) {
	defer func() {
		if text, isText := recover().(string); isText {
			ok = !strings.HasPrefix(text, "wire:")
		}
	}()
	form.Deserialize(wire)
	return true
}
