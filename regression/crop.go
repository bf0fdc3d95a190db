package regression

import "gitlab.com/stopwatt/stopwatt"

// Crop is a search of which only some points are shown: those that keep takes, and
// the change points and boundaries whose first point is among them. What was found
// stays what the whole series says.
func Crop(search stopwatt.ChangeSearch, keep func(stopwatt.SeriesPoint) bool) stopwatt.ChangeSearch {
	shown := search
	shown.Points, shown.ChangePoints, shown.Boundaries = nil, nil, nil
	place := make([]int, len(search.Points)) // of each point, how many before it are kept
	kept := make([]bool, len(search.Points))
	for i, point := range search.Points {
		place[i] = len(shown.Points)
		if kept[i] = keep(point); kept[i] {
			shown.Points = append(shown.Points, point)
		}
	}
	for _, c := range search.ChangePoints {
		if kept[c.Index] {
			c.Index, c.IndexLow, c.IndexHigh = place[c.Index], place[c.IndexLow], min(place[c.IndexHigh], len(shown.Points)-1)
			shown.ChangePoints = append(shown.ChangePoints, c)
		}
	}
	for _, b := range search.Boundaries {
		if kept[b.Index] {
			b.Index = place[b.Index]
			shown.Boundaries = append(shown.Boundaries, b)
		}
	}
	return shown
}

// Latest is a series in which a commit that was measured again has its last run only,
// on each machine.
func Latest(series stopwatt.Series) stopwatt.Series {
	type measured struct{ sha, machine string }
	last := map[measured]int64{}
	for _, p := range series.Points {
		of := measured{p.SHA, p.Machine}
		last[of] = max(last[of], p.Run)
	}
	points := series.Points
	series.Points = nil
	for _, p := range points {
		if p.Run == last[measured{p.SHA, p.Machine}] {
			series.Points = append(series.Points, p)
		}
	}
	return series
}
