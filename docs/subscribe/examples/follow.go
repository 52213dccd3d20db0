// Follows a realm of Urd and prints its events: go run follow.go. Needs the standard library alone.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strings"
	"time"
)

type event struct {
	Position     int64
	Type, Cursor string
}

func keep(path, cursor string) {
	file, err := os.Create(path + ".new")
	if err == nil {
		_, err = file.WriteString(cursor)
	}
	if err != nil || file.Sync() != nil || file.Close() != nil || os.Rename(path+".new", path) != nil {
		log.Fatalf("the cursor cannot be kept: %v", err)
	}
}

func read(url, path string, handle func(event)) (moved bool) {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("URD_ADMIN_KEY"))
	request.Header.Set("Accept", "application/x-ndjson")
	if cursor, err := os.ReadFile(path); err == nil {
		request.Header.Set("Last-Event-ID", string(cursor))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case 200:
	case 429, 502, 503, 504:
		return false
	default:
		log.Fatal(answer.Status)
	}
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return moved // what came of a line without its end is not looked at
		}
		var next event
		if len(line) == 1 {
			continue
		} else if err := json.Unmarshal(line, &next); err != nil || next.Type == "urd.error" {
			log.Fatalf("the feed ended: %s", line)
		} else if !strings.HasPrefix(next.Type, "urd.") {
			handle(next)
		}
		keep(path, next.Cursor)
		moved = true
	}
}

func main() {
	url := fmt.Sprintf("%s/api/admin/realms/%s/feed?from=start", os.Getenv("URD_URL"), os.Getenv("URD_REALM"))
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		if read(url, "cursor", func(e event) { fmt.Println(e.Position, e.Type) }) {
			pause = time.Second
		}
		time.Sleep(pause/2 + time.Duration(rand.Int63n(int64(pause/2))))
	}
}
