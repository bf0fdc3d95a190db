// Command generate writes what the programs work on into the folder it is run in, the same bytes at any time on any machine.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
)

func main() {
	log.SetFlags(0)
	// A seeded PCG gives the same numbers in every Go (package math/rand/v2).
	draw := rand.New(rand.NewPCG(2020, 326))
	document, err := json.Marshal(orders(draw))
	write("big.json", document, err)
	manifests, err := yaml.Marshal(cluster(draw))
	write("manifests.yaml", manifests, err)
	write("cpus.txt", []byte(cpus(draw)), nil)
}

func write(name string, text []byte, err error) {
	if err == nil {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		log.Fatalf("generate %s: %v", name, err)
	}
}

// ---- JSON ----

type object = map[string]any

// orders is what a shop might answer: 320 orders are about 130 KiB.
func orders(draw *rand.Rand) object {
	list := make([]any, 320)
	for number := range list {
		list[number] = object{
			"number":   number + 100_000,
			"customer": object{"name": words(draw, 2), "city": words(draw, 1), "verified": draw.IntN(4) > 0},
			"lines":    lines(draw),
			"total":    float64(draw.IntN(10_000_000)) / 100,
			"notes":    []any{words(draw, 6), nil},
			"placed":   fmt.Sprintf("2020-%02d-%02dT%02d:%02d:00Z", 1+draw.IntN(12), 1+draw.IntN(28), draw.IntN(24), draw.IntN(60)),
		}
	}
	return object{"orders": list, "page": 1, "more": false}
}

func lines(draw *rand.Rand) []any {
	list := make([]any, 1+draw.IntN(4))
	for i := range list {
		list[i] = object{"article": words(draw, 2), "count": 1 + draw.IntN(9), "price": float64(draw.IntN(100_000)) / 100}
	}
	return list
}

var syllables = strings.Fields("ba de ki lo mu na pe ri so tu va ze shi cho \"q\" é")

// words makes words of two to four syllables; two of the syllables must be escaped or take two bytes.
func words(draw *rand.Rand, count int) string {
	list := make([]string, count)
	for i := range list {
		for range 2 + draw.IntN(3) {
			list[i] += syllables[draw.IntN(len(syllables))]
		}
	}
	return strings.Join(list, " ")
}

// ---- YAML ----

// cluster is twelve deployments, each with its service.
func cluster(draw *rand.Rand) []any {
	var manifests []any
	for _, name := range strings.Fields("web api mail search queue cache login billing images metrics proxy worker") {
		labels := object{"app": name, "tier": []string{"front", "back"}[draw.IntN(2)]}
		meta := object{"name": name, "namespace": "default", "labels": labels}
		port := 8000 + draw.IntN(1000)
		manifests = append(manifests, deployment(draw, meta, labels, port), service(meta, labels, port))
	}
	return manifests
}

func deployment(draw *rand.Rand, meta, labels object, port int) object {
	container := object{
		"name":      meta["name"],
		"image":     fmt.Sprintf("registry.example.org/%s:1.%d", meta["name"], draw.IntN(20)),
		"ports":     []any{object{"containerPort": port}},
		"env":       []any{object{"name": "PORT", "value": fmt.Sprint(port)}, object{"name": "VERBOSE", "value": "no"}},
		"resources": object{"limits": object{"cpu": "500m", "memory": fmt.Sprintf("%dMi", 64<<draw.IntN(4))}},
		"livenessProbe": object{
			"httpGet":             object{"path": "/health", "port": port},
			"initialDelaySeconds": draw.IntN(30),
			"periodSeconds":       10,
		},
	}
	return object{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   meta,
		"spec": object{
			"replicas": 1 + draw.IntN(5),
			"selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels}, "spec": object{"containers": []any{container}}},
		},
	}
}

func service(meta, labels object, port int) object {
	return object{
		"apiVersion": "v1",
		"kind":       "Service",
		"metadata":   meta,
		"spec":       object{"type": "ClusterIP", "selector": labels, "ports": []any{object{"port": 80, "targetPort": port}}},
	}
}

// ---- /proc/cpuinfo ----

// cpus is a text of the form that Linux gives, about 1,500 bytes for each of twelve cores.
func cpus(draw *rand.Rand) string {
	var text strings.Builder
	flags := make([]string, 120)
	for i := range flags {
		flags[i] = strings.ReplaceAll(words(draw, 1), "\"q\"", "x")
	}
	for core := range 12 {
		fmt.Fprintf(&text, "processor\t: %d\nmodel name\t: Example CPU with %d cores\ncpu MHz\t\t: %d.%03d\ncache size\t: 512 KB\n"+
			"physical id\t: 0\ncore id\t\t: %d\nflags\t\t: %s\nbogomips\t: 7199.%02d\naddress sizes\t: 43 bits physical, 48 bits virtual\n\n",
			core, 12, 2000+draw.IntN(2000), draw.IntN(1000), core/2, strings.Join(flags, " "), draw.IntN(100))
	}
	return text.String()
}
