package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A schema is as much of JSON Schema as the description uses.
type schema struct {
	Ref                  string            `json:"$ref"`
	Type                 any               `json:"type"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	AdditionalProperties *bool             `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	Enum                 []string          `json:"enum"`
	Description          string            `json:"description"`
	Format               string            `json:"format"`
}

// A description is as much of OpenAPI as ours uses.
type description struct {
	Paths map[string]map[string]struct {
		Parameters []struct{ Name, In string }
		Responses  map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

func described(t *testing.T) description {
	t.Helper()
	var d description
	if err := json.Unmarshal([]byte(content("static/openapi.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// faults are the places at which a value is not as its schema says.
func (d description) faults(at string, s schema, value any) []string {
	if s.Ref != "" {
		named, known := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		if !known {
			return []string{at + ": there is no schema " + s.Ref}
		}
		return d.faults(at, named, value)
	}
	if !isOfType(s.Type, value) {
		return []string{fmt.Sprintf("%s: %v is no %v", at, value, s.Type)}
	}
	var all []string
	switch value := value.(type) {
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, value) {
			all = append(all, fmt.Sprintf("%s: %q is none of %v", at, value, s.Enum))
		}
	case []any:
		for i, item := range value {
			all = append(all, d.faults(fmt.Sprintf("%s[%d]", at, i), *s.Items, item)...)
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, has := value[name]; !has {
				all = append(all, at+"."+name+": missing")
			}
		}
		for name, item := range value {
			of, known := s.Properties[name]
			switch {
			case known:
				all = append(all, d.faults(at+"."+name, of, item)...)
			case s.AdditionalProperties != nil && !*s.AdditionalProperties:
				all = append(all, at+"."+name+": not described")
			}
		}
	}
	return all
}

// isOfType tells whether a value is of a type, or of one of several.
func isOfType(of any, value any) bool {
	if several, are := of.([]any); are {
		return slices.ContainsFunc(several, func(one any) bool { return isOfType(one, value) })
	}
	switch value := value.(type) {
	case nil:
		return of == "null"
	case string:
		return of == "string"
	case bool:
		return of == "boolean"
	case float64:
		return of == "number" || of == "integer" && value == float64(int64(value))
	case []any:
		return of == "array"
	}
	return of == "object"
}

func TestEveryRouteOfTheAPIIsDescribed(t *testing.T) {
	t.Parallel()
	d := described(t)
	var routed, written []string
	for _, r := range routes {
		if r.kind == jsonKind {
			routed = append(routed, strings.TrimPrefix(r.pattern, "GET "))
		}
	}
	for path, methods := range d.Paths {
		written = append(written, path)
		if len(methods) != 1 || methods["get"].Responses["200"].Content["application/json"].Schema.Type == nil && methods["get"].Responses["200"].Content["application/json"].Schema.Ref == "" {
			t.Errorf("%s: what it answers with GET is not described", path)
		}
		for _, parameter := range methods["get"].Parameters {
			if in := strings.Contains(path, "{"+parameter.Name+"}"); in != (parameter.In == "path") {
				t.Errorf("%s: the parameter %s is not where it says", path, parameter.Name)
			}
		}
	}
	slices.Sort(routed)
	slices.Sort(written)
	if !slices.Equal(routed, written) {
		t.Errorf("routes are %v, described are %v", routed, written)
	}
}

func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	d := described(t)
	for _, n := range []names{plainNames, hostileNames} {
		s := serverOf(pastOf(n))
		suite := "/api/v1/suites/" + strings.TrimPrefix(suitePath(s.Archive.(*memory).runs[0].line.Suite), "/s/")
		last := n.implementations[len(n.implementations)-1] + "/" + n.workloads[0]
		for address, path := range map[string]string{
			"/api/v1/openapi.json":   "/api/v1/openapi.json",
			"/api/v1/alerts":         "/api/v1/alerts",
			"/api/v1/overview":       "/api/v1/overview",
			suite:                    "/api/v1/suites/{suite}",
			suite + "/grid":          "/api/v1/suites/{suite}/grid",
			suite + "/grid?as=times": "/api/v1/suites/{suite}/grid",
			address(suite+"/series", "metric", "energy_board", "case", last):                          "/api/v1/suites/{suite}/series",
			address(suite+"/series", "metric", "time", "case", last, "against", n.implementations[0]): "/api/v1/suites/{suite}/series",
			suite + "/compare?a=393&b=411": "/api/v1/suites/{suite}/compare",
			address(suite+"/compare", "from", n.implementations[0], "to", n.implementations[1]): "/api/v1/suites/{suite}/compare",
			"/api/v1/runs/412":                     "/api/v1/runs/{run}",
			"/api/v1/runs/412/trials/1":            "/api/v1/runs/{run}/trials/{position}",
			"/api/v1/runs/412/trials/3":            "/api/v1/runs/{run}/trials/{position}",
			"/api/v1/machines":                     "/api/v1/machines",
			"/api/v1/machines/" + boardFingerprint: "/api/v1/machines/{machine}",
		} {
			answer := ask(t, s, address)
			if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s %.200s", address, answer.Code, answer.Header().Get("Content-Type"), answer.Body)
				continue
			}
			var value any
			if err := json.Unmarshal(answer.Body.Bytes(), &value); err != nil {
				t.Errorf("%s: %v", address, err)
			}
			for _, fault := range d.faults(address, d.Paths[path]["get"].Responses["200"].Content["application/json"].Schema, value) {
				t.Error(fault)
			}
		}
	}
}

// What checks answers must be able to find something.
func TestAnswersThatAreOtherwiseAreFound(t *testing.T) {
	t.Parallel()
	d := described(t)
	for _, row := range []struct{ name, text, schema string }{
		{"a missing field", `{"project": "a"}`, "SuiteName"},
		{"a field that is not described", `{"project": "a", "suite": "b", "more": 1}`, "SuiteName"},
		{"a number for a text", `{"project": 1, "suite": "b"}`, "SuiteName"},
		{"a word that is none of those", `{"name": "a", "unit": "s", "better": "bigger", "what": ""}`, "Metric"},
		{"something deep inside", `{"machines": [{"machine": 1}]}`, "Machines"},
	} {
		var value any
		if err := json.Unmarshal([]byte(row.text), &value); err != nil {
			t.Fatal(err)
		}
		if len(d.faults("", schema{Ref: "#/components/schemas/" + row.schema}, value)) == 0 {
			t.Errorf("%s is not found", row.name)
		}
	}
}

func TestTheGridAsJSONAndCSVIsTheOneShown(t *testing.T) {
	t.Parallel()
	s := serverOf(pastOf(plainNames))
	var grid struct {
		Run   int64
		Grids []struct {
			Metric  string
			Columns []string
			Rows    []struct {
				Name   string
				Values []float64
			}
		}
	}
	query := "?project=team%2Fservers&metric=energy_board_gross&as=percent&at=935170bb"
	if err := json.Unmarshal(ask(t, s, "/api/v1/suites/web-servers/grid"+query).Body.Bytes(), &grid); err != nil {
		t.Fatal(err)
	}
	page := ask(t, s, "/s/web-servers"+query).Body.String()
	csv := ask(t, s, "/s/web-servers/grid.csv"+query).Body.String()
	if len(grid.Grids) != 1 || grid.Grids[0].Metric != "energy_board_gross" || !slices.Equal(grid.Grids[0].Columns, []string{"go", "rust-arena"}) {
		t.Fatalf("the grid is %+v", grid)
	}
	for _, row := range grid.Grids[0].Rows {
		for _, value := range row.Values {
			if shown := fmt.Sprintf("%+.1f %%", value); !strings.Contains(page, strings.Replace(shown, "+", "&#43;", 1)) && !strings.Contains(page, shown) {
				t.Errorf("%s of %s is not on the page", shown, row.Name)
			}
			if !strings.Contains(csv, exact(value)) {
				t.Errorf("%v of %s is not in the CSV", value, row.Name)
			}
		}
	}
	if !strings.Contains(page, fmt.Sprintf("/runs/%d", grid.Run)) {
		t.Errorf("the page is of another run than %d", grid.Run)
	}
}
