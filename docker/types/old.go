package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
)

// old is the sixth form: messages as a generator would make them of a schema, and one codec that knows no message and looks at the
// fields of each by reflection. Sizes are found by serializing, and before Pars are hashed or compared they are sorted as a whole.
type old struct{}

// The fields of a message are written one after the other: a list as its count and its elements, a number as a varint. A field with
// a tag is one of several, of which one is set; its tag is written before it.
type (
	oldPar struct {
		Elements []*oldElement
	}
	oldElement struct {
		Int  *int64   `wire:"2"`
		List *oldList `wire:"3"`
	}
	oldList struct {
		Pars []*oldPar
	}
)

func (old) Int(value int64) Par { return &oldPar{[]*oldElement{{Int: &value}}} }

func (old) List(elements ...Par) Par {
	return &oldPar{[]*oldElement{{List: &oldList{own[*oldPar](elements)}}}}
}

func (old) Combine(pars ...Par) Par {
	joined := &oldPar{}
	for _, p := range pars {
		joined.Elements = append(joined.Elements, p.(*oldPar).Elements...)
	}
	return joined
}

func (old) Serialize(p Par) []byte { return encode(nil, reflect.ValueOf(p)) }

func (old) SerializedSize(p Par) int { return len(encode(nil, reflect.ValueOf(p))) }

func (old) Deserialize(wire []byte) Par {
	from := &reader{wire}
	p := &oldPar{}
	decode(from, reflect.ValueOf(p).Elem())
	from.end()
	return p
}

func (f old) Hash(p Par) Hash { return sha256.Sum256(f.Serialize(f.Sort(p))) }

func (f old) Equal(a, b Par) bool { return reflect.DeepEqual(f.Sort(a), f.Sort(b)) }

func (old) Sort(p Par) Par { return p.(*oldPar).sort() }

// sort gives a new Par whose elements, and theirs, stand in the order of their bytes.
func (p *oldPar) sort() *oldPar {
	sorted := &oldPar{make([]*oldElement, len(p.Elements))}
	bytesOf := make(map[*oldElement][]byte, len(p.Elements))
	for i, e := range p.Elements {
		e = e.sort()
		sorted.Elements[i] = e
		if len(p.Elements) > 1 {
			bytesOf[e] = encode(nil, reflect.ValueOf(e))
		}
	}
	slices.SortStableFunc(sorted.Elements, func(a, b *oldElement) int { return bytes.Compare(bytesOf[a], bytesOf[b]) })
	return sorted
}

func (e *oldElement) sort() *oldElement {
	if e.List == nil {
		return &oldElement{Int: e.Int}
	}
	list := make([]*oldPar, len(e.List.Pars))
	for i, p := range e.List.Pars {
		list[i] = p.sort()
	}
	return &oldElement{List: &oldList{list}}
}

func encode(to []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.Pointer:
		return encode(to, value.Elem())
	case reflect.Int64:
		return binary.AppendVarint(to, value.Int())
	case reflect.Slice:
		to = appendCount(to, value.Len())
		for i := range value.Len() {
			to = encode(to, value.Index(i))
		}
		return to
	}
	for i := range value.NumField() {
		tag := fieldTag(value.Type().Field(i))
		if tag != 0 && value.Field(i).IsNil() {
			continue
		}
		if tag != 0 {
			to = append(to, tag)
		}
		to = encode(to, value.Field(i))
	}
	return to
}

func decode(from *reader, value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		decode(from, value.Elem())
	case reflect.Int64:
		value.SetInt(from.number())
	case reflect.Slice:
		count := from.count()
		value.Set(reflect.MakeSlice(value.Type(), count, count))
		for i := range count {
			decode(from, value.Index(i))
		}
	case reflect.Struct:
		decode(from, nextField(from, value))
	}
}

// nextField is the field that the tag names, or the one field of a message without tags.
func nextField(from *reader, value reflect.Value) reflect.Value {
	if fieldTag(value.Type().Field(0)) == 0 {
		return value.Field(0)
	}
	tag := from.tag()
	for i := range value.NumField() {
		if fieldTag(value.Type().Field(i)) == tag {
			return value.Field(i)
		}
	}
	panic("wire: no field has this tag")
}

// fieldTag is 0 for a field without one.
func fieldTag(field reflect.StructField) byte {
	tag, _ := strconv.Atoi(field.Tag.Get("wire"))
	return byte(tag)
}
