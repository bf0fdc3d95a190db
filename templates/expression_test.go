package templates_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// An expression is what stands after if: in a rule. It is true where its value is
// neither nil, "" nor false.
type expression func(variables map[string]string) any

// expressionText checks that there is an expression.
func expressionText(place string, value any) []string {
	written, ok := value.(string)
	if !ok {
		return []string{fmt.Sprintf("%s: %v is no expression", place, value)}
	}
	if _, err := parseExpression(written); err != nil {
		return []string{fmt.Sprintf("%s: %s: %v", place, written, err)}
	}
	return nil
}

var tokens = regexp.MustCompile(`^\s*(\$[A-Za-z_]\w*|"[^"]*"|'[^']*'|/(?:\\.|[^/\\])+/[a-z]*|==|!=|=~|!~|&&|\|\||\(|\)|null\b)`)

// reader takes an expression apart, from left to right.
type reader struct{ tokens []string }

// parseExpression reads comparisons joined by && and ||, of which && binds tighter.
func parseExpression(written string) (expression, error) {
	var r reader
	for rest := strings.TrimSpace(written); rest != ""; rest = strings.TrimSpace(rest) {
		token := tokens.FindStringSubmatch(rest)
		if token == nil {
			return nil, fmt.Errorf("cannot be read from %q on", rest)
		}
		r.tokens = append(r.tokens, token[1])
		rest = strings.TrimSpace(rest)[len(strings.TrimSpace(token[0])):]
	}
	whole, err := r.joined("||", func() (expression, error) { return r.joined("&&", r.comparison) })
	if err == nil && len(r.tokens) > 0 {
		err = fmt.Errorf("%q is too much", r.tokens[0])
	}
	return whole, err
}

// next is the next token, without taking it.
func (r *reader) next() string {
	if len(r.tokens) == 0 {
		return ""
	}
	return r.tokens[0]
}

func (r *reader) take() string {
	token := r.next()
	if token != "" {
		r.tokens = r.tokens[1:]
	}
	return token
}

// joined reads operands with the same operator between them.
func (r *reader) joined(operator string, operand func() (expression, error)) (expression, error) {
	left, err := operand()
	for err == nil && r.next() == operator {
		r.take()
		var right expression
		before := left
		if right, err = operand(); err == nil {
			left = func(v map[string]string) any {
				if truth(before(v)) == (operator == "||") {
					return operator == "||"
				}
				return truth(right(v))
			}
		}
	}
	return left, err
}

func truth(value any) bool { return value != nil && value != "" && value != false }

// comparison reads one comparison, a variable that is to be there, or parentheses.
func (r *reader) comparison() (expression, error) {
	if r.next() == "(" {
		r.take()
		within, err := r.joined("||", func() (expression, error) { return r.joined("&&", r.comparison) })
		if err == nil && r.take() != ")" {
			err = errors.New("a parenthesis is not closed")
		}
		return within, err
	}
	// GitLab long refused a text on the left: what there is to compare with must be a variable.
	if !strings.HasPrefix(r.next(), "$") {
		return nil, fmt.Errorf("%q is no variable", r.next())
	}
	left := variable(r.take())
	switch operator := r.next(); operator {
	case "==", "!=":
		r.take()
		right, err := r.value()
		return func(v map[string]string) any { return (left(v) == right(v)) == (operator == "==") }, err
	case "=~", "!~":
		r.take()
		pattern, err := r.pattern()
		return func(v map[string]string) any {
			written, ok := left(v).(string)
			return (ok && pattern.MatchString(written)) == (operator == "=~")
		}, err
	}
	return left, nil
}

// variable is the value of $NAME; one that is not set is nil.
func variable(token string) expression {
	return func(v map[string]string) any {
		if value, ok := v[token[1:]]; ok {
			return value
		}
		return nil
	}
}

func (r *reader) value() (expression, error) {
	token := r.take()
	switch {
	case strings.HasPrefix(token, "$"):
		return variable(token), nil
	case token == "null":
		return func(map[string]string) any { return nil }, nil
	case token != "" && strings.ContainsAny(token[:1], `"'`):
		return func(map[string]string) any { return token[1 : len(token)-1] }, nil
	}
	return nil, fmt.Errorf("%q is no value", token)
}

func (r *reader) pattern() (*regexp.Regexp, error) {
	token := r.take()
	if !strings.HasPrefix(token, "/") {
		return nil, fmt.Errorf("%q is no pattern", token)
	}
	return regexp.Compile(token[1:strings.LastIndex(token, "/")]) // RE2, as GitLab's
}

// chosen is what the rules of a job say of a pipeline with these variables.
type chosen struct {
	when          string
	interruptible bool
}

// choose finds the jobs that a pipeline with these variables has, none where
// workflow forbids it.
func (c config) choose(variables map[string]string) map[string]chosen {
	jobs := map[string]chosen{}
	workflow, _ := c["workflow"].(map[string]any)
	if when, _ := firstRule(workflow["rules"], variables); when == "never" {
		return jobs
	}
	for _, name := range c.jobs() {
		job, _ := c[name].(map[string]any)
		seen := map[string]string{}
		own, _ := job["variables"].(map[string]any)
		for name, value := range own {
			seen[name] = fmt.Sprint(value)
		}
		for name, value := range variables {
			seen[name] = value
		}
		when, rule := firstRule(job["rules"], seen)
		interruptible, ok := rule["interruptible"].(bool)
		if !ok {
			interruptible, _ = c.inherited(job, "interruptible").(bool)
		}
		if when != "never" {
			jobs[name] = chosen{when, interruptible}
		}
	}
	return jobs
}

// firstRule is the first rule that holds. Where there are rules and none holds, it
// is never.
func firstRule(rules any, variables map[string]string) (when string, rule map[string]any) {
	if rules == nil {
		return "on_success", nil
	}
	for _, entry := range listOf(rules) {
		rule, _ := entry.(map[string]any)
		if condition, ok := rule["if"].(string); ok {
			holds, err := parseExpression(condition)
			if err != nil || !truth(holds(variables)) {
				continue
			}
		}
		if when, ok := rule["when"].(string); ok {
			return when, rule
		}
		return "on_success", rule
	}
	return "never", nil
}
