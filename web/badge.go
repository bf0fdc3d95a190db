package web

import (
	"net/http"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// badge is a small picture of the newest value of a series: /badges/SUITE.svg.
func (s *Server) badge(w http.ResponseWriter, r *http.Request) error {
	if !strings.HasSuffix(r.PathValue("suite"), ".svg") {
		return stopwatt.ErrNotFound
	}
	a, err := s.seriesAsked(r)
	if err != nil {
		return err
	}
	a.query.Cases = a.query.Cases[:min(1, len(a.query.Cases))]
	a.query.Most = sparkPoints
	courses, err := s.Archive.Courses(r.Context(), a.query)
	if err != nil {
		return err
	}
	changes, err := s.Archive.Changes(r.Context(), a.query)
	if err != nil {
		return err
	}
	name, value, state := report.Label(a.metric), "no value yet", report.BadgeNone
	if len(courses) > 0 {
		name = courses[0].Case.String() + " " + name
		value, state = report.BadgeOf(a.metric, courses[0], changes)
	}
	return send(w, "image/svg+xml", report.Badge(name, value, state))
}
