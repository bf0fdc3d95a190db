package report

import (
	"bytes"
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// Page is the file of a report folder that a person opens.
const Page = "index.html"

// Folder makes the files of a report: results.json, results.csv, trials.csv,
// results.md and index.html, by name; samples.csv too, when there are samples, and
// judgement.md, judgement.json and judgement.csv, when there is a judgement.
func Folder(results stopwatt.Results, c stopwatt.Contrast, trials []stopwatt.Trial) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"results.json": func(b *bytes.Buffer) error { return JSON(b, results, trials) },
		"results.csv":  func(b *bytes.Buffer) error { return CSV(b, results) },
		"trials.csv":   func(b *bytes.Buffer) error { return TrialsCSV(b, results.Run, trials) },
		"results.md":   func(b *bytes.Buffer) error { return Markdown(b, results.Run, c, Options{}) },
		Page:           func(b *bytes.Buffer) error { return HTML(b, results, c, trials) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, fmt.Errorf("make %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	if err := addJudgement(files, results); err != nil {
		return nil, err
	}
	if !sampled(results.Run, trials) {
		return files, nil
	}
	var b bytes.Buffer
	if err := SamplesCSV(&b, results.Run, trials); err != nil {
		return nil, fmt.Errorf("make samples.csv: %w", err)
	}
	files["samples.csv"] = b.Bytes()
	return files, nil
}

// addJudgement adds the files of a judgement, if there is one.
func addJudgement(files map[string][]byte, results stopwatt.Results) error {
	if results.Judgement == nil {
		return nil
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"judgement.md": func(b *bytes.Buffer) error {
			return JudgementMarkdown(b, results.Run, *results.Judgement, JudgementOptions{})
		},
		"judgement.json": func(b *bytes.Buffer) error { return JudgementJSON(b, results.Run, *results.Judgement) },
		"judgement.csv":  func(b *bytes.Buffer) error { return JudgementCSV(b, results.Run, *results.Judgement) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	return nil
}
