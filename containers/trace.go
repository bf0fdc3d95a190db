package containers

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// BuildKit tells what it does in messages of the type StatusResponse, of
// api/services/control/control.proto in github.com/moby/buildkit. Of these the
// few fields that are needed here are read by their numbers.

// A vertex is a step of a build as BuildKit tells of it.
type vertex struct {
	digest    string // 1
	name      string // 3
	started   bool   // 5, a time
	completed bool   // 6, a time
	failure   string // 7
}

// A vertexLog is a piece of a step's output.
type vertexLog struct {
	vertex string // 1: the step's digest
	text   []byte // 4
}

// A buildStatus is what one message holds.
type buildStatus struct {
	vertices []vertex    // 1
	logs     []vertexLog // 3
}

// parseStatus reads a StatusResponse.
func parseStatus(text []byte) (buildStatus, error) {
	var status buildStatus
	err := eachField(text, func(number protowire.Number, content []byte) error {
		switch number {
		case 1:
			v, err := parseVertex(content)
			status.vertices = append(status.vertices, v)
			return err
		case 3:
			l, err := parseVertexLog(content)
			status.logs = append(status.logs, l)
			return err
		}
		return nil
	})
	return status, err
}

// parseVertex reads a Vertex.
func parseVertex(text []byte) (vertex, error) {
	var v vertex
	err := eachField(text, func(number protowire.Number, content []byte) error {
		switch number {
		case 1:
			v.digest = string(content)
		case 3:
			v.name = string(content)
		case 5:
			v.started = true
		case 6:
			v.completed = true
		case 7:
			v.failure = string(content)
		}
		return nil
	})
	return v, err
}

// parseVertexLog reads a VertexLog.
func parseVertexLog(text []byte) (vertexLog, error) {
	var l vertexLog
	err := eachField(text, func(number protowire.Number, content []byte) error {
		switch number {
		case 1:
			l.vertex = string(content)
		case 4:
			l.text = content
		}
		return nil
	})
	return l, err
}

// errTrace says that a message is not of the form that BuildKit's are.
var errTrace = errors.New("BuildKit's progress cannot be understood")

// eachField visits the fields of a message that have a length: strings, bytes
// and messages. It passes over numbers.
func eachField(text []byte, visit func(number protowire.Number, content []byte) error) error {
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeTag(text)
		if n < 0 {
			return errTrace
		}
		text = text[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, text); n < 0 {
				return errTrace
			}
			text = text[n:]
			continue
		}
		content, n := protowire.ConsumeBytes(text)
		if n < 0 {
			return errTrace
		}
		if err := visit(number, content); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
