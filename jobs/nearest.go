package jobs

import "strings"

// nearest returns the word that was probably meant, if one is near enough: a
// third of its letters may be wrong, and capitals, - and _ count for nothing.
func nearest(written string, words []string) (string, bool) {
	if len(written) > 64 {
		return "", false // the distance costs the product of both lengths
	}
	best, least := "", 0
	for _, word := range words {
		d := distance(letters(written), letters(word))
		if d <= max(1, len(word)/3) && (best == "" || d < least) {
			best, least = word, d
		}
	}
	return best, best != ""
}

var joints = strings.NewReplacer("-", "", "_", "", " ", "")

func letters(word string) []rune { return []rune(strings.ToLower(joints.Replace(word))) }

// distance counts the letters to insert, remove, replace or swap with their
// neighbour (the optimal string alignment distance).
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
